//! Segments of a lockstep run: other numbers of ranks in one run, what of it is counted, and what one rank does to all (semantics
//! rule 40).

use forebay_coordinator::suite::{Random, Visits};
use forebay_ledger_client::CallError;
use forebay_plan::{RunAudit, Verdict as Judgement, audit_run, world_sizes};
use forebay_proto::v1::{
    AbandonRequest, AcquireRequest, AuditReply, AuditRequest, HeartbeatRequest, LockstepSegment, NewRunRequest,
    RestoreRequest, Snapshot, TakeSnapshotRequest,
};

use crate::lockstep::{EPOCHS, GLOBAL_BATCH, Job, in_lockstep, open};
use crate::scene::{GRACE, Scene, spec};

pub(crate) const RUN: &str = "run";
pub(crate) const RECORDS: u64 = 300;

pub(crate) fn scene() -> Scene {
    Scene::new(spec(RECORDS), 64, EPOCHS)
}

/// The account of the run, as any of its ledgers gives it, page by page.
pub(crate) fn account(job: &Job<'_>) -> RunAudit {
    let ledger = &job.ranks[0].caller.ledger;
    let mut all = AuditReply::default();
    let mut from_epoch = Some(0);
    while let Some(from) = from_epoch {
        let page = job.scene.call(AuditRequest { ledger: ledger.clone(), from_epoch: from }).unwrap();
        from_epoch = page.next_epoch();
        all.append(page);
    }
    audit_run(&all, |_| ()).unwrap().expect("a run in lockstep")
}

pub(crate) fn lines(job: &Job<'_>) -> Vec<String> {
    account(job).epochs.iter().map(ToString::to_string).collect()
}

/// The first lines of the ledgers of these names.
fn of_ledgers(scene: &Scene, names: &[&str]) -> Vec<String> {
    let line = |name: &&str| scene.audit_of(&format!("{RUN}/train/{name}"))[0].to_string();
    names.iter().map(line).collect()
}

pub(crate) fn segments(job: &Job<'_>) -> Vec<(u64, u64, u32)> {
    let of = |segment: &LockstepSegment| (segment.epoch, segment.step, segment.world_size);
    account(job).segments.iter().map(of).collect()
}

/// What the ranks of a job are told when they ask for a batch.
fn refused(job: &mut Job<'_>) -> Vec<CallError> {
    let scene = job.scene;
    let ask = |caller| scene.call(AcquireRequest { caller: Some(caller), leases: 1, ..AcquireRequest::default() });
    job.ranks.iter_mut().map(|rank| ask(rank.next()).unwrap_err()).collect()
}

#[test]
fn rule_40_two_ranks_continue_where_four_gave_a_state_and_both_segments_are_the_epoch() {
    let mut scene = scene();
    let state = {
        let mut four = Job::start(&scene, RUN, RECORDS, 4);
        four.step();
        four.step();
        let state = four.state();
        // They go on behind the state, and all of that is forgotten.
        four.step();
        // Others have come by now, and have no state yet.
        Job::start(&scene, RUN, RECORDS, 2);
        state
    };
    // The coordinator dies before and after the change.
    scene.restart();
    let mut two = Job::start(&scene, RUN, RECORDS, 2);
    assert_eq!(two.ranks[0].caller.ledger, "run/train/rank-0-of-2-generation-2");
    two.restore(&state);
    assert_eq!(segments(&two), [(0, 0, 4), (0, 2, 2)]);
    let ledgers: Vec<_> = two.ranks.into_iter().collect();
    scene.restart();
    let mut two = Job { scene: &scene, ranks: ledgers };
    while two.step().is_some() {}
    let whole = |epoch| format!("epoch {epoch}: 300 of 300 records accounted for (300 delivered), checksum equal");
    assert_eq!(lines(&two), [whole(0), whole(1), whole(2)]);
    // Each ledger accounts for its own steps.
    let told = of_ledgers(&scene, &["rank-3-of-4", "rank-1-of-2-generation-2"]);
    assert!(
        told[0].contains("32 of 32 records accounted for (32 delivered), checksum equal; up to position 32"),
        "{told:?}"
    );
    assert!(
        told[1].contains("86 of 86 records accounted for (86 delivered), checksum equal; from position 64"),
        "{told:?}"
    );
}

