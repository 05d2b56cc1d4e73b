//! Ledgers with a clock and documents in the test's hands, and workers that read an order of classes.

use std::collections::BTreeMap;
use std::sync::Arc;

use forebay_ledger::{Change, LedgerError, Ledgers, Times};
use forebay_plan::{CLASS_PERMUTATION, ClassTable, EpochAudit, Leftovers, OrderTable, Plan, audit};
use forebay_proto::RecordSum;
use forebay_proto::v1::{
    AckItem, AckRequest, AcquireReply, AcquireRequest, AuditReply, AuditRequest, BadRecord, Caller, Lease, LeasedRange,
    LedgerSpec, LockstepRank, OpenReply, OpenRequest, Range, SourceShare, Verdict, ack_item::Kind,
};
use proptest::prelude::*;

pub(crate) const TTL: u64 = 30_000;
pub(crate) const GRACE: u64 = 2_000;
const TIMES: Times = Times { lease_ttl: TTL, grace: GRACE, task: 60_000 };

/// A dataset, and how its records are put into steps.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) classes: Vec<u16>,
    pub(crate) places: Vec<u32>,
    pub(crate) leftovers: Leftovers,
    /// The turns of each record, in the first and in the second half of the dataset. Nothing: one source.
    pub(crate) repeats: Option<[u32; 2]>,
    pub(crate) shuffle: bool,
}

impl Case {
    pub(crate) fn table(&self) -> ClassTable {
        let sources = self.sources();
        ClassTable::new(self.classes.clone(), u16::try_from(self.places.len()).unwrap(), &sources).unwrap()
    }

    fn sources(&self) -> Vec<(u64, u16)> {
        let records = self.classes.len() as u64;
        let halves = [records / 2, records - records / 2];
        self.repeats.map_or_else(Vec::new, |repeats| {
            halves.into_iter().zip(repeats.map(|repeats| u16::try_from(repeats).unwrap())).collect()
        })
    }

    pub(crate) fn spec(&self) -> LedgerSpec {
        let mut first = 0_usize;
        let share = |(records, repeats): (u64, u16)| {
            let own = &self.classes[first..first + usize::try_from(records).unwrap()];
            first += own.len();
            let with_class = own.iter().filter(|class| **class != ClassTable::NONE).count() as u64;
            SourceShare { records, positions: with_class * u64::from(repeats), ..SourceShare::default() }
        };
        let sources = self.sources().into_iter().map(share).collect();
        let repeats = self.repeats.map_or_else(Vec::new, Vec::from);
        LedgerSpec {
            fingerprint: vec![3; 32],
            records: self.classes.len() as u64,
            shuffle: self.shuffle,
            seed: 7,
            permutation: CLASS_PERMUTATION,
            sources,
            classes: Some(self.table().order(&self.places, self.leftovers, &repeats, "a rule")),
            ..LedgerSpec::default()
        }
    }

    pub(crate) fn plan(&self) -> Option<Plan> {
        Plan::with_table(&self.spec(), Some(OrderTable::Classes(Arc::new(self.table())))).ok()
    }
}

pub(crate) fn cases() -> impl Strategy<Value = Case> {
    let class = prop_oneof![3 => 0_u16..4, 1 => Just(2_u16), 1 => Just(ClassTable::NONE)];
    let leftovers = prop::sample::select(&[Leftovers::Neighbour, Leftovers::Repeat, Leftovers::Drop]);
    let places = prop::collection::vec((1_u32..4).prop_map(|places| places * 4), 4);
    let repeats = prop::option::of([1_u32..3, 1_u32..3]);
    (prop::collection::vec(class, 12..70), places, leftovers, repeats, any::<bool>()).prop_map(
        |(classes, places, leftovers, repeats, shuffle)| Case { classes, places, leftovers, repeats, shuffle },
    )
}

/// See the module.
pub(crate) struct Scene {
    pub(crate) ledgers: Ledgers,
    pub(crate) documents: BTreeMap<String, Vec<u8>>,
    pub(crate) now: u64,
    pub(crate) plan: Plan,
    pub(crate) epochs: u64,
}

/// A daemon, as far as the ledger knows it.
#[derive(Clone, Debug)]
pub(crate) struct Daemon {
    pub(crate) caller: Caller,
    /// Leases that it was granted, live or not.
    pub(crate) leases: Vec<Lease>,
}

impl Scene {
    pub(crate) fn new(plan: Plan, epochs: u64) -> Self {
        let ledgers = Ledgers::load(&[], TIMES, 1).unwrap();
        Self { ledgers, documents: BTreeMap::new(), now: 1, plan, epochs }
    }

    /// Positions of a step of all ranks.
    pub(crate) fn places(&self) -> u64 {
        self.plan.classes().unwrap().layout().places()
    }

    pub(crate) fn open_request(&self, worker: &str, incarnation: u64) -> OpenRequest {
        OpenRequest {
            run: "run".to_owned(),
            stream: "train".to_owned(),
            spec: Some(self.plan.spec().clone()),
            lease_size: self.places() * 2,
            worker: worker.to_owned(),
            incarnation,
            epochs: self.epochs,
            classes: Some(self.plan.classes().unwrap().table().numbers()),
            ..OpenRequest::default()
        }
    }

    pub(crate) fn open(&mut self, request: &OpenRequest) -> Result<(Daemon, OpenReply), LedgerError> {
        let reply = self.ledgers.open(request, self.now)?;
        let (worker, incarnation) = (request.worker.clone(), request.incarnation);
        let caller = Caller { ledger: reply.ledger.clone(), worker, incarnation, sequence: 0, unseen: 0 };
        self.commit();
        Ok((Daemon { caller, leases: Vec::new() }, reply))
    }

