//! A column of labels. It holds integers if every value is one, and text if none is. A mixture is an error that names the
//! line. Texts are classes in sorted order, and those that are all numbers, such as `2.0` and `10.0`, are sorted as numbers.

use std::collections::HashMap;

use forebay_sources::{Labels, LineProblem};
use serde_json::Value;

/// The column so far.
#[derive(Debug)]
pub(crate) struct Column {
    /// Text even where it looks like a number.
    as_text: bool,
    /// Classes are sorted as numbers if all of them are.
    by_number: bool,
    /// What the first line was, and its number; later ones must be the same.
    first: Option<(CellKind, u64)>,
    /// Integers; or places in `texts`, in order of appearance.
    values: Vec<i64>,
    texts: HashMap<Vec<u8>, i64>,
}

/// The kind of a cell's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CellKind {
    Nothing,
    Integer,
    Text,
}

impl Column {
    pub(crate) fn new(labels: Labels) -> Self {
        let as_text = labels == Labels::Text;
        Self { as_text, by_number: !as_text, first: None, values: Vec::new(), texts: HashMap::new() }
    }

    /// Labels that are texts already, such as `"7"` of Python. They are classes, even where they look like integers.
    pub(crate) fn of_texts() -> Self {
        Self { by_number: true, ..Self::new(Labels::Text) }
    }

    /// Whether texts were asked for, whatever they look like.
    pub(crate) fn is_of_texts(&self) -> bool {
        self.as_text
    }

    pub(crate) fn push(&mut self, cell: &[u8], line: u64) -> Result<(), LineProblem> {
        let number = str::from_utf8(cell).ok().and_then(|text| text.parse::<i64>().ok());
        let kind = match number {
            _ if cell.is_empty() => CellKind::Nothing,
            Some(_) if !self.as_text => CellKind::Integer,
            _ => CellKind::Text,
        };
        let &mut (expected, other) = self.first.get_or_insert((kind, line));
        match (expected, kind) {
            (CellKind::Nothing, CellKind::Nothing) => {}
            (CellKind::Integer, CellKind::Integer) => self.values.extend(number),
            (CellKind::Text, CellKind::Text) => {
                let next = i64::try_from(self.texts.len()).expect("fewer texts than i64::MAX fit into memory");
                let place = match self.texts.get(cell) {
                    Some(&place) => place,
                    None => *self.texts.entry(cell.to_vec()).or_insert(next),
                };
                self.values.push(place);
            }
            (_, CellKind::Nothing) => return Err(LineProblem::NoLabel { other }),
            (CellKind::Nothing, _) => return Err(LineProblem::SurplusLabel { other }),
            (was, is) => {
                let label = String::from_utf8_lossy(cell).into_owned();
                return Err(LineProblem::MixedLabels { label, is: is.words(), was: was.words(), other });
            }
        }
        Ok(())
    }

    /// The labels and the class names: for text the sorted distinct values, and labels are places in them.
    pub(crate) fn finish(mut self) -> (Vec<i64>, Vec<String>) {
        let mut texts: Vec<(Vec<u8>, i64)> = self.texts.into_iter().collect();
        texts.sort_unstable();
        // With labels="text", names are asked for even if they look like numbers.
        if self.by_number {
            sort_numbers(&mut texts, |(text, _)| text);
        }
        let mut sorted_place = vec![0; texts.len()];
        for (place, (_, appearance)) in (0..).zip(&texts) {
            sorted_place[usize::try_from(*appearance).expect("a place in the list")] = place;
        }
        if !texts.is_empty() {
            for value in &mut self.values {
                *value = sorted_place[usize::try_from(*value).expect("a place in the list")];
            }
        }
        (self.values, texts.iter().map(|(text, _)| String::from_utf8_lossy(text).into_owned()).collect())
    }
}

/// Sorts classes by their numbers, if all their names are numbers. Numbers that are written in two ways stay in their order.
pub(crate) fn sort_numbers<T>(classes: &mut [T], name: impl Fn(&T) -> &[u8]) {
    if classes.iter().all(|class| number(name(class)).is_some()) {
        classes.sort_by(|one, other| {
            let [one, other] = [one, other].map(|class| number(name(class)).unwrap_or(f64::NAN));
            one.total_cmp(&other)
        });
    }
}

