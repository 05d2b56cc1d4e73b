//! Snapshots and going back to them.

use forebay_ledger_client::CallError;
use forebay_plan::Verdict as Judgement;
use forebay_proto::v1::{
    AckItem, AckRequest, BadRecord, EpochTally, OpenRange, RestoreRequest, Snapshot, TakeSnapshotRequest, Verdict,
    ack_item::Kind, acquire_reply::Answer,
};
use prost::Message;

use crate::scene::{Daemon, GRACE, Scene, bare, span, spec, static_spec};

fn restore(scene: &Scene, daemon: &mut Daemon, snapshot: &Snapshot) -> Result<u64, CallError> {
    let request =
        RestoreRequest { caller: Some(daemon.next()), snapshot: Some(snapshot.clone()), ..RestoreRequest::default() };
    scene.call(request).map(|reply| reply.progress.unwrap().generation)
}

#[test]
fn rule_22_a_snapshot_counts_what_the_caller_has_in_hand_and_nobody_elses() {
    let scene = Scene::new(spec(100), 10, 1);
    let (mut one, mut two) = (scene.daemon("one", 1), scene.daemon("two", 1));
    let (mine, others) = (one.lease(&scene), two.lease(&scene));
    one.ack(&scene, scene.receipt(&mine, 0, 4, Kind::Delivered));
    let in_hand = scene.receipt(&mine, 4, 8, Kind::Delivered);
    let acked_already = scene.receipt(&mine, 0, 4, Kind::Delivered);
    let snapshot = scene.snapshot(vec![in_hand, acked_already]);
    let open: Vec<_> = snapshot.open.iter().map(|open| (open.start, open.end)).collect();
    assert_eq!(open, [(8, 10), (others.start, others.end)]);
    assert_eq!((snapshot.epoch, snapshot.cursor), (0, 20));
    assert_eq!(snapshot.tallies[0].delivered.unwrap().count, 8);
    assert!(snapshot.encoded_len() < 500, "{} bytes", snapshot.encoded_len());
    assert_eq!(one.ack(&scene, in_hand), Verdict::Accepted, "taking a snapshot acks nothing");
}

#[test]
fn rule_22_a_receipt_that_contradicts_itself_is_an_error() {
    let scene = Scene::new(spec(100), 10, 1);
    let lease = scene.daemon("node", 1).lease(&scene);
    let wrong = AckItem { count: 1, ..scene.receipt(&lease, 4, 6, Kind::Delivered) };
    let request = TakeSnapshotRequest {
        ledger: "run/train/all".to_owned(),
        consumed: vec![wrong],
        ..TakeSnapshotRequest::default()
    };
    assert!(matches!(scene.call(request), Err(CallError::Invalid(_))), "{wrong:?}");
}

#[test]
fn rule_22_a_receipt_of_which_a_part_went_to_others_counts_for_nothing() {
    let scene = Scene::new(spec(10), 10, 1);
    let mut daemon = scene.daemon("node", 1);
    let lease = daemon.lease(&scene);
    daemon.ack(&scene, scene.receipt(&lease, 0, 4, Kind::Delivered));
    let snapshot = scene.snapshot(vec![scene.receipt(&lease, 2, 6, Kind::Delivered)]);
    assert_eq!(snapshot.open.iter().map(|open| (open.start, open.end)).collect::<Vec<_>>(), [(4, 10)]);
    assert_eq!(snapshot.tallies[0].delivered.unwrap().count, 4);
}

