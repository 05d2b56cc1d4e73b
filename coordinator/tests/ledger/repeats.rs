//! What may be seen twice, and that the audit names its cause (rule 15).

use forebay_plan::Verdict as Judgement;
use forebay_proto::v1::{
    Cause, EpochTally, Repeats, RestoreRequest, Snapshot, StoredHead, Verdict, ack_item::Kind, acquire_reply::Answer,
};
use prost::Message;

use crate::scene::{Daemon, GRACE, Scene, TTL, span, spec, static_spec};

fn repeats(scene: &Scene) -> Repeats {
    scene.audit().iter().fold(Repeats::default(), |mut sum, audit| {
        sum.add(Cause::DaemonDied, audit.repeats.daemon_died);
        sum.add(Cause::LeaseExpired, audit.repeats.lease_expired);
        sum.add(Cause::DaemonStopped, audit.repeats.daemon_stopped);
        sum.add(Cause::TrainerEnded, audit.repeats.trainer_ended);
        sum
    })
}

/// Delivers what is left; the epoch must add up.
fn finish(scene: &Scene, daemon: &mut Daemon) {
    scene.pass(GRACE);
    assert_eq!(scene.deliver_all(daemon), Answer::DatasetDone);
    assert!(scene.audit().iter().all(|audit| audit.verdict == Judgement::AddsUp), "{:?}", scene.audit_lines());
}

#[test]
fn rule_15_every_cause_is_named_with_its_count() {
    let scene = Scene::new(spec(60), 10, 1);
    let mut daemon = scene.daemon("node", 1);
    // Its trainer ended with three of them, and another one got them and acked.
    let first = daemon.lease(&scene);
    assert_eq!(daemon.tell_seen(&scene, &first, 0, 3), Verdict::Accepted);
    assert_eq!(daemon.ack(&scene, scene.receipt(&first, 0, 3, Kind::Delivered)), Verdict::Accepted);
    assert_eq!(daemon.ack(&scene, scene.receipt(&first, 3, 10, Kind::Delivered)), Verdict::Accepted);
    // A trainer ended with two, and no other was there.
    let second = daemon.lease(&scene);
    assert_eq!(daemon.give_back_seen(&scene, &second, 0, 2, Cause::TrainerEnded), Verdict::Accepted);
    assert_eq!(daemon.give_back(&scene, &second, 2, 10), Verdict::Accepted, "nobody has seen these");
    // Another daemon falls silent.
    let mut silent = scene.daemon("silent", 1);
    assert_eq!(silent.acquire(&scene, 2).leases.iter().map(|it| it.end - it.start).collect::<Vec<_>>(), [2, 8]);
    scene.pass(TTL / 2);
    daemon.heartbeat(&scene);
    scene.pass(TTL / 2);
    // This one stops while a trainer holds four.
    let third = daemon.lease(&scene);
    assert_eq!(span(&third), (0, 10, 12), "what came back is first");
    daemon.ack(&scene, scene.delivered(&third));
    let fourth = daemon.lease(&scene);
    daemon.ack(&scene, scene.delivered(&fourth));
    let fifth = daemon.lease(&scene);
    assert_eq!(daemon.give_back_seen(&scene, &fifth, 0, 4, Cause::DaemonStopped), Verdict::Accepted);
    assert_eq!(daemon.give_back(&scene, &fifth, 4, 10), Verdict::Accepted);
    // And its next life ends with seven in hand.
    let mut next = scene.daemon("node", 2);
    let sixth = next.lease(&scene);
    assert_eq!(sixth.end - sixth.start, 6);
    next.ack(&scene, scene.receipt(&sixth, 0, 1, Kind::Delivered));
    finish(&scene, &mut scene.daemon("node", 3));
    assert_eq!(
        repeats(&scene),
        Repeats { daemon_died: 5, lease_expired: 10, daemon_stopped: 4, trainer_ended: 5 },
        "{:?}",
        scene.audit_lines()
    );
    assert!(scene.audit_lines()[0].ends_with(
        "checksum equal; possibly repeated: 5 after a daemon died, 10 after a lease expired, 4 after a daemon stopped \
         before its trainer was done, 5 after a trainer ended"
    ));
}

