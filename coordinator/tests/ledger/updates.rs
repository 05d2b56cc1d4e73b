//! What a coordinator tells all workers of a ledger: who has an epoch's last positions, and whether others wait for them.

use std::time::Duration;

use forebay_proto::v1::{Caller, LedgerUpdate};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::remote::{Served, block_on, remote};
use crate::scene::{Daemon, Scene, TTL, spec};

/// The update in the reply to a heartbeat.
fn told(scene: &Scene, daemon: &Daemon, waits: bool) -> (Vec<String>, u64) {
    let update = scene.call(daemon.beat(waits)).unwrap().update.unwrap();
    (update.holders.into_iter().map(|holder| holder.worker).collect(), update.recalled)
}

#[test]
fn rule_34_the_holders_of_an_epoch_are_told_once_nothing_of_it_is_left_to_lease() {
    let scene = Scene::new(spec(30), 10, 2);
    let (mut one, mut two) = (scene.daemon("one", 1), scene.daemon("two", 1));
    let (first, second) = (two.lease(&scene), one.lease(&scene));
    assert_eq!(told(&scene, &one, false), (vec![], 0), "there is more to lease");
    let third = one.lease(&scene);
    assert_eq!(told(&scene, &one, false).0, ["two", "one"], "first the one that has had its lease for longest");
    two.ack(&scene, scene.delivered(&first));
    assert_eq!(told(&scene, &one, false).0, ["one"]);
    one.ack(&scene, scene.delivered(&second));
    one.ack(&scene, scene.delivered(&third));
    two.lease(&scene);
    assert_eq!(told(&scene, &one, false).0, [""; 0], "the next epoch has begun");
}

#[test]
fn rule_35_an_epoch_is_recalled_while_a_worker_waits_also_when_something_of_it_came_back() {
    let scene = Scene::new(spec(20), 10, 1);
    let (mut slow, quick) = (scene.daemon("slow", 1), scene.daemon("quick", 1));
    let lease = slow.lease(&scene);
    slow.lease(&scene);
    assert_eq!(told(&scene, &quick, false).1, 0);
    assert_eq!(told(&scene, &quick, true).1, 1, "epochs below 1");
    assert_eq!(told(&scene, &slow, false).1, 1);
    slow.give_back(&scene, &lease, 0, 10);
    assert_eq!(told(&scene, &slow, false).1, 1, "it is for the one that waits");
    assert_eq!(told(&scene, &quick, false).1, 0);
}

#[test]
fn rule_35_nothing_is_recalled_for_a_worker_that_is_gone() {
    let scene = Scene::new(spec(10), 10, 1);
    let (mut slow, quick) = (scene.daemon("slow", 1), scene.daemon("quick", 1));
    slow.lease(&scene);
    assert_eq!(told(&scene, &quick, true).1, 1);
    for _ in 0..2 {
        scene.pass(TTL / 2);
        slow.heartbeat(&scene);
    }
    assert_eq!(told(&scene, &slow, false).1, 0);
}

/// The next update for which this holds.
fn until(updates: &mut mpsc::Receiver<LedgerUpdate>, is_meant: impl Fn(&LedgerUpdate) -> bool) {
    while !is_meant(&next(updates).expect("the updates go on")) {}
}

fn next(updates: &mut mpsc::Receiver<LedgerUpdate>) -> Option<LedgerUpdate> {
    block_on(async { timeout(Duration::from_secs(60), updates.recv()).await.expect("it is told in time") })
}

#[test]
fn rule_34_a_worker_that_follows_its_ledger_is_told_of_changes_that_others_make() {
    let (scene, folder) = (Scene::new(spec(10), 10, 2), tempfile::tempdir().unwrap());
    let socket = folder.path().join("coordinator.sock");
    let served = Served::begin(scene.handle(), &socket);
    let handle = remote(&[&socket]);
    let (follower, mut other) = (scene.daemon("follower", 1), scene.daemon("other", 1));
    let follow = || block_on(handle.follow(follower.caller()));
    let mut updates = follow();
    until(&mut updates, |now| now.progress.is_some_and(|progress| progress.drained == 0));
    let lease = other.lease(&scene);
    until(&mut updates, |now| now.holders.first().is_some_and(|holder| holder.worker == "other"));
    scene.call(follower.beat(true)).unwrap();
    until(&mut updates, |now| now.recalled == 1);
    other.ack(&scene, scene.delivered(&lease));
    until(&mut updates, |now| now.progress.is_some_and(|progress| progress.floor == 1) && now.holders.is_empty());
    scene.handle().end_updates();
    assert_eq!(next(&mut updates), None, "it follows nobody any more");
    // Who asks again is told nothing by a coordinator that ends.
    let mut again = follow();
    while let Some(now) = next(&mut again) {
        assert_eq!(now, LedgerUpdate::default());
    }
    drop(served);
    assert_eq!(next(&mut follow()), None, "there is no coordinator");
}

#[test]
fn rule_34_only_a_worker_that_has_the_ledger_open_is_told_of_it() {
    let (scene, folder) = (Scene::new(spec(10), 10, 1), tempfile::tempdir().unwrap());
    let socket = folder.path().join("coordinator.sock");
    let _served = Served::begin(scene.handle(), &socket);
    let handle = remote(&[&socket]);
    let stranger = Caller { worker: "stranger".into(), ..scene.daemon("known", 1).caller() };
    assert_eq!(next(&mut block_on(handle.follow(stranger))), None);
    assert_eq!(next(&mut block_on(scene.handle().follow(Caller::default()))), None, "one here has no other workers");
}

#[test]
fn rule_34_a_coordinator_that_is_not_sure_to_lead_ends_its_updates_so_that_its_workers_follow_the_leader() {
    let (scene, folder) = (Scene::new(spec(10), 10, 1), tempfile::tempdir().unwrap());
    let socket = folder.path().join("coordinator.sock");
    let _served = Served::begin(scene.handle(), &socket);
    let handle = remote(&[&socket]);
    let (follower, mut other) = (scene.daemon("follower", 1), scene.daemon("other", 1));
    let follow = || block_on(handle.follow(follower.caller()));
    let mut updates = follow();
    until(&mut updates, |now| now.progress.is_some());
    scene.store.make_unsure(true);
    scene.call(follower.beat(false)).unwrap_err();
    while next(&mut updates).is_some() {}
    assert_eq!(next(&mut follow()), None, "it does not know what there is to tell");
    scene.store.make_unsure(false);
    let mut updates = follow();
    other.lease(&scene);
    until(&mut updates, |now| now.holders.first().is_some_and(|holder| holder.worker == "other"));
}
