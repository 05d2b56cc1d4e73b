//! The children of a dataset. Each is lent to one thread at a time. They are started when they are needed.

use parking_lot::{Condvar, Mutex};

use super::settings::ReaderSettings;
use super::worker::{StartFailure, Worker};

/// Children, at most as many as the settings allow.
#[derive(Debug)]
pub(super) struct WorkerPool {
    settings: ReaderSettings,
    state: Mutex<PoolState>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct PoolState {
    idle: Vec<Worker>,
    /// All that there are, lent ones too.
    live: usize,
}

/// A child that one thread has. Dropping it ends the child.
#[derive(Debug)]
pub(super) struct LentWorker<'a> {
    pool: &'a WorkerPool,
    /// `None` once it is given back.
    worker: Option<Worker>,
}

impl WorkerPool {
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
    pub(super) fn lend(&self, fresh: bool) -> Result<LentWorker<'_>, StartFailure> {
        let mut state = self.state.lock();
        let old = loop {
            match state.idle.pop() {
                Some(worker) if !fresh => return Ok(LentWorker { pool: self, worker: Some(worker) }),
                Some(worker) if state.live >= self.settings.workers => break Some(worker),
                worker => state.idle.extend(worker),
            }
            if state.live < self.settings.workers {
                state.live += 1;
                break None;
            }
            self.freed.wait(&mut state);
        };
        drop(state);
        // From here on, the place counts as taken until this is dropped.
        let mut lent = LentWorker { pool: self, worker: None };
        drop(old);
        lent.worker = Some(Worker::start(&self.settings)?);
        Ok(lent)
    }

    /// The process ids of the children that wait.
    #[cfg(test)]
    pub(super) fn idle(&self) -> Vec<rustix::process::Pid> {
        self.state.lock().idle.iter().map(Worker::pid).collect()
    }
}

impl LentWorker<'_> {
    /// The child.
    pub(super) fn worker(&mut self) -> &mut Worker {
        self.worker.as_mut().expect("it is lent until it is given back")
    }

    /// Lets others have it.
    pub(super) fn give_back(mut self) {
        let Some(worker) = self.worker.take() else { return };
        self.pool.state.lock().idle.push(worker);
        self.pool.freed.notify_one();
        // It still lives.
        std::mem::forget(self);
    }
}

impl Drop for LentWorker<'_> {
    fn drop(&mut self) {
        drop(self.worker.take());
        self.pool.state.lock().live -= 1;
        self.pool.freed.notify_one();
    }
}
