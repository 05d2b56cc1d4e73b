//! Snapshots of a run: what is open in one, and whether a ledger can go to it (semantics rules 22 and 23).

use std::ops::Range;

use forebay_plan::{MAX_EPOCH, Plan, differences};
use forebay_proto::v1::{AckItem, Cause, EpochTally, OpenRange, Snapshot, ack_item::Kind};

use super::account::{EpochTallies, PositionOutcome};
use super::leases::{Leases, Spans, positions, receipt_range};
use super::steps::{NamedPlaces, StepReceipt};
use super::terms::Terms;
use crate::error::LedgerError;

/// Layout of `Snapshot`. Version 1, which has no causes and no positions without a record, is read as well.
const VERSION: u32 = 2;

/// What is open of a run, and what was counted, while receipts are added that the ledger does not have.
pub(super) struct SnapshotDraft {
    open: Vec<SnapshotLease>,
    tallies: EpochTallies,
}

/// Positions of one lease, out or returned, on their way into a snapshot.
struct SnapshotLease {
    lease: u64,
    lease_start: u64,
    epoch: u64,
    deaths: u32,
    cause: Cause,
    spans: Spans,
}

impl SnapshotDraft {
    pub(super) fn of(leases: &Leases, tallies: &EpochTallies) -> Self {
        let out = leases.iter().map(|held| SnapshotLease {
            lease: held.lease.id,
            lease_start: held.lease.start,
            epoch: held.lease.epoch,
            deaths: held.lease.deaths,
            cause: Cause::Unseen,
            spans: held.open.clone(),
        });
        let back = leases.unleased().map(|back| SnapshotLease {
            lease: back.lease,
            lease_start: back.lease_start,
            epoch: back.epoch,
            deaths: back.deaths,
            cause: back.cause,
            spans: Spans::of(back.start..back.end),
        });
        Self { open: out.chain(back).collect(), tallies: tallies.clone() }
    }

    /// Counts a receipt. One whose positions are complete already counts already, and one of which a part went to others counts for
    /// nothing: its sum is of the whole. `named` is about steps of classes.
    pub(super) fn consume(&mut self, plan: &Plan, item: &AckItem, named: &NamedPlaces<'_>) -> Result<(), LedgerError> {
        let wrong = || {
            LedgerError::Invalid(format!(
                "The receipt of lease {} contradicts itself: its range and its count must agree.",
                item.lease
            ))
        };
        let has_classes = plan.classes().is_some();
        let range = if has_classes { item.range } else { receipt_range(item) }.ok_or_else(wrong)?;
        let mut parts = Vec::new();
        let of_lease = self.open.iter().enumerate().filter(|(_, open)| item.lease != 0 && open.lease == item.lease);
        for (index, open) in of_lease {
            let wanted = positions(open.lease_start, &range).ok_or_else(wrong)?;
            let inside = open.spans.iter().map(|span| span.start.max(wanted.start)..span.end.min(wanted.end));
            parts.extend(inside.filter(|part| !part.is_empty()).map(|part| (index, part)));
        }
        let there: u64 = parts.iter().map(|(_, part)| part.end - part.start).sum();
        let Some(&(first, _)) = parts.first().filter(|_| there == range.end - range.start) else { return Ok(()) };
        let epoch = self.open[first].epoch;
        if has_classes {
            let place = (epoch, self.open[first].lease_start);
            let steps = StepReceipt::read(plan, place, item, named).ok_or_else(wrong)?;
            for (index, part) in &parts {
                self.open[*index].spans.cut(part);
            }
            self.tallies.of(epoch).add_steps(plan, epoch, item, &steps);
            return Ok(());
        }
        let (order, tallies) = (plan.epoch(epoch), self.tallies.of(epoch));
        let is_bare = item.kind() == Kind::Bare;
        let outcome = if is_bare { PositionOutcome::Quarantined } else { PositionOutcome::of_receipt(item.kind()) };
        if !is_bare {
            tallies.add(item);
        }
        for (index, part) in parts {
            self.open[index].spans.remove(&part);
            tallies.count(plan, epoch, &part, outcome);
            if is_bare {
                tallies.quarantined += part.filter_map(|position| order.own(position)).collect();
            }
        }
        Ok(())
    }

