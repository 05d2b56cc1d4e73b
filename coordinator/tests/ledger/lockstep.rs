//! Lockstep: the ledgers of ranks, and states from which any number of ranks goes on (semantics rule 40).

use std::sync::atomic::{AtomicU64, Ordering};

use forebay_coordinator::suite::{Random, Visits};
use forebay_ledger_client::CallError;
use forebay_plan::{EpochAudit, Plan, Verdict as Judgement, audit, world_sizes};
use forebay_proto::Turn;
use forebay_proto::v1::{
    AckItem, AckRequest, AcquireRequest, AuditRequest, Caller, Lease, LedgerSpec, LockstepRank, OpenRequest, Policies,
    RestoreRequest, Snapshot, TakeSnapshotRequest, Verdict,
};
use prost::Message as _;

use crate::scene::{Scene, receipts, spec};

pub(crate) const GLOBAL_BATCH: u64 = 64;
pub(crate) const EPOCHS: u64 = 3;

/// A job of several ranks, each with its ledger.
pub(crate) struct Job<'a> {
    pub(crate) scene: &'a Scene,
    pub(crate) ranks: Vec<Rank>,
}

pub(crate) struct Rank {
    plan: Plan,
    pub(crate) caller: Caller,
    /// Batches that are leased, the next one last: their leases, and where in these they begin.
    pub(crate) leased: Vec<(Lease, u64)>,
}

pub(crate) fn in_lockstep(records: u64, rank: u32, world_size: u32) -> LedgerSpec {
    let lockstep = Some(LockstepRank { global_batch: GLOBAL_BATCH, rank, world_size });
    LedgerSpec { lockstep, ..spec(records) }
}

pub(crate) fn open(scene: &Scene, run: &str, spec: &LedgerSpec) -> Result<Rank, CallError> {
    open_with(scene, run, spec, None)
}

pub(crate) fn open_with(
    scene: &Scene,
    run: &str,
    spec: &LedgerSpec,
    policies: Option<Policies>,
) -> Result<Rank, CallError> {
    static INCARNATIONS: AtomicU64 = AtomicU64::new(1);
    let incarnation = INCARNATIONS.fetch_add(1, Ordering::Relaxed);
    let (run, spec_of) = (run.to_owned(), Some(spec.clone()));
    let request = OpenRequest { run, spec: spec_of, policies, ..scene.open_request("node", incarnation) };
    let ledger = scene.call(request)?.ledger;
    let caller = Caller { ledger, worker: "node".to_owned(), incarnation, sequence: 0, unseen: 0 };
    Ok(Rank { plan: Plan::new(spec).unwrap(), caller, leased: Vec::new() })
}

impl<'a> Job<'a> {
    pub(crate) fn start(scene: &'a Scene, run: &str, records: u64, world_size: u32) -> Self {
        let rank = |rank| open(scene, run, &in_lockstep(records, rank, world_size)).unwrap();
        Self { scene, ranks: (0..world_size).map(rank).collect() }
    }

    /// One step of all ranks: its epoch, and the records of each rank. Nothing at the end of the last epoch.
    pub(crate) fn step(&mut self) -> Option<(u64, Vec<Vec<u64>>)> {
        let size = GLOBAL_BATCH / self.ranks.len() as u64;
        let batches: Vec<_> = self.ranks.iter_mut().map(|rank| rank.batch(self.scene, size)).collect();
        let done = batches.iter().filter(|batch| batch.is_none()).count();
        assert!(done == 0 || done == batches.len(), "all ranks have as many steps");
        let batches: Option<Vec<_>> = batches.into_iter().collect();
        let batches = batches?;
        assert!(batches.iter().all(|(epoch, _)| *epoch == batches[0].0), "all ranks are in one epoch");
        Some((batches[0].0, batches.into_iter().map(|(_, records)| records).collect()))
    }

    /// The state of the job, which each rank gives.
    pub(crate) fn state(&self) -> Snapshot {
        let state = |rank: &Rank| {
            let request = TakeSnapshotRequest {
                ledger: rank.caller.ledger.clone(),
                consumed: Vec::new(),
                ..TakeSnapshotRequest::default()
            };
            self.scene.call(request).unwrap().snapshot.unwrap()
        };
        let states: Vec<Snapshot> = self.ranks.iter().map(state).collect();
        let bytes = |state: &Snapshot| state.encode_to_vec();
        assert!(states.iter().all(|state| bytes(state) == bytes(&states[0])), "the states are equal: {states:?}");
        states.into_iter().next_back().unwrap()
    }

