//! What fills no batch at one worker is put together with what fills none at others.

use forebay_ledger_client::CallError;
use forebay_proto::v1::{
    AbandonRequest, AcquireReply, AcquireRequest, HeartbeatRequest, Lease, LeasedRange, Range, RestoreRequest,
    SettleRequest, Verdict, acquire_reply::Answer,
};

use crate::scene::{Daemon, Scene, TTL, span, spec, static_spec};

/// Places of everybody's batches.
const BATCH: u64 = 8;

fn ask(scene: &Scene, daemon: &mut Daemon, tails: bool) -> AcquireReply {
    let request = AcquireRequest { caller: Some(daemon.next()), leases: 1, batch: BATCH, tails };
    let reply = scene.call(request).unwrap();
    daemon.knows(&reply.leases);
    reply
}

/// Gives up what is behind the whole batches of a lease, and settles its epoch.
fn settle(scene: &Scene, daemon: &mut Daemon, lease: &Lease) {
    let len = lease.end - lease.start;
    let tail = match len % BATCH {
        0 => vec![],
        rest => vec![LeasedRange { lease: lease.id, range: Some(Range { start: len - rest, end: len }) }],
    };
    let (count, caller) = (tail.len(), Some(daemon.next()));
    let reply = scene.call(SettleRequest { caller, epoch: lease.epoch, last_lease: lease.id, tail }).unwrap();
    assert_eq!(reply.verdicts, vec![Verdict::Accepted as i32; count]);
}

/// Acks the whole batches of a lease.
fn deliver(scene: &Scene, daemon: &mut Daemon, lease: &Lease) {
    let len = lease.end - lease.start;
    for item in scene.receipts(lease, 0, len - len % BATCH) {
        assert_eq!(daemon.ack(scene, item), Verdict::Accepted);
    }
}

/// Forty records in leases of ten for three workers, each of which has its leases of the first epoch.
fn scene() -> (Scene, [Daemon; 3], [Vec<Lease>; 3]) {
    let scene = Scene::new(spec(40), 10, 2);
    let mut workers = ["a", "b", "c"].map(|name| scene.daemon(name, 1));
    let mut leases = [vec![], vec![], vec![]];
    for turn in 0..4 {
        leases[turn % 3].extend(ask(&scene, &mut workers[turn % 3], false).leases);
    }
    (scene, workers, leases)
}

#[test]
fn rule_36_tails_of_all_workers_are_put_together_and_an_epoch_has_one_batch_that_is_not_full() {
    let (mut scene, mut workers, leases) = scene();
    for (worker, leases) in workers.iter_mut().zip(&leases) {
        // Nobody waits for tails: the next epoch is leased meanwhile.
        let next = ask(&scene, worker, false);
        assert_eq!((next.answer(), next.leases[0].epoch), (Answer::Granted, 1));
        assert_eq!(ask(&scene, worker, true).leases, [], "others have not settled the epoch");
        for lease in leases {
            deliver(&scene, worker, lease);
            settle(&scene, worker, lease);
        }
    }
    scene.restart();
    // Two of each of four leases of ten.
    let [a, b, _] = &mut workers;
    let told = scene.call(a.beat(false)).unwrap().update.unwrap();
    assert_eq!(told.tails, 1);
    let whole = ask(&scene, a, true).leases;
    assert_eq!(whole.iter().map(span).collect::<Vec<_>>(), [(0, 8, 10), (0, 18, 20), (0, 28, 30), (0, 38, 40)]);
    assert!(whole.iter().all(|lease| lease.whole && !lease.last));
    assert_eq!(ask(&scene, b, true).leases, []);
    for lease in &whole {
        a.ack(&scene, scene.delivered(lease));
    }
    assert_eq!(scene.audit()[0].verdict, forebay_plan::Verdict::AddsUp);
    assert_eq!(scene.call(b.beat(false)).unwrap().progress.unwrap().floor, 1);
}

