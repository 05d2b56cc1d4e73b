//! A shard that moves from node to node: the worker that opened it last has it.

use forebay_ledger_client::CallError;
use forebay_proto::v1::{
    AckRequest, AcquireRequest, HeartbeatRequest, OpenReply, OpenRequest, WorkerProcess, acquire_reply::Answer,
};

use crate::scene::{Daemon, GRACE, Scene, span, static_spec};

/// Twelve records in leases of three, on a node whose machine no other node shares.
fn scene() -> Scene {
    Scene::new(static_spec(24, 0, 2, false), 3, 1)
}

fn open(scene: &Scene, node: &str, incarnation: u64, replaces: u64) -> OpenReply {
    let process = WorkerProcess { host: format!("host-{node}"), pid: 7, boot: format!("boot-{node}") };
    let request = scene.open_request(node, incarnation);
    scene.call(OpenRequest { replaces: Some(replaces), process: Some(process), ..request }).unwrap()
}

/// As a daemon opens a ledger: it knows of nobody, and takes the place of whoever has it.
fn take(scene: &Scene, node: &str, incarnation: u64) -> Daemon {
    let told = open(scene, node, incarnation, 0);
    if told.incumbent != 0 {
        assert_eq!(open(scene, node, incarnation, told.incumbent).incumbent, 0);
    }
    scene.known(node, incarnation)
}

fn fenced(scene: &Scene, daemon: &mut Daemon) -> String {
    let refused =
        scene.call(AcquireRequest { caller: Some(daemon.next()), leases: 1, ..AcquireRequest::default() }).unwrap_err();
    let CallError::Fenced(text) = refused else { panic!("{refused:?}") };
    text
}

#[test]
fn rule_39_a_shard_that_moves_continues_at_once_where_its_receipts_end() {
    let scene = scene();
    let mut old = take(&scene, "old", 1);
    let leases = old.acquire(&scene, 3).leases;
    old.ack(&scene, scene.delivered(&leases[0]));
    old.ack(&scene, scene.receipt(&leases[1], 0, 1, forebay_proto::v1::ack_item::Kind::Delivered));
    let mut new = take(&scene, "new", 1);
    let mut spans = Vec::new();
    loop {
        let reply = new.acquire(&scene, 1);
        match reply.answer() {
            Answer::Granted => {
                let lease = reply.leases[0];
                assert_eq!(lease.deaths, 0, "nobody has died");
                spans.push(span(&lease));
                new.ack(&scene, scene.delivered(&lease));
            }
            Answer::DatasetDone => break,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(spans, [(0, 4, 6), (0, 6, 9), (0, 9, 12)]);
    assert_eq!(scene.audit_lines().len(), 1);
    assert!(scene.audit_lines()[0].contains("checksum equal"), "{:?}", scene.audit_lines());
}

#[test]
fn rule_39_the_worker_that_had_the_shard_is_fenced_and_told_where_it_is() {
    let mut scene = scene();
    let mut old = take(&scene, "old", 1);
    let lease = old.lease(&scene);
    take(&scene, "new", 1);
    for restarted in [false, true] {
        if restarted {
            scene.restart();
        }
        let said = fenced(&scene, &mut old);
        let place = "opened later by node \"new\", process 7 on host \"host-new\"";
        assert!(said.contains("Shard 0 of 2") && said.contains(place), "{said}");
        let late =
            AckRequest { caller: Some(old.next()), items: vec![scene.delivered(&lease)], ..AckRequest::default() };
        assert!(matches!(scene.call(late), Err(CallError::Fenced(_))));
        let beat = scene.call(HeartbeatRequest { caller: Some(old.caller.clone()), ..HeartbeatRequest::default() });
        assert!(matches!(beat, Err(CallError::Fenced(_))), "{beat:?}");
    }
}

#[test]
fn rule_39_a_delayed_open_of_the_worker_that_had_the_shard_takes_nothing_back() {
    let scene = scene();
    let mut old = take(&scene, "old", 1);
    old.lease(&scene);
    let mut new = take(&scene, "new", 1);
    let told = open(&scene, "old", 1, 0);
    assert_eq!((told.incumbent, told.ledger.as_str()), (1, ""), "nothing was opened");
    new.lease(&scene);
    // If a trainer comes to the old node once more, its daemon opens the shard again.
    let mut back = take(&scene, "old", 2);
    fenced(&scene, &mut new);
    assert_eq!(span(&back.lease(&scene)), (0, 0, 3));
}

#[test]
fn rule_39_what_a_stopped_daemon_left_for_its_trainer_goes_to_the_new_node_after_the_grace() {
    let scene = scene();
    let mut old = take(&scene, "old", 1);
    let lease = old.lease(&scene);
    old.give_back_seen(&scene, &lease, 0, 3, forebay_proto::v1::Cause::DaemonStopped);
    let mut new = take(&scene, "new", 1);
    assert_eq!(new.acquire(&scene, 1).answer(), Answer::Wait);
    scene.pass(GRACE);
    assert_eq!(span(&new.lease(&scene)), (0, 0, 3));
}

#[test]
fn rule_39_other_shards_stay_where_they_are() {
    let mut scene = scene();
    take(&scene, "new", 1);
    scene.spec = static_spec(24, 1, 2, false);
    let mut other = take(&scene, "other", 1);
    scene.spec = static_spec(24, 0, 2, false);
    take(&scene, "newer", 1);
    other.lease(&scene);
}
