//! A stream's client of its ledger: what the stream asks, what it hands in, and the ledger's last answer.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use forebay_ledger_client::{CallError, Handle, Outage};
use forebay_plan::EpochPart;
use forebay_proto::v1::attend_request::Attendance;
use forebay_proto::v1::{
    AckItem, AuditReply, ListQuarantineReply, OpenRequest, Progress, QuarantineKey, RestoreRequest, ReturnedRange,
    Snapshot,
};
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot, watch};

use crate::ack::{Fate, FateReceiver, Fates, ReceiptCounts};
use crate::consumers::Outbox;
use crate::news;
use crate::worker::{LeaseWords, Worker};

/// A stream's worker, and what goes through it.
#[derive(Debug)]
pub struct StreamLedger {
    worker: Arc<Worker>,
    fates: Fates,
    counts: Arc<ReceiptCounts>,
    spec_hash: Vec<u8>,
    /// Whether leases may be asked for. Trainers may hold batches of an earlier incarnation: one is heard first, however long it
    /// takes to come. A shard or a rank has no other.
    heard: watch::Sender<bool>,
    /// The ledger has no outline of the dataset, for other nodes.
    wants_outline: bool,
    /// Others may change the ledger: daemons of other nodes, or the other ranks of a run.
    is_changed_by_others: bool,
    /// Groups of trainers that were there when the last incarnation ended.
    former_groups: Vec<String>,
    /// What the ledger said last, for the status while it cannot be asked.
    counted: Mutex<LedgerCounts>,
}

/// The ends of the client's reports: to the ledger about records, and to the ring's thread about leases.
#[derive(Debug)]
pub(crate) struct LedgerEnds {
    receipts: FateReceiver,
    leases: LeaseWords,
}

/// What the ledger has counted of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct LedgerCounts {
    /// Records that were delivered.
    pub delivered: u64,
    /// Bad records.
    pub bad: u64,
    /// Positions of the epoch in question that are complete.
    pub done: u64,
    /// How many epochs there are; 0 is without end.
    pub epochs: u64,
}

/// How long a load waits before it asks again whether a trainer has come back. The ledger waits for 0.8 s in all.
const AWAITED: Duration = Duration::from_millis(20);
/// How long the ledger may be unwritable before those who ask for an audit are told so.
const MOMENT: Duration = Duration::from_secs(1);

impl StreamLedger {
    /// Opens a stream's ledger. What is handed in afterwards comes out of the receipts.
    ///
    /// # Errors
    /// It cannot be asked, or it is about something else.
    pub(crate) async fn open(ledgers: Handle, request: OpenRequest) -> Result<(Self, LedgerEnds), CallError> {
        let part = request.spec.as_ref().and_then(EpochPart::of);
        let has_others = ledgers.is_remote();
        let (worker, leases, opened) = Worker::open(ledgers, request, has_others).await?;
        let worker = Arc::new(worker);
        let (fates, receipts) = mpsc::unbounded_channel();
        let client = Self {
            worker,
            fates,
            counts: Arc::default(),
            spec_hash: opened.spec_hash,
            heard: watch::Sender::new(part.is_none() && !opened.awaits_trainers),
            wants_outline: opened.wants_outline && has_others,
            is_changed_by_others: has_others || matches!(part, Some(EpochPart::Rank(_))),
            former_groups: opened.groups,
            counted: Mutex::default(),
        };
        Ok((client, LedgerEnds { receipts, leases }))
    }

    /// Starts the tasks that tell the ledger what became of records, and the ring's thread of what the ledger says.
    pub(crate) fn tell(&self, LedgerEnds { receipts, leases }: LedgerEnds, outbox: &Outbox) {
        news::follow(&self.worker, outbox.clone());
        news::tell_of_leases(leases, outbox.clone());
        news::keep_alive(&self.worker, outbox.clone());
        if self.is_changed_by_others {
            news::listen(&self.worker);
        }
        news::tell_of_outages(&self.worker, outbox.clone());
        news::hand_in(Arc::clone(&self.worker), receipts, Arc::clone(&self.counts), outbox.clone());
    }

    /// The stream ends: an outage of a coordinator in another process is not waited for any more (semantics rule 34).
    pub fn end(&self) {
        self.worker.end();
    }

    /// What leases and receipts go through.
    pub fn worker(&self) -> &Arc<Worker> {
        &self.worker
    }

    /// Where receipts are handed in.
    pub fn fates(&self) -> Fates {
        self.fates.clone()
    }

    /// Names what the ledger is about.
    pub fn spec_hash(&self) -> &[u8] {
        &self.spec_hash
    }

    /// Whether the ledger wants an outline of the dataset, for nodes that have another one.
    pub const fn wants_outline(&self) -> bool {
        self.wants_outline
    }

    /// Names of the groups of trainers that were there when the last incarnation ended.
    pub(crate) fn former_groups(&self) -> &[String] {
        &self.former_groups
    }

    /// How far the run is.
    pub fn progress(&self) -> Progress {
        *self.worker.progress().borrow()
    }

    /// Notes that a trainer has said what it has: leases may be asked for.
    pub(crate) fn trainer_is_heard(&self) {
        self.heard.send_replace(true);
    }

    /// Asks for no leases until the next trainer comes, unless `is_wanted` says that one is there.
    pub fn wait_for_a_trainer(&self, is_wanted: impl FnOnce() -> bool) -> bool {
        self.heard.send_replace(false);
        // A trainer that comes after this check reports that afterwards.
        let waits = !is_wanted();
        if !waits {
            self.heard.send_replace(true);
        }
        waits
    }

