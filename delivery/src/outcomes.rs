//! Reports the outcome of records to the ledger: receipts, drops, bad records, and returned positions.
//!
//! Reports wait in one queue, and keep their order. `ledger_tasks/forward.rs` takes them out of it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use forebay_ledger_client::{CallError, Outage};
use forebay_proto::v1::{AckItem, BadRecord, GroupReceipt, GroupShare, LeasedRange, ReturnedRange};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;

/// Receipts of batches, from the table of their claims to the request that carries them.
#[derive(Debug, Default)]
pub struct BatchReceipts {
    /// One for each range of a lease.
    pub items: Vec<AckItem>,
    /// What is wrong with records that the batches were delivered without.
    pub bad: Vec<BadRecord>,
    /// Where steps have classes: what batches of a dead incarnation show no record of. What is wrong there is not known.
    pub bare: Vec<LeasedRange>,
    /// Those of the groups that have consumed them; none in `split`.
    pub groups: Vec<GroupReceipt>,
    /// What groups have consumed of a dead incarnation's batches that another group holds or has consumed.
    pub shared: Vec<GroupReceipt>,
}

/// What became of some records.
#[derive(Debug)]
pub enum DeliveryOutcome {
    /// Receipts, or drops by policy.
    Receipts {
        /// These.
        receipts: BatchReceipts,
        /// A trainer waits for the epoch's end.
        urgent: bool,
    },
    /// What a group of trainers has consumed and others still wait for.
    Shared(Vec<GroupShare>),
    /// A group of trainers with this name is there.
    GroupBegan(String),
    /// A group of trainers with this name has ended.
    GroupEnded(String),
    /// Groups of trainers that have handed in what they had: what have they missed?
    Missing(Vec<String>),
    /// A trainer ended without a receipt for a batch, which is to be offered again.
    Seen {
        /// For the ledger: which records of the batch the trainer may have seen.
        items: Vec<AckItem>,
        /// Number of the batch.
        batch: u64,
    },
    /// A record that cannot be read or decoded.
    Bad(BadRecord),
    /// Positions that come back, with how a trainer may have seen them.
    Returned(Vec<ReturnedRange>),
    /// All positions of an epoch that this daemon has are in published batches, except for the tail that it gives up.
    Settled(SettledEpoch),
    /// Answered when everything before it is durable.
    Flush(oneshot::Sender<()>),
}

impl DeliveryOutcome {
    /// Receipts that are not of a batch in a trainer's hands.
    pub fn receipts(items: Vec<AckItem>) -> Self {
        Self::Receipts { receipts: BatchReceipts { items, ..BatchReceipts::default() }, urgent: true }
    }

    /// Records that trainers have consumed.
    pub(crate) fn consumed(&self) -> u64 {
        match self {
            Self::Receipts { receipts, .. } => receipts.items.iter().map(|item| item.count).sum(),
            _ => 0,
        }
    }
}

impl BatchReceipts {
    pub(crate) fn extend(&mut self, further: Self) {
        let Self { items, bad, bare, groups, shared } = further;
        self.items.extend(items);
        self.bad.extend(bad);
        self.bare.extend(bare);
        self.groups.extend(groups);
        self.shared.extend(shared);
    }

    pub(crate) fn len(&self) -> usize {
        self.items.len() + self.bad.len() + self.bare.len() + self.groups.len() + self.shared.len()
    }
}

/// The report of a daemon that has made all batches of an epoch that it can fill (semantics rule 36).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettledEpoch {
    /// The epoch.
    pub epoch: u64,
    /// The last lease of it that was read.
    pub last_lease: u64,
    /// Leased positions that are too few to fill a batch.
    pub tail: Vec<LeasedRange>,
}

/// The writing end; clones write to the same ledger.
pub type OutcomeSender = mpsc::UnboundedSender<DeliveryOutcome>;

/// The reading end: reports for the ledger, in order.
pub(crate) type OutcomeReceiver = mpsc::UnboundedReceiver<DeliveryOutcome>;

/// The outcomes that wait for the ledger, as its client sees them. The writing ends are the stream's: when the last one is
/// dropped and all was sent, the client's task ends, and the client with it.
#[derive(Debug)]
pub(crate) struct OutcomeQueue {
    outcomes: mpsc::WeakUnboundedSender<DeliveryOutcome>,
    /// Bad records, for metrics.
    bad: AtomicU64,
}

/// How long the ledger may be unwritable before those who wait for it are told so.
const MOMENT: Duration = Duration::from_secs(1);

impl OutcomeQueue {
    /// An empty queue, and its ends.
    pub(crate) fn new() -> (Self, OutcomeSender, OutcomeReceiver) {
        let (outcomes, receiver) = mpsc::unbounded_channel();
        (Self { outcomes: outcomes.downgrade(), bad: AtomicU64::new(0) }, outcomes, receiver)
    }

    /// Gives ranges back, to go to others.
    pub(crate) fn give_back(&self, ranges: Vec<ReturnedRange>) {
        if !ranges.is_empty() {
            self.send(DeliveryOutcome::Returned(ranges));
        }
    }

    /// Waits until all that was reported is durable.
    pub(crate) async fn flush(&self) {
        let (done, flushed) = oneshot::channel();
        self.send(DeliveryOutcome::Flush(done));
        // Answered, or the ledger's task has ended: then there is nothing to wait for.
        let _flushed = flushed.await;
    }

    /// Waits until all that was reported is durable, but not for the end of an outage.
    ///
    /// # Errors
    /// The outage has lasted for a moment.
    pub(crate) async fn flush_or_outage(&self, outage: watch::Receiver<Option<Outage>>) -> Result<(), CallError> {
        tokio::select! {
            biased;
            () = self.flush() => Ok(()),
            outage = lasting(outage) => Err(CallError::Unavailable(format!("{outage}. Receipts wait until it can be written."))),
        }
    }

    /// Bad records so far.
    pub(crate) fn bad(&self) -> u64 {
        self.bad.load(Ordering::Relaxed)
    }

    pub(crate) fn count_bad(&self, records: usize) {
        self.bad.fetch_add(records as u64, Ordering::Relaxed);
    }

    fn send(&self, outcome: DeliveryOutcome) {
        // The stream has ended, and its task with it, if nothing can be sent.
        let _sent = self.outcomes.upgrade().is_some_and(|outcomes| outcomes.send(outcome).is_ok());
    }
}

/// Returns when an outage has lasted for a moment; never without one.
async fn lasting(mut outage: watch::Receiver<Option<Outage>>) -> Outage {
    loop {
        let Ok(begun) = outage.wait_for(Option::is_some).await.map(|begun| begun.clone()) else {
            return std::future::pending().await;
        };
        let over = outage.wait_for(Option::is_none);
        if let (Some(begun), Err(_elapsed)) = (begun, timeout(MOMENT, over).await) {
            return begun;
        }
    }
}
