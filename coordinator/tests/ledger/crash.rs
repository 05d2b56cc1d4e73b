//! A store that fails: at each commit in turn, before or after the bytes are down, or until it has room. Callers repeat what they sent.

use std::collections::BTreeSet;

use forebay_coordinator::suite::{CommitFailure, SharedStore, check_leadership, check_mending, check_unknown};
use forebay_ledger_client::{CallError, Request};
use forebay_plan::Verdict as Judgement;
use forebay_proto::v1::{
    AckRequest, AcquireRequest, BadRecord, NackRequest, Range, ReturnRequest, ReturnedRange, Verdict, ack_item::Kind,
    acquire_reply::Answer,
};

use crate::scene::{GRACE, Scene, spec};

/// Repeats the very same request until it is answered. One commit fails, and if that comes late, so does the next.
fn insist<R: Request + Clone>(scene: &Scene, request: &R) -> R::Reply {
    for _ in 0..2 {
        match scene.call(request.clone()) {
            Err(CallError::Unavailable(text)) => assert!(text.contains("it broke"), "{text}"),
            Err(CallError::NotLeader { leader, .. }) => assert_eq!(leader.as_deref(), Some("http://other:1")),
            reply => return reply.unwrap(),
        }
    }
    scene.call(request.clone()).unwrap()
}

/// Two epochs with two workers, bad records, returns and a new incarnation; gives how many commits there were.
fn story(fail: Option<(u64, CommitFailure)>) -> u64 {
    let mut scene = Scene::new(spec(30), 7, 2);
    if let Some((commit, failure)) = fail {
        scene.store.fail_at(commit, failure);
    }
    let mut accepted = BTreeSet::new();
    let mut daemons: Vec<_> = [("one", 1), ("two", 1), ("one", 2)]
        .map(|(worker, incarnation)| {
            let opened = insist(&scene, &scene.open_request(worker, incarnation));
            let caller = forebay_proto::v1::Caller {
                ledger: opened.ledger,
                worker: worker.to_owned(),
                incarnation,
                sequence: 0,
                unseen: 0,
            };
            let mut daemon = crate::scene::Daemon::of(caller);
            insist(&scene, &AcquireRequest { caller: Some(daemon.next()), leases: 1, ..AcquireRequest::default() });
            daemon
        })
        .into();
    scene.pass(GRACE);
    daemons.remove(0);
    let mut turn = 0;
    loop {
        turn += 1;
        let daemon = &mut daemons[turn % 2];
        let reply =
            insist(&scene, &AcquireRequest { caller: Some(daemon.next()), leases: 1, ..AcquireRequest::default() });
        if reply.answer() == Answer::DatasetDone {
            break;
        }
        for lease in &reply.leases {
            let len = lease.end - lease.start;
            let record = scene.plan.record(lease.epoch, lease.start);
            let bad = BadRecord { lease: lease.id, record, ..BadRecord::default() };
            insist(&scene, &NackRequest { caller: Some(daemon.next()), records: vec![bad] });
            accepted.insert((lease.epoch, lease.start));
            if len > 4 {
                let items = vec![ReturnedRange {
                    lease: lease.id,
                    range: Some(Range { start: 4, end: len }),
                    ..ReturnedRange::default()
                }];
                insist(&scene, &ReturnRequest { caller: Some(daemon.next()), items });
            }
            for position in 1..len.min(4) {
                let items = vec![scene.receipt(lease, position, position + 1, Kind::Delivered)];
                let reply = insist(&scene, &AckRequest { caller: Some(daemon.next()), items, ..AckRequest::default() });
                assert_eq!(reply.verdicts, [Verdict::Accepted as i32]);
                assert!(accepted.insert((lease.epoch, lease.start + position)), "accepted twice");
            }
        }
        if turn % 40 == 0 {
            // The first leases of both workers come back; where the commit of that fails, after another time.
            scene.pass(crate::scene::TTL);
        }
        assert!(turn < 1000, "the epochs never end: {:?}", (scene.snapshot(vec![]), reply.answer));
    }
    assert_eq!(accepted.len(), 60);
    // What the store holds is what was answered.
    scene.restart();
    assert!(scene.audit().iter().all(|audit| audit.verdict == Judgement::AddsUp), "{:?}", scene.audit_lines());
    scene.store.commits()
}

