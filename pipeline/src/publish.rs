//! The last stage in the daemon before the ring. It writes a settled batch's metadata into its slot, and passes the claims
//! on with the slot.

use forebay_delivery::FinishedBatch;
use forebay_proto::v1::BadRecord;
use forebay_ring::SlotFrame;

use crate::batch_metadata::{BatchMetadata, MixedLabels, SettledBatch};
use crate::targets::TargetWriter;

/// Writes a batch, and gives it as it is handed on.
pub(crate) fn publish(
    mut batch: SettledBatch,
    mixed: Option<&MixedLabels>,
    targets: &mut TargetWriter,
) -> FinishedBatch {
    write(&mut batch, mixed, targets);
    finished(batch)
}

/// Writes the metadata and the further columns beside the pictures. If the stream mixes its pictures, `mixed` has what became
/// of these.
pub(crate) fn write(batch: &mut SettledBatch, mixed: Option<&MixedLabels>, targets: &mut TargetWriter) {
    let SettledBatch { metadata, slot, .. } = batch;
    let places = slot.geometry().batch();
    // Of pictures with sizes of their own, the columns tell only those of the batch's own records.
    slot.close_gaps(|place| metadata.places.mask.get(place) == Some(&1));
    write_metadata(metadata, slot.frame());
    targets.write(metadata, mixed, places, slot.frame());
}

/// A batch that is written. From here on it owns its claims.
pub(crate) fn finished(batch: SettledBatch) -> FinishedBatch {
    let SettledBatch { metadata, slot, in_gpu } = batch;
    let BatchMetadata { batch: seq, epoch, shown, valid, claims, bad, .. } = metadata;
    let bad = bad.into_iter().map(BadRecord::from).collect();
    let mut finished = FinishedBatch { slot, in_gpu, seq, epoch, shown, valid, claims, bad, time: 0 };
    finished.stamp();
    finished
}

fn write_metadata(metadata: &BatchMetadata, frame: &mut SlotFrame) {
    fill(frame.labels(), &metadata.places.labels, -1);
    fill(frame.records(), &metadata.places.records, -1);
    fill(frame.mask(), &metadata.places.mask, 0);
    frame.claims()[..metadata.claims.len()].copy_from_slice(&metadata.claims);
}

fn fill<T: Copy>(tensor: &mut [T], values: &[T], rest: T) {
    let (front, back) = tensor.split_at_mut(values.len());
    front.copy_from_slice(values);
    back.fill(rest);
}
