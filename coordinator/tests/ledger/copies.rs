//! Copies of commands that come late, and leases whose grant nobody heard of.

use forebay_ledger_client::CallError;
use forebay_proto::v1::{AcquireRequest, Caller, HeartbeatRequest, acquire_reply::Answer};

use crate::scene::{Daemon, Scene, TTL, spec};

/// An Acquire that found nothing to lease, as it went out.
fn in_vain(scene: &Scene, daemon: &mut Daemon) -> AcquireRequest {
    let caller = daemon.next();
    let request = AcquireRequest {
        caller: Some(Caller { unseen: caller.sequence, ..caller }),
        leases: 1,
        ..AcquireRequest::default()
    };
    let reply = scene.call(request.clone()).unwrap();
    assert_eq!((reply.answer(), reply.leases.len()), (Answer::EpochEnd, 0));
    request
}

#[test]
fn rule_34_a_copy_that_comes_behind_later_commands_grants_nothing_either_whatever_was_restarted() {
    let mut scene = Scene::new(spec(20), 10, 1);
    let (mut one, mut two) = (scene.daemon("one", 1), scene.daemon("two", 1));
    let (first, second) = (one.lease(&scene), one.lease(&scene));
    let copy = in_vain(&scene, &mut two);
    one.give_back(&scene, &first, 0, 10);
    // This is stored, and with it what was answered before.
    let taken = two.lease(&scene);
    one.give_back(&scene, &second, 0, 10);
    scene.restart();
    assert_eq!(scene.call(copy).unwrap().leases, []);
    assert_eq!(one.lease(&scene).start, second.start, "nobody else has it");
    assert_eq!(two.heartbeat(&scene), [taken.id]);
}

#[test]
fn rule_34_a_command_cannot_be_below_what_its_caller_waits_for() {
    let scene = Scene::new(spec(20), 10, 1);
    let mut one = scene.daemon("one", 1);
    let caller = Caller { unseen: 5, ..one.next() };
    let refused =
        scene.call(AcquireRequest { caller: Some(caller), leases: 1, ..AcquireRequest::default() }).unwrap_err();
    assert!(matches!(refused, CallError::Invalid(_)), "{refused:?}");
    one.lease(&scene);
}

#[test]
fn rule_34_a_delayed_copy_of_an_acquire_that_got_nothing_grants_nothing_to_nobody() {
    let scene = Scene::new(spec(20), 10, 1);
    let (mut one, mut two) = (scene.daemon("one", 1), scene.daemon("two", 1));
    let (first, _second) = (one.lease(&scene), one.lease(&scene));
    let copy = in_vain(&scene, &mut two);
    one.give_back(&scene, &first, 0, 10);
    // There is something to lease by now, and `two` has said nothing since.
    let reply = scene.call(copy).unwrap();
    assert_eq!((reply.answer(), reply.leases.len()), (Answer::EpochEnd, 0), "it is answered as it was");
    assert_eq!(two.lease(&scene).start, first.start, "its next question is a new one");
}

#[test]
fn rule_34_a_heartbeat_says_too_which_replies_were_seen() {
    let mut scene = Scene::new(spec(20), 10, 1);
    let (mut one, mut two) = (scene.daemon("one", 1), scene.daemon("two", 1));
    let (first, _second) = (one.lease(&scene), one.lease(&scene));
    let copy = in_vain(&scene, &mut two);
    // It does not know any more what it has answered.
    scene.restart();
    let caller = Caller { unseen: 2, ..two.caller() };
    scene.call(HeartbeatRequest { caller: Some(caller), ..HeartbeatRequest::default() }).unwrap();
    one.give_back(&scene, &first, 0, 10);
    assert!(matches!(scene.call(copy), Err(CallError::SequenceTooOld(_))));
}

#[test]
fn rule_34_a_lease_that_no_heartbeat_names_expires_and_the_worker_s_others_do_not() {
    let mut scene = Scene::new(spec(20), 10, 1);
    let (mut one, mut two) = (scene.daemon("one", 1), scene.daemon("two", 1));
    let (first, second) = (one.lease(&scene), two.lease(&scene));
    let copy = in_vain(&scene, &mut two);
    scene.restart();
    one.give_back(&scene, &first, 0, 10);
    // A coordinator that was restarted cannot tell the copy from a repetition: `two` has a lease that it does not know of.
    let unknown = scene.call(copy).unwrap().leases[0];
    assert_eq!(unknown.start, first.start);
    scene.pass(TTL / 2);
    assert_eq!(two.heartbeat(&scene).len(), 2);
    scene.pass(TTL / 2);
    assert_eq!(two.heartbeat(&scene), [second.id], "its time is over, whatever the worker said");
    assert_eq!(one.lease(&scene).start, first.start);
}
