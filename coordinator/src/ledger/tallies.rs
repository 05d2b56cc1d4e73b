//! What became of an epoch's records, as counts and sums (semantics rule 24), and the list of quarantined ones.

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
pub(super) struct Tallies {
    pub(super) delivered: RecordSum,
    pub(super) dropped: RecordSum,
    pub(super) quarantined: RecordSum,
    pub(super) abandoned: RecordSum,
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
    pub(super) fn message(&self, epoch: u64) -> EpochTally {
        EpochTally {
            epoch,
            delivered: Some(tally(self.delivered)),
            dropped: Some(tally(self.dropped)),
            quarantined: Some(tally(self.quarantined)),
            abandoned: Some(tally(self.abandoned)),
            regranted: 0,
            repeats: Some(self.repeats),
            sources: self.sources.clone(),
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
            repeats,
            sources: message.sources.clone(),
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
    /// Counts a turn of a record as quarantined, and lists the record.
    pub(super) fn put_in_quarantine(&mut self, epoch: u64, turn: Turn, file: &str, reason: &str) {
        let (record, source) = (turn.record(), self.plan.source(turn.record()));
        let sources = self.plan.sources().len();
        let tally = self.tally(epoch);
        tally.quarantined += RecordSum::from_iter([turn]);
        if let Some(source) = source {
            tally.sources.resize(sources, SourceTally::default());
            tally.sources[source].quarantined += 1;
        }
        self.quarantined = self.quarantined.saturating_add(1);
        self.touch();
        if self.quarantine.len() < QUARANTINE_LIST {
            let entry = QuarantinedRecord { record, file: cut(file), reason: cut(reason), epoch };
            self.quarantine.insert((epoch, record), entry);
            self.bad.insert(record);
            self.dirty.quarantine.insert((epoch, record));
        }
    }

    /// Counts positions of an epoch for their sources.
    pub(super) fn count_sources(&mut self, epoch: u64, positions: &Range<u64>, fate: PositionFate) {
        if !self.plan.sources().is_empty() {
            self.dirty.epochs.insert(epoch);
            self.tallies.entry(epoch).or_default().count(&self.plan, epoch, positions, fate);
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