    /// What a snapshot says of it. All epochs below `floor` are complete.
    pub(super) fn finish(self, floor: u64) -> Snapshot {
        let ranges = |open: &SnapshotLease| -> Vec<OpenRange> {
            let range = |span: Range<u64>| OpenRange {
                epoch: open.epoch,
                start: span.start,
                end: span.end,
                deaths: open.deaths,
                cause: open.cause.into(),
            };
            open.spans.iter().map(range).collect()
        };
        let mut open: Vec<OpenRange> = self.open.iter().flat_map(ranges).collect();
        open.sort_by_key(|range| (range.epoch, range.start));
        let tallies = self.tallies.range(floor..).map(|(&epoch, tallies)| tallies.message(epoch)).collect();
        Snapshot { version: VERSION, open, tallies, ..Snapshot::default() }
    }
}

/// Whether a snapshot is of this dataset and order.
pub(super) fn check_origin(terms: &Terms, snapshot: &Snapshot) -> Result<(), LedgerError> {
    if !(1..=VERSION).contains(&snapshot.version) {
        return Err(LedgerError::Invalid(format!(
            "The snapshot has version {}; this build reads versions 1 to {VERSION}. Load it with the build that \
             made it, or a later one.",
            snapshot.version
        )));
    }
    if snapshot.spec_hash != *terms.spec_hash() {
        let words = snapshot.spec.as_ref().map(|spec| differences(spec, terms.plan().spec())).unwrap_or_default();
        return Err(LedgerError::SpecMismatch(format!(
            "The snapshot was taken of another dataset or order: {}. Load it where these are the same.",
            if words.is_empty() { "its spec hash differs" } else { &words }
        )));
    }
    Ok(())
}

/// Whether a snapshot's positions are some that this ledger can have, if its generation `is_possible`.
pub(super) fn check_ranges(terms: &Terms, snapshot: &Snapshot, is_possible: bool) -> Result<(), LedgerError> {
    let invalid = |text: String| Err(LedgerError::Invalid(text));
    let (epoch, cursor) = (snapshot.epoch, snapshot.cursor);
    let ends = |of: u64| if of == epoch { cursor } else { terms.plan().epoch_len(of) };
    let is_outside = cursor > terms.plan().epoch_len(epoch) || !terms.plan().is_of_whole_steps(&(0..cursor));
    if epoch >= MAX_EPOCH || !is_possible || is_outside {
        return invalid(format!("The snapshot's cursor, epoch {epoch} position {cursor}, is outside of the dataset."));
    }
    let mut last = (0, 0);
    for open in &snapshot.open {
        let fits = open.start < open.end
            && (open.epoch, open.start) >= last
            && open.epoch <= epoch
            && open.epoch + 1 >= epoch
            && open.end <= ends(open.epoch)
            && terms.plan().is_of_whole_steps(&(open.start..open.end));
        if !fits {
            return invalid(format!(
                "The snapshot's open range {}..{} of epoch {} does not fit its cursor, epoch {epoch} position \
                 {cursor}, or the range before it.",
                open.start, open.end, open.epoch
            ));
        }
        last = (open.epoch, open.end);
    }
    let near = |tally: &EpochTally| tally.epoch <= epoch && tally.epoch + 1 >= epoch;
    if !snapshot.tallies.iter().all(near) || !snapshot.tallies.is_sorted_by_key(|tally| tally.epoch) {
        return invalid(format!("The snapshot's tallies do not fit its cursor, epoch {epoch} position {cursor}."));
    }
    Ok(())
}
