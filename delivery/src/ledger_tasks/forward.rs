//! Hands the outcomes of records in to the ledger, several in one request.
//!
//! Receipts are collected for at most 200 ms. They are sent at once if a trainer waits for an epoch's end (semantics
//! rule 17).

use std::time::Duration;

use forebay_ledger_client::CallError;
use forebay_proto::v1::{AckRequest, BadRecord, GroupShare, ReturnedRange, Verdict};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use crate::ledger_client::LedgerClient;
use crate::ledger_event::LedgerEvent;
use crate::outcomes::{BatchReceipts, DeliveryOutcome, OutcomeReceiver, SettledEpoch};

/// Longest time that a receipt waits for others.
const GATHER: Duration = Duration::from_millis(200);
/// Receipts in one request.
const MOST: usize = 4096;

/// Runs until every writing end is dropped and every report has been sent. The ring's thread is told the ledger's answers.
///
/// # Errors
/// The coordinator refused this worker.
pub(crate) async fn forward(ledger: &LedgerClient, mut outcomes: OutcomeReceiver) -> Result<(), CallError> {
    let mut pending = PendingOutcomes::default();
    let mut deadline = None;
    loop {
        let next = match deadline {
            None => outcomes.recv().await,
            Some(at) => match timeout_at(at, outcomes.recv()).await {
                Ok(next) => next,
                Err(_elapsed) => {
                    pending.send(ledger).await?;
                    deadline = None;
                    continue;
                }
            },
        };
        let Some(outcome) = next else {
            return pending.send(ledger).await;
        };
        let mut urgent = pending.add(outcome);
        // Reports that wait already go into the same request, so that one commit carries a whole folder of bad files. But
        // reports that come after a question do not change its answer.
        while pending.len() < MOST
            && pending.missing.is_empty()
            && let Ok(outcome) = outcomes.try_recv()
        {
            urgent |= pending.add(outcome);
        }
        if urgent || pending.len() >= MOST {
            pending.send(ledger).await?;
            deadline = None;
        } else {
            deadline.get_or_insert_with(|| Instant::now() + GATHER);
        }
    }
}

#[derive(Default)]
struct PendingOutcomes {
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

impl PendingOutcomes {
    /// Receipts, bad records and ranges together.
    fn len(&self) -> usize {
        self.receipts.len() + self.shares.len() + self.bad.len() + self.returned.len()
    }

    /// Takes an outcome in. True when it cannot wait.
    fn add(&mut self, outcome: DeliveryOutcome) -> bool {
        match outcome {
            DeliveryOutcome::Receipts { receipts, urgent } => {
                self.receipts.extend(receipts);
                urgent
            }
            DeliveryOutcome::Shared(shares) => {
                self.shares.extend(shares);
                false
            }
            DeliveryOutcome::GroupBegan(name) => {
                self.began.push(name);
                false
            }
            DeliveryOutcome::GroupEnded(name) => {
                self.began.retain(|began| *began != name);
                for share in &mut self.shares {
                    share.waiting.retain(|waits| *waits != name);
                }
                self.ended.push(name);
                false
            }
            DeliveryOutcome::Missing(names) => {
                self.missing.extend(names);
                true
            }
            DeliveryOutcome::Seen { items, batch } => {
                self.receipts.items.extend(items);
                self.seen.push(batch);
                true
            }
            DeliveryOutcome::Bad(record) => {
                self.bad.push(record);
                // The next file may be the last of the epoch: an epoch of bad records must end as well.
                true
            }
            DeliveryOutcome::Returned(items) => {
                self.returned.extend(items);
                true
            }
            DeliveryOutcome::Settled(settled) => {
                self.settled.push(settled);
                true
            }
            DeliveryOutcome::Flush(done) => {
                self.waiting.push(done);
                true
            }
        }
    }

    /// Sends it all, in the order in which the ledger must hear of it.
    async fn send(&mut self, ledger: &LedgerClient) -> Result<(), CallError> {
        let mut gone = Vec::new();
        let bare = std::mem::take(&mut self.receipts.bare);
        let says_nothing =
            self.receipts.items.is_empty() && self.shares.is_empty() && self.began.is_empty() && self.ended.is_empty();
        if !says_nothing {
            let BatchReceipts { items, bad, groups, .. } = &mut self.receipts;
            let leases: Vec<u64> = items.iter().map(|item| item.lease).collect();
            ledger.outcomes().count_bad(bad.len());
            let receipts = AckRequest {
                items: std::mem::take(items),
                bad: std::mem::take(bad),
                bare: bare.clone(),
                groups: std::mem::take(groups),
                shares: std::mem::take(&mut self.shares),
                began: std::mem::take(&mut self.began),
                ended: std::mem::take(&mut self.ended),
                ..AckRequest::default()
            };
            let reply = ledger.ack(receipts).await?;
            gone.extend(lost_leases("receipts", leases.into_iter().zip(reply.verdicts())));
        }
        if !self.receipts.shared.is_empty() {
            let groups = std::mem::take(&mut self.receipts.shared);
            let items = groups.iter().filter_map(|receipt| receipt.item).collect();
            // The trainer that holds the batch, or the group that consumed it, answers for it. So the verdicts do not
            // matter here.
            ledger.ack(AckRequest { items, groups, bare, resumed: true, ..AckRequest::default() }).await?;
        }
        if !self.bad.is_empty() {
            ledger.outcomes().count_bad(self.bad.len());
            let leases: Vec<u64> = self.bad.iter().map(|record| record.lease).collect();
            let reply = ledger.nack(std::mem::take(&mut self.bad)).await?;
            gone.extend(lost_leases("bad records", leases.into_iter().zip(reply.verdicts())));
        }
        if !self.returned.is_empty() {
            let leases: Vec<u64> = self.returned.iter().map(|item| item.lease).collect();
            let reply = ledger.give_back(std::mem::take(&mut self.returned)).await?;
            gone.extend(lost_leases("returned positions", leases.into_iter().zip(reply.verdicts())));
        }
        for SettledEpoch { epoch, last_lease, tail } in self.settled.drain(..) {
            let leases: Vec<u64> = tail.iter().map(|range| range.lease).collect();
            let reply = ledger.settle(epoch, last_lease, tail).await?;
            gone.extend(lost_leases("tails", leases.into_iter().zip(reply.verdicts())));
        }
        if !gone.is_empty() {
            ledger.updates().tell(LedgerEvent::Lost(gone));
        }
        if !self.missing.is_empty() {
            // After all reports that came before the question.
            let asked = std::mem::take(&mut self.missing);
            let reply = ledger.ack(AckRequest { missing: asked.clone(), ..AckRequest::default() }).await?;
            ledger.updates().tell(LedgerEvent::Missed { asked, missed: reply.missed });
        }
        // After the lost leases, whose batches must not be offered again. Refused reports are confirmed as well: no later
        // answer comes for their batches, which would hold up the end of their epoch forever.
        self.seen.drain(..).for_each(|batch| ledger.updates().tell(LedgerEvent::Noted(batch)));
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
            "the ledger refused reports: this daemon has their leases no longer, and the records are delivered again"
        );
    }
    if invalid > 0 {
        tracing::error!(invalid, what, "the ledger refused them: they do not fit their leases");
    }
    lost
}

#[cfg(test)]
mod tests;
