//! The worker of one stream: it sends the coordinator the stream's commands, and decides their order.
//!
//! Commands are sent one after the other, each with the next sequence number. A command whose answer was lost is
//! repeated with the same number until it is answered, so it takes effect once (semantics rule 18). An outage is never
//! mistaken for the end of the data.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use forebay_coordinator::{CallError, Handle, Outage, Pauses, Request};
use forebay_proto::v1::{
    AbandonReply, AbandonRequest, AckItem, AckReply, AckRequest, AcquireReply, AcquireRequest, AuditReply,
    AuditRequest, BadRecord, Caller, HeartbeatRequest, LeasedRange, ListQuarantineReply, ListQuarantineRequest,
    NackReply, NackRequest, OpenReply, OpenRequest, Progress, QuarantineKey, ReclaimReply, ReclaimRequest,
    RestoreRequest, ReturnReply, ReturnRequest, ReturnedRange, Snapshot, TakeSnapshotRequest,
};
use rustix::time::{ClockId, clock_gettime};
use tokio::sync::{Mutex, watch};

use crate::suspects::Suspects;

/// A worker of a ledger, in one incarnation.
#[derive(Debug)]
pub(crate) struct Worker {
    handle: Handle,
    ledger: String,
    name: String,
    incarnation: u64,
    sequence: Mutex<u64>,
    progress: watch::Sender<Progress>,
    suspects: Arc<Suspects>,
    /// Leases that were granted and not seen to end.
    granted: parking_lot::Mutex<BTreeSet<u64>>,
    /// How long the coordinator keeps leases for a worker that says nothing.
    lease_ttl: Duration,
    /// `CLOCK_BOOTTIME` nanosecond until which what was leased is this worker's, whatever happens (semantics rule 19).
    deadline: watch::Sender<u64>,
}

/// A deadline that never comes.
const NEVER: u64 = u64::MAX;

impl Worker {
    /// Opens the ledger, or makes it, and registers this incarnation.
    ///
    /// # Errors
    /// The ledger exists with another spec, or the coordinator or its store cannot be used.
    pub(crate) async fn open(handle: Handle, request: OpenRequest) -> Result<(Self, OpenReply), CallError> {
        let (name, incarnation) = (request.worker.clone(), request.incarnation);
        let asked = boot_time();
        let reply = handle.open(request).await?;
        let lease_ttl = Duration::from_millis(reply.lease_ttl_ms);
        let deadline = if handle.is_remote() { later(asked, lease_ttl) } else { NEVER };
        let progress = reply.progress.unwrap_or_default();
        let ledger = reply.ledger.clone();
        let worker = Self {
            handle,
            ledger,
            name,
            incarnation,
            sequence: Mutex::new(0),
            progress: watch::Sender::new(progress),
            suspects: Arc::default(),
            granted: parking_lot::Mutex::default(),
            lease_ttl,
            deadline: watch::Sender::new(deadline),
        };
        Ok((worker, reply))
    }

    /// How long the coordinator keeps leases for a worker that says nothing.
    pub(crate) fn lease_ttl(&self) -> Duration {
        self.lease_ttl
    }

    /// Whether other daemons may have the same ledger.
    pub(crate) fn has_others(&self) -> bool {
        self.handle.is_remote()
    }

    /// Until when batches may be handed out, in nanoseconds of `CLOCK_BOOTTIME`.
    pub(crate) fn deadline(&self) -> watch::Receiver<u64> {
        self.deadline.subscribe()
    }

    /// What the coordinator last said about the epochs.
    pub(crate) fn progress(&self) -> watch::Receiver<Progress> {
        self.progress.subscribe()
    }

    /// Since when the ledger cannot be written, and why, if that is so.
    pub(crate) fn outage(&self) -> watch::Receiver<Option<Outage>> {
        self.handle.outage()
    }

    /// Records of its leases that may have killed a daemon.
    pub(crate) fn suspects(&self) -> Arc<Suspects> {
        Arc::clone(&self.suspects)
    }

    /// Asks for leases.
    pub(crate) async fn acquire(&self, leases: u32) -> Result<AcquireReply, CallError> {
        let reply = self.command(|caller| AcquireRequest { caller: Some(caller), leases }).await?;
        self.granted.lock().extend(reply.leases.iter().map(|lease| lease.id));
        self.suspects.note(&reply.leases);
        if let Some(Progress { floor, .. }) = reply.progress {
            self.suspects.completed(floor);
        }
        self.heard(reply.progress);
        Ok(reply)
    }

    /// Hands receipts in, with what is wrong with records that batches were delivered without.
    pub(crate) async fn ack(&self, items: Vec<AckItem>, bad: Vec<BadRecord>) -> Result<AckReply, CallError> {
        let reply = self.command(|caller| AckRequest { caller: Some(caller), items, hand_in: false, bad }).await?;
        self.heard(reply.progress);
        Ok(reply)
    }

    /// Hands receipts in of a consumer that an earlier incarnation had.
    pub(crate) async fn hand_in(&self, items: Vec<AckItem>) -> Result<AckReply, CallError> {
        let reply =
            self.command(|caller| AckRequest { caller: Some(caller), items, hand_in: true, bad: vec![] }).await?;
        self.heard(reply.progress);
        Ok(reply)
    }

