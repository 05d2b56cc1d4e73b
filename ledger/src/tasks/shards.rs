//! The records of a shard, from its positions in an epoch, and its end in the ledger.

use std::ops::Range;

use forebay_plan::Plan;
use forebay_proto::v1::{AckItem, AckRequest, BadRecord, Verdict};

use crate::ledger::Ledger;

/// The records at the positions of a shard, if they follow each other in the dataset.
pub(super) fn shard(plan: &Plan, epoch: u64, positions: Range<u64>) -> Option<Range<u64>> {
    match plan.grain_at(epoch, positions.start) {
        Some((places, records)) => (places == positions).then_some(records),
        None => (!plan.spec().shuffle).then_some(positions),
    }
}

/// The records at these positions of an epoch; the same ones, in the dataset's order, if they follow each other there.
pub(super) fn records(plan: &Plan, epoch: u64, positions: Range<u64>) -> impl Iterator<Item = u64> {
    let run = shard(plan, epoch, positions.clone());
    let listed = run.is_none().then(|| {
        let order = plan.epoch(epoch);
        positions.map(move |position| order.record(position))
    });
    run.into_iter().flatten().chain(listed.into_iter().flatten())
}

/// Accounts for a shard; false if another worker has it by now.
pub(super) fn end(ledger: &mut Ledger, worker: &str, item: AckItem, bad: Vec<BadRecord>) -> bool {
    let request = AckRequest { items: vec![item], bad, ..AckRequest::default() };
    ledger.ack(worker, &request).verdicts == [i32::from(Verdict::Accepted)]
}
