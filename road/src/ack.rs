//! Carries what became of records to the ledger: receipts, drops, bad records, positions given back.
//!
//! Receipts are gathered for at most 200 ms, and go at once where somebody waits for an epoch's end (semantics rule
//! 17). Everything goes in the order in which it came.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use forebay_coordinator::CallError;
use forebay_proto::v1::{AckItem, BadRecord, ReturnedRange, Verdict};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout_at};

use crate::worker::Worker;

/// What became of some records.
#[derive(Debug)]
pub(crate) enum Fate {
    /// Receipts, or drops by policy.
    Acked {
        /// One per range of a lease.
        items: Vec<AckItem>,
        /// What is wrong with records that a batch was delivered without.
        bad: Vec<BadRecord>,
        /// Somebody waits for the epoch's end.
        urgent: bool,
    },
    /// A trainer ended without a receipt for a batch, which is to be offered again.
    Seen {
        /// What the ledger is to know: which of its records the trainer may have seen.
        items: Vec<AckItem>,
        /// Number of the batch.
        batch: u64,
    },
    /// A record that cannot be read or decoded.
    Bad(BadRecord),
    /// Positions that come back, with how a trainer may have seen them.
    Returned(Vec<ReturnedRange>),
    /// Answered when everything before it is durable.
    Flush(oneshot::Sender<()>),
}

/// The writing end; clones write to the same ledger.
pub(crate) type Fates = mpsc::UnboundedSender<Fate>;

/// What is counted, for metrics.
#[derive(Debug, Default)]
pub(crate) struct ReceiptCounts {
    /// Bad records.
    pub bad: AtomicU64,
    /// Receipts for leases that went to somebody else.
    pub lost: AtomicU64,
    /// Receipts that did not fit their lease.
    pub invalid: AtomicU64,
}

/// Longest time that a receipt waits for others.
const GATHER: Duration = Duration::from_millis(200);
/// Receipts in one request.
const MOST: usize = 4096;

/// Runs until every writing end is dropped and everything has been handed in. Leases that turn out to be somebody
/// else's are told to `lost`, and batches of which the ledger knows that somebody may have [seen](Fate::Seen) them to
/// `noted`.
///
/// # Errors
/// The coordinator refused this worker.
pub(crate) async fn forward(
    worker: Arc<Worker>,
    mut fates: mpsc::UnboundedReceiver<Fate>,
    counts: Arc<ReceiptCounts>,
    lost: impl Fn(Vec<u64>),
    noted: impl Fn(u64),
) -> Result<(), CallError> {
    let mut gathered = Gathered::default();
    let mut deadline = None;
    loop {
        let next = match deadline {
            None => fates.recv().await,
            Some(at) => match timeout_at(at, fates.recv()).await {
                Ok(next) => next,
                Err(_elapsed) => {
                    gathered.hand_in(&worker, &counts, &lost, &noted).await?;
                    deadline = None;
                    continue;
                }
            },
        };
        let Some(fate) = next else {
            return gathered.hand_in(&worker, &counts, &lost, &noted).await;
        };
        let mut urgent = gathered.add(fate);
        // What waits already goes with it, so that one commit carries a whole folder of bad files.
        while gathered.len() < MOST
            && let Ok(fate) = fates.try_recv()
        {
            urgent |= gathered.add(fate);
        }
        if urgent || gathered.len() >= MOST {
            gathered.hand_in(&worker, &counts, &lost, &noted).await?;
            deadline = None;
        } else {
            deadline.get_or_insert_with(|| Instant::now() + GATHER);
        }
    }
}

#[derive(Default)]
struct Gathered {
    acks: Vec<AckItem>,
    /// Of batches that were delivered without them.
    left_out: Vec<BadRecord>,
    bad: Vec<BadRecord>,
    returned: Vec<ReturnedRange>,
    /// Batches that wait to be noted.
    seen: Vec<u64>,
    waiting: Vec<oneshot::Sender<()>>,
}

impl Gathered {
    /// Receipts, bad records and ranges together.
    fn len(&self) -> usize {
        self.acks.len() + self.left_out.len() + self.bad.len() + self.returned.len()
    }