/// A fresh run goes on from the snapshot, to its end.
fn repeats_of_a_run_from(snapshot: Snapshot) -> Repeats {
    let fresh = Scene::new(spec(20), 10, 1);
    let mut daemon = fresh.daemon("elsewhere", 1);
    let request = RestoreRequest { caller: Some(daemon.next()), snapshot: Some(snapshot), ..RestoreRequest::default() };
    fresh.call(request).unwrap();
    finish(&fresh, &mut daemon);
    repeats(&fresh)
}

#[test]
fn rule_15_a_state_names_what_a_dead_trainer_had_and_another_one_has_not_acked_yet() {
    let mut scene = Scene::new(spec(20), 10, 1);
    let mut daemon = scene.daemon("node", 1);
    let lease = daemon.lease(&scene);
    let before = scene.snapshot(vec![]);
    assert_eq!(daemon.tell_seen(&scene, &lease, 0, 4), Verdict::Accepted);
    scene.restart();
    let in_hand = scene.receipt(&lease, 0, 4, Kind::Delivered);
    let (queued, held) = (scene.snapshot(vec![]), scene.snapshot(vec![in_hand]));
    // The next trainer consumes the batch, and only then a state is loaded.
    assert_eq!(daemon.ack(&scene, in_hand), Verdict::Accepted);
    assert_eq!(daemon.ack(&scene, scene.receipt(&lease, 4, 10, Kind::Delivered)), Verdict::Accepted);
    finish(&scene, &mut daemon);
    let expected = Repeats { trainer_ended: 4, ..Repeats::default() };
    assert_eq!(repeats(&scene), expected);
    assert_eq!(repeats_of_a_run_from(queued.clone()), expected, "the batch comes once more after the state");
    assert_eq!(repeats_of_a_run_from(held), expected, "it had come once more before the state");
    assert_eq!(repeats_of_a_run_from(before.clone()), Repeats::default(), "the trainer had it after this state");
    // The same run, back and forth.
    for (snapshot, expected) in [(queued, expected), (before, Repeats::default())] {
        scene
            .call(RestoreRequest { caller: Some(daemon.next()), snapshot: Some(snapshot), ..RestoreRequest::default() })
            .unwrap();
        finish(&scene, &mut daemon);
        assert_eq!(repeats(&scene), expected);
    }
}

#[test]
fn rule_15_every_trainer_that_ended_with_a_batch_is_counted_and_so_is_what_its_daemon_did_next() {
    let scene = Scene::new(spec(20), 10, 1);
    let mut daemon = scene.daemon("node", 1);
    let lease = daemon.lease(&scene);
    for _ in 0..3 {
        assert_eq!(daemon.tell_seen(&scene, &lease, 0, 4), Verdict::Accepted);
    }
    // No trainer is left, and the daemon gives back what it had offered: nobody but those three has seen it.
    assert_eq!(daemon.give_back(&scene, &lease, 0, 10), Verdict::Accepted);
    let lease = daemon.lease(&scene);
    assert_eq!(repeats(&scene), Repeats { trainer_ended: 12, ..Repeats::default() });
    // One more trainer has it when the daemon dies, and hands it in to the next one.
    assert_eq!(daemon.tell_seen(&scene, &lease, 0, 4), Verdict::Accepted);
    let mut next = scene.daemon("node", 2);
    assert_eq!(next.resume(&scene, scene.receipt(&lease, 0, 4, Kind::Delivered)), Verdict::Accepted);
    finish(&scene, &mut next);
    assert_eq!(repeats(&scene), Repeats { trainer_ended: 16, daemon_died: 6, ..Repeats::default() });
}

