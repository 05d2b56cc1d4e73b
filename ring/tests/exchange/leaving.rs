//! Trainers that die, are evicted or say goodbye, and what becomes of what they held.

use forebay_ring::{Action, BatchId, Exchange, HeldBatch};

use crate::{ANNA, BELA, CLEO, actions, attach, exchange, freed, offer, publish};

#[test]
fn rule_14_a_trainer_that_dies_after_its_ack_frees_the_slot_and_nothing_comes_again() {
    let mut exchange = exchange(6);
    attach(&mut exchange, ANNA, 2).unwrap();
    attach(&mut exchange, BELA, 2).unwrap();
    let slot = publish(&mut exchange, 1, 0);
    let held = offer(&mut exchange);
    exchange.ack(held.to, held.receipt);
    exchange.gone(held.to);
    let after = actions(&mut exchange);
    assert!(after.contains(&Action::Free(slot)) && after.contains(&Action::Gone(held.to)), "{after:?}");
    assert!(!after.iter().any(|action| matches!(action, Action::Offer { .. })), "{after:?}");
}

#[test]
fn rule_15_a_dead_trainers_batch_comes_again_from_the_same_slot() {
    let mut exchange = exchange(6);
    attach(&mut exchange, ANNA, 2).unwrap();
    publish(&mut exchange, 1, 0);
    let first = offer(&mut exchange);
    exchange.gone(ANNA);
    assert_eq!(exchange.counts().ready, 1, "it waits where no other trainer is");
    attach(&mut exchange, BELA, 2).unwrap();
    let second = offer(&mut exchange);
    assert_eq!((second.receipt, second.redelivered), (first.receipt, 1));
}

#[test]
fn a_slot_that_a_living_process_may_still_read_is_lent_again_but_never_refilled() {
    let mut exchange = exchange(6);
    attach(&mut exchange, ANNA, 2).unwrap();
    let slot = publish(&mut exchange, 1, 0);
    offer(&mut exchange);
    exchange.evict(ANNA);
    attach(&mut exchange, BELA, 2).unwrap();
    let held = offer(&mut exchange).receipt;
    assert_eq!(held.slot, slot, "the pixels are as good as before");
    exchange.ack(BELA, held);
    exchange.release(BELA, held, false);
    assert!(!freed(&mut exchange, slot), "Anna's process lives");
    assert_eq!(exchange.counts().quarantined, 1);
    let others: Vec<_> = std::iter::from_fn(|| exchange.claim()).collect();
    assert!(!others.contains(&slot));
    exchange.gone(ANNA);
    assert!(freed(&mut exchange, slot));
    assert_eq!(exchange.claim(), Some(slot));
}

#[test]
fn a_trainer_that_was_evict_after_its_ack_keeps_the_slot_until_it_exits() {
    let mut exchange = exchange(4);
    attach(&mut exchange, ANNA, 2).unwrap();
    let slot = publish(&mut exchange, 1, 0);
    let held = offer(&mut exchange).receipt;
    exchange.ack(ANNA, held);
    exchange.evict(ANNA);
    assert_eq!(exchange.counts().quarantined, 1);
    assert!(!exchange.release(ANNA, held, false), "a late receipt of an evicted trainer frees nothing");
    exchange.evict(ANNA);
    exchange.gone(ANNA);
    let after = actions(&mut exchange);
    assert!(after.contains(&Action::Free(slot)), "{after:?}");
    assert_eq!(after.iter().filter(|action| **action == Action::Gone(ANNA)).count(), 1);
}

#[test]
fn a_trainer_that_leaves_with_empty_hands_is_gone_at_once() {
    let mut exchange = exchange(4);
    attach(&mut exchange, ANNA, 2).unwrap();
    exchange.evict(ANNA);
    assert_eq!(actions(&mut exchange), [Action::Gone(ANNA)]);
    exchange.gone(ANNA);
    assert_eq!(actions(&mut exchange), []);
}

#[test]
fn rule_11_a_dead_holders_last_batch_comes_to_the_one_that_waits() {
    let mut exchange = exchange(6);
    attach(&mut exchange, ANNA, 1).unwrap();
    publish(&mut exchange, 1, 0);
    offer(&mut exchange);
    attach(&mut exchange, BELA, 2).unwrap();
    publish(&mut exchange, 2, 1);
    exchange.gone(ANNA);
    let next = offer(&mut exchange);
    assert_eq!((next.to, next.receipt.seq), (BELA, 1));
}