    pub(crate) fn restore(&mut self, state: &Snapshot) {
        for rank in &mut self.ranks {
            rank.leased.clear();
            rank.restore(self.scene, state).unwrap();
        }
    }

    pub(crate) fn audit(&self) -> Vec<Vec<EpochAudit>> {
        let of = |rank: &Rank| {
            let request = AuditRequest { ledger: rank.caller.ledger.clone(), from_epoch: 0 };
            audit(&self.scene.call(request).unwrap(), |_| ()).unwrap()
        };
        self.ranks.iter().map(of).collect()
    }
}

impl Rank {
    pub(crate) fn next(&mut self) -> Caller {
        self.caller.sequence += 1;
        self.caller.clone()
    }

    pub(crate) fn restore(&mut self, scene: &Scene, state: &Snapshot) -> Result<(), CallError> {
        let request =
            RestoreRequest { caller: Some(self.next()), snapshot: Some(state.clone()), ..RestoreRequest::default() };
        scene.call(request).map(drop)
    }

    /// The next batch, acknowledged: its epoch and its records.
    pub(crate) fn batch(&mut self, scene: &Scene, size: u64) -> Option<(u64, Vec<u64>)> {
        let (epoch, records, receipt) = self.take(scene, size)?;
        self.acknowledge(scene, receipt);
        Some((epoch, records))
    }

    /// The next batch, and its receipt.
    pub(crate) fn take(&mut self, scene: &Scene, size: u64) -> Option<(u64, Vec<u64>, Vec<AckItem>)> {
        if self.leased.is_empty() {
            let reply = scene
                .call(AcquireRequest { caller: Some(self.next()), leases: 1, ..AcquireRequest::default() })
                .unwrap();
            for lease in reply.leases {
                assert_eq!(lease.start % size, 0, "a lease begins with a batch");
                let firsts = (lease.start..lease.end).step_by(usize::try_from(size).unwrap());
                self.leased.extend(firsts.map(|first| (lease, first - lease.start)));
            }
            self.leased.reverse();
        }
        let (lease, start) = self.leased.pop()?;
        let end = (start + size).min(lease.end - lease.start);
        let items = receipts(&self.plan, &lease, start, end);
        let order = self.plan.epoch(lease.epoch);
        let turns = (lease.start + start..lease.start + end).filter_map(|position| order.own(position));
        Some((lease.epoch, turns.map(Turn::record).collect(), items))
    }

    pub(crate) fn acknowledge(&mut self, scene: &Scene, items: Vec<AckItem>) {
        let reply = scene.call(AckRequest { caller: Some(self.next()), items, ..AckRequest::default() }).unwrap();
        assert!(reply.verdicts().all(|verdict| verdict == Verdict::Accepted), "{reply:?}");
    }
}

/// The records of each step of a run, in the order of positions.
fn steps(job: &mut Job<'_>) -> Vec<(u64, Vec<u64>)> {
    std::iter::from_fn(|| job.step()).map(|(epoch, ranks)| (epoch, ranks.concat())).collect()
}

#[test]
fn rule_40_each_step_has_the_same_records_for_1_2_4_and_8_ranks_and_each_ledger_adds_up() {
    let scene = Scene::new(spec(300), 64, EPOCHS);
    let alone = steps(&mut Job::start(&scene, "alone", 300, 1));
    assert_eq!(alone.len() as u64, EPOCHS * 300_u64.div_ceil(GLOBAL_BATCH));
    for world_size in [2, 4, 8] {
        let mut job = Job::start(&scene, &format!("{world_size} ranks"), 300, world_size);
        assert_eq!(steps(&mut job), alone, "{world_size} ranks");
        let audits = job.audit();
        assert!(audits.iter().flatten().all(|epoch| epoch.verdict == Judgement::AddsUp), "{audits:?}");
        let delivered: u64 = audits.iter().map(|rank| rank[0].sums.delivered.count).sum();
        assert_eq!(delivered, 300);
        assert_eq!(job.ranks[1].caller.ledger, format!("{world_size} ranks/train/rank-1-of-{world_size}"));
    }
}

