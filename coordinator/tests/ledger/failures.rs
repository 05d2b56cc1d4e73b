//! A run that fails at a bad record fails for all its workers, until a restore, a reset or another opening.

use forebay_ledger_client::CallError;
use forebay_proto::v1::{
    AbandonRequest, AckItem, AckRequest, BadRecord, HeartbeatRequest, NackRequest, OpenRequest, Policies,
    RestoreRequest, Verdict, ack_item::Kind, policies::OnError,
};

use crate::scene::{Daemon, Scene, bare, spec, static_spec};

fn open(scene: &Scene, worker: &str, incarnation: u64, on_error: OnError, max_failures: Option<u64>) -> Daemon {
    let policies = Policies { on_error: on_error.into(), max_failures, ..Policies::default() };
    let request = OpenRequest { policies: Some(policies), ..scene.open_request(worker, incarnation) };
    scene.call(request).unwrap();
    scene.known(worker, incarnation)
}

fn failure(scene: &Scene, daemon: &Daemon) -> String {
    let caller = Some(daemon.caller.clone());
    let reply = scene.call(HeartbeatRequest { caller, ..HeartbeatRequest::default() }).unwrap();
    reply.update.unwrap().failure.unwrap().why
}

#[test]
fn rule_41_a_bad_record_that_stops_one_node_stops_all_also_after_a_restart_of_the_coordinator() {
    let mut scene = Scene::new(spec(40), 10, 2);
    let mut one = open(&scene, "one", 1, OnError::Fail, None);
    let two = open(&scene, "two", 1, OnError::Fail, None);
    let lease = one.lease(&scene);
    assert_eq!(failure(&scene, &two), "");
    one.nack(&scene, &lease, 4);
    let record = scene.plan.record(0, lease.start + 4);
    let told = failure(&scene, &two);
    assert!(told.starts_with(&format!("record {record} ({record}.jpg), which node \"one\" has read: ")), "{told}");
    assert!(told.contains("no end marker") && told.contains("on_error is \"fail\""), "{told}");
    one.nack(&scene, &lease, 5);
    assert_eq!([failure(&scene, &one), failure(&scene, &two)], [told.clone(), told.clone()], "the first one is kept");
    scene.restart();
    assert_eq!(failure(&scene, &two), told);
    // One that is started again beside the other has the same run.
    assert_eq!(failure(&scene, &open(&scene, "one", 2, OnError::Fail, None)), told);
}

#[test]
fn rule_7_a_reply_that_completes_an_epoch_by_a_bad_record_says_that_the_run_has_failed() {
    let scene = Scene::new(spec(12), 12, 1);
    let mut one = open(&scene, "one", 1, OnError::Fail, None);
    let mut two = open(&scene, "two", 1, OnError::Fail, None);
    let lease = one.lease(&scene);
    one.ack(&scene, scene.receipt(&lease, 0, 11, Kind::Delivered));
    assert!(!two.acquire(&scene, 1).progress.unwrap().failed);
    one.nack(&scene, &lease, 11);
    let progress = two.acquire(&scene, 1).progress.unwrap();
    assert!(progress.floor == 1 && progress.failed, "trainers are not told the end: {progress:?}");
    scene.call(AbandonRequest { caller: Some(one.next()), ..AbandonRequest::default() }).unwrap();
    assert!(!two.acquire(&scene, 1).progress.unwrap().failed, "a reset ends the failure");
}

#[test]
fn rule_41_bad_records_of_all_nodes_count_together_and_each_record_once() {
    let scene = Scene::new(spec(40), 20, 2);
    let mut nodes = ["one", "two"].map(|name| open(&scene, name, 1, OnError::Skip, Some(2)));
    let leases = nodes.each_mut().map(|node| node.lease(&scene));
    for (node, lease) in nodes.iter_mut().zip(&leases) {
        node.nack(&scene, lease, 7);
        assert_eq!(failure(&scene, node), "");
        node.give_back(&scene, lease, 0, 7);
        node.give_back(&scene, lease, 8, 20);
    }
    let [mut one, two] = nodes;
    let bad = leases.map(|lease| scene.plan.record(lease.epoch, lease.start + 7));
    // The same two are bad in the next epoch, and a third one is too many.
    let mut third = None;
    while third.is_none() {
        let lease = one.lease(&scene);
        for position in 0..lease.end - lease.start {
            let record = scene.plan.record(lease.epoch, lease.start + position);
            if bad.contains(&record) {
                one.nack(&scene, &lease, position);
            } else if lease.epoch == 1 {
                assert_eq!(failure(&scene, &two), "");
                one.nack(&scene, &lease, position);
                third = Some(record);
                break;
            } else {
                let item = scene.receipt(&lease, position, position + 1, Kind::Delivered);
                one.ack(&scene, item);
            }
        }
    }
    let told = failure(&scene, &two);
    assert!(told.contains("3 bad records on all nodes are more than max_failures (2)"), "{told}");
    assert!(told.starts_with(&format!("record {} ", third.unwrap())), "{told}");
}

