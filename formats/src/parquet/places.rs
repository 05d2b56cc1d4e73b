//! Where values are in the file, if they are stored as they are. Such a value is read by itself, and its page is not kept.

use std::ops::Range;

use ::parquet::basic::Compression;

use super::cells::{PLACE, add};
use super::file::LeafColumn;
use super::pages::{self, DataPage};
use super::values::in_rows;
use crate::grain_cache::Grain;
use crate::ranges::FileRanges;

/// Values with fewer bytes on average are read with their pages: a read for each of them would cost more than a copy.
pub(super) const LEAST: u64 = 16 << 10;
/// The encoding of levels: runs, and groups of eight.
const RUNS: i64 = 3;

/// A grain with the places of the values of these rows. Nothing if that is not how they are read: they have fewer bytes than
/// `least`, are compressed, encoded or in a store, have a checksum, or one of them is null.
pub(super) fn places(chunks: &FileRanges, leaf: &LeafColumn, rows: &Range<u64>, least: u64) -> Option<Grain> {
    if chunks.is_remote() || leaf.chunk.compression() != Compression::UNCOMPRESSED {
        return None;
    }
    let level = leaf.chunk.column_descr().max_def_level();
    let mut grain = Grain::default();
    for (page, rows) in in_rows(leaf, rows) {
        let is_whole = rows.end - rows.start == page.values;
        if !is_whole || page.by_dictionary || leaf.pages.value_size(page) < least {
            return None;
        }
        of_page(chunks, page, level, &mut grain)?;
    }
    Some(grain)
}

fn of_page(chunks: &FileRanges, page: &DataPage, level: i16, grain: &mut Grain) -> Option<()> {
    let end = page.offset + page.stored;
    let header = pages::header(chunks, page.offset, end)?;
    // Version 1, plain, and no sum over the whole page.
    if (header.kind, header.encoding, header.has_checksum) != (0, 0, false) {
        return None;
    }
    let number = |at: u64| {
        let bytes = chunks.range(at, 4).filter(|_| at + 4 <= end)?;
        Some(u64::from(u32::from_le_bytes(bytes.try_into().ok()?)))
    };
    let mut at = page.offset + header.len as u64;
    if level > 0 {
        let len = number(at).filter(|len| header.levels == RUNS && at + 4 + len <= end)?;
        if !are_all(&chunks.range(at + 4, len)?, page.values, level) {
            return None;
        }
        at += 4 + len;
    }
    for _ in 0..page.values {
        let (start, len) = (at + 4, number(at)?);
        at = start + len;
        if at > end {
            return None;
        }
        add(grain, PLACE, [start.to_le_bytes(), len.to_le_bytes()].as_flattened());
    }
    (at == end).then_some(())
}

/// Whether so many levels are all this one: then no value is null.
fn are_all(mut levels: &[u8], values: u64, level: i16) -> bool {
    let Ok(level) = u8::try_from(level) else { return false };
    let width = u64::from(8 - level.leading_zeros());
    let mut left = values;
    while left > 0 {
        let Some((head, rest)) = varint(levels) else { return false };
        let count = head >> 1;
        let (packed, found) =
            if head & 1 == 0 { (1, Some(count)) } else { (count.saturating_mul(width), count.checked_mul(8)) };
        let packed = usize::try_from(packed).ok().and_then(|packed| rest.split_at_checked(packed));
        let (Some((packed, rest)), Some(found)) = (packed, found) else { return false };
        let found = found.min(left);
        let is_level =
            if head & 1 == 0 { packed == [level] } else { (0..found).all(|place| bits(packed, place, width) == level) };
        if !is_level {
            return false;
        }
        (levels, left) = (rest, left - found);
    }
    true
}

/// The number of `width` bits in this place, from the lowest bit on.
fn bits(packed: &[u8], place: u64, width: u64) -> u8 {
    let bit = |bit: u64| {
        let byte = usize::try_from(bit / 8).ok().and_then(|byte| packed.get(byte)).copied().unwrap_or(0);
        byte >> (bit % 8) & 1
    };
    (0..width).fold(0, |number, place_of_bit| number | bit(place * width + place_of_bit) << place_of_bit)
}

fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut number = 0;
    for (place, byte) in bytes.iter().enumerate().take(9) {
        number |= u64::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return Some((number, &bytes[place + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_runs_and_groups_of_eight() {
        assert!(are_all(&[18, 1], 9, 1), "a run of nine");
        assert!(are_all(&[3, 0x7f], 7, 1), "a group, of which seven count");
        assert!(!are_all(&[3, 0x6f], 7, 1));
        assert!(are_all(&[3, 0b1010_1010, 0b1010_1010, 6, 2], 11, 2), "two bits each");
        assert!(!are_all(&[3, 0b1010_1010, 0b1001_1010, 6, 2], 11, 2));
        assert!(!are_all(&[18, 0], 9, 1) && !are_all(&[18, 1], 10, 1) && !are_all(&[18], 9, 1) && !are_all(&[], 1, 1));
        assert!(are_all(&[0x80 | 16, 1, 1], 72, 1), "144 = 72 in a run");
        assert!(!are_all(&[0xff; 20], 9, 1) && !are_all(&[0xff, 0xff, 0xff, 0xff, 0x7f, 1], 9, 1));
    }
}
