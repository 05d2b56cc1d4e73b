//! A coordinator with a clock and a store in the test's hands, and workers that talk to it.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use forebay_coordinator::{Coordinator, CoordinatorSettings, suite::SharedStore};
use forebay_ledger_client::{CallError, Handle, Request};
use forebay_plan::{EpochAudit, Plan, audit};
use forebay_proto::{
    RecordSum,
    v1::{
        AckItem, AckRequest, AcquireReply, AcquireRequest, AuditRequest, BadRecord, Caller, Cause, HeartbeatRequest,
        Lease, LeasedRange, LedgerSpec, ListQuarantineRequest, NackRequest, OpenReply, OpenRequest, QuarantinedRecord,
        Range, ReclaimRequest, ReturnRequest, ReturnedRange, Snapshot, StaticShard, TakeSnapshotRequest, Verdict,
        ack_item::Kind, acquire_reply::Answer,
    },
};

pub(crate) const TTL: u64 = 30_000;
pub(crate) const GRACE: u64 = 2_000;

pub(crate) struct Scene {
    pub(crate) store: SharedStore,
    pub(crate) spec: LedgerSpec,
    pub(crate) lease_size: u64,
    pub(crate) epochs: u64,
    pub(crate) plan: Plan,
    now: Arc<AtomicU64>,
    handle: Handle,
}

/// A daemon, as far as the ledger knows it.
#[derive(Clone, Debug)]
pub(crate) struct Daemon {
    pub(crate) caller: Caller,
    /// Leases that it was granted: its heartbeats name them.
    leases: Vec<u64>,
}

pub(crate) fn spec(records: u64) -> LedgerSpec {
    LedgerSpec { fingerprint: vec![1; 32], records, shuffle: true, seed: 7, permutation: 1, ..LedgerSpec::default() }
}

pub(crate) fn static_spec(records: u64, shard_id: u32, num_shards: u32, stick_to_shard: bool) -> LedgerSpec {
    LedgerSpec { shard: Some(StaticShard { shard_id, num_shards, stick_to_shard }), ..spec(records) }
}

impl Scene {
    pub(crate) fn new(spec: LedgerSpec, lease_size: u64, epochs: u64) -> Self {
        let plan = Plan::new(&spec).unwrap();
        Self { spec, ..Self::of(plan, lease_size, epochs) }
    }

    pub(crate) fn of(plan: Plan, lease_size: u64, epochs: u64) -> Self {
        let store = SharedStore::default();
        let now = Arc::new(AtomicU64::new(1));
        let handle = start(&store, &now).unwrap();
        Self { store, spec: plan.spec().clone(), plan, lease_size, epochs, now, handle }
    }

    pub(crate) fn handle(&self) -> Handle {
        self.handle.clone()
    }

    pub(crate) fn call<R: Request>(&self, request: R) -> Result<R::Reply, CallError> {
        self.handle.wait(request)
    }

    /// Time passes, and the coordinator serves meanwhile.
    pub(crate) fn pass(&self, millis: u64) {
        let mut left = millis;
        while left > 0 {
            let step = left.min(500);
            self.stall(step);
            // Any command makes a turn, also one that is refused.
            self.call(AuditRequest { ledger: "none".to_owned(), from_epoch: 0 }).unwrap_err();
            left -= step;
        }
    }

    /// Time passes, and the coordinator does not serve: it is stopped, or waits for its store.
    pub(crate) fn stall(&self, millis: u64) {
        self.now.fetch_add(millis, Ordering::SeqCst);
    }

    /// The coordinator is killed and started again on what its store holds.
    pub(crate) fn restart(&mut self) {
        self.handle = start(&self.store, &self.now).unwrap();
    }

    pub(crate) fn try_restart(&self) -> Result<Handle, String> {
        start(&self.store, &self.now)
    }

    pub(crate) fn open_request(&self, worker: &str, incarnation: u64) -> OpenRequest {
        OpenRequest {
            run: "run".to_owned(),
            stream: "train".to_owned(),
            spec: Some(self.spec.clone()),
            lease_size: self.lease_size,
            lease_size_required: false,
            worker: worker.to_owned(),
            incarnation,
            epochs: self.epochs,
            grains: self.plan.grains().map(|table| table.lengths()),
            ..OpenRequest::default()
        }
    }

    pub(crate) fn open(&self, worker: &str, incarnation: u64) -> (Daemon, OpenReply) {
        let reply = self.call(self.open_request(worker, incarnation)).unwrap();
        let caller =
            Caller { ledger: reply.ledger.clone(), worker: worker.to_owned(), incarnation, sequence: 0, unseen: 0 };
        (Daemon::of(caller), reply)
    }

    pub(crate) fn daemon(&self, worker: &str, incarnation: u64) -> Daemon {
        self.open(worker, incarnation).0
    }

    /// A worker that has opened the ledger.
    pub(crate) fn known(&self, worker: &str, incarnation: u64) -> Daemon {
        let (ledger, worker) = (self.open_name(), worker.to_owned());
        Daemon::of(Caller { ledger, worker, incarnation, ..Caller::default() })
    }

