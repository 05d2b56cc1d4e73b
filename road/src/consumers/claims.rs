//! The ack table: the claims of published batches until they are acknowledged.

use std::collections::HashMap;

use forebay_proto::RecordSum;
use forebay_proto::v1::{AckItem, BadRecord, Cause, Range, ReturnedRange};
use forebay_ring::{Ack, BatchId, Claim, ClaimSum, ConsumerId, NO_RING};

use crate::publish::Ready;
use crate::receipt::{receipt, seen};

/// The table.
#[derive(Debug, Default)]
pub(super) struct Claims {
    published: HashMap<u64, BatchClaims>,
    adopted: HashMap<(ConsumerId, u64), BatchClaims>,
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
    /// When it was ready.
    pub(super) ready: u64,
    /// Nothing where a claim of an adopted batch went to somebody else meanwhile.
    claims: Vec<Option<Claim>>,
    /// Bad records that it is delivered without.
    bad: Vec<BadRecord>,
    /// It was taken back for trainers of other daemons, unless its own has it.
    recalled: bool,
    /// Sums that came so far, by whom.
    sums: Option<(ConsumerId, Vec<RecordSum>)>,
}

/// How far a batch's receipts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Receipts {
    /// More packets follow.
    Partial,
    /// All are there.
    Whole,
    /// They do not fit.
    Wrong,
}

impl Claims {
    /// A batch was published.
    pub(super) fn published(&mut self, seq: u64, entry: BatchClaims) {
        self.published.insert(seq, entry);
    }

    /// A consumer came with a batch of an earlier incarnation.
    pub(super) fn adopted(&mut self, consumer: ConsumerId, seq: u64, epoch: u64, claims: Vec<Option<Claim>>) {
        let none = BatchClaims {
            epoch,
            shown: 0,
            valid: 0,
            ready: 0,
            claims: Vec::new(),
            bad: Vec::new(),
            recalled: false,
            sums: None,
        };
        // A batch may be told in several parts.
        self.adopted.entry((consumer, seq)).or_insert(none).claims.extend(claims);
    }

    /// Forgets every batch: late receipts of them lead nowhere. Answers what those of the epochs from this one on had.
    pub(super) fn clear(&mut self, from: u64) -> Vec<ReturnedRange> {
        let published = std::mem::take(&mut self.published).into_values();
        let all = published.chain(std::mem::take(&mut self.adopted).into_values());
        all.filter(|entry| entry.epoch >= from).flat_map(|entry| entry.back(Cause::Unseen)).collect()
    }

    /// A published batch.
    pub(super) fn get(&self, seq: u64) -> Option<&BatchClaims> {
        self.published.get(&seq)
    }

    /// Batches of the epoch, published or adopted, that are not acked.
    pub(super) fn undelivered(&self, epoch: u64) -> usize {
        self.published_in(epoch) + self.adopted.values().filter(|entry| entry.epoch == epoch).count()
    }

    /// Published batches of the epoch that are not acked, in somebody's hands or not.
    fn published_in(&self, epoch: u64) -> usize {
        self.published.values().filter(|entry| entry.epoch == epoch).count()
    }

    /// Takes the sums of one ACK packet. The consumer holds the batch.
    pub(super) fn sums(&mut self, consumer: ConsumerId, ack: &Ack, sums: &[ClaimSum]) -> Receipts {
        let entry = if ack.ring == NO_RING {
            self.adopted.get_mut(&(consumer, ack.seq))
        } else {
            self.published.get_mut(&ack.seq)
        };
        // A batch that is held and not known was fenced by a restore: its receipt leads nowhere.
        entry.map_or(Receipts::Whole, |entry| entry.take(consumer, ack, sums))
    }

