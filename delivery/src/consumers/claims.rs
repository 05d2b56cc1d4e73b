//! The ack table: the claims of published batches until they are acknowledged.

use std::collections::{BTreeMap, HashMap};

use forebay_proto::RecordSum;
use forebay_proto::v1::{AckItem, BadRecord, Cause, GroupKey, GroupReceipt, LeasedRange, ReturnedRange};
use forebay_ring::{Ack, Adopted, Claim, ClaimSum, ConsumerId, HeldBatch, PictureSize};

use super::held_claim::{HeldClaim, ResumedBatch};
use crate::handover::FinishedBatch;
use crate::lease_range::LeaseRange;
use crate::outcomes::BatchReceipts;
use crate::receipt::group_receipt;
use crate::step_length::StepLength;

/// The table.
#[derive(Debug, Default)]
pub(super) struct Claims {
    /// What is told to the ledger together.
    steps: StepLength,
    published: HashMap<u64, BatchClaims>,
    /// By the consumer's own number of each.
    adopted: BTreeMap<(ConsumerId, u64), BatchClaims>,
}

/// One batch.
#[derive(Debug)]
pub(super) struct BatchClaims {
    /// Epoch of its records.
    pub(super) epoch: u64,
    /// Places that the user sees.
    pub(super) shown: u32,
    /// Places that are the epoch's own records.
    pub(super) valid: u32,
    /// Height and width of its pictures, if they have a size of their own.
    pub(super) size: Option<PictureSize>,
    /// When it was ready.
    pub(super) ready: u64,
    /// In the order of the sums in its receipts.
    claims: Vec<HeldClaim>,
    /// Bad records that it is delivered without.
    bad: Vec<BadRecord>,
    /// It was recalled for trainers of other daemons, unless a trainer here has it.
    recalled: bool,
    /// Parts of receipts, by whom.
    parts: BTreeMap<ConsumerId, Vec<RecordSum>>,
    /// The sums of the first whole receipt, and the differences of further ones.
    sums: Option<Vec<RecordSum>>,
    /// The groups that have consumed it, as the ledger knows them, with the sums of each.
    consumed: Vec<(GroupKey, Vec<RecordSum>)>,
}

/// How far a batch's receipts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Receipts {
    /// More packets follow.
    Partial,
    /// All are there.
    Whole,
    /// All are there, and they differ from those of another group.
    Differ,
    /// They do not fit.
    Wrong,
}

impl Claims {
    /// No batch yet, of a stream with steps of this length.
    pub(super) fn of_steps(steps: StepLength) -> Self {
        Self { steps, ..Self::default() }
    }

    /// A batch was published.
    pub(super) fn published(&mut self, seq: u64, entry: BatchClaims) {
        self.published.insert(seq, entry);
    }

    /// A consumer came with a batch of an earlier incarnation.
    pub(super) fn adopted(&mut self, consumer: ConsumerId, resumed_batch: ResumedBatch) {
        let ResumedBatch { hold, batch, claims } = resumed_batch;
        let none = || BatchClaims::of(batch.epoch, &[]);
        // A batch may be told in several parts.
        self.adopted.entry((consumer, hold)).or_insert_with(none).claims.extend(claims);
    }

    /// Forgets every batch, so that late receipts of them have no effect. Returns the ranges of batches from this epoch
    /// on.
    pub(super) fn clear(&mut self, from: u64) -> Vec<ReturnedRange> {
        let published = std::mem::take(&mut self.published).into_values();
        let all = published.chain(std::mem::take(&mut self.adopted).into_values());
        all.filter(|entry| entry.epoch >= from).flat_map(|entry| self.back(entry, Cause::Unseen)).collect()
    }

    /// A published batch.
    pub(super) fn get(&self, seq: u64) -> Option<&BatchClaims> {
        self.published.get(&seq)
    }

