//! How many positions a step of a class has. The ledger takes whole steps only, and a batch that is a step has a claim for each run
//! of positions that it shows or does not show (semantics rule 62). So they are put together before the ledger hears of them.

use std::num::NonZeroU64;

use forebay_plan::step_positions;
use forebay_proto::v1::{AckItem, LedgerSpec, TakeSnapshotRequest};
use forebay_ring::FIRST_WITH_SIZES;

use crate::lease_range::LeaseRange;

/// Positions of a step in a lease. None where steps have no classes: then each claim is told by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StepLength(Option<NonZeroU64>);

impl StepLength {
    /// That of a ledger.
    pub(crate) fn of(spec: Option<&LedgerSpec>) -> Self {
        Self(spec.and_then(step_positions))
    }

    /// Why a trainer that speaks this version of the protocol cannot read the stream: its batches have pictures of sizes of their
    /// own, which the version has no word for.
    pub(crate) fn refusal(self, stream: &str, protocol: u32) -> Option<String> {
        self.0.filter(|_| protocol < FIRST_WITH_SIZES)?;
        Some(format!(
            "the batches of stream {stream:?} have pictures of different sizes, which version {protocol} of the protocol cannot say; \
             upgrade Forebay on the trainer's side to one that speaks version {FIRST_WITH_SIZES}"
        ))
    }

    /// Puts the ranges of each step together. Each lease begins with a step. Ranges that are not next to each other stay apart, and
    /// the ledger refuses them.
    pub(crate) fn put_together(self, ranges: impl Iterator<Item = LeaseRange>) -> Vec<LeaseRange> {
        let Some(step) = self.0 else { return ranges.collect() };
        let mut ranges: Vec<LeaseRange> = ranges.collect();
        ranges.iter_mut().filter(|range| range.is_bare).for_each(|bare| bare.unseen.push(bare.start..bare.end));
        ranges.sort_by_key(|range| (range.lease, range.start));
        let mut whole: Vec<LeaseRange> = Vec::with_capacity(1);
        for range in ranges {
            match whole.last_mut() {
                Some(last)
                    if (last.lease, last.end) == (range.lease, range.start)
                        && last.start / step == range.start / step =>
                {
                    last.append(range);
                }
                _ => whole.push(range),
            }
        }
        whole
    }

    /// What a state is to count as consumed, from the receipts of a trainer.
    pub(crate) fn consumed(self, consumed: Vec<AckItem>) -> TakeSnapshotRequest {
        if self.0.is_none() {
            return TakeSnapshotRequest { consumed, ..TakeSnapshotRequest::default() };
        }
        let ranges = self.put_together(consumed.iter().map(LeaseRange::in_hand));
        let consumed = ranges.iter().map(LeaseRange::receipt).collect();
        let bare = ranges.iter().flat_map(LeaseRange::unseen).collect();
        TakeSnapshotRequest { consumed, bare, ..TakeSnapshotRequest::default() }
    }
}

#[cfg(test)]
mod tests;
