//! Values of a column whose type only the data shows: the numbers, texts and lists of a JSON, the text of a file, or an
//! array.

mod arrays;

use std::borrow::Cow;

use forebay_columns::{Column, ColumnType, ElementType};
use serde_json::{Map, Value};

use crate::npy::NpyArray;
use arrays::LooseArrays;

/// One record's value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LooseValue {
    Null,
    Number(LooseNumber),
    Text(Vec<u8>),
    List(Vec<LooseNumber>),
    /// Lists in lists, as JSON.
    Nested(Vec<u8>),
    Array(NpyArray),
}

/// A number of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum LooseNumber {
    Integer(i64),
    Float(f64),
}

/// What all values of a column are, apart from those that are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LooseKind {
    Number,
    Text,
    List,
    Nested,
    Array,
}

/// The values of a column, record by record. The first one decides what they are.
#[derive(Debug, Default)]
pub(crate) struct LooseColumn {
    kind: Option<LooseKind>,
    has_floats: bool,
    values: Vec<LooseValue>,
    /// In place of the values, once the first one is an array.
    arrays: Option<LooseArrays>,
}

impl LooseValue {
    /// The value with this key in a JSON object, or behind several keys with dots between them: `a.b` is the value `b` of the
    /// object `a`, unless there is a key `a.b`. What is not there, or is `null`, is missing. In a list of objects, a key leads to
    /// the list of their values.
    ///
    /// # Errors
    /// The text says what is wrong.
    pub(crate) fn of_json(json: &[u8], key: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_slice(json).map_err(|error| format!("it is not JSON: {error}"))?;
        if !value.is_object() && !are_objects(&value) {
            return Err("it is neither a JSON object nor a list of objects".into());
        }
        behind(&value, key).map_or(Ok(Self::Null), |value| Self::of_value(&value, key))
    }

    /// A value of JSON, or of what has the same values.
    ///
    /// # Errors
    /// A column cannot have it. The text says why.
    pub(crate) fn of_value(value: &Value, key: &str) -> Result<Self, String> {
        let of = |value: &Value| LooseNumber::of(value).ok_or_else(|| format!("\"{key}\" in it is {}", name(value)));
        match value {
            Value::Null => Ok(Self::Null),
            Value::String(text) => Ok(Self::Text(text.clone().into_bytes())),
            Value::Array(items) if is_nested(items) => Ok(Self::Nested(value.to_string().into_bytes())),
            Value::Array(items) => Ok(Self::List(items.iter().map(of).collect::<Result<_, _>>()?)),
            Value::Object(object) => {
                let keys: Vec<String> = object.keys().take(5).map(|inner| format!("{key}.{inner}")).collect();
                Err(format!("\"{key}\" in it is an object. Name a value in it, such as {}", keys.join(", ")))
            }
            value => of(value).map(Self::Number),
        }
    }

    /// A float, which may be infinite or no number.
    pub(crate) fn float(number: f64) -> Self {
        Self::Number(LooseNumber::Float(number))
    }

    /// A file that holds an integer as text.
    ///
    /// # Errors
    /// The text says what is wrong.
    pub(crate) fn of_integer(text: &[u8]) -> Result<Self, String> {
        let number = str::from_utf8(text).ok().and_then(|text| text.trim().parse().ok());
        number.map(|number| Self::Number(LooseNumber::Integer(number))).ok_or_else(|| "it is not an integer".into())
    }

    fn kind(&self) -> Option<LooseKind> {
        match self {
            Self::Null => None,
            Self::Number(_) => Some(LooseKind::Number),
            Self::Text(_) => Some(LooseKind::Text),
            Self::List(_) => Some(LooseKind::List),
            Self::Nested(_) => Some(LooseKind::Nested),
            Self::Array(_) => Some(LooseKind::Array),
        }
    }

