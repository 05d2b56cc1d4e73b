//! Tests of leases that others may have by now: deadlines of offers, and batches of lost leases.

use forebay_ring::{Number, Release};

use super::*;
use crate::ledger_event::Others;

/// Far more than a socket takes that nobody reads.
const MANY: u64 = 10_000;

fn deadline(trainer: &Trainer) -> u64 {
    trainer.hears(|message| if let Message::Deadline(deadline) = message { Some(*deadline) } else { None })
}

fn ask(trainer: &Trainer, known: u64) {
    trainer.says(&packet(&Number { kind: MessageKind::Deadline as u32, reserved: 0, value: known }, &[]));
}

#[test]
fn rule_19_an_offer_has_the_deadline_and_a_trainer_that_asks_is_told_a_later_one_as_soon_as_there_is_one() {
    let scene = Scene::new(|_| ());
    scene.outbox.post(InboxMessage::Ledger(LedgerEvent::Deadline(100)));
    let trainer = scene.attach(1);
    scene.publish(0);
    assert_eq!(trainer.offer().deadline, 100);
    ask(&trainer, 100);
    // Nothing is later yet; what it is told next is the next deadline.
    assert_eq!(scene.offered_so_far(&trainer), None);
    scene.outbox.post(InboxMessage::Ledger(LedgerEvent::Deadline(200)));
    assert_eq!(deadline(&trainer), 200);
    scene.outbox.post(InboxMessage::Ledger(LedgerEvent::Deadline(300)));
    ask(&trainer, 200);
    assert_eq!(deadline(&trainer), 300);
}

#[test]
fn rule_19_a_trainer_that_does_not_read_is_not_evicted_because_its_deadline_is_renewed() {
    let scene = Scene::new(|_| ());
    let trainer = scene.attach(1);
    scene.publish(0);
    for deadline in 0..MANY {
        scene.outbox.post(InboxMessage::Ledger(LedgerEvent::Deadline(deadline)));
    }
    assert_eq!(trainer.offer().seq, 0);
    assert_eq!(scene.offered_so_far(&trainer), None);
    ask(&trainer, 0);
    assert_eq!(deadline(&trainer), MANY - 1, "and it is told the last one only");
}

#[test]
fn rule_19_a_batch_of_a_lease_that_was_lost_is_offered_to_nobody_even_if_it_is_finished_later() {
    let mut scene = Scene::new(|_| ());
    let trainer = scene.attach(1);
    scene.outbox.post(InboxMessage::Ledger(LedgerEvent::Lost(vec![7])));
    scene.publish(0);
    let Some(DeliveryOutcome::Returned(ranges)) = scene.outcomes.blocking_recv() else { panic!("its claims go back") };
    assert_eq!(ranges[0].lease, 7);
    assert_eq!(scene.offered_so_far(&trainer), None);
}

#[test]
fn rule_19_an_offered_batch_of_a_lost_lease_is_taken_back_before_its_trainer_hears_of_a_later_deadline() {
    let mut scene = Scene::new(|_| ());
    scene.outbox.post(InboxMessage::Ledger(LedgerEvent::Deadline(100)));
    let trainer = scene.attach(1);
    scene.publish(0);
    let offer = trainer.offer();
    ask(&trainer, 100);
    assert_eq!(scene.offered_so_far(&trainer), None);
    scene.outbox.post(InboxMessage::Ledger(LedgerEvent::Lost(vec![7])));
    scene.outbox.post(InboxMessage::Ledger(LedgerEvent::Deadline(200)));
    let first = trainer.hears(|message| match message {
        Message::Void(seq) => Some(("void", *seq)),
        Message::Deadline(deadline) => Some(("deadline", *deadline)),
        _ => None,
    });
    assert_eq!(first, ("void", offer.seq));
    assert_eq!(deadline(&trainer), 200);
    trainer.says(&packet(&Release { returned: 1, ..release(&offer) }, &[]));
    let Some(DeliveryOutcome::Returned(ranges)) = scene.outcomes.blocking_recv() else {
        panic!("it is offered to nobody else")
    };
    assert_eq!(ranges[0].lease, 7);
}

#[test]
fn rule_35_what_trainers_elsewhere_wait_for_is_taken_back_from_those_who_have_not_taken_it() {
    let mut scene = Scene::new(|_| ());
    let trainer = scene.attach(1);
    scene.publish(0);
    let offer = trainer.offer();
    scene.publish(1);
    scene.outbox.post(InboxMessage::Ledger(LedgerEvent::Others(Others { epoch: 0, holders: Vec::new(), want: true })));
    let back = |outcome: Option<DeliveryOutcome>| {
        if let Some(DeliveryOutcome::Returned(ranges)) = outcome { ranges[0].lease } else { panic!() }
    };
    assert_eq!(back(scene.outcomes.blocking_recv()), 7, "nobody had the second one");
    let void = |message: &Message<'_>| if let Message::Void(seq) = message { Some(*seq) } else { None };
    assert_eq!(trainer.hears(void), offer.seq);
    // It was handed out a moment before: its receipt counts.
    trainer.ack(&offer);
    let Some(DeliveryOutcome::Receipts { receipts: BatchReceipts { items, .. }, .. }) = scene.outcomes.blocking_recv()
    else {
        panic!("a receipt")
    };
    assert_eq!(items[0].lease, 7);
}

fn release(offer: &Offer) -> Release {
    let Offer { slot, seq, generation, ring, .. } = *offer;
    Release { kind: MessageKind::Release as u32, slot, seq, generation, returned: 0, ring }
}
