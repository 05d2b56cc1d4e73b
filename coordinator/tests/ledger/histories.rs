//! Two runs of one dataset that take snapshots at any time and go back, or ahead, to each other's: a run that is right
//! always adds up.

use std::collections::BTreeSet;

use forebay_plan::{Plan, SourceAudit, Verdict as Judgement};
use forebay_proto::v1::{
    AbandonRequest, AuditReply, AuditRequest, Lease, RestoreRequest, Snapshot, Verdict, acquire_reply::Answer,
};
use proptest::{prelude::*, test_runner::RngSeed};

use crate::grains::{grained, mixed_by_grains};
use crate::mixtures::mixed;
use crate::scene::{Daemon, GRACE, Scene, bare, spec, static_spec};

const EPOCHS: u64 = 4;

/// One step of a run; the numbers choose among what there is.
#[derive(Clone, Debug)]
enum Step {
    Acquire,
    /// The receipt for a lease's first positions.
    Ack(usize, u64),
    Nack(usize),
    /// With the receipts of these leases, which are in the caller's hands.
    Snapshot(usize, usize),
    Restore(usize),
    Reborn,
    CoordinatorRestarts,
    Abandon,
}

/// Positions that are accounted for.
type Done = BTreeSet<(u64, u64)>;

struct Run {
    scene: Scene,
    daemon: Daemon,
    /// What it holds, with how many positions of each are acked.
    out: Vec<(Lease, u64)>,
    done: Done,
}

impl Run {
    fn new(kind: usize) -> Self {
        let spec = [spec(20), static_spec(20, 1, 3, false)][kind % 2].clone();
        let plan = match kind {
            0 | 1 => Plan::new(&spec).unwrap(),
            2 | 3 => grained(spec, 2),
            4 | 5 => mixed(spec, &[(3, 12), (17, 11)]),
            _ => mixed_by_grains(spec, &[(3, 12), (17, 11)], 2),
        };
        let scene = Scene::of(plan, 6, EPOCHS);
        Self { daemon: scene.daemon("node", 1), scene, out: Vec::new(), done: Done::new() }
    }

    fn step(&mut self, step: &Step, snapshots: &mut Vec<(Snapshot, Done)>) {
        match *step {
            Step::Acquire => self.out.extend(self.daemon.acquire(&self.scene, 1).leases.into_iter().map(|it| (it, 0))),
            Step::Ack(which, len) => self.ack(which, len),
            Step::Nack(which) => {
                let Some((lease, from, _)) = self.choose(which, 1) else { return };
                let verdict = match self.scene.spec.shard {
                    Some(_) => self.daemon.ack(&self.scene, bare(&lease, from, from + 1)),
                    None => self.daemon.nack(&self.scene, &lease, from),
                };
                assert_eq!(verdict, Verdict::Accepted);
                self.account(lease, from, from + 1);
            }
            Step::Snapshot(first, count) => {
                let mut done = self.done.clone();
                let in_hand = self.out.iter().skip(first).take(count);
                let receipts = in_hand.flat_map(|(lease, from)| {
                    done.extend((lease.start + from..lease.end).map(|position| (lease.epoch, position)));
                    self.scene.receipts(lease, *from, lease.end - lease.start)
                });
                snapshots.push((self.scene.snapshot(receipts.collect()), done));
            }
            Step::Restore(which) => {
                let Some((snapshot, done)) = snapshots.iter().rev().nth(which).cloned() else { return };
                let request = RestoreRequest {
                    caller: Some(self.daemon.next()),
                    snapshot: Some(snapshot),
                    ..RestoreRequest::default()
                };
                self.scene.call(request).unwrap();
                (self.out, self.done) = (Vec::new(), done);
            }
            Step::Reborn => {
                self.daemon = self.scene.daemon("node", self.daemon.caller.incarnation + 1);
                self.out.clear();
                self.scene.pass(GRACE);
            }
            Step::CoordinatorRestarts => self.scene.restart(),
            Step::Abandon => {
                let epoch = self.told().progress.unwrap().floor;
                let reply = self.scene.call(AbandonRequest {
                    caller: Some(self.daemon.next()),
                    epoch,
                    ..AbandonRequest::default()
                });
                if reply.is_ok() {
                    self.done.extend((0..self.scene.plan.epoch_len(epoch)).map(|position| (epoch, position)));
                    self.out.retain(|(lease, _)| lease.epoch != epoch);
                }
            }
        }
    }