#[test]
fn rule_40_ranks_of_before_are_fenced_and_told_which_ones_continue() {
    let scene = scene();
    let mut four = Job::start(&scene, RUN, RECORDS, 4);
    four.step();
    let state = four.state();
    let mut two = Job::start(&scene, RUN, RECORDS, 2);
    // As long as no state is loaded, the four go on, and the two are told the ways out.
    for error in refused(&mut two) {
        let CallError::SpecMismatch(why) = &error else { panic!("{error:?}") };
        assert!(
            why.contains("read by 4 ranks from step 0 of epoch 0, but this rank is one of 2. Load a state"),
            "{why}"
        );
        assert!(why.contains("use world_size 4, or begin a new run: `forebay run new train`"), "{why}");
    }
    let request = TakeSnapshotRequest {
        ledger: two.ranks[0].caller.ledger.clone(),
        consumed: Vec::new(),
        ..TakeSnapshotRequest::default()
    };
    assert!(
        matches!(scene.call(request), Err(CallError::SpecMismatch(_))),
        "a run that it is not in has no state here"
    );
    assert!(four.step().is_some());
    two.ranks[0].restore(&scene, &state).unwrap();
    for error in refused(&mut four) {
        let CallError::Fenced(why) = &error else { panic!("{error:?}") };
        assert!(why.contains("continues with 2 ranks from step 1 of epoch 0"), "{why}");
    }
    let beat = HeartbeatRequest { caller: Some(four.ranks[2].caller.clone()), ..HeartbeatRequest::default() };
    assert!(matches!(scene.call(beat), Err(CallError::Fenced(_))));
    let request = TakeSnapshotRequest {
        ledger: four.ranks[0].caller.ledger.clone(),
        consumed: Vec::new(),
        ..TakeSnapshotRequest::default()
    };
    assert!(matches!(scene.call(request), Err(CallError::Fenced(_))));
    // The other rank of the two, which was there before, goes on from the state as well.
    assert_eq!(two.step().unwrap().1.concat().len() as u64, GLOBAL_BATCH);
}

#[test]
fn rule_40_what_is_unacked_below_the_step_is_delivered_by_the_state_and_named_so() {
    let scene = scene();
    let mut four = Job::start(&scene, RUN, RECORDS, 4);
    four.step();
    // Each rank has the second step in its hands when the state is taken, and one receipt of it comes before they are killed.
    let receipts: Vec<_> = four.ranks.iter_mut().map(|rank| rank.take(&scene, 16).unwrap().2).collect();
    let ledger = four.ranks[1].caller.ledger.clone();
    let state = scene
        .call(TakeSnapshotRequest { ledger, consumed: receipts[1].clone(), ..TakeSnapshotRequest::default() })
        .unwrap()
        .snapshot
        .unwrap();
    assert_eq!((state.epoch, state.cursor), (0, 2 * GLOBAL_BATCH));
    four.ranks[0].acknowledge(&scene, receipts[0].clone());
    let mut two = Job::start(&scene, RUN, RECORDS, 2);
    two.restore(&state);
    while two.step().is_some() {}
    assert_eq!(
        lines(&two)[0],
        "epoch 0: 300 of 300 records accounted for (252 delivered, 48 delivered by the state that was loaded), checksum equal"
    );
    let told = of_ledgers(&scene, &["rank-0-of-4", "rank-1-of-4"]);
    assert!(told[0].contains("(32 delivered), checksum equal; up to position 32"), "{told:?}");
    assert!(told[1].contains("(16 delivered, 16 delivered by the state that was loaded), checksum equal"), "{told:?}");
}

#[test]
fn rule_40_the_sums_at_a_state_are_kept_over_the_death_of_a_daemon() {
    let scene = Scene::new(spec(RECORDS), 4 * GLOBAL_BATCH, EPOCHS);
    let mut one = Job::start(&scene, RUN, RECORDS, 1);
    one.step();
    // The second of the four steps of its lease is in the trainer's hands.
    let consumed = one.ranks[0].take(&scene, GLOBAL_BATCH).unwrap().2;
    let ledger = one.ranks[0].caller.ledger.clone();
    let state = scene
        .call(TakeSnapshotRequest { ledger, consumed, ..TakeSnapshotRequest::default() })
        .unwrap()
        .snapshot
        .unwrap();
    assert_eq!(state.cursor, 2 * GLOBAL_BATCH);
    // Its daemon dies. The next one gets the rest of the lease, in whose middle the state is.
    let mut again = Job::start(&scene, RUN, RECORDS, 1);
    scene.pass(GRACE);
    again.step();
    again.step();
    again.restore(&state);
    let told = "epoch 0: 128 of 300 records accounted for (128 delivered), not complete; possibly repeated: 64 after a daemon died";
    assert_eq!(lines(&again), [told]);
}

