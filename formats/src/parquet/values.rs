//! The values of a column of bytes, row by row.

use std::ops::Range;

use ::parquet::column::reader::{ColumnReaderImpl, get_column_reader, get_typed_column_reader};
use ::parquet::data_type::{ByteArray, ByteArrayType};
use ::parquet::errors::ParquetError;
use forebay_sources::ReadError;

use super::file::LeafColumn;
use super::pages::DataPage;
use super::plain_pages::PlainPages;
use crate::contained::contained;
use crate::ranges::FileRanges;

/// The pages that have some of these rows, with these rows of theirs, counted from the row group's first.
pub(super) fn in_rows<'a>(
    leaf: &'a LeafColumn,
    rows: &'a Range<u64>,
) -> impl Iterator<Item = (&'a DataPage, Range<u64>)> {
    let mut row = 0;
    let with_rows = move |page: &'a DataPage| {
        let start = row;
        row += page.values;
        (page, start.max(rows.start)..row.min(rows.end))
    };
    leaf.pages.data.iter().map(with_rows).filter(|(_, rows)| rows.start < rows.end)
}

/// Bytes of the pages that have these rows of a column, and of its dictionary.
pub(super) fn stored(column: &LeafColumn, rows: &Range<u64>) -> u64 {
    let pages: u64 = in_rows(column, rows).map(|(page, _)| page.len).sum();
    pages.saturating_add(column.pages.dictionary.map_or(0, |(len, _)| len))
}

type ValueReader = ColumnReaderImpl<ByteArrayType>;

/// Calls `each` with the value of every row, in order: its bytes, or nothing for a null, or why its page cannot be read.
pub(super) fn each_value(
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

/// A reader of the column that starts at this row.
fn reader_at(chunks: &FileRanges, leaf: &LeafColumn, row: u64) -> Result<ValueReader, ParquetError> {
    let (pages, rows) = (&leaf.pages, leaf.pages.values().and_then(|rows| usize::try_from(rows).ok()));
    let (Some(locations), Some(rows), Ok(row)) = (pages.locations(), rows, usize::try_from(row)) else {
        return Err(ParquetError::General("its pages are too large".into()));
    };
    let pages = PlainPages::new(chunks, &leaf.chunk, pages, rows, Some(locations))?;
    let column = leaf.chunk.column_descr_ptr();
    let mut reader = get_typed_column_reader::<ByteArrayType>(get_column_reader(column, Box::new(pages)));
    if reader.skip_records(row)? == row { Ok(reader) } else { Err(ParquetError::EOF("its rows end too early".into())) }
}