    /// Quarantines records.
    pub(crate) async fn nack(&self, records: Vec<BadRecord>) -> Result<NackReply, CallError> {
        self.suspects.ended(records.iter().map(|record| record.lease));
        let reply = self.command(|caller| NackRequest { caller: Some(caller), records }).await?;
        self.heard(reply.progress);
        Ok(reply)
    }

    /// Gives positions back.
    pub(crate) async fn give_back(&self, items: Vec<ReturnedRange>) -> Result<ReturnReply, CallError> {
        self.suspects.ended(items.iter().map(|item| item.lease));
        let reply = self.command(|caller| ReturnRequest { caller: Some(caller), items }).await?;
        self.heard(reply.progress);
        Ok(reply)
    }

    /// Takes positions of an earlier incarnation back, which a consumer still holds.
    pub(crate) async fn reclaim(&self, items: Vec<LeasedRange>) -> Result<ReclaimReply, CallError> {
        let reply = self.command(|caller| ReclaimRequest { caller: Some(caller), items }).await?;
        self.heard(reply.progress);
        Ok(reply)
    }

    /// Ends an epoch early.
    pub(crate) async fn abandon(&self, epoch: u64) -> Result<AbandonReply, CallError> {
        let reply = self.command(|caller| AbandonRequest { caller: Some(caller), epoch }).await?;
        self.heard(reply.progress);
        Ok(reply)
    }

    /// Goes back to a snapshot.
    pub(crate) async fn restore(&self, snapshot: Snapshot) -> Result<(), CallError> {
        let reply = self.command(|caller| RestoreRequest { caller: Some(caller), snapshot: Some(snapshot) }).await?;
        self.suspects.clear();
        self.heard(reply.progress);
        Ok(())
    }

    /// The run's state, with these receipts counted as consumed.
    pub(crate) async fn snapshot(&self, consumed: Vec<AckItem>) -> Result<Snapshot, CallError> {
        let request = TakeSnapshotRequest { ledger: self.ledger.clone(), consumed };
        let reply = self.handle.call(request).await?;
        reply.snapshot.ok_or_else(|| CallError::Corrupt("The coordinator sent no snapshot.".into()))
    }

    /// The ledger's tallies, a page of them.
    pub(crate) async fn audit(&self, from_epoch: u64) -> Result<AuditReply, CallError> {
        self.handle.call(AuditRequest { ledger: self.ledger.clone(), from_epoch }).await
    }

    /// A page of the quarantine's list.
    pub(crate) async fn quarantine(&self, after: Option<QuarantineKey>) -> Result<ListQuarantineReply, CallError> {
        self.handle.call(ListQuarantineRequest { ledger: self.ledger.clone(), after }).await
    }

    /// Extends all leases of this incarnation. Gives those that are not its own any more: they are complete, or were given
    /// to others while this worker was not heard.
    pub(crate) async fn heartbeat(&self) -> Result<Vec<u64>, CallError> {
        let asked = boot_time();
        // Those that are granted meanwhile may be missing in the answer.
        let before = self.granted.lock().clone();
        let reply = self.handle.call(HeartbeatRequest { caller: Some(self.caller(0)) }).await?;
        self.heard(reply.progress);
        let still: BTreeSet<u64> = reply.leases.into_iter().collect();
        let ended: Vec<u64> = before.difference(&still).copied().collect();
        self.granted.lock().retain(|lease| !ended.contains(lease));
        self.answered(asked);
        Ok(ended)
    }

    async fn command<R: Request + Clone>(&self, request: impl FnOnce(Caller) -> R) -> Result<R::Reply, CallError> {
        let mut sequence = self.sequence.lock().await;
        *sequence += 1;
        let request = request(self.caller(*sequence));
        let mut pauses = Pauses::of(self.incarnation ^ *sequence);
        loop {
            match self.handle.call(request.clone()).await {
                Err(CallError::Unavailable(why)) => {
                    // Once for each command: an outage may be long.
                    if pauses.is_first() {
                        tracing::warn!(ledger = self.ledger, why, "a command is repeated until the ledger takes it");
                    }
                    tokio::time::sleep(pauses.next()).await;
                }
                answer => return answer,
            }
        }
    }

    /// The coordinator has answered what was sent at this moment, and keeps the leases for a time to live from then on.
    fn answered(&self, asked: u64) {
        let deadline = later(asked, self.lease_ttl);
        self.deadline.send_if_modified(|known| {
            let renewed = *known < deadline;
            *known = deadline.max(*known);
            renewed
        });
    }

    fn caller(&self, sequence: u64) -> Caller {
        Caller {
            ledger: self.ledger.clone(),
            worker: self.name.clone(),
            incarnation: self.incarnation,
            sequence,
            // One command at a time: all replies before this one's were seen, or are not waited for any more.
            unseen: sequence,
        }
    }

    fn heard(&self, progress: Option<Progress>) {
        if let Some(progress) = progress {
            self.progress.send_if_modified(|known| std::mem::replace(known, progress) != progress);
        }
    }
}

/// Nanoseconds on the clock that goes on while the machine sleeps.
fn boot_time() -> u64 {
    let now = clock_gettime(ClockId::Boottime);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(now.tv_nsec).unwrap_or(0))
}

fn later(moment: u64, by: Duration) -> u64 {
    moment.saturating_add(u64::try_from(by.as_nanos()).unwrap_or(u64::MAX))
}
