//! The workers that asked for a task and got none.

use std::collections::BTreeMap;

/// A worker that got nothing counts as waiting for this long, in milliseconds.
const WAITING: u64 = 10_000;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct WaitingWorkers {
    /// Until when each of them counts as waiting.
    until: BTreeMap<String, u64>,
    /// All who have tasks are waiting, and were given the end.
    has_ended: bool,
    /// They may get another answer now.
    is_stirred: bool,
}

impl WaitingWorkers {
    /// After a start: those who wait are not known any more.
    pub(super) const fn unknown() -> Self {
        Self { until: BTreeMap::new(), has_ended: false, is_stirred: true }
    }

    /// This worker got nothing.
    pub(super) fn waits(&mut self, worker: &str, now: u64) {
        self.until.insert(worker.to_owned(), now.saturating_add(WAITING));
    }

    /// This worker got a task.
    pub(super) fn stops(&mut self, worker: &str) {
        self.until.remove(worker);
    }

    pub(super) fn is_waiting(&self, worker: &str, now: u64) -> bool {
        self.until.get(worker).is_some_and(|until| *until > now)
    }

    pub(super) fn has_any(&self) -> bool {
        !self.until.is_empty()
    }

    /// Forgets those who have not asked for a while.
    pub(super) fn expire(&mut self, now: u64) {
        self.until.retain(|_, until| *until > now);
    }

    /// One of them is given the end. The others hear it too.
    pub(super) const fn end(&mut self) {
        self.is_stirred |= !std::mem::replace(&mut self.has_ended, true);
    }

    /// A task was given: the end is still to come.
    pub(super) const fn continues(&mut self) {
        self.has_ended = false;
    }

    /// The dataset went back to a state: all of them may get tasks.
    pub(super) const fn restart(&mut self) {
        (self.has_ended, self.is_stirred) = (false, true);
    }

    /// They would get another answer now.
    pub(super) const fn stir(&mut self) {
        self.is_stirred = true;
    }

    /// Whether they should ask again. True only once for each change.
    pub(super) const fn take_stirred(&mut self) -> bool {
        std::mem::replace(&mut self.is_stirred, false)
    }
}
