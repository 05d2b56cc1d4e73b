//! A range of a lease, with what trainers saw of it: a claim, or the claims of a whole step.

use std::ops::Range;

use forebay_proto::RecordSum;
use forebay_proto::v1::{self, AckItem, Cause, LeasedRange, ReturnedRange, ack_item::Kind};
use forebay_ring::{Claim, ResumedClaim};

/// See the module. Positions are counted from the lease's start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LeaseRange {
    pub(crate) lease: u64,
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Of the records that were seen.
    pub(crate) sum: RecordSum,
    /// The batch shows no record of it.
    pub(crate) is_bare: bool,
    /// Where steps have classes: the parts of it that the batch shows no record of.
    pub(crate) unseen: Vec<Range<u64>>,
}

impl LeaseRange {
    /// A claim, with the sum over the records that were seen of it.
    pub(crate) fn of(claim: &Claim, sum: RecordSum) -> Self {
        Self::new(claim.lease, claim.start..claim.end(), sum, claim.is_bare())
    }

    /// What a trainer hands in.
    pub(crate) fn resumed(claim: &ResumedClaim) -> Self {
        let ResumedClaim { lease, start, len, bare, sum, .. } = *claim;
        Self::new(lease, start..start.saturating_add(len), RecordSum::from_halves(len, sum.high, sum.low), bare != 0)
    }

    /// What a trainer says of a claim that it has in hand.
    pub(crate) fn in_hand(item: &AckItem) -> Self {
        let AckItem { lease, count, sum_high, sum_low, .. } = *item;
        let v1::Range { start, end } = item.range.unwrap_or_default();
        Self::new(lease, start..end, RecordSum::from_halves(count, sum_high, sum_low), item.kind() == Kind::Bare)
    }

    fn new(lease: u64, Range { start, end }: Range<u64>, sum: RecordSum, is_bare: bool) -> Self {
        let sum = if is_bare { RecordSum::default() } else { sum };
        Self { lease, start, end, sum, is_bare, unseen: Vec::new() }
    }

    /// Adds the range behind it.
    pub(crate) fn append(&mut self, next: Self) {
        self.end = next.end;
        self.sum += next.sum;
        self.is_bare &= next.is_bare;
        self.unseen.extend(next.unseen);
    }

    pub(crate) const fn range(&self) -> v1::Range {
        v1::Range { start: self.start, end: self.end }
    }

    /// Its receipt.
    pub(crate) fn receipt(&self) -> AckItem {
        self.item(if self.is_bare { Kind::Bare } else { Kind::Delivered }, self.sum)
    }

    /// That its records were dropped by policy.
    pub(crate) fn dropped(&self) -> AckItem {
        self.item(Kind::Dropped, self.sum)
    }

    /// That a trainer ended without a receipt and may have seen its records, which are offered again.
    pub(crate) fn seen(&self) -> AckItem {
        self.item(Kind::Seen, RecordSum::default())
    }

    /// That its records are in a finished batch, which no trainer has yet.
    pub(crate) fn finished(&self) -> AckItem {
        self.item(Kind::Finished, RecordSum::default())
    }

    /// That it is given back, with how a trainer may have seen it.
    pub(crate) fn returned(&self, cause: Cause) -> ReturnedRange {
        ReturnedRange { lease: self.lease, range: Some(self.range()), cause: cause.into() }
    }

    /// Itself, as a trainer holds it.
    pub(crate) const fn held(&self) -> LeasedRange {
        LeasedRange { lease: self.lease, range: Some(self.range()) }
    }

    /// Where steps have classes: what the batch shows no record of.
    pub(crate) fn unseen(&self) -> impl Iterator<Item = LeasedRange> {
        let range = |&Range { start, end }: &Range<u64>| Some(v1::Range { start, end });
        self.unseen.iter().map(move |unseen| LeasedRange { lease: self.lease, range: range(unseen) })
    }

    fn item(&self, kind: Kind, sum: RecordSum) -> AckItem {
        let (sum_high, sum_low) = sum.halves();
        let (count, range) = (sum.count, Some(self.range()));
        AckItem { lease: self.lease, range, kind: kind.into(), count, sum_high, sum_low }
    }
}