#[test]
fn rule_40_the_sums_are_kept_at_each_of_the_last_64_states() {
    let records = 70 * GLOBAL_BATCH;
    let scene = Scene::new(spec(records), 64, 1);
    let mut one = Job::start(&scene, RUN, records, 1);
    let mut states = vec![one.state()];
    while one.step().is_some() {
        states.push(one.state());
    }
    // Back to each of them, the newest first: the account before it is of receipts, as long as it is known.
    states.pop();
    let mut by_state = Vec::new();
    for (step, state) in states.iter().enumerate().rev() {
        let step = step as u64;
        one.restore(state);
        let epoch = account(&one).epochs.into_iter().next();
        let (delivered, named) = epoch.map_or((0, 0), |epoch| (epoch.sums.delivered.count, epoch.sums.by_state.count));
        assert_eq!(delivered + named, step * GLOBAL_BATCH, "step {step}");
        if named > 0 {
            by_state.push(step);
        }
    }
    // The 71 states have their marks at the steps 0 to 69 and in the next epoch. Of the first ones, nothing is kept.
    assert_eq!(by_state, (1..7).rev().collect::<Vec<u64>>());
    while one.step().is_some() {}
    assert_eq!(account(&one).epochs[0].verdict, Judgement::AddsUp);
}

/// The trainer of a rank calls `reset()`.
fn reset(job: &mut Job<'_>, rank: usize, epoch: u64) -> u64 {
    let caller = Some(job.ranks[rank].next());
    job.scene.call(AbandonRequest { caller, epoch, ..AbandonRequest::default() }).unwrap().abandoned
}

/// The trainer of a rank loads a state.
fn load(job: &mut Job<'_>, rank: usize, state: &Snapshot, load_id: &str) {
    let (caller, snapshot) = (Some(job.ranks[rank].next()), Some(state.clone()));
    let load_id = load_id.to_owned();
    job.scene.call(RestoreRequest { caller, snapshot, load_id, ..RestoreRequest::default() }).unwrap();
    job.ranks[rank].leased.clear();
}

#[test]
fn rule_40_a_rank_that_has_gone_back_to_the_state_of_all_stays_there_when_another_one_resets() {
    // Each load without an id, and with one; with and without a reset() before it.
    for (ids, resets) in [(["", ""], false), (["", ""], true), (["one", "two"], false), (["one", "two"], true)] {
        let mut scene = scene();
        let records = RECORDS;
        let mut job = Job::start(&scene, RUN, records, 2);
        job.step();
        let state = job.state();
        for rank in 0..2 {
            load(&mut job, rank, &state, ids[0]);
        }
        assert_eq!(job.step().unwrap().0, 0);
        if resets {
            reset(&mut job, 1, 0);
        }
        load(&mut job, 1, &state, ids[1]);
        let ranks = std::mem::take(&mut job.ranks);
        scene.restart();
        let mut job = Job { scene: &scene, ranks };
        // The other rank ends what it was in. It will load the state as well.
        reset(&mut job, 0, 0);
        load(&mut job, 0, &state, ids[1]);
        let (epoch, again) = job.step().unwrap();
        assert_eq!(epoch, 0, "{ids:?}, {resets}");
        assert_eq!(again.concat().len() as u64, GLOBAL_BATCH);
        // They are together again: now a reset() is one for both.
        reset(&mut job, 0, 0);
        job.ranks.iter_mut().for_each(|rank| rank.leased.clear());
        assert_eq!(job.step().unwrap().0, 1, "{ids:?}, {resets}");
        while job.step().is_some() {}
        assert!(lines(&job).iter().all(|line| line.contains("checksum equal")), "{:?}", lines(&job));
    }
}

#[test]
fn rule_40_a_rank_that_loads_the_state_again_before_it_reads_goes_back_nowhere() {
    let scene = scene();
    let mut job = Job::start(&scene, RUN, RECORDS, 4);
    job.step();
    let state = job.state();
    for rank in [1, 0, 1, 2, 3, 3] {
        load(&mut job, rank, &state, "");
    }
    job.step();
    reset(&mut job, 2, 0);
    job.ranks.iter_mut().for_each(|rank| rank.leased.clear());
    assert_eq!(job.step().unwrap().0, 1, "all ranks are in one epoch");
}