#[test]
fn rule_22_a_state_counts_what_the_caller_holds_over_any_number_of_its_daemons_deaths() {
    let mut scene = Scene::new(spec(20), 10, 1);
    let mut daemon = scene.daemon("node", 1);
    let lease = daemon.lease(&scene);
    let in_hand = [scene.receipt(&lease, 0, 3, Kind::Delivered), scene.receipt(&lease, 5, 8, Kind::Delivered)];
    for incarnation in 2..5 {
        daemon = scene.daemon("node", incarnation);
        // What it holds of one lease comes back in whatever parts and order.
        assert_eq!(daemon.reclaim(&scene, &lease, 5, 8), Verdict::Accepted, "incarnation {incarnation}");
        assert_eq!(daemon.reclaim(&scene, &lease, 0, 3), Verdict::Accepted, "incarnation {incarnation}");
        scene.restart();
        let snapshot = scene.snapshot(in_hand.to_vec());
        let open: Vec<_> = snapshot.open.iter().map(|open| (open.start, open.end)).collect();
        assert_eq!(open, [(3, 5), (8, 10)], "incarnation {incarnation}");
        assert_eq!(snapshot.tallies[0].delivered.unwrap().count, 6);
    }
    // One is acked in this life, the other one after a further death.
    assert_eq!(daemon.ack(&scene, in_hand[0]), Verdict::Accepted);
    let mut last = scene.daemon("node", 9);
    assert_eq!(last.resume(&scene, in_hand[0]), Verdict::Lost, "it counts already");
    assert_eq!(last.resume(&scene, in_hand[1]), Verdict::Accepted);
    scene.pass(GRACE);
    assert_eq!(scene.deliver_all(&mut last), Answer::DatasetDone);
    let audit = &scene.audit()[0];
    assert_eq!(
        (audit.verdict, audit.sums.delivered.count, audit.repeats.daemon_died),
        (Judgement::AddsUp, 20, 4),
        "{audit}"
    );
}

#[test]
fn rule_23_restore_fences_older_leases_and_leases_what_was_outstanding_again() {
    let mut scene = Scene::new(spec(40), 10, 1);
    let mut daemon = scene.daemon("node", 1);
    let (first, second) = (daemon.lease(&scene), daemon.lease(&scene));
    daemon.ack(&scene, scene.delivered(&first));
    let snapshot = scene.snapshot(vec![]);
    // The ledger goes further before it is set back.
    let third = daemon.lease(&scene);
    daemon.ack(&scene, scene.delivered(&third));
    assert_eq!(restore(&scene, &mut daemon, &snapshot), Ok(2));
    assert_eq!(daemon.ack(&scene, scene.delivered(&second)), Verdict::Lost, "fenced");
    assert_eq!(daemon.reclaim(&scene, &second, 0, 10), Verdict::Lost, "fenced");
    scene.restart();
    let again: Vec<_> = daemon.acquire(&scene, 8).leases;
    assert_eq!(again.iter().map(span).collect::<Vec<_>>(), [(0, 10, 20), (0, 20, 30), (0, 30, 40)]);
    for lease in &again {
        assert_eq!(daemon.ack(&scene, scene.delivered(lease)), Verdict::Accepted);
    }
    assert_eq!(scene.audit_lines(), ["epoch 0: 40 of 40 records accounted for (40 delivered), checksum equal"]);
    assert_eq!(restore(&scene, &mut daemon, &snapshot), Ok(3), "set back again after the end");
    assert_eq!(scene.deliver_all(&mut daemon), Answer::DatasetDone);
    assert_eq!(scene.audit()[0].verdict, Judgement::AddsUp);
}

#[test]
fn rule_23_a_fresh_run_continues_where_the_snapshot_was_taken() {
    let old = Scene::new(spec(40), 10, 3);
    let mut daemon = old.daemon("node", 1);
    for _ in 0..5 {
        let lease = daemon.lease(&old);
        daemon.ack(&old, old.delivered(&lease));
    }
    let lease = daemon.lease(&old);
    assert_eq!(span(&lease), (1, 10, 20));
    let snapshot = Snapshot::decode(old.snapshot(vec![]).encode_to_vec().as_slice()).unwrap();

    let fresh = Scene::new(spec(40), 10, 3);
    let mut daemon = fresh.daemon("elsewhere", 9);
    restore(&fresh, &mut daemon, &snapshot).unwrap();
    assert_eq!(fresh.deliver_all(&mut daemon), Answer::DatasetDone);
    assert_eq!(
        fresh.audit_lines(),
        [
            "epoch 1: 40 of 40 records accounted for (40 delivered), checksum equal",
            "epoch 2: 40 of 40 records accounted for (40 delivered), checksum equal",
        ]
    );
}