    pub(crate) fn daemon(&mut self, worker: &str, incarnation: u64) -> Daemon {
        let request = self.open_request(worker, incarnation);
        self.open(&request).unwrap().0
    }

    /// A daemon of a rank.
    pub(crate) fn rank(&mut self, rank: u32, world_size: u32, incarnation: u64) -> Daemon {
        let lockstep = Some(LockstepRank { global_batch: self.places(), rank, world_size });
        let spec = Some(LedgerSpec { lockstep, ..self.plan.spec().clone() });
        let request = self.open_request(&format!("rank{rank}"), incarnation);
        self.open(&OpenRequest { spec, lease_size: self.places(), ..request }).unwrap().0
    }

    /// What was done is stored.
    pub(crate) fn commit(&mut self) {
        self.ledgers.expire(self.now);
        for change in self.ledgers.take_changes() {
            match change {
                Change::Put { key, value } => drop(self.documents.insert(key, value)),
                Change::Delete { key } => drop(self.documents.remove(&key)),
            }
        }
    }

    /// The coordinator is killed, and starts again from what it has stored.
    pub(crate) fn restart(&mut self) {
        let documents: Vec<_> = self.documents.clone().into_iter().collect();
        self.ledgers = Ledgers::load(&documents, TIMES, self.now).unwrap();
    }

    pub(crate) fn try_restart(&self) -> Result<Ledgers, LedgerError> {
        let documents: Vec<_> = self.documents.clone().into_iter().collect();
        Ledgers::load(&documents, TIMES, self.now)
    }

    pub(crate) fn pass(&mut self, millis: u64) {
        self.now += millis;
        self.commit();
    }

    pub(crate) fn audit_reply(&mut self, ledger: &str) -> AuditReply {
        let ledger = ledger.to_owned();
        self.ledgers.audit(&AuditRequest { ledger, from_epoch: 0 }).unwrap()
    }

    pub(crate) fn audit(&mut self, ledger: &str) -> Vec<EpochAudit> {
        audit(&self.audit_reply(ledger), |_| ()).unwrap()
    }
}

impl Daemon {
    pub(crate) fn next(&mut self) -> Caller {
        self.caller.sequence += 1;
        self.caller.clone()
    }

    pub(crate) fn acquire(&mut self, scene: &mut Scene) -> AcquireReply {
        let request = AcquireRequest { caller: Some(self.next()), leases: 1, ..AcquireRequest::default() };
        let reply = scene.ledgers.acquire(&request, scene.now).unwrap();
        scene.commit();
        self.leases.extend(&reply.leases);
        reply
    }

    pub(crate) fn ack(&mut self, scene: &mut Scene, item: AckItem, bad: Vec<BadRecord>) -> Verdict {
        self.ack_named(scene, item, AckRequest { bad, ..AckRequest::default() })
    }

    /// A receipt of a trainer that has outlived its daemon: it has places, and no word on why.
    pub(crate) fn ack_unnamed(&mut self, scene: &mut Scene, item: AckItem, bare: Vec<LeasedRange>) -> Verdict {
        self.ack_named(scene, item, AckRequest { bare, ..AckRequest::default() })
    }

    fn ack_named(&mut self, scene: &mut Scene, item: AckItem, named: AckRequest) -> Verdict {
        let request = AckRequest { caller: Some(self.next()), items: vec![item], ..named };
        let act = |ledger: &mut forebay_ledger::Ledger, worker: &str| Ok(ledger.ack(worker, &request));
        let reply = scene.ledgers.command(2, request.caller.as_ref(), scene.now, act).unwrap();
        scene.commit();
        reply.verdicts().next().unwrap()
    }
}

/// The receipt of positions of a lease, and the bad records in it: those for which `is_bad` says so. `plan` is the lease's.
pub(crate) fn receipt(
    plan: &Plan,
    lease: &Lease,
    positions: std::ops::Range<u64>,
    is_bad: impl Fn(u64) -> bool,
) -> (AckItem, Vec<BadRecord>) {
    let (order, mut sum, mut bad) = (plan.epoch(lease.epoch), RecordSum::default(), Vec::new());
    for position in positions.clone() {
        match order.own(position) {
            Some(turn) if is_bad(turn.record()) => bad.push(BadRecord {
                lease: lease.id,
                position: position - lease.start,
                record: turn.record(),
                reason: "no end marker".to_owned(),
                ..BadRecord::default()
            }),
            Some(turn) => sum.add(turn.key()),
            None => {}
        }
    }
    let range = Some(Range { start: positions.start - lease.start, end: positions.end - lease.start });
    let (sum_high, sum_low) = sum.halves();
    let item = AckItem { lease: lease.id, range, kind: Kind::Delivered.into(), count: sum.count, sum_high, sum_low };
    (item, bad)
}

/// The positions of a receipt that a trainer saw no record of, as it may tell them: from behind, and some of them twice.
pub(crate) fn unseen(plan: &Plan, lease: &Lease, item: &AckItem, bad: &[BadRecord]) -> Vec<LeasedRange> {
    let (order, range) = (plan.epoch(lease.epoch), item.range.unwrap());
    let is_unseen =
        |offset: &u64| order.own(lease.start + offset).is_none() || bad.iter().any(|bad| bad.position == *offset);
    let unseen: Vec<u64> = (range.start..range.end).filter(is_unseen).collect();
    let runs = unseen.chunk_by(|one, next| one + 1 == *next).map(|run| (run[0], run[run.len() - 1] + 1));
    let twice = runs.flat_map(|(start, end)| [(start, end), (start + (end - start) / 2, end)]);
    let mut ranges: Vec<_> =
        twice.map(|(start, end)| LeasedRange { lease: lease.id, range: Some(Range { start, end }) }).collect();
    ranges.reverse();
    ranges
}
