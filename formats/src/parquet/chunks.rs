//! Gives the Parquet library the bytes of a file, by reads that know when the file is not what it was.

use std::io::{self, BufReader, Read};

use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{ChunkReader, Length};
use bytes::Bytes;

use crate::ranges::FileRanges;

/// Bytes that are read at once where the library reads little by little.
const BUFFER: usize = 8 << 10;

/// A place in the file, from which the library reads on.
#[derive(Debug)]
pub(crate) struct FilePlace {
    chunks: FileRanges,
    offset: u64,
}

impl Length for FileRanges {
    fn len(&self) -> u64 {
        self.len
    }
}

impl ChunkReader for FileRanges {
    type T = BufReader<FilePlace>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(BufReader::with_capacity(BUFFER, FilePlace { chunks: self.clone(), offset: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        let bytes = self.range(start, length as u64);
        bytes
            .map(Bytes::from)
            .ok_or_else(|| ParquetError::EOF(format!("{length} bytes from byte {start} are not there")))
    }
}

impl Read for FilePlace {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let rest = self.chunks.len.saturating_sub(self.offset);
        let len = rest.min(buf.len() as u64);
        let bytes = self.chunks.range(self.offset, len).ok_or(io::ErrorKind::UnexpectedEof)?;
        buf[..bytes.len()].copy_from_slice(&bytes);
        self.offset += len;
        Ok(bytes.len())
    }
}
