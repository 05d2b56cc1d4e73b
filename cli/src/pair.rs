//! A name and a value of the command line: `NAME=VALUE`.

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
