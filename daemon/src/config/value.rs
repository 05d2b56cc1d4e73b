//! Parsers of single values, in addition to those that recipes need too. The error of each names the values that are
//! allowed, and completes the phrase "give ...".

use std::path::PathBuf;
use std::time::Duration;

pub(super) use forebay_pixels::document::{choice, flag, shown, whole};
use forebay_road::ByteSize;
use serde_json::Value;

use super::duration::{of_seconds, parse_duration};

pub(super) fn text(value: &Value) -> Result<String, String> {
    match value.as_str() {
        Some(text) if !text.is_empty() => Ok(text.to_owned()),
        _ => Err("a text that is not empty".to_owned()),
    }
}

/// A group's name, or its number.
pub(super) fn group(value: &Value) -> Result<String, String> {
    match value.as_u64() {
        Some(number) if number < u64::from(u32::MAX) => Ok(number.to_string()),
        _ => text(value).map_err(|_| "a group's name or number".to_owned()),
    }
}

pub(super) fn path(value: &Value) -> Result<PathBuf, String> {
    match value.as_str() {
        Some(text) if !text.is_empty() && !text.contains('\0') => Ok(PathBuf::from(text)),
        _ => Err("a path".to_owned()),
    }
}

/// `"100gb"`, or a number of bytes.
pub(super) fn size(value: &Value) -> Result<ByteSize, String> {
    let size = match value {
        Value::String(text) => text.parse().ok(),
        value => value.as_u64().and_then(ByteSize::of),
    };
    size.filter(|size: &ByteSize| size.0 > 0)
        .ok_or_else(|| "a size above 0 and below 1024 PiB, such as \"512kb\", \"1.5gb\" or \"64MiB\"".to_owned())
}

/// `"5s"`, or a number of seconds.
pub(super) fn duration(value: &Value) -> Result<Duration, String> {
    let duration = match value {
        Value::String(text) => parse_duration(text),
        value => value.as_f64().and_then(of_seconds),
    };
    duration.filter(|duration| !duration.is_zero()).ok_or_else(|| {
        "a duration above 0 and up to 100 years (\"36500d\"), such as \"500ms\", \"5s\", \"10m\" or \"2h\"".to_owned()
    })
}