    /// Whether leases may be asked for.
    pub fn may_lease(&self) -> watch::Receiver<bool> {
        self.heard.subscribe()
    }

    /// The run's state, with these receipts counted as consumed (semantics rule 22).
    pub async fn snapshot(&self, in_hand: Vec<AckItem>) -> Result<Snapshot, CallError> {
        self.flush().await;
        self.worker.snapshot(in_hand).await
    }

    /// Goes back to a snapshot. False if that was done before, for this load or for another rank's. A trainer of an earlier
    /// incarnation that has loaded the same state is waited for, if it may still come.
    pub async fn restore(&self, load: &RestoreRequest) -> Result<bool, CallError> {
        loop {
            let reply = self.worker.restore(load.clone()).await?;
            if !reply.awaits_trainers {
                return Ok(!reply.repeated);
            }
            tokio::time::sleep(AWAITED).await;
        }
    }

    /// Tells the ledger that this daemon is done with the stream, so that others need not wait for it. If the ledger does
    /// not answer, it finds out by itself.
    pub async fn farewell(&self) {
        if self.worker.has_others() {
            // The ledger refuses if the run is gone or another daemon has its place. In an outage, the answer comes too
            // late.
            let _said = tokio::time::timeout(MOMENT, self.worker.attend(Attendance::Closed, Vec::new())).await;
        }
    }

    /// Gives ranges back, to go to others.
    pub(crate) fn give_back(&self, ranges: Vec<ReturnedRange>) {
        if !ranges.is_empty() {
            // The ledger's task ends after the stream.
            let _gone = self.fates.send(Fate::Returned(ranges));
        }
    }

    /// Waits until all that was handed in is durable.
    pub async fn flush(&self) {
        let (done, flushed) = oneshot::channel();
        if self.fates.send(Fate::Flush(done)).is_ok() {
            // Answered, or the ledger's task has ended: then there is nothing to wait for.
            let _flushed = flushed.await;
        }
    }

    /// The ledger's tallies from an epoch on, a page of them, with all that was handed in.
    ///
    /// # Errors
    /// The ledger cannot be asked; or it cannot be written, and something waits for that.
    pub async fn audit(&self, from_epoch: u64) -> Result<AuditReply, CallError> {
        self.flush_or_outage().await?;
        self.worker.audit(from_epoch).await
    }

    /// The quarantine's list behind an entry, a page of it, with all that was handed in.
    ///
    /// # Errors
    /// The same as for [`audit`](Self::audit).
    pub async fn quarantine(&self, after: Option<QuarantineKey>) -> Result<ListQuarantineReply, CallError> {
        self.flush_or_outage().await?;
        self.worker.quarantine(after).await
    }

    /// The ledger's counts, of an epoch too; the last known ones while it cannot be written, which the status says beside them.
    pub async fn counted(&self, epoch: u64) -> Result<LedgerCounts, CallError> {
        match self.totals(epoch).await {
            Ok(counted) => {
                *self.counted.lock() = counted;
                Ok(counted)
            }
            Err(CallError::Unavailable(_)) => Ok(*self.counted.lock()),
            Err(error) => Err(error),
        }
    }

    /// The counts that were asked for last.
    pub fn last_counted(&self) -> LedgerCounts {
        *self.counted.lock()
    }

    /// Bad records since the stream was opened.
    pub fn bad(&self) -> u64 {
        self.counts.bad.load(Ordering::Relaxed)
    }

    /// Waits until all that was handed in is durable, but not for the end of an outage.
    async fn flush_or_outage(&self) -> Result<(), CallError> {
        let outage = self.worker.outage();
        tokio::select! {
            biased;
            () = self.flush() => Ok(()),
            outage = lasting(outage) => Err(CallError::Unavailable(format!("{outage}. Receipts wait until it can be written."))),
        }
    }

    /// Records that were delivered in the run, and bad ones; and how much of `epoch` is complete.
    async fn totals(&self, epoch: u64) -> Result<LedgerCounts, CallError> {
        let mut counted = LedgerCounts::default();
        let mut from_epoch = Some(0);
        while let Some(first) = from_epoch {
            let page = self.audit(first).await?;
            for tally in &page.epochs {
                let [delivered, bad, dropped, abandoned] =
                    [&tally.delivered, &tally.quarantined, &tally.dropped, &tally.abandoned]
                        .map(|part| part.unwrap_or_default().count);
                let by_state = tally.by_state.unwrap_or_default().count;
                counted.delivered += delivered;
                counted.bad += bad;
                if tally.epoch == epoch {
                    counted.done = delivered + bad + dropped + abandoned + by_state;
                }
            }
            counted.epochs = page.total_epochs;
            from_epoch = page.next_epoch();
        }
        Ok(counted)
    }
}

/// Returns when an outage has lasted for a moment; never without one.
async fn lasting(mut outage: watch::Receiver<Option<Outage>>) -> Outage {
    loop {
        let Ok(begun) = outage.wait_for(Option::is_some).await.map(|begun| begun.clone()) else {
            return std::future::pending().await;
        };
        let over = outage.wait_for(Option::is_none);
        if let (Some(begun), Err(_elapsed)) = (begun, tokio::time::timeout(MOMENT, over).await) {
            return begun;
        }
    }
}
