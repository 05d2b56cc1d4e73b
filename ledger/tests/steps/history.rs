//! Random histories of several workers of one run against a plain model: sets of steps.

use std::collections::{BTreeMap, BTreeSet};

use forebay_ledger::Ledger;
use forebay_plan::{SourceAudit, Verdict as Judgement};
use forebay_proto::v1::{
    AbandonRequest, Cause, Lease, Range, RestoreRequest, ReturnRequest, ReturnedRange, Snapshot, TakeSnapshotRequest,
    Verdict, acquire_reply::Answer,
};
use proptest::prelude::*;

use crate::scene::{Case, Daemon, GRACE, Scene, TTL, cases, receipt, unseen};

const WORKERS: usize = 3;
const EPOCHS: u64 = 2;
const NAME: &str = "run/train/all";

/// One step of a history. The numbers choose among what there is.
#[derive(Clone, Debug)]
enum Event {
    Acquire(usize),
    /// The receipt of so many steps of a lease. Records whose number has this remainder are bad.
    Ack(usize, usize, u64, u64),
    /// A receipt that is cut off within a step.
    AckPart(usize, usize),
    Return(usize, usize),
    /// The daemon is killed and starts again.
    Kill(usize),
    Silence,
    Wait,
    Restart,
    /// With the first open step of a lease, which a trainer has consumed.
    Snapshot(usize, usize),
    Restore(usize),
    Abandon(usize),
}

fn event() -> impl Strategy<Value = Event> {
    let (who, which) = (0..WORKERS, 0..4_usize);
    prop_oneof![
        8 => who.clone().prop_map(Event::Acquire),
        12 => (who.clone(), which.clone(), 1..3_u64, 0..9_u64).prop_map(|(a, b, c, d)| Event::Ack(a, b, c, d)),
        2 => (who.clone(), which.clone()).prop_map(|(a, b)| Event::AckPart(a, b)),
        3 => (who.clone(), which.clone()).prop_map(|(a, b)| Event::Return(a, b)),
        2 => who.clone().prop_map(Event::Kill),
        1 => Just(Event::Silence),
        1 => Just(Event::Wait),
        2 => Just(Event::Restart),
        2 => (who.clone(), which).prop_map(|(a, b)| Event::Snapshot(a, b)),
        1 => who.clone().prop_map(Event::Restore),
        1 => who.prop_map(Event::Abandon),
    ]
}

/// Steps that are accounted for, with how many of their records were bad.
type Done = BTreeMap<(u64, u64), u64>;

struct History {
    scene: Scene,
    workers: Vec<Daemon>,
    /// The lease and the worker that had each step last.
    holders: BTreeMap<(u64, u64), (u64, usize)>,
    done: Done,
    abandoned: BTreeSet<u64>,
    states: Vec<(Snapshot, Done, BTreeSet<u64>)>,
}

impl History {
    fn new(case: &Case) -> Option<Self> {
        let mut scene = Scene::new(case.plan()?, EPOCHS);
        let workers = (0..WORKERS).map(|who| scene.daemon(&format!("w{who}"), 1)).collect();
        let (holders, done) = (BTreeMap::new(), Done::new());
        Some(Self { scene, workers, holders, done, abandoned: BTreeSet::new(), states: Vec::new() })
    }

    fn happen(&mut self, event: &Event) {
        match *event {
            Event::Acquire(who) => {
                self.acquire(who);
            }
            Event::Ack(who, which, steps, bad) => self.ack(who, which, steps, bad),
            Event::AckPart(who, which) => self.ack_part(who, which),
            Event::Return(who, which) => self.give_back(who, which),
            Event::Kill(who) => {
                let leases = std::mem::take(&mut self.workers[who].leases);
                let incarnation = self.workers[who].caller.incarnation + 1;
                let daemon = self.scene.daemon(&format!("w{who}"), incarnation);
                self.workers[who] = Daemon { leases, ..daemon };
            }
            Event::Silence => self.scene.pass(TTL + 1),
            Event::Wait => self.scene.pass(GRACE),
            Event::Restart => self.scene.restart(),
            Event::Snapshot(who, which) => self.snapshot(who, which),
            Event::Restore(who) => self.restore(who),
            Event::Abandon(who) => self.abandon(who),
        }
    }

    fn steps_of(&self, lease: &Lease) -> std::ops::Range<u64> {
        let places = self.scene.places();
        assert!(lease.start.is_multiple_of(places) && lease.end.is_multiple_of(places), "{lease:?}");
        lease.start / places..lease.end / places
    }

