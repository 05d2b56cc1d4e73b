//! The end of the road in the daemon: a settled batch's sheet is written into its slot, and the claims move on with it.

use forebay_proto::RecordSum;
use forebay_proto::v1::ack_item::Kind;
use forebay_proto::v1::{AckItem, BadRecord, Range};
use forebay_ring::{Claim, SlotFrame, SlotMut};
use rustix::time::{ClockId, clock_gettime};

use crate::batch::sheet::Sheet;
use crate::record::Position;

/// A batch that trainers may read. It owns its slot and its claims: whoever drops it unread has to give both back.
#[derive(Debug)]
pub struct Ready {
    /// The slot, no longer written.
    pub slot: SlotMut,
    /// For each place, whether its pixels are in memory of a GPU already.
    pub in_gpu: Vec<bool>,
    /// Number of the batch.
    pub seq: u64,
    /// Epoch of its records.
    pub epoch: u64,
    /// Places that the user sees.
    pub shown: u32,
    /// Places that are the epoch's own records.
    pub valid: u32,
    /// What it answers for.
    pub claims: Vec<Claim>,
    /// Bad records that it is delivered without.
    pub bad: Vec<BadRecord>,
    /// `CLOCK_MONOTONIC` nanosecond at which it was ready.
    pub time: u64,
}

impl Ready {
    /// Writes the sheet beside the pictures.
    pub fn publish(sheet: Sheet, mut slot: SlotMut, in_gpu: Vec<bool>) -> Self {
        write(&sheet, slot.frame());
        let Sheet { batch: seq, epoch, shown, valid, claims, bad, .. } = sheet;
        let bad = bad.into_iter().map(BadRecord::from).collect();
        Self { slot, in_gpu, seq, epoch, shown, valid, claims, bad, time: now() }
    }

    /// It is ready now, and was not when its sheet was written.
    pub fn stamp(&mut self) {
        self.time = now();
    }
}

fn now() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}

fn write(sheet: &Sheet, frame: &mut SlotFrame) {
    fill(frame.labels(), &sheet.labels, -1);
    fill(frame.records(), &sheet.records, -1);
    fill(frame.mask(), &sheet.mask, 0);
    frame.claims()[..sheet.claims.len()].copy_from_slice(&sheet.claims);
}

fn fill<T: Copy>(tensor: &mut [T], values: &[T], rest: T) {
    let (front, back) = tensor.split_at_mut(values.len());
    front.copy_from_slice(values);
    back.fill(rest);
}

/// Positions as receipts of records that policy dropped.
pub fn dropped(positions: &[Position]) -> Vec<AckItem> {
    let mut items: Vec<(Claim, RecordSum)> = Vec::new();
    for position in positions {
        match items.last_mut() {
            Some((claim, sum)) if (claim.lease, claim.end()) == (position.lease, position.offset) => {
                claim.len += 1;
                sum.add(position.record);
            }
            _ => {
                let claim = Claim::new(position.lease, position.offset, 1);
                items.push((claim, std::iter::once(position.record).collect()));
            }
        }
    }
    items.into_iter().map(|(claim, sum)| item(&claim, sum, Kind::Dropped)).collect()
}

/// The receipt of a claim, with the sum over the records that were seen of it.
pub fn receipt(claim: &Claim, sum: RecordSum) -> AckItem {
    if claim.is_bare() {
        return item(claim, RecordSum::default(), Kind::Bare);
    }
    item(claim, sum, Kind::Delivered)
}

/// That a trainer ended without a receipt and may have seen a claim's records, which are offered again.
pub fn seen(claim: &Claim) -> AckItem {
    item(claim, RecordSum::default(), Kind::Seen)
}

/// That a claim's records stand in a finished batch, which nobody has yet.
pub fn finished(claim: &Claim) -> AckItem {
    item(claim, RecordSum::default(), Kind::Finished)
}

fn item(claim: &Claim, sum: RecordSum, kind: Kind) -> AckItem {
    let (sum_high, sum_low) = sum.halves();
    let range = Range { start: claim.start, end: claim.end() };
    AckItem { lease: claim.lease, range: Some(range), kind: kind.into(), count: sum.count, sum_high, sum_low }
}
