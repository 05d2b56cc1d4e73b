//! Remembers which chunks were found to be damaged, so that not every record of theirs costs a read of the chunk.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt as _;
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;

use crate::address::Address;
use crate::packed::ContainerFile;

/// File systems store the time of a change by the millisecond, some by the second. A file that was changed within this
/// time may change again and keep the same time.
pub(super) const SETTLED: Duration = Duration::from_secs(3);

/// Chunks that are damaged, as long as their files are what they were when the dataset was opened.
#[derive(Debug)]
pub(super) struct SpoiledChunks {
    /// What each file was then; nothing if it had just been changed.
    files: Vec<Option<FileState>>,
    /// By the number of the chunk.
    causes: Mutex<HashMap<usize, String>>,
}

/// Everything that reveals a change of a file's bytes. A program cannot set the time of the last change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileState {
    place: (u64, u64),
    len: u64,
    changed: (i64, i64),
}

impl SpoiledChunks {
    /// No chunk so far. Causes are kept only for files whose last change is at least `settled` ago.
    pub(super) fn new(files: &[ContainerFile], settled: Duration) -> Self {
        let before = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let latest = before.checked_sub(settled).map_or(0, |latest| latest.as_secs());
        let is_settled = |state: &FileState| u64::try_from(state.changed.0).is_ok_and(|changed| changed <= latest);
        let state = |file: &ContainerFile| FileState::of(&file.address).filter(is_settled);
        Self { files: files.iter().map(state).collect(), causes: Mutex::default() }
    }

    /// Why this chunk of this file is damaged, if that is known and may not have changed.
    pub(super) fn cause(&self, chunk: usize, file: u32, address: &Address) -> Option<String> {
        let cause = self.causes.lock().get(&chunk).cloned()?;
        let then = self.files.get(file as usize).copied().flatten()?;
        (FileState::of(address)? == then).then_some(cause)
    }

    /// Notes that this chunk of this file is damaged.
    pub(super) fn keep(&self, chunk: usize, file: u32, cause: &str) {
        if self.files.get(file as usize).is_some_and(Option::is_some) {
            self.causes.lock().insert(chunk, cause.to_owned());
        }
    }
}

impl FileState {
    fn of(address: &Address) -> Option<Self> {
        if address.tree().is_some() {
            // Each read gets the version that was found, if the version is an `ETag` and not only a time.
            let version = address.stored().ok().flatten()?.version?;
            return (!version.starts_with('@')).then_some(Self { place: (0, 0), len: 0, changed: (0, 0) });
        }
        let found = address.path().metadata().ok()?;
        let place = (found.dev(), found.ino());
        Some(Self { place, len: found.len(), changed: (found.ctime(), found.ctime_nsec()) })
    }
}
