//! The worker of one stream: it sends the coordinator the stream's commands, and decides their order.
//!
//! Commands are sent one after the other, each with the next sequence number. A command whose answer was lost is
//! repeated with the same number until it is answered, so it takes effect once (semantics rule 18). An outage is never
//! mistaken for the end of the data. When the stream ends, an outage is waited for no longer (semantics rule 34).

mod asking;
mod granted;
mod others;
#[cfg(test)]
mod tests;
mod words;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use forebay_ledger_client::{CallError, Handle, Outage};
use forebay_proto::v1::attend_request::Attendance;
use forebay_proto::v1::{
    AbandonReply, AbandonRequest, AckItem, AckReply, AckRequest, AcquireReply, AcquireRequest, AttendRequest,
    AuditReply, AuditRequest, BadRecord, Caller, DatasetOutline, DescribeRequest, HeartbeatRequest, LeasedRange,
    LedgerNews, ListQuarantineReply, ListQuarantineRequest, NackReply, NackRequest, OpenReply, OpenRequest, Progress,
    QuarantineKey, ReclaimReply, ReclaimRequest, RestoreReply, RestoreRequest, ReturnReply, ReturnRequest,
    ReturnedRange, RunFailure, SettleReply, SettleRequest, Snapshot, TakeSnapshotRequest, Verdict,
};
use tokio::sync::{Mutex, mpsc, oneshot, watch};
use tokio::time::Instant;

use crate::blamed::BlamedLeases;
use crate::clock;
use asking::Doubtful;
use granted::GrantedLeases;
use others::OtherWorkers;
pub(crate) use others::Others;
use words::Said;
pub(crate) use words::{LeaseWords, LedgerWord};

/// A worker of a ledger, in one incarnation.
#[derive(Debug)]
pub struct Worker {
    handle: Handle,
    ledger: String,
    name: String,
    incarnation: u64,
    /// Number of the last command.
    sequence: Mutex<u64>,
    /// The lowest number whose reply was not seen.
    unseen: AtomicU64,
    progress: watch::Sender<Progress>,
    blamed: Arc<BlamedLeases>,
    /// Leases that were granted and not seen to end.
    granted: parking_lot::Mutex<GrantedLeases>,
    /// How long the coordinator keeps leases that no heartbeat names.
    lease_ttl: Duration,
    /// Other daemons may have the same ledger.
    has_others: bool,
    words: mpsc::UnboundedSender<Said>,
    others: OtherWorkers,
    /// Whether the run has failed, whichever daemon's record it was, with the ledger's generation.
    failure: watch::Sender<(u64, RunFailure)>,
    /// The coordinator has said that another daemon has its place.
    fenced: AtomicBool,
    /// Since when the stream ends.
    ending: watch::Sender<Option<Instant>>,
}

/// A deadline that never comes.
const NEVER: u64 = u64::MAX;

impl Worker {
    /// Opens the ledger, or makes it, and registers this incarnation.
    ///
    /// # Errors
    /// The ledger exists with another spec, or the coordinator or its store cannot be used.
    pub(crate) async fn open(
        handle: Handle,
        request: OpenRequest,
        has_others: bool,
    ) -> Result<(Self, LeaseWords, OpenReply), CallError> {
        let (name, incarnation) = (request.worker.clone(), request.incarnation);
        let asked = clock::boot();
        let reply = handle.open(request).await?;
        let lease_ttl = Duration::from_millis(reply.lease_ttl_ms);
        let deadline = if has_others { later(asked, lease_ttl) } else { NEVER };
        let progress = reply.progress.unwrap_or_default();
        let ledger = reply.ledger.clone();
        let (words, said) = words::channel();
        let worker = Self {
            handle,
            ledger,
            name,
            incarnation,
            sequence: Mutex::new(0),
            unseen: AtomicU64::new(1),
            progress: watch::Sender::new(progress),
            blamed: Arc::default(),
            granted: parking_lot::Mutex::new(GrantedLeases::until(deadline)),
            lease_ttl,
            has_others,
            words,
            others: OtherWorkers::default(),
            failure: watch::Sender::default(),
            fenced: AtomicBool::new(false),
            ending: watch::Sender::new(None),
        };
        worker.say(LedgerWord::Deadline(deadline));
        Ok((worker, said, reply))
    }

    /// How long the coordinator keeps leases that no heartbeat names.
    pub fn lease_ttl(&self) -> Duration {
        self.lease_ttl
    }

    /// Whether another daemon has its place. It never gets it back.
    pub fn is_fenced(&self) -> bool {
        self.fenced.load(Ordering::SeqCst)
    }

    /// Whether other daemons may have the same ledger.
    pub fn has_others(&self) -> bool {
        self.has_others
    }

