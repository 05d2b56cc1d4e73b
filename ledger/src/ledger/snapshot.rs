//! Snapshots of a run and going back to one (semantics rules 22 and 23).

use std::collections::{BTreeMap, BTreeSet};

use forebay_plan::{MAX_EPOCH, Plan, differences};
use forebay_proto::v1::{
    AckItem, Cause, EpochPosition, EpochTally, OpenRange, RestoreReply, Snapshot, TakeSnapshotReply, UnsummedRange,
    ack_item::Kind,
};

use super::{
    Ledger, ReturnedPositions, Spans,
    receipts::receipt_range,
    returned::positions,
    step,
    tallies::{EpochTallies, PositionFate, Tallies},
    worker_index::WorkerIndex,
};
use crate::error::LedgerError;

/// Layout of `Snapshot`. Version 1, which has no causes and no positions without a record, is read as well.
const VERSION: u32 = 2;

/// Positions of one lease, out or returned, on their way into a snapshot.
struct SnapshotLease {
    lease: u64,
    lease_start: u64,
    epoch: u64,
    deaths: u32,
    cause: Cause,
    spans: Spans,
}

impl Ledger {
    /// The run's state in O(outstanding), in which `consumed` counts as delivered. The ledger stays as it is.
    pub(crate) fn take_snapshot(&mut self, consumed: &[AckItem]) -> Result<TakeSnapshotReply, LedgerError> {
        let progress = self.progress();
        let mut open: Vec<SnapshotLease> = self
            .workers
            .values()
            .flat_map(|worker| worker.leases.iter())
            .map(|(&id, held)| SnapshotLease {
                lease: id,
                lease_start: held.lease.start,
                epoch: held.lease.epoch,
                deaths: held.lease.deaths,
                cause: Cause::Unseen,
                spans: held.open.clone(),
            })
            .collect();
        open.extend(self.unleased().map(|back| SnapshotLease {
            lease: back.lease,
            lease_start: back.lease_start,
            epoch: back.epoch,
            deaths: back.deaths,
            cause: back.cause,
            spans: Spans::of(back.start..back.end),
        }));
        let mut tallies = self.tallies.clone();
        for item in consumed {
            consume(&self.plan, &mut open, &mut tallies, item)?;
        }
        let mut ranges: Vec<OpenRange> = open
            .iter()
            .flat_map(|open| {
                let range = |span: std::ops::Range<u64>| OpenRange {
                    epoch: open.epoch,
                    start: span.start,
                    end: span.end,
                    deaths: open.deaths,
                    cause: open.cause.into(),
                };
                open.spans.iter().map(range)
            })
            .collect();
        ranges.sort_by_key(|range| (range.epoch, range.start));
        let mut snapshot = Snapshot {
            version: VERSION,
            spec_hash: self.spec_hash.to_vec(),
            spec: Some(self.plan.spec().clone()),
            shard_size: self.shard_size,
            epoch: self.cursor_epoch,
            cursor: self.cursor,
            open: ranges,
            generation: self.generation,
            ack_sequence: self.acks,
            tallies: tallies.range(progress.floor..).map(|(&epoch, tallies)| tallies.message(epoch)).collect(),
        };
        self.settle_state(&mut snapshot);
        let snapshot = match self.plan.spec().lockstep {
            Some(rank) => step::of_run(&self.plan, rank, snapshot),
            None => snapshot,
        };
        Ok(TakeSnapshotReply { snapshot: Some(snapshot) })
    }

