//! Runs in lockstep over an order of classes, which stop at random steps and continue with other numbers of ranks.

use std::collections::BTreeMap;

use forebay_plan::{Plan, Verdict as Judgement, audit_run};
use forebay_proto::Turn;
use forebay_proto::v1::{
    LedgerSpec, LockstepRank, RestoreRequest, Snapshot, TakeSnapshotRequest, Verdict, acquire_reply::Answer,
};
use proptest::prelude::*;
use prost::Message;

use crate::scene::{Case, Daemon, GRACE, Scene, cases, receipt};

const EPOCHS: u64 = 2;
const SIZES: [u32; 3] = [1, 2, 4];

/// How one number of ranks reads.
#[derive(Clone, Debug)]
struct Segment {
    size: usize,
    /// Steps that all ranks read.
    steps: u64,
    /// Before this step, a rank's daemon is killed and starts again.
    kill: u64,
    /// The last rank reads so many steps more than the others. What it has of them is void.
    ahead: u64,
    restart: bool,
    /// Records with this remainder are bad.
    bad: u64,
}

fn segment() -> impl Strategy<Value = Segment> {
    (0..3_usize, 0..12_u64, 0..12_u64, 0..3_u64, any::<bool>(), 0..9_u64)
        .prop_map(|(size, steps, kill, ahead, restart, bad)| Segment { size, steps, kill, ahead, restart, bad })
}

/// What a rank was given of a step: its turns at their places, bad ones included.
type Seen = BTreeMap<(u64, u64), BTreeMap<u32, Vec<Turn>>>;

struct Run {
    scene: Scene,
    seen: Seen,
    incarnation: u64,
}

/// A rank with its daemon, and its position in the lease that it reads.
struct Rank {
    number: u32,
    daemon: Daemon,
    plan: Plan,
    at: u64,
}

impl Rank {
    fn ledger(&self) -> String {
        self.daemon.caller.ledger.clone()
    }
}

impl Run {
    fn open(&mut self, rank: u32, world_size: u32) -> Rank {
        self.incarnation += 1;
        let daemon = self.scene.rank(rank, world_size, self.incarnation);
        let lockstep = Some(LockstepRank { global_batch: self.scene.places(), rank, world_size });
        let spec = LedgerSpec { lockstep, ..self.scene.plan.spec().clone() };
        let plan = Plan::with_table(&spec, self.scene.plan.table()).unwrap();
        Rank { number: rank, daemon, plan, at: 0 }
    }

    /// A rank reads its part of the next step, and hands in the receipt. False at the end of the run.
    fn step(&mut self, rank: &mut Rank, bad: u64) -> bool {
        let own = rank.plan.positions_of_step().unwrap();
        if rank.daemon.leases.last().is_none_or(|lease| rank.at == lease.end) {
            let reply = rank.daemon.acquire(&mut self.scene);
            match reply.answer() {
                Answer::Granted => rank.at = reply.leases[0].start,
                Answer::DatasetDone => return false,
                other => panic!("{other:?}"),
            }
        }
        let lease = *rank.daemon.leases.last().unwrap();
        let positions = rank.at..rank.at + own;
        let (item, records) = receipt(&rank.plan, &lease, positions.clone(), |record| record % 9 == bad);
        assert_eq!(rank.daemon.ack(&mut self.scene, item, records), Verdict::Accepted, "{lease:?} {positions:?}");
        let order = rank.plan.epoch(lease.epoch);
        let turns = positions.clone().filter_map(|position| order.own(position)).collect();
        self.seen.entry((lease.epoch, rank.at / own)).or_default().insert(rank.number, turns);
        rank.at = positions.end;
        true
    }

    fn kill(&mut self, rank: &mut Rank, world_size: u32) {
        *rank = self.open(rank.number, world_size);
        self.scene.pass(GRACE);
    }

    fn state(&mut self, rank: &Rank) -> Snapshot {
        let request = TakeSnapshotRequest { ledger: rank.ledger(), ..TakeSnapshotRequest::default() };
        self.scene.ledgers.take_snapshot(&request).unwrap().snapshot.unwrap()
    }