    /// Batches of the epoch, published or adopted, that are not acked.
    pub(super) fn undelivered(&self, epoch: u64) -> usize {
        self.published_in(epoch) + self.adopted.values().filter(|entry| entry.epoch == epoch).count()
    }

    /// Published batches of the epoch that are not acked, whether or not a trainer holds them.
    fn published_in(&self, epoch: u64) -> usize {
        self.published.values().filter(|entry| entry.epoch == epoch).count()
    }

    /// Takes the sums of one ACK packet. The consumer holds the batch, for this group.
    pub(super) fn sums(
        &mut self,
        consumer: ConsumerId,
        group: Option<&GroupKey>,
        ack: &Ack,
        sums: &[ClaimSum],
    ) -> Receipts {
        let entry = match HeldBatch::from(ack).hold() {
            Some(hold) => self.adopted.get_mut(&(consumer, hold)),
            None => self.published.get_mut(&ack.seq),
        };
        // A held batch that is unknown here was fenced by a restore, so its receipt has no effect.
        entry.map_or(Receipts::Whole, |entry| entry.take(consumer, group, ack, sums))
    }

    /// A consumer has left, so the parts of its receipts are dropped.
    pub(super) fn left(&mut self, consumer: ConsumerId) {
        for entry in self.published.values_mut() {
            entry.parts.remove(&consumer);
        }
    }

    /// Published batches that have a claim on one of these leases.
    pub(super) fn of_leases(&self, leases: &[u64]) -> Vec<u64> {
        let has = |entry: &BatchClaims| entry.leased().any(|claim| leases.contains(&claim.lease));
        self.published.iter().filter(|(_, entry)| has(entry)).map(|(seq, _)| *seq).collect()
    }

    /// Published batches of an epoch that were ready before this moment, each once.
    pub(super) fn recall(&mut self, epoch: u64, ready_before: u64) -> Vec<u64> {
        let is_meant = |entry: &BatchClaims| entry.epoch == epoch && entry.ready < ready_before && !entry.recalled;
        let meant = self.published.iter_mut().filter(|(_, entry)| is_meant(entry));
        let mut batches: Vec<u64> = meant
            .map(|(seq, entry)| {
                entry.recalled = true;
                *seq
            })
            .collect();
        batches.sort_unstable();
        batches
    }

    /// This daemon has lost these leases. No trainer gets the batch, and it gives back nothing of them.
    pub(super) fn lose(&mut self, seq: u64, leases: &[u64]) {
        if let Some(entry) = self.published.get_mut(&seq) {
            entry.claims.retain(|claim| claim.leased().is_some_and(|claim| !leases.contains(&claim.lease)));
        }
    }

    /// The receipts of an acked batch.
    pub(super) fn acked(&mut self, seq: u64) -> BatchReceipts {
        let receipts = self.published.remove(&seq).map(|entry| entry.receipts(seq, self.steps)).unwrap_or_default();
        // It is known which of its records are bad.
        BatchReceipts { bare: Vec::new(), ..receipts }
    }

    /// What this group has consumed of a published batch.
    pub(super) fn consumed_by(&self, group: &GroupKey, seq: u64) -> Vec<GroupReceipt> {
        let Some(entry) = self.published.get(&seq) else { return Vec::new() };
        let consumed = entry.consumed.iter().find(|(known, _)| known == group);
        consumed.map(|(_, sums)| group_receipts(group, seq, self.steps, entry.with_sums(sums))).unwrap_or_default()
    }

    /// For the ledger: the records of a published batch that a trainer may have seen before it ended without an ACK.
    pub(super) fn seen(&self, seq: u64) -> Vec<AckItem> {
        let claims = self.published.get(&seq).into_iter().flat_map(BatchClaims::leased);
        let ranges = self.steps.put_together(claims.map(|claim| LeaseRange::of(&claim, RecordSum::default())));
        ranges.iter().filter(|range| !range.is_bare).map(LeaseRange::seen).collect()
    }

