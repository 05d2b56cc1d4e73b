//! A stream's client of its ledger: what the stream asks and reports, and what the ledger last said.
//!
//! Between a stream and an RPC there is only this client, and the [`Handle`] that hides where the coordinator is. Commands
//! and their repetition are in `commands.rs`, the outcomes that are reported in the background in `ledger_tasks.rs`.

mod commands;
mod counts;
mod granted;
mod opened;
mod others;
mod permit;
#[cfg(test)]
mod tests;
mod updates;

use std::sync::{Arc, Weak};
use std::time::Duration;

use forebay_ledger_client::{CallError, Handle, Outage, Request};
use forebay_plan::EpochPart;
use forebay_proto::v1::attend_request::Attendance;
use forebay_proto::v1::{
    AbandonReply, AbandonRequest, AckItem, AckReply, AckRequest, AcquireReply, AcquireRequest, AttendRequest,
    AuditReply, AuditRequest, BadRecord, Caller, DatasetSummary, DescribeRequest, HeartbeatRequest, LeasedRange,
    LedgerUpdate, ListQuarantineReply, ListQuarantineRequest, NackReply, NackRequest, OpenRequest, Progress,
    QuarantineKey, ReclaimReply, ReclaimRequest, RestoreRequest, ReturnReply, ReturnRequest, ReturnedRange,
    SettleReply, SettleRequest, Snapshot, TakeSnapshotRequest, Verdict,
};
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::blamed::BlamedLeases;
use crate::clock;
use crate::consumers::Outbox;
use crate::ledger_event::LedgerEvent;
use crate::outcomes::{OutcomeQueue, OutcomeReceiver, OutcomeSender};
use crate::step_length::StepLength;
use commands::LedgerCommands;
pub use counts::LedgerCounts;
use granted::{DoubtfulLeases, GrantedLeases};
pub use opened::OpenedLedger;
pub use permit::LeasePermit;
pub use updates::LedgerUpdates;

/// A worker of a ledger in one incarnation, and what its stream has to do with the ledger.
#[derive(Debug)]
pub struct LedgerClient {
    commands: LedgerCommands,
    updates: LedgerUpdates,
    /// Leases that were granted and not seen to end.
    granted: Mutex<GrantedLeases>,
    blamed: Arc<BlamedLeases>,
    /// How long the coordinator keeps leases that no heartbeat names.
    lease_ttl: Duration,
    outcomes: OutcomeQueue,
    opened: OpenedLedger,
    permit: LeasePermit,
    /// What the ledger said last, for the status while it cannot be asked.
    counted: Mutex<LedgerCounts>,
}

/// A deadline that never comes.
const NEVER: u64 = u64::MAX;
/// How long a load waits before it asks again whether a trainer has come back. The ledger waits for 0.8 s in all.
const AWAITED: Duration = Duration::from_millis(20);
/// How long the ledger may be unwritable before those who ask for an audit are told so.
const MOMENT: Duration = Duration::from_secs(1);

impl LedgerClient {
    /// Opens the ledger, or makes it, and registers this incarnation. `has_others` if other daemons may have the same ledger.
    /// What is sent into the first end comes out of the second, which [`ledger_tasks`](crate::ledger_tasks) take.
    ///
    /// # Errors
    /// The ledger exists with another spec, or the coordinator or its store cannot be used.
    pub(crate) async fn open(
        ledgers: Handle,
        request: OpenRequest,
        has_others: bool,
        ring: Outbox,
    ) -> Result<(Self, OutcomeSender, OutcomeReceiver), CallError> {
        let (worker, incarnation) = (request.worker.clone(), request.incarnation);
        let (part, steps) = (request.spec.as_ref().and_then(EpochPart::of), StepLength::of(request.spec.as_ref()));
        let asked = clock::boot();
        let reply = ledgers.open(request).await?;
        let lease_ttl = Duration::from_millis(reply.lease_ttl_ms);
        let deadline = if has_others { later(asked, lease_ttl) } else { NEVER };
        let (outcomes, ends, receiver) = OutcomeQueue::new();
        let client = Self {
            commands: LedgerCommands::new(ledgers, reply.ledger.clone(), worker, incarnation, has_others),
            updates: LedgerUpdates::new(reply.progress.unwrap_or_default(), ring),
            granted: Mutex::new(GrantedLeases::until(deadline)),
            blamed: Arc::new(BlamedLeases::new(steps)),
            lease_ttl,
            outcomes,
            permit: LeasePermit::new(part.is_none() && !reply.awaits_trainers),
            opened: OpenedLedger::new(reply, part, steps, has_others),
            counted: Mutex::default(),
        };
        // The ring's thread has it before there is a batch.
        client.updates.tell(LedgerEvent::Deadline(deadline));
        Ok((client, ends, receiver))
    }