#[test]
fn rule_15_what_a_trainer_had_of_a_lease_that_ended_meanwhile_counts_until_somebody_else_gets_it() {
    let scene = Scene::new(spec(20), 10, 1);
    let (mut daemon, mut other) = (scene.daemon("node", 1), scene.daemon("other", 1));
    let lease = daemon.lease(&scene);
    scene.pass(TTL);
    assert_eq!(daemon.tell_seen(&scene, &lease, 0, 4), Verdict::Accepted, "its batch may still be acked");
    assert_eq!(daemon.ack(&scene, scene.receipt(&lease, 0, 4, Kind::Delivered)), Verdict::Accepted);
    assert_eq!(daemon.tell_seen(&scene, &lease, 0, 4), Verdict::Lost, "it is acked");
    assert_eq!(span(&other.lease(&scene)), (0, 4, 10));
    assert_eq!(daemon.tell_seen(&scene, &lease, 4, 8), Verdict::Lost, "another daemon has it");
    let live = daemon.lease(&scene);
    for (start, end) in [(0, 0), (8, 12), (5, 3)] {
        assert_eq!(daemon.tell_seen(&scene, &live, start, end), Verdict::Invalid, "{start}..{end}");
    }
    daemon.ack(&scene, scene.receipt(&live, 0, 4, Kind::Delivered));
    assert_eq!(daemon.tell_seen(&scene, &live, 2, 6), Verdict::Invalid, "a part of it is acked");
    assert_eq!(repeats(&scene), Repeats { trainer_ended: 4, lease_expired: 6, ..Repeats::default() });
}

#[test]
fn rule_15_a_position_without_a_record_is_no_repetition() {
    let scene = Scene::new(static_spec(5, 0, 2, false), 3, 1);
    let mut daemon = scene.daemon("node", 1);
    let lease = daemon.lease(&scene);
    assert_eq!(span(&lease), (0, 0, 3), "two records, and one position more");
    assert_eq!(daemon.tell_seen(&scene, &lease, 0, 3), Verdict::Accepted);
    assert_eq!(repeats(&scene), Repeats { trainer_ended: 2, ..Repeats::default() });
}

#[test]
fn rule_15_what_nobody_saw_is_no_repetition_whatever_had_happened_to_it_before() {
    let scene = Scene::new(spec(10), 10, 1);
    scene.daemon("node", 1).lease(&scene);
    // A death, which is counted when they are granted again.
    let mut daemon = scene.daemon("node", 2);
    scene.pass(GRACE);
    let lease = daemon.lease(&scene);
    assert_eq!(repeats(&scene).total(), 10);
    // Clean restarts give back what they had, unseen.
    assert_eq!(daemon.give_back(&scene, &lease, 0, 10), Verdict::Accepted);
    for incarnation in 3..6 {
        let mut daemon = scene.daemon("node", incarnation);
        let lease = daemon.lease(&scene);
        assert_eq!(daemon.give_back(&scene, &lease, 0, 10), Verdict::Accepted);
    }
    finish(&scene, &mut scene.daemon("node", 6));
    assert_eq!(repeats(&scene), Repeats { daemon_died: 10, ..Repeats::default() });
}

#[test]
fn rule_21_what_a_trainer_holds_when_its_daemon_stops_is_kept_for_it() {
    let mut scene = Scene::new(spec(30), 10, 1);
    let mut daemon = scene.daemon("node", 1);
    let lease = daemon.lease(&scene);
    for (start, end) in [(0, 4), (4, 8)] {
        assert_eq!(daemon.give_back_seen(&scene, &lease, start, end, Cause::DaemonStopped), Verdict::Accepted);
    }
    assert_eq!(daemon.give_back(&scene, &lease, 8, 10), Verdict::Accepted);
    // The next life comes long after the grace, and its trainers a moment later.
    scene.pass(10 * GRACE);
    scene.restart();
    let mut next = scene.daemon("node", 2);
    let granted: Vec<_> = next.acquire(&scene, 64).leases.iter().map(span).collect();
    assert_eq!(granted, [(0, 8, 10), (0, 10, 20), (0, 20, 30)]);
    assert_eq!(next.resume(&scene, scene.receipt(&lease, 0, 4, Kind::Delivered)), Verdict::Accepted);
    assert_eq!(next.reclaim(&scene, &lease, 4, 8), Verdict::Accepted);
    scene.pass(GRACE);
    assert_eq!(next.acquire(&scene, 1).answer(), Answer::EpochEnd, "it is in its trainer's hands");
    assert_eq!(repeats(&scene).total(), 0);
}

