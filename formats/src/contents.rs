//! The bytes of a file that is open: ranges of them are read by many threads at once.

use std::fs::File;
use std::path::PathBuf;

use forebay_sources::{Locator, ReadError, ReadErrorKind};

use crate::packed::Stamp;

/// What an open file holds.
#[derive(Debug)]
pub(crate) struct Contents {
    file: File,
    path: PathBuf,
}

impl Contents {
    /// Those of a regular file.
    pub(crate) fn of_file(file: File, path: PathBuf) -> Self {
        Self { file, path }
    }

    /// What the file is now.
    ///
    /// # Errors
    /// The storage fails.
    pub(crate) fn stamp(&self) -> Result<Stamp, ReadError> {
        let metadata = self.file.metadata();
        Ok(Stamp::of(&metadata.map_err(|error| ReadError::of_file(self.path.clone(), &error))?))
    }

    /// Reads this range into `buf`, behind what it has.
    ///
    /// # Errors
    /// The file ends before the range does, or the storage fails.
    pub(crate) fn read(&self, mut offset: u64, size: usize, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        let of_file = |error: &std::io::Error| ReadError::of_file(self.path.clone(), error);
        buf.try_reserve_exact(size).map_err(|error| of_file(&error.into()))?;
        let end = buf.len() + size;
        while buf.len() < end {
            match rustix::io::pread(&self.file, rustix::buffer::spare_capacity(buf), offset) {
                Ok(0) => return Err(ReadError::new(ReadErrorKind::Changed, Locator::file(&self.path))),
                Ok(read) => offset += read as u64,
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(of_file(&error.into())),
            }
        }
        // The buffer may have had room for more.
        buf.truncate(end);
        Ok(())
    }
}
