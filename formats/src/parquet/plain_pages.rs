//! Gives the library the pages of a column in a form that it can read within bounds: decompressed where its own decoder would
//! not stop at the size that the page says, and plain where the page's encoding claims how much memory it needs.

use std::io::Read;
use std::sync::Arc;

use ::parquet::basic::{Compression, Encoding};
use ::parquet::column::page::{Page, PageMetadata, PageReader};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::metadata::ColumnChunkMetaData;
use ::parquet::file::page_index::offset_index::PageLocation;
use ::parquet::file::serialized_reader::SerializedPageReader;
use brotli_decompressor::Decompressor;
use bytes::Bytes;
use flate2::read::MultiGzDecoder;

use super::delta;
use super::pages::ChunkPages;
use crate::ranges::FileRanges;

/// Bytes that the decoder of brotli takes at once.
const BUFFER: usize = 16 << 10;
/// How a stream begins that asks for a window of up to a gigabyte. RFC 7932 has no such streams.
const LARGE_WINDOW: u8 = 0x11;

/// The pages of a column chunk.
pub(super) struct PlainPages {
    inner: SerializedPageReader<FileRanges>,
    codec: Option<PageCodec>,
    pages: Arc<ChunkPages>,
    /// The number of the next page of data.
    next: usize,
    /// Whether each value has a level of repetition, and one of definition.
    has_levels: [bool; 2],
}

/// A compression that is undone here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PageCodec {
    Gzip,
    Brotli,
}

impl PlainPages {
    /// The pages of a chunk with so many rows. With `locations`, pages can be passed over.
    pub(super) fn new(
        chunks: &FileRanges,
        chunk: &ColumnChunkMetaData,
        pages: &Arc<ChunkPages>,
        rows: usize,
        locations: Option<Vec<PageLocation>>,
    ) -> Result<Self> {
        let codec = match chunk.compression() {
            Compression::GZIP(_) => Some(PageCodec::Gzip),
            Compression::BROTLI(_) => Some(PageCodec::Brotli),
            _ => None,
        };
        let column = chunk.column_descr();
        let has_levels = [column.max_rep_level() > 0, column.max_def_level() > 0];
        // The library passes on what it takes for uncompressed.
        let as_stored = match codec {
            Some(_) => chunk.clone().into_builder().set_compression(Compression::UNCOMPRESSED).build()?,
            None => chunk.clone(),
        };
        let inner = SerializedPageReader::new(Arc::new(chunks.clone()), &as_stored, rows, locations)?;
        Ok(Self { inner, codec, pages: Arc::clone(pages), next: 0, has_levels })
    }

    fn plain(&mut self, page: Page) -> Result<Page> {
        match page {
            Page::DictionaryPage { buf, num_values, encoding, is_sorted } => {
                let (len, _) = self.pages.dictionary.ok_or_else(|| malformed("it was not there before"))?;
                let buf = self.decompressed(buf, 0, len)?;
                Ok(Page::DictionaryPage { buf, num_values, encoding, is_sorted })
            }
            Page::DataPage { buf, num_values, encoding, def_level_encoding, rep_level_encoding, statistics } => {
                let len = self.next_len()?;
                let buf = self.decompressed(buf, 0, len)?;
                let levels = |buf: &[u8]| self.levels(buf, [rep_level_encoding, def_level_encoding]);
                let (buf, encoding) = undelta(buf, levels, num_values, encoding)?;
                Ok(Page::DataPage { buf, num_values, encoding, def_level_encoding, rep_level_encoding, statistics })
            }
            Page::DataPageV2 {
                buf,
                num_values,
                encoding,
                num_nulls,
                num_rows,
                def_levels_byte_len,
                rep_levels_byte_len,
                is_compressed,
                statistics,
            } => {
                let len = self.next_len()?;
                let levels = def_levels_byte_len as usize + rep_levels_byte_len as usize;
                let buf = if is_compressed { self.decompressed(buf, levels, len)? } else { buf };
                let (buf, encoding) = undelta(buf, |_| Ok(levels), num_values, encoding)?;
                Ok(Page::DataPageV2 {
                    buf,
                    num_values,
                    encoding,
                    num_nulls,
                    num_rows,
                    def_levels_byte_len,
                    rep_levels_byte_len,
                    is_compressed,
                    statistics,
                })
            }
        }
    }

