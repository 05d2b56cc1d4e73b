//! What `drop` leaves out: it is never leased where places are fixed, and no state has it open once no batch can have it.

use forebay_plan::Verdict as Judgement;
use forebay_proto::v1::{
    AcquireRequest, LedgerSpec, OpenRequest, Policies, RestoreRequest, Snapshot, TakeSnapshotRequest, ack_item::Kind,
    acquire_reply::Answer, policies::LastBatch,
};

use crate::lockstep::{GLOBAL_BATCH, Job, in_lockstep, open_with};
use crate::scene::{Daemon, Scene, spec, static_spec};
use crate::segments::{RUN, account, segments};

fn dropping(batch_size: u64) -> Policies {
    Policies { last_batch: LastBatch::Drop.into(), batch_size, ..Policies::default() }
}

fn open(scene: &Scene, worker: &str, batch_size: u64) -> Daemon {
    scene.call(OpenRequest { policies: Some(dropping(batch_size)), ..scene.open_request(worker, 1) }).unwrap();
    scene.known(worker, 1)
}

fn load(scene: &Scene, daemon: &mut Daemon, state: &Snapshot) {
    let snapshot = Some(state.clone());
    scene.call(RestoreRequest { caller: Some(daemon.next()), snapshot, ..RestoreRequest::default() }).unwrap();
}

/// Where a state is, and what is open in it.
fn place(state: &Snapshot) -> (u64, u64, Vec<(u64, u64, u64)>) {
    (state.epoch, state.cursor, state.open.iter().map(|open| (open.epoch, open.start, open.end)).collect())
}

#[test]
fn rule_13_nothing_of_what_drop_leaves_out_of_a_shard_is_leased() {
    // Positions of an epoch, shards, places of a batch, and how many positions are in batches.
    for (records, shards, batch, kept) in [(23, 2, 4, 8), (24, 2, 4, 12), (65, 1, 8, 64), (29, 3, 3, 9)] {
        for shard in 0..shards {
            let scene = Scene::new(static_spec(records, shard, shards, false), 5, 3);
            let mut daemon = open(&scene, "one", batch);
            let mut leased = [0; 3];
            while let Answer::Granted = {
                let reply = daemon.acquire(&scene, 1);
                for lease in &reply.leases {
                    assert!(lease.end <= kept, "{lease:?} of {records} records");
                    leased[usize::try_from(lease.epoch).unwrap()] += lease.end - lease.start;
                    for item in scene.receipts(lease, 0, lease.end - lease.start) {
                        daemon.ack(&scene, item);
                    }
                }
                reply.answer()
            } {}
            assert_eq!(leased, [kept; 3], "{records} records");
            assert_eq!(daemon.acquire(&scene, 1).answer(), Answer::DatasetDone);
            for epoch in scene.audit() {
                assert_eq!(epoch.verdict, Judgement::AddsUp, "{epoch}");
                assert_eq!(epoch.sums.dropped.count + kept, scene.plan.epoch_records(epoch.epoch), "{epoch}");
            }
        }
    }
}

#[test]
fn rule_22_a_shard_that_has_consumed_its_last_whole_batch_is_at_the_next_epoch_however_far_its_daemon_has_read() {
    for ahead in 0..4 {
        let scene = Scene::new(static_spec(22, 0, 2, true), 8, 2);
        let mut daemon = open(&scene, "one", 4);
        let lease = daemon.lease(&scene);
        (0..ahead).for_each(|_| drop(daemon.acquire(&scene, 1)));
        let in_hand = scene.receipt(&lease, 4, 8, Kind::Delivered);
        let first = scene.receipt(&lease, 0, 4, Kind::Delivered);
        let state = scene.snapshot(vec![first, in_hand]);
        let (epoch, cursor, open) = place(&state);
        // Everything of the next epoch is still to come, but for what is left out of it.
        let still_open = open.iter().map(|(_, start, end)| end - start).sum::<u64>();
        assert_eq!((epoch, still_open), (1, cursor.min(8)), "{state:?}");
        assert_eq!(state.tallies[0].dropped.unwrap().count, 3);
        load(&scene, &mut daemon, &state);
        assert_eq!(daemon.lease(&scene).epoch, 1);
    }
}

#[test]
fn rule_22_a_state_of_a_dynamic_stream_has_nothing_open_that_drop_leaves_out() {
    // How many of ten records are consumed, and whether a batch of four can still come.
    for (consumed, continues) in [(0, true), (5, true), (6, true), (7, false), (8, false), (10, false)] {
        for ahead in 0..5 {
            let scene = Scene::new(spec(10), 1, 2);
            let mut daemon = open(&scene, "one", 4);
            for _ in 0..consumed {
                let lease = daemon.lease(&scene);
                daemon.ack(&scene, scene.delivered(&lease));
            }
            (0..ahead).for_each(|_| drop(daemon.acquire(&scene, 1)));
            let state = scene.snapshot(Vec::new());
            let first = state.open.first().map_or(state.epoch, |open| open.epoch);
            assert_eq!(first, u64::from(!continues), "{consumed} consumed, {ahead} ahead: {state:?}");
            load(&scene, &mut daemon, &state);
            let mut next = daemon.lease(&scene);
            assert_eq!(next.epoch, u64::from(!continues), "{consumed} consumed, {ahead} ahead");
            if continues {
                continue;
            }
            loop {
                daemon.ack(&scene, scene.delivered(&next));
                let reply = daemon.acquire(&scene, 1);
                let Some(lease) = reply.leases.first() else { break };
                next = *lease;
            }
            let dropped: Vec<u64> = scene.audit().iter().map(|epoch| epoch.sums.dropped.count).collect();
            assert_eq!(dropped, [10 - consumed, 0]);
            assert!(scene.audit().iter().all(|epoch| epoch.verdict == Judgement::AddsUp));
        }
    }
}