    /// The stream ends. Calls that are under way are still answered, but they do not wait for the end of an outage of a
    /// coordinator in another process. Positions that it does not hear of come back when their leases expire.
    pub fn end(&self) {
        self.ending.send_if_modified(|since| since.replace(Instant::now()).is_none());
    }

    /// Whether the run has failed, as the coordinator last said, with the generation in which it has.
    pub fn failure(&self) -> watch::Receiver<(u64, RunFailure)> {
        self.failure.subscribe()
    }

    /// What the coordinator last said about the epochs.
    pub fn progress(&self) -> watch::Receiver<Progress> {
        self.progress.subscribe()
    }

    /// Since when the ledger cannot be written, and why, if that is so.
    pub fn outage(&self) -> watch::Receiver<Option<Outage>> {
        self.handle.outage()
    }

    /// Those of its leases that a daemon had when it died.
    pub(crate) fn blamed(&self) -> Arc<BlamedLeases> {
        Arc::clone(&self.blamed)
    }

    /// Asks for so many leases, and for tails in batches of so many places (semantics rule 36); for 0 leases, only for tails.
    /// Cancelled, it leaves none that a heartbeat would extend.
    pub async fn acquire(&self, leases: u32, batch: u64) -> Result<AcquireReply, CallError> {
        let beats = self.granted.lock().beats();
        let request = |caller| AcquireRequest { caller: Some(caller), leases, batch, tails: leases == 0 };
        let mut reply = self.command(request).await?;
        let ids: Vec<u64> = reply.leases.iter().map(|lease| lease.id).collect();
        if self.granted.lock().add(ids.iter().copied(), beats) {
            let doubtful = Doubtful { worker: self, ids };
            self.confirm().await?;
            doubtful.are_named();
            let granted = self.granted.lock();
            reply.leases.retain(|lease| granted.has(lease.id));
        }
        self.blamed.note(&reply.leases);
        if let Some(Progress { floor, .. }) = reply.progress {
            self.blamed.completed(floor);
        }
        self.heard(reply.progress);
        Ok(reply)
    }

    /// Hands receipts in.
    pub(crate) async fn ack(&self, receipts: AckRequest) -> Result<AckReply, CallError> {
        let reply = self.command(|caller| AckRequest { caller: Some(caller), ..receipts }).await?;
        self.heard(reply.progress);
        Ok(reply)
    }

    /// Quarantines records.
    pub(crate) async fn nack(&self, records: Vec<BadRecord>) -> Result<NackReply, CallError> {
        let reply = self.command(|caller| NackRequest { caller: Some(caller), records }).await?;
        self.heard(reply.progress);
        Ok(reply)
    }

    /// Gives positions back.
    pub async fn give_back(&self, items: Vec<ReturnedRange>) -> Result<ReturnReply, CallError> {
        let reply = self.command(|caller| ReturnRequest { caller: Some(caller), items }).await?;
        self.heard(reply.progress);
        Ok(reply)
    }

    /// Takes positions of an earlier incarnation back, which a consumer still holds.
    pub(crate) async fn reclaim(&self, held: ReclaimRequest) -> Result<ReclaimReply, CallError> {
        let leases: Vec<u64> = held.items.iter().map(|item| item.lease).collect();
        let reply = self.command(|caller| ReclaimRequest { caller: Some(caller), ..held }).await?;
        let taken = leases.into_iter().zip(reply.verdicts()).filter(|(_, verdict)| *verdict == Verdict::Accepted);
        // A trainer has them: no heartbeat has to name them first.
        let mut granted = self.granted.lock();
        let beats = granted.beats();
        granted.add(taken.map(|(lease, _)| lease), beats);
        drop(granted);
        self.heard(reply.progress);
        Ok(reply)
    }

    /// Ends an epoch early, unless the run is in another generation by then.
    pub async fn abandon(&self, epoch: u64, generation: u64) -> Result<AbandonReply, CallError> {
        let reply = self.command(|caller| AbandonRequest { caller: Some(caller), epoch, generation }).await?;
        self.hear_failure(reply.progress, reply.failure.clone());
        self.heard(reply.progress);
        Ok(reply)
    }

    /// Goes back to a snapshot, unless that was done before.
    pub(crate) async fn restore(&self, load: RestoreRequest) -> Result<RestoreReply, CallError> {
        let reply = self.command(|caller| RestoreRequest { caller: Some(caller), ..load }).await?;
        self.blamed.clear();
        self.hear_failure(reply.progress, reply.failure.clone());
        self.heard(reply.progress);
        Ok(reply)
    }