    fn numbers(&self) -> &[LooseNumber] {
        match self {
            Self::Number(number) => std::slice::from_ref(number),
            Self::List(numbers) => numbers,
            Self::Null | Self::Text(_) | Self::Nested(_) | Self::Array(_) => &[],
        }
    }
}

impl LooseNumber {
    /// True and false are 1 and 0. Nothing for what is no number, or too large to be one.
    fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(value) => Some(Self::Integer(i64::from(*value))),
            Value::Number(number) => match number.as_i64() {
                Some(integer) => Some(Self::Integer(integer)),
                None => number.as_f64().filter(|_| number.is_f64()).map(Self::Float),
            },
            _ => None,
        }
    }

    fn integer(self) -> i64 {
        match self {
            Self::Integer(integer) => integer,
            Self::Float(_) => unreachable!("a column with floats is one of floats"),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a column with one float is one of floats")]
    fn float(self) -> f64 {
        match self {
            Self::Integer(integer) => integer as f64,
            Self::Float(float) => float,
        }
    }
}

impl LooseKind {
    fn words(self) -> &'static str {
        match self {
            Self::Number => "a number",
            Self::Text => "a text",
            Self::List => "a list of numbers",
            Self::Nested => "a list of lists",
            Self::Array => "an array",
        }
    }
}

impl LooseColumn {
    /// The value of the next record. If it is not what the others are, it counts as missing.
    ///
    /// # Errors
    /// The text says what is wrong.
    pub(crate) fn push(&mut self, cell: LooseValue) -> Result<(), String> {
        let Some(kind) = cell.kind() else {
            self.push_missing();
            return Ok(());
        };
        let expected = self.kind.unwrap_or(kind);
        // An empty list may be one of numbers or of lists.
        let is_empty = |cell: &LooseValue| matches!(cell, LooseValue::List(items) if items.is_empty());
        if expected == LooseKind::Nested && is_empty(&cell) {
            self.values.push(LooseValue::Nested(b"[]".to_vec()));
            return Ok(());
        }
        if (expected, kind) == (LooseKind::List, LooseKind::Nested)
            && self.values.iter().all(|value| is_empty(value) || *value == LooseValue::Null)
        {
            for value in self.values.iter_mut().filter(|value| is_empty(value)) {
                *value = LooseValue::Nested(b"[]".to_vec());
            }
        } else if kind != expected {
            self.push_missing();
            return Err(format!("it is {}, but the first one of the dataset is {}", kind.words(), expected.words()));
        }
        if let LooseValue::Array(array) = cell {
            return self.push_array(array);
        }
        self.kind = Some(kind);
        self.has_floats |= cell.numbers().iter().any(|number| matches!(number, LooseNumber::Float(_)));
        self.values.push(cell);
        Ok(())
    }

    fn push_missing(&mut self) {
        match &mut self.arrays {
            Some(arrays) => arrays.push_missing(),
            None => self.values.push(LooseValue::Null),
        }
    }

    fn push_array(&mut self, array: NpyArray) -> Result<(), String> {
        if let Some(arrays) = &mut self.arrays {
            return arrays.push(&array);
        }
        match LooseArrays::new(self.values.len(), array) {
            Ok(arrays) => {
                (self.kind, self.arrays) = (Some(LooseKind::Array), Some(arrays));
                Ok(())
            }
            Err(wrong) => {
                self.push_missing();
                Err(wrong)
            }
        }
    }

    /// The column: `i64`, `f64` where one value is no integer, or `u8 [*]`; and lists of these; or what the arrays are.
    /// Nothing if no record has a value.
    pub(crate) fn finish(self) -> Option<Column> {
        if let Some(arrays) = self.arrays {
            return Some(arrays.finish());
        }
        let element = match self.kind? {
            LooseKind::Text | LooseKind::Nested => ElementType::U8,
            _ if self.has_floats => ElementType::F64,
            _ => ElementType::I64,
        };
        let mut column = Column::new(match self.kind? {
            LooseKind::Number => ColumnType::scalar(element),
            LooseKind::Text | LooseKind::List | LooseKind::Nested | LooseKind::Array => ColumnType::list(element),
        });
        for cell in &self.values {
            match cell {
                LooseValue::Null => column.push_null(),
                LooseValue::Text(text) | LooseValue::Nested(text) => column.push(text),
                _ if self.has_floats => {
                    column.push(&cell.numbers().iter().map(|number| number.float()).collect::<Vec<_>>());
                }
                _ => column.push(&cell.numbers().iter().map(|number| number.integer()).collect::<Vec<_>>()),
            }
        }
        Some(column)
    }
}

