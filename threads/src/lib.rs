//! Starts named threads. If the system has no room for another thread, the error names the thread.
#![forbid(unsafe_code)]

use std::io;
use std::thread::{Builder, JoinHandle};

use thiserror::Error;
use tokio::sync::oneshot;

/// The system has no room for a thread.
#[derive(Debug, Error)]
#[error(
    "thread \"{name}\" cannot be started: {source}. Raise the limit of threads (ulimit -u; TasksMax of the service, pids.max \
     of its control group), or end other processes"
)]
struct NoRoom {
    name: String,
    source: io::Error,
}

/// Starts a thread.
///
/// # Errors
/// The system has no room for it.
pub fn start<T: Send + 'static>(name: &str, work: impl FnOnce() -> T + Send + 'static) -> io::Result<JoinHandle<T>> {
    let started = Builder::new().name(name.to_owned()).spawn(work);
    started.map_err(|source| no_room(name, source))
}

fn no_room(name: &str, source: io::Error) -> io::Error {
    io::Error::new(source.kind(), NoRoom { name: name.to_owned(), source })
}

/// Runs work that may take long on a thread of its own, so that no other task waits for it. tokio's own way to do this
/// panics if the system has no room for a thread.
///
/// # Errors
/// The system has no room for the thread.
pub async fn beside<T: Send + 'static>(name: &str, work: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
    let (done, answer) = oneshot::channel();
    // The caller may have gone.
    start(name, move || drop(done.send(work())))?;
    // Its panic ends the process.
    answer.await.map_err(io::Error::other)
}

/// Checks that the system has room for so many threads. tokio starts its threads right after this, and panics if there is
/// no room.
///
/// # Errors
/// It has no room for them.
pub fn room_for(count: usize) -> io::Result<()> {
    let mut waiting = Vec::new();
    for _ in 0..count {
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let wait = move || {
            let _ended = ended.recv();
        };
        waiting.push((end, start("forebay-runtime", wait)?));
    }
    for (end, thread) in waiting {
        drop(end);
        thread.join().map_err(|_panic| io::Error::other("a thread that only waits has panicked"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_beside_has_a_name_and_gives_its_answer() {
        let name = beside("forebay-test", || std::thread::current().name().map(str::to_owned)).await.unwrap();
        assert_eq!(name.as_deref(), Some("forebay-test"));
    }
}
