//! What the formats of tables share (Parquet, Arrow): which column is the picture, which is the label, and how the values
//! of the others become columns.

mod choice;
mod huggingface;
mod labels;
mod nested;
mod targets;
mod values;

use std::path::Path;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use forebay_sources::{Container, Locator, Part, ReadError, ReadErrorKind, SourceError};

pub(crate) use choice::TableChoice;
pub(crate) use nested::{leaves, list_item, values};
pub(crate) use values::TableValues;

/// The text of a row. Nothing, if it is null, or no text.
pub(crate) fn text(array: &ArrayRef, row: usize) -> Option<&str> {
    if row >= array.len() || array.is_null(row) {
        return None;
    }
    match array.data_type() {
        DataType::Utf8 => Some(array.as_string::<i32>().value(row)),
        DataType::LargeUtf8 => Some(array.as_string::<i64>().value(row)),
        DataType::Utf8View => Some(array.as_string_view().value(row)),
        _ => None,
    }
}

/// A file that cannot be read while the dataset is opened.
pub(crate) fn outage(path: &Path, error: ReadError) -> SourceError {
    match error.kind {
        ReadErrorKind::Denied => SourceError::Denied { path: path.to_owned() },
        _ => SourceError::Outage(error),
    }
}

/// A row of a file that is not what the others are.
pub(crate) fn bad_row(path: &Path, row: u64, problem: String) -> SourceError {
    let container = Container::File(path.to_owned());
    SourceError::Malformed { locator: Locator { container, part: Part::Row(row) }, problem }
}

#[cfg(test)]
mod tests;
