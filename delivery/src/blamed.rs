//! Leases that a daemon had when it died. The ledger is told when records of them are in a finished batch: a later death is then
//! not blamed on these (semantics rule 9).

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use forebay_proto::RecordSum;
use forebay_proto::v1::{AckItem, Lease};
use forebay_ring::Claim;
use parking_lot::Mutex;

use crate::lease_range::LeaseRange;
use crate::step_length::StepLength;

/// See the module. Mostly there are none.
#[derive(Debug, Default)]
pub(crate) struct BlamedLeases {
    steps: StepLength,
    /// With their epochs.
    leases: Mutex<HashMap<u64, u64>>,
    /// How many they are: every batch asks, and takes no lock for it.
    count: AtomicUsize,
}

impl BlamedLeases {
    /// None yet, of a stream with steps of this length.
    pub(crate) fn new(steps: StepLength) -> Self {
        Self { steps, ..Self::default() }
    }

    /// Takes those of new leases that a daemon died with.
    pub(crate) fn note(&self, leases: &[Lease]) {
        let mut blamed = leases.iter().filter(|lease| lease.deaths > 0).map(|lease| (lease.id, lease.epoch)).peekable();
        if blamed.peek().is_some() {
            self.change(|known| known.extend(blamed));
        }
    }

    /// What the ledger is to know of a finished batch with these claims.
    pub(crate) fn finished(&self, claims: &[Claim]) -> Vec<AckItem> {
        if self.is_empty() {
            return Vec::new();
        }
        let leases = self.leases.lock();
        let blamed = claims.iter().filter(|claim| leases.contains_key(&claim.lease));
        let ranges = self.steps.put_together(blamed.map(|claim| LeaseRange::of(claim, RecordSum::default())));
        ranges.iter().map(LeaseRange::finished).collect()
    }

    /// Forgets the leases of the epochs below `floor`, which are complete.
    pub(crate) fn completed(&self, floor: u64) {
        if !self.is_empty() {
            self.change(|known| known.retain(|_, epoch| *epoch >= floor));
        }
    }

    /// Forgets every lease: a restore has ended them.
    pub(crate) fn clear(&self) {
        self.change(HashMap::clear);
    }

    /// A lease is noted before its records are read, so that a batch with them finds it counted.
    fn is_empty(&self) -> bool {
        self.count.load(Ordering::Relaxed) == 0
    }

    fn change<T>(&self, change: impl FnOnce(&mut HashMap<u64, u64>) -> T) -> T {
        let mut leases = self.leases.lock();
        let changed = change(&mut leases);
        self.count.store(leases.len(), Ordering::Relaxed);
        changed
    }
}

#[cfg(test)]
mod tests {
    use forebay_proto::v1::Range;
    use forebay_proto::v1::ack_item::Kind;

    use super::*;

    #[test]
    fn rule_9_the_ledger_is_told_of_each_finished_batch_with_records_that_a_daemon_died_with() {
        let blamed = BlamedLeases::default();
        let lease = |id, epoch, deaths| Lease { id, epoch, start: 4, end: 12, deaths, ..Lease::default() };
        blamed.note(&[lease(1, 0, 2), lease(2, 0, 0), lease(3, 1, 1)]);
        let told = |claims: &[Claim]| -> Vec<_> {
            blamed.finished(claims).iter().map(|item| (item.lease, item.kind(), item.range)).collect()
        };
        let claims = [1, 2, 3].map(|lease| Claim::new(lease, 0, 2));
        let range = |start, end| Some(Range { start, end });
        assert_eq!(told(&claims), [(1, Kind::Finished, range(0, 2)), (3, Kind::Finished, range(0, 2))]);
        assert_eq!(told(&[Claim::new(1, 2, 3)]), [(1, Kind::Finished, range(2, 5))], "the rest of it");
        blamed.completed(1);
        assert_eq!(told(&claims), [(3, Kind::Finished, range(0, 2))]);
        blamed.clear();
        assert_eq!(told(&claims), []);
    }
}
