//! What a trainer hands in from an earlier incarnation of the daemon: receipts for what it consumed, and batches that
//! it still holds (semantics rule 16).

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use forebay_ledger_client::CallError;
use forebay_proto::v1::{AckItem, AckRequest, Cause, GroupKey, GroupReceipt, ReclaimRequest, Verdict};
use forebay_ring::{BatchId, Bulk, BulkError, Claim, ResumedClaim};
use thiserror::Error;

use crate::consumers::{HeldClaim, ResumedBatch, ranges};
use crate::lease_range::LeaseRange;
use crate::ledger_client::LedgerClient;
use crate::receipt::group_receipt;
use crate::step_length::StepLength;
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
            let part = whole_batches(&part);
            first += part.len();
            tell_part(part, ledger, group, adopted).await?;
        }
    }
}

/// The claims of a part without those of its last batch, which may go on in the next part. A batch with more claims than a part has
/// is told in several: where it is a step of a class, the ledger then refuses it, and it is made again.
fn whole_batches(part: &[ResumedClaim]) -> &[ResumedClaim] {
    let last = part.chunk_by(is_of_one_batch).last().map_or(0, <[ResumedClaim]>::len);
    if part.len() < PART || last == part.len() { part } else { &part[..part.len() - last] }
}

/// Batches that were taken back for a trainer which is not let in go to others.
pub(crate) fn give_back(adopted: Vec<ResumedBatch>, ledger: &LedgerClient) {
    let held = adopted.into_iter().flat_map(|resumed| resumed.claims);
    ledger.outcomes().give_back(ranges(ledger.opened().steps, held, Cause::TrainerEnded));
}

async fn tell_part(
    part: &[ResumedClaim],
    ledger: &LedgerClient,
    group: Option<&GroupKey>,
    adopted: &mut Vec<ResumedBatch>,
) -> Result<(), CallError> {
    let (held, consumed): (Vec<ResumedClaim>, Vec<ResumedClaim>) =
        part.iter().partition(|resumed_claim| resumed_claim.held != 0);
    let steps = ledger.opened().steps;
    if !consumed.is_empty() {
        let ranges = ranges_of_batches(&consumed, steps);
        let items: Vec<AckItem> = ranges.iter().map(|(_, range)| range.receipt()).collect();
        let of_group = receipts(group, ranges.iter().map(|(seq, _)| *seq).zip(items.iter().copied()));
        let bare = ranges.iter().flat_map(|(_, range)| range.unseen()).collect();
        let request = AckRequest { items, groups: of_group, bare, resumed: true, ..AckRequest::default() };
        ledger.ack(request).await?;
    }
    if held.is_empty() {
        return Ok(());
    }
    let ranges = ranges_of_batches(&held, steps);
    let items = ranges.iter().map(|(_, range)| range.held()).collect();
    let held_item = |(seq, range): &(u64, LeaseRange)| {
        (*seq, AckItem { lease: range.lease, range: Some(range.range()), count: range.sum.count, ..AckItem::default() })
    };
    // No group can miss a part of a batch that has no records.
    let groups = receipts(group, ranges.iter().filter(|(_, range)| !range.is_bare).map(held_item));
    let reply = ledger.reclaim(ReclaimRequest { items, groups, ..ReclaimRequest::default() }).await?;
    let verdicts = Verdicts::of(ranges.iter().map(|(_, range)| range).zip(reply.verdicts()));
    take_back(held.iter().map(|claim| (claim, verdicts.on(claim))), group.is_some(), adopted);
    Ok(())
}

/// What the claims of batches cover, with the number of each batch. Where steps have classes, those are whole steps.
fn ranges_of_batches(claims: &[ResumedClaim], steps: StepLength) -> Vec<(u64, LeaseRange)> {
    let of_batch = |batch: &[ResumedClaim]| {
        let seq = batch[0].seq;
        steps.put_together(batch.iter().map(LeaseRange::resumed)).into_iter().map(move |range| (seq, range))
    };
    claims.chunk_by(is_of_one_batch).flat_map(of_batch).collect()
}

fn is_of_one_batch(one: &ResumedClaim, next: &ResumedClaim) -> bool {
    (one.held, one.epoch, one.seq) == (next.held, next.epoch, next.seq)
}

/// What the ledger says of ranges that trainers hold, by their leases and starts.
struct Verdicts(BTreeMap<(u64, u64), Verdict>);

impl Verdicts {
    fn of<'a>(verdicts: impl Iterator<Item = (&'a LeaseRange, Verdict)>) -> Self {
        Self(verdicts.map(|(range, verdict)| ((range.lease, range.start), verdict)).collect())
    }

    /// The verdict on the range that a claim is in.
    fn on(&self, claim: &ResumedClaim) -> Verdict {
        let before = self.0.range((claim.lease, 0)..=(claim.lease, claim.start));
        before.last().map_or(Verdict::Invalid, |(_, verdict)| *verdict)
    }
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

#[cfg(test)]
mod tests;
