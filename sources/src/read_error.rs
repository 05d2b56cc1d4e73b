//! Why a record was not read: what the file itself says is an outcome of the record, all else is an outage, and the
//! read is tried again.

use std::io;
use std::path::PathBuf;

use forebay_proto::printable;
use rustix::io::Errno;
use thiserror::Error;

/// A record that was not read. What it says does not name the file: whoever shows it has named the record.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The file is gone, or never was.
    #[error("the file does not exist")]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The file may not be read.
    #[error("the file may not be read by this user")]
    Denied {
        /// The file.
        path: PathBuf,
    },
    /// A folder, a pipe, a socket or a device.
    #[error("this is no regular file")]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// Zero bytes.
    #[error("the file is empty")]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// More bytes than the limit.
    #[error("the file has {size} bytes, the limit is {limit} (decode.byte_limit)")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The path leads nowhere, or the file cannot be read by its nature.
    #[error("the file cannot be read: {source}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// More bytes than there was room for: nothing was read. The caller makes room and reads again.
    #[error("the file has grown to {size} bytes while it was read")]
    Larger {
        /// The file.
        path: PathBuf,
        /// Bytes that it needs.
        size: u64,
    },
    /// It is not the file's fault.
    #[error(transparent)]
    Outage(#[from] Outage),
}

/// Files cannot be read, and it is no file's fault: the read is tried again until it succeeds.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Outage {
    /// The system lacks descriptors or memory.
    #[error("{path}: the system lacks what a read takes: {cause}", path = printable(path))]
    Resources {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: String,
    },
    /// The storage fails.
    #[error("{path}: the storage fails: {cause}", path = printable(path))]
    Storage {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: String,
    },
    /// The dataset is gone as a whole.
    #[error("{path}: the dataset is gone, not this file alone: {cause}", path = printable(path))]
    Gone {
        /// The file.
        path: PathBuf,
        /// How that was seen.
        cause: String,
    },
}

impl ReadError {
    /// Whose fault it is that a regular file, or what may be one, cannot be opened or read.
    ///
    /// Errors that no list here has are the storage's: a record is never lost to an error that nobody has heard of.
    pub fn of_file(path: PathBuf, source: io::Error) -> Self {
        match Errno::from_io_error(&source) {
            Some(Errno::NOENT | Errno::NOTDIR) => Self::Missing { path },
            Some(Errno::ACCESS | Errno::PERM) => Self::Denied { path },
            Some(Errno::ISDIR) => Self::NotAFile { path },
            Some(Errno::LOOP | Errno::NAMETOOLONG | Errno::INVAL | Errno::OVERFLOW | Errno::ILSEQ) => {
                Self::Unreadable { path, source }
            }
            Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::NOBUFS) => {
                Outage::Resources { path, cause: source.to_string() }.into()
            }
            _ if source.kind() == io::ErrorKind::OutOfMemory => {
                Outage::Resources { path, cause: source.to_string() }.into()
            }
            _ => Outage::Storage { path, cause: source.to_string() }.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_lacks_and_what_the_storage_does_is_not_the_files_fault() {
        let of = |errno: Errno| ReadError::of_file("a.jpg".into(), errno.into());
        for errno in [Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::NOBUFS] {
            assert!(matches!(of(errno), ReadError::Outage(Outage::Resources { .. })), "{errno}");
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
            assert!(matches!(of(errno), ReadError::Outage(Outage::Storage { .. })), "{errno}");
        }
        for errno in [Errno::NOENT, Errno::ACCESS, Errno::ISDIR, Errno::LOOP, Errno::NAMETOOLONG] {
            assert!(!matches!(of(errno), ReadError::Outage(_)), "{errno}");
        }
    }
}