    /// The receipts of an acked batch that was adopted. It is not known which of its records are bad.
    pub(super) fn adopted_acked(&mut self, adopted: Adopted) -> BatchReceipts {
        let Adopted { consumer, hold, batch } = adopted;
        let entry = self.adopted.remove(&(consumer, hold));
        entry.map(|entry| entry.receipts(batch.seq, self.steps)).unwrap_or_default()
    }

    /// The ranges that a dropped batch gives back, with how a trainer may have seen them.
    pub(super) fn dropped(&mut self, seq: u64, cause: Cause) -> Vec<ReturnedRange> {
        self.published.remove(&seq).map(|entry| self.back(entry, cause)).unwrap_or_default()
    }

    /// The ranges that a batch gives back, with how a trainer may have seen them.
    pub(super) fn back(&self, entry: BatchClaims, cause: Cause) -> Vec<ReturnedRange> {
        ranges(self.steps, entry.claims, cause)
    }

    /// The ranges that an adopted batch gives back when it is returned, or when its consumer is gone.
    pub(super) fn orphaned(&mut self, adopted: Adopted, cause: Cause) -> Vec<ReturnedRange> {
        let entry = self.adopted.remove(&(adopted.consumer, adopted.hold));
        entry.map(|entry| self.let_go(entry.claims, cause)).unwrap_or_default()
    }

    /// The ranges that a trainer gives back for the claims that it held. If a trainer of another group has a claim in its
    /// hands too, that trainer holds it from now on instead.
    pub(super) fn let_go(&mut self, claims: impl IntoIterator<Item = HeldClaim>, cause: Cause) -> Vec<ReturnedRange> {
        let leased = claims.into_iter().filter_map(HeldClaim::leased);
        let left: Vec<HeldClaim> = leased.filter(|claim| !self.pass_on(*claim)).map(HeldClaim::Leased).collect();
        ranges(self.steps, left, cause)
    }

    fn pass_on(&mut self, claim: Claim) -> bool {
        let held = self.adopted.values_mut().flat_map(|entry| &mut entry.claims);
        let heir = held.into_iter().find(|held| **held == HeldClaim::Shared(claim));
        heir.map(|heir| *heir = HeldClaim::Leased(claim)).is_some()
    }

    /// Whether the consumer has something in its hands that another group holds or has consumed.
    pub(super) fn has_shared(&self, consumer: ConsumerId) -> bool {
        let mut own = self.adopted.range((consumer, 0)..=(consumer, u64::MAX));
        own.any(|(_, entry)| entry.claims.iter().any(|claim| claim.shared().is_some_and(|claim| !claim.is_bare())))
    }
}

impl BatchClaims {
    /// Of a batch that is ready.
    pub(super) fn new(ready: &mut FinishedBatch) -> Self {
        let FinishedBatch { epoch, shown, valid, time, .. } = *ready;
        let bad = std::mem::take(&mut ready.bad);
        let size = ready.slot.size();
        Self { shown, valid, size, ready: time, bad, ..Self::of(epoch, &std::mem::take(&mut ready.claims)) }
    }

    /// Of the daemon's own claims.
    pub(super) fn of(epoch: u64, claims: &[Claim]) -> Self {
        Self {
            epoch,
            shown: 0,
            valid: 0,
            size: None,
            ready: 0,
            claims: claims.iter().copied().map(HeldClaim::Leased).collect(),
            bad: Vec::new(),
            recalled: false,
            parts: BTreeMap::new(),
            sums: None,
            consumed: Vec::new(),
        }
    }

    /// Number of claims, as an offer says it.
    pub(super) fn len(&self) -> u32 {
        u32::try_from(self.claims.len()).unwrap_or(u32::MAX)
    }

    fn leased(&self) -> impl Iterator<Item = Claim> {
        self.claims.iter().filter_map(|claim| claim.leased())
    }