    pub(crate) fn snapshot(&self, consumed: Vec<AckItem>) -> Snapshot {
        let ledger = self.open_name();
        self.call(TakeSnapshotRequest { ledger, consumed, ..TakeSnapshotRequest::default() }).unwrap().snapshot.unwrap()
    }

    pub(crate) fn audit(&self) -> Vec<EpochAudit> {
        self.audit_of(&self.open_name())
    }

    pub(crate) fn audit_of(&self, name: &str) -> Vec<EpochAudit> {
        let ledger = || name.to_owned();
        let mut all = self.call(AuditRequest { ledger: ledger(), from_epoch: 0 }).unwrap();
        while let Some(from_epoch) = all.next_epoch() {
            all.append(self.call(AuditRequest { ledger: ledger(), from_epoch }).unwrap());
        }
        audit(&all, |_| ()).unwrap()
    }

    /// The whole list, page by page.
    pub(crate) fn quarantine(&self) -> Vec<QuarantinedRecord> {
        let mut all: Vec<QuarantinedRecord> = Vec::new();
        loop {
            let after = all.last().map(QuarantinedRecord::key);
            let page = self.call(ListQuarantineRequest { ledger: self.open_name(), after }).unwrap();
            all.extend(page.records);
            if !page.more {
                return all;
            }
        }
    }

    pub(crate) fn audit_lines(&self) -> Vec<String> {
        self.audit().iter().map(ToString::to_string).collect()
    }

    fn open_name(&self) -> String {
        let rank = self.spec.lockstep.map(|of| format!("rank-{}-of-{}", of.rank, of.world_size));
        let part = rank.or_else(|| self.spec.shard.map(|shard| format!("shard-{}", shard.shard_id)));
        format!("run/train/{}", part.as_deref().unwrap_or("all"))
    }

    /// Whether the ledger is of a shard or a rank, which one worker has.
    pub(crate) fn is_of_part(&self) -> bool {
        self.spec.shard.is_some() || self.spec.lockstep.is_some()
    }

    /// A receipt with the sum that a trainer would send.
    pub(crate) fn receipt(&self, lease: &Lease, start: u64, end: u64, kind: Kind) -> AckItem {
        receipt(&self.plan, lease, start, end, kind)
    }

    /// The receipts of a part of a lease, of which the last position may be one without a record.
    pub(crate) fn receipts(&self, lease: &Lease, start: u64, end: u64) -> Vec<AckItem> {
        receipts(&self.plan, lease, start, end)
    }

    pub(crate) fn delivered(&self, lease: &Lease) -> AckItem {
        self.receipt(lease, 0, lease.end - lease.start, Kind::Delivered)
    }

    /// Leases and delivers everything that there is, as one worker, and says how the last Acquire answered.
    pub(crate) fn deliver_all(&self, daemon: &mut Daemon) -> Answer {
        loop {
            let reply = daemon.acquire(self, 4);
            if reply.answer() != Answer::Granted {
                return reply.answer();
            }
            for lease in &reply.leases {
                for item in self.receipts(lease, 0, lease.end - lease.start) {
                    assert_eq!(daemon.ack(self, item), Verdict::Accepted);
                }
            }
        }
    }
}

impl Daemon {
    /// Whoever has opened a ledger with this name.
    pub(crate) fn of(caller: Caller) -> Self {
        Self { caller, leases: Vec::new() }
    }

    /// It has seen the reply that granted these.
    pub(crate) fn knows(&mut self, leases: &[Lease]) {
        self.leases.extend(leases.iter().map(|lease| lease.id));
    }

    pub(crate) fn caller(&self) -> Caller {
        self.caller.clone()
    }

    pub(crate) fn next(&mut self) -> Caller {
        self.caller.sequence += 1;
        self.caller.clone()
    }

    pub(crate) fn acquire(&mut self, scene: &Scene, leases: u32) -> AcquireReply {
        let reply =
            scene.call(AcquireRequest { caller: Some(self.next()), leases, ..AcquireRequest::default() }).unwrap();
        self.knows(&reply.leases);
        reply
    }

    /// The one lease that it gets.
    pub(crate) fn lease(&mut self, scene: &Scene) -> Lease {
        let reply = self.acquire(scene, 1);
        assert_eq!((reply.answer(), reply.leases.len()), (Answer::Granted, 1), "{reply:?}");
        reply.leases[0]
    }

    pub(crate) fn ack(&mut self, scene: &Scene, item: AckItem) -> Verdict {
        let reply =
            scene.call(AckRequest { caller: Some(self.next()), items: vec![item], ..AckRequest::default() }).unwrap();
        reply.verdicts().next().unwrap()
    }

