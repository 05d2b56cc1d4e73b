//! Receipts where steps have classes (semantics rule 62).
//!
//! Such a step may have positions without a record, and a bad record keeps its place in it, so that a step that is made again is
//! the same step. Therefore a receipt is about whole steps: it has the count and the sum of the records that were delivered, and
//! names the bad ones. No part of a step is ever open without the rest.

use std::ops::Range;

use forebay_plan::Plan;
use forebay_proto::Turn;
use forebay_proto::v1::{AckItem, BadRecord, ack_item::Kind};

use super::leases::positions;

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
    pub(super) record: &'a BadRecord,
}

impl<'a> StepReceipt<'a> {
    /// Reads a receipt of a lease. `bad` has bad records of any lease. Nothing if the receipt is not about whole steps, or if its
    /// count and its bad records are not all records of these.
    pub(super) fn read(
        plan: &Plan,
        (epoch, lease_start): (u64, u64),
        item: &AckItem,
        bad: &'a [BadRecord],
    ) -> Option<Self> {
        let says_nothing = (item.count, item.sum_high, item.sum_low) == (0, 0, 0);
        let is_known = match item.kind() {
            Kind::Delivered => true,
            Kind::Bare => says_nothing,
            // What is dropped is never leased.
            Kind::Dropped | Kind::Finished | Kind::Seen | Kind::Unspecified => false,
        };
        let positions = positions(lease_start, &item.range?)?;
        if !is_known || !plan.is_of_whole_steps(&positions) || positions.end > plan.epoch_len(epoch) {
            return None;
        }
        let order = plan.epoch(epoch);
        let mut places = Vec::new();
        for record in bad.iter().filter(|bad| bad.lease == item.lease) {
            let position = lease_start.checked_add(record.position)?;
            if positions.contains(&position) {
                let turn = order.own(position).filter(|turn| turn.record() == record.record)?;
                places.push(BadPlace { position, turn, record });
            }
        }
        // Of two entries for a place, the first counts.
        places.sort_by_key(|bad| bad.position);
        places.dedup_by_key(|bad| bad.position);
        let named = item.count.checked_add(places.len() as u64)?;
        (named == order.records_in(&positions)).then_some(Self { positions, bad: places })
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