/// The value behind a key, or behind several. Those of a list of objects are a list, with `null` where one has none.
fn behind<'v>(value: &'v Value, key: &str) -> Option<Cow<'v, Value>> {
    match value {
        Value::Object(object) => behind_key(object, key),
        Value::Array(items) if are_objects(value) => {
            let of_item = |item| behind(item, key).map_or(Value::Null, Cow::into_owned);
            Some(Cow::Owned(items.iter().map(of_item).collect()))
        }
        _ => None,
    }
}

/// The same in an object.
pub(crate) fn behind_key<'v>(object: &'v Map<String, Value>, key: &str) -> Option<Cow<'v, Value>> {
    let mut dots = key.match_indices('.').map(|(dot, _)| dot);
    let own = object.get(key).map(Cow::Borrowed);
    own.or_else(|| dots.find_map(|dot| behind(object.get(&key[..dot])?, &key[dot + 1..])))
}

/// Whether it is a list of objects, which may be empty.
fn are_objects(value: &Value) -> bool {
    value.as_array().is_some_and(|items| items.iter().all(Value::is_object))
}

/// Whether the items of a list are lists of numbers, or of such lists.
fn is_nested(items: &[Value]) -> bool {
    let of_numbers = |items: &[Value]| items.iter().all(|item| LooseNumber::of(item).is_some());
    let is_list = |item: &Value| item.as_array().is_some_and(|inner| of_numbers(inner) || is_nested(inner));
    !items.is_empty() && items.iter().all(is_list)
}

