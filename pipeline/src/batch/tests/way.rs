//! Tests of batches of later epochs that give way to one of the current epoch (semantics rule 11).

use forebay_proto::v1::Cause;

use super::*;

impl Bench {
    /// Waits until the stage has taken so many records.
    pub(super) fn has_taken(&self, records: u64) {
        while self.prefetch.meter().waits().items < records {
            thread::yield_now();
        }
    }

    /// The stage asks for a slot for epoch 0, while a batch of it is being made or behind that.
    pub(super) fn asks(&self) -> FinishedBatch {
        let (mut asked, mut ready) = (false, None);
        while ready.is_none() || !asked {
            match self.output.recv().unwrap() {
                Handover::NeedsSlot { epoch: 0 } => asked = true,
                Handover::Ready(made) => assert!(ready.replace(made).is_none(), "there is no slot for two"),
                other => panic!("{other:?}"),
            }
        }
        ready.expect("both have come")
    }

    /// What the stage gives back next: lease, first offset and end.
    pub(super) fn returns(&mut self) -> (u64, u64, u64) {
        match self.outcomes.blocking_recv().unwrap() {
            DeliveryOutcome::Returned(ranges) => {
                let [ReturnedRange { lease, range: Some(range), cause }] = ranges[..] else { panic!("{ranges:?}") };
                assert_eq!(cause, i32::from(Cause::Unseen));
                (lease, range.start, range.end)
            }
            other => panic!("{other:?}"),
        }
    }

    /// The ring drops a batch that is ready.
    pub(super) fn drops(&self, ready: FinishedBatch) {
        self.gave_way.send(ready.seq).unwrap();
        self.give(ready);
    }
}

pub(super) fn of(ready: &FinishedBatch) -> (u64, u64) {
    (ready.seq, ready.epoch)
}

#[test]
fn rule_11_a_position_that_comes_back_late_gets_the_slot_of_the_youngest_later_batch() {
    let mut setup = Setup::new(MemorySource::new(60));
    setup.slots = 4;
    let slow = setup.gate(15);
    let mut bench = setup.start();
    bench.lease(0, 0, 4);
    bench.prefetch.drained(1);
    let first = bench.ready();
    bench.lease(1, 10, 6);
    let later = bench.ready();
    assert_eq!((of(&first), of(&later)), ((100, 0), (101, 1)));
    // Two records are in a batch that waits for others.
    bench.has_taken(10);
    bench.lease(0, 20, 8);
    let second = bench.ready();
    assert_eq!(of(&second), (103, 0), "it has the slot that was left");
    drop(slow);
    assert_eq!(bench.returns(), (2, 4, 6));
    let third = bench.ready();
    assert_eq!((of(&third), bench.consume(third).1), ((104, 0), vec![24, 25, 26, 27]));
    bench.lease(0, 30, 8);
    assert_eq!(of(&bench.asks()), (105, 0));
    bench.drops(later);
    let last = bench.ready();
    assert_eq!((of(&last), bench.consume(last).1), ((106, 0), vec![34, 35, 36, 37]));
}

#[test]
fn rule_11_a_shard_gives_back_what_is_behind_a_batch_that_gave_way_until_it_comes_again() {
    let mut setup = Setup::new(MemorySource::new(40));
    setup.shard = Some(StaticShard { shard_id: 0, num_shards: 2, stick_to_shard: true });
    setup.in_order = true;
    setup.slots = 4;
    let mut bench = setup.start();
    bench.lease(0, 0, 4);
    bench.prefetch.drained(1);
    let first = bench.ready();
    bench.lease(1, 0, 12);
    let (kept, gives_way) = (bench.ready(), bench.ready());
    assert_eq!([&first, &kept, &gives_way].map(of), [(100, 0), (101, 1), (102, 1)]);
    bench.lease(0, 4, 8);
    assert_eq!(of(&bench.asks()), (103, 0));
    bench.drops(gives_way);
    let third = bench.ready();
    assert_eq!((of(&third), third.claims.clone()), ((104, 0), vec![Claim::new(3, 4, 4)]));
    // The lease's other positions are read, and may not be in a batch before those that were given back.
    let back: Vec<_> = (0..4).map(|_| bench.returns()).collect();
    assert_eq!(back, [(2, 8, 9), (2, 9, 10), (2, 10, 11), (2, 11, 12)]);
    bench.lease(1, 4, 8);
    bench.give(first);
    bench.give(third);
    let again = bench.ready();
    assert_eq!((of(&again), again.claims.clone()), ((105, 1), vec![Claim::new(4, 0, 4)]));
    bench.give(again);
    let next = bench.ready();
    assert_eq!((of(&next), next.claims.clone()), ((106, 1), vec![Claim::new(4, 4, 4)]));
}

#[test]
fn rule_11_a_later_batch_that_is_being_mixed_is_with_the_ring_before_it_is_asked_for() {
    let mut setup = Setup::new(MemorySource::new(60));
    (setup.slots, setup.mixing) = (3, Some(mixes::mixing()));
    let mut bench = setup.start();
    bench.lease(0, 0, 4);
    bench.prefetch.drained(1);
    assert_eq!(of(&bench.ready()), (100, 0));
    bench.lease(1, 10, 4);
    bench.has_taken(8);
    bench.lease(0, 20, 8);
    // Two batches of epoch 0 want the slot that is left, so one of them needs that of epoch 1.
    let (mut later, mut asked) = (None, false);
    while !asked {
        match bench.output.recv().unwrap() {
            Handover::Ready(ready) if ready.epoch == 1 => later = Some(ready),
            Handover::Ready(ready) => assert_eq!(of(&ready), (102, 0)),
            Handover::NeedsSlot { epoch } => asked = epoch == 0,
            other => panic!("{other:?}"),
        }
    }
    bench.drops(later.expect("it is ready before the ring is asked"));
    assert_eq!(bench.ready().epoch, 0);
}
