//! Tests of what functions return beside a picture.

use forebay_columns::{Role, Table};
use forebay_pixels::{Annotated, Output};
use serde_json::from_value;

use super::*;
use crate::prefetch::memory_source::MemorySource;
use crate::targets::Targets;

/// Record 1 has two objects, and record 0 has none.
fn boxes() -> (Schema, Vec<Column>) {
    let of = |name: &str, of: &str| Field::of_objects(name, of.parse().unwrap(), "objects");
    let fields = vec![
        of("boxes", "f32 [*, 4]").with_role(Role::Boxes),
        of("polygons", "f32 [*][*, 2]").with_role(Role::Points),
        Field::new("caption", ColumnType::text()),
    ];
    let mut columns: Vec<_> = fields.iter().map(|field| Column::new(field.column_type.clone())).collect();
    for corners in [&[][..], &[[0.0_f32, 0.0, 4.0, 4.0], [2.0, 2.0, 8.0, 6.0]]] {
        columns[0].push(corners.as_flattened());
        for [left, top, right, below] in corners {
            columns[1].extend(&[*left, *top, *right, *below]);
            columns[1].close(2);
        }
        columns[1].close(1);
        columns[2].push(b"two");
    }
    (Schema::try_new(fields).unwrap(), columns)
}

fn columns(list: Json) -> (StepColumns, StepLists) {
    let (schema, columns) = boxes();
    let source = MemorySource::new(2).with_targets(Table::try_new(schema, columns, 2).unwrap());
    let recipe = Arc::new(Recipe::new(from_value(list).unwrap(), Output::default()).unwrap());
    let lists = StepLists::new(&recipe, &[]);
    let settings = FollowSettings { recipe, seed: 3, annotated: Annotated::AsSeen, min_visible: 0.0 };
    (Targets::new(Arc::new(source), None, (8, 8)).unwrap().of_steps(settings, &lists), lists)
}

fn list() -> Json {
    json!([{ "center_crop": { "size": 8 } }, { "python": { "function": "a:b" } }, { "center_crop": { "size": 4 } }])
}

const DRAW: Draw = Draw { seed: 3, epoch: 0, record: 1 };

/// What record 1 has where its picture of 8 x 12 is cut to 8 x 8.
fn got(columns: &StepColumns) -> Vec<ValueBuf> {
    columns.at(0, &Origin::plain((8, 12)), (1, DRAW))
}

fn numbers(value: &ValueBuf, columns: &StepColumns, number: usize) -> Vec<f32> {
    value.value().numbers(&columns.schema.fields()[number].column_type).unwrap()
}

#[test]
fn rule_59_a_function_gets_columns_where_its_picture_is_and_what_it_sends_back_unchanged_is_the_same() {
    let (columns, _) = columns(list());
    let got = got(&columns);
    // Two rows are cut off above.
    assert_eq!(numbers(&got[0], &columns, 0), [0.0, 0.0, 4.0, 2.0, 2.0, 0.0, 8.0, 4.0]);
    let sent = columns.sent(&got);
    assert_eq!(sent[2], json!(["74776f"]));
    let answer = json!({ "label": 7, "columns": { "0": sent[0], "1": sent[1], "2": sent[2] } }).to_string();
    let returned = columns.returned(answer.as_bytes(), &got, None, false).unwrap().unwrap();
    assert_eq!(returned.label, Some(7));
    assert!(returned.each().flatten().eq(got.iter().map(ValueBuf::value)), "{returned:?}");
    assert_eq!(columns.returned(b"", &got, Some(&returned), false).unwrap().unwrap(), returned);
    assert_eq!(columns.returned(b"", &got, None, false), Ok(None));
}

#[test]
fn rule_59_what_a_function_returns_follows_the_transforms_behind_it_with_all_columns_of_the_objects() {
    let (columns, lists) = columns(list());
    let got = got(&columns);
    let one = |corners: &[f32]| hex(bytes_of(corners).as_slice());
    let answer = json!({ "columns": { "0": [one(&[0.0, 0.0, 1.0, 1.0, 3.0, 2.0, 8.0, 8.0])] } }).to_string();
    let mut returned = columns.returned(answer.as_bytes(), &got, None, false).unwrap().unwrap();
    assert!(returned.values[1].is_some() && returned.values[2].is_none(), "polygons are of the same objects");
    columns.carry(&mut returned, (8, 8), lists.list(0).split.part(1, None), DRAW);
    // The middle is cut out: the first box is not shown any more, and its polygon goes with it.
    assert_eq!(numbers(returned.values[0].as_ref().unwrap(), &columns, 0), [1.0, 0.0, 4.0, 4.0]);
    assert_eq!(returned.values[1].as_ref().unwrap().value().items(), 1);
}

