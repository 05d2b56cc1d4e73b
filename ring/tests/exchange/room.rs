//! Batches of later epochs that give way to one of the open epoch.

use forebay_ring::{Action, BatchId, Exchange, SlotId};

use crate::{ANNA, actions, attach, exchange, offer, offers, publish};

fn seqs(batches: &[BatchId]) -> Vec<u64> {
    batches.iter().map(|batch| batch.seq).collect()
}

#[test]
fn rule_11_the_youngest_later_batch_gives_its_slot_and_is_told_as_unseen() {
    let mut exchange = exchange(5);
    attach(&mut exchange, ANNA, 2).unwrap();
    publish(&mut exchange, 1, 0);
    let slots = [(2, 1), (3, 2), (4, 2), (5, 1)].map(|(seq, epoch)| publish(&mut exchange, seq, epoch));
    offers(&mut exchange);
    assert_eq!(exchange.give_way(0), [BatchId { seq: 4, epoch: 2 }], "of the last epoch, and there the last one");
    let told = actions(&mut exchange);
    assert_eq!(told, [Action::Dropped { batch: BatchId { seq: 4, epoch: 2 }, seen: false }, Action::Free(slots[2])]);
    assert!(exchange.give_way(0).is_empty(), "a slot is free");
    assert_eq!(exchange.claim(), Some(slots[2]));
    assert_eq!((seqs(&exchange.give_way(1)), exchange.claim()), (vec![3], Some(slots[1])));
    assert!(exchange.give_way(1).is_empty(), "they are of this epoch");
    assert_eq!((seqs(&exchange.give_way(0)), exchange.claim()), (vec![5], Some(slots[3])));
    assert_eq!((seqs(&exchange.give_way(0)), exchange.claim()), (vec![2], Some(slots[0])));
    assert!(exchange.give_way(0).is_empty(), "a trainer has the only batch that is left");
}

#[test]
fn rule_11_no_batch_gives_way_that_was_offered_or_may_be_by_now() {
    let mut exchange = exchange(3);
    attach(&mut exchange, ANNA, 1).unwrap();
    for seq in 1..=3 {
        publish(&mut exchange, seq, 1);
    }
    // The epoch ended while its last position was said to need a slot.
    exchange.open_epoch(1);
    assert!(exchange.give_way(0).is_empty());
    let held = offer(&mut exchange);
    // It is taken to the epoch before, and the trainer that has the batch dies.
    exchange.restart_at(0);
    exchange.gone(ANNA);
    offers(&mut exchange);
    assert_eq!(seqs(&exchange.give_way(0)), [3]);
    exchange.claim().unwrap();
    assert_eq!(seqs(&exchange.give_way(0)), [2]);
    exchange.claim().unwrap();
    assert_eq!((held.receipt.seq, exchange.give_way(0)), (1, Vec::new()), "a trainer has had it in its hands");
}

#[test]
fn rule_11_in_order_no_batch_stays_behind_one_that_gave_way() {
    for (in_order, expected) in [(true, vec![4, 3, 2]), (false, vec![2])] {
        let mut exchange = if in_order { Exchange::new(0).in_order() } else { Exchange::new(0) };
        let (old, new) = (0, 1);
        exchange.add_ring(new, 3);
        (0..3).for_each(|slot| exchange.populated(SlotId { ring: new, slot }));
        let lasting = [1, 2].map(|seq| publish(&mut exchange, seq, 1));
        exchange.add_ring(old, 2);
        (0..2).for_each(|slot| exchange.populated(SlotId { ring: old, slot }));
        publish(&mut exchange, 3, 1);
        publish(&mut exchange, 4, 1);
        exchange.retire_ring(old);
        publish(&mut exchange, 5, 0);
        actions(&mut exchange);
        assert_eq!(seqs(&exchange.give_way(0)), expected, "no other slot can be filled");
        assert_eq!(exchange.claim(), Some(lasting[1]));
        assert_eq!(exchange.usable(), 3, "what can give way is not lost for the ring");
    }
}
