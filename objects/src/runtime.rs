//! The threads that wait for answers of stores: one small runtime for the process.

use std::io;
use std::sync::LazyLock;

use forebay_sources::{Container, Locator, Part, ReadError, ReadErrorKind, SourceError};
use tokio::runtime::{Builder, Handle, Runtime};

/// Threads that move bytes from sockets to buffers. They wait for nothing else.
const THREADS: usize = 4;
/// Threads that read and write the cache.
const DISK_THREADS: usize = 16;

/// Begins with the first store, and stays until the process ends.
static RUNTIME: LazyLock<io::Result<Runtime>> = LazyLock::new(|| {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(THREADS).max_blocking_threads(DISK_THREADS).thread_name("objects");
    builder.enable_io().enable_time().build()
});

/// The runtime, for the store at this URL.
pub(crate) fn handle(url: &str) -> Result<Handle, SourceError> {
    match &*RUNTIME {
        Ok(runtime) => Ok(runtime.handle().clone()),
        Err(error) => {
            let container = Container::Object { url: url.to_owned(), version: None };
            let locator = Locator { container, part: Part::Whole };
            Err(SourceError::Outage(ReadError { kind: ReadErrorKind::Resources, locator, cause: error.to_string() }))
        }
    }
}
