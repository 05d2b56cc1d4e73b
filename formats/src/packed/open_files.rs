//! Keeps some of a dataset's files open, and knows when one of them is not what it was.

use std::fs::File;
use std::sync::Arc;

use forebay_sources::{Locator, ReadError, ReadErrorKind};
use parking_lot::Mutex;

use super::{ContainerFile, Stamp};
use crate::regular_file::open_regular;

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
    file: File,
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
        let path = &container.path;
        let (file, _) = open_regular(path).map_err(|error| gone(ReadError::of_file(path.clone(), &error)))?;
        let opened = Arc::new(OpenFile { file, container: container.clone() });
        let mut state = self.state.lock();
        if state.files[number as usize].is_none() {
            state.files[number as usize] = Some(Arc::clone(&opened));
            state.order.push_back(number);
            if state.order.len() > MOST
                && let Some(oldest) = state.order.pop_front()
            {
                state.files[oldest as usize] = None;
            }
        }
        Ok(opened)
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

impl OpenFile {
    /// Reads this range into `buf`, after what it has.
    ///
    /// # Errors
    /// The file is not what it was when its records were looked for, or the storage fails.
    pub(crate) fn read(&self, mut offset: u64, size: usize, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        let path = || self.container.path.clone();
        let metadata = self.file.metadata().map_err(|error| ReadError::of_file(path(), &error))?;
        if Stamp::of(&metadata) != self.container.stamp {
            return Err(ReadError::new(ReadErrorKind::Changed, Locator::file(path())));
        }
        buf.try_reserve_exact(size).map_err(|error| ReadError::of_file(path(), &error.into()))?;
        let end = buf.len() + size;
        while buf.len() < end {
            match rustix::io::pread(&self.file, rustix::buffer::spare_capacity(buf), offset) {
                Ok(0) => return Err(ReadError::new(ReadErrorKind::Changed, Locator::file(path()))),
                Ok(read) => offset += read as u64,
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(ReadError::of_file(path(), &error.into())),
            }
        }
        // The buffer may have had room for more.
        buf.truncate(end);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn a_pipe_in_the_place_of_a_file_is_a_change_of_it_and_holds_no_thread() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.tar");
        std::fs::write(&path, "abc").unwrap();
        let container = ContainerFile::look(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let kind = || OpenFiles::new(1).get(0, &container).unwrap_err().kind;
        assert_eq!(kind(), ReadErrorKind::Gone);
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR, 0).unwrap();
        assert_eq!(kind(), ReadErrorKind::Changed);
    }
}
