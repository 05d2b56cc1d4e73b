//! Carries what became of records to the ledger: receipts, drops, bad records, positions given back.
//!
//! Receipts are gathered for at most 200 ms, and go at once where somebody waits for an epoch's end (semantics rule
//! 17). Everything goes in the order in which it came.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use forebay_coordinator::CallError;
use forebay_proto::v1::{AckItem, BadRecord, LeasedRange, Verdict};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout_at};

use crate::worker::Worker;

/// What became of some records.
#[derive(Debug)]
pub enum Fate {
    /// Receipts, or drops by policy.
    Acked {
        /// One per range of a lease.
        items: Vec<AckItem>,
        /// Somebody waits for the epoch's end.
        urgent: bool,
    },
    /// A record that cannot be read or decoded.
    Bad(BadRecord),
    /// Positions that nobody saw, or whose trainer gave them back.
    Returned(Vec<LeasedRange>),
    /// Answered when everything before it is durable.
    Flush(oneshot::Sender<()>),
}

/// The writing end; clones write to the same ledger.
pub type Fates = mpsc::UnboundedSender<Fate>;

/// What is counted, for metrics.
#[derive(Debug, Default)]
pub struct Counts {
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

/// Runs until every writing end is dropped and everything has been handed in.
///
/// # Errors
/// The coordinator refused this worker.
pub async fn forward(
    worker: Arc<Worker>,
    mut fates: mpsc::UnboundedReceiver<Fate>,
    counts: Arc<Counts>,
) -> Result<(), CallError> {
    let mut gathered = Gathered::default();
    let mut deadline = None;
    loop {
        let next = match deadline {
            None => fates.recv().await,
            Some(at) => match timeout_at(at, fates.recv()).await {
                Ok(next) => next,
                Err(_elapsed) => {
                    gathered.hand_in(&worker, &counts).await?;
                    deadline = None;
                    continue;
                }
            },
        };
        let Some(fate) = next else {
            return gathered.hand_in(&worker, &counts).await;
        };
        let urgent = gathered.add(fate);
        if urgent || gathered.acks.len() >= MOST {
            gathered.hand_in(&worker, &counts).await?;
            deadline = None;
        } else {
            deadline.get_or_insert_with(|| Instant::now() + GATHER);
        }
    }
}

#[derive(Default)]
struct Gathered {
    acks: Vec<AckItem>,
    bad: Vec<BadRecord>,
    returned: Vec<LeasedRange>,
    waiting: Vec<oneshot::Sender<()>>,
}

impl Gathered {
    /// Takes a fate in. True when it cannot wait.
    fn add(&mut self, fate: Fate) -> bool {
        match fate {
            Fate::Acked { items, urgent } => {
                self.acks.extend(items);
                urgent
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

    async fn hand_in(&mut self, worker: &Worker, counts: &Counts) -> Result<(), CallError> {
        if !self.acks.is_empty() {
            let reply = worker.ack(std::mem::take(&mut self.acks)).await?;
            count("receipts", reply.verdicts(), counts);
        }
        if !self.bad.is_empty() {
            counts.bad.fetch_add(self.bad.len() as u64, Ordering::Relaxed);
            let reply = worker.nack(std::mem::take(&mut self.bad)).await?;
            count("bad records", reply.verdicts(), counts);
        }
        if !self.returned.is_empty() {
            let reply = worker.give_back(std::mem::take(&mut self.returned)).await?;
            count("returned positions", reply.verdicts(), counts);
        }
        for done in self.waiting.drain(..) {
            // Who asked may have gone meanwhile.
            let _gone = done.send(());
        }
        Ok(())
    }
}

fn count(what: &str, verdicts: impl Iterator<Item = Verdict>, counts: &Counts) {
    let (mut lost, mut invalid) = (0, 0);
    for verdict in verdicts {
        match verdict {
            Verdict::Accepted => {}
            Verdict::Lost => lost += 1,
            Verdict::Invalid | Verdict::Unspecified => invalid += 1,
        }
    }
    if lost > 0 {
        counts.lost.fetch_add(lost, Ordering::Relaxed);
        tracing::info!(lost, what, "the leases are not this daemon's any more; the records come again");
    }
    if invalid > 0 {
        counts.invalid.fetch_add(invalid, Ordering::Relaxed);
        tracing::error!(invalid, what, "the ledger refused them: they do not fit their leases");
    }
}
