//! How single values are read and shown, in addition to what recipes need too. The error of each reader names the values
//! that are allowed, and completes the phrase "give ...".

use std::time::Duration;

use forebay_pixels::Annotated;
use forebay_pixels::document::choice;
use forebay_plan::LastBatchPolicy;
use serde_json::Value;

use super::duration::{of_seconds, parse_duration, shown};
use super::{MaxFailures, OnError, Placement};

/// A type of values that a document has.
pub trait Written: Sized {
    /// Its type in Python.
    const PYTHON: &'static str;
    /// What is read for it: for an `Option`, what is in it.
    type Read;

    /// From what was read.
    fn of(read: Self::Read) -> Self;

    /// As TOML. `None` has no text.
    fn shown(&self) -> Option<String>;
}

/// A type whose values are words.
pub trait Keyword: Copy + PartialEq + 'static {
    /// The words and what they mean.
    const KEYWORDS: &'static [(&'static str, Self)];
}

/// One of a type's words.
///
/// # Errors
/// The words.
pub fn word<T: Keyword>(value: &Value) -> Result<T, String> {
    choice(T::KEYWORDS)(value)
}

/// `"5s"`, or a number of seconds.
///
/// # Errors
/// What is allowed.
pub fn duration(value: &Value) -> Result<Duration, String> {
    let duration = match value {
        Value::String(text) => parse_duration(text),
        value => value.as_f64().and_then(of_seconds),
    };
    duration.filter(|duration| !duration.is_zero()).ok_or_else(|| {
        "a duration above 0 and up to 100 years (\"36500d\"), such as \"500ms\", \"5s\", \"10m\" or \"2h\"".to_owned()
    })
}

/// A part of something.
///
/// # Errors
/// What is allowed.
pub fn fraction(value: &Value) -> Result<f64, String> {
    let part = value.as_f64().filter(|part| (0.0..=1.0).contains(part));
    part.ok_or_else(|| "a number from 0.0 to 1.0".to_owned())
}

/// A whole number is a count, a number with a point a part.
pub(super) fn max_failures(value: &Value) -> Result<MaxFailures, String> {
    if let Some(count) = value.as_u64() {
        return Ok(MaxFailures::Count(count));
    }
    let fraction = value.as_f64().filter(|part| value.is_f64() && (0.0..=1.0).contains(part));
    fraction
        .map(MaxFailures::Fraction)
        .ok_or_else(|| "a count, such as 100, or a fraction of the dataset from 0.0 to 1.0".to_owned())
}

/// `"host"`, `"auto"` or `"gpu:0"`.
pub(super) fn placement(value: &Value) -> Result<Placement, String> {
    let number = |word: &str| {
        word.strip_prefix("gpu:").filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?.parse().ok()
    };
    let found = value.as_str().and_then(|word| match word {
        "host" => Some(Placement::Host),
        "auto" => Some(Placement::Auto),
        word => number(word).map(Placement::Gpu),
    });
    found.ok_or_else(|| "\"host\", \"auto\", or a GPU by its number, such as \"gpu:0\"".to_owned())
}

impl Keyword for LastBatchPolicy {
    const KEYWORDS: &'static [(&'static str, Self)] =
        &[("fill", Self::Fill), ("drop", Self::Drop), ("partial", Self::Partial)];
}

impl Keyword for Annotated {
    const KEYWORDS: &'static [(&'static str, Self)] = &[("seen", Self::AsSeen), ("stored", Self::AsStored)];
}

impl Keyword for OnError {
    const KEYWORDS: &'static [(&'static str, Self)] =
        &[("fail", Self::Fail), ("skip", Self::Skip), ("replace", Self::Replace)];
}

fn shown_word<T: Keyword>(value: T) -> Option<String> {
    T::KEYWORDS.iter().find(|(_, meaning)| *meaning == value).map(|(word, _)| format!("\"{word}\""))
}

/// How each type is called in Python, and shown as TOML.
macro_rules! written {
    ($($type:ty: $python:literal, $shown:expr;)*) => {$(
        impl Written for $type {
            const PYTHON: &'static str = $python;
            type Read = Self;

            fn of(read: Self) -> Self {
                read
            }

            fn shown(&self) -> Option<String> {
                let shown: fn(&Self) -> Option<String> = $shown;
                shown(self)
            }
        }
    )*};
}

written! {
    bool: "bool", |value| Some(value.to_string());
    u16: "int", |value| Some(value.to_string());
    u32: "int", |value| Some(value.to_string());
    u64: "int", |value| Some(value.to_string());
    usize: "int", |value| Some(value.to_string());
    i32: "int", |value| Some(value.to_string());
    f64: "float", |value| Some(format!("{value:?}"));
    Duration: "float | str", |value| Some(format!("\"{}\"", shown(*value)));
    Placement: "str", |value| Some(format!("\"{value}\""));
    LastBatchPolicy: "str", |value| shown_word(*value);
    Annotated: "str", |value| shown_word(*value);
    OnError: "str", |value| shown_word(*value);
    MaxFailures: "float", |value| Some(match value {
        MaxFailures::Count(count) => count.to_string(),
        MaxFailures::Fraction(part) => format!("{part:?}"),
    });
}

impl<T: Written<Read = T>> Written for Option<T> {
    const PYTHON: &'static str = T::PYTHON;
    type Read = T;

    fn of(read: T) -> Self {
        Some(read)
    }

    fn shown(&self) -> Option<String> {
        self.as_ref().and_then(T::shown)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn placements_are_words_or_a_gpu_by_its_number() {
        for word in ["host", "auto", "gpu:0", "gpu:12"] {
            assert_eq!(placement(&json!(word)).unwrap().to_string(), word);
        }
        for wrong in [json!("gpu"), json!("gpu:"), json!("gpu:-1"), json!("gpu:+1"), json!("gpu:99999999999"), json!(0)]
        {
            assert!(placement(&wrong).unwrap_err().contains("\"gpu:0\""), "{wrong}");
        }
    }

    #[test]
    fn a_value_is_read_back_as_it_is_shown() {
        let read = |shown: Option<String>| serde_json::from_str::<Value>(&shown.unwrap()).unwrap();
        for value in [OnError::Fail, OnError::Skip, OnError::Replace] {
            assert_eq!(word::<OnError>(&read(value.shown())).unwrap(), value);
        }
        for value in [MaxFailures::Count(1), MaxFailures::Fraction(1.0)] {
            assert_eq!(max_failures(&read(value.shown())).unwrap(), value);
        }
        for (millis, text) in [(500, "\"500ms\""), (60_000, "\"60s\""), (90_000, "\"90s\""), (600_000, "\"10m\"")] {
            let value = Duration::from_millis(millis);
            assert_eq!(value.shown().unwrap(), text);
            assert_eq!(duration(&read(value.shown())).unwrap(), value);
        }
        assert_eq!(None::<u64>.shown(), None);
        assert_eq!(Some(7_u64).shown().as_deref(), Some("7"));
    }
}
