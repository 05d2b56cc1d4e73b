//! Groups of trainers: when the ledger hears of a batch, and what a late group is told.

use forebay_proto::v1::MissedBatches;
use forebay_ring::{BatchId, Bulk, Join, NO_RING};

use super::*;
use crate::settings::GroupPolicy;

/// `calls` is told of each call's number on the ring's thread.
fn each(calls: impl Fn(u64) + Send + 'static) -> Scene {
    Scene::of(false, DeliverySettings { groups: GroupPolicy::Each, ..DeliverySettings::default() }, calls)
}

/// The sum that the ledger is told of the next batch.
fn acked(scene: &mut Scene) -> u64 {
    match scene.outcomes.blocking_recv() {
        Some(DeliveryOutcome::Receipts { receipts: BatchReceipts { items, .. }, .. }) => items[0].sum_low,
        other => panic!("{other:?}"),
    }
}

#[test]
fn rule_44_the_ledger_hears_of_a_batch_when_each_group_has_acked_it() {
    let (came, calls) = channel::unbounded();
    let mut scene = each(move |number| came.send(number).unwrap());
    let [one, two] = [scene.attach(1), scene.attach(2)];
    scene.publish(1);
    let offers = [one.offer(), two.offer()];
    let [first, second] = [&offers[0], &offers[1]].map(bytemuck::bytes_of);
    assert_eq!(first, second, "both read the same slot");
    one.ack(&offers[0]);
    one.call(1);
    assert_eq!(calls.recv_timeout(PATIENCE), Ok(1), "what came before the call is taken");
    assert!(scene.outcomes.try_recv().is_err(), "the other group has not acked it");
    two.ack(&offers[1]);
    assert_eq!(acked(&mut scene), 5);
}

#[test]
fn rule_44_a_group_that_saw_other_records_spoils_the_receipt() {
    let mut scene = each(|_| ());
    let [one, two] = [scene.attach(1), scene.attach(2)];
    scene.publish(1);
    one.ack_with(&one.offer(), 5);
    two.ack_with(&two.offer(), 6);
    assert!(![5, 6].contains(&acked(&mut scene)), "which of the two is right is not known");
}

#[test]
fn rule_43_a_late_group_is_welcomed_to_the_epoch_that_it_begins_with() {
    let scene = each(|_| ());
    let first = scene.attach(1);
    scene.publish(1);
    first.offer();
    let begins = |join| {
        let late = scene.join(if join == Join::Epoch { 2 } else { 3 }, Membership { group: None, join });
        late.hears(|message| match message {
            Message::Welcome { info, .. } => {
                let info = Bulk::accept(info.try_clone().unwrap()).unwrap().read(1 << 20).unwrap();
                Some(StreamInfo::decode(info.as_slice()).unwrap().epoch)
            }
            _ => None,
        })
    };
    assert_eq!([begins(Join::Epoch), begins(Join::Next)], [1, 0]);
}

