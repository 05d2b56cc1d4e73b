//! Tests of static assignment: padding, positions without a record, and places that do not move.

use super::*;

/// The first of two shards of nine records: four of its own, and a position without one.
fn shard(policy: LastBatchPolicy) -> Bench {
    let mut setup = Setup::new(MemorySource::new(9));
    setup.shard = Some(StaticShard { shard_id: 0, num_shards: 2, stick_to_shard: false });
    setup.in_order = true;
    (setup.policy, setup.slots) = (policy, 1);
    setup.start()
}

#[test]
fn rule_13_a_padded_shard_ends_with_a_batch_of_copies() {
    let mut bench = shard(LastBatchPolicy::Fill);
    bench.lease(0, 0, 4);
    bench.lease_bare(0, 4);
    assert_eq!(bench.consume(bench.ready()), (vec![0, 1, 2, 3], vec![0, 1, 2, 3], vec![1; 4]));
    let copies = bench.ready();
    assert_eq!((copies.valid, copies.shown, copies.claims.clone()), (0, 4, vec![Claim::bare(2, 0, 1)]));
    assert_eq!(bench.consume(copies), (vec![3; 4], vec![3; 4], vec![0; 4]));
    // Another daemon has delivered all but this batch.
    bench.lease_bare(0, 4);
    let copies = bench.ready();
    assert_eq!((copies.valid, copies.claims.clone()), (0, vec![Claim::bare(3, 0, 1)]));
    assert_eq!(bench.consume(copies), (vec![3; 4], vec![3; 4], vec![0; 4]));
}

#[test]
fn rule_13_a_position_without_a_record_that_no_batch_has_is_told_at_once() {
    let mut bench = shard(LastBatchPolicy::Drop);
    bench.lease_bare(0, 4);
    match bench.outcomes.blocking_recv().unwrap() {
        DeliveryOutcome::Receipts { receipts: BatchReceipts { items, .. }, .. } => {
            assert_eq!(items, [receipt::receipt(&Claim::bare(1, 0, 1), RecordSum::default())]);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn rule_07_places_of_a_shard_follow_from_its_positions_after_a_restart() {
    let mut bench = shard(LastBatchPolicy::Fill);
    bench.lease(0, 1, 1);
    bench.lease(0, 3, 1);
    let ready = bench.ready();
    assert_eq!(ready.claims, [Claim::new(1, 0, 1), Claim::new(2, 0, 1)]);
    assert_eq!(bench.consume(ready), (vec![1, 1, 1, 3], vec![-1, 1, -1, 3], vec![0, 1, 0, 1]));
}