    /// Goes back, or ahead, to a snapshot. What was outstanding in it is leased again; all older leases are fenced. In lockstep,
    /// the account of the ledger goes on there if it `continues`, and otherwise begins there.
    pub(crate) fn restore(&mut self, snapshot: &Snapshot, continues: bool) -> Result<RestoreReply, LedgerError> {
        self.check_origin(snapshot)?;
        let of_rank = self.plan.spec().lockstep.map(|rank| step::of_rank(&self.plan, rank, snapshot)).transpose()?;
        let mut snapshot = of_rank.clone().unwrap_or_else(|| snapshot.clone());
        self.check_ranges(&snapshot)?;
        self.settle_state(&mut snapshot);
        let first = snapshot.open.first().map_or(snapshot.epoch, |open| open.epoch.min(snapshot.epoch));
        let at = EpochPosition { epoch: snapshot.epoch, position: snapshot.cursor };
        match &of_rank {
            Some(_) if continues => self.cut(at),
            Some(_) => self.begin_anew(at),
            None => self.take_tallies(&snapshot, first),
        }
        self.drop_positions();
        self.forget_shares();
        for open in &snapshot.open {
            self.insert_returned(ReturnedPositions {
                deaths: open.deaths,
                cause: open.cause(),
                ..ReturnedPositions::unleased(open.epoch, open.start..open.end)
            });
        }
        (self.cursor_epoch, self.cursor) = (snapshot.epoch, snapshot.cursor);
        if snapshot.version == 1 {
            self.owe_padding();
        }
        self.generation = self.generation.max(snapshot.generation) + 1;
        self.acks = snapshot.ack_sequence;
        self.forget_quarantine_of_open(first);
        self.go_on_after_failure();
        self.touch();
        let (progress, failure) = (Some(self.progress()), Some(self.failure.clone()));
        Ok(RestoreReply { progress, failure, ..RestoreReply::default() })
    }

    /// Counts go on from the snapshot's. Of the ledger's own only those of epochs stay that are complete here and in the
    /// snapshot, whose first other one is `first`: what this run had of an epoch, and the snapshot had more of, is
    /// nobody's account any more. An epoch that only the snapshot had seen the end of has no tally.
    fn take_tallies(&mut self, snapshot: &Snapshot, first: u64) {
        let mut stale: Vec<u64> = self.tallies.keys().copied().collect();
        stale.retain(|&epoch| epoch >= first || !self.is_complete(epoch));
        for epoch in stale {
            self.tallies.remove(epoch);
            self.dirty.epochs.insert(epoch);
        }
        for tally in &snapshot.tallies {
            // States of ranks have no tallies.
            let records = self.plan.epoch_records(tally.epoch);
            let is_own = |range: &UnsummedRange| {
                range.abandoned && range.world_size == 0 && range.start < range.end && range.end <= records
            };
            let unsummed = tally.unsummed.iter().copied().filter(is_own).collect();
            *self.tally(tally.epoch) = Tallies::from_message(&EpochTally { unsummed, ..tally.clone() });
        }
    }

    /// Nobody has a position any more, and no receipt is awaited.
    pub(super) fn drop_positions(&mut self) {
        for (name, worker) in &mut self.workers {
            let had_leases = !std::mem::take(&mut worker.leases).is_empty();
            if worker.expired.forget() || had_leases {
                self.dirty.workers.insert(name.clone());
            }
        }
        self.index = WorkerIndex::of(&self.workers);
        for unleased in [&mut self.returned, &mut self.tails, &mut self.abandoned.0] {
            unleased.clear();
        }
    }

    /// Version 1 knew of no positions without a record. An epoch of which a record is open, and whose end was leased,
    /// owes its last one too: batches go out in order.
    pub(super) fn owe_padding(&mut self) {
        for epoch in self.first_open().unwrap_or(self.cursor_epoch)..self.cursor_epoch {
            let bare = self.plan.epoch_records(epoch)..self.plan.epoch_len(epoch);
            self.insert_returned(ReturnedPositions::unleased(epoch, bare));
        }
    }

    /// Records that will be read again are no longer listed as bad.
    fn forget_quarantine_of_open(&mut self, first: u64) {
        let mut listed: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
        for &(epoch, record) in self.quarantine.range((first, 0)..).map(|(key, _)| key) {
            listed.entry(epoch).or_default().insert(record);
        }
        for (epoch, records) in listed {
            let open = |position: u64| {
                (epoch, position) >= (self.cursor_epoch, self.cursor)
                    || self.unleased().any(|b| b.epoch == epoch && (b.start..b.end).contains(&position))
            };
            // A record that has been read, and will be read once more, is listed again then.
            let (mut read, mut again) = (BTreeSet::new(), BTreeSet::new());
            self.plan.epoch(epoch).visit_positions(&records, |record, position| {
                read.insert(record);
                if open(position) {
                    again.insert(record);
                }
            });
            for record in records.into_iter().filter(|record| !read.contains(record) || again.contains(record)) {
                self.quarantine.remove(&(epoch, record));
                self.dirty.quarantine.insert((epoch, record));
            }
        }
        self.dirty.bad.extend(self.bad.unlisted());
        self.bad = self.quarantine.keys().map(|(_, record)| *record).collect();
    }