#[test]
fn rule_44_the_ledger_hears_at_once_what_one_group_has_consumed_and_which_groups_wait() {
    let mut scene = each(|_| ());
    let named = |name: &str| Membership { group: Some(name.into()), join: Join::Next };
    let [fast, slow] = [scene.join(1, named("fast")), scene.join(2, named("slow"))];
    scene.publish(1);
    let offers = [fast.offer(), slow.offer()];
    fast.ack(&offers[0]);
    let mut told = Vec::new();
    let shares = loop {
        match scene.outcomes.blocking_recv().unwrap() {
            DeliveryOutcome::GroupBegan(name) => told.push(name),
            DeliveryOutcome::Shared(shares) => break shares,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(told, ["fast", "slow"]);
    let [share] = &shares[..] else { panic!("{shares:?}") };
    let by = share.receipt.as_ref().unwrap();
    assert_eq!((by.group.as_ref().unwrap().name.as_str(), by.batch), ("fast", 1));
    assert_eq!(share.waiting, ["slow"]);
    slow.ack(&offers[1]);
    let Some(DeliveryOutcome::Receipts { receipts: BatchReceipts { groups, .. }, .. }) = scene.outcomes.blocking_recv()
    else {
        panic!("the batch's own receipt")
    };
    let names: Vec<_> = groups.iter().map(|receipt| receipt.group.as_ref().unwrap().name.as_str()).collect();
    assert_eq!(names, ["fast", "slow"]);
}

/// A trainer of group "slow" that has a batch of a dead daemon in its hands, which another group has consumed.
fn comes_with(scene: &Scene, id: u64, adopted: Vec<HeldClaim>) -> Trainer {
    let slow = Membership { group: Some("slow".into()), join: Join::Next };
    let batch = BatchId { seq: 7, epoch: 0 };
    let adopted = if adopted.is_empty() { Vec::new() } else { vec![ResumedBatch { hold: 1, batch, claims: adopted }] };
    let trainer = scene.join_with(id, slow, adopted);
    trainer.hears(|message| matches!(message, Message::Welcome { .. }).then_some(()));
    trainer
}

/// What the ledger is told next, but for groups that are there.
fn told(scene: &mut Scene) -> DeliveryOutcome {
    loop {
        match scene.outcomes.blocking_recv().unwrap() {
            DeliveryOutcome::GroupBegan(_) => {}
            outcome => return outcome,
        }
    }
}

#[test]
fn rule_44_what_a_trainer_has_in_its_hands_is_missed_only_when_it_ends_without_consuming_it() {
    let mut scene = each(|_| ());
    let shared = || vec![HeldClaim::Shared(Claim::new(3, 0, 1))];
    let first = comes_with(&scene, 1, shared());
    let ack = Ack {
        kind: MessageKind::Ack as u32,
        slot: 0,
        seq: 7,
        generation: 1,
        first: 0,
        count: 1,
        last: 1,
        ring: NO_RING,
        freed: 0,
        more: 0,
    };
    first.says(&packet(&ack, bytemuck::bytes_of(&ClaimSum { high: 0, low: 5 })));
    let DeliveryOutcome::Receipts { receipts: BatchReceipts { items, shared: consumed, .. }, .. } = told(&mut scene)
    else {
        panic!("its receipt")
    };
    assert_eq!((items.len(), consumed.len()), (0, 1));
    assert_eq!(consumed[0].group.as_ref().unwrap().name, "slow");
    let DeliveryOutcome::Missing(asked) = told(&mut scene) else { panic!("nothing is in its hands any more") };
    assert_eq!(asked, ["slow"]);
    drop(first);
    let second = comes_with(&scene, 2, shared());
    drop(second);
    let third = comes_with(&scene, 3, Vec::new());
    let DeliveryOutcome::Missing(asked) = told(&mut scene) else { panic!("its batch is still owed") };
    assert_eq!(asked, ["slow"]);
    drop(third);
}

#[test]
fn rule_44_what_a_group_has_missed_is_told_to_its_next_trainer_if_none_is_there() {
    let mut scene = each(|_| ());
    drop(comes_with(&scene, 1, vec![HeldClaim::Shared(Claim::new(3, 0, 1))]));
    let second = comes_with(&scene, 2, Vec::new());
    let DeliveryOutcome::Missing(asked) = told(&mut scene) else { panic!("it is asked once") };
    drop(second);
    scene.wait_until_no_trainer_is_there();
    let missed = vec![MissedBatches { group: "slow".into(), epoch: 0, from: 7, to: 7, records: 1 }];
    scene.outbox.post(InboxMessage::Ledger(LedgerEvent::Missed { asked, missed }));
    let heir = comes_with(&scene, 3, Vec::new());
    let batch = heir.hears(|message| if let Message::Missed(missed) = message { Some(missed.from) } else { None });
    assert_eq!(batch, 7);
}
