//! Reads ranges of a file while it is scanned, and remembers a fault of the storage: it is no fault of the file.

use std::sync::Arc;

use forebay_sources::ReadError;
use parking_lot::Mutex;

use crate::packed::open_files::OpenFile;

/// A file, of which ranges are read.
#[derive(Clone, Debug)]
pub(crate) struct FileRanges {
    file: Arc<OpenFile>,
    pub len: u64,
    /// The first fault of the storage: who reads the file would take it for the file's own.
    fault: Arc<Mutex<Option<ReadError>>>,
}

impl FileRanges {
    /// `len` is the file's length.
    pub(crate) fn new(file: Arc<OpenFile>, len: u64) -> Self {
        Self { file, len, fault: Arc::default() }
    }

    /// Whether each range is a request to a store.
    pub(crate) fn is_remote(&self) -> bool {
        self.file.is_remote()
    }

    /// The fault of the storage, if there was one.
    pub(crate) fn fault(&self) -> Option<ReadError> {
        self.fault.lock().take()
    }

    /// A range of the file. Nothing, if it leads beyond the end, or if the storage has failed.
    pub(crate) fn range(&self, offset: u64, len: u64) -> Option<Vec<u8>> {
        if offset.checked_add(len).is_none_or(|end| end > self.len) {
            return None;
        }
        let mut bytes = Vec::new();
        match self.file.read(offset, usize::try_from(len).ok()?, &mut bytes) {
            Ok(()) => Some(bytes),
            Err(error) => {
                self.fault.lock().get_or_insert(error);
                None
            }
        }
    }
}
