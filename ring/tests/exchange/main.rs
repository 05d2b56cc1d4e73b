//! The exchange's rules, told as stories of trainers that attach, read, die and come back.

mod leaving;
mod room;

use forebay_ring::{
    Action, Adopted, BatchId, ConsumerId, CreditsTaken, Exchange, HeldBatch, Holder, Membership, NO_RING, NoPlace,
    SlotCounts, SlotId, Voided,
};

const ANNA: ConsumerId = ConsumerId(1);
const BELA: ConsumerId = ConsumerId(2);
const CLEO: ConsumerId = ConsumerId(3);

/// An offer as a trainer remembers it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Offer {
    to: ConsumerId,
    receipt: HeldBatch,
    redelivered: u32,
}

fn exchange(slots: u32) -> Exchange {
    let mut exchange = Exchange::new(0);
    exchange.add_ring(0, slots);
    for slot in 0..slots {
        exchange.populated(SlotId { ring: 0, slot });
    }
    exchange.drain().count();
    exchange
}

fn attach(exchange: &mut Exchange, consumer: ConsumerId, asked: u32) -> Result<u32, NoPlace> {
    exchange.attach(consumer, asked, Membership::default()).map(|granted| granted.credits)
}

fn publish(exchange: &mut Exchange, seq: u64, epoch: u64) -> SlotId {
    let slot = exchange.claim().expect("a slot is free");
    exchange.publish(slot, BatchId { seq, epoch });
    slot
}

fn actions(exchange: &mut Exchange) -> Vec<Action> {
    exchange.drain().collect()
}

/// With a ledger that notes at once what it is told.
fn offers(exchange: &mut Exchange) -> Vec<Offer> {
    let mut offers = Vec::new();
    loop {
        let actions = actions(exchange);
        if actions.is_empty() {
            return offers;
        }
        for action in actions {
            match action {
                Action::Offer { consumer: to, slot, batch, generation, redelivered } => {
                    offers.push(Offer { to, receipt: HeldBatch { seq: batch.seq, slot, generation }, redelivered });
                }
                Action::Seen(batch) => exchange.noted(batch.seq),
                _ => {}
            }
        }
    }
}

fn offer(exchange: &mut Exchange) -> Offer {
    let found = offers(exchange);
    assert_eq!(found.len(), 1, "{found:?}");
    found[0]
}

fn freed(exchange: &mut Exchange, slot: SlotId) -> bool {
    exchange.drain().any(|action| action == Action::Free(slot))
}

#[test]
fn rule_4_credits_are_granted_until_none_are_left_and_then_refused_with_the_number() {
    let mut exchange = exchange(2 + 2 * 2);
    assert_eq!(attach(&mut exchange, ANNA, 3), Ok(3));
    assert_eq!(attach(&mut exchange, BELA, 2), Ok(1), "a further trainer gets what is left");
    let refused = attach(&mut exchange, CLEO, 2).unwrap_err();
    assert_eq!(refused, CreditsTaken { credits: 4, slots: 6, trainers: 2 }.into());
    assert!(refused.to_string().contains("4 credits"), "{refused}");
    exchange.gone(ANNA);
    assert_eq!(attach(&mut exchange, CLEO, 0), Ok(1), "at least one");
}

#[test]
fn rule_4_with_fewer_than_two_usable_slots_a_further_ring_takes_over() {
    let mut exchange = exchange(3);
    attach(&mut exchange, ANNA, 1).unwrap();
    publish(&mut exchange, 1, 0);
    assert_eq!(offer(&mut exchange).to, ANNA);
    exchange.evict(ANNA);
    assert_eq!(offers(&mut exchange), []);
    attach(&mut exchange, BELA, 1).expect("an evicted trainer's credits are free again");
    let held = offer(&mut exchange).receipt;
    exchange.ack(BELA, held);
    exchange.release(BELA, held, false);
    assert_eq!(exchange.usable(), 2, "Anna's process keeps one slot");
    assert_eq!((exchange.watched_by(ANNA), exchange.watched_by(BELA)), (1, 0));
    publish(&mut exchange, 2, 0);
    exchange.credit(BELA, 1);
    let kept = offer(&mut exchange).receipt;
    exchange.ack(BELA, kept);
    assert_eq!(exchange.usable(), 1, "a view of Bela's keeps another one");
    exchange.add_ring(1, 3);
    exchange.retire_ring(0);
    exchange.populated(SlotId { ring: 1, slot: 0 });
    assert_eq!(exchange.claim(), Some(SlotId { ring: 1, slot: 0 }), "the new ring is used");
    assert_eq!(exchange.claim(), None, "and the old one is not, though a slot of it was free");
}

