//! Receipts where steps have classes (semantics rule 62).
//!
//! Such a step may have positions without a record, and a bad record keeps its place in it, so that a step that is made again is
//! the same step. Therefore a receipt is about whole steps: it has the count and the sum of the records that were delivered, and
//! names the bad ones. No part of a step is ever open without the rest.

use std::collections::BTreeMap;
use std::ops::Range;

use forebay_plan::Plan;
use forebay_proto::Turn;
use forebay_proto::v1::{self, AckItem, BadRecord, LeasedRange, ack_item::Kind};

use super::leases::positions;

/// What a request says beside its receipts about the positions of leases, in their order. So what it says of one receipt is found
/// without a look at all of it.
#[derive(Default)]
pub(super) struct NamedPlaces<'a> {
    /// Bad records, by lease and position in it.
    bad: BTreeMap<(u64, u64), &'a BadRecord>,
    /// Positions whose records a trainer did not see, as ranges of leases that do not touch.
    bare: Vec<(u64, v1::Range)>,
}

/// What a receipt says of whole steps.
pub(super) struct StepReceipt<'a> {
    positions: Range<u64>,
    /// By rising position.
    bad: Vec<BadPlace<'a>>,
}

/// A bad record at its place.
#[derive(Clone, Copy)]
pub(super) struct BadPlace<'a> {
    pub(super) position: u64,
    pub(super) turn: Turn,
    /// What is wrong with it, if that is known.
    why: Option<&'a BadRecord>,
}

impl<'a> NamedPlaces<'a> {
    /// From a request's lists, which are in any order.
    pub(super) fn of(bad: &'a [BadRecord], bare: &[LeasedRange]) -> Self {
        // Of two entries for a place, the first counts.
        let bad = bad.iter().rev().map(|bad| ((bad.lease, bad.position), bad)).collect();
        let range = |bare: &LeasedRange| (bare.lease, bare.range.unwrap_or_default());
        let mut ranges: Vec<_> = bare.iter().map(range).filter(|(_, range)| range.start < range.end).collect();
        ranges.sort_unstable_by_key(|(lease, range)| (*lease, range.start));
        ranges.dedup_by(|next, last| {
            let touches = next.0 == last.0 && next.1.start <= last.1.end;
            if touches {
                last.1.end = last.1.end.max(next.1.end);
            }
            touches
        });
        Self { bad, bare: ranges }
    }

    /// The bad records of a part of a lease.
    fn bad_in(&self, lease: u64, part: v1::Range) -> impl Iterator<Item = (u64, &'a BadRecord)> {
        self.bad.range((lease, part.start)..(lease, part.end)).map(|((_, position), bad)| (*position, *bad))
    }

    /// Positions of a part of a lease whose records a trainer did not see.
    fn bare_in(&self, lease: u64, part: v1::Range) -> impl Iterator<Item = u64> {
        let first = self.bare.partition_point(|(of, range)| (*of, range.end) <= (lease, part.start));
        let own = self.bare[first..].iter().take_while(move |(of, range)| *of == lease && range.start < part.end);
        own.flat_map(move |(_, range)| range.start.max(part.start)..range.end.min(part.end))
    }
}

impl<'a> StepReceipt<'a> {
    /// Reads a receipt of a lease. `named` is about any lease. Nothing if the receipt is not about whole steps, or if its count and
    /// its bad records are not all records of these.
    pub(super) fn read(
        plan: &Plan,
        (epoch, lease_start): (u64, u64),
        item: &AckItem,
        named: &NamedPlaces<'a>,
    ) -> Option<Self> {
        let says_nothing = (item.count, item.sum_high, item.sum_low) == (0, 0, 0);
        let is_known = match item.kind() {
            Kind::Delivered => true,
            Kind::Bare => says_nothing,
            // What is dropped is never leased.
            Kind::Dropped | Kind::Finished | Kind::Seen | Kind::Unspecified => false,
        };
        let part = item.range.filter(|part| part.start < part.end)?;
        let positions = positions(lease_start, &part)?;
        if !is_known || !plan.is_of_whole_steps(&positions) || positions.end > plan.epoch_len(epoch) {
            return None;
        }
        let order = plan.epoch(epoch);
        let mut places = BTreeMap::new();
        for (offset, record) in named.bad_in(item.lease, part) {
            let position = lease_start + offset;
            let turn = order.own(position).filter(|turn| turn.record() == record.record)?;
            places.insert(position, BadPlace { position, turn, why: Some(record) });
        }
        for position in named.bare_in(item.lease, part).map(|offset| lease_start + offset) {
            // A trainer does not know which positions have no record.
            if let Some(turn) = order.own(position) {
                places.entry(position).or_insert(BadPlace { position, turn, why: None });
            }
        }
        let all = item.count.checked_add(places.len() as u64)?;
        (all == order.records_in(&positions)).then(|| Self { positions, bad: places.into_values().collect() })
    }

    /// The bad records.
    pub(super) fn bad(&self) -> &[BadPlace<'a>] {
        &self.bad
    }

    /// The positions between bad records: all of their records were delivered.
    pub(super) fn delivered(&self) -> impl Iterator<Item = Range<u64>> {
        let starts = [self.positions.start].into_iter().chain(self.bad.iter().map(|bad| bad.position + 1));
        let ends = self.bad.iter().map(|bad| bad.position).chain([self.positions.end]);
        starts.zip(ends).map(|(start, end)| start..end).filter(|range| !range.is_empty())
    }
}

impl BadPlace<'_> {
    /// What is wrong with its record.
    pub(super) fn record(&self) -> BadRecord {
        self.why.cloned().unwrap_or_else(|| without_a_reason(self.turn.record()))
    }
}

/// A bad record of a batch whose daemon died before it said what is wrong with it: no better reason is known.
pub(super) fn without_a_reason(record: u64) -> BadRecord {
    let reason = "its batch was delivered without it".to_owned();
    BadRecord { record, reason, ..BadRecord::default() }
}
