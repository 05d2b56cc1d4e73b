//! A grain of a Parquet file: a span of rows of one row group that is decoded at once.

use std::ops::Range;
use std::sync::Arc;

use ::parquet::column::reader::{ColumnReaderImpl, get_column_reader, get_typed_column_reader};
use ::parquet::data_type::{ByteArray, ByteArrayType};
use ::parquet::errors::ParquetError;
use ::parquet::file::serialized_reader::SerializedPageReader;
use forebay_sources::ReadError;

use super::file::{LeafColumn, RowGroup};
use super::pages::DataPage;
use crate::contained::contained;
use crate::grain_cache::Grain;
use crate::ranges::FileRanges;

/// Bytes of the pages that a grain is made of, unless one page alone has more.
const GRAIN: u64 = 32 << 20;
/// The most that the pictures of a grain may take beyond its pages. A dictionary can repeat a picture without an end.
const MOST_REPEATED: u64 = 512 << 20;

/// What stands before each row's bytes in the grain.
const PICTURE: u8 = 0;
const NULL: u8 = 1;
const ELSEWHERE: u8 = 2;
const DAMAGED: u8 = 3;

/// What a row of a grain has.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum GrainCell<'a> {
    Picture(&'a [u8]),
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
        _ => GrainCell::Damaged(bytes),
    })
}

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

/// Reads and decodes the rows of a grain. A page that is damaged spoils its own rows only.
///
/// # Errors
/// The storage fails, or the file is not what it was.
pub(super) fn read(chunks: &FileRanges, group: &RowGroup, rows: &Range<u64>) -> Result<Grain, ReadError> {
    let pages = &group.picture.pages;
    let stored: u64 = in_rows(&group.picture, rows).map(|(page, _)| page.len).sum();
    let most = stored.saturating_add(pages.dictionary.map_or(0, |(len, _)| len)).saturating_add(MOST_REPEATED);
    let mut grain = Grain::default();
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
    match &group.elsewhere {
        Some(elsewhere) if has_nulls => with_paths(chunks, elsewhere, rows, &grain),
        _ => Ok(grain),
    }
}

const TOO_MANY: &[u8] = b"its dictionary repeats pictures until they take more memory than is given to them";

fn add(grain: &mut Grain, kind: u8, bytes: &[u8]) {
    grain.bytes.push(kind);
    grain.bytes.extend_from_slice(bytes);
    grain.ends.push(grain.bytes.len());
}

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

/// The pages that have some of these rows, with these rows of theirs, counted from the row group's first.
fn in_rows<'a>(leaf: &'a LeafColumn, rows: &'a Range<u64>) -> impl Iterator<Item = (&'a DataPage, Range<u64>)> {
    let mut row = 0;
    let with_rows = move |page: &'a DataPage| {
        let start = row;
        row += page.values;
        (page, start.max(rows.start)..row.min(rows.end))
    };
    leaf.pages.data.iter().map(with_rows).filter(|(_, rows)| rows.start < rows.end)
}

type ValueReader = ColumnReaderImpl<ByteArrayType>;

/// Calls `each` with the value of every row, in order: its bytes, or nothing for a null, or why its page cannot be read.
fn each_value(
    chunks: &FileRanges,
    leaf: &LeafColumn,
    rows: &Range<u64>,
    mut each: impl FnMut(Result<Option<&[u8]>, &str>),
) -> Result<(), ReadError> {
    let mut reader = None;
    for (_, rows) in in_rows(leaf, rows) {
        let mut values = Vec::new();
        let mut levels = Vec::new();
        let count = usize::try_from(rows.end - rows.start).unwrap_or(usize::MAX);
        let done = contained(|| {
            let reader = match &mut reader {
                Some(reader) => reader,
                none => none.insert(reader_at(chunks, leaf, rows.start)?),
            };
            let (records, _, _) = reader.read_records(count, Some(&mut levels), None, &mut values)?;
            if records == count {
                Ok(())
            } else {
                Err(ParquetError::EOF("the page has fewer values than it says".into()))
            }
        });
        if let Some(fault) = chunks.fault() {
            return Err(fault);
        }
        if let Err(words) = done {
            // The next page is read by a reader that has not seen this one.
            reader = None;
            rows.for_each(|_| each(Err(&words)));
            continue;
        }
        let most = leaf.chunk.column_descr().max_def_level();
        let mut values = values.iter();
        for row in 0..count {
            let value = if most == 0 || levels.get(row) == Some(&most) { values.next() } else { None };
            each(Ok(value.map(ByteArray::data)));
        }
    }
    Ok(())
}

/// A reader of the column that goes on with this row.
fn reader_at(chunks: &FileRanges, leaf: &LeafColumn, row: u64) -> Result<ValueReader, ParquetError> {
    let (pages, rows) = (&leaf.pages, leaf.pages.values().and_then(|rows| usize::try_from(rows).ok()));
    let (Some(locations), Some(rows), Ok(row)) = (pages.locations(), rows, usize::try_from(row)) else {
        return Err(ParquetError::General("its pages are too large".into()));
    };
    let pages = SerializedPageReader::new(Arc::new(chunks.clone()), &leaf.chunk, rows, Some(locations))?;
    let column = leaf.chunk.column_descr_ptr();
    let mut reader = get_typed_column_reader::<ByteArrayType>(get_column_reader(column, Box::new(pages)));
    if reader.skip_records(row)? == row { Ok(reader) } else { Err(ParquetError::EOF("its rows end too early".into())) }
}
