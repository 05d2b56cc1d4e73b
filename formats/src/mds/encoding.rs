//! How a column of MDS keeps its values, and what becomes of them.

use forebay_columns::{Column, ColumnType, ElementType};
use half::f16;

use super::arrays::{ArrayForm, scalar};
use super::pixels::PixelForm;
use crate::label_column::label_in_json;
use crate::loose::LooseValue;

/// How values are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MdsEncoding {
    /// A picture as a file.
    Picture,
    /// A picture as Pillow's pixels.
    Pixels,
    /// A list of pictures as files. A record may have one of them.
    Pictures {
        /// Bytes before the number of pictures.
        before: u64,
    },
    Bytes,
    /// UTF-8.
    Text,
    Json,
    Array(ArrayForm),
    /// One number, little-endian.
    Number(ElementType),
    /// An integer or a float as text.
    IntegerText,
    FloatText,
    /// The name, and why it is not read.
    Refused(String, &'static str),
}

impl MdsEncoding {
    /// The encoding of this name. Behind a colon are settings that only its writer needs.
    pub(super) fn of(name: &str) -> Self {
        let (kind, settings) = name.split_once(':').unwrap_or((name, ""));
        match kind {
            "pil" => Self::Pixels,
            "list[jpeg]" | "list[png]" => Self::Pictures { before: 4 },
            "jpeg_array" | "jpegarray" => Self::Pictures { before: 0 },
            "json" => Self::Json,
            "ndarray" => ArrayForm::of(settings).map_or_else(
                || Self::Refused(name.to_owned(), "its name does not say what its arrays are"),
                Self::Array,
            ),
            "jpeg" | "png" => Self::Picture,
            "bytes" => Self::Bytes,
            "str" | "str_decimal" => Self::Text,
            "int" => Self::Number(ElementType::I64),
            "str_int" => Self::IntegerText,
            "str_float" => Self::FloatText,
            _ => match scalar(kind) {
                Some(element) => Self::Number(element),
                None => Self::Refused(
                    name.to_owned(),
                    match kind {
                        "list[pil]" => "it keeps lists of raw pixels: write the column as list[png] or png",
                        "pkl" => "reading it would run code of the dataset: write the column as json, or as numbers",
                        _ => "this version does not know it",
                    },
                ),
            },
        }
    }

    /// Bytes of each value, unless they differ. What is refused may have any.
    pub(super) fn size(&self) -> Option<u64> {
        match self {
            Self::Number(element) => Some(element.size() as u64),
            Self::Array(form) => form.size(),
            _ => None,
        }
    }

    /// How its values are pictures. Nothing if they are none.
    pub(super) fn pixels(&self) -> Option<PixelForm> {
        match self {
            Self::Pixels => Some(PixelForm::Pillow),
            Self::Array(form) => Some(PixelForm::Array(form.clone())),
            _ => None,
        }
    }

    /// A value whose type only the data show: an array, or a value in JSON.
    ///
    /// # Errors
    /// It has no such value. The text says why.
    pub(super) fn loose(&self, value: &[u8], key: Option<&str>) -> Result<LooseValue, String> {
        match (self, key) {
            (Self::Array(form), _) => Ok(LooseValue::Array(form.array(value)?)),
            (_, Some(key)) => LooseValue::of_json(value, key),
            (_, None) => Err("it is neither an array nor a value in JSON".into()),
        }
    }

    /// The type of a column that has its values.
    pub(super) fn column_type(&self) -> ColumnType {
        match self {
            Self::Number(element) => ColumnType::scalar(*element),
            Self::IntegerText => ColumnType::scalar(ElementType::I64),
            Self::FloatText => ColumnType::scalar(ElementType::F64),
            _ => ColumnType::text(),
        }
    }

