//! The counts of records that may have been seen twice, and their causes in words.

use crate::v1::{Cause, Repeats};

impl Repeats {
    /// Counts positions. If no trainer has seen them, they are no repetition.
    pub fn add(&mut self, cause: Cause, positions: u64) {
        let count = match cause {
            Cause::Unseen => return,
            Cause::DaemonDied => &mut self.daemon_died,
            Cause::LeaseExpired => &mut self.lease_expired,
            Cause::DaemonStopped => &mut self.daemon_stopped,
            Cause::TrainerEnded => &mut self.trainer_ended,
        };
        *count = count.saturating_add(positions);
    }

    /// Adds the counts of another ledger.
    pub fn add_all(&mut self, other: Self) {
        let Self { daemon_died, lease_expired, daemon_stopped, trainer_ended } = other;
        self.add(Cause::DaemonDied, daemon_died);
        self.add(Cause::LeaseExpired, lease_expired);
        self.add(Cause::DaemonStopped, daemon_stopped);
        self.add(Cause::TrainerEnded, trainer_ended);
    }

    /// Each cause with a key for programs, words that follow "repeated", and its count.
    pub const fn named(&self) -> [(&'static str, &'static str, u64); 4] {
        [
            ("daemon_died", "after a daemon died", self.daemon_died),
            ("lease_expired", "after a lease expired", self.lease_expired),
            ("daemon_stopped", "after a daemon stopped before its trainer was done", self.daemon_stopped),
            ("trainer_ended", "after a trainer ended", self.trainer_ended),
        ]
    }

    /// All causes together.
    pub fn total(&self) -> u64 {
        self.named().into_iter().fold(0, |sum, (.., count)| sum.saturating_add(count))
    }
}