#[test]
fn rule_22_what_others_have_of_a_dynamic_epoch_may_still_fill_a_batch() {
    let scene = Scene::new(spec(10), 2, 2);
    let (mut one, mut two) = (open(&scene, "one", 4), open(&scene, "two", 4));
    for _ in 0..3 {
        let lease = one.lease(&scene);
        one.ack(&scene, scene.delivered(&lease));
    }
    let leases = [one.lease(&scene), two.lease(&scene)];
    assert_eq!(place(&scene.snapshot(Vec::new())), (1, 0, vec![(0, 6, 8), (0, 8, 10)]));
    two.ack(&scene, scene.delivered(&leases[1]));
    assert_eq!(place(&scene.snapshot(Vec::new())), (1, 0, vec![]));
}

/// A job in lockstep that leaves its last step out.
fn job<'a>(scene: &'a Scene, run: &str, records: u64, world_size: u32) -> Job<'a> {
    let policies = Some(dropping(GLOBAL_BATCH / u64::from(world_size)));
    let rank = |rank| open_with(scene, run, &in_lockstep(records, rank, world_size), policies.clone()).unwrap();
    Job { scene, ranks: (0..world_size).map(rank).collect() }
}

fn lockstep_scene(records: u64) -> Scene {
    Scene::new(LedgerSpec { lockstep: in_lockstep(records, 0, 1).lockstep, ..spec(records) }, GLOBAL_BATCH, 3)
}

#[test]
fn rule_40_after_the_last_step_that_is_delivered_each_rank_is_before_the_next_epoch() {
    for (records, steps) in [(2 * GLOBAL_BATCH + 1, 2), (4 * GLOBAL_BATCH - 1, 3), (3 * GLOBAL_BATCH, 3)] {
        for world_size in [1, 2, 4] {
            let scene = lockstep_scene(records);
            let mut job = job(&scene, "run", records, world_size);
            for epoch in 0..3 {
                for step in 0..steps {
                    let state = job.state();
                    assert_eq!((state.epoch, state.cursor), (epoch, step * GLOBAL_BATCH), "{records} on {world_size}");
                    assert_eq!(job.step().map(|(epoch, _)| epoch), Some(epoch));
                }
            }
            assert_eq!(job.step(), None);
            for epoch in job.audit().concat() {
                assert_eq!(epoch.verdict, Judgement::AddsUp, "{epoch}");
            }
        }
    }
}

#[test]
fn rule_40_a_state_within_the_step_that_drop_leaves_out_continues_with_the_next_epoch() {
    let records = 2 * GLOBAL_BATCH + 5;
    let scene = lockstep_scene(records);
    let mut all = Job::start(&scene, "all", records, 2);
    (0..2).for_each(|_| drop(all.step()));
    let state = all.state();
    assert_eq!((state.epoch, state.cursor), (0, 2 * GLOBAL_BATCH), "this run delivers the last step");
    let mut dropping = job(&scene, "run", records, 2);
    dropping.restore(&state);
    let now = dropping.state();
    assert_eq!((now.epoch, now.cursor), (1, 0));
    assert_eq!(dropping.step().map(|(epoch, _)| epoch), Some(1));
}

#[test]
fn rule_40_going_back_behind_a_step_that_was_left_out_counts_its_records_once() {
    let records = 3 * GLOBAL_BATCH + 7;
    let scene = lockstep_scene(records);
    let mut job = job(&scene, "run", records, 2);
    drop(job.step());
    // All ranks lease the epoch to its end, and drop what is behind it.
    for rank in &mut job.ranks {
        let request = AcquireRequest { caller: Some(rank.next()), leases: 8, ..AcquireRequest::default() };
        scene.call(request).unwrap();
    }
    let rank = job.ranks[0].caller.ledger.clone();
    let state = scene
        .call(TakeSnapshotRequest { ledger: rank, consumed: Vec::new(), ..TakeSnapshotRequest::default() })
        .unwrap()
        .snapshot
        .unwrap();
    job.restore(&state);
    for times in 0..3 {
        for _ in 0..2 + times % 2 {
            job.step().unwrap();
        }
        job.restore(&state);
    }
    while job.step().is_some() {}
    for epochs in job.audit() {
        let first = &epochs[0];
        assert_eq!((first.verdict, epochs.len()), (Judgement::AddsUp, 3), "{first}");
        assert!((3..=4).contains(&first.sums.dropped.count), "{first}");
    }
}

#[test]
fn rule_40_what_is_left_out_of_an_epoch_that_was_leased_ahead_counts_for_the_ranks_that_read_it() {
    let records = 3 * GLOBAL_BATCH + 7;
    let scene = lockstep_scene(records);
    let mut two = job(&scene, RUN, records, 2);
    two.step().unwrap();
    let state = two.state();
    // Both ranks lease this epoch and the next one to their ends, and read nothing of them.
    for rank in &mut two.ranks {
        for _ in 0..8 {
            let request = AcquireRequest { caller: Some(rank.next()), leases: 8, ..AcquireRequest::default() };
            scene.call(request).unwrap();
        }
    }
    let mut one = job(&scene, RUN, records, 1);
    one.restore(&state);
    while one.step().is_some() {}
    assert_eq!(segments(&one), [(0, 0, 2), (0, 1, 1)]);
    for epoch in account(&one).epochs {
        assert_eq!((epoch.verdict, epoch.sums.dropped.count), (Judgement::AddsUp, 7), "{epoch}");
    }
}