    fn acquire(&mut self, who: usize) -> Answer {
        let reply = self.workers[who].acquire(&mut self.scene);
        for lease in &reply.leases {
            for step in self.steps_of(lease) {
                let place = (lease.epoch, step);
                assert!(!self.done.contains_key(&place), "{place:?} is done, and was granted again");
                assert!(step < self.scene.plan.classes().unwrap().layout().steps(), "a dropped step was granted");
                self.holders.insert(place, (lease.id, who));
            }
        }
        reply.answer()
    }

    /// A lease of a worker, and its steps that are the worker's own or were given to no other since.
    fn open_of(&self, who: usize, which: usize) -> Option<(Lease, Vec<u64>)> {
        let lease = *self.workers[who].leases.iter().rev().nth(which)?;
        let is_its = |step: &u64| {
            let place = (lease.epoch, *step);
            self.holders.get(&place) == Some(&(lease.id, who)) && !self.done.contains_key(&place)
        };
        Some((lease, self.steps_of(&lease).filter(is_its).collect()))
    }

    fn positions(&self, steps: std::ops::Range<u64>) -> std::ops::Range<u64> {
        steps.start * self.scene.places()..steps.end * self.scene.places()
    }

    fn ack(&mut self, who: usize, which: usize, most: u64, bad: u64) {
        let Some((lease, open)) = self.open_of(who, which) else { return };
        let steps = self.steps_of(&lease);
        let first = open.first().copied().unwrap_or(steps.start);
        let end = (first + most).min(steps.end);
        let is_bad = |record: u64| record % 9 == bad;
        let (item, records) = receipt(&self.scene.plan, &lease, self.positions(first..end), is_bad);
        let is_open = (first..end).all(|step| open.contains(&step));
        let bare = unseen(&self.scene.plan, &lease, &item, &records);
        let verdict = if which.is_multiple_of(2) {
            self.workers[who].ack(&mut self.scene, item, records.clone())
        } else {
            self.workers[who].ack_unnamed(&mut self.scene, item, bare)
        };
        assert_eq!(verdict == Verdict::Accepted, is_open, "{verdict:?} for steps {first}..{end} of {lease:?}");
        if is_open {
            let places = self.scene.places();
            for step in first..end {
                let own = records.iter().filter(|bad| (lease.start + bad.position) / places == step).count();
                self.done.insert((lease.epoch, step), own as u64);
            }
        }
    }

    fn ack_part(&mut self, who: usize, which: usize) {
        let Some((lease, open)) = self.open_of(who, which) else { return };
        let Some(&step) = open.first() else { return };
        let positions = self.positions(step..step + 1);
        for part in [positions.start..positions.end - 1, positions.start + 1..positions.end] {
            let (item, bad) = receipt(&self.scene.plan, &lease, part, |_| false);
            assert_eq!(self.workers[who].ack(&mut self.scene, item, bad), Verdict::Invalid);
        }
    }

    fn give_back(&mut self, who: usize, which: usize) {
        let Some((lease, open)) = self.open_of(who, which) else { return };
        for step in open {
            let positions = self.positions(step..step + 1);
            let range = |start: u64, end: u64| Some(Range { start: start - lease.start, end: end - lease.start });
            let of = |range| ReturnedRange { lease: lease.id, range, cause: Cause::TrainerEnded.into() };
            let items = vec![of(range(positions.start, positions.end - 1)), of(range(positions.start, positions.end))];
            let request = ReturnRequest { caller: Some(self.workers[who].next()), items };
            let now = self.scene.now;
            let act = |ledger: &mut Ledger, worker: &str| Ok(ledger.give_back(worker, &request.items, now));
            let reply = self.scene.ledgers.command(4, request.caller.as_ref(), now, act).unwrap();
            let verdicts: Vec<_> = reply.verdicts().collect();
            assert_eq!(verdicts, [Verdict::Invalid, Verdict::Accepted], "only whole steps come back");
            self.scene.commit();
        }
    }