#[test]
fn rule_18_nothing_is_lost_or_counted_twice_whichever_commit_fails() {
    let commits = story(None);
    for commit in 1..=commits {
        for failure in [
            CommitFailure::Failed,
            CommitFailure::Before,
            CommitFailure::After,
            CommitFailure::Late,
            CommitFailure::Deposed,
        ] {
            story(Some((commit, failure)));
        }
    }
}

#[test]
fn no_reply_comes_before_its_commit() {
    let mut scene = Scene::new(spec(30), 10, 1);
    let mut daemon = scene.daemon("node", 1);
    let lease = daemon.lease(&scene);
    scene.store.fail_at(1, CommitFailure::Before);
    let request =
        AckRequest { caller: Some(daemon.next()), items: vec![scene.delivered(&lease)], ..AckRequest::default() };
    assert!(matches!(scene.call(request.clone()), Err(CallError::Unavailable(_))));
    // The coordinator dies before the worker repeats: the receipt was never counted, and is counted now.
    scene.restart();
    assert_eq!(scene.audit_lines(), Vec::<String>::new());
    assert_eq!(scene.call(request).unwrap().verdicts, [Verdict::Accepted as i32]);
    assert_eq!(scene.audit()[0].sums.delivered.count, 10);
}

#[test]
fn a_store_that_was_full_is_used_again_when_it_has_room() {
    let store = SharedStore::default();
    let disk = store.clone();
    check_mending(store, |full| disk.fill(full));
}

#[test]
fn a_commit_whose_answer_is_lost_is_looked_up() {
    let store = SharedStore::default();
    let lose = |store: &mut SharedStore, round: u8| {
        store.fail_at(1, [CommitFailure::Before, CommitFailure::After, CommitFailure::Late][usize::from(round % 3)]);
    };
    check_unknown(store, lose);
}

#[test]
fn a_store_that_another_process_leads_is_not_written() {
    let (store, mut opened) = (SharedStore::default(), 0..);
    store.name_replicas(["http://first:1", "http://second:1"].map(str::to_owned));
    let replica = |_: &str| Ok(store.replica(opened.next().unwrap()));
    check_leadership(replica, |first| {
        store.elect(1);
        Some(first)
    });
}

/// A read is answered by what is in memory, so it must not be of a term that is over.
#[test]
fn nothing_is_answered_from_what_was_read_in_another_term() {
    let scene = Scene::new(spec(30), 10, 1);
    let mut daemon = scene.daemon("node", 1);
    let lease = daemon.lease(&scene);
    let before = scene.store.documents();
    daemon.ack(&scene, scene.delivered(&lease));
    assert_eq!(scene.audit()[0].sums.delivered.count, 10);
    // Another process has led since, and what it has seen is another history.
    scene.store.set(&before);
    scene.store.elect(0);
    assert_eq!(scene.audit_lines(), Vec::<String>::new());
}

#[test]
fn since_when_the_store_cannot_be_written_is_known_until_it_can() {
    let scene = Scene::new(spec(30), 10, 1);
    let mut daemon = scene.daemon("node", 1);
    let lease = daemon.lease(&scene);
    let mut outage = scene.handle().outage();
    assert_eq!(*outage.borrow_and_update(), None);
    scene.store.fill(true);
    let request =
        AckRequest { caller: Some(daemon.next()), items: vec![scene.delivered(&lease)], ..AckRequest::default() };
    let refused = scene.call(request.clone()).unwrap_err().to_string();
    let first = outage.borrow_and_update().clone().expect("an outage");
    assert!(first.cause.contains("no room") && refused.contains("no room"), "{first}, {refused}");
    scene.call(request.clone()).unwrap_err();
    assert_eq!(*outage.borrow_and_update(), Some(first), "it goes on since then");
    assert_eq!(scene.audit_lines(), Vec::<String>::new(), "what the store holds can be asked for");
    scene.store.fill(false);
    assert_eq!(scene.call(request).unwrap().verdicts, [Verdict::Accepted as i32]);
    assert_eq!(*outage.borrow_and_update(), None);
}

#[test]
fn the_end_of_an_outage_is_noticed_without_a_command() {
    let scene = Scene::new(spec(30), 10, 1);
    let mut daemon = scene.daemon("node", 1);
    scene.store.fill(true);
    scene.call(AcquireRequest { caller: Some(daemon.next()), leases: 1, ..AcquireRequest::default() }).unwrap_err();
    let mut outage = scene.handle().outage();
    scene.store.fill(false);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let over = runtime.block_on(outage.wait_for(Option::is_none)).unwrap().is_none();
    assert!(over);
}