#[test]
fn a_retired_ring_is_empty_when_its_last_reader_lets_go() {
    let mut exchange = exchange(3);
    attach(&mut exchange, ANNA, 1).unwrap();
    publish(&mut exchange, 1, 0);
    let held = offer(&mut exchange).receipt;
    exchange.add_ring(1, 3);
    exchange.retire_ring(0);
    assert_eq!(exchange.counts(), SlotCounts { unpopulated: 3, held: 1, retired: 2, ..SlotCounts::default() });
    exchange.ack(ANNA, held);
    assert!(!actions(&mut exchange).contains(&Action::RingEmpty(0)));
    exchange.release(ANNA, held, false);
    assert!(actions(&mut exchange).contains(&Action::RingEmpty(0)));
    assert_eq!(exchange.counts(), SlotCounts { unpopulated: 3, ..SlotCounts::default() });
}

#[test]
fn batches_go_out_by_number_to_whoever_holds_least() {
    let mut exchange = exchange(6);
    attach(&mut exchange, ANNA, 2).unwrap();
    attach(&mut exchange, BELA, 2).unwrap();
    for seq in 1..=4 {
        publish(&mut exchange, seq, 0);
    }
    let to: Vec<_> = offers(&mut exchange).iter().map(|offer| (offer.receipt.seq, offer.to)).collect();
    assert_eq!(to, [(1, ANNA), (2, BELA), (3, ANNA), (4, BELA)]);
}

#[test]
fn an_offer_needs_credit_and_a_hand_that_is_not_full() {
    let mut exchange = exchange(4);
    attach(&mut exchange, ANNA, 1).unwrap();
    publish(&mut exchange, 1, 0);
    publish(&mut exchange, 2, 0);
    let first = offer(&mut exchange).receipt;
    exchange.credit(ANNA, u64::MAX);
    assert_eq!(offers(&mut exchange), [], "credit beyond the grant gives nothing");
    exchange.ack(ANNA, first);
    assert_eq!(offers(&mut exchange), [], "the view still holds the slot");
    exchange.release(ANNA, first, false);
    assert_eq!(offer(&mut exchange).receipt.seq, 2);
}

#[test]
fn rule_14_an_acked_slot_stays_held_until_its_last_view_is_gone() {
    let mut exchange = exchange(4);
    attach(&mut exchange, ANNA, 2).unwrap();
    let slot = publish(&mut exchange, 1, 0);
    let held = offer(&mut exchange).receipt;
    assert!(exchange.ack(ANNA, held));
    let batch = BatchId { seq: 1, epoch: 0 };
    assert_eq!(actions(&mut exchange), [Action::Acked { consumer: ANNA, batch }]);
    assert_eq!(exchange.counts().held, 1);
    assert!(!exchange.ack(ANNA, held), "an ack counts once");
    assert!(exchange.release(ANNA, held, false));
    assert!(freed(&mut exchange, slot));
    assert!(!exchange.release(ANNA, held, false));
}

#[test]
fn a_returned_batch_goes_to_another_trainer_first_of_all() {
    let mut exchange = exchange(6);
    attach(&mut exchange, ANNA, 1).unwrap();
    publish(&mut exchange, 1, 0);
    publish(&mut exchange, 2, 0);
    let held = offer(&mut exchange).receipt;
    exchange.release(ANNA, held, true);
    attach(&mut exchange, BELA, 1).unwrap();
    let next = offer(&mut exchange);
    assert_eq!((next.to, next.receipt.seq, next.redelivered), (BELA, 1, 1), "before batch 2, and not to Anna");
    exchange.credit(ANNA, 1);
    assert_eq!(offer(&mut exchange).receipt.seq, 2);
}

#[test]
fn a_sole_trainer_gets_what_it_returned_again() {
    let mut exchange = exchange(4);
    attach(&mut exchange, ANNA, 2).unwrap();
    publish(&mut exchange, 1, 0);
    let held = offer(&mut exchange).receipt;
    exchange.release(ANNA, held, true);
    assert_eq!(offer(&mut exchange).receipt.seq, 1);
}