#[test]
fn rule_41_an_epoch_without_one_good_record_fails_the_run_whoever_has_which_of_them() {
    let scene = Scene::new(spec(4), 2, 0);
    let mut nodes = ["one", "two"].map(|name| open(&scene, name, 1, OnError::Skip, None));
    for node in &mut nodes {
        let lease = node.lease(&scene);
        node.nack(&scene, &lease, 0);
        assert_eq!(failure(&scene, node), "");
        node.nack(&scene, &lease, 1);
    }
    let told = failure(&scene, &nodes[0]);
    assert!(told.contains("Every record of epoch 0 is bad, 4 in all"), "{told}");
}

#[test]
fn rule_41_a_restore_a_reset_or_an_opening_without_others_ends_the_failure() {
    let scene = Scene::new(spec(40), 10, 9);
    let mut one = open(&scene, "one", 1, OnError::Fail, None);
    let snapshot = scene.snapshot(vec![]);
    let fail = |daemon: &mut Daemon| {
        let lease = daemon.lease(&scene);
        daemon.nack(&scene, &lease, 0);
        assert_ne!(failure(&scene, daemon), "");
        lease.epoch
    };
    fail(&mut one);
    scene
        .call(RestoreRequest { caller: Some(one.next()), snapshot: Some(snapshot), ..RestoreRequest::default() })
        .unwrap();
    assert_eq!(failure(&scene, &one), "");
    let epoch = fail(&mut one);
    scene.call(AbandonRequest { caller: Some(one.next()), epoch, ..AbandonRequest::default() }).unwrap();
    assert_eq!(failure(&scene, &one), "");
    fail(&mut one);
    let mut one = open(&scene, "one", 2, OnError::Fail, None);
    assert_eq!(failure(&scene, &one), "", "its user starts it again and has seen why it ended");
    let epoch = fail(&mut one);
    // What cannot be done ends nothing.
    let none = RestoreRequest { caller: Some(one.next()), snapshot: None, ..RestoreRequest::default() };
    assert!(matches!(scene.call(none), Err(CallError::Invalid(_))));
    scene.call(AbandonRequest { caller: Some(one.next()), epoch: epoch + 5, ..AbandonRequest::default() }).unwrap_err();
    assert_ne!(failure(&scene, &one), "");
}

#[test]
fn rule_7_a_shard_s_bad_records_count_over_restarts_also_those_that_only_its_batches_tell_of() {
    let mut scene = Scene::new(static_spec(40, 0, 2, true), 4, 3);
    let mut told = String::new();
    for (incarnation, count) in (1..=4).zip([1, 2, 3, 4]) {
        let mut daemon = open(&scene, "node", incarnation, OnError::Skip, Some(3));
        assert_eq!(failure(&scene, &daemon), "", "incarnation {incarnation}");
        let lease = daemon.lease(&scene);
        let record = scene.plan.record(lease.epoch, lease.start);
        // Twice, one record is known by name, and twice only by its batch. Each ends with the process.
        let known =
            BadRecord { record, file: "7.jpg".to_owned(), reason: "no end marker".to_owned(), ..BadRecord::default() };
        let bad = if count % 2 == 0 { vec![known] } else { vec![] };
        let items: Vec<AckItem> = vec![bare(&lease, 0, 1), scene.receipt(&lease, 1, 4, Kind::Delivered)];
        let request = AckRequest { caller: Some(daemon.next()), items, bad, ..AckRequest::default() };
        assert!(scene.call(request).unwrap().verdicts().all(|verdict| verdict == Verdict::Accepted));
        told = failure(&scene, &daemon);
        scene.restart();
    }
    assert!(told.contains("4 bad records are more than max_failures (3)"), "{told}");
}