    /// Adds a value to a column of this encoding's type.
    ///
    /// # Errors
    /// The value is not what the encoding keeps, and nothing was added.
    pub(super) fn push(&self, value: &[u8], column: &mut Column) -> Result<(), &'static str> {
        match self {
            Self::Number(element) => push_number(*element, value, column).ok_or("it has not the bytes of its number"),
            Self::IntegerText => {
                let number: i64 = parsed(value).ok_or("it is not an integer")?;
                column.push(&[number]);
                Ok(())
            }
            Self::FloatText => {
                let number: f64 = parsed(value).ok_or("it is not a number")?;
                column.push(&[number]);
                Ok(())
            }
            Self::Text | Self::Json if str::from_utf8(value).is_err() => Err("it is not UTF-8"),
            _ => {
                column.push(value);
                Ok(())
            }
        }
    }

    /// A value as the text of a label.
    ///
    /// # Errors
    /// It can be none.
    pub(super) fn label(&self, value: &[u8]) -> Result<Vec<u8>, &'static str> {
        match self {
            Self::Text | Self::Bytes => Ok(value.trim_ascii().to_vec()),
            Self::Json => label_in_json(value),
            Self::IntegerText => {
                let number: i64 = parsed(value).ok_or("it is not an integer")?;
                Ok(number.to_string().into_bytes())
            }
            Self::Number(element) => {
                let number = integer(*element, value).ok_or("it is not an integer of 64 bits")?;
                Ok(number.to_string().into_bytes())
            }
            _ => Err("it is neither an integer nor a text"),
        }
    }

    /// Whether its values can be labels.
    pub(super) fn can_label(&self) -> bool {
        match self {
            Self::Number(element) => !matches!(element, ElementType::F16 | ElementType::F32 | ElementType::F64),
            Self::Text | Self::Json | Self::Bytes | Self::IntegerText => true,
            _ => false,
        }
    }
}

fn parsed<T: std::str::FromStr>(value: &[u8]) -> Option<T> {
    str::from_utf8(value).ok()?.trim().parse().ok()
}

/// Nothing if the value has another number of bytes.
fn push_number(element: ElementType, value: &[u8], column: &mut Column) -> Option<()> {
    match element {
        ElementType::U8 => column.push(&[u8::from_le_bytes(value.try_into().ok()?)]),
        ElementType::U16 => column.push(&[u16::from_le_bytes(value.try_into().ok()?)]),
        ElementType::U32 => column.push(&[u32::from_le_bytes(value.try_into().ok()?)]),
        ElementType::U64 => column.push(&[u64::from_le_bytes(value.try_into().ok()?)]),
        ElementType::I8 => column.push(&[i8::from_le_bytes(value.try_into().ok()?)]),
        ElementType::I16 => column.push(&[i16::from_le_bytes(value.try_into().ok()?)]),
        ElementType::I32 => column.push(&[i32::from_le_bytes(value.try_into().ok()?)]),
        ElementType::I64 => column.push(&[i64::from_le_bytes(value.try_into().ok()?)]),
        ElementType::F16 => column.push(&[f16::from_le_bytes(value.try_into().ok()?)]),
        ElementType::F32 => column.push(&[f32::from_le_bytes(value.try_into().ok()?)]),
        ElementType::F64 => column.push(&[f64::from_le_bytes(value.try_into().ok()?)]),
        ElementType::Bf16 | ElementType::Bool => return None,
    }
    Some(())
}

/// Nothing for floats, and for what does not fit.
fn integer(element: ElementType, value: &[u8]) -> Option<i64> {
    Some(match element {
        ElementType::U8 => u8::from_le_bytes(value.try_into().ok()?).into(),
        ElementType::U16 => u16::from_le_bytes(value.try_into().ok()?).into(),
        ElementType::U32 => u32::from_le_bytes(value.try_into().ok()?).into(),
        ElementType::U64 => u64::from_le_bytes(value.try_into().ok()?).try_into().ok()?,
        ElementType::I8 => i8::from_le_bytes(value.try_into().ok()?).into(),
        ElementType::I16 => i16::from_le_bytes(value.try_into().ok()?).into(),
        ElementType::I32 => i32::from_le_bytes(value.try_into().ok()?).into(),
        ElementType::I64 => i64::from_le_bytes(value.try_into().ok()?),
        ElementType::F16 | ElementType::F32 | ElementType::F64 | ElementType::Bf16 | ElementType::Bool => return None,
    })
}
