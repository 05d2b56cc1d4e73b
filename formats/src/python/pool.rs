//! The children of a dataset. Each is lent to one thread at a time. They are started when they are needed.

use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use super::child::{ReaderChild, STARTING, StartFailure};
use super::settings::ReaderSettings;

/// Children, at most as many as the settings allow.
#[derive(Debug)]
pub(super) struct ReaderPool {
    settings: ReaderSettings,
    state: Mutex<PoolState>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct PoolState {
    idle: Vec<ReaderChild>,
    /// All that there are, lent ones too.
    live: usize,
    /// A child had a reader once.
    has_started: bool,
}

/// A child that one thread has. Dropping it ends the child.
#[derive(Debug)]
pub(super) struct LentChild<'a> {
    pool: &'a ReaderPool,
    /// `None` once it is given back.
    child: Option<ReaderChild>,
}

impl ReaderPool {
    pub(super) fn new(settings: ReaderSettings) -> Self {
        Self { settings, state: Mutex::default(), freed: Condvar::new() }
    }

    pub(super) fn settings(&self) -> &ReaderSettings {
        &self.settings
    }

    /// Lends a child, a new one if `fresh`. Waits while all of them are lent.
    ///
    /// # Errors
    /// A child is needed and cannot be started.
    pub(super) fn lend(&self, fresh: bool) -> Result<LentChild<'_>, StartFailure> {
        let mut state = self.state.lock();
        let old = loop {
            match state.idle.pop() {
                Some(child) if !fresh => return Ok(LentChild { pool: self, child: Some(child) }),
                Some(child) if state.live >= self.settings.processes.workers => break Some(child),
                child => state.idle.extend(child),
            }
            if state.live < self.settings.processes.workers {
                state.live += 1;
                break None;
            }
            self.freed.wait(&mut state);
        };
        let has_started = state.has_started;
        drop(state);
        // From here on, the place counts as taken until this is dropped.
        let mut lent = LentChild { pool: self, child: None };
        drop(old);
        lent.child = Some(ReaderChild::start(&self.settings, self.starting(has_started))?);
        self.state.lock().has_started = true;
        Ok(lent)
    }

    /// How long a child may take to make a reader. Once a reader of our own could be made, a slow one waits for a service, and
    /// is given up before the stream gives the record up.
    fn starting(&self, has_started: bool) -> Duration {
        let Self { settings, .. } = self;
        if has_started && settings.code.is_own() { settings.processes.read_timeout.min(STARTING) } else { STARTING }
    }

    /// The process ids of the children that wait.
    #[cfg(test)]
    pub(super) fn idle(&self) -> Vec<rustix::process::Pid> {
        self.state.lock().idle.iter().map(ReaderChild::pid).collect()
    }
}

impl LentChild<'_> {
    /// The child.
    pub(super) fn child(&mut self) -> &mut ReaderChild {
        self.child.as_mut().expect("it is lent until it is given back")
    }

    /// Lets others have it.
    pub(super) fn give_back(mut self) {
        let Some(child) = self.child.take() else { return };
        self.pool.state.lock().idle.push(child);
        self.pool.freed.notify_one();
        // It still lives.
        std::mem::forget(self);
    }
}

impl Drop for LentChild<'_> {
    fn drop(&mut self) {
        drop(self.child.take());
        self.pool.state.lock().live -= 1;
        self.pool.freed.notify_one();
    }
}
