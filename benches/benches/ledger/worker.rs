//! A daemon as the ledger sees it.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use forebay_ledger_client::{CallError, Handle};
use forebay_plan::{PERMUTATION, Plan};
use forebay_proto::RecordSum;
use forebay_proto::v1::{
    self, AckItem, AckRequest, AcquireRequest, Caller, Lease, LedgerSpec, LedgerUpdate, OpenRequest, Verdict,
    ack_item::Kind,
};
use tokio::sync::mpsc;
use tokio::time::sleep;

use crate::figures::Bare;

/// How long a worker waits before it asks again.
const AGAIN: Duration = Duration::from_millis(10);

/// What a ledger is about.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    plan: Arc<Plan>,
    lease_size: u64,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Worker {
    handle: Handle,
    caller: Caller,
    plan: Arc<Plan>,
    /// What it was granted, complete or not.
    pub leases: Vec<Lease>,
}

impl Ledger {
    /// Of `records` records in leases of `lease_size`, shuffled.
    pub(crate) fn of(records: u64, lease_size: u64) -> Self {
        let spec = LedgerSpec {
            fingerprint: vec![0; 32],
            records,
            shuffle: true,
            permutation: PERMUTATION,
            ..LedgerSpec::default()
        };
        Self { plan: Arc::new(Plan::new(&spec).expect("a spec of records in any order")), lease_size }
    }
}

impl Worker {
    pub(crate) async fn open(handle: Handle, ledger: &Ledger, number: u64) -> Result<Self, Bare> {
        let worker = format!("node-{number}");
        let open = OpenRequest {
            run: "run".to_owned(),
            stream: "train".to_owned(),
            spec: Some(ledger.plan.spec().clone()),
            lease_size: ledger.lease_size,
            worker: worker.clone(),
            incarnation: 1,
            ..OpenRequest::default()
        };
        let ledger_name = handle.call(open).await?.ledger;
        let caller = Caller { ledger: ledger_name, worker, incarnation: 1, ..Caller::default() };
        Ok(Self { handle, caller, plan: Arc::clone(&ledger.plan), leases: Vec::new() })
    }

    fn next(&mut self) -> Caller {
        self.caller.sequence += 1;
        // It waits for each reply.
        self.caller.unseen = self.caller.sequence;
        self.caller.clone()
    }

    /// Asks for leases, and must get all of them.
    pub(crate) async fn acquire(&mut self, leases: u32) -> Result<(), Bare> {
        let request = AcquireRequest { caller: Some(self.next()), leases, ..AcquireRequest::default() };
        let granted = self.handle.call(request).await?.leases;
        if granted.len() != leases as usize {
            return Err(format!("{} of {leases} leases were granted", granted.len()).into());
        }
        self.leases.extend(granted);
        Ok(())
    }

    /// Asks for a lease until a coordinator answers, as a daemon does in an outage.
    pub(crate) async fn acquire_in_outage(&mut self) -> Result<(), Bare> {
        let request = AcquireRequest { caller: Some(self.next()), leases: 1, ..AcquireRequest::default() };
        loop {
            match self.handle.call(request.clone()).await {
                Ok(reply) if reply.leases.len() == 1 => return Ok(()),
                Ok(_) => return Err("no lease was granted".into()),
                Err(CallError::Unavailable(_) | CallError::NotLeader { .. }) => sleep(AGAIN).await,
                Err(refused) => return Err(refused.into()),
            }
        }
    }

    /// The receipt that a trainer sends for these positions of a lease.
    pub(crate) fn receipt(&self, lease: &Lease, positions: Range<u64>) -> AckItem {
        let order = self.plan.epoch(lease.epoch);
        let sum: RecordSum = positions.clone().map(|position| order.turn(lease.start + position)).collect();
        let (sum_high, sum_low) = sum.halves();
        let range = Some(v1::Range { start: positions.start, end: positions.end });
        AckItem { lease: lease.id, range, kind: Kind::Delivered.into(), count: sum.count, sum_high, sum_low }
    }

    /// Sends receipts. One for positions that are complete is refused, which the ledger has to find out as well.
    pub(crate) async fn acknowledge(&mut self, items: Vec<AckItem>) -> Result<(), Bare> {
        let count = items.len();
        let request = AckRequest { caller: Some(self.next()), items, ..AckRequest::default() };
        let verdicts = self.handle.call(request).await?.verdicts;
        if verdicts.len() != count || verdicts.contains(&Verdict::Unspecified.into()) {
            return Err("the receipts were not judged".into());
        }
        Ok(())
    }

    /// The updates of its ledger.
    pub(crate) async fn follow(&mut self) -> mpsc::Receiver<LedgerUpdate> {
        self.handle.follow(self.caller.clone()).await
    }
}
