//! The last stage in the daemon before the ring. It writes a settled batch's sheet into its slot, and passes the claims
//! on with the slot.

use forebay_proto::v1::BadRecord;
use forebay_ring::{Claim, SlotFrame, SlotMut};
use rustix::time::{ClockId, clock_gettime};

use crate::sheet::{MixedLabels, SettledBatch, Sheet};
use crate::targets::TargetWriter;

/// A batch that trainers may read. It owns its slot and its claims: whoever drops it unread has to give both back.
#[derive(Debug)]
pub(crate) struct Ready {
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
    /// Writes the sheet and the further columns beside the pictures. If the stream mixes its pictures, `mixed` has what
    /// became of these.
    pub(crate) fn publish(batch: SettledBatch, mixed: Option<&MixedLabels>, targets: &mut TargetWriter) -> Self {
        let SettledBatch { sheet, mut slot, in_gpu } = batch;
        let places = slot.geometry().batch();
        write(&sheet, slot.frame());
        targets.write(&sheet, mixed, places, slot.frame());
        let Sheet { batch: seq, epoch, shown, valid, claims, bad, .. } = sheet;
        let bad = bad.into_iter().map(BadRecord::from).collect();
        Self { slot, in_gpu, seq, epoch, shown, valid, claims, bad, time: now() }
    }

    /// It is ready now, and was not when its sheet was written.
    pub(crate) fn stamp(&mut self) {
        self.time = now();
    }
}

/// `CLOCK_MONOTONIC` nanosecond.
pub(crate) fn now() -> u64 {
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
