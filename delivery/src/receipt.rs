//! The outcome of claims in the form for the ledger: delivered, dropped, or without a record.

use forebay_proto::v1::{AckItem, GroupKey, GroupReceipt};
use forebay_proto::{RecordSum, Turn};
use forebay_ring::Claim;

use crate::lease_range::LeaseRange;

/// Positions as receipts of records that policy dropped. Each has its lease, its offset there, and what was read.
pub fn dropped(positions: impl IntoIterator<Item = (u64, u64, Turn)>) -> Vec<AckItem> {
    let mut items: Vec<(Claim, RecordSum)> = Vec::new();
    for (lease, offset, turn) in positions {
        match items.last_mut() {
            Some((claim, sum)) if (claim.lease, claim.end()) == (lease, offset) => {
                claim.len += 1;
                sum.add(turn.key());
            }
            _ => items.push((Claim::new(lease, offset, 1), std::iter::once(turn).collect())),
        }
    }
    items.into_iter().map(|(claim, sum)| LeaseRange::of(&claim, sum).dropped()).collect()
}

/// The receipt of a claim, with the sum over the records that were seen of it.
pub fn receipt(claim: &Claim, sum: RecordSum) -> AckItem {
    LeaseRange::of(claim, sum).receipt()
}

/// That a group has consumed a claim of a batch, with the sum over the records that its trainer saw.
pub(crate) fn group_receipt(group: &GroupKey, batch: u64, item: AckItem) -> GroupReceipt {
    GroupReceipt { group: Some(group.clone()), batch, item: Some(item) }
}
