//! Parsers of single values, in addition to those that recipes need too. The error of each names the values that are
//! allowed, and completes the phrase "give ...".

use std::path::PathBuf;

use forebay_pipeline::ByteSize;
pub(super) use forebay_pipeline::settings::duration;
pub(super) use forebay_pixels::document::{choice, flag, shown, whole};
use serde_json::Value;

pub(super) fn text(value: &Value) -> Result<String, String> {
    match value.as_str() {
        Some(text) if !text.is_empty() => Ok(text.to_owned()),
        _ => Err("a text that is not empty".to_owned()),
    }
}

/// A Unix group's name, or its number.
pub(super) fn unix_group(value: &Value) -> Result<String, String> {
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
