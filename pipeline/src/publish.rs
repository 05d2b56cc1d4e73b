//! The last stage in the daemon before the ring. It writes a settled batch's sheet into its slot, and passes the claims
//! on with the slot.

use forebay_delivery::FinishedBatch;
use forebay_proto::v1::BadRecord;
use forebay_ring::SlotFrame;

use crate::sheet::{MixedLabels, SettledBatch, Sheet};
use crate::targets::TargetWriter;

/// Writes the sheet and the further columns beside the pictures. If the stream mixes its pictures, `mixed` has what became of
/// these. From here on the batch owns its claims.
pub(crate) fn publish(batch: SettledBatch, mixed: Option<&MixedLabels>, targets: &mut TargetWriter) -> FinishedBatch {
    let SettledBatch { sheet, mut slot, in_gpu } = batch;
    let places = slot.geometry().batch();
    write(&sheet, slot.frame());
    targets.write(&sheet, mixed, places, slot.frame());
    let Sheet { batch: seq, epoch, shown, valid, claims, bad, .. } = sheet;
    let bad = bad.into_iter().map(BadRecord::from).collect();
    let mut finished = FinishedBatch { slot, in_gpu, seq, epoch, shown, valid, claims, bad, time: 0 };
    finished.stamp();
    finished
}

fn write(sheet: &Sheet, frame: &mut SlotFrame) {
    fill(frame.labels(), &sheet.places.labels, -1);
    fill(frame.records(), &sheet.places.records, -1);
    fill(frame.mask(), &sheet.places.mask, 0);
    frame.claims()[..sheet.claims.len()].copy_from_slice(&sheet.claims);
}

fn fill<T: Copy>(tensor: &mut [T], values: &[T], rest: T) {
    let (front, back) = tensor.split_at_mut(values.len());
    front.copy_from_slice(values);
    back.fill(rest);
}
