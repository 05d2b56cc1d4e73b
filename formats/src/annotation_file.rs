//! A small file that describes one picture. What is wrong with it is the picture's fault; an outage of the storage is not.

use forebay_sources::{ReadError, ReadErrorKind, Retry, SourceError};
use thiserror::Error;

use crate::address::Address;

/// Larger than any description of one picture.
const MOST_BYTES: u64 = 16 << 20;

/// Why a file was not read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum FileProblem {
    #[error("does not exist")]
    Missing,
    #[error("cannot be read: {0}")]
    Unreadable(ReadError),
    #[error("has more than {MOST_BYTES} bytes")]
    Large,
}

/// Reads the file.
///
/// # Errors
/// The storage fails. The inner error is the file's fault.
pub(super) fn read(address: &Address) -> Result<Result<Vec<u8>, FileProblem>, SourceError> {
    match address.small(MOST_BYTES) {
        Ok(Some(bytes)) => Ok(Ok(bytes)),
        Ok(None) => Ok(Err(FileProblem::Large)),
        Err(outage) if outage.retry() == Retry::Later => Err(SourceError::Outage(outage)),
        Err(error) if error.kind == ReadErrorKind::Missing => Ok(Err(FileProblem::Missing)),
        Err(error) => Ok(Err(FileProblem::Unreadable(error))),
    }
}

#[cfg(test)]
mod tests {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn a_pipe_is_the_fault_of_its_picture_and_holds_no_thread() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("1.xml");
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR, 0).unwrap();
        let problem = read(&Address::file(&path)).unwrap().unwrap_err().to_string();
        assert_eq!(problem, "cannot be read: this is not a regular file");
    }
}
