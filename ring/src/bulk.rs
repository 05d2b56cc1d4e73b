//! Data too large for a packet, as sealed memory that travels beside it: settings, file lists, resume lists.
//!
//! The seals are what makes it safe to read: the sender cannot change or shorten it any more.

use std::{
    fs::File,
    io::{self, Write},
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::fs::FileExt,
    },
};

use rustix::fs::{MemfdFlags, SealFlags};

use crate::region::memory_file;

/// Seals that a bulk must carry.
const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::WRITE);

/// Sealed memory whose bytes can neither change nor go away.
///
/// ```
/// use forebay_ring::Bulk;
///
/// let bulk = Bulk::write(b"one\0two")?;
/// let passed = bulk.into_fd();
/// assert_eq!(Bulk::accept(passed)?.read(1024)?, b"one\0two");
/// # Ok::<(), forebay_ring::BulkError>(())
/// ```
#[derive(Debug)]
pub struct Bulk {
    file: File,
    len: u64,
}

/// Why a bulk is not taken.
#[derive(Debug, thiserror::Error)]
pub enum BulkError {
    /// It could be changed while it is read.
    #[error("bulk data must come as memory sealed with {SEALS:?}; this has {found:?}")]
    Seals {
        /// The seals that it has.
        found: SealFlags,
    },
    /// It is no memory file.
    #[error("bulk data must come as a memory file: {0}")]
    NoMemory(#[source] io::Error),
    /// It is longer than the reader allows.
    #[error("bulk data of {len} bytes is longer than the {limit} bytes allowed here")]
    TooLong {
        /// Its length.
        len: u64,
        /// The reader's limit.
        limit: u64,
    },
    /// The kernel refused.
    #[error("cannot write or read bulk data: {0}")]
    Io(#[from] io::Error),
}

impl Bulk {
    /// Makes sealed memory of these bytes.
    pub fn write(bytes: &[u8]) -> Result<Self, BulkError> {
        let mut file = File::from(memory_file(MemfdFlags::empty())?);
        file.write_all(bytes)?;
        rustix::fs::fcntl_add_seals(&file, SEALS | SealFlags::SEAL).map_err(io::Error::from)?;
        Ok(Self { file, len: bytes.len() as u64 })
    }

    /// Takes a descriptor that came from another process. It is refused unless it is memory with the seals.
    pub fn accept(fd: OwnedFd) -> Result<Self, BulkError> {
        let found = rustix::fs::fcntl_get_seals(&fd).map_err(|error| BulkError::NoMemory(error.into()))?;
        if !found.contains(SEALS) {
            return Err(BulkError::Seals { found });
        }
        let file = File::from(fd);
        let len = file.metadata()?.len();
        Ok(Self { file, len })
    }

    /// Bytes in it.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All bytes, if there are no more than `limit`.
    pub fn read(&self, limit: u64) -> Result<Vec<u8>, BulkError> {
        let too_long = BulkError::TooLong { len: self.len, limit };
        let Some(len) = usize::try_from(self.len).ok().filter(|_| self.len <= limit) else { return Err(too_long) };
        let mut bytes = vec![0; len];
        self.file.read_exact_at(&mut bytes, 0)?;
        Ok(bytes)
    }

    /// The bytes from `start` on, at most `most`; none after the end.
    pub fn read_part(&self, start: u64, most: usize) -> Result<Vec<u8>, BulkError> {
        let left = usize::try_from(self.len.saturating_sub(start)).unwrap_or(usize::MAX);
        let mut bytes = vec![0; left.min(most)];
        self.file.read_exact_at(&mut bytes, start)?;
        Ok(bytes)
    }

    /// The descriptor, to keep.
    pub fn into_fd(self) -> OwnedFd {
        self.file.into()
    }
}

impl AsFd for Bulk {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_and_cannot_be_changed() {
        let bulk = Bulk::write(b"settings").unwrap();
        assert!((&bulk.file).write_all(b"x").is_err());
        assert!(bulk.file.set_len(1).is_err());
        let bulk = Bulk::accept(bulk.into_fd()).unwrap();
        assert_eq!(bulk.read(8).unwrap(), b"settings");
        assert!(matches!(bulk.read(7), Err(BulkError::TooLong { len: 8, limit: 7 })));
        let parts = [0, 5, 8, 9].map(|start| bulk.read_part(start, 5).unwrap());
        assert_eq!(parts, [&b"setti"[..], b"ngs", b"", b""]);
    }

    #[test]
    fn rule_25_bulk_without_each_seal_is_refused() {
        for missing in [SealFlags::SHRINK, SealFlags::GROW, SealFlags::WRITE] {
            let fd = memory_file(MemfdFlags::empty()).unwrap();
            rustix::fs::fcntl_add_seals(&fd, SEALS.difference(missing)).unwrap();
            assert!(matches!(Bulk::accept(fd), Err(BulkError::Seals { .. })), "without {missing:?}");
        }
        let plain = tempfile::tempfile().unwrap();
        let refused = Bulk::accept(plain.into());
        assert!(matches!(refused, Err(BulkError::NoMemory(_) | BulkError::Seals { .. })), "{refused:?}");
    }
}
