//! Positions that no batch can have any more, because `drop` leaves out what fills none (semantics rules 12, 13, 22 and 40).
//!
//! Where places are fixed, the plan says which positions these are: they are never leased, so nothing of them is read. In
//! dynamic assignment they are the last ones of an epoch, once fewer are left than a batch has: only a state has to count them
//! before their daemon does.

use std::ops::Range;

use forebay_proto::RecordSum;
use forebay_proto::v1::{EpochTally, OpenRange, Policies, Snapshot, policies::LastBatch};

use super::Ledger;
use super::tallies::{PositionFate, Tallies};
use forebay_plan::MAX_EPOCH;
use forebay_plan::Plan;
use forebay_plan::RankPositions;
use forebay_plan::{Batching, LastBatchPolicy};

impl Ledger {
    /// Counts positions of fixed places that no batch has as dropped, once all before them are leased.
    pub(super) fn drop_by_plan(&mut self) {
        self.settle();
        let Some(left_out) = LeftOut::of(&self.plan, self.policies.as_ref()) else { return };
        let mut dropped = Vec::new();
        for back in &mut self.returned {
            // Leased while batches were larger.
            let end = left_out.start(&self.plan, back.epoch).clamp(back.start, back.end);
            if end < back.end {
                dropped.push((back.epoch, end..back.end));
                back.end = end;
            }
        }
        self.returned.retain(|back| back.start < back.end);
        if !self.exhausted() {
            let (epoch, len) = (self.cursor_epoch, self.plan.epoch_len(self.cursor_epoch));
            if left_out.start(&self.plan, epoch) <= self.cursor && self.cursor < len {
                dropped.push((epoch, self.cursor..len));
                self.cursor = len;
            }
        }
        if dropped.is_empty() {
            return;
        }
        for (epoch, positions) in dropped {
            self.drop_positions_of(epoch, &positions);
        }
        self.touch();
        self.settle();
    }

    /// Counts positions as dropped. They are fewer than a batch of each part has.
    pub(super) fn drop_positions_of(&mut self, epoch: u64, positions: &Range<u64>) {
        self.account_by_plan(epoch, positions, |tallies, plan, part, sum| {
            tallies.dropped += sum;
            tallies.count(plan, epoch, part, PositionFate::Dropped);
        });
    }

    /// Where the positions of an epoch end that can be leased.
    pub(super) fn leasable(&self, epoch: u64) -> u64 {
        let len = self.plan.epoch_len(epoch);
        LeftOut::of(&self.plan, self.policies.as_ref()).map_or(len, |left_out| left_out.start(&self.plan, epoch))
    }

    /// Takes what was [dropped by the plan](Self::drop_by_plan) at the end of an epoch out of sums that have it. It is counted once
    /// more when the positions before it are leased again.
    pub(super) fn without_dropped_end(&self, epoch: u64, mut sums: Tallies) -> Tallies {
        let is_leased_out = epoch < self.cursor_epoch || self.cursor == self.plan.epoch_len(epoch);
        let positions = self.leasable(epoch)..self.plan.epoch_len(epoch);
        if is_leased_out && !positions.is_empty() {
            let order = self.plan.epoch(epoch);
            let sum: RecordSum = positions.clone().filter_map(|position| order.own(position)).collect();
            sums.take_dropped(&self.plan, epoch, &positions, sum);
        }
        sums
    }

    /// Takes a state of the run that is behind the last step that is delivered to the first step of the next epoch.
    pub(crate) fn behind_dropped_step(&self, state: &mut Snapshot) {
        let Some(rank) = self.plan.spec().lockstep.filter(|_| drops(self.policies.as_ref())) else { return };
        let whole = self.plan.positions() / rank.global_batch.max(1) * rank.global_batch;
        if whole > 0 && state.cursor >= whole && state.cursor < self.plan.positions() && state.open.is_empty() {
            (state.epoch, state.cursor) = (state.epoch.saturating_add(1), 0);
        }
    }

