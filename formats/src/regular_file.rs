//! Opens a file only if it is a regular one. A pipe would hold the thread for ever.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use crate::confinement::check_open;

/// Opens the file for reading.
///
/// # Errors
/// It cannot be opened, or is no regular file. [`ReadError::of_file`](forebay_sources::ReadError::of_file) knows the latter
/// by its kind, which is that of a folder.
pub(super) fn open_regular(path: &Path) -> io::Result<(File, Metadata)> {
    let no_file = || io::Error::new(io::ErrorKind::IsADirectory, "this is not a regular file");
    // For regular files the flag means nothing.
    let nonblock = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let opened = OpenOptions::new().read(true).custom_flags(nonblock).open(path);
    match opened.and_then(check_open).and_then(|file| file.metadata().map(|metadata| (file, metadata))) {
        Ok((file, metadata)) if metadata.is_file() => Ok((file, metadata)),
        Ok(_) => Err(no_file()),
        // A socket or a device may refuse to be opened in many ways.
        Err(_) if path.metadata().is_ok_and(|metadata| !metadata.is_file()) => Err(no_file()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use forebay_sources::{ReadError, ReadErrorKind};
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn a_pipe_and_a_folder_are_refused_at_once_and_a_link_to_a_file_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RUSR, 0).unwrap();
        std::os::unix::fs::symlink("pipe", at("link")).unwrap();
        for path in [at("pipe"), at("link"), dir.path().to_owned()] {
            let error = open_regular(&path).unwrap_err();
            assert_eq!(error.to_string(), "this is not a regular file");
            assert_eq!(ReadError::of_file(path, &error).kind, ReadErrorKind::NotAFile);
        }
        std::fs::write(at("file"), "abc").unwrap();
        std::os::unix::fs::symlink("file", at("other")).unwrap();
        assert_eq!(open_regular(&at("other")).unwrap().1.len(), 3);
        assert_eq!(open_regular(&at("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
