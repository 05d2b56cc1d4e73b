//! Tests of conditions on a dataset with all kinds of columns, and beside a naive model.

use std::sync::Arc;

use forebay_columns::{Column, Element, Field, Schema, Table};

use super::*;
use crate::{Locator, PictureSize, ReadError, SizeColumns, Sizes};

/// A record of the dataset below. What is missing is nothing.
#[derive(Clone, Debug)]
struct Row {
    label: Option<i64>,
    size: Option<(u32, u32)>,
    score: Option<f32>,
    views: Option<u64>,
    caption: Option<String>,
}

#[derive(Debug)]
struct Rows {
    all: Vec<Row>,
    table: Table,
    classes: Vec<String>,
    has_sizes: bool,
}

#[derive(Debug)]
struct RowSizes(Vec<Option<(u32, u32)>>);

impl SizeColumns for RowSizes {
    fn size(&self, record: u64) -> Option<PictureSize> {
        let (height, width) = (*self.0.get(usize::try_from(record).ok()?)?)?;
        Some(PictureSize { height, width, orientation: 1 })
    }
}

fn push<T: Element>(column: &mut Column, values: Option<&[T]>) {
    match values {
        Some(values) => column.push(values),
        None => column.push_null(),
    }
}

impl Rows {
    fn new(rows: Vec<Row>) -> Self {
        let column = |of: &str| Column::new(of.parse().unwrap());
        let (mut score, mut views, mut caption, mut tags, mut boxes, mut half, mut ok) = (
            column("f32"),
            column("u64"),
            column("u8 [*]"),
            column("i32 [*]"),
            column("f32 [*, 4]"),
            column("f16"),
            column("bool"),
        );
        for (place, row) in rows.iter().enumerate() {
            push(&mut score, row.score.as_ref().map(std::slice::from_ref));
            push(&mut views, row.views.as_ref().map(std::slice::from_ref));
            push(&mut caption, row.caption.as_ref().map(String::as_bytes));
            // Record 3 has two values.
            tags.push(&vec![7_i32; [1, 0, 1, 2].get(place).copied().unwrap_or(1)]);
            boxes.push::<f32>(&[]);
            half.push_null();
            ok.extend(&[u8::from(place % 2 == 0)]);
            ok.close(1);
        }
        let columns = [
            ("score", score),
            ("views", views),
            ("caption", caption),
            ("tags", tags),
            ("boxes", boxes),
            ("half", half),
            ("ok", ok),
        ];
        let fields = columns.iter().map(|(name, column)| Field::new(*name, column.column_type().clone())).collect();
        let columns = columns.into_iter().map(|(_, column)| column).collect();
        let table = Table::try_new(Schema::try_new(fields).unwrap(), columns, rows.len()).unwrap();
        let classes = ["cat", "dog", "o'hare"].map(str::to_owned).to_vec();
        Self { all: rows, table, classes, has_sizes: true }
    }

    fn found(&self, text: &str) -> Vec<u64> {
        match Condition::parse(text).and_then(|condition| condition.select(self)) {
            Ok(selection) => selection.iter().collect(),
            Err(error) => panic!("{text}: {error}"),
        }
    }

    fn refusal(&self, text: &str) -> String {
        Condition::parse(text).and_then(|condition| condition.select(self)).unwrap_err().to_string()
    }
}

impl Source for Rows {
    fn len(&self) -> u64 {
        self.all.len() as u64
    }
    fn classes(&self) -> &[String] {
        &self.classes
    }
    fn label(&self, record: u64) -> i64 {
        self.all[usize::try_from(record).unwrap()].label.unwrap_or(-1)
    }
    fn locator(&self, record: u64) -> Locator {
        Locator::file(format!("/{record}.jpg"))
    }
    fn size(&self, _: u64) -> u64 {
        0
    }
    fn read(&self, _: u64, _: u64, _: &mut Vec<u8>) -> Result<(), ReadError> {
        Ok(())
    }
    fn fingerprint(&self) -> [u8; 32] {
        [0; 32]
    }
    fn targets(&self) -> &Table {
        &self.table
    }
    fn sizes(&self) -> Sizes {
        let sizes = self.all.iter().map(|row| row.size).collect();
        if self.has_sizes { Sizes::new(self.len(), Arc::new(RowSizes(sizes))) } else { Sizes::default() }
    }
    fn shard_name(&self, _: u64) -> &'static str {
        ""
    }
}

fn rows() -> Rows {
    let row = |label, size, score, views, caption: Option<&str>| Row {
        label,
        size,
        score,
        views,
        caption: caption.map(str::to_owned),
    };
    Rows::new(vec![
        row(Some(0), Some((256, 256)), Some(0.1), Some(u64::MAX), Some("a dog")),
        row(Some(1), Some((300, 900)), Some(0.5), Some(9_007_199_254_740_993), Some("")),
        row(Some(2), Some((100, 301)), None, Some(0), Some("it's")),
        row(None, None, Some(f32::NAN), None, None),
    ])
}

