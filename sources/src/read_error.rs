//! Why a record was not read, and whether a retry makes sense. If the file itself is at fault, that is an outcome of
//! the record. Any other fault is an outage.

use std::path::PathBuf;
use std::{fmt, io};

use rustix::io::Errno;
use thiserror::Error;

use crate::Locator;

/// A record that was not read. Its message does not name the record. A caller that shows the message must name the
/// record first, for example by `locator`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{kind}{}", Cause(cause))]
pub struct ReadError {
    /// What is wrong.
    pub kind: ReadErrorKind,
    /// Where the record is.
    pub locator: Locator,
    /// The error text of the system or the storage. Empty if the kind says everything.
    pub cause: String,
}

/// What is wrong with a record that was not read, or with its storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ReadErrorKind {
    /// The file is gone, or never existed.
    #[error("the file does not exist")]
    Missing,
    /// The file may not be read.
    #[error("the file may not be read by this user")]
    Denied,
    /// A folder, a pipe, a socket or a device.
    #[error("this is not a regular file")]
    NotAFile,
    /// Zero bytes.
    #[error("the file is empty")]
    Empty,
    /// More bytes than the limit.
    #[error("the file has {size} bytes; the limit is {limit} (decode.byte_limit)")]
    TooLarge {
        /// Its size in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The path leads nowhere, or the file cannot be read by its nature.
    #[error("the file cannot be read")]
    Unreadable,
    /// More bytes than there was room for: nothing was read.
    #[error("the file has grown to {size} bytes while it was read")]
    Larger {
        /// Bytes that it needs.
        size: u64,
    },
    /// Its bytes are not what was written: a checksum differs, or a length leads out of the file.
    #[error("the record is damaged")]
    Damaged,
    /// The file that holds it has another size or time than when the dataset was opened.
    #[error("the file has changed since the dataset was opened")]
    Changed,
    /// The index that the dataset was opened from is not what it was: see [`Source::failure`](crate::Source::failure).
    #[error("the dataset's index cannot be used")]
    Index,
    /// The process of a custom reader gave no such record: it raised, hung or ended.
    #[error("the reader failed")]
    Reader,
    /// The system lacks descriptors or memory.
    #[error("the system lacks the resources for a read")]
    Resources,
    /// The storage fails.
    #[error("the storage fails")]
    Storage,
    /// The dataset is gone as a whole.
    #[error("the dataset is gone, not only this file")]
    Gone,
}

/// Whether it makes sense to retry the read of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// It is the record's fault: the record is bad.
    Never,
    /// Retry when there is room for this many bytes.
    WithRoom(u64),
    /// It is an outage, and not the record's fault. The read is retried until it succeeds.
    Later,
}

/// The cause behind a colon, if there is one.
struct Cause<'a>(&'a str);

impl ReadErrorKind {
    /// Why a record of `size` bytes is not read: it has none, or more than the limit, or more than there is room for.
    pub fn of_size(size: u64, limit: u64, room: u64) -> Option<Self> {
        match size {
            0 => Some(Self::Empty),
            _ if size > limit => Some(Self::TooLarge { size, limit }),
            _ if size > room => Some(Self::Larger { size }),
            _ => None,
        }
    }
}

impl ReadError {
    /// An error whose kind says everything.
    pub fn new(kind: ReadErrorKind, locator: Locator) -> Self {
        Self { kind, locator, cause: String::new() }
    }

    /// A record whose bytes are not what was written. `cause` says how that is known.
    pub fn damaged(locator: Locator, cause: impl Into<String>) -> Self {
        Self { kind: ReadErrorKind::Damaged, locator, cause: cause.into() }
    }