    /// Counts what no batch of a state's epoch can have any more as dropped in the state. If nothing else is left of the epoch,
    /// the state is at the start of the next one. So a state follows from what was consumed, however far daemons have read.
    pub(super) fn settle_state(&self, state: &mut Snapshot) {
        let first = state.open.first().map_or(state.epoch, |open| open.epoch.min(state.epoch));
        let len = self.plan.epoch_len(first);
        if len == 0 || first + 1 >= MAX_EPOCH {
            return;
        }
        let open = |state: &Snapshot| -> Vec<Range<u64>> {
            let open = state.open.iter().filter(|open| open.epoch == first).map(|open| open.start..open.end);
            open.chain((state.epoch == first && state.cursor < len).then_some(state.cursor..len)).collect()
        };
        let left: Vec<Range<u64>> = open(state);
        let dropped: Vec<Range<u64>> = match (LeftOut::of(&self.plan, self.policies.as_ref()), self.smallest_batch()) {
            (Some(left_out), _) => {
                let start = left_out.start(&self.plan, first);
                let cursor = if state.epoch == first { state.cursor } else { len };
                // What is not leased yet is a part of the rest only behind all that is.
                let behind = |range: &Range<u64>| range.start.max(start)..range.end;
                left.iter().filter(|range| range.start < cursor || cursor >= start).map(behind).collect()
            }
            // An epoch of which nothing was consumed is at its start.
            (None, Some(batch)) => {
                let count: u64 = left.iter().map(|range| range.end - range.start).sum();
                if count < batch.min(len) { left } else { Vec::new() }
            }
            (None, None) => Vec::new(),
        };
        for range in dropped.into_iter().filter(|range| range.start < range.end) {
            self.drop_of_state(state, first, range);
        }
        // The account of an epoch before it would not fit into a state of the next one.
        let has_older = state.tallies.first().is_some_and(|tally| tally.epoch < first);
        if state.epoch == first && state.cursor >= len && open(state).is_empty() && !has_older {
            (state.epoch, state.cursor) = (first + 1, 0);
        }
    }

    /// Counts positions of a state's first epoch as dropped.
    fn drop_of_state(&self, state: &mut Snapshot, epoch: u64, positions: Range<u64>) {
        let order = self.plan.epoch(epoch);
        let sum: RecordSum = positions.clone().filter_map(|position| order.own(position)).collect();
        if sum.count > 0 {
            let at = state.tallies.partition_point(|tally| tally.epoch < epoch);
            if state.tallies.get(at).is_none_or(|tally| tally.epoch != epoch) {
                state.tallies.insert(at, EpochTally { epoch, ..EpochTally::default() });
            }
            let mut tallies = Tallies::from_message(&state.tallies[at]);
            tallies.dropped += sum;
            tallies.count(&self.plan, epoch, &positions, PositionFate::Dropped);
            state.tallies[at] = tallies.message(epoch);
        }
        if state.epoch == epoch && state.cursor == positions.start {
            state.cursor = positions.end;
            return;
        }
        let rest = |open: &OpenRange| {
            let is_meant = open.epoch == epoch && open.start <= positions.start && positions.end <= open.end;
            let end = if is_meant { positions.start } else { open.end };
            OpenRange { end, ..*open }
        };
        state.open = state.open.iter().map(rest).filter(|open| open.start < open.end).collect();
    }

    /// The places of a batch of a dynamic stream that drops what fills none: all its daemons have agreed on them.
    fn smallest_batch(&self) -> Option<u64> {
        let policies = self.policies.as_ref().filter(|policies| drops(Some(policies)) && self.plan.part().is_none())?;
        Some(policies.batch_size).filter(|batch| *batch > 0)
    }
}

/// What is left out of each epoch of a shard or a rank.
struct LeftOut(Batching);

impl LeftOut {
    /// Nothing for a plan that leaves nothing out, or of which that is not known.
    fn of(plan: &Plan, policies: Option<&Policies>) -> Option<Self> {
        plan.part()?;
        let policies = policies.filter(|policies| drops(Some(policies)))?;
        let of_rank = plan.spec().lockstep.map(|rank| RankPositions::new(rank, plan.positions()).batch());
        let batch_size = of_rank.unwrap_or(policies.batch_size);
        let batching = Batching { batch_size, policy: LastBatchPolicy::Drop, pad_last_batch: false };
        (batch_size > 0).then_some(Self(batching))
    }

    /// Where it begins in an epoch; the epoch's end if the epoch has no batch at all. Such epochs would follow each other without
    /// a lease: their daemon takes them one by one.
    fn start(&self, plan: &Plan, epoch: u64) -> u64 {
        let len = plan.epoch_len(epoch);
        match self.0.positions_in_whole_batches(plan) {
            0 => len,
            start => start.min(len),
        }
    }
}

fn drops(policies: Option<&Policies>) -> bool {
    policies.is_some_and(|policies| policies.last_batch() == LastBatch::Drop)
}