    /// For a consumer of a dead incarnation.
    pub(crate) fn resume(&mut self, scene: &Scene, item: AckItem) -> Verdict {
        let reply = scene
            .call(AckRequest { caller: Some(self.next()), items: vec![item], resumed: true, ..AckRequest::default() })
            .unwrap();
        reply.verdicts().next().unwrap()
    }

    pub(crate) fn nack(&mut self, scene: &Scene, lease: &Lease, position: u64) -> Verdict {
        self.nack_as(scene, lease, position, false)
    }

    /// As [`nack`](Self::nack), of a record that has ended child processes, or has not.
    pub(crate) fn nack_as(&mut self, scene: &Scene, lease: &Lease, position: u64, poison: bool) -> Verdict {
        let record = scene.plan.record(lease.epoch, lease.start + position);
        let bad = BadRecord {
            lease: lease.id,
            position,
            record,
            file: format!("{record}.jpg"),
            reason: "no end marker".to_owned(),
            poison,
            ..BadRecord::default()
        };
        let reply = scene.call(NackRequest { caller: Some(self.next()), records: vec![bad] }).unwrap();
        reply.verdicts().next().unwrap()
    }

    pub(crate) fn give_back(&mut self, scene: &Scene, lease: &Lease, start: u64, end: u64) -> Verdict {
        self.give_back_seen(scene, lease, start, end, Cause::Unseen)
    }

    /// Positions that a trainer had in its hands, and why they come back.
    pub(crate) fn give_back_seen(
        &mut self,
        scene: &Scene,
        lease: &Lease,
        start: u64,
        end: u64,
        cause: Cause,
    ) -> Verdict {
        let range = Some(Range { start, end });
        let items = vec![ReturnedRange { lease: lease.id, range, cause: cause.into() }];
        let reply = scene.call(ReturnRequest { caller: Some(self.next()), items }).unwrap();
        reply.verdicts().next().unwrap()
    }

    /// A trainer ended that had positions in its hands, and the daemon delivers their batch again.
    pub(crate) fn tell_seen(&mut self, scene: &Scene, lease: &Lease, start: u64, end: u64) -> Verdict {
        let range = Some(Range { start, end });
        self.ack(scene, AckItem { lease: lease.id, range, kind: Kind::Seen.into(), ..AckItem::default() })
    }

    /// For a consumer of a dead incarnation that goes on holding a part of its lease.
    pub(crate) fn reclaim(&mut self, scene: &Scene, lease: &Lease, start: u64, end: u64) -> Verdict {
        let items = vec![leased(lease, start, end)];
        let reply =
            scene.call(ReclaimRequest { caller: Some(self.next()), items, ..ReclaimRequest::default() }).unwrap();
        self.leases.push(lease.id);
        reply.verdicts().next().unwrap()
    }

    /// Its next heartbeat, which says whether its trainers wait for others.
    pub(crate) fn beat(&self, waits: bool) -> HeartbeatRequest {
        HeartbeatRequest { caller: Some(self.caller.clone()), leases: self.leases.clone(), waits }
    }

    /// Gives the leases that it still has.
    pub(crate) fn heartbeat(&self, scene: &Scene) -> Vec<u64> {
        scene.call(self.beat(false)).unwrap().leases
    }
}

fn receipt(plan: &Plan, lease: &Lease, start: u64, end: u64, kind: Kind) -> AckItem {
    let order = plan.epoch(lease.epoch);
    let sum: RecordSum = (lease.start + start..lease.start + end).map(|position| order.turn(position)).collect();
    let (sum_high, sum_low) = sum.halves();
    let range = Some(Range { start, end });
    AckItem { lease: lease.id, range, kind: kind.into(), count: sum.count, sum_high, sum_low }
}

/// As [`Scene::receipts`], of a ledger with this plan.
pub(crate) fn receipts(plan: &Plan, lease: &Lease, start: u64, end: u64) -> Vec<AckItem> {
    let own = end.min(plan.epoch_records(lease.epoch).saturating_sub(lease.start)).max(start);
    let mut items = Vec::new();
    if start < own {
        items.push(receipt(plan, lease, start, own, Kind::Delivered));
    }
    if own < end {
        items.push(bare(lease, own, end));
    }
    items
}

/// A receipt of places without a record.
pub(crate) fn bare(lease: &Lease, start: u64, end: u64) -> AckItem {
    let range = Some(Range { start, end });
    AckItem { lease: lease.id, range, kind: Kind::Bare.into(), ..AckItem::default() }
}

pub(crate) fn span(lease: &Lease) -> (u64, u64, u64) {
    (lease.epoch, lease.start, lease.end)
}

fn leased(lease: &Lease, start: u64, end: u64) -> LeasedRange {
    LeasedRange { lease: lease.id, range: Some(Range { start, end }) }
}

fn start(store: &SharedStore, now: &Arc<AtomicU64>) -> Result<Handle, String> {
    let now = Arc::clone(now);
    let clock = Arc::new(move || now.load(Ordering::SeqCst));
    Coordinator::start(store.clone(), clock, CoordinatorSettings::default()).map_err(|error| error.to_string())
}
