//! Three replicas on one etcd that are upgraded one after the other, under load. A version of ledgers is written only when all
//! replicas and all daemons read it, so that the build before may lead until then.

use std::time::Duration;

use forebay_coordinator::{Coordinator, CoordinatorSettings, EtcdSettings, EtcdStore, monotonic_clock};
use forebay_ledger_client::{CallError, Handle, Request};
use forebay_plan::{Plan, Verdict, audit};
use forebay_proto::v1::ack_item::Kind;
use forebay_proto::v1::acquire_reply::Answer;
use forebay_proto::v1::{
    AckItem, AckRequest, AcquireRequest, AuditRequest, Caller, LedgerSpec, ListLedgersRequest, OpenRequest, Range,
    StoredHead,
};
use forebay_proto::{LEDGER_VERSION, RecordSum, Turn};
use prost::Message as _;

use crate::cluster::EtcdCluster;
use crate::{alone, find, settings, until};

/// The version that the next build reads and writes.
const NEXT: u32 = LEDGER_VERSION + 1;
const LEDGER: &str = "run/train/all";
const RECORDS: u64 = 400;

/// Replicas by their numbers, and a daemon that reads an epoch.
struct Site {
    etcd: EtcdCluster,
    replicas: Vec<Option<Handle>>,
    plan: Plan,
    caller: Caller,
    /// Records that were delivered, in the order of their delivery.
    delivered: Vec<u64>,
}

impl Site {
    /// Three replicas of this build.
    fn start() -> Option<Self> {
        let etcd = alone()?;
        let spec = LedgerSpec {
            fingerprint: vec![1; 32],
            records: RECORDS,
            shuffle: true,
            seed: 7,
            permutation: 1,
            ..LedgerSpec::default()
        };
        let plan = Plan::new(&spec).unwrap();
        let caller = Caller { ledger: LEDGER.to_owned(), worker: "one".to_owned(), ..Caller::default() };
        let mut site = Self { etcd, replicas: vec![None, None, None], plan, caller, delivered: Vec::new() };
        (0..3).for_each(|number| site.run(number, LEDGER_VERSION));
        Some(site)
    }

    /// Starts a replica of a build that reads up to this version.
    fn run(&mut self, number: usize, version: u32) {
        let etcd = EtcdSettings {
            advertise: format!("http://replica-{number}:1"),
            lease: Duration::from_secs(3),
            ledger_version: version,
            ..settings(&self.etcd.endpoints(), "/suite")
        };
        let settings = CoordinatorSettings { ledger_version: version, ..CoordinatorSettings::default() };
        let store = EtcdStore::open(&etcd).unwrap();
        self.replicas[number] = Some(Coordinator::start(store, monotonic_clock(), settings).unwrap());
        let key = format!("/suite/replicas/http://replica-{number}:1");
        let said = || find(&self.etcd, &key).filter(|found| found.value == version.to_string().as_bytes());
        until("it says what it reads", said);
    }

    /// Ends a replica. Another one leads at once.
    fn end(&mut self, number: usize) {
        self.replicas[number] = None;
    }

    /// The answer of the replica that leads, sooner or later.
    fn ask<R: Request + Clone>(&self, request: &R) -> Result<R::Reply, CallError> {
        until("one leads", || {
            self.replicas.iter().flatten().find_map(|replica| match replica.wait(request.clone()) {
                Err(CallError::Unavailable(_) | CallError::NotLeader { .. }) => None,
                answer => Some(answer),
            })
        })
    }

    /// The daemon is started again, by a build that understands ledgers up to this version.
    fn open(&mut self, ledger_version: u32) -> Result<(), CallError> {
        let incarnation = self.caller.incarnation + 1;
        let request = OpenRequest {
            run: "run".to_owned(),
            stream: "train".to_owned(),
            worker: "one".to_owned(),
            spec: Some(self.plan.spec().clone()),
            lease_size: 8,
            epochs: 1,
            incarnation,
            ledger_version,
            ..OpenRequest::default()
        };
        self.ask(&request)?;
        self.caller = Caller { incarnation, sequence: 0, ..self.caller.clone() };
        Ok(())
    }