#[test]
fn rule_36_the_rest_waits_for_whole_batches_and_goes_to_one_worker() {
    let scene = Scene::new(spec(41), 14, 1);
    let mut workers = ["a", "b", "c"].map(|name| scene.daemon(name, 1));
    let leases = workers.each_mut().map(|worker| ask(&scene, worker, false).leases[0]);
    for (worker, lease) in workers.iter_mut().zip(&leases) {
        settle(&scene, worker, lease);
    }
    let [a, b, c] = &mut workers;
    // Six, six and five of their leases fill no batch.
    let first = ask(&scene, a, false).leases;
    assert_eq!(first.iter().map(span).collect::<Vec<_>>(), [(0, 8, 14), (0, 22, 24)]);
    let second = ask(&scene, b, false).leases;
    assert_eq!(second.iter().map(span).collect::<Vec<_>>(), [(0, 24, 28), (0, 36, 40)]);
    assert_eq!(ask(&scene, c, false).leases, [], "whole batches may leave something, if a record is bad");
    // One record of the first is bad: what is left of it fills no batch.
    a.nack(&scene, &first[0], 0);
    let tail = vec![LeasedRange { lease: first[0].id, range: Some(Range { start: 1, end: 6 }) }];
    let settled = |daemon: &mut Daemon, leases: &[Lease], tail| SettleRequest {
        caller: Some(daemon.next()),
        epoch: 0,
        last_lease: leases.last().unwrap().id,
        tail,
    };
    scene.call(settled(a, &first, tail)).unwrap();
    assert_eq!(ask(&scene, c, false).leases, []);
    scene.call(settled(b, &second, vec![])).unwrap();
    let last = ask(&scene, c, false).leases;
    assert_eq!(last.iter().map(span).collect::<Vec<_>>(), [(0, 9, 14), (0, 40, 41)]);
    assert!(last.iter().all(|lease| lease.last && !lease.whole));
}

#[test]
fn rule_36_what_a_death_returns_is_read_before_the_tails() {
    let (scene, mut workers, leases) = scene();
    let [a, b, _] = &mut workers;
    for (worker, leases) in [(&mut *a, &leases[0]), (&mut *b, &leases[1])] {
        for lease in leases {
            settle(&scene, worker, lease);
        }
    }
    scene.pass(TTL / 2);
    a.heartbeat(&scene);
    b.heartbeat(&scene);
    scene.pass(TTL / 2);
    let returned = ask(&scene, a, false).leases;
    assert_eq!(returned.iter().map(span).collect::<Vec<_>>(), [span(&leases[2][0])], "what the silent one had");
    assert_eq!(ask(&scene, b, true).leases, []);
    settle(&scene, a, &returned[0]);
    assert_eq!(ask(&scene, b, true).leases.iter().map(|lease| lease.end - lease.start).sum::<u64>(), BATCH);
}

#[test]
fn rule_36_tails_are_open_for_states_and_for_the_end_of_an_epoch() {
    let (scene, mut workers, leases) = scene();
    for (worker, leases) in workers.iter_mut().zip(&leases) {
        for lease in leases {
            settle(&scene, worker, lease);
        }
    }
    let [a, ..] = &mut workers;
    let snapshot = scene.snapshot(vec![]);
    assert_eq!(snapshot.open.iter().map(|open| open.end - open.start).sum::<u64>(), 40);
    let reply = scene.call(AbandonRequest { caller: Some(a.next()), epoch: 0, ..AbandonRequest::default() }).unwrap();
    assert_eq!(reply.abandoned, 40, "nothing of it was delivered");
    assert_eq!(ask(&scene, a, true).leases, []);
    let snapshot = Some(snapshot);
    scene.call(RestoreRequest { caller: Some(a.next()), snapshot, ..RestoreRequest::default() }).unwrap();
    assert_eq!(ask(&scene, a, true).leases, [], "all of them are leased again as they come");
    assert_eq!(scene.deliver_all(a), Answer::DatasetDone);
    assert!(scene.audit().iter().all(|epoch| epoch.verdict == forebay_plan::Verdict::AddsUp));
}

#[test]
fn rule_36_a_shard_has_no_tails_and_a_worker_cannot_give_up_what_it_does_not_have() {
    let scene = Scene::new(static_spec(40, 0, 2, false), 10, 1);
    let mut one = scene.daemon("one", 1);
    let lease = one.lease(&scene);
    let request = SettleRequest { caller: Some(one.next()), epoch: 0, last_lease: lease.id, tail: vec![] };
    assert!(matches!(scene.call(request), Err(CallError::Invalid(_))));
    let (scene, [mut a, mut b, _], leases) = self::scene();
    let tail = vec![LeasedRange { lease: leases[1][0].id, range: Some(Range { start: 8, end: 10 }) }];
    let request = SettleRequest { caller: Some(a.next()), epoch: 0, last_lease: u64::MAX, tail };
    assert_eq!(scene.call(request).unwrap().verdicts, [Verdict::Lost as i32]);
    let beat = HeartbeatRequest { caller: Some(b.caller()), ..HeartbeatRequest::default() };
    assert_eq!(scene.call(beat).unwrap().leases, [leases[1][0].id]);
    settle(&scene, &mut b, &leases[1][0]);
}