    /// Published batches that have a claim on one of these leases.
    pub(super) fn of_leases(&self, leases: &[u64]) -> Vec<u64> {
        let has = |entry: &BatchClaims| entry.claims.iter().flatten().any(|claim| leases.contains(&claim.lease));
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

    /// These leases are somebody else's now: the batch, which nobody gets, has nothing of them to give back.
    pub(super) fn lose(&mut self, seq: u64, leases: &[u64]) {
        if let Some(entry) = self.published.get_mut(&seq) {
            entry.claims.retain(|claim| claim.is_some_and(|claim| !leases.contains(&claim.lease)));
        }
    }

    /// The receipts of an acked batch, and what is wrong with records that it was delivered without.
    pub(super) fn acked(&mut self, seq: u64) -> (Vec<AckItem>, Vec<BadRecord>) {
        self.published.remove(&seq).map(BatchClaims::receipts).unwrap_or_default()
    }

    /// What the ledger is told of a published batch whose trainer ended un-acked: which records it may have seen.
    pub(super) fn seen(&self, seq: u64) -> Vec<AckItem> {
        let claims = self.published.get(&seq).into_iter().flat_map(|entry| entry.claims.iter().flatten());
        claims.filter(|claim| !claim.is_bare()).map(seen).collect()
    }

    /// The same of an adopted batch, of which it is not known what is wrong.
    pub(super) fn adopted_acked(&mut self, consumer: ConsumerId, batch: BatchId) -> (Vec<AckItem>, Vec<BadRecord>) {
        self.adopted.remove(&(consumer, batch.seq)).map(BatchClaims::receipts).unwrap_or_default()
    }

    /// What a dropped batch gives back, and how somebody may have seen it.
    pub(super) fn dropped(&mut self, seq: u64, cause: Cause) -> Vec<ReturnedRange> {
        self.published.remove(&seq).map(|entry| entry.back(cause)).unwrap_or_default()
    }

    /// What an adopted batch gives back that was returned, or whose consumer is gone.
    pub(super) fn orphaned(&mut self, consumer: ConsumerId, batch: BatchId, cause: Cause) -> Vec<ReturnedRange> {
        self.adopted.remove(&(consumer, batch.seq)).map(|entry| entry.back(cause)).unwrap_or_default()
    }
}

impl BatchClaims {
    /// Of a batch that is ready.
    pub(super) fn new(ready: &mut Ready) -> Self {
        let Ready { epoch, shown, valid, time, .. } = *ready;
        let claims = std::mem::take(&mut ready.claims).into_iter().map(Some).collect();
        Self {
            epoch,
            shown,
            valid,
            ready: time,
            claims,
            bad: std::mem::take(&mut ready.bad),
            recalled: false,
            sums: None,
        }
    }

    /// Number of claims, as an offer says it.
    pub(super) fn len(&self) -> u32 {
        u32::try_from(self.claims.len()).unwrap_or(u32::MAX)
    }

    /// What the batch gives back, and how somebody may have seen it.
    pub(super) fn back(self, cause: Cause) -> Vec<ReturnedRange> {
        ranges(self.claims, cause)
    }

    fn take(&mut self, consumer: ConsumerId, ack: &Ack, sums: &[ClaimSum]) -> Receipts {
        // Parts of an earlier holder's receipt do not count: it died in the middle.
        let known = match &mut self.sums {
            Some((whose, known)) if *whose == consumer && ack.first > 0 => known,
            other => &mut other.insert((consumer, Vec::new())).1,
        };
        if ack.first as usize != known.len() || known.len() + sums.len() > self.claims.len() {
            self.sums = None;
            return Receipts::Wrong;
        }
        for sum in sums {
            let count = self.claims[known.len()].map_or(0, |claim| claim.places());
            known.push(RecordSum::from_halves(count, sum.high, sum.low));
        }
        match (ack.last == 1, known.len() == self.claims.len()) {
            (true, true) => Receipts::Whole,
            (false, false) => Receipts::Partial,
            _ => Receipts::Wrong,
        }
    }

    fn receipts(self) -> (Vec<AckItem>, Vec<BadRecord>) {
        let Some((_, sums)) = self.sums else { return Default::default() };
        let claims = self.claims.into_iter().zip(sums);
        let items = claims.filter_map(|(claim, sum)| Some(receipt(&claim?, sum)));
        (items.collect(), self.bad)
    }
}

/// Claims as they are given back.
pub(crate) fn ranges(claims: impl IntoIterator<Item = Option<Claim>>, cause: Cause) -> Vec<ReturnedRange> {
    let back = |claim: Claim| {
        let range = Some(Range { start: claim.start, end: claim.end() });
        ReturnedRange { lease: claim.lease, range, cause: cause.into() }
    };
    claims.into_iter().flatten().map(back).collect()
}

#[cfg(test)]
mod tests {
    use forebay_proto::v1::ack_item::Kind;

    use super::*;

    const CLAIMS: [Claim; 2] = [Claim::new(7, 0, 3), Claim::new(9, 4, 1)];
    const ONE: ConsumerId = ConsumerId(1);
    const TWO: ConsumerId = ConsumerId(2);

    fn ack(first: u32, count: u32, last: u32) -> Ack {
        Ack { kind: 0, slot: 0, seq: 5, generation: 1, first, count, last, ring: 0 }
    }

    fn sum(low: u64) -> ClaimSum {
        ClaimSum { high: 0, low }
    }

    fn table() -> Claims {
        let mut claims = Claims::default();
        claims.published(5, entry(2, &CLAIMS));
        claims
    }

    fn entry(epoch: u64, claims: &[Claim]) -> BatchClaims {
        let claims = claims.iter().copied().map(Some).collect();
        BatchClaims { epoch, shown: 4, valid: 4, ready: 0, claims, bad: Vec::new(), recalled: false, sums: None }
    }

    #[test]
    fn a_receipt_in_two_parts_counts_when_both_are_there() {
        let mut claims = table();
        assert_eq!(claims.sums(ONE, &ack(0, 1, 0), &[sum(10)]), Receipts::Partial);
        assert_eq!(claims.sums(ONE, &ack(1, 1, 1), &[sum(20)]), Receipts::Whole);
        let (items, _) = claims.acked(5);
        let told: Vec<_> = items.iter().map(|item| (item.lease, item.count, item.sum_low)).collect();
        assert_eq!(told, [(7, 3, 10), (9, 1, 20)]);
        assert_eq!(claims.undelivered(2), 0);
    }

