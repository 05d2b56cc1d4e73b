//! Receipts, repetitions and deaths.

use forebay_ledger_client::CallError;
use forebay_plan::Verdict as Judgement;
use forebay_proto::v1::{
    AbandonRequest, AckItem, AckRequest, AcquireRequest, HeartbeatRequest, Range, Repeats, Verdict, ack_item::Kind,
    acquire_reply::Answer,
};

use crate::scene::{GRACE, Scene, TTL, span, spec};

#[test]
fn rule_5_a_lease_ends_when_all_of_its_positions_are_acked_or_returned() {
    let scene = Scene::new(spec(100), 10, 1);
    let mut daemon = scene.daemon("node", 1);
    let lease = daemon.lease(&scene);
    // Two batches of one lease, acked out of order, and a third that is dropped unseen.
    assert_eq!(daemon.ack(&scene, scene.receipt(&lease, 4, 8, Kind::Delivered)), Verdict::Accepted);
    assert_eq!(daemon.ack(&scene, scene.receipt(&lease, 0, 4, Kind::Delivered)), Verdict::Accepted);
    assert_eq!(daemon.give_back(&scene, &lease, 8, 10), Verdict::Accepted);
    assert_eq!(daemon.ack(&scene, scene.receipt(&lease, 0, 4, Kind::Delivered)), Verdict::Lost, "the lease has ended");
    let again = daemon.lease(&scene);
    assert_eq!(span(&again), (0, 8, 10), "what was given back comes first");
    assert_ne!(again.id, lease.id);
}

#[test]
fn rule_5_batches_given_back_one_by_one_are_leased_again_as_one_span() {
    let scene = Scene::new(spec(100), 10, 1);
    let mut daemon = scene.daemon("node", 1);
    let lease = daemon.lease(&scene);
    for start in [4, 0, 6, 2, 8] {
        daemon.give_back(&scene, &lease, start, start + 2);
    }
    assert_eq!(span(&daemon.lease(&scene)), (0, 0, 10));
}

#[test]
fn rule_15_a_receipt_is_accepted_once_and_only_if_it_fits() {
    let scene = Scene::new(spec(100), 10, 1);
    let mut daemon = scene.daemon("node", 1);
    let lease = daemon.lease(&scene);
    let good = scene.receipt(&lease, 0, 4, Kind::Delivered);
    for wrong in [
        AckItem { count: 3, ..good },
        AckItem { range: None, ..good },
        AckItem { kind: 0, ..good },
        AckItem { range: Some(Range { start: 4, end: 0 }), ..good },
        AckItem { range: Some(Range { start: 0, end: 0 }), count: 0, ..good },
        AckItem { range: Some(Range { start: 8, end: 12 }), ..good },
        AckItem { range: Some(Range { start: u64::MAX - 4, end: u64::MAX }), ..good },
    ] {
        assert_eq!(daemon.ack(&scene, wrong), Verdict::Invalid, "{wrong:?}");
    }
    assert_eq!(daemon.ack(&scene, AckItem { lease: 99, ..good }), Verdict::Lost);
    assert_eq!(daemon.ack(&scene, good), Verdict::Accepted);
    assert_eq!(daemon.ack(&scene, good), Verdict::Invalid, "twice");
    assert_eq!(daemon.ack(&scene, scene.receipt(&lease, 2, 6, Kind::Delivered)), Verdict::Invalid, "half twice");
}

#[test]
fn rule_15_a_late_receipt_counts_only_while_nobody_else_has_the_records() {
    let scene = Scene::new(spec(20), 10, 1);
    let mut slow = scene.daemon("slow", 1);
    let (first, second) = (slow.lease(&scene), slow.lease(&scene));
    let mut quick = scene.daemon("quick", 1);
    scene.pass(TTL);
    quick.heartbeat(&scene);
    assert_eq!(span(&quick.lease(&scene)), span(&first), "the lease of a silent worker goes to another");
    assert_eq!(slow.ack(&scene, scene.delivered(&first)), Verdict::Lost);
    assert_eq!(quick.ack(&scene, scene.delivered(&second)), Verdict::Lost, "the lease was never this worker's");
    assert_eq!(slow.ack(&scene, scene.delivered(&second)), Verdict::Accepted, "nobody got these meanwhile");
}