#[test]
fn late_and_false_receipts_are_refused_and_change_nothing() {
    let mut exchange = exchange(6);
    attach(&mut exchange, ANNA, 2).unwrap();
    attach(&mut exchange, BELA, 2).unwrap();
    publish(&mut exchange, 1, 0);
    let held = offer(&mut exchange);
    let other = if held.to == ANNA { BELA } else { ANNA };
    let HeldBatch { seq, slot, generation } = held.receipt;
    let wrong = [
        (other, held.receipt),
        (held.to, HeldBatch { seq: seq + 1, ..held.receipt }),
        (held.to, HeldBatch { generation: generation + 1, ..held.receipt }),
        (held.to, HeldBatch { slot: SlotId { slot: slot.slot + 1, ..slot }, ..held.receipt }),
        (held.to, HeldBatch { slot: SlotId { ring: 9, ..slot }, ..held.receipt }),
        (held.to, HeldBatch { slot: SlotId { ring: NO_RING, slot: 0 }, ..held.receipt }),
        (CLEO, held.receipt),
    ];
    for (consumer, receipt) in wrong {
        assert!(!exchange.ack(consumer, receipt), "{consumer:?} {receipt:?}");
        assert!(!exchange.release(consumer, receipt, true), "{consumer:?} {receipt:?}");
        assert!(!exchange.awaits(consumer, receipt));
    }
    assert!(exchange.awaits(held.to, held.receipt));
    assert!(exchange.ack(held.to, held.receipt));
}

#[test]
fn rule_11_no_batch_of_the_next_epoch_before_everybody_was_told_that_this_one_is_over() {
    let mut exchange = exchange(6);
    attach(&mut exchange, ANNA, 2).unwrap();
    publish(&mut exchange, 1, 0);
    publish(&mut exchange, 2, 1);
    let last = offer(&mut exchange).receipt;
    assert_eq!(last.seq, 1);
    assert_eq!(exchange.holders(0), [Holder { consumer: ANNA, seq: 1 }]);
    exchange.ack(ANNA, last);
    assert_eq!(exchange.holders(0), []);
    exchange.release(ANNA, last, false);
    exchange.credit(ANNA, 1);
    assert_eq!(offers(&mut exchange), [], "the ledger has not said that the epoch is complete");
    exchange.open_epoch(1);
    let after = actions(&mut exchange);
    assert_eq!(after[0], Action::EpochEnd { consumer: ANNA, epoch: 0 });
    assert!(matches!(after[1], Action::Offer { batch: BatchId { seq: 2, epoch: 1 }, .. }), "{after:?}");
    exchange.open_epoch(0);
    assert_eq!(exchange.open(), 1, "epochs do not close again");
}

#[test]
fn a_batch_with_a_lost_claim_is_dropped_or_at_least_not_offered_again() {
    let mut exchange = exchange(6);
    attach(&mut exchange, ANNA, 1).unwrap();
    publish(&mut exchange, 1, 0);
    let slot = publish(&mut exchange, 2, 0);
    let held = offer(&mut exchange).receipt;
    assert_eq!(exchange.void(2), Voided::Dropped);
    let after = actions(&mut exchange);
    assert_eq!(after, [Action::Dropped { batch: BatchId { seq: 2, epoch: 0 }, seen: false }, Action::Free(slot)]);
    assert_eq!(exchange.void(2), Voided::Unknown);
    assert_eq!(exchange.void(1), Voided::Held(vec![ANNA]));
    exchange.release(ANNA, held, true);
    let after = actions(&mut exchange);
    assert_eq!(after, [Action::Dropped { batch: BatchId { seq: 1, epoch: 0 }, seen: false }, Action::Free(held.slot)]);
}

#[test]
fn rule_23_a_restore_drops_ready_batches_and_held_ones_do_not_come_back() {
    let mut exchange = exchange(6);
    attach(&mut exchange, ANNA, 1).unwrap();
    for seq in 1..=3 {
        publish(&mut exchange, seq, 0);
    }
    offer(&mut exchange);
    exchange.drop_ready();
    let dropped = |found: Vec<Action>| {
        let seqs = found.into_iter().filter_map(|action| match action {
            Action::Dropped { batch, .. } => Some(batch.seq),
            _ => None,
        });
        seqs.collect::<Vec<_>>()
    };
    assert_eq!(dropped(actions(&mut exchange)), [2, 3]);
    exchange.gone(ANNA);
    assert_eq!(dropped(actions(&mut exchange)), [1]);
    assert_eq!(exchange.counts().free, 6);
}