#[test]
fn rule_40_reset_of_one_rank_takes_all_ranks_to_the_start_of_the_next_epoch() {
    let scene = scene();
    let mut job = Job::start(&scene, RUN, RECORDS, 4);
    job.step();
    // Another rank is a step behind.
    job.ranks[0].batch(&scene, 16).unwrap();
    let abandon = |rank: usize, job: &mut Job<'_>| {
        let caller = Some(job.ranks[rank].next());
        job.scene.call(AbandonRequest { caller, epoch: 0, ..AbandonRequest::default() }).unwrap()
    };
    let generation = |job: &Job<'_>, rank: usize| {
        let caller = Some(job.ranks[rank].caller.clone());
        let request = HeartbeatRequest { caller, ..HeartbeatRequest::default() };
        job.scene.call(request).unwrap().progress.unwrap().generation
    };
    let before = generation(&job, 1);
    assert_eq!(abandon(0, &mut job).abandoned, 75 - 32);
    // The others begin anew behind it. When their trainers call reset() too, nothing is left to end.
    assert_eq!(generation(&job, 1), before + 1);
    for rank in 1..4 {
        assert_eq!(abandon(rank, &mut job).abandoned, 0);
    }
    assert_eq!(generation(&job, 1), before + 1);
    for rank in &mut job.ranks {
        rank.leased.clear();
    }
    assert_eq!(job.step().unwrap().0, 1);
    while job.step().is_some() {}
    let told = lines(&job);
    assert!(
        told[0].contains("300 of 300 records accounted for (80 delivered, 220 abandoned), checksum equal"),
        "{told:?}"
    );
    assert!(told[1].contains("(300 delivered), checksum equal"), "{told:?}");
}

#[test]
fn rule_40_a_rank_that_opens_its_ledger_late_begins_where_its_segment_does() {
    let scene = scene();
    let mut four = Job::start(&scene, RUN, RECORDS, 4);
    four.step();
    let state = four.state();
    let rank = |number| open(&scene, RUN, &in_lockstep(RECORDS, number, 2)).unwrap();
    let mut two = Job { scene: &scene, ranks: vec![rank(0)] };
    two.ranks[0].restore(&scene, &state).unwrap();
    two.ranks.push(rank(1));
    assert_eq!(two.step().unwrap().1.concat().len() as u64, GLOBAL_BATCH);
    assert_eq!(account(&two).epochs[0].sums.delivered.count, 2 * GLOBAL_BATCH);
}

#[test]
fn rule_40_a_new_run_forgets_the_segments() {
    let mut scene = scene();
    let mut four = Job::start(&scene, RUN, RECORDS, 4);
    four.step();
    let state = four.state();
    Job::start(&scene, RUN, RECORDS, 2).restore(&state);
    let request = NewRunRequest { run: RUN.to_owned(), stream: "train".to_owned() };
    assert_eq!(scene.call(request).unwrap().forgotten, 6);
    scene.restart();
    let eight = Job::start(&scene, RUN, RECORDS, 8);
    assert_eq!(segments(&eight), [(0, 0, 8)]);
}

#[test]
fn rule_40_after_random_stops_in_one_run_the_audit_of_all_segments_adds_up() {
    let sizes = world_sizes(GLOBAL_BATCH, 1);
    for seed in 0..8 {
        let mut random = Random::new(seed);
        let records = 1 + random.below(600);
        let mut scene = Scene::new(spec(records), 64 << random.below(3), EPOCHS);
        let mut seen = Visits::default();
        // What was seen when each state was taken.
        let mut known: Vec<(Snapshot, Visits)> = Vec::new();
        loop {
            if random.below(3) == 0 {
                scene.restart();
            }
            let size = sizes[usize::try_from(random.below(7)).unwrap()];
            let mut job = Job::start(&scene, RUN, records, size);
            // The newest state or an older one, behind which all are void.
            if !known.is_empty() {
                let back = if random.below(4) == 0 { usize::try_from(random.below(3)).unwrap() } else { 0 };
                known.truncate(known.len() - back.min(known.len() - 1));
                let (state, then) = known.last().unwrap();
                job.restore(state);
                seen = then.clone();
            }
            let mut is_done = false;
            for _ in 0..=random.below(5) {
                let Some((epoch, ranks)) = job.step() else {
                    is_done = true;
                    break;
                };
                for record in ranks.concat() {
                    seen.deliver("the job", epoch, record);
                }
            }
            let account = account(&job);
            let wrong: Vec<_> =
                account.epochs.iter().filter(|epoch| epoch.verdict == Judgement::DoesNotAddUp).collect();
            assert!(wrong.is_empty(), "seed {seed}, {records} records: {wrong:?} in {account:?}");
            if is_done {
                assert_eq!(account.epochs.len() as u64, EPOCHS);
                let delivered: u64 = account.epochs.iter().map(|epoch| epoch.sums.delivered.count).sum();
                assert_eq!(delivered, EPOCHS * records, "seed {seed}: each state has its sums, {account:?}");
                break;
            }
            known.push((job.state(), seen.clone()));
            // What comes behind the state is forgotten.
            for _ in 0..random.below(3) {
                job.step();
            }
        }
        seen.check(records, 0, EPOCHS).unwrap_or_else(|wrong| panic!("seed {seed}: {wrong:?}"));
    }
}
