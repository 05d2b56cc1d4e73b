//! The times that a coordinator is started with.

use std::time::Duration;

use forebay_ledger::Times;
use forebay_proto::LEDGER_VERSION;

use super::millis;

/// Times of a coordinator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoordinatorSettings {
    /// A lease that no heartbeat names for this long is returned. Only time in which the coordinator served counts.
    pub lease_ttl: Duration,
    /// The leases of a dead incarnation are not granted to any worker for this long (semantics rule 16).
    pub grace: Duration,
    /// A task that its worker does not report for this long, or for three times as long as any task has taken, goes to
    /// another worker.
    pub task_timeout: Duration,
    /// The newest version of ledgers that it reads and writes: that of this build. Tests act as other builds by it.
    pub ledger_version: u32,
}

impl Default for CoordinatorSettings {
    fn default() -> Self {
        Self {
            lease_ttl: Duration::from_secs(30),
            grace: Duration::from_millis(800),
            task_timeout: Duration::from_secs(300),
            ledger_version: LEDGER_VERSION,
        }
    }
}

impl CoordinatorSettings {
    pub(super) fn times(&self) -> Times {
        Times { lease_ttl: millis(self.lease_ttl), grace: millis(self.grace), task: millis(self.task_timeout) }
    }
}
