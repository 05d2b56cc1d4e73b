//! A file of MDS: the number of samples, where each begins and the last one ends, settings that are not needed, and the
//! samples. A sample is the lengths of those values whose lengths differ, and then its values.

use std::path::Path;

use forebay_sources::SourceError;

use super::index::{MdsColumn, MdsShard};
use crate::window::Window;

/// Where a value is in the file: its first byte and its length.
pub(super) type ValuePlace = (u64, u64);

/// Where the samples begin, and where the last one ends.
///
/// # Errors
/// The file is not what the index says, or its places are no rising ones inside the file.
pub(super) fn places(path: &Path, window: &mut Window<'_>, shard: &MdsShard) -> Result<Vec<u64>, SourceError> {
    let wrong = |at: u64, problem: String| SourceError::malformed_at(path, at, problem);
    let len = window.len();
    if len != shard.bytes {
        let problem = format!("the shard has {len} bytes, but the index says {}. Copy it again.", shard.bytes);
        return Err(wrong(len, problem));
    }
    let count = window.array(0).map_err(SourceError::Outage)?.map(u32::from_le_bytes);
    if count.map(u64::from) != Some(shard.samples) {
        let problem =
            format!("the shard does not have the {} samples that the index says. Copy it again.", shard.samples);
        return Err(wrong(0, problem));
    }
    // Not larger than the file, because the table is in it.
    let table = shard.samples.saturating_add(1).saturating_mul(4);
    let table = usize::try_from(table).ok().filter(|&table| table as u64 <= len);
    let table = table.map(|table| window.get(4, table)).transpose().map_err(SourceError::Outage)?.flatten();
    let table = table.ok_or_else(|| wrong(4, "the shard ends inside its table of samples. Copy it again.".into()))?;
    let places: Vec<u64> = table.as_chunks().0.iter().map(|place| u64::from(u32::from_le_bytes(*place))).collect();
    let mut last = 4 + table.len() as u64;
    for (number, &place) in (0..).zip(&places) {
        if place < last || place > len {
            let problem = format!("sample {number} begins at byte {place}, which cannot be. Copy the shard again.");
            return Err(wrong(4 + number * 4, problem));
        }
        last = place;
    }
    if last != len {
        let problem = format!("the samples end at byte {last}, but the shard has {len} bytes. Copy it again.");
        return Err(wrong(len, problem));
    }
    Ok(places)
}

/// Where each value of a sample is. Nothing if the lengths in it do not agree with its own.
///
/// # Errors
/// The storage fails.
pub(super) fn values(
    columns: &[MdsColumn],
    window: &mut Window<'_>,
    start: u64,
    end: u64,
) -> Result<Option<Vec<ValuePlace>>, SourceError> {
    let differing = columns.iter().filter(|column| column.size.is_none()).count();
    let Some(head) = differing.checked_mul(4).filter(|&head| head as u64 <= end - start) else { return Ok(None) };
    let Some(lens) = window.get(start, head).map_err(SourceError::Outage)? else { return Ok(None) };
    let mut lens = lens.as_chunks().0.iter().map(|len| u64::from(u32::from_le_bytes(*len)));
    let mut at = start + head as u64;
    let mut places = Vec::with_capacity(columns.len());
    for column in columns {
        let Some(len) = column.size.or_else(|| lens.next()) else { return Ok(None) };
        let Some(behind) = at.checked_add(len).filter(|&behind| behind <= end) else { return Ok(None) };
        places.push((at, len));
        at = behind;
    }
    Ok((at == end).then_some(places))
}