#[test]
fn rule_66_columns_labels_and_what_follows_from_sizes_are_compared() {
    let rows = rows();
    for (text, expected) in [
        ("pixels >= 65536", &[0, 1][..]),
        ("aspect <= 3", &[0, 1]),
        ("aspect > 3", &[2]),
        ("pixels >= 65536 and aspect <= 3 and label in (1, 2)", &[1]),
        ("label = 'dog' or label = 'o''hare'", &[1, 2]),
        ("label in (\"cat\", 1)", &[0, 1]),
        ("label not in (0)", &[1, 2]),
        ("not label = 0", &[1, 2]),
        ("NOT (label == 0 OR label == 1)", &[2]),
        ("score = 0.1", &[0]),
        ("score in (0.1, 0.5, 7)", &[0, 1]),
        ("score != 0.1", &[1]),
        ("views > 9007199254740992", &[0, 1]),
        ("views = 9007199254740993", &[1]),
        ("views = 9007199254740992.0", &[]),
        ("views = 18446744073709551615", &[0]),
        ("views >= -1", &[0, 1, 2]),
        ("views < 1e300", &[0, 1, 2]),
        ("caption = ''", &[1]),
        ("caption < \"b\"", &[0, 1]),
        ("caption in ('it''s', 'a dog')", &[0, 2]),
        ("ok = true", &[0, 2]),
        ("ok = 0", &[1, 3]),
        // What is known decides, whatever is missing beside it.
        ("score > 0 or label >= 0", &[0, 1, 2]),
        ("not (score > 9 and label = 1)", &[0, 1, 2]),
        ("not score > 0.2", &[0]),
    ] {
        assert_eq!(rows.found(text), expected, "{text}");
    }
}

#[test]
fn rule_66_what_is_wrong_is_shown_at_its_place_with_the_nearest_name() {
    let rows = rows();
    assert_eq!(
        rows.refusal("pixels >= 65536 and aspct <= 3"),
        "the dataset has no column \"aspct\". Did you mean \"aspect\"?\n  pixels >= 65536 and aspct <= 3\n                      ^"
    );
    for (text, words) in [
        ("", "the name of a column is missing here"),
        (
            "weather = 1",
            "may compare score, views, caption, tags, boxes, half, ok, label, height, width, pixels, aspect",
        ),
        ("label = 'dgo'", "no class has the name 'dgo'"),
        ("label = 'dogs'", "Did you mean 'dog'?"),
        ("label < 'dog'", "have no order"),
        ("score = 'high'", "has numbers, and this is a text"),
        ("score = true", "and this is true or false"),
        ("caption = 3", "has texts, and this is a number"),
        ("boxes > 1", "has the type f32 [*, 4]"),
        ("half > 1", "Write it as float32"),
        ("tags = 7", "record 3 has 2 values"),
        ("1 < pixels", "write the column first"),
        ("1 < pixels < 3", "write the column first"),
        ("pixels < 3 < 4", "join two comparisons by \"and\""),
        ("pixels <> 3", "write \"!=\""),
        ("pixels = 3 views = 4", "\"and\" or \"or\" is missing"),
        ("pixels", "a comparison (= != < <= > >= or in) is missing"),
        ("pixels >", "a number or a text in quotes is missing"),
        ("pixels in 3", "a list such as (1, 2) is missing"),
        ("pixels in (3", "a \",\" or a \")\" is missing"),
        ("pixels in ()", "a number or a text in quotes is missing"),
        ("pixels not 3", "\"in\" is missing"),
        ("(pixels = 3", "a \")\" is missing here"),
        ("pixels = 3)", "was not opened"),
        ("caption = 'x", "does not end"),
        ("pixels = 3x", "not a number"),
        ("pixels = 1e999", "not a number"),
        ("pixels = 3 && label = 1", "no part of a condition"),
        ("height < width", "\"width\" is no value"),
        ("caption = dog", "write a number, or a text in quotes such as 'dog'"),
    ] {
        assert!(rows.refusal(text).contains(words), "{text}: {}", rows.refusal(text));
    }
    let without = Rows { has_sizes: false, ..rows };
    assert!(without.refusal("aspect < 2").contains("forebay index SOURCE --sizes"));
}

#[test]
fn rule_66_long_and_deep_conditions_are_refused_and_long_ones_are_not_deep() {
    let refused = |text: &str| Condition::parse(text).unwrap_err().to_string();
    assert!(refused(&"(".repeat(1000)).contains("64 deep"));
    assert!(refused(&"not ".repeat(1000)).contains("64 deep"));
    assert!(refused(&" ".repeat(MOST_BYTES + 1)).contains("at most 65536 are read"));
    let long = vec!["pixels > 0"; 4000].join(" and ");
    assert_eq!(rows().found(&long), [0, 1, 2]);
    let around = format!("{long} and pixel\u{202e}");
    let shown = refused(&around);
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!((lines.len(), lines[1].starts_with("  ... ")), (3, true));
    assert!(lines[1].chars().count() < 140 && !shown.contains('\u{202e}'));
    assert_eq!(lines[2].trim_start(), "^");
}

