//! SIGINT and SIGTERM end a measurement early. The results so far are shown.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use forebay_client::{Notice, Watch};
use rustix::process::Signal;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};

use crate::failure::SIGNALLED;

/// Which signal has come, if any. 0: none.
#[derive(Clone, Debug, Default)]
pub(super) struct Stop(Arc<AtomicI32>);

impl Stop {
    /// Listens for both from now on. A second signal removes these folders, and ends the process at once.
    pub(super) fn at_signals(runtime: &Runtime, folders: &[PathBuf]) -> io::Result<Self> {
        let stop = Self::default();
        let _inside = runtime.enter();
        for number in [Signal::INT, Signal::TERM].map(Signal::as_raw) {
            let mut comes = signal(SignalKind::from_raw(number))?;
            let (first, folders) = (stop.clone(), folders.to_owned());
            runtime.spawn(async move {
                comes.recv().await;
                // The measurement reads nothing else that was written before it.
                first.0.store(number, Ordering::Relaxed);
                comes.recv().await;
                for folder in &folders {
                    // They are gone if the measurement has just ended.
                    let _gone = std::fs::remove_dir_all(folder);
                }
                leave(number);
            });
        }
        Ok(stop)
    }

    /// The signal that has come.
    pub(super) fn signal(&self) -> Option<Signal> {
        Signal::from_named_raw(self.0.load(Ordering::Relaxed))
    }
}

/// A second signal waits for nothing.
#[allow(clippy::exit, reason = "what the first signal has begun to end does not end")]
fn leave(number: i32) -> ! {
    std::process::exit(SIGNALLED + number)
}

impl Watch for Stop {
    fn keep_waiting(&mut self) -> bool {
        self.signal().is_none()
    }

    fn notice(&mut self, _: &Notice) {}
}
