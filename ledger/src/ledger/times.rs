//! How long leases, tasks and what is kept for trainers last.

/// How long things last, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// A lease that no heartbeat names for this long is returned.
    pub lease_ttl: u64,
    /// What a dead incarnation had is not granted for this long, so that its consumers can hand in (rule 16).
    pub grace: u64,
    /// A task without a report for this long goes to another worker.
    pub task: u64,
}