    /// Takes a fate in. True when it cannot wait.
    fn add(&mut self, fate: Fate) -> bool {
        match fate {
            Fate::Acked { items, bad, urgent } => {
                self.acks.extend(items);
                self.left_out.extend(bad);
                urgent
            }
            Fate::Seen { items, batch } => {
                self.acks.extend(items);
                self.seen.push(batch);
                true
            }
            Fate::Bad(record) => {
                self.bad.push(record);
                // The next file may be the last of the epoch: an epoch of bad records must end as well.
                true
            }
            Fate::Returned(items) => {
                self.returned.extend(items);
                true
            }
            Fate::Flush(done) => {
                self.waiting.push(done);
                true
            }
        }
    }

    async fn hand_in(
        &mut self,
        worker: &Worker,
        counts: &ReceiptCounts,
        lost: &impl Fn(Vec<u64>),
        noted: &impl Fn(u64),
    ) -> Result<(), CallError> {
        let mut gone = Vec::new();
        if !self.acks.is_empty() {
            let leases: Vec<u64> = self.acks.iter().map(|item| item.lease).collect();
            counts.bad.fetch_add(self.left_out.len() as u64, Ordering::Relaxed);
            let reply = worker.ack(std::mem::take(&mut self.acks), std::mem::take(&mut self.left_out)).await?;
            gone.extend(count("receipts", leases.into_iter().zip(reply.verdicts()), counts));
        }
        if !self.bad.is_empty() {
            counts.bad.fetch_add(self.bad.len() as u64, Ordering::Relaxed);
            let leases: Vec<u64> = self.bad.iter().map(|record| record.lease).collect();
            let reply = worker.nack(std::mem::take(&mut self.bad)).await?;
            gone.extend(count("bad records", leases.into_iter().zip(reply.verdicts()), counts));
        }
        if !self.returned.is_empty() {
            let leases: Vec<u64> = self.returned.iter().map(|item| item.lease).collect();
            let reply = worker.give_back(std::mem::take(&mut self.returned)).await?;
            gone.extend(count("returned positions", leases.into_iter().zip(reply.verdicts()), counts));
        }
        if !gone.is_empty() {
            lost(gone);
        }
        // Behind what is lost, which is not to be offered again.
        self.seen.drain(..).for_each(noted);
        for done in self.waiting.drain(..) {
            // Who asked may have gone meanwhile.
            let _gone = done.send(());
        }
        Ok(())
    }
}

/// Counts what was refused. Gives the leases that are lost.
fn count(what: &str, verdicts: impl Iterator<Item = (u64, Verdict)>, counts: &ReceiptCounts) -> Vec<u64> {
    let (mut lost, mut invalid) = (Vec::new(), 0);
    for (lease, verdict) in verdicts {
        match verdict {
            Verdict::Accepted => {}
            Verdict::Lost => lost.push(lease),
            Verdict::Invalid | Verdict::Unspecified => invalid += 1,
        }
    }
    if !lost.is_empty() {
        counts.lost.fetch_add(lost.len() as u64, Ordering::Relaxed);
        tracing::info!(
            lost = lost.len(),
            what,
            "the leases are no longer this daemon's; the records are delivered again"
        );
    }
    if invalid > 0 {
        counts.invalid.fetch_add(invalid, Ordering::Relaxed);
        tracing::error!(invalid, what, "the ledger refused them: they do not fit their leases");
    }
    lost
}

#[cfg(test)]
mod tests {
    use forebay_coordinator::{Coordinator, CoordinatorSettings, Handle, MemoryStore, PERMUTATION, monotonic_clock};
    use forebay_proto::RecordSum;
    use forebay_proto::v1::{AuditRequest, LedgerSpec, OpenRequest, Range};
    use forebay_ring::Claim;

    use super::*;
    use crate::receipt::{receipt, seen};

    /// A ledger of twenty records in leases of ten, with the first one out.
    struct Story {
        handle: Handle,
        ledger: String,
        lease: u64,
        fates: Fates,
        counts: Arc<ReceiptCounts>,
        lost: mpsc::UnboundedReceiver<Vec<u64>>,
        noted: mpsc::UnboundedReceiver<u64>,
    }

    impl Story {
        async fn begin() -> Self {
            let handle =
                Coordinator::start(MemoryStore::new(), monotonic_clock(), CoordinatorSettings::default()).unwrap();
            let spec =
                LedgerSpec { fingerprint: vec![7; 32], records: 20, permutation: PERMUTATION, ..LedgerSpec::default() };
            let request = OpenRequest {
                run: "run".into(),
                stream: "stream".into(),
                spec: Some(spec),
                shard_size: 10,
                worker: "local".into(),
                incarnation: 1,
                ..OpenRequest::default()
            };
            let (worker, opened) = Worker::open(handle.clone(), request).await.unwrap();
            let worker = Arc::new(worker);
            let lease = worker.acquire(1).await.unwrap().leases[0].id;
            let (fates, receiver) = mpsc::unbounded_channel();
            let counts = Arc::new(ReceiptCounts::default());
            let (told, lost) = mpsc::unbounded_channel();
            let tell = move |leases| told.send(leases).unwrap();
            let (note, noted) = mpsc::unbounded_channel();
            let note = move |batch| note.send(batch).unwrap();
            tokio::spawn(forward(worker, receiver, Arc::clone(&counts), tell, note));
            Self { handle, ledger: opened.ledger, lease, fates, counts, lost, noted }
        }