#[test]
fn rule_4_a_heartbeat_extends_all_leases_and_a_restart_gives_a_full_time() {
    let mut scene = Scene::new(spec(20), 10, 1);
    let mut daemon = scene.daemon("node", 1);
    let (first, second) = (daemon.lease(&scene), daemon.lease(&scene));
    scene.pass(TTL - 1);
    daemon.heartbeat(&scene);
    scene.pass(TTL - 1);
    scene.restart();
    scene.pass(TTL - 1);
    let mut other = scene.daemon("other", 1);
    assert_eq!(other.acquire(&scene, 1).answer(), Answer::EpochEnd, "nothing has expired");
    assert_eq!(daemon.ack(&scene, scene.delivered(&first)), Verdict::Accepted);
    assert_eq!(daemon.ack(&scene, scene.delivered(&second)), Verdict::Accepted);
    assert_eq!(other.acquire(&scene, 1).answer(), Answer::DatasetDone);
}

#[test]
fn rule_16_what_a_dead_incarnation_had_waits_for_its_consumers_and_goes_last() {
    let scene = Scene::new(spec(40), 10, 2);
    let mut old = scene.daemon("node", 1);
    let (held, consumed, lost) = (old.lease(&scene), old.lease(&scene), old.lease(&scene));
    let mut new = scene.daemon("node", 2);
    assert!(matches!(
        scene.call(AcquireRequest { caller: Some(old.next()), leases: 1, ..AcquireRequest::default() }),
        Err(CallError::Fenced(text)) if text.contains("incarnation 2")
    ));
    assert_eq!(span(&new.lease(&scene)), (0, 30, 40), "fresh records first");
    let waiting = new.acquire(&scene, 1);
    assert_eq!(waiting.answer(), Answer::Wait, "not yet, and no record of the next epoch before these");
    assert_eq!(waiting.progress.unwrap().drained, 0);

    assert_eq!(new.resume(&scene, scene.delivered(&consumed)), Verdict::Accepted, "a consumer's hand-in counts");
    assert_eq!(new.reclaim(&scene, &held, 2, 7), Verdict::Accepted);
    assert_eq!(new.reclaim(&scene, &held, 2, 7), Verdict::Lost, "only once");
    scene.pass(GRACE);
    let rest: Vec<_> = new.acquire(&scene, 4).leases.iter().map(span).collect();
    assert_eq!(rest[..3], [(0, 0, 2), (0, 7, 10), span(&lost)]);
    assert_eq!(rest[3].0, 1, "then the next epoch");
    assert_eq!(new.ack(&scene, scene.receipt(&lost, 0, 1, Kind::Delivered)), Verdict::Lost, "too late");
    assert_eq!(new.ack(&scene, scene.receipt(&held, 2, 7, Kind::Delivered)), Verdict::Accepted, "it kept its lease");
    assert_eq!(scene.audit()[0].repeats, Repeats { daemon_died: 15, ..Repeats::default() });
}

#[test]
fn rule_16_what_a_living_incarnation_has_or_gave_back_cannot_be_resumed() {
    let scene = Scene::new(spec(20), 10, 1);
    let mut daemon = scene.daemon("node", 1);
    let (out, back) = (daemon.lease(&scene), daemon.lease(&scene));
    daemon.give_back(&scene, &back, 0, 10);
    for lease in [&out, &back] {
        assert_eq!(daemon.resume(&scene, scene.delivered(lease)), Verdict::Lost);
        assert_eq!(daemon.reclaim(&scene, lease, 0, 10), Verdict::Lost);
    }
    assert_eq!(scene.deliver_all(&mut daemon), Answer::EpochEnd, "nothing was taken from those who have it");
    assert_eq!(daemon.ack(&scene, scene.delivered(&out)), Verdict::Accepted);
    assert_eq!(scene.audit()[0].verdict, Judgement::AddsUp);
}

