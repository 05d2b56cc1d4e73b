//! Reports the outcome of records to the ledger: receipts, drops, bad records, and returned positions.
//!
//! Receipts are collected for at most 200 ms. They are sent at once if a trainer waits for an epoch's end (semantics
//! rule 17). All reports keep their order.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use forebay_coordinator::CallError;
use forebay_proto::v1::{AckItem, BadRecord, LeasedRange, ReturnedRange, Verdict};
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
    /// All that this daemon has of an epoch stands in published batches, but for what is given up.
    Settled(SettledEpoch),
    /// Answered when everything before it is durable.
    Flush(oneshot::Sender<()>),
}

/// What a daemon says when it has made all batches of an epoch that it can fill (semantics rule 36).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SettledEpoch {
    /// The epoch.
    pub epoch: u64,
    /// The last lease of it that was read.
    pub last_lease: u64,
    /// What fills no batch.
    pub tail: Vec<LeasedRange>,
}

/// The writing end; clones write to the same ledger.
pub(crate) type Fates = mpsc::UnboundedSender<Fate>;

/// The reading end: what is to be told to the ledger, in order.
pub(crate) type FateReceiver = mpsc::UnboundedReceiver<Fate>;

/// What is counted, for metrics.
#[derive(Debug, Default)]
pub(crate) struct ReceiptCounts {
    /// Bad records.
    pub bad: AtomicU64,
}

/// Longest time that a receipt waits for others.
const GATHER: Duration = Duration::from_millis(200);
/// Receipts in one request.
const MOST: usize = 4096;

/// Runs until every writing end is dropped and everything has been handed in. Leases that turn out to be somebody
/// else's are told to `lost`. Batches are told to `noted` when the ledger has answered that somebody may have
/// [seen](Fate::Seen) them, also where it refused that.
///
/// # Errors
/// The coordinator refused this worker.
pub(crate) async fn forward(
    worker: Arc<Worker>,
    mut fates: FateReceiver,
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
    settled: Vec<SettledEpoch>,
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
            Fate::Settled(settled) => {
                self.settled.push(settled);
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
            gone.extend(lost_leases("receipts", leases.into_iter().zip(reply.verdicts())));
        }
        if !self.bad.is_empty() {
            counts.bad.fetch_add(self.bad.len() as u64, Ordering::Relaxed);
            let leases: Vec<u64> = self.bad.iter().map(|record| record.lease).collect();
            let reply = worker.nack(std::mem::take(&mut self.bad)).await?;
            gone.extend(lost_leases("bad records", leases.into_iter().zip(reply.verdicts())));
        }
        if !self.returned.is_empty() {
            let leases: Vec<u64> = self.returned.iter().map(|item| item.lease).collect();
            let reply = worker.give_back(std::mem::take(&mut self.returned)).await?;
            gone.extend(lost_leases("returned positions", leases.into_iter().zip(reply.verdicts())));
        }
        for SettledEpoch { epoch, last_lease, tail } in self.settled.drain(..) {
            let leases: Vec<u64> = tail.iter().map(|range| range.lease).collect();
            let reply = worker.settle(epoch, last_lease, tail).await?;
            gone.extend(lost_leases("tails", leases.into_iter().zip(reply.verdicts())));
        }
        if !gone.is_empty() {
            lost(gone);
        }
        // Behind what is lost, which is not to be offered again. One that was refused is noted as well: no later answer comes
        // that its batch could wait for, and it would hold up its epoch's end for ever.
        self.seen.drain(..).for_each(noted);
        for done in self.waiting.drain(..) {
            // Who asked may have gone meanwhile.
            let _gone = done.send(());
        }
        Ok(())
    }
}

/// The leases that are lost, by the verdicts. The log has what was refused.
fn lost_leases(what: &str, verdicts: impl Iterator<Item = (u64, Verdict)>) -> Vec<u64> {
    let (mut lost, mut invalid) = (Vec::new(), 0);
    for (lease, verdict) in verdicts {
        match verdict {
            Verdict::Accepted => {}
            Verdict::Lost => lost.push(lease),
            Verdict::Invalid | Verdict::Unspecified => invalid += 1,
        }
    }
    if !lost.is_empty() {
        tracing::info!(
            lost = lost.len(),
            what,
            "the leases are no longer this daemon's; the records are delivered again"
        );
    }
    if invalid > 0 {
        tracing::error!(invalid, what, "the ledger refused them: they do not fit their leases");
    }
    lost
}

