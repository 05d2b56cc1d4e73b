//! Looks at the files of a list: how large each is, and when it was last changed.

use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::thread;

use forebay_sources::{ReadError, Retry, SourceError};
use parking_lot::Mutex;

use crate::address::Address;
use crate::confinement::metadata;
use crate::paths::Paths;
use crate::progress::Progress;

/// The size of each file, and when it was last changed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Looks {
    pub sizes: Vec<u64>,
    pub times: Vec<i64>,
}

impl Looks {
    /// Nothing is known of so many files.
    pub(crate) fn none(files: usize) -> Self {
        Self { sizes: vec![NO_SIZE; files], times: vec![NO_TIME; files] }
    }

    /// What `look` says of each of so many files, by a few threads: on a network file system each look is a round trip.
    /// Where the system has no room for more threads, fewer do it.
    ///
    /// # Errors
    /// The first outage that a thread met.
    pub(crate) fn of_each(
        files: usize,
        look: impl Fn(usize) -> Result<(u64, i64), SourceError> + Sync,
    ) -> Result<Self, SourceError> {
        let mut looks = Self::none(files);
        let helpers = files.div_ceil(LOOKS_AT_ONCE).clamp(1, THREADS) - 1;
        let times = looks.times.chunks_mut(LOOKS_AT_ONCE);
        let parts = Mutex::new(looks.sizes.chunks_mut(LOOKS_AT_ONCE).zip(times).enumerate());
        let work = || {
            loop {
                let Some((part, (sizes, times))) = parts.lock().next() else { return Ok(()) };
                for (offset, (size, time)) in sizes.iter_mut().zip(times).enumerate() {
                    (*size, *time) = look(part * LOOKS_AT_ONCE + offset)?;
                }
            }
        };
        thread::scope(|scope| {
            let start = |_| thread::Builder::new().name("forebay-sizes".into()).spawn_scoped(scope, work).ok();
            let helpers: Vec<_> = (0..helpers).map_while(start).collect();
            let own = work();
            helpers.into_iter().map(|helper| helper.join().expect("it looks at sizes")).fold(own, Result::and)
        })?;
        Ok(looks)
    }

    /// The same in another order.
    pub(crate) fn permuted(&self, order: &[usize]) -> Self {
        let sizes = order.iter().map(|&file| self.sizes[file]).collect();
        let times = order.iter().map(|&file| self.times[file]).collect();
        Self { sizes, times }
    }
}

/// Size of a file that is not there, or that cannot be looked at, in the fingerprint.
pub(crate) const NO_SIZE: u64 = u64::MAX;
/// Time of such a file.
pub(crate) const NO_TIME: i64 = i64::MIN;
/// Files that a thread looks at before it takes the next ones; so few are as quick by one thread.
const LOOKS_AT_ONCE: usize = 4096;
const THREADS: usize = 8;

/// The size and time of every file of a list.
pub(super) fn look(root: &Address, paths: &Paths) -> Result<Looks, SourceError> {
    let progress = Progress::new("looking at sizes");
    Looks::of_each(paths.len(), |file| {
        progress.step();
        look_at_file(root.path().join(paths.get(file)))
    })
}

/// An outage is no property of the dataset, and must not become part of its fingerprint.
fn look_at_file(path: PathBuf) -> Result<(u64, i64), SourceError> {
    match metadata(&path) {
        Ok(metadata) => Ok((metadata.len(), time_of(&metadata))),
        Err(source) => absent(path, &source),
    }
}

/// What is noted of a file that cannot be looked at, unless that is an outage.
pub(crate) fn absent(path: PathBuf, source: &std::io::Error) -> Result<(u64, i64), SourceError> {
    match ReadError::of_file(path, source) {
        outage if outage.retry() == Retry::Later => Err(SourceError::Outage(outage)),
        _ => Ok((NO_SIZE, NO_TIME)),
    }
}

pub(super) fn time_of(metadata: &std::fs::Metadata) -> i64 {
    time(metadata.mtime(), metadata.mtime_nsec())
}

/// Nanoseconds since 1970.
pub(crate) fn time(seconds: i64, nanoseconds: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds)
}