#[test]
fn rule_15_a_batch_that_somebody_may_have_seen_is_offered_again_when_that_is_noted() {
    type End = fn(&mut Exchange, HeldBatch);
    let ends: [(End, bool); 4] = [
        (|exchange, _| exchange.gone(ANNA), true),
        (|exchange, _| exchange.evict(ANNA), true),
        (|exchange, _| exchange.bye(ANNA), false),
        (|exchange, held| assert!(exchange.release(ANNA, held, true)), false),
    ];
    for (end, seen) in ends {
        let mut exchange = exchange(6).in_order();
        attach(&mut exchange, ANNA, 1).unwrap();
        publish(&mut exchange, 1, 0);
        let held = offer(&mut exchange).receipt;
        attach(&mut exchange, BELA, 1).unwrap();
        end(&mut exchange, held);
        publish(&mut exchange, 2, 0);
        let batch = BatchId { seq: 1, epoch: 0 };
        let is_offer = |action: &Action| matches!(action, Action::Offer { .. });
        if seen {
            let told = actions(&mut exchange);
            assert!(told.contains(&Action::Seen(batch)), "{told:?}");
            assert!(!told.iter().any(is_offer), "it waits, and in order nothing passes it: {told:?}");
            exchange.noted(1);
        }
        let told = actions(&mut exchange);
        let offered = told.iter().find(|action| is_offer(action));
        assert!(matches!(offered, Some(Action::Offer { consumer: BELA, batch, .. }) if batch.seq == 1), "{told:?}");
        assert!(!told.contains(&Action::Seen(batch)), "once: {told:?}");
        // Another death is another sight; of a void batch that is told when it is dropped.
        exchange.void(1);
        exchange.gone(BELA);
        let told = actions(&mut exchange);
        assert!(told.contains(&Action::Dropped { batch, seen: true }), "{told:?}");
        assert!(!told.contains(&Action::Seen(batch)), "{told:?}");
    }
}

#[test]
fn rule_19_batches_that_nobody_saw_pass_the_one_that_waits_to_be_noted() {
    let mut exchange = exchange(6);
    attach(&mut exchange, ANNA, 1).unwrap();
    publish(&mut exchange, 1, 0);
    offer(&mut exchange);
    exchange.gone(ANNA);
    attach(&mut exchange, BELA, 3).unwrap();
    let offered = |exchange: &mut Exchange| -> Vec<(u64, u32)> {
        let told = exchange.drain().filter_map(|action| match action {
            Action::Offer { batch, redelivered, .. } => Some((batch.seq, redelivered)),
            _ => None,
        });
        told.collect()
    };
    publish(&mut exchange, 2, 0);
    publish(&mut exchange, 3, 1);
    assert_eq!(offered(&mut exchange), [(2, 0)], "and none of a later epoch");
    exchange.open_epoch(1);
    assert_eq!(offered(&mut exchange), [(3, 0)]);
    exchange.noted(1);
    assert_eq!(offered(&mut exchange), [(1, 1)]);
}

#[test]
fn rule_15_what_is_noted_of_a_batch_says_nothing_of_its_next_trainer() {
    let mut exchange = exchange(6);
    attach(&mut exchange, ANNA, 1).unwrap();
    publish(&mut exchange, 1, 0);
    offer(&mut exchange);
    attach(&mut exchange, BELA, 1).unwrap();
    exchange.gone(ANNA);
    exchange.noted(1);
    exchange.noted(1);
    attach(&mut exchange, CLEO, 1).unwrap();
    exchange.gone(BELA);
    let batch = BatchId { seq: 1, epoch: 0 };
    assert_eq!(actions(&mut exchange).iter().filter(|action| **action == Action::Seen(batch)).count(), 2);
    // A batch that waits to be noted is dropped like any other.
    exchange.drop_ready();
    let told = actions(&mut exchange);
    assert!(told.contains(&Action::Dropped { batch, seen: false }), "{told:?}");
    exchange.noted(1);
    assert_eq!(actions(&mut exchange), []);
}
