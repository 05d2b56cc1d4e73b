//! Positions that no batch can have any more, because `drop` leaves out what fills none, in sums and in states (semantics rules
//! 12, 13, 22 and 40).
//!
//! Where places are fixed, the plan says which positions these are: they are never leased, so nothing of them is read. In
//! dynamic assignment they are the last ones of an epoch, once fewer are left than a batch has: only a state has to count them
//! before their daemon does.

use std::ops::Range;

use forebay_plan::MAX_EPOCH;
use forebay_proto::RecordSum;
use forebay_proto::v1::{EpochTally, OpenRange, Snapshot};

use super::account::{PositionOutcome, Tallies};
use super::terms::Terms;

/// Takes what was dropped by the plan at the end of an epoch that is leased out out of sums that have it. It is counted once
/// more when the positions before it are leased again.
pub(super) fn take_dropped_end(terms: &Terms, epoch: u64, sums: &mut Tallies) {
    let positions = terms.leasable(epoch)..terms.plan().epoch_len(epoch);
    if !positions.is_empty() {
        let order = terms.plan().epoch(epoch);
        let sum: RecordSum = positions.clone().filter_map(|position| order.own(position)).collect();
        sums.take_dropped(terms.plan(), epoch, &positions, sum);
    }
}

/// Takes a state of the run that is behind the last step that is delivered to the first step of the next epoch.
pub(super) fn behind_dropped_step(terms: &Terms, state: &mut Snapshot) {
    let Some(rank) = terms.plan().spec().lockstep else { return };
    let whole = match terms.plan().classes() {
        Some(classes) => classes.layout().steps() * classes.layout().places(),
        None if terms.drops() => terms.plan().positions() / rank.global_batch.max(1) * rank.global_batch,
        None => return,
    };
    if whole > 0 && state.cursor >= whole && state.cursor < terms.plan().positions() && state.open.is_empty() {
        (state.epoch, state.cursor) = (state.epoch.saturating_add(1), 0);
    }
}

/// Counts what no batch of a state's epoch can have any more as dropped in the state. If nothing else is left of the epoch,
/// the state is at the start of the next one. So a state follows from what was consumed, however far daemons have read.
pub(super) fn settle_state(terms: &Terms, state: &mut Snapshot) {
    let first = state.open.first().map_or(state.epoch, |open| open.epoch.min(state.epoch));
    let len = terms.plan().epoch_len(first);
    if len == 0 || first + 1 >= MAX_EPOCH {
        return;
    }
    let open = |state: &Snapshot| -> Vec<Range<u64>> {
        let open = state.open.iter().filter(|open| open.epoch == first).map(|open| open.start..open.end);
        open.chain((state.epoch == first && state.cursor < len).then_some(state.cursor..len)).collect()
    };
    let left: Vec<Range<u64>> = open(state);
    let dropped: Vec<Range<u64>> = match terms.smallest_batch() {
        _ if terms.drops_by_plan() => {
            let start = terms.leasable(first);
            let cursor = if state.epoch == first { state.cursor } else { len };
            // What is not leased yet is a part of the rest only behind all that is.
            let behind = |range: &Range<u64>| range.start.max(start)..range.end;
            left.iter().filter(|range| range.start < cursor || cursor >= start).map(behind).collect()
        }
        // An epoch of which nothing was consumed is at its start.
        Some(batch) => {
            let count: u64 = left.iter().map(|range| range.end - range.start).sum();
            if count < batch.min(len) { left } else { Vec::new() }
        }
        None => Vec::new(),
    };
    for range in dropped.into_iter().filter(|range| range.start < range.end) {
        drop_of_state(terms, state, first, range);
    }
    // The account of an epoch before it would not fit into a state of the next one.
    let has_older = state.tallies.first().is_some_and(|tally| tally.epoch < first);
    if state.epoch == first && state.cursor >= len && open(state).is_empty() && !has_older {
        (state.epoch, state.cursor) = (first + 1, 0);
    }
}

/// Counts positions of a state's first epoch as dropped.
fn drop_of_state(terms: &Terms, state: &mut Snapshot, epoch: u64, positions: Range<u64>) {
    let order = terms.plan().epoch(epoch);
    let sum: RecordSum = positions.clone().filter_map(|position| order.own(position)).collect();
    if sum.count > 0 {
        let at = state.tallies.partition_point(|tally| tally.epoch < epoch);
        if state.tallies.get(at).is_none_or(|tally| tally.epoch != epoch) {
            state.tallies.insert(at, EpochTally { epoch, ..EpochTally::default() });
        }
        let mut tallies = Tallies::from_message(&state.tallies[at]);
        tallies.dropped += sum;
        tallies.count(terms.plan(), epoch, &positions, PositionOutcome::Dropped);
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
