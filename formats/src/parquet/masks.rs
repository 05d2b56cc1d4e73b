//! Masks in columns of a table: of what type they are, and how they come into the grains of their pictures.

use std::ops::Range;
use std::path::Path;

use forebay_columns::Schema;
use forebay_sources::{MaskColumn, Options, ReadError, RecordParts, SourceError};

use super::cells::{DAMAGED, PICTURE, add};
use super::file::RowGroup;
use super::values::{each_value, stored};
use crate::grain_cache::{Grain, RepeatRoom};
use crate::masks::MaskElements;
use crate::ranges::FileRanges;

/// Rows that are looked at together for the type of a column.
const AT_ONCE: u64 = 256;

/// The columns of masks that the options name, beside these ones. `open` opens the file of a row group.
///
/// # Errors
/// A column has no mask, or the storage fails.
pub(super) fn columns<'a>(
    name: &Path,
    groups: &[RowGroup],
    open: impl Fn(&RowGroup) -> Result<(FileRanges, &'a Path), SourceError>,
    targets: &Schema,
    options: &Options,
) -> Result<Vec<MaskColumn>, SourceError> {
    if options.masks.is_empty() {
        return Ok(Vec::new());
    }
    let mut elements = MaskElements::new(&options.masks);
    for group in groups {
        let (chunks, path) = open(group)?;
        for (column, mask) in group.masks.iter().enumerate() {
            let mut start = 0;
            while start < group.rows && elements.wants(column) {
                let rows = start..group.rows.min(start + AT_ONCE);
                let mut row = group.first_row + start;
                let each = |value: Result<Option<&[u8]>, &str>| {
                    if let Ok(Some(png)) = value {
                        elements.look(column, png, || format!("{}, row {row}", path.display()));
                    }
                    row += 1;
                };
                each_value(&chunks, mask, &rows, each).map_err(SourceError::Outage)?;
                start = rows.end;
            }
        }
    }
    elements.finish(targets, name)
}

/// A grain of pictures, with the masks of the same rows. What is wrong with a mask is wrong with its record. `room` is what the
/// pictures have left of what columns may repeat.
///
/// # Errors
/// The storage fails, or the file is not what it was.
pub(super) fn with_masks(
    chunks: &FileRanges,
    group: &RowGroup,
    rows: &Range<u64>,
    pictures: Grain,
    mut room: RepeatRoom,
) -> Result<Grain, ReadError> {
    if group.masks.is_empty() {
        return Ok(pictures);
    }
    let mut masks = Vec::with_capacity(group.masks.len());
    for leaf in &group.masks {
        let mut of_column = Grain::default();
        let len = stored(leaf, rows);
        let most = room.most(len);
        each_value(chunks, leaf, rows, |mask| match mask {
            Ok(Some([])) => add(&mut of_column, DAMAGED, b"its mask is empty"),
            Ok(Some(mask)) if (of_column.bytes.len() + mask.len()) as u64 > most => {
                add(
                    &mut of_column,
                    DAMAGED,
                    b"its dictionary repeats masks until they take more memory than is given to them",
                );
            }
            Ok(Some(mask)) => add(&mut of_column, PICTURE, mask),
            Ok(None) => add(&mut of_column, PICTURE, &[]),
            Err(why) => add(&mut of_column, DAMAGED, format!("its mask: {why}").as_bytes()),
        })?;
        room.take(len, of_column.bytes.len());
        masks.push(of_column);
    }
    let mut whole = Grain::default();
    for row in 0..pictures.ends.len() {
        let of_row = || masks.iter().filter_map(|masks| masks.record(row)?.split_first());
        let (&kind, picture) = pictures.record(row).and_then(<[u8]>::split_first).unwrap_or((&DAMAGED, &[]));
        match of_row().find(|(kind, _)| **kind == DAMAGED) {
            _ if kind != PICTURE => add(&mut whole, kind, picture),
            _ if picture.is_empty() => add(&mut whole, DAMAGED, b"the picture is empty"),
            Some((_, why)) => add(&mut whole, DAMAGED, why),
            _ => {
                whole.bytes.push(PICTURE);
                whole.bytes.extend_from_slice(picture);
                let mut lengths = Vec::with_capacity(masks.len());
                for (_, mask) in of_row() {
                    whole.bytes.extend_from_slice(mask);
                    lengths.push(mask.len() as u64);
                }
                RecordParts::close(&mut whole.bytes, &lengths);
                whole.ends.push(whole.bytes.len());
            }
        }
    }
    Ok(whole)
}
