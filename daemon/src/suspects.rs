//! Records that are alone in their lease after a daemon's death, and so suspect of being its cause (semantics rule 9).
//! The ledger is told when one stands in a finished batch: whatever a daemon dies of after that, it is not this record.

use std::collections::HashSet;

use forebay_proto::v1::{AckItem, Lease};
use forebay_ring::Claim;
use parking_lot::Mutex;

use crate::publish::finished;

/// Leases of suspect records that are not finished yet. Mostly there are none.
#[derive(Debug, Default)]
pub struct Suspects(Mutex<HashSet<u64>>);

impl Suspects {
    /// Takes those of new leases that are suspect.
    pub fn note(&self, leases: &[Lease]) {
        let suspect = |lease: &&Lease| lease.deaths > 0 && lease.end.saturating_sub(lease.start) == 1;
        self.0.lock().extend(leases.iter().filter(suspect).map(|lease| lease.id));
    }

    /// What the ledger is to know of a finished batch with these claims; each record once.
    pub fn finished(&self, claims: &[Claim]) -> Vec<AckItem> {
        let mut suspects = self.0.lock();
        if suspects.is_empty() {
            return Vec::new();
        }
        claims.iter().filter(|claim| suspects.remove(&claim.lease)).map(finished).collect()
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
        let lease = |id, end, deaths| Lease { id, epoch: 0, start: 4, end, deaths };
        suspects.note(&[lease(1, 5, 2), lease(2, 5, 0), lease(3, 12, 2)]);
        let claims = [1, 2, 3].map(|lease| Claim::new(lease, 0, 1));
        let told: Vec<_> =
            suspects.finished(&claims).iter().map(|item| (item.lease, item.kind(), item.range)).collect();
        assert_eq!(told, [(1, Kind::Finished, Some(Range { start: 0, end: 1 }))]);
        assert_eq!(suspects.finished(&claims), []);
    }
}