    /// Leases and delivers as much. `false` at the end of the epoch.
    fn read(&mut self, leases: usize) -> bool {
        for _ in 0..leases {
            self.caller.sequence += 1;
            let acquire = AcquireRequest { caller: Some(self.caller.clone()), leases: 1, ..AcquireRequest::default() };
            let granted = self.ask(&acquire).unwrap();
            if granted.answer() != Answer::Granted {
                return false;
            }
            let items = granted.leases.iter().map(|lease| {
                let records = (lease.start..lease.end).map(|position| self.plan.record(lease.epoch, position));
                let records: Vec<u64> = records.collect();
                let sum: RecordSum = records.iter().map(|record| Turn::first(*record)).collect();
                let (sum_high, sum_low) = sum.halves();
                self.delivered.extend(records);
                let range = Some(Range { start: 0, end: lease.end - lease.start });
                AckItem { lease: lease.id, range, kind: Kind::Delivered.into(), count: sum.count, sum_high, sum_low }
            });
            let items = items.collect();
            self.caller.sequence += 1;
            self.ask(&AckRequest { caller: Some(self.caller.clone()), items, ..AckRequest::default() }).unwrap();
        }
        true
    }

    /// The version of the stored ledger.
    fn written(&self) -> u32 {
        let head = find(&self.etcd, &format!("/suite/documents/ledger/{LEDGER}/head\0{:08x}", 0)).expect("a ledger");
        StoredHead::decode(head.value.as_slice()).unwrap().version
    }
}

#[test]
fn rule_18_a_cluster_of_three_is_upgraded_half_way_under_load_and_the_build_before_may_lead() {
    let Some(mut site) = Site::start() else { return };
    site.open(LEDGER_VERSION).unwrap();
    assert!(site.read(5));
    for upgraded in [0, 1] {
        site.end(upgraded);
        assert!(site.read(3));
        site.run(upgraded, NEXT);
        assert!(site.read(3));
    }
    site.open(NEXT).unwrap();
    assert!(site.read(3));

    // The only one of the build before leads. One that is stopped counts as well.
    for upgraded in [0, 1] {
        site.end(upgraded);
    }
    assert!(site.read(5));
    assert_eq!(site.written(), LEDGER_VERSION, "a replica reads no later one");
    for upgraded in [0, 1] {
        site.run(upgraded, NEXT);
    }
    assert!(site.read(3));
    site.end(2);
    assert!(site.read(3));
    assert_eq!(site.written(), LEDGER_VERSION, "a replica that is away for a moment may come back as it was");

    site.run(2, NEXT);
    until("the next version is written", || {
        site.ask(&ListLedgersRequest::default()).unwrap();
        (site.written() == NEXT).then_some(())
    });
    while site.read(1) {}

    site.delivered.sort_unstable();
    assert_eq!(site.delivered, (0..RECORDS).collect::<Vec<_>>(), "each record was delivered once");
    let ask = AuditRequest { ledger: LEDGER.to_owned(), ..AuditRequest::default() };
    let epochs = audit(&site.ask(&ask).unwrap(), |_| ()).unwrap();
    assert_eq!(epochs.iter().map(|epoch| epoch.verdict).collect::<Vec<_>>(), [Verdict::AddsUp]);
}

#[test]
fn a_build_that_cannot_read_the_ledgers_refuses_them_and_lets_others_lead() {
    let Some(mut site) = Site::start() else { return };
    for number in 0..3 {
        site.end(number);
        site.run(number, NEXT);
    }
    site.open(NEXT).unwrap();
    assert!(site.read(3));
    until("the next version is written", || {
        site.ask(&ListLedgersRequest::default()).unwrap();
        (site.written() == NEXT).then_some(())
    });
    let refused = site.open(LEDGER_VERSION).unwrap_err().to_string();
    assert!(refused.contains(&format!("has version {NEXT}")) && refused.contains("upgrade Forebay"), "{refused}");

    (0..3).for_each(|number| site.end(number));
    site.run(0, LEDGER_VERSION);
    let alone = site.replicas[0].clone().unwrap();
    let refused = until("it leads, and refuses", || {
        let error = alone.wait(ListLedgersRequest::default()).unwrap_err();
        matches!(error, CallError::Corrupt(_)).then(|| error.to_string())
    });
    assert!(refused.contains(&format!("it has version {NEXT}, and this build reads")), "{refused}");
    drop(alone);
    // It would lead for ever otherwise.
    site.run(1, NEXT);
    until("the other one leads", || {
        let other = site.replicas[1].as_ref().unwrap();
        other.wait(ListLedgersRequest::default()).ok()
    });
    while site.read(1) {}
    site.delivered.sort_unstable();
    assert_eq!(site.delivered, (0..RECORDS).collect::<Vec<_>>());
}