    /// Whether it is of this dataset and order.
    fn check_origin(&self, snapshot: &Snapshot) -> Result<(), LedgerError> {
        if !(1..=VERSION).contains(&snapshot.version) {
            return Err(LedgerError::Invalid(format!(
                "The snapshot has version {}; this build reads versions 1 to {VERSION}. Load it with the build that \
                 made it, or a later one.",
                snapshot.version
            )));
        }
        if snapshot.spec_hash != self.spec_hash {
            let words = snapshot.spec.as_ref().map(|spec| differences(spec, self.plan.spec())).unwrap_or_default();
            return Err(LedgerError::SpecMismatch(format!(
                "The snapshot was taken of another dataset or order: {}. Load it where these are the same.",
                if words.is_empty() { "its spec hash differs" } else { &words }
            )));
        }
        Ok(())
    }

    /// Whether its positions are some that this ledger can have.
    fn check_ranges(&self, snapshot: &Snapshot) -> Result<(), LedgerError> {
        let invalid = |text: String| Err(LedgerError::Invalid(text));
        let (epoch, cursor) = (snapshot.epoch, snapshot.cursor);
        let ends = |of: u64| if of == epoch { cursor } else { self.plan.epoch_len(of) };
        // What is stored next must be possible too, or no coordinator could read it.
        let generation = self.generation.max(snapshot.generation);
        if epoch >= MAX_EPOCH || generation >= MAX_EPOCH || cursor > self.plan.epoch_len(epoch) {
            return invalid(format!(
                "The snapshot's cursor, epoch {epoch} position {cursor}, is outside of the dataset."
            ));
        }
        let mut last = (0, 0);
        for open in &snapshot.open {
            let fits = open.start < open.end
                && (open.epoch, open.start) >= last
                && open.epoch <= epoch
                && open.epoch + 1 >= epoch
                && open.end <= ends(open.epoch);
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
}

/// Counts a receipt in a snapshot. One whose positions are complete already counts already, and one of which a part
/// went to others counts for nothing: its sum is of the whole.
fn consume(
    plan: &Plan,
    open: &mut [SnapshotLease],
    tallies: &mut EpochTallies,
    item: &AckItem,
) -> Result<(), LedgerError> {
    let wrong = || {
        LedgerError::Invalid(format!(
            "The receipt of lease {} contradicts itself: its range and its count must agree.",
            item.lease
        ))
    };
    let range = receipt_range(item).ok_or_else(wrong)?;
    let mut parts = Vec::new();
    for (index, open) in open.iter().enumerate().filter(|(_, open)| item.lease != 0 && open.lease == item.lease) {
        let wanted = positions(open.lease_start, &range).ok_or_else(wrong)?;
        let inside = open.spans.iter().map(|span| span.start.max(wanted.start)..span.end.min(wanted.end));
        parts.extend(inside.filter(|part| !part.is_empty()).map(|part| (index, part)));
    }
    let there: u64 = parts.iter().map(|(_, part)| part.end - part.start).sum();
    let Some(&(first, _)) = parts.first().filter(|_| there == range.end - range.start) else { return Ok(()) };
    let epoch = open[first].epoch;
    let (order, tallies) = (plan.epoch(epoch), tallies.of(epoch));
    let is_bare = item.kind() == Kind::Bare;
    let fate = if is_bare { PositionFate::Quarantined } else { PositionFate::of_receipt(item.kind()) };
    if !is_bare {
        tallies.add(item);
    }
    for (index, part) in parts {
        open[index].spans.remove(&part);
        tallies.count(plan, epoch, &part, fate);
        if is_bare {
            tallies.quarantined += part.filter_map(|position| order.own(position)).collect();
        }
    }
    Ok(())
}
