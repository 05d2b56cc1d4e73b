//! What a trainer hands in from an earlier incarnation of the daemon: receipts for what it consumed, and batches that
//! it still holds (semantics rule 16).

use std::os::fd::OwnedFd;
use std::sync::Arc;

use forebay_ledger_client::CallError;
use forebay_proto::v1::ack_item::Kind;
use forebay_proto::v1::{
    AckItem, AckRequest, Cause, GroupKey, GroupReceipt, LeasedRange, Range, ReclaimRequest, Verdict,
};
use forebay_ring::{BatchId, Bulk, BulkError, Claim, ResumedClaim};
use thiserror::Error;

use crate::consumers::{HeldClaim, ResumedBatch, ranges};
use crate::ledger_client::LedgerClient;
use crate::receipt::group_receipt;
use forebay_threads as threads;

/// What a trainer hands in. It is in the trainer's own sealed memory, and is read part by part, so a long list takes no
/// more memory of the daemon.
#[derive(Clone, Debug, Default)]
pub struct ResumedClaims(Option<Arc<Bulk>>);

/// Why a list is refused.
#[derive(Debug, Error)]
pub enum ResumeError {
    /// It is not sealed, or cannot be read.
    #[error("{0}")]
    Bulk(#[from] BulkError),
    /// It ends within an entry.
    #[error("the list of held batches is incomplete")]
    Cut,
}

/// Bytes of one claim.
const CLAIM: u64 = size_of::<ResumedClaim>() as u64;
/// Claims that are read, and told to the ledger, at once.
const PART: usize = 4096;
/// Longest list: 2,097,152 claims, twice as many as a trainer keeps receipts of.
const LIMIT: u64 = 128 << 20;

impl ResumedClaims {
    /// Takes a list, of which nothing is read yet.
    ///
    /// # Errors
    /// It is not a sealed list of whole entries, or it is too long.
    pub fn accept(list: OwnedFd) -> Result<Self, ResumeError> {
        let list = Bulk::accept(list)?;
        if list.len() > LIMIT {
            return Err(BulkError::TooLong { len: list.len(), limit: LIMIT }.into());
        }
        if !list.len().is_multiple_of(CLAIM) {
            return Err(ResumeError::Cut);
        }
        Ok(Self(Some(Arc::new(list))))
    }

    /// Whether the trainer was not here before the daemon was started.
    pub(crate) fn are_of_a_newcomer(&self) -> bool {
        self.0.is_none()
    }

    /// The claims from this one on, as many as are sent at once. None after the last claim.
    async fn part(&self, first: usize) -> Result<Vec<ResumedClaim>, CallError> {
        let Some(list) = self.0.clone() else { return Ok(Vec::new()) };
        let unreadable =
            |why: String| CallError::Unavailable(format!("The list of held batches cannot be read: {why}."));
        // The kernel may have to bring it back from swap.
        let read = threads::beside("forebay-attach", move || {
            list.read_part(first as u64 * CLAIM, PART * size_of::<ResumedClaim>())
        });
        let bytes = read.await.map_err(|error| unreadable(error.to_string()))?;
        let bytes = bytes.map_err(|error| unreadable(error.to_string()))?;
        Ok(bytes.chunks_exact(size_of::<ResumedClaim>()).map(bytemuck::pod_read_unaligned).collect())
    }

    /// Acks the batches that a trainer of this group has consumed, unless they were leased to others meanwhile, and takes
    /// back those that it holds. Returns the held batches, some of them in parts. If a part of the list fails, the
    /// batches that were taken back before go to others. Otherwise no trainer would hold them, and their epoch would
    /// never end.
    pub(crate) async fn tell(
        &self,
        ledger: &LedgerClient,
        group: Option<&GroupKey>,
    ) -> Result<Vec<ResumedBatch>, CallError> {
        let mut adopted = Vec::new();
        match self.tell_parts(ledger, group, &mut adopted).await {
            Ok(()) => Ok(adopted),
            Err(error) => {
                give_back(adopted, ledger);
                Err(error)
            }
        }
    }