    #[test]
    fn half_a_receipt_of_a_dead_trainer_does_not_count_for_the_next_one() {
        let mut claims = table();
        assert_eq!(claims.sums(ONE, &ack(0, 1, 0), &[sum(10)]), Receipts::Partial);
        assert_eq!(claims.sums(TWO, &ack(1, 1, 1), &[sum(20)]), Receipts::Wrong);
        assert_eq!(claims.sums(TWO, &ack(0, 2, 1), &[sum(1), sum(2)]), Receipts::Whole);
    }

    #[test]
    fn more_or_fewer_sums_than_claims_are_wrong() {
        assert_eq!(table().sums(ONE, &ack(0, 1, 1), &[sum(1)]), Receipts::Wrong);
        assert_eq!(table().sums(ONE, &ack(0, 3, 1), &[sum(1), sum(2), sum(3)]), Receipts::Wrong);
    }

    #[test]
    fn rule_16_an_adopted_batch_in_two_parts_has_the_claims_of_both() {
        let mut claims = Claims::default();
        claims.adopted(ONE, 5, 2, vec![Some(CLAIMS[0])]);
        claims.adopted(ONE, 5, 2, vec![Some(CLAIMS[1])]);
        let back = claims.orphaned(ONE, BatchId { seq: 5, epoch: 2 }, Cause::TrainerEnded);
        assert_eq!(back.iter().map(|range| range.lease).collect::<Vec<_>>(), [7, 9]);
    }

    #[test]
    fn rule_16_an_adopted_batch_and_a_published_one_of_its_number_are_two() {
        let mut claims = table();
        claims.adopted(ONE, 5, 1, vec![Some(Claim::new(3, 0, 1))]);
        assert_eq!(claims.sums(ONE, &ack(0, 2, 1), &[sum(1), sum(2)]), Receipts::Whole);
        assert_eq!(claims.acked(5).0.iter().map(|item| item.lease).collect::<Vec<_>>(), [7, 9]);
        assert_eq!(claims.sums(ONE, &Ack { ring: NO_RING, ..ack(0, 1, 1) }, &[sum(3)]), Receipts::Whole);
        let (items, _) = claims.adopted_acked(ONE, BatchId { seq: 5, epoch: 1 });
        assert_eq!(items.iter().map(|item| item.lease).collect::<Vec<_>>(), [3]);
    }

    #[test]
    fn rule_05_a_void_batch_gives_back_what_is_not_lost() {
        let mut claims = table();
        assert_eq!((claims.of_leases(&[8]), claims.of_leases(&[8, 7])), (vec![], vec![5]));
        claims.lose(5, &[7]);
        assert_eq!(claims.dropped(5, Cause::Unseen).iter().map(|range| range.lease).collect::<Vec<_>>(), [9]);
    }

    #[test]
    fn rule_10_of_batches_that_an_ended_epoch_takes_along_the_next_one_s_records_are_given_back() {
        let mut claims = table();
        claims.published(6, entry(3, &[Claim::new(11, 0, 4)]));
        assert_eq!(claims.clear(3).iter().map(|range| range.lease).collect::<Vec<_>>(), [11]);
        assert_eq!((claims.undelivered(2), claims.undelivered(3)), (0, 0));
    }

    #[test]
    fn rule_07_a_batch_s_receipt_has_what_it_was_delivered_without() {
        let mut claims = Claims::default();
        let bad = BadRecord { lease: 7, position: 3, record: 40, ..BadRecord::default() };
        let of_batch = [Claim::new(7, 0, 3), Claim::bare(7, 3, 1), Claim::bare(9, 0, 1)];
        claims.published(5, BatchClaims { bad: vec![bad.clone()], ..entry(2, &of_batch) });
        assert_eq!(claims.sums(ONE, &ack(0, 3, 1), &[sum(10), sum(77), sum(0)]), Receipts::Whole);
        let (items, told) = claims.acked(5);
        let items: Vec<_> = items.iter().map(|item| (item.lease, item.kind(), item.count, item.sum_low)).collect();
        assert_eq!(items, [(7, Kind::Delivered, 3, 10), (7, Kind::Bare, 0, 0), (9, Kind::Bare, 0, 0)]);
        assert_eq!(told, [bad]);
    }

    #[test]
    fn rule_16_a_claim_that_went_to_others_is_left_out_of_an_adopted_batch() {
        let mut claims = Claims::default();
        claims.adopted(ONE, 5, 2, vec![None, Some(CLAIMS[1])]);
        let packet = Ack { ring: NO_RING, ..ack(0, 2, 1) };
        assert_eq!(claims.sums(ONE, &packet, &[sum(1), sum(2)]), Receipts::Whole);
        let (items, _) = claims.adopted_acked(ONE, BatchId { seq: 5, epoch: 2 });
        assert_eq!(items.iter().map(|item| item.lease).collect::<Vec<_>>(), [9]);
    }
}
