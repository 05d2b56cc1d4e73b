//! Tests of steps of classes: a batch is a step, of which no part is ever given back without the rest (semantics rule 62).

use forebay_proto::v1::{Cause, Lease};

use super::way::of;
use super::*;
use crate::lease;

/// Class 0 has five records, of which step 1 has one, and class 1 all others.
fn setup(records: u16) -> Setup {
    let classes = (0..records).map(|record| u16::from(record >= 5)).collect();
    let mut setup = Setup::new(MemorySource::new(records.into()));
    setup.classes = Some(Arc::new(ClassTable::new(classes, 2, &[]).unwrap()));
    setup
}

impl Bench {
    /// A lease of whole steps.
    fn lease_steps(&mut self, epoch: u64, steps: std::ops::Range<u64>) {
        self.lease += 1;
        let lease = Lease { id: self.lease, epoch, start: steps.start * 4, end: steps.end * 4, ..Lease::default() };
        self.prefetch.lease(lease::span(&self.plan, &lease));
    }
}

fn part_of(returned: &ReturnedRange) -> (u64, u64, u64) {
    assert_eq!(returned.cause, i32::from(Cause::Unseen));
    let range = returned.range.unwrap();
    (returned.lease, range.start, range.end)
}

#[test]
fn rule_62_a_batch_is_a_step_with_the_places_of_its_class_and_answers_for_all_its_positions() {
    let mut setup = setup(9);
    setup.slots = 5;
    let mut bench = setup.start();
    bench.lease_steps(0, 0..4);
    let batches = [bench.ready(), bench.ready(), bench.ready(), bench.ready()];
    let sizes: Vec<_> = batches.iter().map(|batch| (batch.shown, batch.valid)).collect();
    assert_eq!(sizes, [(4, 4), (4, 1), (2, 2), (2, 2)]);
    let claims: Vec<_> = batches.iter().map(|batch| batch.claims.clone()).collect();
    assert_eq!(claims[0], [Claim::new(1, 0, 4)]);
    assert_eq!(claims[1], [Claim::new(1, 4, 1), Claim::bare(1, 5, 3)], "copies are no records");
    assert_eq!(claims[2], [Claim::new(1, 8, 2), Claim::bare(1, 10, 2)]);
    let [full, copies, ..] = batches;
    assert_eq!(bench.consume(full), (vec![0, 1, 2, 3], vec![0, 1, 2, 3], vec![1; 4]));
    assert_eq!(bench.consume(copies), (vec![4; 4], vec![4; 4], vec![1, 0, 0, 0]));
}

#[test]
fn rule_62_a_bad_record_keeps_its_place_wherever_it_is_and_is_told_with_its_step() {
    for bad in 0..4 {
        let mut setup = setup(9);
        setup.memory_source = Arc::new(MemorySource::new(9).without(&[bad, 7, 8]));
        let mut bench = setup.start();
        bench.lease_steps(0, 0..1);
        bench.lease_steps(0, 3..4);
        let (ready, none) = (bench.ready(), bench.ready());
        let told = |batch: &FinishedBatch| -> Vec<_> {
            batch.bad.iter().map(|bad| (bad.lease, bad.position, bad.record)).collect()
        };
        assert_eq!((told(&ready), ready.shown, ready.valid), (vec![(1, bad, bad)], 4, 3));
        assert_eq!(
            (told(&none), none.shown, none.valid),
            (vec![(2, 0, 7), (2, 1, 8)], 2, 0),
            "a step without a record"
        );
        let positions = |claims: &[Claim]| {
            let mut positions: Vec<_> = claims.iter().flat_map(|claim| claim.start..claim.end()).collect();
            positions.sort_unstable();
            positions
        };
        assert_eq!([positions(&ready.claims), positions(&none.claims)], [[0, 1, 2, 3], [0, 1, 2, 3]]);
        let (_, records, mask) = bench.consume(ready);
        let place = usize::try_from(bad).unwrap();
        assert_eq!((records[place], mask[place], mask.iter().sum::<u8>()), (-1, 0, 3));
        let (_, _, outcomes) = bench.stop();
        assert!(outcomes.is_empty(), "no record goes to the ledger without its step: {outcomes:?}");
    }
}

