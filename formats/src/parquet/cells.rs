//! What a grain has of each row: a kind, and bytes behind it.

use crate::grain_cache::Grain;

/// The byte before each row's bytes in the grain, which says what the row has.
pub(super) const PICTURE: u8 = 0;
pub(super) const NULL: u8 = 1;
pub(super) const ELSEWHERE: u8 = 2;
pub(super) const DAMAGED: u8 = 3;
pub(super) const PLACE: u8 = 4;

/// What a row of a grain has.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum GrainCell<'a> {
    Picture(&'a [u8]),
    /// The picture is stored as it is: where it begins in the file, and how many bytes it has.
    Place(u64, u64),
    /// Neither a picture nor a path.
    Null,
    /// Only a path.
    Elsewhere(&'a [u8]),
    /// Why its page cannot be read.
    Damaged(&'a [u8]),
}

/// The row of a grain, counted from the grain's first.
pub(super) fn cell(grain: &Grain, row: usize) -> Option<GrainCell<'_>> {
    let (&kind, bytes) = grain.record(row)?.split_first()?;
    Some(match kind {
        PICTURE => GrainCell::Picture(bytes),
        NULL => GrainCell::Null,
        ELSEWHERE => GrainCell::Elsewhere(bytes),
        PLACE => {
            let (start, len) = bytes.split_first_chunk()?;
            GrainCell::Place(u64::from_le_bytes(*start), u64::from_le_bytes(len.try_into().ok()?))
        }
        _ => GrainCell::Damaged(bytes),
    })
}

/// Adds a row.
pub(super) fn add(grain: &mut Grain, kind: u8, bytes: &[u8]) {
    grain.bytes.push(kind);
    grain.bytes.extend_from_slice(bytes);
    grain.ends.push(grain.bytes.len());
}
