//! The threads of all stores of the process: a small runtime that waits for answers, and threads that read and write the
//! cache, so that the runtime never waits for a disk.

use std::io;
use std::sync::LazyLock;

use forebay_sources::{Container, Locator, Part, ReadError, ReadErrorKind, SourceError};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::oneshot;

use crate::Workers;
use crate::fault::{Fault, FaultKind};

/// Threads that move bytes from sockets to buffers. They wait for nothing else.
const THREADS: usize = 4;
/// Threads that read and write the cache.
const DISK_THREADS: usize = 8;

/// Begins with the first store, and stays until the process ends.
static RUNTIME: LazyLock<io::Result<Runtime>> = LazyLock::new(|| {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(THREADS).thread_name("objects").enable_io().enable_time().build()
});

/// Begins with the first store that has a cache, and stays until the process ends.
static DISK: LazyLock<io::Result<Disk>> = LazyLock::new(|| Workers::start("objects-disk", DISK_THREADS).map(Disk));

/// Threads for work that waits for a disk.
#[derive(Debug)]
pub(crate) struct Disk(Workers);

impl Disk {
    /// Does the work on one of the threads.
    pub(crate) async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Fault> {
        let (send, result) = oneshot::channel();
        // The caller may have stopped waiting.
        self.0.bring(move || drop(send.send(work())));
        result.await.map_err(|_| Fault::new(FaultKind::Unavailable, "a thread of the cache ended"))
    }
}

/// The runtime, for the store at this URL.
pub(crate) fn handle(url: &str) -> Result<Handle, SourceError> {
    RUNTIME.as_ref().map(|runtime| runtime.handle().clone()).map_err(|error| lacking(url, error))
}

/// The threads for a disk, for the store at this URL.
pub(crate) fn disk(url: &str) -> Result<&'static Disk, SourceError> {
    DISK.as_ref().map_err(|error| lacking(url, error))
}

fn lacking(url: &str, error: &io::Error) -> SourceError {
    let container = Container::Object { url: url.to_owned(), version: None };
    let locator = Locator { container, part: Part::Whole };
    SourceError::Outage(ReadError { kind: ReadErrorKind::Resources, locator, cause: error.to_string() })
}