#[test]
fn rule_23_after_a_restore_to_an_earlier_epoch_the_barrier_stands_there_again() {
    let mut exchange = exchange(6);
    attach(&mut exchange, ANNA, 2).unwrap();
    exchange.open_epoch(3);
    exchange.drop_ready();
    exchange.restart_at(1);
    exchange.drain().count();
    publish(&mut exchange, 1, 2);
    assert_eq!(offers(&mut exchange), []);
    publish(&mut exchange, 2, 1);
    assert_eq!(offer(&mut exchange).receipt.seq, 2);
}

#[test]
fn rule_16_a_batch_resumed_from_an_earlier_incarnation_is_acked_or_orphaned() {
    let mut exchange = exchange(6);
    attach(&mut exchange, ANNA, 2).unwrap();
    let (hold, resumed) = (|seq| seq - 40, |seq| HeldBatch::resumed(seq - 40, seq));
    for seq in [41, 42, 43, 44] {
        exchange.adopt(ANNA, hold(seq), BatchId { seq, epoch: 0 });
    }
    assert_eq!(exchange.holders(0).len(), 4, "the epoch waits for them");
    assert!(exchange.awaits(ANNA, resumed(41)));
    assert!(exchange.ack(ANNA, resumed(41)));
    assert!(exchange.release(ANNA, resumed(41), false), "its slot is in no ring: nothing to do, nothing wrong");
    assert!(exchange.release(ANNA, resumed(42), true));
    assert!(exchange.release(ANNA, resumed(44), false), "it has not said that it has not used it");
    exchange.gone(ANNA);
    let adopted = |seq| Adopted { consumer: ANNA, hold: hold(seq), batch: BatchId { seq, epoch: 0 } };
    let orphan = |seq, seen| Action::Orphaned { adopted: adopted(seq), seen };
    let acked = Action::AdoptedAcked(adopted(41));
    assert_eq!(
        actions(&mut exchange),
        [acked, orphan(42, false), orphan(44, true), orphan(43, true), Action::Gone(ANNA)]
    );
}

#[test]
fn rule_16_batches_of_one_number_from_dead_daemons_are_acked_returned_and_orphaned_each_by_itself() {
    let mut exchange = exchange(6);
    attach(&mut exchange, ANNA, 2).unwrap();
    let batch = BatchId { seq: 0, epoch: 0 };
    for hold in 1..=4 {
        exchange.adopt(ANNA, hold, batch);
    }
    assert_eq!(exchange.holders(0), [Holder { consumer: ANNA, seq: 0 }; 4], "the epoch waits for each");
    let resumed = |hold| HeldBatch::resumed(hold, 0);
    let adopted = |hold| Adopted { consumer: ANNA, hold, batch };
    let orphan = |hold, seen| Action::Orphaned { adopted: adopted(hold), seen };
    assert!(exchange.ack(ANNA, resumed(2)));
    assert!(!exchange.ack(ANNA, resumed(2)), "it is not another one's");
    assert!(exchange.release(ANNA, resumed(3), true));
    assert!(exchange.ack(ANNA, resumed(1)));
    assert_eq!(exchange.holders(0), [Holder { consumer: ANNA, seq: 0 }]);
    exchange.gone(ANNA);
    let acked = |hold| Action::AdoptedAcked(adopted(hold));
    assert_eq!(actions(&mut exchange), [acked(2), orphan(3, false), acked(1), orphan(4, true), Action::Gone(ANNA)]);
}

#[test]
fn rule_16_a_number_that_is_resumed_twice_is_one_batch_with_the_first_one_s_seq_and_epoch() {
    let mut exchange = exchange(6);
    attach(&mut exchange, ANNA, 2).unwrap();
    let (first, second) = (BatchId { seq: 7, epoch: 0 }, BatchId { seq: 8, epoch: 3 });
    exchange.adopt(ANNA, 1, first);
    exchange.adopt(ANNA, 1, second);
    assert_eq!((exchange.holders(0).len(), exchange.holders(3).len()), (1, 0));
    assert!(exchange.ack(ANNA, HeldBatch::resumed(1, 8)));
    assert_eq!(actions(&mut exchange), [Action::AdoptedAcked(Adopted { consumer: ANNA, hold: 1, batch: first })]);
    assert!(!exchange.ack(ANNA, HeldBatch::resumed(1, 7)));
}

#[test]
fn a_claim_that_is_given_up_frees_the_slot() {
    let mut exchange = exchange(3);
    let slot = exchange.claim().unwrap();
    exchange.give_up(slot);
    assert!(freed(&mut exchange, slot));
    assert_eq!(exchange.counts(), SlotCounts { free: 3, ..SlotCounts::default() });
}
