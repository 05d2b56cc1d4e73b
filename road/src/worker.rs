//! The worker of one stream: it sends the coordinator the stream's commands, and decides their order.
//!
//! Commands are sent one after the other, each with the next sequence number. A command whose answer was lost is
//! repeated with the same number until it is answered, so it takes effect once (semantics rule 18). An outage is never
//! mistaken for the end of the data.

use std::sync::Arc;
use std::time::Duration;

use forebay_coordinator::{CallError, Handle, Outage, Request};
use forebay_proto::v1::{
    AbandonReply, AbandonRequest, AckItem, AckReply, AckRequest, AcquireReply, AcquireRequest, AuditReply,
    AuditRequest, BadRecord, Caller, HeartbeatRequest, LeasedRange, ListQuarantineReply, ListQuarantineRequest,
    NackReply, NackRequest, OpenReply, OpenRequest, Progress, QuarantineKey, ReclaimReply, ReclaimRequest,
    RestoreRequest, ReturnReply, ReturnRequest, ReturnedRange, Snapshot, TakeSnapshotRequest,
};
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
}

/// First pause before a command is repeated; doubled up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

impl Worker {
    /// Opens the ledger, or makes it, and registers this incarnation.
    ///
    /// # Errors
    /// The ledger exists with another spec, or the store cannot be used.
    pub(crate) async fn open(handle: Handle, request: OpenRequest) -> Result<(Self, OpenReply), CallError> {
        let (name, incarnation) = (request.worker.clone(), request.incarnation);
        let reply = handle.call(request).await?;
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
        };
        Ok((worker, reply))
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

    /// Extends all leases of this incarnation.
    pub(crate) async fn heartbeat(&self) -> Result<(), CallError> {
        let reply = self.handle.call(HeartbeatRequest { caller: Some(self.caller(0)) }).await?;
        self.heard(reply.progress);
        Ok(())
    }

    async fn command<R: Request + Clone>(&self, request: impl FnOnce(Caller) -> R) -> Result<R::Reply, CallError> {
        let mut sequence = self.sequence.lock().await;
        *sequence += 1;
        let request = request(self.caller(*sequence));
        let mut pause = FIRST_PAUSE;
        loop {
            match self.handle.call(request.clone()).await {
                Err(CallError::Unavailable(why)) => {
                    // Once for each command: an outage may be long.
                    if pause == FIRST_PAUSE {
                        tracing::warn!(ledger = self.ledger, why, "a command is repeated until the ledger takes it");
                    }
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
                answer => return answer,
            }
        }
    }

    fn caller(&self, sequence: u64) -> Caller {
        Caller { ledger: self.ledger.clone(), worker: self.name.clone(), incarnation: self.incarnation, sequence }
    }

    fn heard(&self, progress: Option<Progress>) {
        if let Some(progress) = progress {
            self.progress.send_if_modified(|known| std::mem::replace(known, progress) != progress);
        }
    }
}