#[test]
fn rule_16_a_consumer_that_lets_go_is_waited_for_no_more() {
    let scene = Scene::new(spec(10), 10, 1);
    let lease = scene.daemon("node", 1).lease(&scene);
    let mut new = scene.daemon("node", 2);
    assert_eq!(new.acquire(&scene, 1).answer(), Answer::Wait);
    assert_eq!(new.give_back(&scene, &lease, 0, 10), Verdict::Accepted);
    assert_eq!(span(&new.lease(&scene)), (0, 0, 10));
}

#[test]
fn rule_16_opening_twice_with_one_incarnation_loses_nothing() {
    let scene = Scene::new(spec(10), 10, 1);
    let mut daemon = scene.daemon("node", 1);
    let lease = daemon.lease(&scene);
    scene.open("node", 1);
    assert_eq!(daemon.ack(&scene, scene.delivered(&lease)), Verdict::Accepted);
}

#[test]
fn rule_18_a_repeated_command_gets_the_same_reply_and_changes_nothing() {
    let mut scene = Scene::new(spec(100), 10, 1);
    let mut daemon = scene.daemon("node", 1);
    let ask = AcquireRequest { caller: Some(daemon.next()), leases: 2, ..AcquireRequest::default() };
    let granted = scene.call(ask.clone()).unwrap();
    let ack = AckRequest {
        caller: Some(daemon.next()),
        items: vec![scene.delivered(&granted.leases[0])],
        ..AckRequest::default()
    };
    let acked = scene.call(ack.clone()).unwrap();
    assert_eq!(acked.verdicts, [Verdict::Accepted as i32]);
    for _ in 0..2 {
        assert_eq!(scene.call(ask.clone()).unwrap(), granted);
        assert_eq!(scene.call(ack.clone()).unwrap(), acked, "accepted, not acked twice");
        scene.restart();
    }
    let misused = AcquireRequest { caller: ack.caller.clone(), leases: 1, ..AcquireRequest::default() };
    assert!(matches!(scene.call(misused), Err(CallError::Invalid(text)) if text.contains("another command")));
}

#[test]
fn rule_18_replies_are_kept_for_sixteen_commands_and_older_ones_are_refused() {
    let scene = Scene::new(spec(1000), 10, 1);
    let mut daemon = scene.daemon("node", 1);
    let leases: Vec<_> = (0..17).map(|_| daemon.lease(&scene)).collect();
    let mut repeat = daemon.clone();
    for (sequence, lease) in (2..=17).zip(&leases[1..]) {
        repeat.caller.sequence = sequence - 1;
        assert_eq!(repeat.lease(&scene), *lease);
    }
    repeat.caller.sequence = 0;
    let refused = scene.call(AcquireRequest { caller: Some(repeat.next()), leases: 1, ..AcquireRequest::default() });
    assert!(matches!(refused, Err(CallError::SequenceTooOld(text)) if text.contains("17")));
    repeat.caller.sequence = 0;
    let zero =
        scene.call(AcquireRequest { caller: Some(repeat.caller.clone()), leases: 1, ..AcquireRequest::default() });
    assert!(matches!(zero, Err(CallError::Invalid(_))));
}

#[test]
fn rule_18_commands_that_overtake_each_other_are_all_applied() {
    let scene = Scene::new(spec(100), 10, 1);
    let mut daemon = scene.daemon("node", 1);
    let callers: Vec<_> = (0..4).map(|_| daemon.next()).collect();
    let mut starts: Vec<u64> = [3, 0, 2, 1]
        .map(|index: usize| AcquireRequest {
            caller: Some(callers[index].clone()),
            leases: 1,
            ..AcquireRequest::default()
        })
        .map(|request| scene.call(request).unwrap().leases[0].start)
        .into();
    starts.sort_unstable();
    assert_eq!(starts, [0, 10, 20, 30]);
}

