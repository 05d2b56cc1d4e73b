//! What became of an epoch's records, as counts and sums (semantics rule 24), and the list of quarantined ones.

use std::collections::BTreeMap;
use std::ops::Range;

use forebay_proto::{
    RecordSum, Turn,
    v1::{AckItem, Cause, EpochTally, QuarantinedRecord, Repeats, SourceTally, Tally, ack_item::Kind},
};

use super::Ledger;
use crate::plan::Plan;

/// The quarantine lists at most so many records; the count and the sums go on.
pub(super) const QUARANTINE_LIST: usize = 100_000;
/// Longest file name and reason in the list, in bytes.
const TEXT_LEN: usize = 1024;

/// One epoch's sums.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tallies {
    pub(super) delivered: RecordSum,
    pub(super) dropped: RecordSum,
    pub(super) quarantined: RecordSum,
    pub(super) abandoned: RecordSum,
    /// Delivered as a state says that was loaded, without a receipt.
    pub(super) by_state: RecordSum,
    /// Positions that may have been seen twice.
    pub(super) repeats: Repeats,
    /// For each source of the dataset, by positions. Empty while there is nothing to count.
    sources: Vec<SourceTally>,
}

/// What became of positions, for the counts of their sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PositionFate {
    Delivered,
    Dropped,
    Quarantined,
    Abandoned,
    Repeated,
}

impl Tallies {
    pub(crate) fn message(&self, epoch: u64) -> EpochTally {
        EpochTally {
            epoch,
            delivered: Some(tally(self.delivered)),
            dropped: Some(tally(self.dropped)),
            quarantined: Some(tally(self.quarantined)),
            abandoned: Some(tally(self.abandoned)),
            regranted: 0,
            repeats: Some(self.repeats),
            sources: self.sources.clone(),
            by_state: (self.by_state.count > 0).then(|| tally(self.by_state)),
        }
    }

    /// Counts positions of an epoch for their sources.
    pub(super) fn count(&mut self, plan: &Plan, epoch: u64, positions: &Range<u64>, fate: PositionFate) {
        if plan.sources().is_empty() {
            return;
        }
        self.sources.resize(plan.sources().len(), SourceTally::default());
        let counts = plan.epoch(epoch).count_sources(plan.sources(), positions);
        for (tally, count) in self.sources.iter_mut().zip(counts) {
            *fate.of(tally) += count;
        }
    }

    /// Counts a receipt of records.
    pub(super) fn add(&mut self, item: &AckItem) {
        let sum = RecordSum::from_halves(item.count, item.sum_high, item.sum_low);
        if item.kind() == Kind::Dropped {
            self.dropped += sum;
        } else {
            self.delivered += sum;
        }
    }

    pub(super) fn from_message(message: &EpochTally) -> Self {
        let sum = |tally: Option<Tally>| {
            let Tally { count, sum_high, sum_low } = tally.unwrap_or_default();
            RecordSum::from_halves(count, sum_high, sum_low)
        };
        let mut repeats = message.repeats.unwrap_or_default();
        repeats.add(Cause::DaemonDied, message.regranted);
        Self {
            delivered: sum(message.delivered),
            dropped: sum(message.dropped),
            quarantined: sum(message.quarantined),
            abandoned: sum(message.abandoned),
            by_state: sum(message.by_state),
            repeats,
            sources: message.sources.clone(),
        }
    }

    /// Adds what another ledger counted of the same epoch.
    pub(super) fn add_all(&mut self, other: &Self) {
        self.delivered += other.delivered;
        self.dropped += other.dropped;
        self.quarantined += other.quarantined;
        self.abandoned += other.abandoned;
        self.by_state += other.by_state;
        self.repeats.add_all(other.repeats);
        self.sources.resize(self.sources.len().max(other.sources.len()), SourceTally::default());
        for (own, more) in self.sources.iter_mut().zip(&other.sources) {
            own.delivered += more.delivered;
            own.dropped += more.dropped;
            own.quarantined += more.quarantined;
            own.abandoned += more.abandoned;
            own.repeated += more.repeated;
        }
    }
}

impl PositionFate {
    /// What a receipt says of its positions.
    pub(super) fn of_receipt(kind: Kind) -> Self {
        if kind == Kind::Dropped { Self::Dropped } else { Self::Delivered }
    }

    fn of(self, tally: &mut SourceTally) -> &mut u64 {
        match self {
            Self::Delivered => &mut tally.delivered,
            Self::Dropped => &mut tally.dropped,
            Self::Quarantined => &mut tally.quarantined,
            Self::Abandoned => &mut tally.abandoned,
            Self::Repeated => &mut tally.repeated,
        }
    }
}

impl Ledger {
    /// Adds what it has counted of the epochs from one on to the sums of several ledgers.
    pub(crate) fn add_tallies(&self, from_epoch: u64, sums: &mut BTreeMap<u64, Tallies>) {
        for (&epoch, tallies) in self.tallies.range(from_epoch..) {
            sums.entry(epoch).or_default().add_all(tallies);
        }
    }

    /// Counts something of these positions, in their epoch and at the marks behind them. A mark between them is gone: nobody
    /// can tell what belongs to which side of it.
    pub(super) fn account(&mut self, epoch: u64, positions: &Range<u64>, count: impl Fn(&mut Tallies, &Plan)) {
        let Self { plan, tallies, marks, dirty, .. } = self;
        dirty.epochs.insert(epoch);
        count(tallies.entry(epoch).or_default(), plan);
        marks.retain(|mark| !mark.is_between(epoch, positions));
        for mark in marks.iter_mut().filter(|mark| mark.is_behind(epoch, positions)) {
            count(&mut mark.below, plan);
        }
    }

    /// Counts positions whose records no receipt tells, by the plan, in this sum. Says how many records they have.
    pub(super) fn account_by_plan(
        &mut self,
        epoch: u64,
        positions: &Range<u64>,
        into: fn(&mut Tallies) -> &mut RecordSum,
        fate: PositionFate,
    ) -> u64 {
        let (order, mut records) = (self.plan.epoch(epoch), 0);
        for part in self.split_at_marks(epoch, positions) {
            let sum: RecordSum = part.clone().filter_map(|position| order.own(position)).collect();
            records += sum.count;
            if sum.count > 0 {
                self.account(epoch, &part, |tallies, plan| {
                    *into(tallies) += sum;
                    tallies.count(plan, epoch, &part, fate);
                });
            }
        }
        records
    }

    /// Counts the turn of a record at a position as quarantined, and lists the record.
    pub(super) fn put_in_quarantine(&mut self, epoch: u64, position: u64, turn: Turn, file: &str, reason: &str) {
        let record = turn.record();
        let place = position..position + 1;
        self.account(epoch, &place, |tallies, plan| {
            tallies.quarantined += RecordSum::from_iter([turn]);
            tallies.count(plan, epoch, &place, PositionFate::Quarantined);
        });
        self.quarantined = self.quarantined.saturating_add(1);
        self.touch();
        if self.quarantine.len() < QUARANTINE_LIST {
            let entry = QuarantinedRecord { record, file: cut(file), reason: cut(reason), epoch };
            self.quarantine.insert((epoch, record), entry);
            self.bad.insert(record);
            self.dirty.quarantine.insert((epoch, record));
        }
    }
}

fn tally(sum: RecordSum) -> Tally {
    let (sum_high, sum_low) = sum.halves();
    Tally { count: sum.count, sum_high, sum_low }
}

pub(crate) fn cut(text: &str) -> String {
    text.char_indices().take_while(|(start, c)| start + c.len_utf8() <= TEXT_LEN).map(|(_, c)| c).collect()
}