fn name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::String(_) => "a list of texts",
        Value::Array(_) => "a list with lists and something else",
        Value::Object(_) => "an object",
        Value::Number(_) => "a number that does not fit in 64 bits",
        Value::Bool(_) => "true or false",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::says;

    const JSON: &[u8] =
        br#"{"n": 3, "f": 0.5, "t": "x", "l": [1, 2.5], "b": true, "o": {}, "z": null, "big": 18446744073709551615,
        "ll": [[1]], "lt": ["a"], "lm": [[1], 2], "e": [], "p": {"q": {"r": 4}, "q.s": 5, "l": [[1, 2], []]}, "p.x": 6}"#;

    fn column(keys: &[&str]) -> (Option<Column>, Vec<String>) {
        let mut cells = LooseColumn::default();
        let pushed = keys.iter().filter_map(|key| cells.push(LooseValue::of_json(JSON, key).unwrap()).err());
        let refusals = pushed.collect();
        (cells.finish(), refusals)
    }

    #[test]
    fn the_values_decide_the_type() {
        let types = |keys: &[&str]| column(keys).0.map(|column| column.column_type().to_string());
        assert_eq!(types(&["n", "b", "z"]).unwrap(), "i64");
        assert_eq!(types(&["z", "n", "f"]).unwrap(), "f64");
        assert_eq!(types(&["t"]).unwrap(), "u8 [*]");
        assert_eq!(types(&["l", "missing"]).unwrap(), "f64 [*]");
        assert_eq!(types(&["z", "missing"]), None);
        let (mixed, _) = column(&["n", "f", "z"]);
        let mixed = mixed.unwrap();
        let values: Vec<f64> =
            (0..3).flat_map(|record| mixed.value(record).numbers::<f64>(mixed.column_type()).unwrap()).collect();
        assert_eq!(values, [3.0, 0.5, 0.0]);
        assert!(mixed.value(2).is_null());
    }

    #[test]
    fn a_key_with_dots_leads_into_objects_and_lists_of_lists_are_json() {
        let of = |key: &str| LooseValue::of_json(JSON, key).unwrap();
        let integer = |number| LooseValue::Number(LooseNumber::Integer(number));
        assert_eq!(
            [of("p.q.r"), of("p.q.s"), of("p.x"), of("p.q.z")],
            [integer(4), integer(5), integer(6), LooseValue::Null]
        );
        assert_eq!([of("p.q.r.s"), of("n.a"), of(".")], [LooseValue::Null, LooseValue::Null, LooseValue::Null]);
        assert_eq!(of("p.l"), LooseValue::Nested(b"[[1,2],[]]".to_vec()));
        says(&LooseValue::of_json(JSON, "p").unwrap_err(), &["p.q", "p.l"]);
        for keys in [&["e", "ll", "e"][..], &["z", "ll", "e"], &["e", "e", "ll"]] {
            let (column, refusals) = column(keys);
            let column = column.unwrap();
            assert_eq!((column.column_type().to_string().as_str(), refusals.len()), ("u8 [*]", 0));
            let texts: Vec<&[u8]> = (0..3).map(|record| column.value(record).bytes()).collect();
            let text = |key: &&str| match *key {
                "ll" => &b"[[1]]"[..],
                "e" => b"[]",
                _ => b"",
            };
            assert_eq!(texts, keys.iter().map(text).collect::<Vec<_>>());
        }
        assert_eq!(
            column(&["l", "ll"]).1,
            ["it is a list of lists, but the first one of the dataset is a list of numbers"]
        );
    }

    #[test]
    fn a_key_of_a_list_of_objects_leads_to_the_list_of_their_values() {
        let json =
            br#"{"objects": [{"box": [1, 2, 3, 4], "kind": {"id": 7}}, {"box": [5, 6, 7, 8.5], "kind": {"id": 9}}],
            "none": [], "some": [{"id": 1}, {}], "mixed": [{"id": 1}, 2]}"#;
        let of = |key: &str| LooseValue::of_json(json, key);
        assert_eq!(of("objects.box"), Ok(LooseValue::Nested(b"[[1,2,3,4],[5,6,7,8.5]]".to_vec())));
        let integers = |numbers: &[i64]| LooseValue::List(numbers.iter().copied().map(LooseNumber::Integer).collect());
        assert_eq!(of("objects.kind.id"), Ok(integers(&[7, 9])));
        assert_eq!((of("none.id"), of("mixed.id")), (Ok(integers(&[])), Ok(LooseValue::Null)));
        says(&of("some.id").unwrap_err(), &["some.id", "null"]);
        assert_eq!(LooseValue::of_json(br#"[{"id": 3}, {"id": 4}]"#, "id"), Ok(integers(&[3, 4])));
    }

    #[test]
    fn a_value_that_is_not_what_the_others_are_is_refused_alone() {
        let (column, refusals) = column(&["n", "t", "n"]);
        let column = column.unwrap();
        assert_eq!(refusals, ["it is a text, but the first one of the dataset is a number"]);
        assert_eq!([0, 1, 2].map(|record| column.value(record).is_null()), [false, true, false]);
        for (key, word) in [("o", "an object"), ("big", "64 bits"), ("lm", "something else"), ("lt", "list of texts")] {
            assert!(LooseValue::of_json(JSON, key).unwrap_err().contains(word));
        }
        assert!(LooseValue::of_json(b"{", "x").unwrap_err().contains("not JSON"));
        assert!(LooseValue::of_json(b"[1]", "x").unwrap_err().contains("list of objects"));
        assert!(LooseValue::of_json(&b"[".repeat(100_000), "x").is_err());
        assert_eq!(LooseValue::of_integer(b" 7\n"), Ok(LooseValue::Number(LooseNumber::Integer(7))));
        assert!(LooseValue::of_integer(b"cat").is_err());
    }
}
