//! States of a lockstep run: where all ranks are, before a step of an epoch (semantics rule 40).
//!
//! Such a state says nothing of a rank. Its cursor is a position of the whole epoch's order, and nothing is open below
//! it. So each rank of any number of ranks can go on from it.

use forebay_plan::{Plan, RankPositions};
use forebay_proto::v1::{LedgerSpec, LockstepRank, Snapshot};

use crate::error::LedgerError;

/// A rank's snapshot as the state of its run. A step with an open position counts as not done.
pub(super) fn of_run(plan: &Plan, rank: LockstepRank, snapshot: Snapshot) -> Snapshot {
    let first = snapshot.open.iter().map(|open| (open.epoch, open.start)).min();
    let (mut epoch, position) =
        first.unwrap_or((snapshot.epoch, snapshot.cursor)).min((snapshot.epoch, snapshot.cursor));
    let positions = RankPositions::new(rank, plan.positions());
    let mut step = position / positions.batch();
    if position >= positions.len() {
        (epoch, step) = (epoch + 1, 0);
    }
    let spec = snapshot.spec.map(|spec| LedgerSpec { lockstep: Some(LockstepRank { rank: 0, ..rank }), ..spec });
    let cursor = step * rank.global_batch;
    // What each rank's ledger counts by itself is no part of it: the states of all ranks are equal.
    let (lease_size, generation, ack_sequence) = (0, 0, 0);
    let (open, tallies) = (Vec::new(), Vec::new());
    Snapshot { spec, lease_size, epoch, cursor, open, generation, ack_sequence, tallies, ..snapshot }
}

/// The state of a run as a rank's snapshot, to go on from.
pub(super) fn of_rank(plan: &Plan, rank: LockstepRank, state: &Snapshot) -> Result<Snapshot, LedgerError> {
    let (cursor, global_batch) = (state.cursor, rank.global_batch);
    if !cursor.is_multiple_of(global_batch) || cursor >= plan.positions().max(1) || !state.open.is_empty() {
        return Err(LedgerError::Invalid(format!(
            "The state is not one between two steps of {global_batch}: it is at position {cursor} of epoch {}, with {} open \
             ranges.",
            state.epoch,
            state.open.len()
        )));
    }
    let cursor = RankPositions::new(rank, plan.positions()).before_step(cursor / global_batch);
    Ok(Snapshot { cursor, tallies: Vec::new(), ..state.clone() })
}
