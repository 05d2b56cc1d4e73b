//! A small file that describes one picture. What is wrong with it is the picture's fault; an outage of the storage is not.

use std::io::Read as _;
use std::path::Path;

use forebay_sources::{ReadError, ReadErrorKind, Retry, SourceError};
use thiserror::Error;

use crate::regular_file::open_regular;

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
pub(super) fn read(path: &Path) -> Result<Result<Vec<u8>, FileProblem>, SourceError> {
    let mut bytes = Vec::new();
    match open_regular(path).and_then(|(file, _)| file.take(MOST_BYTES + 1).read_to_end(&mut bytes)) {
        Ok(_) if bytes.len() as u64 > MOST_BYTES => Ok(Err(FileProblem::Large)),
        Ok(_) => Ok(Ok(bytes)),
        Err(error) => match ReadError::of_file(path.to_owned(), &error) {
            outage if outage.retry() == Retry::Later => Err(SourceError::Outage(outage)),
            error if error.kind == ReadErrorKind::Missing => Ok(Err(FileProblem::Missing)),
            error => Ok(Err(FileProblem::Unreadable(error))),
        },
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
        let problem = read(&path).unwrap().unwrap_err().to_string();
        assert_eq!(problem, "cannot be read: this is not a regular file");
    }
}
