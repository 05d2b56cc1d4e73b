//! Masks that come with a reader's records: of what type the numbers of each column are.

use std::path::Path;

use forebay_sources::{MaskColumn, RecordParts, Source as _, SourceError};

use super::child::TaskAnswer;
use super::rows::ReaderRows;
use crate::masks::MaskElements;

/// Most records that are read for it.
const MOST_READ: u64 = 256;

/// The columns of masks that the user named. `first` is what the first record gave, if it could be read.
///
/// # Errors
/// No record among the first ones has a mask of a column, or none that can be one. Or the reader cannot be asked.
pub(super) fn columns(
    rows: &ReaderRows,
    first: Option<&TaskAnswer>,
    path: &Path,
) -> Result<Vec<MaskColumn>, SourceError> {
    let named = &rows.pool().settings().masks;
    let count = named.targets().count();
    let mut elements = MaskElements::new(named);
    for record in 0..rows.len().min(MOST_READ) {
        if !(0..count).any(|column| elements.wants(column)) {
            break;
        }
        let read = if record == 0 { None } else { rows.look(record).map_err(SourceError::Outage)? };
        let answer = if record == 0 { first } else { read.as_ref() };
        let content = answer.and_then(|answer| answer.grain.record(0)).unwrap_or_default();
        if content.is_empty() {
            continue;
        }
        let parts = RecordParts::of(content, count);
        for column in 0..count {
            if let Some(mask) = parts.mask(column) {
                elements.look(column, mask, || rows.locator(record).to_string());
            }
        }
    }
    if rows.len() > MOST_READ
        && let Some((name, keys)) = elements.without_mask()
    {
        let expected = format!("a key that at least one of the first {MOST_READ} records has");
        return Err(SourceError::bad_option(&format!("masks.{name}"), keys, &expected));
    }
    elements.finish(rows.targets().schema(), path)
}