    /// Decides who is at fault if a regular file, or a path that may be one, cannot be opened or read.
    ///
    /// An error that is in no list here counts as the storage's. So no record is lost because of an unknown error.
    pub fn of_file(path: PathBuf, source: &io::Error) -> Self {
        let kind = match Errno::from_io_error(source) {
            Some(Errno::NOENT | Errno::NOTDIR) => ReadErrorKind::Missing,
            Some(Errno::ACCESS | Errno::PERM) => ReadErrorKind::Denied,
            Some(Errno::ISDIR) => ReadErrorKind::NotAFile,
            Some(Errno::LOOP | Errno::NAMETOOLONG | Errno::INVAL | Errno::OVERFLOW | Errno::ILSEQ) => {
                ReadErrorKind::Unreadable
            }
            Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::NOBUFS) => ReadErrorKind::Resources,
            _ if source.kind() == io::ErrorKind::IsADirectory => ReadErrorKind::NotAFile,
            _ if source.kind() == io::ErrorKind::OutOfMemory => ReadErrorKind::Resources,
            _ => ReadErrorKind::Storage,
        };
        let says_all = matches!(kind, ReadErrorKind::Missing | ReadErrorKind::Denied | ReadErrorKind::NotAFile);
        let cause = if says_all { String::new() } else { source.to_string() };
        Self { kind, locator: Locator::file(path), cause }
    }

    /// Whether it makes sense to retry the read.
    pub fn retry(&self) -> Retry {
        match self.kind {
            ReadErrorKind::Missing
            | ReadErrorKind::Denied
            | ReadErrorKind::NotAFile
            | ReadErrorKind::Empty
            | ReadErrorKind::TooLarge { .. }
            | ReadErrorKind::Damaged
            | ReadErrorKind::Changed
            | ReadErrorKind::Index
            | ReadErrorKind::Reader
            | ReadErrorKind::Unreadable => Retry::Never,
            ReadErrorKind::Larger { size } => Retry::WithRoom(size),
            ReadErrorKind::Resources | ReadErrorKind::Storage | ReadErrorKind::Gone => Retry::Later,
        }
    }
}

impl fmt::Display for Cause<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, ": {}", self.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_lacks_and_what_the_storage_does_is_not_the_files_fault() {
        let of = |errno: Errno| ReadError::of_file("a.jpg".into(), &errno.into());
        for errno in [Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::NOBUFS] {
            assert_eq!((of(errno).kind, of(errno).retry()), (ReadErrorKind::Resources, Retry::Later), "{errno}");
        }
        let storage = [
            Errno::IO,
            Errno::STALE,
            Errno::NOTCONN,
            Errno::TIMEDOUT,
            Errno::HOSTDOWN,
            Errno::HOSTUNREACH,
            Errno::NODEV,
            Errno::NXIO,
            Errno::AGAIN,
            Errno::REMOTEIO,
            Errno::SHUTDOWN,
            Errno::CONNRESET,
            Errno::DQUOT,
        ];
        for errno in storage {
            assert_eq!((of(errno).kind, of(errno).retry()), (ReadErrorKind::Storage, Retry::Later), "{errno}");
        }
        for errno in [Errno::NOENT, Errno::ACCESS, Errno::ISDIR, Errno::LOOP, Errno::NAMETOOLONG] {
            assert_eq!(of(errno).retry(), Retry::Never, "{errno}");
        }
    }

    #[test]
    fn a_limit_comes_before_room() {
        let of = |size| ReadErrorKind::of_size(size, 10, 5);
        assert_eq!(of(0), Some(ReadErrorKind::Empty));
        assert_eq!(of(11), Some(ReadErrorKind::TooLarge { size: 11, limit: 10 }));
        assert_eq!((of(10), of(5)), (Some(ReadErrorKind::Larger { size: 10 }), None));
    }

    #[test]
    fn what_the_system_said_stands_behind_the_kind_where_it_adds_something() {
        let of = |errno: Errno| ReadError::of_file("a.jpg".into(), &errno.into()).to_string();
        assert_eq!(of(Errno::NOENT), "the file does not exist");
        assert!(of(Errno::IO).starts_with("the storage fails: Input/output error"), "{}", of(Errno::IO));
    }
}
