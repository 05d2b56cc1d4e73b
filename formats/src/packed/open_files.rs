//! Keeps some of a dataset's files open, and knows when one of them is not what it was.

use std::sync::Arc;

use forebay_objects::PendingRead;
use forebay_sources::{Locator, ReadError, ReadErrorKind};
use parking_lot::Mutex;

use super::ContainerFile;
use crate::contents::{Contents, SplitRange};
use crate::finishers;

/// Most files that a dataset keeps open.
const MOST: usize = 64;

/// Files of a dataset, of which the latest ones are open.
#[derive(Debug)]
pub(crate) struct OpenFiles {
    /// Number of each file's place in `open`, or nothing.
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    files: Vec<Option<Arc<OpenFile>>>,
    /// Those that are open, in the order in which they were opened.
    order: std::collections::VecDeque<u32>,
}

/// An open file.
#[derive(Debug)]
pub(crate) struct OpenFile {
    contents: Contents,
    container: ContainerFile,
}

impl OpenFiles {
    pub(crate) fn new(files: usize) -> Self {
        let state = State { files: vec![None; files], order: std::collections::VecDeque::new() };
        Self { state: Mutex::new(state) }
    }

    /// The file, opened if it is not. Two threads may open it at once; one of them closes it again.
    ///
    /// # Errors
    /// It cannot be opened. The locator is the whole file's.
    pub(crate) fn get(&self, number: u32, container: &ContainerFile) -> Result<Arc<OpenFile>, ReadError> {
        if let Some(open) = &self.state.lock().files[number as usize] {
            return Ok(Arc::clone(open));
        }
        let contents = container.address.open().map_err(gone)?;
        let opened = Arc::new(OpenFile { contents, container: container.clone() });
        let evicted = self.state.lock().keep(number, &opened);
        // Closing may take long where the storage is a network's: the lock is free by now.
        drop(evicted);
        Ok(opened)
    }
}

impl State {
    /// Keeps the file, unless another thread was first. Returns the one that gave way to it.
    fn keep(&mut self, number: u32, opened: &Arc<OpenFile>) -> Option<Arc<OpenFile>> {
        let place = &mut self.files[number as usize];
        if place.is_some() {
            return None;
        }
        *place = Some(Arc::clone(opened));
        self.order.push_back(number);
        let oldest = if self.order.len() > MOST { self.order.pop_front() } else { None };
        oldest.and_then(|oldest| self.files[oldest as usize].take())
    }
}

/// With a file, all records in it are gone: that is an outage, and no fault of one of them.
fn gone(error: ReadError) -> ReadError {
    match error.kind {
        ReadErrorKind::Missing => {
            let cause = "the file that holds it does not exist any more".into();
            ReadError { kind: ReadErrorKind::Gone, cause, ..error }
        }
        ReadErrorKind::NotAFile => ReadError { kind: ReadErrorKind::Changed, ..error },
        _ => error,
    }
}

/// The same of an object that was read before: without a permission that it had, it is as good as gone.
fn lost(error: ReadError) -> ReadError {
    match error.kind {
        ReadErrorKind::Denied => {
            let cause = "the file that holds it may not be read any more".into();
            ReadError { kind: ReadErrorKind::Gone, cause, ..error }
        }
        _ => gone(error),
    }
}

impl OpenFile {
    /// Where the whole file is.
    pub(crate) fn locator(&self) -> Locator {
        self.container.address.locator()
    }

    /// Whether each read is a request to a store.
    pub(crate) fn is_remote(&self) -> bool {
        self.container.is_remote()
    }

    /// Reads this range into `buf`, in place of what it has.
    ///
    /// # Errors
    /// The file is not what it was when its records were looked for, or the storage fails. `buf` may have any bytes then.
    pub(crate) fn read(&self, offset: u64, size: usize, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        if self.container.unpacked.is_some() {
            buf.clear();
            return self.read_behind(offset, size, buf);
        }
        self.is_unchanged()?;
        self.judged(self.contents.read(offset, size, buf))
    }