        fn ack(&self, range: std::ops::Range<u64>, urgent: bool) {
            let claim = Claim::new(self.lease, range.start, u32::try_from(range.end - range.start).unwrap());
            let items = vec![receipt(&claim, range.collect::<RecordSum>())];
            self.fates.send(Fate::Acked { items, bad: Vec::new(), urgent }).unwrap();
        }

        async fn flush(&self) {
            let (done, flushed) = oneshot::channel();
            self.fates.send(Fate::Flush(done)).unwrap();
            flushed.await.unwrap();
        }

        async fn delivered(&self) -> u64 {
            let audit = self.handle.call(AuditRequest { ledger: self.ledger.clone(), from_epoch: 0 }).await.unwrap();
            audit.epochs.iter().map(|epoch| epoch.delivered.unwrap_or_default().count).sum()
        }
    }

    #[tokio::test]
    async fn rule_17_a_state_that_waits_for_receipts_has_them_all() {
        let story = Story::begin().await;
        story.ack(0..3, false);
        story.ack(3..5, false);
        story.flush().await;
        assert_eq!(story.delivered().await, 5);
    }

    #[tokio::test]
    async fn rule_17_receipts_reach_the_ledger_without_being_asked_for() {
        let story = Story::begin().await;
        story.ack(0..3, false);
        while story.delivered().await < 3 {
            tokio::task::yield_now().await;
        }
        story.ack(3..10, true);
        while story.delivered().await < 10 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn rule_15_a_receipt_that_came_twice_is_refused_and_counted() {
        let story = Story::begin().await;
        story.ack(0..3, false);
        story.ack(0..3, false);
        story.flush().await;
        assert_eq!(story.delivered().await, 3);
        let refused = story.counts.lost.load(Ordering::Relaxed) + story.counts.invalid.load(Ordering::Relaxed);
        assert_eq!(refused, 1);
    }

    #[tokio::test]
    async fn rule_05_a_lease_that_is_not_this_workers_is_told() {
        let mut story = Story::begin().await;
        let range = Some(Range { start: 0, end: 1 });
        story
            .fates
            .send(Fate::Returned(vec![ReturnedRange { lease: 999, range, ..ReturnedRange::default() }]))
            .unwrap();
        assert_eq!(story.lost.recv().await, Some(vec![999]));
        assert_eq!(story.counts.lost.load(Ordering::Relaxed), 1);
    }

    #[tokio::test]
    async fn rule_15_a_batch_is_noted_when_the_ledger_counts_it_and_behind_what_is_lost() {
        let mut story = Story::begin().await;
        let seen = |lease| vec![seen(&Claim::new(lease, 0, 3))];
        story.fates.send(Fate::Seen { items: seen(story.lease), batch: 5 }).unwrap();
        assert_eq!(story.noted.recv().await, Some(5));
        let audit = story.handle.call(AuditRequest { ledger: story.ledger.clone(), from_epoch: 0 }).await.unwrap();
        assert_eq!(audit.epochs[0].repeats.unwrap().trainer_ended, 3);
        story.fates.send(Fate::Seen { items: seen(999), batch: 6 }).unwrap();
        assert_eq!(story.noted.recv().await, Some(6));
        assert_eq!(story.lost.try_recv().unwrap(), [999]);
    }

    #[tokio::test]
    async fn rule_17_what_came_first_is_handed_in_first() {
        let story = Story::begin().await;
        story.ack(0..3, false);
        let range = Some(Range { start: 3, end: 10 });
        story
            .fates
            .send(Fate::Returned(vec![ReturnedRange { lease: story.lease, range, ..ReturnedRange::default() }]))
            .unwrap();
        story.flush().await;
        assert_eq!(story.delivered().await, 3);
        assert_eq!(story.counts.lost.load(Ordering::Relaxed), 0, "what is given back is still this worker's");
    }
}