#[test]
fn rule_62_a_step_that_gives_way_when_a_part_of_it_has_come_goes_back_whole() {
    let mut setup = setup(30);
    setup.slots = 3;
    let slow = setup.gate(14);
    setup.memory_source = Arc::new(MemorySource::new(30));
    let shut = setup.memory_source.shut(2);
    let mut bench = setup.start();
    drop(slow);
    bench.lease_steps(0, 1..2);
    bench.prefetch.drained(1);
    let first = bench.ready();
    assert_eq!((first.epoch, first.valid), (0, 1));
    // Two records of the first step of epoch 1 come, and no more.
    bench.lease_steps(1, 0..1);
    bench.has_taken(3);
    bench.lease_steps(0, 2..4);
    let second = bench.ready();
    assert_eq!((second.epoch, second.claims[0]), (0, Claim::new(3, 0, 2)));
    let third = bench.ready();
    assert_eq!((third.epoch, third.claims[0]), (0, Claim::new(3, 4, 2)), "it has the slot of the step of epoch 1");
    drop(shut);
    assert_eq!(bench.returns(), (2, 0, 4));
    bench.give(first);
    bench.give(second);
    bench.give(third);
    bench.lease_steps(1, 0..1);
    let again = bench.ready();
    assert_eq!((again.epoch, again.claims.clone()), (1, vec![Claim::new(4, 0, 4)]));
    assert_eq!(bench.consume(again).1, [0, 1, 2, 3]);
}

#[test]
fn rule_62_a_rank_gives_back_whole_steps_behind_one_that_gave_way_until_it_comes_again() {
    let mut setup = setup(30);
    (setup.in_order, setup.slots) = (true, 4);
    let mut bench = setup.start();
    bench.lease_steps(0, 0..1);
    bench.prefetch.drained(1);
    let first = bench.ready();
    bench.lease_steps(1, 0..4);
    let (kept, gives_way) = (bench.ready(), bench.ready());
    assert_eq!([&first, &kept, &gives_way].map(of), [(100, 0), (101, 1), (102, 1)]);
    bench.lease_steps(0, 1..3);
    assert_eq!(of(&bench.asks()), (103, 0));
    bench.drops(gives_way);
    let third = bench.ready();
    assert_eq!((of(&third), third.claims.clone()), ((104, 0), vec![Claim::new(3, 4, 2), Claim::bare(3, 6, 2)]));
    // Two steps behind it are read, position by position.
    assert_eq!([bench.returns(), bench.returns()], [(2, 8, 12), (2, 12, 16)]);
    bench.lease_steps(1, 1..3);
    bench.give(first);
    bench.give(third);
    let again = bench.ready();
    assert_eq!((of(&again), again.claims.clone()), ((105, 1), vec![Claim::new(4, 0, 1), Claim::bare(4, 1, 3)]));
    bench.give(again);
    let next = bench.ready();
    assert_eq!((of(&next), next.claims.clone()), ((106, 1), vec![Claim::new(4, 4, 2), Claim::bare(4, 6, 2)]));
}

#[test]
fn rule_62_a_stage_that_ends_within_a_step_gives_the_whole_step_back() {
    let mut setup = setup(30);
    setup.memory_source = Arc::new(MemorySource::new(30).without(&[0]));
    let shut = setup.memory_source.shut(2);
    let mut bench = setup.start();
    bench.lease_steps(0, 0..3);
    bench.has_taken(2);
    let stop = std::mem::replace(&mut bench.stop, channel::bounded(0).0);
    drop(stop);
    let (_, _, outcomes) = bench.stop();
    drop(shut);
    let [DeliveryOutcome::Returned(ranges)] = &outcomes[..] else { panic!("{outcomes:?}") };
    assert_eq!(ranges.iter().map(part_of).collect::<Vec<_>>(), [(1, 0, 12)], "a bad record, a good one, and the rest");
}
