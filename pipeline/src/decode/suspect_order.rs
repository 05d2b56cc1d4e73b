//! How the suspects of one stream are made in child processes (semantics rule 9), and what they wait for.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Shared by the suspects of a stream while its stages run.
#[derive(Debug, Default)]
pub(crate) struct SuspectOrder {
    /// The stream's settings as they were written, in JSON.
    pub settings: String,
    /// How long a child may be silent.
    pub read_timeout: Duration,
    wait: Mutex<Option<(Instant, String)>>,
    withdrawn: AtomicBool,
}

impl SuspectOrder {
    /// Nothing waits.
    pub(crate) fn new(settings: String, read_timeout: Duration) -> Self {
        Self { settings, read_timeout, ..Self::default() }
    }

    /// A child was ended, which is not the record's fault: it is made again.
    pub(super) fn begin_wait(&self, now: Instant, why: String) {
        let mut wait = self.wait.lock();
        let since = wait.as_ref().map_or(now, |(since, _)| *since);
        *wait = Some((since, why));
    }

    /// A child has answered.
    pub(super) fn end_wait(&self) {
        self.wait.lock().take();
    }

    /// Since when a record waits, and why.
    pub(super) fn wait(&self) -> Option<(Instant, String)> {
        self.wait.lock().clone()
    }

    /// No outcome is waited for any more.
    pub(super) fn withdraw(&self) {
        self.withdrawn.store(true, Ordering::SeqCst);
    }

    /// Whether no outcome is waited for any more.
    pub(crate) fn is_withdrawn(&self) -> bool {
        self.withdrawn.load(Ordering::SeqCst)
    }
}