#[test]
fn rule_7_bad_records_beyond_the_list_of_the_quarantine_count_once_each_over_restarts() {
    const RECORDS: u64 = 100_010;
    let mut scene = Scene::new(spec(RECORDS), RECORDS, 2);
    for epoch in 0..2 {
        let mut daemon = open(&scene, "node", epoch + 1, OnError::Skip, Some(100_008));
        let lease = daemon.lease(&scene);
        let record = |position| scene.plan.record(lease.epoch, position);
        let bad = |position| BadRecord { lease: lease.id, position, record: record(position), ..BadRecord::default() };
        // In both epochs all but the same one, which is bad in neither, and another one, which is bad in the second.
        let good = [3, 77_777];
        let kept = &good[..2 - usize::try_from(epoch).unwrap()];
        let records = (0..RECORDS).map(bad).filter(|bad| !kept.contains(&bad.record)).collect();
        assert_eq!(failure(&scene, &daemon), "");
        scene.call(NackRequest { caller: Some(daemon.next()), records }).unwrap();
        let told = failure(&scene, &daemon);
        let expected =
            if epoch == 0 { "" } else { "100009 bad records on all nodes are more than max_failures (100008)" };
        assert!(told.contains(expected) && told.is_empty() == expected.is_empty(), "{told}");
        if epoch == 0 {
            let place = |record| scene.plan.positions_of(0, record)[0];
            for record in good {
                let item = scene.receipt(&lease, place(record), place(record) + 1, Kind::Delivered);
                assert_eq!(daemon.ack(&scene, item), Verdict::Accepted);
            }
        }
        scene.restart();
    }
}

#[test]
fn rule_59_a_record_that_a_function_left_out_is_in_the_quarantine_and_no_failure_also_after_a_restart() {
    let mut scene = Scene::new(spec(40), 40, 2);
    let mut daemon = open(&scene, "node", 1, OnError::Skip, Some(1));
    let lease = daemon.lease(&scene);
    let bad = |position, skipped| BadRecord {
        lease: lease.id,
        position,
        record: scene.plan.record(lease.epoch, lease.start + position),
        reason: "why".to_owned(),
        skipped,
        ..BadRecord::default()
    };
    let records = (0..5).map(|position| bad(position, true)).chain([bad(5, false)]).collect();
    let last = bad(6, false);
    scene.call(NackRequest { caller: Some(daemon.next()), records }).unwrap();
    assert_eq!(failure(&scene, &daemon), "");
    assert_eq!(scene.quarantine().iter().filter(|entry| entry.skipped).count(), 5);
    scene.restart();
    assert_eq!((scene.quarantine().len(), failure(&scene, &daemon).as_str()), (6, ""));
    scene.call(NackRequest { caller: Some(daemon.next()), records: vec![last] }).unwrap();
    let told = failure(&scene, &daemon);
    assert!(told.contains("2 bad records on all nodes are more than max_failures (1)"), "{told}");
}

#[test]
fn rule_59_a_traceback_is_kept_whole_and_of_a_run_of_them_the_beginning() {
    const RECORDS: u64 = 1001;
    let scene = Scene::new(spec(RECORDS), RECORDS, 1);
    let mut daemon = open(&scene, "node", 1, OnError::Skip, None);
    let lease = daemon.lease(&scene);
    let reason = "0123456789abcdef".repeat(300);
    let record = |position| scene.plan.record(lease.epoch, position);
    let bad = |position| BadRecord {
        lease: lease.id,
        position,
        record: record(position),
        reason: reason.clone(),
        ..BadRecord::default()
    };
    scene.call(NackRequest { caller: Some(daemon.next()), records: (0..RECORDS).map(bad).collect() }).unwrap();
    let mut lengths: Vec<usize> = scene.quarantine().iter().map(|entry| entry.reason.len()).collect();
    lengths.sort_unstable();
    assert_eq!((lengths[0], lengths[1], lengths.last()), (1024, 4096, Some(&4096)));
}
