//! Gives the Parquet library the bytes of a file, by reads that know when the file is not what it was.

use std::io::{self, BufReader, Read};
use std::sync::Arc;

use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{ChunkReader, Length};
use bytes::Bytes;
use forebay_sources::ReadError;
use parking_lot::Mutex;

use crate::packed::open_files::OpenFile;

/// Bytes that are read at once where the library reads little by little.
const BUFFER: usize = 8 << 10;

/// A file for the library.
#[derive(Clone, Debug)]
pub(super) struct FileChunks {
    file: Arc<OpenFile>,
    len: u64,
    /// The first fault of the storage: the library's own error would take it for the file's.
    fault: Arc<Mutex<Option<ReadError>>>,
}

/// A place in the file, from which the library reads on.
#[derive(Debug)]
pub(super) struct FilePlace {
    chunks: FileChunks,
    offset: u64,
}

impl FileChunks {
    /// `len` is the file's length.
    pub(super) fn new(file: Arc<OpenFile>, len: u64) -> Self {
        Self { file, len, fault: Arc::default() }
    }

    /// The fault of the storage, if there was one.
    pub(super) fn fault(&self) -> Option<ReadError> {
        self.fault.lock().take()
    }

    /// A range of the file. Nothing, if it leads beyond the end, or if the storage has failed.
    pub(super) fn range(&self, offset: u64, len: u64) -> Option<Vec<u8>> {
        if offset.checked_add(len).is_none_or(|end| end > self.len) {
            return None;
        }
        let mut bytes = Vec::new();
        match self.file.read(offset, usize::try_from(len).ok()?, &mut bytes) {
            Ok(()) => Some(bytes),
            Err(error) => {
                self.fault.lock().get_or_insert(error);
                None
            }
        }
    }
}

impl Length for FileChunks {
    fn len(&self) -> u64 {
        self.len
    }
}

impl ChunkReader for FileChunks {
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
