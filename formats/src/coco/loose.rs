//! Values of an annotation whatever their type. A value of a wrong type is the fault of one annotation, so it must not
//! end the reading of the file.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A value of JSON, as far as annotations have such.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Loose {
    Nothing,
    Integer(i64),
    Float(f64),
    Text(String),
    /// A list with numbers only.
    Numbers(Vec<f64>),
    /// A list of lists with numbers only.
    Lists(Vec<Vec<f64>>),
    /// A mask: its height and width, and its counts.
    Mask {
        size: Box<Loose>,
        counts: Box<Loose>,
    },
    /// Something else.
    Other,
}

impl Loose {
    /// The value as a number.
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            // Beyond 2^53 the nearest number is as good.
            #[expect(clippy::cast_precision_loss, reason = "coordinates are far smaller")]
            Self::Integer(value) => Some(*value as f64),
            Self::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// The value as an integer. Some tools write ids as 7.0.
    pub(super) fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(value) => Some(*value),
            #[expect(clippy::cast_possible_truncation, reason = "it is whole and in the range")]
            Self::Float(value) if value.fract() == 0.0 && value.abs() < 9e15 => Some(*value as i64),
            _ => None,
        }
    }
}

impl<'de> Deserialize<'de> for Loose {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LooseVisitor)
    }
}

struct LooseVisitor;

impl<'de> Visitor<'de> for LooseVisitor {
    type Value = Loose;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Loose, E> {
        Ok(Loose::Nothing)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Loose, E> {
        Ok(Loose::Integer(i64::from(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Loose, E> {
        Ok(Loose::Integer(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Loose, E> {
        Ok(i64::try_from(value).map_or(Loose::Other, Loose::Integer))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Loose, E> {
        Ok(Loose::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Loose, E> {
        Ok(Loose::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Loose, A::Error> {
        let (mut numbers, mut lists, mut other) = (Vec::new(), Vec::new(), false);
        while let Some(item) = seq.next_element::<Loose>()? {
            match item {
                Loose::Numbers(list) if numbers.is_empty() && !other => lists.push(list),
                item => match item.number() {
                    Some(number) if lists.is_empty() && !other => numbers.push(number),
                    _ => other = true,
                },
            }
        }
        Ok(match (other, lists.is_empty()) {
            (true, _) => Loose::Other,
            (false, true) => Loose::Numbers(numbers),
            (false, false) => Loose::Lists(lists),
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Loose, A::Error> {
        let (mut size, mut counts) = (Loose::Nothing, Loose::Nothing);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "size" => size = map.next_value()?,
                "counts" => counts = map.next_value()?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(Loose::Mask { size: Box::new(size), counts: Box::new(counts) })
    }
}