    /// All ranks of a new number, at a state.
    fn begin(&mut self, world_size: u32, state: Option<&Snapshot>) -> Vec<Rank> {
        let mut ranks: Vec<Rank> = (0..world_size).map(|rank| self.open(rank, world_size)).collect();
        if let Some(state) = state {
            let load_id = self.incarnation.to_le_bytes().to_vec();
            let load_id = String::from_utf8(load_id.iter().map(|byte| b'a' + byte % 26).collect()).unwrap();
            for rank in &mut ranks {
                let (caller, snapshot, load_id) = (Some(rank.daemon.next()), Some(state.clone()), load_id.clone());
                let request = RestoreRequest { caller, snapshot, load_id, ..RestoreRequest::default() };
                self.scene.ledgers.restore(&request, self.scene.now).unwrap();
            }
            self.scene.commit();
            let places = self.scene.places();
            self.seen.split_off(&(state.epoch, state.cursor / places));
        }
        ranks
    }

    /// A segment, and the state before the step that comes next.
    fn read(&mut self, segment: &Segment, state: Option<&Snapshot>) -> Snapshot {
        let world_size = SIZES[segment.size];
        let mut ranks = self.begin(world_size, state);
        for step in 0..segment.steps {
            if step == segment.kill {
                let last = ranks.last_mut().unwrap();
                self.kill(last, world_size);
            }
            let going: Vec<bool> = ranks.iter_mut().map(|rank| self.step(rank, segment.bad)).collect();
            assert!(going.windows(2).all(|pair| pair[0] == pair[1]), "all ranks have the same steps");
        }
        if segment.restart {
            self.scene.restart();
        }
        let states: Vec<Vec<u8>> = ranks.iter().map(|rank| self.state(rank).encode_to_vec()).collect();
        assert!(states.windows(2).all(|pair| pair[0] == pair[1]), "the states of all ranks are equal");
        let state = self.state(&ranks[0]);
        let last = ranks.last_mut().unwrap();
        for _ in 0..segment.ahead {
            self.step(last, segment.bad);
        }
        state
    }

    /// Reads all that is left, and checks what the ranks have seen together.
    fn finish(&mut self, segment: &Segment, state: &Snapshot) {
        let mut ranks = self.begin(SIZES[segment.size], Some(state));
        let mut is_going = true;
        while is_going {
            let going: Vec<bool> = ranks.iter_mut().map(|rank| self.step(rank, segment.bad)).collect();
            is_going = going.contains(&true);
        }
        let (plan, places) = (self.scene.plan.clone(), self.scene.places());
        let steps = plan.classes().unwrap().layout().steps();
        for epoch in 0..EPOCHS {
            let order = plan.epoch(epoch);
            for step in 0..steps {
                let planned = (step * places..(step + 1) * places).filter_map(|position| order.own(position));
                let seen = self.seen.get(&(epoch, step)).cloned().unwrap_or_default();
                assert!(seen.into_values().flatten().eq(planned), "step {step} of epoch {epoch}");
            }
        }
        assert_eq!(self.seen.len() as u64, EPOCHS * steps);
        let reply = self.scene.audit_reply(&ranks[0].ledger());
        let run = audit_run(&reply, |_| ()).unwrap().unwrap();
        assert_eq!(run.epochs.len() as u64, EPOCHS);
        for epoch in &run.epochs {
            assert_eq!(epoch.verdict, Judgement::AddsUp, "{epoch}");
            assert!(epoch.sources.iter().all(|source| source.accounted() == source.positions), "{:?}", epoch.sources);
        }
        for rank in &ranks {
            let audit = self.scene.audit(&rank.ledger());
            assert!(audit.iter().all(|epoch| epoch.verdict == Judgement::AddsUp), "{audit:?}");
        }
    }
}

fn check(case: &Case, segments: &[Segment]) {
    let Some(plan) = case.plan() else { return };
    let mut run = Run { scene: Scene::new(plan, EPOCHS), seen: Seen::new(), incarnation: 0 };
    let (last, first) = segments.split_last().unwrap();
    let mut state = None;
    for segment in first {
        let next = run.read(segment, state.as_ref());
        // Behind the last epoch, there is nothing to continue.
        if next.epoch >= EPOCHS {
            return;
        }
        state = Some(next);
    }
    if let Some(state) = state {
        run.finish(last, &state);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rule_62_ranks_stop_at_any_step_and_continue_in_any_number_with_every_record_once_an_epoch(
        case in cases(),
        segments in prop::collection::vec(segment(), 2..6),
    ) {
        check(&case, &segments);
    }
}