#[test]
fn rule_24_an_epoch_adds_up_whose_last_batch_was_in_hand_when_the_state_was_taken() {
    let scene = Scene::new(spec(40), 20, 3);
    let mut daemon = scene.daemon("node", 1);
    let (first, second) = (daemon.lease(&scene), daemon.lease(&scene));
    daemon.ack(&scene, scene.delivered(&first));
    assert_eq!(daemon.lease(&scene).epoch, 1, "ahead, as daemons read");
    let snapshot = scene.snapshot(vec![scene.delivered(&second)]);
    // The trainer dies without its last receipt, and comes again with its state.
    restore(&scene, &mut daemon, &snapshot).unwrap();
    let whole = "epoch 0: 40 of 40 records accounted for (40 delivered), checksum equal";
    assert_eq!(scene.audit_lines(), [whole]);
    assert_eq!(span(&daemon.lease(&scene)), (1, 0, 20));

    let fresh = Scene::new(spec(40), 20, 3);
    restore(&fresh, &mut fresh.daemon("elsewhere", 1), &snapshot).unwrap();
    assert_eq!(fresh.audit_lines(), [whole]);
}

#[test]
fn rule_24_what_a_run_had_of_an_epoch_that_is_over_in_the_snapshot_is_nobodys_account() {
    let scene = Scene::new(spec(40), 20, 3);
    let mut daemon = scene.daemon("node", 1);
    let leases: Vec<_> = (0..3).map(|_| daemon.lease(&scene)).collect();
    for lease in &leases[..2] {
        daemon.ack(&scene, scene.delivered(lease));
    }
    let later = scene.snapshot(vec![]);

    let mut behind = Scene::new(spec(40), 20, 3);
    let mut daemon = behind.daemon("node", 1);
    let lease = daemon.lease(&behind);
    daemon.ack(&behind, behind.receipt(&lease, 0, 8, Kind::Delivered));
    restore(&behind, &mut daemon, &later).unwrap();
    behind.restart();
    assert_eq!(behind.audit_lines(), [""; 0], "nothing is known of epoch 0 but that it is complete");
    assert_eq!(behind.deliver_all(&mut daemon), Answer::DatasetDone);
    assert!(behind.audit().iter().all(|audit| audit.verdict == Judgement::AddsUp), "{:?}", behind.audit_lines());
}

#[test]
fn rule_23_records_that_are_read_again_leave_the_quarantine() {
    let scene = Scene::new(spec(40), 10, 1);
    let mut daemon = scene.daemon("node", 1);
    let first = daemon.lease(&scene);
    daemon.nack(&scene, &first, 2);
    let snapshot = scene.snapshot(vec![]);
    daemon.nack(&scene, &first, 3);
    let second = daemon.lease(&scene);
    daemon.nack(&scene, &second, 0);
    restore(&scene, &mut daemon, &snapshot).unwrap();
    assert_eq!(scene.deliver_all(&mut daemon), Answer::DatasetDone);
    assert_eq!(
        scene.audit_lines(),
        ["epoch 0: 40 of 40 records accounted for (39 delivered, 1 quarantined), complete but for 1 bad"]
    );
    let documents = scene.store.documents();
    assert_eq!(documents.iter().filter(|(key, _)| key.contains("/quarantine/")).count(), 1);
}

#[test]
fn rule_23_snapshots_of_other_data_and_impossible_ones_are_refused() {
    let scene = Scene::new(spec(40), 10, 2);
    let mut daemon = scene.daemon("node", 1);
    daemon.lease(&scene);
    let good = scene.snapshot(vec![]);
    let open = |epoch, start, end| vec![OpenRange { epoch, start, end, ..OpenRange::default() }];
    for bad in [
        Snapshot { version: 0, ..good.clone() },
        Snapshot { version: 3, ..good.clone() },
        Snapshot { epoch: u64::MAX, ..good.clone() },
        Snapshot { generation: u64::MAX, ..good.clone() },
        Snapshot { cursor: 41, ..good.clone() },
        Snapshot { open: open(0, 5, 5), ..good.clone() },
        Snapshot { open: open(0, 5, 11), ..good.clone() },
        Snapshot { open: open(1, 0, 1), ..good.clone() },
        Snapshot { open: open(u64::MAX, 0, 1), ..good.clone() },
        Snapshot { open: [open(0, 2, 6), open(0, 5, 8)].concat(), ..good.clone() },
        Snapshot { epoch: 3, open: open(1, 0, 1), ..good.clone() },
        Snapshot { tallies: vec![EpochTally { epoch: 1, ..EpochTally::default() }], ..good.clone() },
        Snapshot { epoch: 2, cursor: 0, tallies: vec![EpochTally::default()], ..good.clone() },
    ] {
        let refused = restore(&scene, &mut daemon, &bad);
        assert!(matches!(refused, Err(CallError::Invalid(_))), "{bad:?}: {refused:?}");
    }
    let other = Scene::new(spec(41), 10, 2);
    let mut stranger = other.daemon("node", 1);
    let refused = restore(&other, &mut stranger, &good);
    assert!(matches!(refused, Err(CallError::SpecMismatch(text)) if text.contains("records was 40 and is now 41")));
    assert!(matches!(
        scene.call(RestoreRequest { caller: Some(daemon.next()), snapshot: None, ..RestoreRequest::default() }),
        Err(CallError::Invalid(_))
    ));
}

