//! When tasks were given and named, and which of them take too long.

use std::collections::{BTreeMap, BTreeSet};

use crate::ledger::Times;

/// How often tasks that take too long are looked for, in milliseconds.
const LOOK: u64 = 250;

/// The times of the tasks that are out, by their leases, in milliseconds. They are not stored: after a restart, tasks have
/// their full time again, and their workers may not have received them.
#[derive(Clone, Debug)]
pub(super) struct TaskTimes {
    /// When each task was given.
    given: BTreeMap<u64, u64>,
    /// When a heartbeat last named each lease of a worker that sends them.
    named: BTreeMap<u64, u64>,
    loaded: u64,
    looked: u64,
    timeout: u64,
    /// How long a task lasts that no heartbeat names, of a worker that sends them.
    lease_ttl: u64,
}

/// Why a task goes to another worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lateness {
    /// Its worker sends heartbeats, and none has named it for this time.
    Silent(u64),
    /// It was not reported within this time.
    Slow(u64),
}

impl TaskTimes {
    pub(super) const fn new(times: Times, now: u64) -> Self {
        Self {
            given: BTreeMap::new(),
            named: BTreeMap::new(),
            loaded: now,
            looked: 0,
            timeout: times.task,
            lease_ttl: times.lease_ttl,
        }
    }

    /// A task is given. If it was given before, its time has begun then.
    pub(super) fn give(&mut self, lease: u64, now: u64) {
        self.given.entry(lease).or_insert(now);
    }

    /// A task is given again, and has its whole time.
    pub(super) fn give_again(&mut self, lease: u64, now: u64) {
        self.given.insert(lease, now);
    }

    /// Whether it was given since the last restart.
    pub(super) fn knows_when_given(&self, lease: u64) -> bool {
        self.given.contains_key(&lease)
    }

    /// A heartbeat of the worker that has these leases has named them.
    pub(super) fn heard(&mut self, leases: impl Iterator<Item = u64>, now: u64) {
        self.named.extend(leases.map(|lease| (lease, now)));
    }

    /// A task is out no more. Returns how long it was, unless it was given before a restart.
    pub(super) fn end(&mut self, lease: u64, now: u64) -> Option<u64> {
        self.given.remove(&lease).map(|given| now.saturating_sub(given))
    }

    /// Whether it is time to look for tasks that take too long. True only once in a while.
    pub(super) const fn looks(&mut self, now: u64) -> bool {
        let is_due = now >= self.looked.saturating_add(LOOK);
        if is_due {
            self.looked = now;
        }
        is_due
    }

    /// Whether a task takes too long. `slowest` is the time of the slowest one so far.
    pub(super) fn lateness(&self, lease: u64, sends_heartbeats: bool, slowest: u64, now: u64) -> Option<Lateness> {
        let longest = self.longest(slowest);
        // Of tasks from before a restart, the time begins with it.
        let since = self.given.get(&lease).copied().unwrap_or(self.loaded);
        let named = self.named.get(&lease).copied().unwrap_or(since);
        if now.saturating_sub(named) >= self.lease_ttl && sends_heartbeats {
            Some(Lateness::Silent(self.lease_ttl))
        } else {
            (now.saturating_sub(since) >= longest).then_some(Lateness::Slow(longest))
        }
    }

    /// How long a task may take.
    fn longest(&self, slowest: u64) -> u64 {
        self.timeout.max(slowest.saturating_mul(3))
    }

    /// Whether others may need more time after a task that took this long.
    pub(super) const fn is_remarkable(&self, took: u64) -> bool {
        took.saturating_mul(3) > self.timeout
    }

    /// After how long a worker with a task counts as gone.
    pub(super) fn gone_after(&self, sends_heartbeats: bool, slowest: u64) -> u64 {
        if sends_heartbeats { self.lease_ttl } else { self.longest(slowest) }
    }

    /// Forgets what is about none of these leases, which are out.
    pub(super) fn keep(&mut self, out: &BTreeSet<u64>) {
        self.given.retain(|lease, _| out.contains(lease));
        self.named.retain(|lease, _| out.contains(lease));
    }

    /// No task is valid any more.
    pub(super) fn forget_all(&mut self) {
        self.given.clear();
        self.named.clear();
    }
}

impl Lateness {
    /// Says in the log why a task of this worker goes to another one.
    pub(super) fn tell(self, dataset: &str, worker: &str, task: Option<i32>) {
        match self {
            Self::Silent(silent) => {
                tracing::warn!(dataset, worker, task, silent, "a worker is silent: another worker gets its task");
            }
            Self::Slow(longest) => tracing::warn!(
                dataset,
                worker,
                task,
                longest,
                "a task was not reported in time: another worker gets it"
            ),
        }
    }
}