#[test]
fn rule_18_waiting_costs_no_commit() {
    let scene = Scene::new(spec(10), 10, 1);
    let mut daemon = scene.daemon("node", 1);
    daemon.lease(&scene);
    let before = scene.store.commits();
    for _ in 0..20 {
        assert_eq!(daemon.acquire(&scene, 1).answer(), Answer::EpochEnd);
        daemon.heartbeat(&scene);
    }
    assert_eq!(scene.store.commits(), before);
}

#[test]
fn rule_24_another_records_sum_fails_the_audit() {
    let scene = Scene::new(spec(20), 10, 1);
    let mut daemon = scene.daemon("node", 1);
    let (first, second) = (daemon.lease(&scene), daemon.lease(&scene));
    daemon.ack(&scene, scene.delivered(&first));
    assert_eq!(scene.audit()[0].verdict, Judgement::Incomplete);
    // The trainer saw the first lease's records twice, and the second's never; count and range are right.
    let seen_twice = AckItem { lease: second.id, ..scene.delivered(&first) };
    assert_eq!(daemon.ack(&scene, seen_twice), Verdict::Accepted);
    assert_eq!(scene.audit()[0].verdict, Judgement::DoesNotAddUp);
    let line = &scene.audit_lines()[0];
    assert!(line.starts_with("epoch 0: 20 of 20 records accounted for (20 delivered), DOES NOT ADD UP"), "{line}");
}

#[test]
fn rule_24_everything_that_can_become_of_a_record_adds_up() {
    let scene = Scene::new(spec(40), 10, 1);
    let mut daemon = scene.daemon("node", 1);
    let (first, second, _) = (daemon.lease(&scene), daemon.lease(&scene), daemon.lease(&scene));
    daemon.ack(&scene, scene.delivered(&first));
    assert_eq!(daemon.nack(&scene, &second, 3), Verdict::Accepted);
    assert_eq!(daemon.nack(&scene, &second, 3), Verdict::Invalid, "bad once is enough");
    daemon.ack(&scene, scene.receipt(&second, 4, 10, Kind::Dropped));
    assert_eq!(
        scene
            .call(AbandonRequest { caller: Some(daemon.next()), epoch: 0, ..AbandonRequest::default() })
            .unwrap()
            .abandoned,
        3 + 10 + 10
    );
    assert_eq!(
        scene.audit_lines(),
        [
            "epoch 0: 40 of 40 records accounted for (10 delivered, 6 dropped, 1 quarantined, 23 abandoned), complete but for 1 bad"
        ]
    );
    assert_eq!(daemon.ack(&scene, scene.receipt(&second, 0, 1, Kind::Delivered)), Verdict::Lost, "abandoned is fenced");
    assert_eq!(scene.quarantine()[0].reason, "no end marker");
}

#[test]
fn a_bad_record_must_be_the_one_that_stands_there() {
    let scene = Scene::new(spec(40), 10, 1);
    let mut daemon = scene.daemon("node", 1);
    let mut lease = daemon.lease(&scene);
    assert_eq!(daemon.nack(&scene, &lease, 10), Verdict::Invalid, "beyond the lease");
    lease.start += 1;
    assert_eq!(daemon.nack(&scene, &lease, 0), Verdict::Invalid, "another record's number");
    lease.id += 1;
    assert_eq!(daemon.nack(&scene, &lease, 0), Verdict::Lost);
}

#[test]
fn a_worker_that_never_opened_the_ledger_is_refused() {
    let scene = Scene::new(spec(40), 10, 1);
    let mut stranger = scene.daemon("node", 1);
    stranger.caller.worker = "stranger".to_owned();
    assert!(matches!(
        scene.call(HeartbeatRequest { caller: Some(stranger.next()), ..HeartbeatRequest::default() }),
        Err(CallError::Fenced(text)) if text.contains("stranger")
    ));
}
