//! The bytes of a file or object that is open: ranges of them are read by many threads at once.

use std::fs::File;
use std::io::{self, IoSliceMut, Read};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use forebay_objects::{Object, PendingRead, Store};
use forebay_sources::{Locator, ReadError, ReadErrorKind};

use crate::stamp::Stamp;

/// What an open file or an object holds.
#[derive(Debug)]
pub(crate) struct Contents {
    of: Holder,
}

/// A range whose first bytes are read into memory of their own.
pub(crate) struct SplitRange<'a> {
    /// Where it begins.
    pub offset: u64,
    /// What gets its first bytes.
    pub head: &'a mut [u8],
    /// Bytes behind these.
    pub rest: usize,
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
    /// The file ends before the range does, the object has changed, or the storage fails. `buf` is empty then.
    pub(crate) fn read(&self, offset: u64, size: usize, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        match &self.of {
            Holder::File { file, path } => read_file(file, path, offset, size, 0, buf),
            Holder::Object { .. } => {
                buf.clear();
                self.read_behind(offset, size, buf)
            }
        }
    }

    /// The same, with the first bytes of the range in its head, and the rest in `buf`.
    ///
    /// # Errors
    /// As those of [`read`](Self::read).
    pub(crate) fn read_split(&self, range: SplitRange<'_>, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        let Holder::File { file, path } = &self.of else {
            return range.read_by(buf, |offset, size, buf| self.read(offset, size, buf));
        };
        let SplitRange { offset, head, rest } = range;
        if buf.capacity() < rest {
            file.read_exact_at(head, offset).map_err(|error| of_read(path, &error))?;
            return read_file(file, path, offset + head.len() as u64, rest, 0, buf);
        }
        buf.resize(rest, 0);
        scatter(file, offset, head, buf).map_err(|error| of_read(path, &error)).inspect_err(|_| buf.clear())
    }

    /// The same as [`read`](Self::read), behind what is in `buf`.
    ///
    /// # Errors
    /// As those of [`read`](Self::read). `buf` is what it was then.
    pub(crate) fn read_behind(&self, offset: u64, size: usize, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        match &self.of {
            Holder::File { file, path } => read_file(file, path, offset, size, buf.len(), buf),
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

impl SplitRange<'_> {
    /// Reads it by what can only read a whole range into one place.
    ///
    /// # Errors
    /// Those of `read`.
    pub(crate) fn read_by(
        self,
        buf: &mut Vec<u8>,
        read: impl FnOnce(u64, usize, &mut Vec<u8>) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        read(self.offset, self.head.len().saturating_add(self.rest), buf)?;
        take_head(self.head, buf);
        Ok(())
    }
}

/// Reads a range into `buf` behind its first `before` bytes. After an error, it has only those.
///
/// Neither new memory nor what the buffer has from an earlier read is cleared first: that costs as much time as the read.
fn read_file(
    file: &File,
    path: &Path,
    offset: u64,
    size: usize,
    before: usize,
    buf: &mut Vec<u8>,
) -> Result<(), ReadError> {
    let end = before.saturating_add(size);
    let read = if buf.capacity() < end {
        buf.truncate(before);
        buf.try_reserve_exact(size).map_err(io::Error::from).and_then(|()| fill(file, offset, end, buf))
    } else {
        buf.resize(end, 0);
        file.read_exact_at(&mut buf[before..], offset)
    };
    read.map_err(|error| {
        buf.truncate(before);
        of_read(path, &error)
    })
}

/// A file that ends before a range of it does is not what it was.
fn of_read(path: &Path, error: &io::Error) -> ReadError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => ReadError::new(ReadErrorKind::Changed, Locator::file(path)),
        _ => ReadError::of_file(path.to_owned(), error),
    }
}

/// Moves the first bytes of what was read into `head`.
pub(crate) fn take_head(head: &mut [u8], buf: &mut Vec<u8>) {
    head.copy_from_slice(&buf[..head.len()]);
    buf.drain(..head.len());
}

/// Reads a range into two places, by one call if the system gives all of it at once.
fn scatter(file: &File, offset: u64, head: &mut [u8], rest: &mut [u8]) -> io::Result<()> {
    let read = loop {
        match rustix::io::preadv(file, &mut [IoSliceMut::new(head), IoSliceMut::new(rest)], offset) {
            Err(rustix::io::Errno::INTR) => {}
            read => break read?,
        }
    };
    let (in_head, in_rest) = (read.min(head.len()), read.saturating_sub(head.len()));
    file.read_exact_at(&mut head[in_head..], offset + in_head as u64)?;
    file.read_exact_at(&mut rest[in_rest..], offset + (head.len() + in_rest) as u64)
}

/// Reads into new memory, which has room up to `end` and hardly more.
fn fill(file: &File, mut offset: u64, end: usize, buf: &mut Vec<u8>) -> io::Result<()> {
    while buf.len() < end {
        match rustix::io::pread(file, rustix::buffer::spare_capacity(buf), offset) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => offset += read as u64,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
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
        assert!(buf.is_empty());
        let (sender, answers) = std::sync::mpsc::channel();
        let pending = contents.request(0, 2, Vec::new(), move |buf, read| sender.send((buf, read)).unwrap());
        assert!(pending.is_none());
        assert_eq!(answers.recv().unwrap(), (b"ab".to_vec(), Ok(())));
    }

    #[test]
    fn no_more_is_read_than_the_range_however_much_room_the_buffer_has() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        std::fs::write(&path, "abcdefghij").unwrap();
        let contents = Contents::of_file(File::open(&path).unwrap(), path);
        for mut buf in [Vec::with_capacity(100), vec![b'?'; 100]] {
            let memory = buf.as_ptr();
            contents.read(0, 5, &mut buf).unwrap();
            assert_eq!(buf, b"abcde");
            contents.read_behind(7, 2, &mut buf).unwrap();
            assert_eq!(buf, b"abcdehi");
            assert_eq!(contents.read_behind(9, 2, &mut buf).unwrap_err().kind, ReadErrorKind::Changed);
            assert_eq!((buf.as_slice(), buf.as_ptr()), (&b"abcdehi"[..], memory));
        }
        let mut new = b"?".to_vec();
        contents.read_behind(0, 10, &mut new).unwrap();
        assert_eq!(new, b"?abcdefghij");
        assert_eq!(contents.read(5, 20, &mut new).unwrap_err().kind, ReadErrorKind::Changed);
        assert!(new.is_empty());
    }

    #[test]
    fn the_first_bytes_of_a_range_may_have_memory_of_their_own() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        std::fs::write(&path, "abcdefghij").unwrap();
        let contents = Contents::of_file(File::open(&path).unwrap(), path);
        for mut buf in [Vec::new(), Vec::with_capacity(100), vec![b'?'; 100], b"?".to_vec()] {
            let mut head = [0; 3];
            let mut read = |offset, rest, buf: &mut Vec<u8>| {
                let read = contents.read_split(SplitRange { offset, head: &mut head, rest }, buf);
                read.map(|()| head)
            };
            assert_eq!((&read(2, 4, &mut buf).unwrap(), buf.as_slice()), (b"cde", &b"fghi"[..]));
            assert_eq!((&read(7, 0, &mut buf).unwrap(), buf.as_slice()), (b"hij", &b""[..]));
            for (offset, size) in [(2, 20), (6, 2), (8, 0), (20, 1)] {
                let error = read(offset, size, &mut buf).unwrap_err();
                assert_eq!((error.kind, buf.len()), (ReadErrorKind::Changed, 0), "{size} from {offset}");
            }
        }
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