    /// The stream ends. Calls that are under way are still answered, but they do not wait for the end of an outage of a
    /// coordinator in another process (semantics rule 34). Positions that it does not hear of come back when their leases
    /// expire.
    pub fn end(&self) {
        self.commands.end();
    }

    // What is known without a call.

    /// What changes while the run goes its way, beside the replies to commands.
    pub const fn updates(&self) -> &LedgerUpdates {
        &self.updates
    }

    /// How far the run is.
    pub fn progress(&self) -> Progress {
        *self.updates.progress().borrow()
    }

    /// Since when the ledger cannot be written, and why, if that is so.
    pub fn outage(&self) -> watch::Receiver<Option<Outage>> {
        self.commands.outage()
    }

    /// How long the coordinator keeps leases that no heartbeat names.
    pub const fn lease_ttl(&self) -> Duration {
        self.lease_ttl
    }

    /// Whether other daemons may have the same ledger.
    pub const fn has_others(&self) -> bool {
        self.commands.has_others()
    }

    /// Whether another daemon has its place. It never gets it back.
    pub fn is_fenced(&self) -> bool {
        self.commands.is_fenced()
    }

    /// What the ledger said when it was opened.
    pub const fn opened(&self) -> &OpenedLedger {
        &self.opened
    }

    /// Those of its leases that a daemon had when it died.
    pub(crate) fn blamed(&self) -> Arc<BlamedLeases> {
        Arc::clone(&self.blamed)
    }

    /// The outcomes that wait for the ledger.
    pub(crate) const fn outcomes(&self) -> &OutcomeQueue {
        &self.outcomes
    }

    /// Bad records since the stream was opened.
    pub fn bad(&self) -> u64 {
        self.outcomes.bad()
    }

    // Leases.

    /// Whether leases may be asked for.
    pub const fn permit(&self) -> &LeasePermit {
        &self.permit
    }

    /// Asks for so many leases, and for tails in batches of so many places (semantics rule 36); for 0 leases, only for tails.
    /// Cancelled, it leaves none that a heartbeat would extend.
    pub async fn acquire(&self, leases: u32, batch: u64) -> Result<AcquireReply, CallError> {
        let beats = self.granted.lock().beats();
        let request = |caller| AcquireRequest { caller: Some(caller), leases, batch, tails: leases == 0 };
        let mut reply = self.commands.command(request).await?;
        let ids: Vec<u64> = reply.leases.iter().map(|lease| lease.id).collect();
        if self.granted.lock().add(ids.iter().copied(), beats) {
            let doubtful = DoubtfulLeases { granted: &self.granted, ids };
            self.commands.until_answered(|| self.heartbeat()).await?;
            doubtful.are_named();
            let granted = self.granted.lock();
            reply.leases.retain(|lease| granted.has(lease.id));
        }
        self.blamed.note(&reply.leases);
        if let Some(Progress { floor, .. }) = reply.progress {
            self.blamed.completed(floor);
        }
        self.updates.hear_progress(reply.progress);
        Ok(reply)
    }