#[test]
fn rule_15_a_cause_is_known_after_a_restart_of_the_coordinator_and_in_a_snapshot() {
    let mut scene = Scene::new(spec(20), 10, 1);
    let mut daemon = scene.daemon("node", 1);
    let (first, second) = (daemon.lease(&scene), daemon.lease(&scene));
    daemon.give_back_seen(&scene, &first, 0, 10, Cause::TrainerEnded);
    daemon.give_back_seen(&scene, &second, 0, 10, Cause::DaemonStopped);
    scene.restart();
    let snapshot = Some(scene.snapshot(vec![]));
    finish(&scene, &mut daemon);
    let expected = Repeats { trainer_ended: 10, daemon_stopped: 10, ..Repeats::default() };
    assert_eq!(repeats(&scene), expected);

    let fresh = Scene::new(spec(20), 10, 1);
    let mut daemon = fresh.daemon("elsewhere", 1);
    fresh.call(RestoreRequest { caller: Some(daemon.next()), snapshot, ..RestoreRequest::default() }).unwrap();
    finish(&fresh, &mut daemon);
    assert_eq!(repeats(&fresh), expected);
}

#[test]
fn rule_15_a_ledger_of_version_1_continues_with_its_repetitions_as_deaths() {
    let mut scene = Scene::new(spec(20), 10, 1);
    let mut daemon = scene.daemon("node", 1);
    daemon.acquire(&scene, 2);
    let mut daemon = scene.daemon("node", 2);
    scene.pass(GRACE);
    let lease = daemon.lease(&scene);
    daemon.ack(&scene, scene.delivered(&lease));
    // As the build before wrote it.
    let mut documents = scene.store.documents();
    for (key, value) in &mut documents {
        if key.ends_with("/head") {
            let mut head = StoredHead::decode(value.as_slice()).unwrap();
            head.version = 1;
            assert_eq!(head.returned.len(), 1);
            head.returned[0].cause = 0;
            *value = head.encode_to_vec();
        } else if key.contains("/epoch/") {
            let tally = EpochTally::decode(value.as_slice()).unwrap();
            assert_eq!(tally.repeats.unwrap().total(), 10);
            *value = EpochTally { regranted: 10, repeats: None, ..tally }.encode_to_vec();
        }
    }
    scene.store.set(&documents);
    scene.restart();
    finish(&scene, &mut daemon);
    assert_eq!(repeats(&scene), Repeats { daemon_died: 20, ..Repeats::default() });
}

/// Gives every stored head this version.
fn set_version(scene: &Scene, version: u32) {
    let mut documents = scene.store.documents();
    for (_, value) in documents.iter_mut().filter(|(key, _)| key.ends_with("/head")) {
        *value = StoredHead { version, ..StoredHead::decode(value.as_slice()).unwrap() }.encode_to_vec();
    }
    scene.store.set(&documents);
}

#[test]
fn rule_15_a_ledger_of_version_2_continues_and_one_of_a_newer_build_is_not_called_damaged() {
    let mut scene = Scene::new(spec(20), 10, 1);
    let mut daemon = scene.daemon("node", 1);
    let lease = daemon.lease(&scene);
    daemon.ack(&scene, scene.delivered(&lease));
    set_version(&scene, 5);
    let newer = scene.try_restart().unwrap_err();
    assert!(newer.contains("version 5") && newer.contains("Run the newer build"), "{newer}");
    assert!(!newer.contains("damaged") && !newer.contains("new run"), "{newer}");
    set_version(&scene, 0);
    let none = scene.try_restart().unwrap_err();
    assert!(none.contains("damaged") && none.contains("impossible"), "{none}");
    set_version(&scene, 2);
    scene.restart();
    finish(&scene, &mut daemon);
    assert_eq!(repeats(&scene), Repeats::default());
}