    /// Says which trainers are here, or that the stream is closed.
    pub async fn attend(&self, attendance: Attendance, trainers: Vec<u64>) -> Result<(), CallError> {
        let attendance = attendance.into();
        let reply = self.command(|caller| AttendRequest { caller: Some(caller), attendance, trainers }).await?;
        self.heard(reply.progress);
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
        let reply = self.command(|caller| SettleRequest { caller: Some(caller), epoch, last_lease, tail }).await?;
        self.heard(reply.progress);
        Ok(reply)
    }

    /// Leaves an outline of the dataset, for nodes that have another one.
    pub async fn describe(&self, outline: DatasetOutline) -> Result<(), CallError> {
        let reply = self.command(|caller| DescribeRequest { caller: Some(caller), outline: Some(outline) }).await?;
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

    /// Extends the leases of this incarnation. Reports which of them it has lost, and until when it keeps the others.
    pub async fn heartbeat(&self) -> Result<(), CallError> {
        let asked = clock::boot();
        let leases = self.granted.lock().beat();
        let caller = Caller { unseen: self.unseen.load(Ordering::Relaxed), ..self.caller(0) };
        let waits = self.others.say();
        let request = HeartbeatRequest { caller: Some(caller), leases: leases.clone(), waits };
        let reply = self.handle.call(request).await.inspect_err(|refusal| self.refused(refusal))?;
        self.hear(reply.news.unwrap_or_else(|| LedgerNews { progress: reply.progress, ..LedgerNews::default() }));
        // Under one lock, so that the messages of two answers do not mix.
        let mut granted = self.granted.lock();
        let ended = granted.answered(&leases, &reply.leases);
        if !ended.is_empty() {
            self.say(LedgerWord::Lost(ended));
        }
        if let Some(later) = granted.renew(later(asked, self.lease_ttl)) {
            self.say(LedgerWord::Deadline(later));
        }
        Ok(())
    }

    /// Returns when the listener has taken all messages about leases that were sent until now.
    pub(crate) async fn was_heard(&self) {
        let (heard, taken) = oneshot::channel();
        if self.words.send(Said::Heard(heard)).is_ok() {
            // Answered, or the listener is gone.
            let _taken = taken.await;
        }
    }

    /// Hears what the coordinator tells all workers of the ledger.
    fn hear(&self, mut news: LedgerNews) {
        self.heard(news.progress);
        self.hear_failure(news.progress, news.failure.take());
        if let Some(others) = self.others.hear(news, &self.name) {
            self.say(LedgerWord::Others(others));
        }
    }

    /// Listens to the coordinator until it cannot be asked, or the stream is gone.
    pub(crate) async fn follow(worker: &Weak<Self>) {
        let Some(mut news) = async { Some(worker.upgrade()?.followed().await) }.await else { return };
        while let Some(now) = news.recv().await {
            let Some(worker) = worker.upgrade() else { return };
            worker.hear(now);
        }
    }

    async fn followed(&self) -> mpsc::Receiver<LedgerNews> {
        self.handle.follow(self.caller(0)).await
    }

    /// Whether this worker's trainers wait for what others have of an epoch. Its heartbeats say so.
    pub(crate) fn waiting(&self) -> Arc<AtomicBool> {
        self.others.waiting()
    }

    /// Tails of epochs below this one can be leased.
    pub fn tails(&self) -> watch::Receiver<u64> {
        self.others.tails()
    }

    /// Epochs below this one are left to other workers, whose trainers wait for them.
    pub fn recalled(&self) -> watch::Receiver<u64> {
        self.others.recalled()
    }

    /// The coordinator has refused something.
    fn refused(&self, refusal: &CallError) {
        if matches!(refusal, CallError::Fenced(_)) {
            self.fenced.store(true, Ordering::SeqCst);
        }
    }

    fn say(&self, word: LedgerWord) {
        // There is no listener if the stream could not be opened.
        let _gone = self.words.send(Said::Word(word));
    }

    /// Notes whether the run has failed, unless the report is older than the one that is known.
    fn hear_failure(&self, progress: Option<Progress>, failure: Option<RunFailure>) {
        let (Some(Progress { generation, .. }), Some(failure)) = (progress, failure) else { return };
        self.failure.send_if_modified(|(known_generation, known)| {
            let is_new = (generation, failure.number) > (*known_generation, known.number);
            let has_changed = is_new && failure.why != known.why;
            if is_new {
                (*known_generation, *known) = (generation, failure);
            }
            has_changed
        });
    }

    fn heard(&self, progress: Option<Progress>) {
        if let Some(progress) = progress {
            self.progress.send_if_modified(|known| {
                // What was said before a restore may arrive after it.
                progress.generation >= known.generation && std::mem::replace(known, progress) != progress
            });
        }
    }
}

fn later(moment: u64, by: Duration) -> u64 {
    moment.saturating_add(clock::nanos(by))
}