#[test]
fn whatever_a_text_says_it_is_read_or_refused_at_a_place_in_it() {
    let rows = rows();
    let mut seed = 7;
    let pieces = [
        "and", "or", "not", "in", "(", ")", ",", "=", "!=", "<", ">=", "label", "pixels", "caption", "'", "\"", "'a'",
        "1", "-", "1e", ".5", "é", " ", "\n", "true", "_", "日本",
    ];
    for _ in 0..20_000 {
        let text: String = (0..random(&mut seed, 12)).map(|_| pieces[random(&mut seed, pieces.len())]).collect();
        if let Err(error) = Condition::parse(&text).and_then(|condition| condition.select(&rows)) {
            let shown = error.to_string();
            let mark = shown.lines().next_back().unwrap();
            assert!(mark.ends_with('^') && mark.chars().count() <= text.chars().count() + 3, "{text:?}: {shown}");
        }
    }
}

/// A number below `end`, by a generator of Knuth's.
fn random(seed: &mut u64, end: usize) -> usize {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    usize::try_from(*seed >> 33).unwrap() % end
}

/// A random condition, as text and as a function of a row that is written without looking at the code above.
type Model = (String, Box<dyn Fn(&Row) -> Option<bool>>);

fn model(seed: &mut u64, depth: usize) -> Model {
    let kind = random(seed, if depth == 0 { 5 } else { 8 });
    if kind >= 5 {
        let ((left, of_left), (right, of_right)) = (model(seed, depth - 1), model(seed, depth - 1));
        return match kind {
            5 => (
                format!("({left}) and ({right})"),
                Box::new(move |row| match (of_left(row), of_right(row)) {
                    (Some(false), _) | (_, Some(false)) => Some(false),
                    (Some(true), Some(true)) => Some(true),
                    _ => None,
                }),
            ),
            6 => (
                format!("({left}) or ({right})"),
                Box::new(move |row| match (of_left(row), of_right(row)) {
                    (Some(true), _) | (_, Some(true)) => Some(true),
                    (Some(false), Some(false)) => Some(false),
                    _ => None,
                }),
            ),
            _ => (format!("not ({left})"), Box::new(move |row| of_left(row).map(|holds| !holds))),
        };
    }
    let number = i32::try_from(random(seed, 7)).unwrap();
    let sign = ["=", "!=", "<", "<=", ">", ">="][random(seed, 6)];
    let compare = move |own: f64, other: f64| {
        let order = own.total_cmp(&other);
        match sign {
            "=" => order.is_eq(),
            "!=" => order.is_ne(),
            "<" => order.is_lt(),
            "<=" => order.is_le(),
            ">" => order.is_gt(),
            _ => order.is_ge(),
        }
    };
    let of = |text: String, of: fn(&Row) -> Option<f64>| -> Model {
        (text, Box::new(move |row: &Row| of(row).map(|own| compare(own, f64::from(number)))))
    };
    match kind {
        0 => {
            of(format!("label {sign} {number}"), |row| row.label.map(|label| f64::from(i32::try_from(label).unwrap())))
        }
        1 => of(format!("height {sign} {number}"), |row| row.size.map(|(height, _)| f64::from(height))),
        2 => of(format!("pixels {sign} {number}.0"), |row| row.size.map(|(height, width)| f64::from(height * width))),
        3 => of(format!("score {sign} {number}"), |row| row.score.map(f64::from).filter(|score| !score.is_nan())),
        _ => (
            format!("caption in ('{number}', 'x')"),
            Box::new(move |row| row.caption.as_ref().map(|text| *text == number.to_string() || text == "x")),
        ),
    }
}

#[test]
fn rule_66_random_conditions_select_what_a_naive_model_selects() {
    let mut seed = 66;
    for _ in 0..400 {
        let mut some = |end| (random(&mut seed, 4) > 0).then(|| random(&mut seed, end));
        let all: Vec<Row> = (0..40)
            .map(|_| Row {
                label: some(7).map(|label| i64::try_from(label).unwrap()),
                size: some(7).map(|side| (u32::try_from(side).unwrap() + 1, 2)),
                score: some(8).map(|score| if score == 7 { f32::NAN } else { f32::from(u8::try_from(score).unwrap()) }),
                views: None,
                caption: some(7).map(|text| text.to_string()),
            })
            .collect();
        // Column `tags` has two values in record 3, and no condition below names it.
        let rows = Rows::new(all.clone());
        for _ in 0..10 {
            let (text, holds) = model(&mut seed, 4);
            let expected: Vec<u64> =
                (0..).zip(&all).filter(|(_, row)| holds(row) == Some(true)).map(|(record, _)| record).collect();
            assert_eq!(rows.found(&text), expected, "{text}");
        }
    }
}
