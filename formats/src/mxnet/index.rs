//! The index of a `.rec` file (`.idx`): a line per record, with its key and the byte where it begins.

use std::collections::HashSet;

use forebay_printable::printable;
use forebay_sources::{LineProblem, SourceError};

use super::frame::MxRecord;
use crate::address::Address;

/// Most bytes of an index: enough for fifty million records.
const MOST_BYTES: u64 = 1 << 30;

/// Records with their keys, or with their places where there is no index.
type KeyedRecords = Vec<(u64, MxRecord)>;

/// All records of a file, in its order.
pub(super) fn without(records: Vec<MxRecord>) -> KeyedRecords {
    (0..).zip(records).collect()
}

/// The records that the index beside a file names; all records if there is none.
///
/// # Errors
/// The index is not that of the file.
pub(super) fn beside(file: &Address, index: &Address, records: Vec<MxRecord>) -> Result<KeyedRecords, SourceError> {
    if index.is_file() { chosen(file, index, &records) } else { Ok(without(records)) }
}

/// The records that the index names, in its order.
///
/// # Errors
/// The index is not that of the file.
pub(super) fn chosen(file: &Address, index: &Address, records: &[MxRecord]) -> Result<KeyedRecords, SourceError> {
    if records.is_empty() {
        return Err(SourceError::NoRecords { path: file.path().to_owned() });
    }
    let text = index.text(MOST_BYTES)?;
    let index = index.path();
    let mut chosen = Vec::new();
    let mut named = HashSet::new();
    for (line, text) in (1..).zip(text.split(|&byte| byte == b'\n')).filter(|(_, text)| !text.trim_ascii().is_empty()) {
        let wrong = |problem: String| SourceError::Line {
            file: index.to_owned(),
            line,
            problem: LineProblem::Malformed(problem),
        };
        let (key, start) = entry(text).ok_or_else(|| {
            wrong("the line is not a key, a tab and the byte where a record begins. Make the index anew, or give index=\"none\"".into())
        })?;
        let Ok(place) = records.binary_search_by_key(&start, MxRecord::start) else {
            let file = printable(&file.shown()).to_string();
            return Err(wrong(format!(
                "no record of \"{file}\" begins at byte {start}, so this is the index of another file. Give its own with index=, or index=\"none\""
            )));
        };
        if !named.insert(place) {
            return Err(wrong(format!(
                "an earlier line names the record at byte {start} too. Make the index anew, or give index=\"none\""
            )));
        }
        chosen.push((key.unwrap_or(place as u64), records[place].clone()));
    }
    if chosen.is_empty() {
        return Err(SourceError::EmptyList { file: index.to_owned() });
    }
    if chosen.len() < records.len() {
        let left_out = records.len() - chosen.len();
        tracing::warn!(index = %printable(index), left_out, "the index does not name all records of its file: the others are left out");
    }
    Ok(chosen)
}

/// The key, if it is a number, and where the record begins.
fn entry(line: &[u8]) -> Option<(Option<u64>, u64)> {
    let (key, start) = str::from_utf8(line).ok()?.trim().rsplit_once(['\t', ' '])?;
    Some((key.trim().parse().ok(), start.parse().ok()?))
}