#[cfg(test)]
mod tests {
    use forebay_coordinator::{Coordinator, CoordinatorSettings, Handle, MemoryStore, PERMUTATION, monotonic_clock};
    use forebay_proto::RecordSum;
    use forebay_proto::v1::{AuditRequest, EpochTally, LedgerSpec, OpenRequest, Range};
    use forebay_ring::Claim;

    use super::*;
    use crate::receipt::{receipt, seen};

    /// A ledger of twenty records in leases of ten, with the first one out.
    struct Story {
        handle: Handle,
        ledger: String,
        lease: u64,
        fates: Fates,
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
            let (worker, _leases, opened) = Worker::open(handle.clone(), request, false).await.unwrap();
            let worker = Arc::new(worker);
            let lease = worker.acquire(1, 0).await.unwrap().leases[0].id;
            let (fates, receiver) = mpsc::unbounded_channel();
            let (told, lost) = mpsc::unbounded_channel();
            let tell = move |leases| told.send(leases).unwrap();
            let (note, noted) = mpsc::unbounded_channel();
            let note = move |batch| note.send(batch).unwrap();
            tokio::spawn(forward(worker, receiver, Arc::default(), tell, note));
            Self { handle, ledger: opened.ledger, lease, fates, lost, noted }
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

        fn seen(&self, lease: u64, range: std::ops::Range<u64>, batch: u64) {
            let claim = Claim::new(lease, range.start, u32::try_from(range.end - range.start).unwrap());
            self.fates.send(Fate::Seen { items: vec![seen(&claim)], batch }).unwrap();
        }

        async fn epochs(&self) -> Vec<EpochTally> {
            self.handle.call(AuditRequest { ledger: self.ledger.clone(), from_epoch: 0 }).await.unwrap().epochs
        }

        async fn delivered(&self) -> u64 {
            self.epochs().await.iter().map(|epoch| epoch.delivered.unwrap_or_default().count).sum()
        }

        async fn counted_as_seen(&self) -> u64 {
            self.epochs().await.iter().map(|epoch| epoch.repeats.unwrap_or_default().trainer_ended).sum()
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
    async fn rule_15_a_receipt_that_came_twice_counts_once() {
        let story = Story::begin().await;
        story.ack(0..3, false);
        story.ack(0..3, false);
        story.flush().await;
        assert_eq!(story.delivered().await, 3);
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
    }

    #[tokio::test]
    async fn rule_15_a_batch_is_noted_when_the_ledger_counts_it_and_behind_what_is_lost() {
        let mut story = Story::begin().await;
        story.seen(story.lease, 0..3, 5);
        assert_eq!(story.noted.recv().await, Some(5));
        assert_eq!(story.counted_as_seen().await, 3);
        story.seen(999, 0..3, 6);
        assert_eq!(story.noted.recv().await, Some(6));
        assert_eq!(story.lost.try_recv().unwrap(), [999]);
    }

    #[tokio::test]
    async fn rule_15_a_batch_does_not_wait_for_a_receipt_that_fits_no_lease() {
        let mut story = Story::begin().await;
        story.seen(story.lease, 0..3, 5);
        story.seen(story.lease, 8..11, 6);
        assert_eq!([story.noted.recv().await, story.noted.recv().await], [Some(5), Some(6)]);
        assert_eq!(story.counted_as_seen().await, 3, "the lease has ten positions");
        story.lost.try_recv().expect_err("the lease is this worker's still");
    }

    #[tokio::test]
    async fn rule_17_what_came_first_is_handed_in_first() {
        let mut story = Story::begin().await;
        story.ack(0..3, false);
        let range = Some(Range { start: 3, end: 10 });
        story
            .fates
            .send(Fate::Returned(vec![ReturnedRange { lease: story.lease, range, ..ReturnedRange::default() }]))
            .unwrap();
        story.flush().await;
        assert_eq!(story.delivered().await, 3);
        story.lost.try_recv().expect_err("what is given back is still this worker's");
    }
}
