//! The bytes of a file or object that is open: ranges of them are read by many threads at once.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;

use forebay_objects::{Object, PendingRead, Store};
use forebay_sources::{Locator, ReadError, ReadErrorKind};

use crate::stamp::Stamp;

/// What an open file or an object holds.
#[derive(Debug)]
pub(crate) struct Contents {
    of: Holder,
}

#[derive(Debug)]
enum Holder {
    File { file: File, path: PathBuf },
    Object { store: Arc<Store>, object: Object },
}

impl Contents {
    /// Those of a regular file.
    pub(crate) fn of_file(file: File, path: PathBuf) -> Self {
        Self { of: Holder::File { file, path } }
    }

    /// Those of an object, in the version that was found.
    pub(crate) fn of_object(store: Arc<Store>, object: Object) -> Self {
        Self { of: Holder::Object { store, object } }
    }

    /// Whether each read is a request to a store, which takes long but may be one of many.
    pub(crate) fn is_remote(&self) -> bool {
        matches!(self.of, Holder::Object { .. })
    }

    /// What the file is now. An object is what it was: its version is compared by each read.
    ///
    /// # Errors
    /// The storage fails.
    pub(crate) fn stamp(&self) -> Result<Stamp, ReadError> {
        match &self.of {
            Holder::File { file, path } => match file.metadata() {
                Ok(metadata) => Ok(Stamp::of(&metadata)),
                Err(error) => Err(ReadError::of_file(path.clone(), &error)),
            },
            Holder::Object { object, .. } => Ok(Stamp { len: object.size, modified: None }),
        }
    }

    /// Reads this range into `buf`, in place of what it has.
    ///
    /// # Errors
    /// The file ends before the range does, the object has changed, or the storage fails.
    pub(crate) fn read(&self, offset: u64, size: usize, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        buf.clear();
        self.read_behind(offset, size, buf)
    }

    /// The same, behind what is in `buf`.
    ///
    /// # Errors
    /// As those of [`read`](Self::read). What was read so far may be in `buf`.
    pub(crate) fn read_behind(&self, offset: u64, size: usize, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        match &self.of {
            Holder::File { file, path } => read_file(file, path, offset, size, buf),
            Holder::Object { .. } if size == 0 => Ok(()),
            Holder::Object { store, object } => store.read_behind(object, offset..offset + size as u64, u64::MAX, buf),
        }
    }

    /// Starts to read this range of an object, and calls `done` with the result on a thread that must not be blocked. Of a
    /// file, the call itself reads, so that nothing is pending.
    pub(crate) fn request(
        &self,
        offset: u64,
        size: usize,
        mut buf: Vec<u8>,
        done: impl FnOnce(Vec<u8>, Result<(), ReadError>) + Send + 'static,
    ) -> Option<PendingRead> {
        match &self.of {
            Holder::Object { store, object } if size > 0 => {
                Some(store.request(object, offset..offset + size as u64, buf, done))
            }
            _ => {
                let read = self.read(offset, size, &mut buf);
                done(buf, read);
                None
            }
        }
    }
}

fn read_file(file: &File, path: &PathBuf, mut offset: u64, size: usize, buf: &mut Vec<u8>) -> Result<(), ReadError> {
    buf.try_reserve_exact(size).map_err(|error| ReadError::of_file(path.clone(), &error.into()))?;
    let end = buf.len() + size;
    while buf.len() < end {
        match rustix::io::pread(file, rustix::buffer::spare_capacity(buf), offset) {
            Ok(0) => return Err(ReadError::new(ReadErrorKind::Changed, Locator::file(path))),
            Ok(read) => offset += read as u64,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(ReadError::of_file(path.clone(), &error.into())),
        }
    }
    // The buffer may have had room for more.
    buf.truncate(end);
    Ok(())
}

/// Reads an object from its first byte to its last, a large part at a time.
#[derive(Debug)]
pub(crate) struct ContentsReader {
    contents: Contents,
    len: u64,
    /// Where `held` begins, and how much of it was taken.
    start: u64,
    held: Vec<u8>,
    taken: usize,
}

/// Bytes that are read at once: so many that the time until the first of them hardly counts.
const PART: u64 = 8 << 20;

impl ContentsReader {
    /// # Errors
    /// The storage fails.
    pub(crate) fn new(contents: Contents) -> Result<Self, ReadError> {
        let len = contents.stamp()?.len;
        Ok(Self { contents, len, start: 0, held: Vec::new(), taken: 0 })
    }
}

impl Read for ContentsReader {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.held.len() {
            self.start += self.held.len() as u64;
            self.taken = 0;
            let part = usize::try_from(PART.min(self.len - self.start)).unwrap_or(usize::MAX);
            if let Err(error) = self.contents.read(self.start, part, &mut self.held) {
                self.held.clear();
                return Err(io::Error::other(error));
            }
        }
        let rest = &self.held[self.taken..];
        let count = rest.len().min(buf.len());
        buf[..count].copy_from_slice(&rest[..count]);
        self.taken += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_of_a_file_takes_the_place_of_what_was_in_the_buffer() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        std::fs::write(&path, "abcdef").unwrap();
        let contents = Contents::of_file(File::open(&path).unwrap(), path);
        let mut buf = b"left over".to_vec();
        contents.read(1, 3, &mut buf).unwrap();
        assert_eq!(buf, b"bcd");
        assert_eq!(contents.read(5, 2, &mut buf).unwrap_err().kind, ReadErrorKind::Changed);
        let (sender, answers) = std::sync::mpsc::channel();
        let pending = contents.request(0, 2, Vec::new(), move |buf, read| sender.send((buf, read)).unwrap());
        assert!(pending.is_none());
        assert_eq!(answers.recv().unwrap(), (b"ab".to_vec(), Ok(())));
    }

    #[test]
    fn contents_are_read_to_their_end() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        let bytes: Vec<u8> = (0..9_000_000_u32).map(|number| number.to_le_bytes()[1]).collect();
        std::fs::write(&path, &bytes).unwrap();
        let mut reader = ContentsReader::new(Contents::of_file(File::open(&path).unwrap(), path)).unwrap();
        let mut read = Vec::new();
        reader.read_to_end(&mut read).unwrap();
        assert!(read == bytes);
    }
}