/// Whether a text is a list as Python or JSON writes it, such as `['cat', 'dog']`. It would be one class of its own.
pub(crate) fn is_written_list(cell: &[u8]) -> bool {
    let inner = cell.trim_ascii().strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]"));
    inner.is_some_and(|inner| {
        let ends = [inner.trim_ascii().first(), inner.trim_ascii().last()];
        let is_of_value = |byte: &u8| byte.is_ascii_digit() || b"'\"[](){}-.".contains(byte);
        ends.into_iter().all(|end| end.is_none_or(is_of_value))
    })
}

/// Why a text is no label, as the end of a sentence about it. `as_text` says that texts were asked for, whatever they look like.
pub(crate) fn wrong_text(text: &[u8], as_text: bool) -> Option<&'static str> {
    match str::from_utf8(text) {
        Err(_) => Some("is not in UTF-8. Write all labels in UTF-8"),
        Ok(_) if !as_text && is_written_list(text) => Some(WRITTEN_LIST),
        Ok(_) => None,
    }
}

/// What an error says of such a text, where a record has one label.
pub(crate) const WRITTEN_LIST: &str = "is a list in a text, and a record has one label. Name another one for \"labels\", or give \
     labels=\"none\" and take the list as a column of its own. If it is the name of a class, give labels=\"text\"";

/// The label in a JSON value: a text, or an integer as a text. `null` is an empty one.
///
/// # Errors
/// It is something else.
pub(crate) fn label_in_json(value: &[u8]) -> Result<Vec<u8>, &'static str> {
    match serde_json::from_slice(value) {
        Ok(Value::Null) => Ok(Vec::new()),
        Ok(Value::String(text)) => Ok(text.trim().as_bytes().to_vec()),
        Ok(Value::Number(number)) if !number.is_f64() => Ok(number.to_string().into_bytes()),
        Ok(Value::Array(_) | Value::Object(_)) => Err("it is a list or an object, and a record has one label. Give \
             labels=\"none\", and take it as a column of its own"),
        Ok(_) => Err("it is neither an integer nor a text"),
        Err(_) => Err("it is not JSON"),
    }
}

/// The number that a text is.
fn number(text: &[u8]) -> Option<f64> {
    str::from_utf8(text).ok()?.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

impl CellKind {
    fn words(self) -> &'static str {
        match self {
            Self::Nothing => "absent",
            Self::Integer => "an integer",
            Self::Text => "a text",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(cells: &[&str], labels: Labels) -> (Vec<i64>, Vec<String>) {
        let mut column = Column::new(labels);
        for (line, cell) in (1..).zip(cells) {
            column.push(cell.as_bytes(), line).expect("cells of one kind");
        }
        column.finish()
    }

    #[test]
    fn rule_2_texts_that_are_all_numbers_are_classes_in_the_order_of_their_numbers() {
        let cells = ["10.0", "2.0", "-1e1", "2.0", "0.25"];
        let names = ["-1e1", "0.25", "2.0", "10.0"].map(str::to_owned).to_vec();
        assert_eq!(labels(&cells, Labels::Auto), (vec![3, 2, 0, 2, 1], names));
        let as_texts = ["-1e1", "0.25", "10.0", "2.0"].map(str::to_owned).to_vec();
        assert_eq!(labels(&cells, Labels::Text), (vec![2, 3, 0, 3, 1], as_texts), "texts that were asked for");
        // One that is no number makes texts of all.
        let mixed = ["10.0", "2.0", "two"].map(str::to_owned).to_vec();
        assert_eq!(labels(&["two", "2.0", "10.0"], Labels::Auto), (vec![2, 1, 0], mixed));
        assert_eq!(labels(&["nan", "10.0", "2.0"], Labels::Auto).1, ["10.0", "2.0", "nan"]);
        assert_eq!(labels(&["2.00", "10", "2.0"][..1], Labels::Auto).1, ["2.00"]);
    }
}