#[test]
fn rule_40_after_500_random_stops_and_resizes_no_record_is_missing_or_there_twice() {
    let sizes: Vec<u32> = world_sizes(GLOBAL_BATCH, 1);
    assert_eq!(sizes, [1, 2, 4, 8, 16, 32, 64]);
    let mut random = Random::new(40);
    let (mut resizes, mut run) = (0, 0);
    while resizes < 500 {
        let records = 1 + random.below(1200);
        let scene = Scene::new(spec(records), 64 << random.below(3), EPOCHS);
        let mut visits = Visits::default();
        let mut state: Option<Snapshot> = None;
        loop {
            run += 1;
            let mut job =
                Job::start(&scene, &format!("run {run}"), records, sizes[usize::try_from(random.below(7)).unwrap()]);
            if let Some(state) = &state {
                job.restore(state);
            }
            let until = 1 + random.below(11);
            let mut done = false;
            for _ in 0..until {
                let Some((epoch, ranks)) = job.step() else {
                    done = true;
                    break;
                };
                for (rank, records) in ranks.iter().enumerate() {
                    for record in records {
                        visits.deliver(&format!("rank {rank} of run {run}"), epoch, *record);
                    }
                }
            }
            if done {
                break;
            }
            let now = job.state();
            assert!(now.open.is_empty() && now.encoded_len() <= 1024, "{} bytes: {now:?}", now.encoded_len());
            state = Some(now);
            // It goes on for a while, and what it delivers is forgotten with the state that is loaded.
            for _ in 0..random.below(3) {
                job.step();
            }
            let wrong = job.audit().concat().into_iter().find(|epoch| epoch.verdict == Judgement::DoesNotAddUp);
            assert_eq!(wrong, None);
            resizes += 1;
        }
        visits
            .check(records, 0, EPOCHS)
            .unwrap_or_else(|wrong| panic!("{records} records, seed 40, run {run}: {wrong}"));
    }
}

#[test]
fn rule_40_a_state_is_between_two_steps_and_behind_the_last_one_is_the_next_epoch() {
    let scene = Scene::new(spec(100), 64, EPOCHS);
    let mut job = Job::start(&scene, "run", 100, 4);
    let at = |state: &Snapshot| (state.epoch, state.cursor);
    assert_eq!(at(&job.state()), (0, 0));
    job.step();
    assert_eq!(at(&job.state()), (0, 64));
    // A step that only some ranks have made counts as not made, once one of those that have not is asked.
    let mut state = job.state();
    job.step();
    assert_eq!(at(&job.state()), (1, 0));
    job.restore(&state);
    assert_eq!(at(&job.state()), (0, 64));
    // What was delivered before the state stays on the account, and what came behind it is gone.
    let told = job.audit();
    assert!(told.iter().all(|rank| rank[..].iter().all(|epoch| epoch.sums.delivered.count == 16)), "{told:?}");
    job.step();
    let lines: Vec<String> = job.audit()[0].iter().map(ToString::to_string).collect();
    assert_eq!(lines, ["epoch 0: 25 of 25 records accounted for (25 delivered), checksum equal"]);
    // The account of the first epoch stays when a state of the second one is loaded.
    assert_eq!(at(&job.state()), (1, 0));
    job.step();
    let later = job.state();
    job.restore(&later);
    job.step();
    assert!(job.audit().iter().flatten().all(|epoch| epoch.verdict == Judgement::AddsUp), "{:?}", job.audit());
    // What is no place between two steps is refused.
    for cursor in [32, 100, 128] {
        state.cursor = cursor;
        assert!(matches!(job.ranks[0].restore(&scene, &state), Err(CallError::Invalid(_))), "{cursor}");
    }
}

#[test]
fn rule_40_a_run_keeps_its_global_batch() {
    let scene = Scene::new(spec(100), 64, EPOCHS);
    let _job = Job::start(&scene, "run", 100, 4);
    let refusal = |run: &str, spec: &LedgerSpec| open(&scene, run, spec).err().map(|error| error.to_string());
    let smaller = LedgerSpec { lockstep: Some(LockstepRank { global_batch: 32, rank: 0, world_size: 4 }), ..spec(100) };
    let other = refusal("run", &smaller).unwrap();
    assert!(other.contains("lockstep (global_batch 64) and is now lockstep (global_batch 32)"), "{other}");
    let dynamic = refusal("run", &spec(100)).unwrap();
    assert!(dynamic.contains("assignment was lockstep (global_batch 64) and is now dynamic"), "{dynamic}");
    let uneven = refusal("another", &in_lockstep(100, 0, 5)).unwrap();
    assert!(uneven.contains("World sizes that fit: 1, 2, 4, 8, 16, 32, 64"), "{uneven}");
}