    fn snapshot(&mut self, who: usize, which: usize) {
        let (mut done, mut consumed) = (self.done.clone(), Vec::new());
        let (mut bad, mut bare) = (Vec::new(), Vec::new());
        if let Some((lease, open)) = self.open_of(who, which) {
            for step in open.into_iter().take(1) {
                let (item, records) =
                    receipt(&self.scene.plan, &lease, self.positions(step..step + 1), |record| record % 5 == 0);
                done.insert((lease.epoch, step), records.len() as u64);
                match which % 2 {
                    0 => bare.extend(unseen(&self.scene.plan, &lease, &item, &records)),
                    _ => bad.extend(records),
                }
                consumed.push(item);
            }
        }
        let request = TakeSnapshotRequest { ledger: NAME.to_owned(), consumed, bad, bare };
        let state = self.scene.ledgers.take_snapshot(&request).unwrap().snapshot.unwrap();
        self.states.push((state, done, self.abandoned.clone()));
    }

    fn restore(&mut self, who: usize) {
        let Some((state, done, abandoned)) = self.states.last().cloned() else { return };
        let request = RestoreRequest {
            caller: Some(self.workers[who].next()),
            snapshot: Some(state),
            ..RestoreRequest::default()
        };
        self.scene.ledgers.restore(&request, self.scene.now).unwrap();
        self.scene.commit();
        self.holders.clear();
        self.workers.iter_mut().for_each(|worker| worker.leases.clear());
        (self.done, self.abandoned) = (done, abandoned);
    }

    fn abandon(&mut self, who: usize) {
        let epoch = self.scene.audit_reply(NAME).progress.unwrap().floor;
        let request = AbandonRequest { caller: Some(self.workers[who].next()), epoch, ..AbandonRequest::default() };
        if epoch < EPOCHS && self.scene.ledgers.abandon(&request, self.scene.now).is_ok() {
            for step in 0..self.scene.plan.classes().unwrap().layout().steps() {
                self.done.entry((epoch, step)).or_insert(0);
            }
            self.abandoned.insert(epoch);
            self.workers.iter_mut().for_each(|worker| worker.leases.retain(|lease| lease.epoch != epoch));
        }
        self.scene.commit();
    }

    /// Each count is that of the history, and a position without a record counts nowhere.
    fn check(&mut self) {
        let (plan, places) = (self.scene.plan.clone(), self.scene.places());
        let turns = |epoch: u64, step: u64| plan.records_in(epoch, &(step * places..(step + 1) * places));
        let dropped: u64 = plan.classes().unwrap().layout().shares().iter().map(|share| share.dropped).sum();
        for audit in self.scene.audit(NAME) {
            let of_epoch = || self.done.range((audit.epoch, 0)..(audit.epoch + 1, 0));
            let done: u64 = of_epoch().map(|((epoch, step), _)| turns(*epoch, *step)).sum();
            let by_plan = audit.sums.dropped.count;
            assert!(by_plan == 0 || by_plan == dropped, "{audit}");
            let accounted = audit.accounted().count;
            if self.abandoned.contains(&audit.epoch) {
                assert_eq!(accounted, audit.expected.count, "{audit}");
            } else {
                assert_eq!(accounted, done + by_plan, "{audit}");
                let bad: u64 = of_epoch().map(|(_, bad)| bad).sum();
                assert_eq!(audit.sums.quarantined.count, bad, "{audit}");
            }
            let is_complete = accounted == audit.expected.count;
            let right = if is_complete { Judgement::AddsUp } else { Judgement::Incomplete };
            assert_eq!(audit.verdict, right, "{audit}");
            let of_sources: u64 = audit.sources.iter().map(SourceAudit::accounted).sum();
            assert!(audit.sources.is_empty() || of_sources == accounted, "{:?}", audit.sources);
        }
    }

    fn finish(mut self) {
        self.scene.pass(TTL + 1);
        self.workers[0] = self.scene.daemon("w0", 100);
        self.scene.pass(GRACE);
        while self.acquire(0) == Answer::Granted {
            self.ack(0, 0, u64::MAX / 2, 9);
        }
        self.check();
        let steps = self.scene.plan.classes().unwrap().layout().steps();
        assert_eq!(self.done.len() as u64, EPOCHS * steps, "each step of each epoch is done");
        assert!(self.scene.audit(NAME).iter().all(|audit| audit.verdict == Judgement::AddsUp));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rule_62_every_record_is_accounted_for_once_over_kills_returns_and_states(
        case in cases(),
        events in prop::collection::vec(event(), 0..60),
    ) {
        if let Some(mut history) = History::new(&case) {
            for event in &events {
                history.happen(event);
                history.check();
            }
            history.finish();
        }
    }
}
