//! Groups of trainers: when the ledger hears of a batch, and what a late group is told.

use forebay_ring::{Bulk, Join};

use super::*;
use crate::settings::Mode;

/// `calls` is told of each call's number on the ring's thread.
fn each(calls: impl Fn(u64) + Send + 'static) -> Scene {
    Scene::of(false, DeliverySettings { mode: Mode::Each, ..DeliverySettings::default() }, calls)
}

/// The sum that the ledger is told of the next batch.
fn acked(scene: &mut Scene) -> u64 {
    match scene.fates.blocking_recv() {
        Some(Fate::Acked { items, .. }) => items[0].sum_low,
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
    assert!(scene.fates.try_recv().is_err(), "the other group has not acked it");
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
        match scene.fates.blocking_recv().unwrap() {
            Fate::GroupBegan(name) => told.push(name),
            Fate::Shared(shares) => break shares,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(told, ["fast", "slow"]);
    let [share] = &shares[..] else { panic!("{shares:?}") };
    let by = share.receipt.as_ref().unwrap();
    assert_eq!((by.group.as_ref().unwrap().name.as_str(), by.batch), ("fast", 1));
    assert_eq!(share.waiting, ["slow"]);
    slow.ack(&offers[1]);
    let Some(Fate::Acked { groups, .. }) = scene.fates.blocking_recv() else { panic!("the batch's own receipt") };
    let names: Vec<_> = groups.iter().map(|receipt| receipt.group.as_ref().unwrap().name.as_str()).collect();
    assert_eq!(names, ["fast", "slow"]);
}
