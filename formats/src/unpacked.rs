//! Files that are compressed as a whole. What such a file holds is put into the cache on a local disk once, in pieces, so that
//! any part of it can be read.

pub(crate) mod compression;
#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::io::{self, Read};
use std::path::absolute;
use std::sync::Arc;

use forebay_objects::{Cache, CacheKey, CacheMaker, RetainedEntries};
use forebay_sources::{Options, ReadError, ReadErrorKind, SourceError};

use crate::address::{Address, of_dataset};
use crate::contents::ContentsReader;
use crate::disk_cache;
use crate::progress::Progress;
use crate::stamp::Stamp;
pub(crate) use compression::Compression;

/// What a compressed file holds.
#[derive(Debug)]
pub(crate) struct Unpacked {
    file: CompressedFile,
    len: u64,
    /// The pieces stay in the cache as long as the dataset is open.
    _pieces: RetainedEntries,
}

/// A compressed file, and where in the cache its pieces are.
#[derive(Debug)]
struct CompressedFile {
    address: Address,
    stamp: Stamp,
    compression: Compression,
    cache: Arc<Cache>,
    /// Its parts are the keys of the pieces, and of the entry with the length.
    key: CacheKey,
}

/// Why a file was not unpacked.
#[derive(Debug)]
enum UnpackError {
    /// It cannot be read.
    Read(ReadError),
    /// It cannot be unpacked, or not into this cache: what is wrong and what to do, as sentences.
    Refused(String),
}

/// Bytes of a piece. No entry of the smallest cache may have more.
const PIECE: u64 = 4 << 20;
/// The part of the key with the number of all bytes, which is written last.
const LENGTH: u64 = u64::MAX;
/// A file of so many bytes that holds more than so many times its own is made to fill the disk.
const SUSPECT: u64 = 256 << 20;
const MOST_RATIO: u64 = 250;

impl Unpacked {
    /// Unpacks a file into the cache that the options name, unless it is there. Shows progress.
    ///
    /// # Errors
    /// There is no cache, what the file holds does not fit, or the file cannot be read or unpacked.
    pub(crate) fn open(
        address: &Address,
        stamp: Stamp,
        compression: Compression,
        options: &Options,
    ) -> Result<Arc<Self>, SourceError> {
        let refused = |problem: String| SourceError::malformed_at(address.path(), 0, problem);
        let command = compression.command();
        let Some(cache) = disk_cache::of_options(options)? else {
            return Err(refused(format!(
                "this file is compressed, so no record can be read by itself. Set cache_size in [sources], or \
                 FOREBAY_CACHE_SIZE, and Forebay unpacks the file into its cache on a local disk; or unpack it with \
                 \"{command}\" and use the result."
            )));
        };
        let key = key(address, stamp, compression).ok_or_else(|| {
            refused(format!(
                "this file is compressed, and nothing tells whether it changes, so it is not unpacked into the cache. Unpack \
                 it with \"{command}\" and use the result."
            ))
        })?;
        let file = CompressedFile { address: address.clone(), stamp, compression, cache, key };
        let maker = file.cache.maker(&key);
        let mut pieces = file.cache.retain();
        let found = file.stored_len().filter(|len| file.is_whole(*len, &mut pieces));
        let len = match found {
            Some(len) => len,
            None => file.unpack(&maker, &mut pieces).map_err(|error| error.of_dataset(address))?,
        };
        Ok(Arc::new(Self { file, len, _pieces: pieces }))
    }

    /// Bytes that the file holds.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Adds a range of what the file holds to what is in `buf`. If the cache has lost a piece, the file is unpacked again.
    /// Blocks.
    ///
    /// # Errors
    /// The range leads out of it, or the file cannot be unpacked again.
    pub(crate) fn read_behind(&self, offset: u64, size: usize, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        let locator = || self.file.address.locator();
        let end = offset.checked_add(size as u64).filter(|end| *end <= self.len);
        let end = end.ok_or_else(|| ReadError::new(ReadErrorKind::Changed, locator()))?;
        if buf.try_reserve_exact(size).is_err() {
            return Err(ReadError::new(ReadErrorKind::Resources, locator()));
        }
        if self.file.read(offset, end, buf) {
            return Ok(());
        }
        let maker = self.file.cache.maker(&self.file.key);
        // Another thread may have unpacked it meanwhile.
        if self.file.read(offset, end, buf) {
            return Ok(());
        }
        tracing::warn!(file = %self.file.address.locator(), "the cache has lost a piece of it, so it is unpacked again");
        let len = self
            .file
            .unpack(&maker, &mut self.file.cache.retain())
            .map_err(|error| error.of_read(&self.file.address))?;
        if len != self.len {
            return Err(ReadError::new(ReadErrorKind::Changed, locator()));
        }
        if self.file.read(offset, end, buf) {
            return Ok(());
        }
        let cause = "the cache on the local disk does not keep what was written".to_owned();
        Err(ReadError { kind: ReadErrorKind::Storage, locator: locator(), cause })
    }
}

impl PartialEq for Unpacked {
    fn eq(&self, other: &Self) -> bool {
        self.file.key == other.file.key
    }
}

impl Eq for Unpacked {}

/// The file's identity: its path, size and time, or its version in its store.
fn key(address: &Address, stamp: Stamp, compression: Compression) -> Option<CacheKey> {
    let kind = format!("unpacked {}", compression.name());
    if let Some(tree) = address.tree() {
        return tree.store().cache_key(&kind, &address.stored().ok()??);
    }
    let path = absolute(address.path()).ok()?;
    let (size, time) = (stamp.len.to_le_bytes(), stamp.nanoseconds()?.to_le_bytes());
    Some(CacheKey::new(&kind, [path.as_os_str().as_encoded_bytes(), &size, &time]))
}

