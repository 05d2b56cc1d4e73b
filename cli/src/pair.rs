//! Names and values of the command line: `NAME=VALUE`, and values of TOML.

use serde_json::{Map, Value};

/// Reads one.
///
/// # Errors
/// There is no name, or no value.
pub(crate) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("give a name, \"=\" and a value".to_owned()),
    }
}

/// A value of TOML, or else a text without its quotes.
pub(crate) fn value(text: &str) -> Value {
    let table = toml::from_str::<Map<String, Value>>(&format!("value = {text}")).ok();
    table.and_then(|mut table| table.remove("value")).unwrap_or_else(|| text.into())
}
