//! Records that are alone in their lease after a daemon's death, and so may have caused it (semantics rule 9). The
//! ledger is told when such a record is in a finished batch. A later death of the daemon is then not blamed on it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use forebay_proto::v1::{AckItem, Lease};
use forebay_ring::Claim;
use parking_lot::Mutex;

use crate::receipt::finished;

/// Leases of suspect records that are not finished yet. Mostly there are none.
#[derive(Debug, Default)]
pub(crate) struct Suspects {
    /// With their epochs.
    leases: Mutex<HashMap<u64, u64>>,
    /// How many they are: every batch asks, and takes no lock for it.
    count: AtomicUsize,
}

impl Suspects {
    /// Takes those of new leases that are suspect.
    pub(crate) fn note(&self, leases: &[Lease]) {
        let suspect = |lease: &&Lease| lease.deaths > 0 && lease.end.saturating_sub(lease.start) == 1;
        let mut suspects = leases.iter().filter(suspect).map(|lease| (lease.id, lease.epoch)).peekable();
        if suspects.peek().is_some() {
            self.change(|known| known.extend(suspects));
        }
    }

    /// What the ledger is to know of a finished batch with these claims; each record once.
    pub(crate) fn finished(&self, claims: &[Claim]) -> Vec<AckItem> {
        if self.is_empty() {
            return Vec::new();
        }
        self.change(|known| claims.iter().filter(|claim| known.remove(&claim.lease).is_some()).map(finished).collect())
    }

    /// Forgets leases that were given back, or whose record is bad.
    pub(crate) fn ended(&self, leases: impl IntoIterator<Item = u64>) {
        if !self.is_empty() {
            self.change(|known| {
                for lease in leases {
                    known.remove(&lease);
                }
            });
        }
    }

    /// Forgets the leases of the epochs below `floor`, which are complete: others had those that were lost.
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
    fn rule_9_a_suspect_record_is_told_once_when_its_batch_is_finished() {
        let suspects = Suspects::default();
        let lease = |id, end, deaths| Lease { id, epoch: 0, start: 4, end, deaths, ..Lease::default() };
        suspects.note(&[lease(1, 5, 2), lease(2, 5, 0), lease(3, 12, 2)]);
        let claims = [1, 2, 3].map(|lease| Claim::new(lease, 0, 1));
        let told: Vec<_> =
            suspects.finished(&claims).iter().map(|item| (item.lease, item.kind(), item.range)).collect();
        assert_eq!(told, [(1, Kind::Finished, Some(Range { start: 0, end: 1 }))]);
        assert_eq!(suspects.finished(&claims), []);
    }

    #[test]
    fn a_lease_that_ends_otherwise_is_no_suspect_any_more() {
        let suspects = Suspects::default();
        let lease = |id, epoch| Lease { id, epoch, start: 4, end: 5, deaths: 2, ..Lease::default() };
        suspects.note(&[lease(1, 0), lease(2, 1), lease(3, 1), lease(4, 1)]);
        suspects.completed(1);
        suspects.ended([2]);
        let told = suspects.finished(&[1, 2, 3].map(|lease| Claim::new(lease, 0, 1)));
        assert_eq!(told.iter().map(|item| item.lease).collect::<Vec<_>>(), [3]);
        suspects.clear();
        assert_eq!(suspects.finished(&[Claim::new(4, 0, 1)]), []);
        assert!(suspects.is_empty());
    }
}
