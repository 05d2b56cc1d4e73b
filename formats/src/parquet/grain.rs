//! A grain of a Parquet file: a span of rows of one row group that is decoded at once.

use std::ops::Range;

use forebay_sources::ReadError;

use super::cells::{DAMAGED, ELSEWHERE, NULL, PICTURE, add};
use super::file::{LeafColumn, RowGroup};
use super::masks;
use super::places;
use super::values::{each_value, stored};
use crate::grain_cache::{Grain, RepeatRoom};
use crate::ranges::FileRanges;

/// Bytes of the pages that a grain is made of, unless one page alone has more.
const GRAIN: u64 = 32 << 20;

/// Divides the rows of a row group into grains, by the pages of its pictures.
pub(super) fn plan(group: &RowGroup, most: u64) -> Vec<Range<u64>> {
    let (mut grains, mut start, mut row, mut bytes) = (Vec::new(), 0, 0, 0_u64);
    let pages = &group.picture.pages;
    for page in pages.data.iter().filter(|page| page.values > 0) {
        let decoded = pages.value_size(page).saturating_mul(page.values);
        if bytes > 0 && bytes.saturating_add(decoded) > most {
            grains.push(start..row);
            (start, bytes) = (row, 0);
        }
        let end = row + page.values;
        bytes = bytes.saturating_add(decoded);
        // Pages without a dictionary are never divided: each part would cost all of the page again.
        let rows_at_once = (most / pages.value_size(page)).max(1);
        while page.by_dictionary && bytes > most && end - start > rows_at_once {
            grains.push(start..start + rows_at_once);
            start += rows_at_once;
            bytes = pages.value_size(page).saturating_mul(end - start);
        }
        row = end;
    }
    if start < row {
        grains.push(start..row);
    }
    grains
}

/// [`plan`], with the size of grains that is used.
pub(super) fn plan_group(group: &RowGroup) -> Vec<Range<u64>> {
    plan(group, GRAIN)
}

/// Reads and decodes the rows of a grain, into memory that was used before. A page that is damaged spoils its own rows only.
///
/// # Errors
/// The storage fails, or the file is not what it was.
pub(super) fn read(
    chunks: &FileRanges,
    group: &RowGroup,
    rows: &Range<u64>,
    mut used: Vec<u8>,
) -> Result<Grain, ReadError> {
    if group.masks.is_empty()
        && let Some(places) = places::places(chunks, &group.picture, rows, places::LEAST)
    {
        return Ok(places);
    }
    let len = stored(&group.picture, rows);
    let mut room = RepeatRoom::default();
    let most = room.most(len);
    used.clear();
    let mut grain = Grain { bytes: used, ends: Vec::new() };
    let mut has_nulls = false;
    each_value(chunks, &group.picture, rows, |value| match value {
        Ok(Some(bytes)) if (grain.bytes.len() + bytes.len()) as u64 > most => add(&mut grain, DAMAGED, TOO_MANY),
        Ok(Some(bytes)) => add(&mut grain, PICTURE, bytes),
        Ok(None) => {
            has_nulls = true;
            add(&mut grain, NULL, &[]);
        }
        Err(why) => add(&mut grain, DAMAGED, why.as_bytes()),
    })?;
    room.take(len, grain.bytes.len());
    let grain = match &group.elsewhere {
        Some(elsewhere) if has_nulls => with_paths(chunks, elsewhere, rows, &grain)?,
        _ => grain,
    };
    masks::with_masks(chunks, group, rows, grain, room)
}

const TOO_MANY: &[u8] = b"its dictionary repeats pictures until they take more memory than is given to them";

/// The grain, with the paths of the pictures that are elsewhere.
fn with_paths(chunks: &FileRanges, paths: &LeafColumn, rows: &Range<u64>, grain: &Grain) -> Result<Grain, ReadError> {
    let mut whole = Grain::default();
    let mut row = 0;
    each_value(chunks, paths, rows, |path| {
        match (grain.record(row).unwrap_or_default(), path) {
            (&[NULL], Ok(Some(path))) => add(&mut whole, ELSEWHERE, path),
            (&[NULL], Err(why)) => add(&mut whole, DAMAGED, why.as_bytes()),
            (stored, _) => {
                whole.bytes.extend_from_slice(stored);
                whole.ends.push(whole.bytes.len());
            }
        }
        row += 1;
    })?;
    Ok(whole)
}
