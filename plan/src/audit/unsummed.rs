//! Adds up what ledgers have only counted: many positions that were abandoned, or that a loaded state says were delivered.

use std::borrow::Cow;

use forebay_proto::RecordSum;
use forebay_proto::v1::{AuditReply, EpochTally, LockstepRank, SourceTally, UnsummedRange};

use super::{STEP, sum, whole_plan};
use crate::plan::Plan;
use crate::spec::SpecError;

/// Tallies of the ledger, or of its run, with all their sums. `progress` as in [`expected`](super::expected).
///
/// # Errors
/// No ledger has such a spec.
pub(super) fn add_up<'a>(
    tallies: &'a [EpochTally],
    reply: &AuditReply,
    progress: &mut dyn FnMut(u64),
) -> Result<Cow<'a, [EpochTally]>, SpecError> {
    if tallies.iter().all(|tally| tally.unsummed.is_empty()) {
        return Ok(Cow::Borrowed(tallies));
    }
    let plan = whole_plan(reply)?;
    let global_batch = reply.spec.as_ref().and_then(|spec| spec.lockstep).unwrap_or_default().global_batch;
    let mut tallies = tallies.to_vec();
    for tally in &mut tallies {
        for range in std::mem::take(&mut tally.unsummed) {
            add(tally, &range, &plan, global_batch, progress)?;
        }
    }
    Ok(Cow::Owned(tallies))
}

fn add(
    tally: &mut EpochTally,
    range: &UnsummedRange,
    plan: &Plan,
    global_batch: u64,
    progress: &mut dyn FnMut(u64),
) -> Result<(), SpecError> {
    let rank = LockstepRank { global_batch, rank: range.rank, world_size: range.world_size };
    let plan = plan.of_rank((range.world_size > 0).then_some(rank))?;
    let (order, positions) = (plan.epoch(tally.epoch), plan.clip(tally.epoch, &(range.start..range.end)));
    tally.sources.resize(tally.sources.len().max(plan.sources().len()), SourceTally::default());
    let mut more = RecordSum::default();
    for turn in positions.filter_map(|position| order.own(position)) {
        more.add(turn.key());
        if let Some(source) = plan.source(turn.record()) {
            let of_source = &mut tally.sources[source];
            *(if range.abandoned { &mut of_source.abandoned } else { &mut of_source.delivered }) += 1;
        }
        if more.count.is_multiple_of(STEP) {
            progress(STEP);
        }
    }
    let counted = if range.abandoned { &mut tally.abandoned } else { &mut tally.by_state };
    // They are in its count already.
    let sum = RecordSum { sum: sum(*counted).sum.wrapping_add(more.sum), count: 0 };
    let known = counted.get_or_insert_default();
    (known.sum_high, known.sum_low) = sum.halves();
    Ok(())
}