    /// The same, with the first bytes of the range in its head, and the rest in `buf`.
    ///
    /// # Errors
    /// As those of [`read`](Self::read).
    pub(crate) fn read_split(&self, range: SplitRange<'_>, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        if range.head.is_empty() || self.container.unpacked.is_some() {
            return range.read_by(buf, |offset, size, buf| self.read(offset, size, buf));
        }
        self.is_unchanged()?;
        self.judged(self.contents.read_split(range, buf))
    }

    /// The same as [`read`](Self::read), behind what is in `buf`.
    ///
    /// # Errors
    /// As those of [`read`](Self::read). What was read so far may be in `buf`.
    pub(crate) fn read_behind(&self, offset: u64, size: usize, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        self.is_unchanged()?;
        match &self.container.unpacked {
            Some(unpacked) => unpacked.read_behind(offset, size, buf),
            None => self.judged(self.contents.read_behind(offset, size, buf)),
        }
    }

    fn is_unchanged(&self) -> Result<(), ReadError> {
        if self.contents.stamp()? == self.container.stamp {
            return Ok(());
        }
        Err(ReadError::new(ReadErrorKind::Changed, self.container.address.locator()))
    }

    fn judged(&self, read: Result<(), ReadError>) -> Result<(), ReadError> {
        if self.contents.is_remote() { read.map_err(lost) } else { read }
    }

    /// Starts to read this range, and calls `done` with the result on a thread that must not be blocked. Only objects are
    /// read in this way without blocking the caller: of a file, nothing is pending.
    pub(crate) fn request(
        self: &Arc<Self>,
        offset: u64,
        size: usize,
        mut buf: Vec<u8>,
        done: impl FnOnce(Vec<u8>, Result<(), ReadError>) + Send + 'static,
    ) -> Option<PendingRead> {
        if self.container.is_remote() {
            return self.contents.request(offset, size, buf, |buf, read| done(buf, read.map_err(lost)));
        }
        let file = Arc::clone(self);
        let read = move || {
            let read = file.read(offset, size, &mut buf);
            done(buf, read);
        };
        // Beside objects, there may be some that were unpacked to the disk.
        if self.container.unpacked.is_some() {
            finishers::finish(read);
        } else {
            read();
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;
    use crate::address::Address;

    #[test]
    fn the_latest_files_are_open_and_one_that_gave_way_can_still_be_read() {
        let dir = tempfile::tempdir().unwrap();
        let container = |number: usize| {
            let path = dir.path().join(number.to_string());
            std::fs::write(&path, "abc").unwrap();
            ContainerFile::look(&Address::file(&path)).unwrap()
        };
        let containers: Vec<ContainerFile> = (0..=MOST).map(container).collect();
        let files = OpenFiles::new(containers.len());
        let opened: Vec<_> = (0..).zip(&containers).map(|(number, file)| files.get(number, file).unwrap()).collect();
        let is_open: Vec<bool> = files.state.lock().files.iter().map(Option::is_some).collect();
        assert_eq!(is_open.iter().position(|open| !open), Some(0));
        assert_eq!(is_open.iter().filter(|open| **open).count(), MOST);
        assert_eq!(Arc::strong_count(&opened[0]), 1, "nothing else holds it");
        let mut bytes = Vec::new();
        opened[0].read(1, 2, &mut bytes).unwrap();
        assert_eq!(bytes, b"bc");
    }

    #[test]
    fn a_pipe_in_the_place_of_a_file_is_a_change_of_it_and_holds_no_thread() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.tar");
        std::fs::write(&path, "abc").unwrap();
        let container = ContainerFile::look(&Address::file(&path)).unwrap();
        std::fs::remove_file(&path).unwrap();
        let kind = || OpenFiles::new(1).get(0, &container).unwrap_err().kind;
        assert_eq!(kind(), ReadErrorKind::Gone);
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR, 0).unwrap();
        assert_eq!(kind(), ReadErrorKind::Changed);
    }
}