    fn told(&self) -> AuditReply {
        self.scene.call(AuditRequest { ledger: self.daemon.caller.ledger.clone(), from_epoch: 0 }).unwrap()
    }

    fn choose(&self, which: usize, len: u64) -> Option<(Lease, u64, u64)> {
        let (lease, from) = *self.out.get(which)?;
        Some((lease, from, (from + len).min(lease.end - lease.start)))
    }

    fn ack(&mut self, which: usize, len: u64) {
        let Some((lease, from, end)) = self.choose(which, len) else { return };
        for item in self.scene.receipts(&lease, from, end) {
            assert_eq!(self.daemon.ack(&self.scene, item), Verdict::Accepted);
        }
        self.account(lease, from, end);
    }

    fn account(&mut self, lease: Lease, from: u64, end: u64) {
        for position in lease.start + from..lease.start + end {
            assert!(self.done.insert((lease.epoch, position)), "{position} of epoch {} twice", lease.epoch);
        }
        for held in self.out.iter_mut().filter(|(held, _)| held.id == lease.id) {
            held.1 = end;
        }
        self.out.retain(|(held, acked)| *acked < held.end - held.start);
    }

    /// Every count is that of the history that counts, and a complete epoch adds up.
    fn check(&self) {
        for audit in self.scene.audit() {
            let done = |end| self.done.range((audit.epoch, 0)..(audit.epoch, end)).count() as u64;
            // Positions without a record count nowhere.
            let records = audit.expected.count;
            assert_eq!(audit.accounted().count, done(records), "{audit}");
            let right = if done(records) == records { Judgement::AddsUp } else { Judgement::Incomplete };
            assert_eq!(audit.verdict, right, "{audit}");
            let of_sources: u64 = audit.sources.iter().map(SourceAudit::accounted).sum();
            assert!(audit.sources.is_empty() || of_sources == done(records), "{:?}", audit.sources);
        }
    }

    fn finish(mut self) {
        self.step(&Step::Reborn, &mut Vec::new());
        assert_eq!(self.scene.deliver_all(&mut self.daemon), Answer::DatasetDone);
        let wrong: Vec<_> = self.scene.audit().into_iter().filter(|it| it.verdict != Judgement::AddsUp).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => Just(Step::Acquire),
        10 => (0..3usize, 1..9u64).prop_map(|(which, len)| Step::Ack(which, len)),
        1 => (0..3usize).prop_map(Step::Nack),
        3 => (0..3usize, 0..6usize).prop_map(|(first, count)| Step::Snapshot(first, count)),
        2 => (0..5usize).prop_map(Step::Restore),
        1 => Just(Step::Reborn),
        1 => Just(Step::CoordinatorRestarts),
        1 => Just(Step::Abandon),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(std::env::var("PROPTEST_RNG_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(1)),
        ..ProptestConfig::default()
    })]

    #[test]
    fn rule_24_a_run_adds_up_whatever_it_goes_back_to(
        steps in proptest::collection::vec((0..2usize, step()), 0..120),
        kind in 0..8usize,
    ) {
        let mut runs = [Run::new(kind), Run::new(kind)];
        let mut snapshots = Vec::new();
        for (which, step) in &steps {
            runs[*which].step(step, &mut snapshots);
            runs[*which].check();
        }
        runs.into_iter().for_each(Run::finish);
    }
}