impl CompressedFile {
    /// How much it holds, if it was unpacked.
    fn stored_len(&self) -> Option<u64> {
        let mut bytes = Vec::new();
        self.cache.read(&self.key.part(LENGTH), 0..8, &mut bytes).then_some(())?;
        bytes.try_into().ok().map(u64::from_le_bytes)
    }

    /// Whether the cache still has all pieces. They stay there from now on.
    fn is_whole(&self, len: u64, pieces: &mut RetainedEntries) -> bool {
        (0..len.div_ceil(PIECE)).all(|number| {
            let key = self.key.part(number);
            pieces.add(key, PIECE.min(len - number * PIECE)).is_ok() && self.cache.has(&key)
        })
    }

    /// Appends a range that is inside. False if a piece is not in the cache; then `buf` is what it was.
    fn read(&self, mut offset: u64, end: u64, buf: &mut Vec<u8>) -> bool {
        let before = buf.len();
        while offset < end {
            let number = offset / PIECE;
            let start = number * PIECE;
            let stop = end.min(start + PIECE);
            if !self.cache.read(&self.key.part(number), offset - start..stop - start, buf) {
                buf.truncate(before);
                return false;
            }
            offset = stop;
        }
        true
    }

    /// Puts all that it holds into the cache, and says how many bytes that are. The caller is the only one who does so.
    fn unpack(&self, maker: &CacheMaker, pieces: &mut RetainedEntries) -> Result<u64, UnpackError> {
        let changed = || UnpackError::Read(ReadError::new(ReadErrorKind::Changed, self.address.locator()));
        let contents = self.address.open()?;
        if contents.stamp()? != self.stamp {
            return Err(changed());
        }
        let size = self.stamp.len;
        let progress = Progress::of_bytes("unpacking", size);
        let read = Cell::new(0);
        let compressed = CompressedReader { inner: ContentsReader::new(contents)?, count: &read, progress: &progress };
        let mut content = self.compression.reader(compressed).map_err(|error| self.unreadable(&error, 0))?;
        let (mut len, mut piece) = (0, Vec::new());
        for number in 0.. {
            piece.clear();
            let filled = content.as_mut().take(PIECE).read_to_end(&mut piece);
            filled.map_err(|error| self.unreadable(&error, read.get()))?;
            if piece.is_empty() {
                break;
            }
            maker.beat();
            len += piece.len() as u64;
            if len > SUSPECT && len / MOST_RATIO > size {
                return Err(self.refused(&format!(
                    "it holds more than {MOST_RATIO} times its own bytes, as no dataset does that is compressed once"
                )));
            }
            let key = self.key.part(number);
            pieces.add(key, piece.len() as u64).map_err(|full| {
                let problem = format!("what it holds does not fit into the cache: {full}. Set a larger cache_size");
                self.refused(&problem)
            })?;
            if !self.cache.write(&key, &piece) {
                return Err(self.refused("the cache cannot be written (see the log). Make room on its disk"));
            }
        }
        if self.address.stamp().ok() != Some(self.stamp) {
            return Err(changed());
        }
        if !self.cache.write(&self.key.part(LENGTH), &len.to_le_bytes()) {
            return Err(self.refused("the cache cannot be written (see the log). Make room on its disk"));
        }
        Ok(len)
    }

    /// What is wrong, and the other way to read the file.
    fn refused(&self, problem: &str) -> UnpackError {
        let command = self.compression.command();
        UnpackError::Refused(format!(
            "this file is compressed and is not unpacked: {problem}. Or unpack it with \"{command}\" and use the result."
        ))
    }

    /// The stream of what it holds has ended before its end, behind so many compressed bytes.
    fn unreadable(&self, error: &io::Error, read: u64) -> UnpackError {
        if let Some(error) = error.get_ref().and_then(|inner| inner.downcast_ref::<ReadError>()) {
            return UnpackError::Read(error.clone());
        }
        let name = self.compression.name();
        UnpackError::Refused(if error.kind() == io::ErrorKind::UnexpectedEof {
            format!("the file ends inside its compressed bytes ({name}), so it is not complete. Copy it again.")
        } else {
            format!(
                "the compressed bytes ({name}) cannot be unpacked, before byte {read}: {error}. Copy the file again."
            )
        })
    }
}

impl UnpackError {
    /// When the dataset is opened.
    fn of_dataset(self, address: &Address) -> SourceError {
        match self {
            Self::Read(error) => of_dataset(address, error),
            Self::Refused(problem) => SourceError::malformed_at(address.path(), 0, problem),
        }
    }

    /// When a record is read. It was unpacked before, so the record is not to blame.
    fn of_read(self, address: &Address) -> ReadError {
        match self {
            Self::Read(error) => error,
            Self::Refused(cause) => ReadError { kind: ReadErrorKind::Storage, locator: address.locator(), cause },
        }
    }
}

impl From<ReadError> for UnpackError {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

/// Shows how much of the compressed bytes was read.
struct CompressedReader<'a> {
    inner: ContentsReader,
    count: &'a Cell<u64>,
    progress: &'a Progress,
}

impl Read for CompressedReader<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buf)?;
        self.count.set(self.count.get() + read as u64);
        self.progress.advance(read as u64);
        Ok(read)
    }
}