    fn take(&mut self, consumer: ConsumerId, group: Option<&GroupKey>, ack: &Ack, sums: &[ClaimSum]) -> Receipts {
        // Parts of another holder's receipt do not count: it died in the middle, or is of another group.
        let mut known = self.parts.remove(&consumer).filter(|_| ack.first > 0).unwrap_or_default();
        if ack.first as usize != known.len() || known.len() + sums.len() > self.claims.len() {
            return Receipts::Wrong;
        }
        for sum in sums {
            let count = self.claims[known.len()].places();
            known.push(RecordSum::from_halves(count, sum.high, sum.low));
        }
        match (ack.last == 1, known.len() == self.claims.len()) {
            (true, true) => {
                self.consumed.extend(group.map(|group| (group.clone(), known.clone())));
                self.whole(known)
            }
            (false, false) => {
                self.parts.insert(consumer, known);
                Receipts::Partial
            }
            _ => Receipts::Wrong,
        }
    }

    /// Takes a group's receipt. If it differs from another group's, one of them saw other records, but it is not known
    /// which. Then the ledger gets neither receipt. It gets the first one plus the difference, so that the audit does not
    /// add up.
    fn whole(&mut self, sums: Vec<RecordSum>) -> Receipts {
        let Some(first) = &mut self.sums else {
            self.sums = Some(sums);
            return Receipts::Whole;
        };
        if *first == sums {
            return Receipts::Whole;
        }
        for (first, other) in first.iter_mut().zip(sums) {
            first.sum = first.sum.wrapping_add(first.sum.wrapping_sub(other.sum));
        }
        Receipts::Differ
    }

    fn receipts(self, seq: u64, steps: StepLength) -> BatchReceipts {
        let Some(sums) = &self.sums else { return BatchReceipts::default() };
        let ranges = steps.put_together(self.with_sums(sums));
        let items = ranges.iter().map(LeaseRange::receipt).collect();
        let mut bare: Vec<LeasedRange> = ranges.iter().flat_map(LeaseRange::unseen).collect();
        let (mut groups, mut shared) = (Vec::new(), Vec::new());
        for (group, sums) in &self.consumed {
            groups.extend(group_receipts(group, seq, steps, self.with_sums(sums)));
            let of_group = |(claim, sum): (&HeldClaim, &RecordSum)| Some(LeaseRange::of(&claim.shared()?, *sum));
            // A bare claim counts for no group.
            let ranges = steps.put_together(self.claims.iter().zip(sums).filter_map(of_group));
            for range in ranges.iter().filter(|range| !range.is_bare) {
                shared.push(group_receipt(group, seq, range.receipt()));
                bare.extend(range.unseen());
            }
        }
        BatchReceipts { items, bare, groups, shared, bad: self.bad }
    }

    /// The daemon's own claims, with the sums of what was seen of them.
    fn with_sums<'a>(&'a self, sums: &'a [RecordSum]) -> impl Iterator<Item = LeaseRange> + 'a {
        self.claims.iter().zip(sums).filter_map(|(claim, sum)| Some(LeaseRange::of(&claim.leased()?, *sum)))
    }
}

fn group_receipts(
    group: &GroupKey,
    seq: u64,
    steps: StepLength,
    ranges: impl Iterator<Item = LeaseRange>,
) -> Vec<GroupReceipt> {
    steps.put_together(ranges).iter().map(|range| group_receipt(group, seq, range.receipt())).collect()
}

/// Claims as they are given back.
pub(crate) fn ranges(
    steps: StepLength,
    claims: impl IntoIterator<Item = HeldClaim>,
    cause: Cause,
) -> Vec<ReturnedRange> {
    let claims = claims.into_iter().filter_map(HeldClaim::leased);
    let ranges = steps.put_together(claims.map(|claim| LeaseRange::of(&claim, RecordSum::default())));
    ranges.iter().map(|range| range.returned(cause)).collect()
}

#[cfg(test)]
mod tests;
