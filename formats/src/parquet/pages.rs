//! Finds the pages of a column chunk, by their headers, and refuses those that the library must not see: a page's header
//! says how much memory the library takes for it.

use ::parquet::basic::{Compression, Type};
use ::parquet::file::metadata::ColumnChunkMetaData;
use ::parquet::file::page_index::offset_index::PageLocation;

use super::thrift::{self, PageHeader, ThriftError};
use crate::ranges::FileRanges;

/// Bytes in which a header is looked for, and the most that one may have: old writers put whole values into its statistics.
const WINDOW: u64 = 256;
const MOST_HEADER: u64 = 16 << 20;
/// No page of pictures or labels shrinks by more, in bytes and in values. Small pages may shrink as they like.
const MOST_SHRUNK: u64 = 1024;
const SMALL: u64 = 1 << 20;

/// The pages of a column chunk.
#[derive(Clone, Debug, Default)]
pub(super) struct ChunkPages {
    /// Of the data, in order.
    pub data: Vec<DataPage>,
    /// Bytes and values of the dictionary, uncompressed.
    pub dictionary: Option<(u64, u64)>,
}

/// A page of data.
#[derive(Clone, Debug)]
pub(super) struct DataPage {
    /// Where its header begins.
    pub offset: u64,
    /// Bytes of the file, with the header.
    pub stored: u64,
    /// Bytes of its content.
    pub len: u64,
    /// Its values, nulls among them.
    pub values: u64,
    /// Its values are numbers of values in the dictionary.
    pub by_dictionary: bool,
}

/// What is wrong with a column chunk, at this byte.
pub(super) struct BadChunk {
    pub offset: u64,
    /// A sentence.
    pub problem: String,
}

/// Walks over the headers of the chunk's pages.
pub(super) fn walk(chunks: &FileRanges, chunk: &ColumnChunkMetaData) -> Result<ChunkPages, BadChunk> {
    let data = chunk.data_page_offset();
    let start = chunk.dictionary_page_offset().unwrap_or(data);
    let bad = |offset, problem: &str| BadChunk { offset, problem: problem.to_owned() };
    let (Ok(start), Ok(len)) = (u64::try_from(start), u64::try_from(chunk.compressed_size())) else {
        return Err(bad(0, "The footer gives a column a negative place or size."));
    };
    check_compression(chunk.compression()).map_err(|problem| BadChunk { offset: start, problem })?;
    let outside = || bad(start, "The footer gives a column a place outside of the file.");
    let end = start.checked_add(len).ok_or_else(outside)?;
    if end > ::parquet::file::reader::Length::len(chunks) {
        return Err(outside());
    }
    let (mut pages, mut offset) = (ChunkPages::default(), start);
    while offset < end {
        let bad = |problem: &str| bad(offset, problem);
        let header = header(chunks, offset, end)
            .ok_or_else(|| bad("No page begins at this byte: the file is damaged. Copy it again."))?;
        let (Ok(len), Ok(stored), Ok(values)) =
            (u64::try_from(header.uncompressed), u64::try_from(header.compressed), u64::try_from(header.values))
        else {
            return Err(bad("A page has a negative size."));
        };
        let next = offset + header.len as u64 + stored;
        if next > end {
            return Err(bad("A page ends behind the end of its column."));
        }
        let is_stored_plain = chunk.compression() == Compression::UNCOMPRESSED;
        if len > i32::MAX.unsigned_abs().into()
            || is_stored_plain && len > stored
            || len > SMALL && len / MOST_SHRUNK > stored
            || values > SMALL && values / MOST_SHRUNK > stored
        {
            return Err(bad("A page is said to be far larger than what is stored of it."));
        }
        match header.kind {
            0 | 3 => {
                check_encoding(header.encoding, chunk.column_type()).map_err(|problem| BadChunk { offset, problem })?;
                let by_dictionary = matches!(header.encoding, 2 | 8);
                pages.data.push(DataPage { offset, stored: next - offset, len, values, by_dictionary });
            }
            2 if offset == start && values <= len && chunk.dictionary_page_offset().is_some() => {
                pages.dictionary = Some((len, values));
            }
            1 if !pages.data.is_empty() => {}
            _ => return Err(bad("Here a page of data must begin, and this is another one.")),
        }
        offset = next;
    }
    if pages.dictionary.is_none() && pages.data.iter().any(|page| page.by_dictionary) {
        return Err(bad(start, "A column's values are numbers of a dictionary, and it has none."));
    }
    Ok(pages)
}

/// The header that begins here and ends before `end`.
pub(super) fn header(chunks: &FileRanges, offset: u64, end: u64) -> Option<PageHeader> {
    let mut window = WINDOW;
    loop {
        let len = window.min(end - offset);
        match thrift::page_header(&chunks.range(offset, len)?) {
            Ok(header) => return Some(header),
            Err(ThriftError::Short) if len == window && window < MOST_HEADER => window *= 4,
            Err(_) => return None,
        }
    }
}

fn check_compression(compression: Compression) -> Result<(), String> {
    match compression {
        Compression::UNCOMPRESSED
        | Compression::SNAPPY
        | Compression::ZSTD(_)
        | Compression::LZ4_RAW
        | Compression::GZIP(_)
        | Compression::BROTLI(_) => Ok(()),
        other => Err(format!(
            "The column is compressed with {other}, which is not read here. Write the file with zstd, snappy, lz4_raw, \
             gzip, brotli or no compression."
        )),
    }
}

/// Byte arrays as deltas are made plain before the library sees them.
fn check_encoding(encoding: i64, of: Type) -> Result<(), String> {
    match encoding {
        // Plain, by dictionary (two names), runs, deltas of numbers, bytes of floats.
        0 | 2 | 8 | 3 | 5 | 9 => Ok(()),
        6 | 7 if of == Type::BYTE_ARRAY => Ok(()),
        other => Err(format!(
            "The column has an encoding that is not read here (number {other}, of values of the type {of}). Write the file \
             with plain values."
        )),
    }
}

impl ChunkPages {
    /// Values of all pages.
    pub(super) fn values(&self) -> Option<u64> {
        self.data.iter().try_fold(0_u64, |sum, page| sum.checked_add(page.values))
    }

    /// What a value takes when it is read, on average over all pages.
    pub(super) fn average(&self) -> u64 {
        let values = self.values().unwrap_or(u64::MAX).max(1);
        let sizes = self.data.iter().map(|page| self.value_size(page).saturating_mul(page.values));
        sizes.fold(0, u64::saturating_add) / values
    }

    /// What a value of the page takes when it is read: the average.
    pub(super) fn value_size(&self, page: &DataPage) -> u64 {
        let own = page.len.div_ceil(page.values.max(1));
        match self.dictionary {
            Some((len, values)) if page.by_dictionary => own + len.div_ceil(values.max(1)),
            _ => own,
        }
        .max(1)
    }

    /// Where the library finds the pages. Rows are values: the column is no list.
    pub(super) fn locations(&self) -> Option<Vec<PageLocation>> {
        let mut row = 0_i64;
        let location = |page: &DataPage| {
            let first_row_index = row;
            row = row.checked_add(i64::try_from(page.values).ok()?)?;
            let (offset, compressed_page_size) = (i64::try_from(page.offset).ok()?, i32::try_from(page.stored).ok()?);
            Some(PageLocation { offset, compressed_page_size, first_row_index })
        };
        self.data.iter().map(location).collect()
    }
}