fn bytes_of(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

#[test]
fn rule_59_values_that_are_none_or_too_many_or_do_not_fit_to_their_objects_are_refused() {
    let (columns, _) = columns(list());
    let got = got(&columns);
    let refused = |answer: &str| columns.returned(answer.as_bytes(), &got, None, false).unwrap_err();
    for damaged in [
        "no JSON".to_owned(),
        json!({ "columns": { "3": ["00"] } }).to_string(),
        json!({ "columns": { "-1": ["00"] } }).to_string(),
        json!({ "columns": { "0": [] } }).to_string(),
        json!({ "columns": { "0": [7] } }).to_string(),
        json!({ "columns": { "0": ["0"] } }).to_string(),
        json!({ "columns": { "0": ["0g"] } }).to_string(),
        json!({ "columns": { "0": ["00"] } }).to_string(),
        json!({ "columns": { "0": [hex(&[0; 16]), [0, 1]] } }).to_string(),
        json!({ "columns": { "1": [hex(&[0; 8])] } }).to_string(),
        json!({ "columns": { "1": [hex(&[0; 8]), [0, 2]] } }).to_string(),
        json!({ "columns": { "1": [hex(&[0; 8]), [0, -1, 1]] } }).to_string(),
        json!({ "columns": { "1": [hex(&[0; 8]), []] } }).to_string(),
        json!({ "columns": { "1": [hex(&[0; 8]), [0, i64::MAX]] } }).to_string(),
    ] {
        assert_eq!(refused(&damaged), "what it returned beside the picture has arrived damaged", "{damaged}");
    }
    let many = refused(&json!({ "columns": { "0": [hex(&[0; 48])] } }).to_string());
    assert!(many.starts_with("its column \"boxes\" has [3] items, but there is room for [2]"), "{many}");
    let unfit = refused(&json!({ "columns": { "0": [hex(&[0; 16])] } }).to_string());
    assert!(unfit.contains("\"boxes\" and \"polygons\" are of the same objects, but have 1 and 2"), "{unfit}");
    let null = json!({ "columns": { "0": null, "1": null, "2": null } }).to_string();
    let null = columns.returned(null.as_bytes(), &got, None, false).unwrap().unwrap();
    assert!(null.values.iter().flatten().all(|value| value.value().is_null()));
}

#[test]
fn a_text_of_digits_is_the_bytes_that_it_was_made_of() {
    let all: Vec<u8> = (0..=255).collect();
    assert_eq!(unhex(&hex(&all)), Some(all));
    assert_eq!((unhex("0"), unhex("é"), unhex("0x"), unhex("")), (None, None, None, Some(Vec::new())));
}

#[test]
fn rule_59_a_function_with_a_size_of_its_own_returns_all_places() {
    let (columns, _) = columns(list());
    let got = got(&columns);
    let sent = columns.sent(&got);
    let lacks = |answer: &str| columns.returned(answer.as_bytes(), &got, None, true).unwrap_err();
    for answer in [String::new(), json!({ "label": 3 }).to_string(), json!({ "columns": { "1": sent[1] } }).to_string()]
    {
        assert!(lacks(&answer).contains("it must return the column \"boxes\" too"), "{answer}");
    }
    let boxes = json!({ "columns": { "0": sent[0] } }).to_string();
    assert!(lacks(&boxes).contains("\"polygons\""));
    // Not even those of a function before it will do.
    let both = json!({ "columns": { "0": sent[0], "1": sent[1] } }).to_string();
    let before = columns.returned(both.as_bytes(), &got, None, true).unwrap();
    assert!(columns.returned(b"", &got, before.as_deref(), true).is_err());
    // A record without objects has no places.
    let none = columns.at(0, &Origin::plain((8, 12)), (0, Draw { record: 0, ..DRAW }));
    assert_eq!(columns.returned(b"", &none, None, true), Ok(None));
}
