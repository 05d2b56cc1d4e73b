//! What became of an epoch's records, as counts and sums (semantics rule 24).

mod by_epoch;

use std::ops::Range;

use forebay_plan::Plan;
use forebay_proto::{
    RecordSum,
    v1::{AckItem, Cause, EpochTally, Repeats, SourceTally, UnsummedRange, ack_item::Kind},
};

pub(in crate::ledger) use self::by_epoch::EpochTallies;
use super::groups::GroupAccounts;
use super::sums::{sum, tally};
use crate::ledger::steps::StepReceipt;

/// One epoch's sums.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tallies {
    pub(in crate::ledger) delivered: RecordSum,
    pub(in crate::ledger) dropped: RecordSum,
    pub(in crate::ledger) quarantined: RecordSum,
    pub(in crate::ledger) abandoned: RecordSum,
    /// Delivered as a state says that was loaded, without a receipt.
    pub(in crate::ledger) by_state: RecordSum,
    /// Positions that count in `by_state` or `abandoned`, and whose sums were not computed.
    unsummed: Vec<UnsummedRange>,
    /// Positions that may have been seen twice.
    pub(in crate::ledger) repeats: Repeats,
    /// For each source of the dataset, by positions. Empty while there is nothing to count.
    sources: Vec<SourceTally>,
    pub(in crate::ledger) groups: GroupAccounts,
    /// Several daemons have numbered the epoch's batches, each by itself.
    pub(in crate::ledger) renumbered: bool,
}

/// What became of positions, for the counts of their sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ledger) enum PositionOutcome {
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
            unsummed: self.unsummed.clone(),
            groups: self.groups.messages(),
            renumbered: self.renumbered,
        }
    }

    /// Counts positions of an epoch for their sources.
    pub(in crate::ledger) fn count(
        &mut self,
        plan: &Plan,
        epoch: u64,
        positions: &Range<u64>,
        outcome: PositionOutcome,
    ) {
        self.by_source(plan, epoch, positions).for_each(|(tally, count)| *outcome.of(tally) += count);
    }

    /// Takes positions back that were counted as abandoned, and whose records have this sum.
    pub(in crate::ledger) fn take_abandoned(
        &mut self,
        plan: &Plan,
        epoch: u64,
        positions: &Range<u64>,
        sum: RecordSum,
    ) {
        let records = plan.clip(epoch, positions);
        let has = |range: &UnsummedRange| range.abandoned && range.start <= records.start && records.end <= range.end;
        if let Some(at) = self.unsummed.iter().position(has) {
            let range = self.unsummed[at];
            let rest = [range.start..records.start, records.end..range.end].into_iter().filter(|rest| !rest.is_empty());
            let rest = rest.map(|rest| UnsummedRange { start: rest.start, end: rest.end, ..range });
            self.unsummed.splice(at..=at, rest);
            self.abandoned.count = self.abandoned.count.saturating_sub(sum.count);
            return;
        }
        self.abandoned -= sum;
        self.by_source(plan, epoch, positions)
            .for_each(|(tally, count)| tally.abandoned = tally.abandoned.saturating_sub(count));
    }

    /// Takes positions back that were counted as dropped, and whose records have this sum.
    pub(in crate::ledger) fn take_dropped(&mut self, plan: &Plan, epoch: u64, positions: &Range<u64>, sum: RecordSum) {
        if self.dropped.count >= sum.count {
            self.dropped -= sum;
            self.by_source(plan, epoch, positions)
                .for_each(|(tally, count)| tally.dropped = tally.dropped.saturating_sub(count));
        }
    }

    /// The tally of each source, and how many of these positions are the source's.
    fn by_source(
        &mut self,
        plan: &Plan,
        epoch: u64,
        positions: &Range<u64>,
    ) -> impl Iterator<Item = (&mut SourceTally, u64)> {
        let counts = match plan.sources() {
            [] => Vec::new(),
            sources => plan.epoch(epoch).count_sources(sources, positions),
        };
        self.sources.resize(self.sources.len().max(counts.len()), SourceTally::default());
        self.sources.iter_mut().zip(counts)
    }

    /// Counts positions with so many records as abandoned, or as delivered by a state, and leaves their sum to the audit.
    pub(in crate::ledger) fn add_unsummed(&mut self, more: UnsummedRange, records: u64) {
        let counted = if more.abandoned { &mut self.abandoned } else { &mut self.by_state };
        counted.count = counted.count.saturating_add(records);
        match self.unsummed.last_mut() {
            Some(last) if *last == (UnsummedRange { start: last.start, end: more.start, ..more }) => {
                last.end = more.end;
            }
            _ => self.unsummed.push(more),
        }
    }

    /// Whether the audit has sums to add up.
    pub(in crate::ledger) const fn is_unsummed(&self) -> bool {
        !self.unsummed.is_empty()
    }

    /// Counts a receipt of records.
    pub(in crate::ledger) fn add(&mut self, item: &AckItem) {
        let sum = RecordSum::from_halves(item.count, item.sum_high, item.sum_low);
        if item.kind() == Kind::Dropped {
            self.dropped += sum;
        } else {
            self.delivered += sum;
        }
    }

    /// Counts a receipt of whole steps, without their bad records.
    pub(in crate::ledger) fn add_delivered(
        &mut self,
        plan: &Plan,
        epoch: u64,
        item: &AckItem,
        steps: &StepReceipt<'_>,
    ) {
        self.add(item);
        for delivered in steps.delivered() {
            self.count(plan, epoch, &delivered, PositionOutcome::Delivered);
        }
    }

    /// Counts a receipt of whole steps, with their bad records.
    pub(in crate::ledger) fn add_steps(&mut self, plan: &Plan, epoch: u64, item: &AckItem, steps: &StepReceipt<'_>) {
        self.add_delivered(plan, epoch, item, steps);
        for bad in steps.bad() {
            self.quarantined += RecordSum::from_iter([bad.turn]);
            self.count(plan, epoch, &(bad.position..bad.position + 1), PositionOutcome::Quarantined);
        }
    }

    pub(in crate::ledger) fn from_message(message: &EpochTally) -> Self {
        let mut repeats = message.repeats.unwrap_or_default();
        repeats.add(Cause::DaemonDied, message.regranted);
        Self {
            delivered: sum(message.delivered),
            dropped: sum(message.dropped),
            quarantined: sum(message.quarantined),
            abandoned: sum(message.abandoned),
            by_state: sum(message.by_state),
            unsummed: message.unsummed.clone(),
            repeats,
            sources: message.sources.clone(),
            groups: GroupAccounts::from_messages(&message.groups),
            renumbered: message.renumbered,
        }
    }

    /// Adds what another ledger counted of the same epoch.
    pub(in crate::ledger) fn add_all(&mut self, other: &Self) {
        self.delivered += other.delivered;
        self.dropped += other.dropped;
        self.quarantined += other.quarantined;
        self.abandoned += other.abandoned;
        self.by_state += other.by_state;
        self.unsummed.extend(&other.unsummed);
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

impl PositionOutcome {
    /// What a receipt says of its positions.
    pub(in crate::ledger) fn of_receipt(kind: Kind) -> Self {
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