    /// Extends the leases of this incarnation. The ring's thread hears which of them it has lost, and until when it keeps the
    /// others.
    pub async fn heartbeat(&self) -> Result<(), CallError> {
        let asked = clock::boot();
        let leases = self.granted.lock().beat();
        let (named, waits) = (leases.clone(), self.updates.say_who_waits());
        let request = |caller| HeartbeatRequest { caller: Some(caller), leases: named, waits };
        let reply = self.commands.ask_beside(request).await?;
        self.hear(reply.update.unwrap_or_else(|| LedgerUpdate { progress: reply.progress, ..LedgerUpdate::default() }));
        // Under one lock, so that the messages of two answers do not mix.
        let mut granted = self.granted.lock();
        let ended = granted.answered(&leases, &reply.leases);
        if !ended.is_empty() {
            self.updates.tell(LedgerEvent::Lost(ended));
        }
        if let Some(later) = granted.renew(later(asked, self.lease_ttl)) {
            self.updates.tell(LedgerEvent::Deadline(later));
        }
        Ok(())
    }

    /// Gives up a tail of an epoch. All other positions of the epoch that this worker has, up to this lease, are in
    /// published batches.
    pub(crate) async fn settle(
        &self,
        epoch: u64,
        last_lease: u64,
        tail: Vec<LeasedRange>,
    ) -> Result<SettleReply, CallError> {
        let request = |caller| SettleRequest { caller: Some(caller), epoch, last_lease, tail };
        self.command(request, |reply| reply.progress).await
    }

    // What became of records.

    /// Acks receipts.
    pub(crate) async fn ack(&self, receipts: AckRequest) -> Result<AckReply, CallError> {
        self.command(|caller| AckRequest { caller: Some(caller), ..receipts }, |reply| reply.progress).await
    }

    /// Quarantines records.
    pub(crate) async fn nack(&self, records: Vec<BadRecord>) -> Result<NackReply, CallError> {
        self.command(|caller| NackRequest { caller: Some(caller), records }, |reply| reply.progress).await
    }

    /// Gives positions back.
    pub async fn give_back(&self, items: Vec<ReturnedRange>) -> Result<ReturnReply, CallError> {
        self.command(|caller| ReturnRequest { caller: Some(caller), items }, |reply| reply.progress).await
    }

    /// Takes positions of an earlier incarnation back, which a consumer still holds.
    pub(crate) async fn reclaim(&self, held: ReclaimRequest) -> Result<ReclaimReply, CallError> {
        let leases: Vec<u64> = held.items.iter().map(|item| item.lease).collect();
        let reply = self.commands.command(|caller| ReclaimRequest { caller: Some(caller), ..held }).await?;
        let taken = leases.into_iter().zip(reply.verdicts()).filter(|(_, verdict)| *verdict == Verdict::Accepted);
        // A trainer has them: no heartbeat has to name them first.
        let mut granted = self.granted.lock();
        let beats = granted.beats();
        granted.add(taken.map(|(lease, _)| lease), beats);
        drop(granted);
        self.updates.hear_progress(reply.progress);
        Ok(reply)
    }

    /// Waits until all that was reported is durable.
    pub async fn flush(&self) {
        self.outcomes.flush().await;
    }

    // The run.

    /// Ends an epoch early, unless the run is in another generation by then.
    pub async fn abandon(&self, epoch: u64, generation: u64) -> Result<AbandonReply, CallError> {
        let request = |caller| AbandonRequest { caller: Some(caller), epoch, generation };
        let reply = self.commands.command(request).await?;
        self.updates.hear_failure(reply.progress, reply.failure.clone());
        self.updates.hear_progress(reply.progress);
        Ok(reply)
    }

    /// Goes back to a snapshot. False if that was done before, for this load or for another rank's. A trainer of an earlier
    /// incarnation that has loaded the same state is waited for, if it may still come.
    pub async fn restore(&self, load: &RestoreRequest) -> Result<bool, CallError> {
        loop {
            let request = |caller| RestoreRequest { caller: Some(caller), ..load.clone() };
            let reply = self.commands.command(request).await?;
            self.blamed.clear();
            self.updates.hear_failure(reply.progress, reply.failure.clone());
            self.updates.hear_progress(reply.progress);
            if !reply.awaits_trainers {
                return Ok(!reply.repeated);
            }
            tokio::time::sleep(AWAITED).await;
        }
    }

    /// Says which trainers are here, or that the stream is closed.
    pub async fn attend(&self, attendance: Attendance, trainers: Vec<u64>) -> Result<(), CallError> {
        let attendance = attendance.into();
        let request = |caller| AttendRequest { caller: Some(caller), attendance, trainers };
        self.command(request, |reply| reply.progress).await.map(drop)
    }