    /// Bytes of the next page of data, as its header says.
    fn next_len(&mut self) -> Result<u64> {
        let page = self.pages.data.get(self.next).ok_or_else(|| malformed("it was not there before"))?;
        self.next += 1;
        Ok(page.len)
    }

    /// A page of so many bytes, of which the first ones are stored as they are.
    fn decompressed(&self, buf: Bytes, plain: usize, len: u64) -> Result<Bytes> {
        let Some(codec) = self.codec else { return Ok(buf) };
        let (head, stored) = buf.split_at_checked(plain).ok_or_else(|| malformed("its levels do not end"))?;
        let wanted = len.checked_sub(plain as u64).ok_or_else(|| malformed("its levels do not end"))?;
        let mut bytes = Vec::new();
        let room = usize::try_from(len).unwrap_or(usize::MAX);
        bytes.try_reserve_exact(room).map_err(|error| malformed(&error.to_string()))?;
        bytes.extend_from_slice(head);
        // A page without values may be without bytes too.
        if wanted > 0 {
            if codec == PageCodec::Brotli && stored.first().is_some_and(|first| first & 0x7f == LARGE_WINDOW) {
                return Err(malformed("its window is larger than those of brotli"));
            }
            let mut decoder: Box<dyn Read + '_> = match codec {
                PageCodec::Gzip => Box::new(MultiGzDecoder::new(stored)),
                PageCodec::Brotli => Box::new(Decompressor::new(stored, BUFFER)),
            };
            // One byte more shows that there are more.
            let read = decoder.by_ref().take(wanted).read_to_end(&mut bytes).and_then(|_| decoder.read(&mut [0]));
            match read {
                Ok(0) if bytes.len() as u64 == len => {}
                Ok(_) => return Err(malformed("it does not have the size that its header says")),
                Err(error) => return Err(malformed(&format!("it cannot be decompressed: {error}"))),
            }
        }
        Ok(bytes.into())
    }

    /// Bytes of the levels at the start of a page of version 1.
    fn levels(&self, buf: &[u8], encodings: [Encoding; 2]) -> Result<usize> {
        let mut levels = 0_usize;
        for (_, encoding) in self.has_levels.iter().zip(encodings).filter(|(has, _)| **has) {
            let len = buf.get(levels..).and_then(<[u8]>::first_chunk).filter(|_| encoding == Encoding::RLE);
            let len = len.ok_or_else(|| malformed("its levels cannot be read"))?;
            levels = levels.saturating_add(4).saturating_add(u32::from_le_bytes(*len) as usize);
        }
        Ok(levels)
    }
}

fn is_delta(encoding: Encoding) -> bool {
    matches!(encoding, Encoding::DELTA_LENGTH_BYTE_ARRAY | Encoding::DELTA_BYTE_ARRAY)
}

/// A page whose values are deltas with plain values behind the same levels, and any other page as it is. `levels` tells
/// how many bytes the levels have.
fn undelta(
    buf: Bytes,
    levels: impl FnOnce(&[u8]) -> Result<usize>,
    values: u32,
    encoding: Encoding,
) -> Result<(Bytes, Encoding)> {
    if !is_delta(encoding) {
        return Ok((buf, encoding));
    }
    let (head, stored) = buf.split_at_checked(levels(&buf)?).ok_or_else(|| malformed("its levels do not end"))?;
    let values = values as usize;
    let plain = match encoding {
        // A page of nulls has no values, and some writers leave out that there are none.
        _ if stored.is_empty() => Ok(Vec::new()),
        Encoding::DELTA_LENGTH_BYTE_ARRAY => delta::of_lengths(stored, values),
        _ => delta::of_prefixes(stored, values),
    };
    let plain = plain.map_err(malformed)?;
    let plain = if head.is_empty() { plain } else { [head, &plain].concat() };
    Ok((plain.into(), Encoding::PLAIN))
}

fn malformed(problem: &str) -> ParquetError {
    ParquetError::General(format!("the page is damaged: {problem}"))
}

impl Iterator for PlainPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        self.get_next_page().transpose()
    }
}

impl PageReader for PlainPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        self.inner.get_next_page()?.map(|page| self.plain(page)).transpose()
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.inner.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        let is_dictionary = self.inner.peek_next_page()?.is_some_and(|page| page.is_dict);
        self.inner.skip_next_page()?;
        self.next += usize::from(!is_dictionary);
        Ok(())
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.inner.at_record_boundary()
    }
}
