//! A record's value as numbers in lists, however its column keeps them: as numbers, or as a text with them.

use forebay_columns::{Column, ColumnType, ElementType};
use half::{bf16, f16};
use serde_json::Value;

/// Numbers, and lists of them.
#[derive(Debug, PartialEq)]
pub(super) enum Nest {
    Number(f64),
    List(Vec<Nest>),
}

impl Nest {
    /// The value of a record. A text has JSON, or numbers with spaces or commas between them.
    ///
    /// # Errors
    /// The text has something else.
    pub(super) fn of(column: &Column, record: usize) -> Result<Self, String> {
        if *column.column_type() == ColumnType::text() {
            return Self::of_text(column.value(record).bytes());
        }
        Ok(Self::list(column, 1, record))
    }

    /// The list of this level, or the row, at a place.
    fn list(column: &Column, level: usize, place: usize) -> Self {
        let of = column.column_type();
        if level > of.depth() {
            let row = of.row_len();
            let values: Vec<f64> = numbers(of.element(), &column.bytes()[place * row..(place + 1) * row]).collect();
            return Self::shaped(&values, of.dims());
        }
        let ends = column.offsets(level);
        let item = |offset: i64| usize::try_from(offset).expect("offsets count what is in memory");
        Self::List((item(ends[place])..item(ends[place + 1])).map(|item| Self::list(column, level + 1, item)).collect())
    }

    fn shaped(values: &[f64], dims: &[u32]) -> Self {
        match dims {
            [] => Self::Number(values.first().copied().unwrap_or_default()),
            [_, inner @ ..] => {
                let row = inner.iter().map(|dim| *dim as usize).product::<usize>().max(1);
                Self::List(values.chunks(row).map(|row| Self::shaped(row, inner)).collect())
            }
        }
    }

    fn of_text(text: &[u8]) -> Result<Self, String> {
        let text = str::from_utf8(text).map_err(|_| "it is neither numbers nor a text")?.trim();
        if text.starts_with('[') {
            let value = serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
            return Self::of_json(&value);
        }
        let words = text.split([' ', ',', '\t', '\n', '\r']).filter(|word| !word.is_empty());
        let number = |word: &str| word.parse().map(Self::Number).map_err(|_| "it is a text without numbers".to_owned());
        words.map(number).collect::<Result<_, _>>().map(Self::List)
    }

    fn of_json(value: &Value) -> Result<Self, String> {
        match value {
            Value::Array(items) => items.iter().map(Self::of_json).collect::<Result<_, _>>().map(Self::List),
            Value::Number(number) => {
                number.as_f64().map(Self::Number).ok_or_else(|| "it has a number that is too large".into())
            }
            _ => Err("it has something else than numbers and lists of them".into()),
        }
    }

    /// The list's numbers, if it has nothing else.
    pub(super) fn numbers(&self) -> Option<Vec<f64>> {
        let Self::List(items) = self else { return None };
        let number = |item: &Self| match item {
            Self::Number(number) => Some(*number),
            Self::List(_) => None,
        };
        items.iter().map(number).collect()
    }
}

/// Whether a number can be a fraction of a picture's size. Annotations reach a little beyond their pictures.
pub(super) fn is_fraction(number: f64) -> bool {
    (-1.0..=2.0).contains(&number)
}

/// The values of these bytes, little-endian.
pub(super) fn numbers(element: ElementType, bytes: &[u8]) -> impl Iterator<Item = f64> {
    bytes.chunks_exact(element.size()).map(move |bytes| number(element, bytes).unwrap_or_default())
}

#[expect(clippy::cast_precision_loss, reason = "coordinates are far below 2^53")]
fn number(element: ElementType, bytes: &[u8]) -> Option<f64> {
    Some(match element {
        ElementType::Bool | ElementType::U8 => (*bytes.first()?).into(),
        ElementType::I8 => i8::from_le_bytes(bytes.try_into().ok()?).into(),
        ElementType::I16 => i16::from_le_bytes(bytes.try_into().ok()?).into(),
        ElementType::I32 => i32::from_le_bytes(bytes.try_into().ok()?).into(),
        ElementType::I64 => i64::from_le_bytes(bytes.try_into().ok()?) as f64,
        ElementType::U16 => u16::from_le_bytes(bytes.try_into().ok()?).into(),
        ElementType::U32 => u32::from_le_bytes(bytes.try_into().ok()?).into(),
        ElementType::U64 => u64::from_le_bytes(bytes.try_into().ok()?) as f64,
        ElementType::F16 => f16::from_le_bytes(bytes.try_into().ok()?).into(),
        ElementType::Bf16 => bf16::from_le_bytes(bytes.try_into().ok()?).into(),
        ElementType::F32 => f32::from_le_bytes(bytes.try_into().ok()?).into(),
        ElementType::F64 => f64::from_le_bytes(bytes.try_into().ok()?),
    })
}