    /// Tells the ledger that this daemon is done with the stream, so that others need not wait for it. If the ledger does
    /// not answer, it finds out by itself.
    pub async fn farewell(&self) {
        if self.has_others() {
            // The ledger refuses if the run is gone or another daemon has its place. In an outage, the answer comes too
            // late.
            let _said = tokio::time::timeout(MOMENT, self.attend(Attendance::Closed, Vec::new())).await;
        }
    }

    /// Leaves a summary of the dataset, for nodes that have another one.
    pub async fn describe(&self, summary: DatasetSummary) -> Result<(), CallError> {
        let request = |caller| DescribeRequest { caller: Some(caller), summary: Some(summary) };
        self.command(request, |reply| reply.progress).await.map(drop)
    }

    // Questions, with all that was reported before.

    /// The run's state, with these receipts counted as consumed (semantics rule 22).
    pub async fn snapshot(&self, consumed: Vec<AckItem>) -> Result<Snapshot, CallError> {
        self.flush().await;
        let request = self.opened.steps.consumed(consumed);
        let reply =
            self.commands.ask(TakeSnapshotRequest { ledger: self.commands.ledger().to_owned(), ..request }).await?;
        reply.snapshot.ok_or_else(|| CallError::Corrupt("The coordinator sent no snapshot.".into()))
    }

    /// The ledger's tallies from an epoch on, a page of them.
    ///
    /// # Errors
    /// The ledger cannot be asked; or it cannot be written, and something waits for that.
    pub async fn audit(&self, from_epoch: u64) -> Result<AuditReply, CallError> {
        self.outcomes.flush_or_outage(self.outage()).await?;
        self.commands.ask(AuditRequest { ledger: self.commands.ledger().to_owned(), from_epoch }).await
    }

    /// The quarantine's list behind an entry, a page of it.
    ///
    /// # Errors
    /// The same as for [`audit`](Self::audit).
    pub async fn quarantine(&self, after: Option<QuarantineKey>) -> Result<ListQuarantineReply, CallError> {
        self.outcomes.flush_or_outage(self.outage()).await?;
        self.commands.ask(ListQuarantineRequest { ledger: self.commands.ledger().to_owned(), after }).await
    }

    /// The ledger's counts, of an epoch too; the last known ones while it cannot be written, which the status says beside them.
    pub async fn counted(&self, epoch: u64) -> Result<LedgerCounts, CallError> {
        let (mut counted, mut from_epoch) = (LedgerCounts::default(), Some(0));
        while let Some(first) = from_epoch {
            match self.audit(first).await {
                Ok(page) => {
                    counted.add(&page, epoch);
                    from_epoch = page.next_epoch();
                }
                Err(CallError::Unavailable(_)) => return Ok(self.last_counted()),
                Err(refusal) => return Err(refusal),
            }
        }
        *self.counted.lock() = counted;
        Ok(counted)
    }

    /// The counts that were asked for last.
    pub fn last_counted(&self) -> LedgerCounts {
        *self.counted.lock()
    }

    /// Listens to the coordinator until it cannot be asked, or the stream is gone.
    pub(crate) async fn follow(client: &Weak<Self>) {
        let Some(mut updates) = async { Some(client.upgrade()?.commands.follow().await) }.await else { return };
        while let Some(update) = updates.recv().await {
            let Some(client) = client.upgrade() else { return };
            client.hear(update);
        }
    }

    /// Sends a command, and hears the progress in its reply.
    async fn command<R: Request>(
        &self,
        request: impl FnOnce(Caller) -> R,
        progress: impl FnOnce(&R::Reply) -> Option<Progress>,
    ) -> Result<R::Reply, CallError> {
        let reply = self.commands.command(request).await?;
        self.updates.hear_progress(progress(&reply));
        Ok(reply)
    }

    fn hear(&self, update: LedgerUpdate) {
        self.updates.hear(update, self.commands.worker());
    }
}

fn later(moment: u64, by: Duration) -> u64 {
    moment.saturating_add(clock::nanos(by))
}
