//! The outcome of claims in the form for the ledger: delivered, dropped, finished, or without a record.

use forebay_proto::v1::ack_item::Kind;
use forebay_proto::v1::{AckItem, GroupKey, GroupReceipt, Range};
use forebay_proto::{RecordSum, Turn};
use forebay_ring::Claim;

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
    items.into_iter().map(|(claim, sum)| item(&claim, sum, Kind::Dropped)).collect()
}

/// The receipt of a claim, with the sum over the records that were seen of it.
pub fn receipt(claim: &Claim, sum: RecordSum) -> AckItem {
    if claim.is_bare() {
        return item(claim, RecordSum::default(), Kind::Bare);
    }
    item(claim, sum, Kind::Delivered)
}

/// That a group has consumed a claim of a batch, with the sum over the records that its trainer saw.
pub(crate) fn group_receipt(group: &GroupKey, batch: u64, item: AckItem) -> GroupReceipt {
    GroupReceipt { group: Some(group.clone()), batch, item: Some(item) }
}

/// That a trainer ended without a receipt and may have seen a claim's records, which are offered again.
pub(crate) fn seen(claim: &Claim) -> AckItem {
    item(claim, RecordSum::default(), Kind::Seen)
}

/// That a claim's records are in a finished batch, which no trainer has yet.
pub(crate) fn finished(claim: &Claim) -> AckItem {
    item(claim, RecordSum::default(), Kind::Finished)
}

fn item(claim: &Claim, sum: RecordSum, kind: Kind) -> AckItem {
    let (sum_high, sum_low) = sum.halves();
    let range = Range { start: claim.start, end: claim.end() };
    AckItem { lease: claim.lease, range: Some(range), kind: kind.into(), count: sum.count, sum_high, sum_low }
}