#[test]
fn rule_13_what_an_epoch_owes_a_shard_beyond_its_records_is_in_its_snapshot() {
    // 20 records over 3 shards: this one has 6 of them and a position without one.
    let scene = Scene::new(static_spec(20, 0, 3, false), 3, 1);
    let mut daemon = scene.daemon("node", 1);
    let leases = daemon.acquire(&scene, 3).leases;
    assert_eq!(leases.iter().map(span).collect::<Vec<_>>(), [(0, 0, 3), (0, 3, 6), (0, 6, 7)]);
    for lease in &leases[..2] {
        assert_eq!(daemon.ack(&scene, scene.delivered(lease)), Verdict::Accepted);
    }
    assert_eq!(daemon.acquire(&scene, 1).answer(), Answer::EpochEnd, "every record is delivered, and not every batch");
    let owed = scene.snapshot(vec![]);
    let in_hand = scene.snapshot(vec![bare(&leases[2], 0, 1)]);
    assert_eq!(owed.open, [OpenRange { epoch: 0, start: 6, end: 7, ..OpenRange::default() }]);
    assert_eq!(in_hand.open, []);
    // Nothing is there to be delivered, or bad.
    for kind in [Kind::Delivered, Kind::Dropped] {
        assert_eq!(daemon.ack(&scene, scene.receipt(&leases[2], 0, 1, kind)), Verdict::Invalid);
    }
    assert_eq!(daemon.nack(&scene, &leases[2], 0), Verdict::Invalid);
    restore(&scene, &mut daemon, &in_hand).unwrap();
    assert_eq!(daemon.acquire(&scene, 1).answer(), Answer::DatasetDone);
    restore(&scene, &mut daemon, &owed).unwrap();
    let again = daemon.lease(&scene);
    assert_eq!(span(&again), (0, 6, 7));
    assert_eq!(daemon.ack(&scene, bare(&again, 0, 1)), Verdict::Accepted);
    assert_eq!(daemon.ack(&scene, bare(&again, 0, 1)), Verdict::Lost);
    assert_eq!(scene.audit_lines()[0], "epoch 0: 6 of 6 records accounted for (6 delivered), checksum equal");
}

#[test]
fn rule_13_a_snapshot_of_version_1_owes_the_padding_of_an_epoch_whose_records_are_open() {
    let scene = Scene::new(static_spec(20, 0, 3, false), 3, 2);
    let mut daemon = scene.daemon("node", 1);
    let open = |start, end| OpenRange { epoch: 0, start, end, ..OpenRange::default() };
    let now = scene.snapshot(vec![]);
    for (ranges, owed) in [(vec![open(3, 6)], vec![open(3, 6), open(6, 7)]), (vec![], vec![])] {
        let old = Snapshot { version: 1, epoch: 1, cursor: 0, open: ranges, ..now.clone() };
        restore(&scene, &mut daemon, &old).unwrap();
        assert_eq!(scene.snapshot(vec![]).open, owed);
    }
}

