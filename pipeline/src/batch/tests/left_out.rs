//! What `drop` leaves out of a dynamic epoch.

use super::*;

#[test]
fn rule_12_a_storage_that_does_not_give_what_drop_leaves_out_holds_up_no_epoch() {
    let memory_source = MemorySource::new(20);
    // One of the tail's reads fails for as long as it takes, and one hangs.
    let hangs = memory_source.shut(9);
    let mut setup = Setup::new(memory_source.failing(&[8]));
    setup.policy = LastBatchPolicy::Drop;
    let mut bench = setup.start();
    bench.lease(0, 0, 10);
    bench.prefetch.drained(1);
    assert_eq!(bench.consume(bench.ready()).1, [0, 1, 2, 3]);
    assert_eq!(bench.consume(bench.ready()).1, [4, 5, 6, 7]);
    let Some(DeliveryOutcome::Receipts { receipts: BatchReceipts { items, .. }, .. }) = bench.outcomes.blocking_recv()
    else {
        panic!("the tail is dropped")
    };
    let [AckItem { lease: 1, range: Some(Range { start: 8, end: 10 }), count: 2, .. }] = items[..] else {
        panic!("{items:?}")
    };
    // The next epoch continues.
    bench.lease(1, 10, 4);
    assert_eq!(bench.consume(bench.ready()).1, [10, 11, 12, 13]);
    drop(hangs);
}

#[test]
fn rule_12_a_bad_record_of_the_last_batch_takes_one_that_would_be_left_out() {
    let mut setup = Setup::new(MemorySource::new(100));
    let slow = setup.gate(BAD);
    setup.policy = LastBatchPolicy::Drop;
    let mut bench = setup.start();
    bench.lease(0, 64, 6);
    bench.prefetch.drained(1);
    drop(slow);
    let records = bench.consume(bench.ready()).1;
    assert_eq!([records[0], records[1], records[3]], [64, 65, 67]);
    // The next one, or the last one if both were placed before.
    assert!([68, 69].contains(&records[2]), "{records:?}");
}

#[test]
fn rule_12_drop_acks_the_last_records_as_dropped_and_needs_its_slot_no_more() {
    let mut setup = Setup::new(MemorySource::new(8));
    (setup.policy, setup.slots) = (LastBatchPolicy::Drop, 1);
    let mut bench = setup.start();
    bench.lease(0, 0, 3);
    bench.prefetch.drained(1);
    let dropped: Vec<AckItem> = match bench.outcomes.blocking_recv().unwrap() {
        DeliveryOutcome::Receipts { receipts: BatchReceipts { items, .. }, .. } => items,
        other => panic!("{other:?}"),
    };
    assert_eq!((dropped.len(), dropped[0].count, dropped[0].range), (1, 3, Some(Range { start: 0, end: 3 })));
    bench.progress.send_modify(|progress| progress.floor = 1);
    bench.lease(1, 0, 4);
    assert_eq!(bench.ready().epoch, 1, "the only slot is free again");
}
