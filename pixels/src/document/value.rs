//! Reads single values of a document. The reader of a value says in its error what is allowed, as the end of "give ...".

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use super::Mistake;

/// The key's value, unless it is absent or `null`: a client may send all its keys.
pub fn given<'v>(values: &'v Map<String, Value>, key: &str) -> Option<&'v Value> {
    values.get(key).filter(|value| !value.is_null())
}

/// The key's value as `read` understands it; nothing if it is not given.
///
/// # Errors
/// `read` refuses the value.
pub fn take<T>(
    values: &Map<String, Value>,
    key: &str,
    read: impl FnOnce(&Value) -> Result<T, String>,
) -> Result<Option<T>, Mistake> {
    let Some(value) = given(values, key) else { return Ok(None) };
    let mistake = |allowed| Mistake { key: key.to_owned(), problem: format!("is {}; give {allowed}.", shown(value)) };
    read(value).map(Some).map_err(mistake)
}

/// True or false.
///
/// # Errors
/// What is allowed.
pub fn flag(value: &Value) -> Result<bool, String> {
    value.as_bool().ok_or_else(|| "true or false".to_owned())
}

/// A whole number in a range.
pub fn whole<T>(range: RangeInclusive<T>) -> impl FnOnce(&Value) -> Result<T, String>
where
    T: TryFrom<u64> + PartialOrd + std::fmt::Display,
{
    move |value| {
        let number = value.as_u64().and_then(|number| T::try_from(number).ok()).filter(|number| range.contains(number));
        number.ok_or_else(|| format!("a whole number from {} to {}", range.start(), range.end()))
    }
}

/// A number from `least` up.
pub(super) fn number(least: f64) -> impl FnOnce(&Value) -> Result<f64, String> {
    move |value| {
        let number = value.as_f64().filter(|number| *number >= least && number.is_finite());
        number.ok_or_else(|| format!("a number from {least:?} up"))
    }
}

/// One of a few words.
pub fn choice<T: Copy>(words: &'static [(&'static str, T)]) -> impl FnOnce(&Value) -> Result<T, String> {
    move |value| {
        let found = words.iter().find(|(word, _)| value.as_str() == Some(word));
        found.map(|&(_, meaning)| meaning).ok_or_else(|| {
            let words: Vec<String> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
            format!("one of {}", words.join(", "))
        })
    }
}

/// A value as its writer would recognise it. A long one is cut.
pub fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}
