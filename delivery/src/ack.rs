//! Reports the outcome of records to the ledger: receipts, drops, bad records, and returned positions.
//!
//! Receipts are collected for at most 200 ms. They are sent at once if a trainer waits for an epoch's end (semantics
//! rule 17). All reports keep their order.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use forebay_ledger_client::CallError;
use forebay_proto::v1::{
    AckItem, AckRequest, BadRecord, GroupReceipt, GroupShare, LeasedRange, ReturnedRange, Verdict,
};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout_at};

use crate::worker::{LedgerWord, Worker};

/// Receipts of batches, from the table of their claims to the request that carries them.
#[derive(Debug, Default)]
pub struct BatchReceipts {
    /// One for each range of a lease.
    pub items: Vec<AckItem>,
    /// What is wrong with records that the batches were delivered without.
    pub bad: Vec<BadRecord>,
    /// Those of the groups that have consumed them; none in `split`.
    pub groups: Vec<GroupReceipt>,
    /// What groups have consumed of a dead incarnation's batches that another group holds or has consumed.
    pub shared: Vec<GroupReceipt>,
}

/// What became of some records.
#[derive(Debug)]
pub enum Fate {
    /// Receipts, or drops by policy.
    Acked {
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

impl Fate {
    /// Receipts that are not of a batch in a trainer's hands.
    pub fn receipts(items: Vec<AckItem>) -> Self {
        Self::Acked { receipts: BatchReceipts { items, ..BatchReceipts::default() }, urgent: true }
    }

    /// Records that trainers have consumed.
    pub(crate) fn consumed(&self) -> u64 {
        match self {
            Self::Acked { receipts, .. } => receipts.items.iter().map(|item| item.count).sum(),
            _ => 0,
        }
    }
}

impl BatchReceipts {
    fn extend(&mut self, further: Self) {
        let Self { items, bad, groups, shared } = further;
        self.items.extend(items);
        self.bad.extend(bad);
        self.groups.extend(groups);
        self.shared.extend(shared);
    }

    fn len(&self) -> usize {
        self.items.len() + self.bad.len() + self.groups.len() + self.shared.len()
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
pub type Fates = mpsc::UnboundedSender<Fate>;

/// The reading end: reports for the ledger, in order.
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

/// Runs until every writing end is dropped and every report has been sent. The ledger's answers go to `tell`.
///
/// # Errors
/// The coordinator refused this worker.
pub(crate) async fn forward(
    worker: Arc<Worker>,
    mut fates: FateReceiver,
    counts: Arc<ReceiptCounts>,
    tell: impl Fn(LedgerWord),
) -> Result<(), CallError> {
    let mut gathered = Gathered::default();
    let mut deadline = None;
    loop {
        let next = match deadline {
            None => fates.recv().await,
            Some(at) => match timeout_at(at, fates.recv()).await {
                Ok(next) => next,
                Err(_elapsed) => {
                    gathered.hand_in(&worker, &counts, &tell).await?;
                    deadline = None;
                    continue;
                }
            },
        };
        let Some(fate) = next else {
            return gathered.hand_in(&worker, &counts, &tell).await;
        };
        let mut urgent = gathered.add(fate);
        // Reports that wait already go into the same request, so that one commit carries a whole folder of bad files. But
        // reports that come after a question do not change its answer.
        while gathered.len() < MOST
            && gathered.missing.is_empty()
            && let Ok(fate) = fates.try_recv()
        {
            urgent |= gathered.add(fate);
        }
        if urgent || gathered.len() >= MOST {
            gathered.hand_in(&worker, &counts, &tell).await?;
            deadline = None;
        } else {
            deadline.get_or_insert_with(|| Instant::now() + GATHER);
        }
    }
}

#[derive(Default)]
struct Gathered {
    receipts: BatchReceipts,
    shares: Vec<GroupShare>,
    /// Groups to ask about.
    missing: Vec<String>,
    /// Names of groups; one that is in both has ended first.
    began: Vec<String>,
    ended: Vec<String>,
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
        self.receipts.len() + self.shares.len() + self.bad.len() + self.returned.len()
    }

    /// Takes a fate in. True when it cannot wait.
    fn add(&mut self, fate: Fate) -> bool {
        match fate {
            Fate::Acked { receipts, urgent } => {
                self.receipts.extend(receipts);
                urgent
            }
            Fate::Shared(shares) => {
                self.shares.extend(shares);
                false
            }
            Fate::GroupBegan(name) => {
                self.began.push(name);
                false
            }
            Fate::GroupEnded(name) => {
                self.began.retain(|began| *began != name);
                for share in &mut self.shares {
                    share.waiting.retain(|waits| *waits != name);
                }
                self.ended.push(name);
                false
            }
            Fate::Missing(names) => {
                self.missing.extend(names);
                true
            }
            Fate::Seen { items, batch } => {
                self.receipts.items.extend(items);
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
        tell: &impl Fn(LedgerWord),
    ) -> Result<(), CallError> {
        let mut gone = Vec::new();
        let says_nothing =
            self.receipts.items.is_empty() && self.shares.is_empty() && self.began.is_empty() && self.ended.is_empty();
        if !says_nothing {
            let BatchReceipts { items, bad, groups, .. } = &mut self.receipts;
            let leases: Vec<u64> = items.iter().map(|item| item.lease).collect();
            counts.bad.fetch_add(bad.len() as u64, Ordering::Relaxed);
            let receipts = AckRequest {
                items: std::mem::take(items),
                bad: std::mem::take(bad),
                groups: std::mem::take(groups),
                shares: std::mem::take(&mut self.shares),
                began: std::mem::take(&mut self.began),
                ended: std::mem::take(&mut self.ended),
                ..AckRequest::default()
            };
            let reply = worker.ack(receipts).await?;
            gone.extend(lost_leases("receipts", leases.into_iter().zip(reply.verdicts())));
        }
        if !self.receipts.shared.is_empty() {
            let groups = std::mem::take(&mut self.receipts.shared);
            let items = groups.iter().filter_map(|receipt| receipt.item).collect();
            // The trainer that holds the batch, or the group that consumed it, answers for it. So the verdicts do not
            // matter here.
            worker.ack(AckRequest { items, groups, hand_in: true, ..AckRequest::default() }).await?;
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
            tell(LedgerWord::Lost(gone));
        }
        if !self.missing.is_empty() {
            // After all reports that came before the question.
            let asked = std::mem::take(&mut self.missing);
            let reply = worker.ack(AckRequest { missing: asked.clone(), ..AckRequest::default() }).await?;
            tell(LedgerWord::Missed { asked, missed: reply.missed });
        }
        // After the lost leases, whose batches must not be offered again. Refused reports are confirmed as well: no later
        // answer comes for their batches, which would hold up the end of their epoch forever.
        self.seen.drain(..).for_each(|batch| tell(LedgerWord::Noted(batch)));
        for done in self.waiting.drain(..) {
            // The caller may have gone meanwhile.
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
mod tests;