#[test]
fn rule_13_a_position_without_a_record_comes_back_from_every_death() {
    let scene = Scene::new(static_spec(20, 0, 3, false), 3, 1);
    let mut daemon = scene.daemon("node", 1);
    for lease in &daemon.acquire(&scene, 2).leases {
        daemon.ack(&scene, scene.delivered(lease));
    }
    for incarnation in 2..6 {
        let lease = daemon.lease(&scene);
        assert_eq!(span(&lease), (0, 6, 7));
        daemon = scene.daemon("node", incarnation);
        // The batch of copies may be in somebody's hands: who brings it back has it.
        if incarnation % 2 == 0 {
            assert_eq!(daemon.reclaim(&scene, &lease, 0, 1), Verdict::Accepted);
            daemon = scene.daemon("node", 10 * incarnation);
        }
        scene.pass(GRACE);
    }
    let lease = daemon.lease(&scene);
    daemon = scene.daemon("node", 100);
    assert_eq!(daemon.resume(&scene, bare(&lease, 0, 1)), Verdict::Accepted);
    assert_eq!(daemon.acquire(&scene, 1).answer(), Answer::DatasetDone);
    assert!(scene.audit_lines()[0].starts_with("epoch 0: 6 of 6 records accounted for (6 delivered"));
}

#[test]
fn rule_07_a_bad_record_is_quarantined_with_its_batch_and_counts_in_the_state_of_who_holds_it() {
    let scene = Scene::new(static_spec(12, 1, 2, false), 3, 1);
    let mut daemon = scene.daemon("node", 1);
    let lease = daemon.lease(&scene);
    let bad = bare(&lease, 1, 2);
    let good = [scene.receipt(&lease, 0, 1, Kind::Delivered), scene.receipt(&lease, 2, 3, Kind::Delivered)];
    let state = scene.snapshot([&good[..], &[bad]].concat());
    restore(&scene, &mut daemon, &state).unwrap();
    let rest = daemon.lease(&scene);
    assert_eq!(span(&rest), (0, 3, 6));
    daemon.ack(&scene, scene.delivered(&rest));
    let line = "epoch 0: 6 of 6 records accounted for (5 delivered, 1 quarantined), complete but for 1 bad";
    assert_eq!(scene.audit_lines(), [line]);
    // The same without a state in between.
    restore(&scene, &mut daemon, &Snapshot { open: vec![], cursor: 0, tallies: vec![], ..state }).unwrap();
    let lease = daemon.lease(&scene);
    let record = scene.plan.record(0, 1);
    let why =
        BadRecord { record, file: "7.jpg".to_owned(), reason: "no end marker".to_owned(), ..BadRecord::default() };
    let items = [bad, good[0], good[1]].map(|item| AckItem { lease: lease.id, ..item }).to_vec();
    let request = AckRequest { caller: Some(daemon.next()), items, bad: vec![why], ..AckRequest::default() };
    assert!(scene.call(request).unwrap().verdicts().all(|verdict| verdict == Verdict::Accepted));
    let quarantine = scene.quarantine();
    let listed: Vec<_> = quarantine.iter().map(|bad| (bad.record, bad.file.as_str(), bad.reason.as_str())).collect();
    assert_eq!(listed, [(record, "7.jpg", "no end marker")]);
    let rest = daemon.lease(&scene);
    daemon.ack(&scene, scene.delivered(&rest));
    assert_eq!(scene.audit_lines(), [line]);
}

#[test]
fn rule_13_a_shard_is_granted_by_position_and_waits_for_the_consumers_of_a_dead_daemon() {
    let scene = Scene::new(static_spec(24, 0, 2, false), 3, 1);
    let mut first = scene.daemon("node", 1);
    let leases = first.acquire(&scene, 2).leases;
    let mut second = scene.daemon("node", 2);
    let wait = second.acquire(&scene, 1);
    assert_eq!((wait.answer(), wait.leases.len()), (Answer::Wait, 0), "nothing passes what consumers may have");
    assert_eq!(second.reclaim(&scene, &leases[0], 0, 3), Verdict::Accepted);
    scene.pass(GRACE);
    assert_eq!(span(&second.lease(&scene)), (0, 3, 6));
    assert_eq!(span(&second.lease(&scene)), (0, 6, 9));
    assert_eq!(second.give_back(&scene, &leases[0], 0, 3), Verdict::Accepted);
    assert_eq!(span(&second.lease(&scene)), (0, 0, 3), "what came back goes first");
}