    async fn tell_parts(
        &self,
        ledger: &LedgerClient,
        group: Option<&GroupKey>,
        adopted: &mut Vec<ResumedBatch>,
    ) -> Result<(), CallError> {
        let mut first = 0;
        loop {
            let part = self.part(first).await?;
            if part.is_empty() {
                return Ok(());
            }
            first += part.len();
            tell_part(&part, ledger, group, adopted).await?;
        }
    }
}

/// Batches that were taken back for a trainer which is not let in go to others.
pub(crate) fn give_back(adopted: Vec<ResumedBatch>, ledger: &LedgerClient) {
    let held = adopted.into_iter().flat_map(|resumed| resumed.claims);
    ledger.outcomes().give_back(ranges(held, Cause::TrainerEnded));
}

async fn tell_part(
    part: &[ResumedClaim],
    ledger: &LedgerClient,
    group: Option<&GroupKey>,
    adopted: &mut Vec<ResumedBatch>,
) -> Result<(), CallError> {
    let (held, consumed): (Vec<ResumedClaim>, Vec<ResumedClaim>) =
        part.iter().partition(|resumed_claim| resumed_claim.held != 0);
    if !consumed.is_empty() {
        let items = consumed.iter().map(|resumed_claim| {
            let ResumedClaim { lease, len, bare, sum, .. } = *resumed_claim;
            let range = Some(range(resumed_claim));
            match bare {
                0 => AckItem {
                    lease,
                    range,
                    kind: Kind::Delivered.into(),
                    count: len,
                    sum_high: sum.high,
                    sum_low: sum.low,
                },
                _ => AckItem { lease, range, kind: Kind::Bare.into(), ..AckItem::default() },
            }
        });
        let items: Vec<AckItem> = items.collect();
        let of_group =
            receipts(group, consumed.iter().map(|resumed_claim| resumed_claim.seq).zip(items.iter().copied()));
        let request = AckRequest { items, groups: of_group, resumed: true, ..AckRequest::default() };
        ledger.ack(request).await?;
    }
    if held.is_empty() {
        return Ok(());
    }
    let items = held
        .iter()
        .map(|resumed_claim| LeasedRange { lease: resumed_claim.lease, range: Some(range(resumed_claim)) })
        .collect();
    let held_item = |resumed_claim: &ResumedClaim| {
        let (lease, range, count) = (resumed_claim.lease, Some(range(resumed_claim)), resumed_claim.len);
        (resumed_claim.seq, AckItem { lease, range, count, ..AckItem::default() })
    };
    // No group can miss a part of a batch that has no records.
    let groups = receipts(group, held.iter().filter(|resumed_claim| resumed_claim.bare == 0).map(held_item));
    let reply = ledger.reclaim(ReclaimRequest { items, groups, ..ReclaimRequest::default() }).await?;
    take_back(held.iter().zip(reply.verdicts()), group.is_some(), adopted);
    Ok(())
}

/// Adds claims that a trainer still holds to its batches. The trainer's own number says to which batch a claim belongs.
/// The batch gets `seq` and epoch from its first claim, because batches of two incarnations may have the same `seq`.
fn take_back<'a>(
    held: impl Iterator<Item = (&'a ResumedClaim, Verdict)>,
    is_of_group: bool,
    adopted: &mut Vec<ResumedBatch>,
) {
    for (resumed_claim, verdict) in held {
        let claim =
            claim(resumed_claim).map_or(HeldClaim::Lost, |claim| HeldClaim::reclaimed(claim, verdict, is_of_group));
        let hold = resumed_claim.held.into();
        match adopted.last_mut() {
            Some(last) if last.hold == hold => last.claims.push(claim),
            _ => {
                let batch = BatchId { seq: resumed_claim.seq, epoch: resumed_claim.epoch };
                adopted.push(ResumedBatch { hold, batch, claims: vec![claim] });
            }
        }
    }
}

/// The receipts of a group for these parts of batches. None in `split`.
fn receipts(group: Option<&GroupKey>, items: impl Iterator<Item = (u64, AckItem)>) -> Vec<GroupReceipt> {
    let Some(group) = group else { return Vec::new() };
    items.map(|(batch, item)| group_receipt(group, batch, item)).collect()
}

/// None for more positions than a batch can have.
fn claim(resumed_claim: &ResumedClaim) -> Option<Claim> {
    let ResumedClaim { lease, start, bare, .. } = *resumed_claim;
    let len = u32::try_from(resumed_claim.len).ok()?;
    Some(Claim { bare: u32::from(bare != 0), ..Claim::new(lease, start, len) })
}

fn range(resumed_claim: &ResumedClaim) -> Range {
    Range { start: resumed_claim.start, end: resumed_claim.start.saturating_add(resumed_claim.len) }
}

#[cfg(test)]
mod tests;
