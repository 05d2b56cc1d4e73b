//! The last stage in the daemon before the ring. It writes a settled batch's metadata into its slot, and passes the claims
//! on with the slot.

use forebay_delivery::FinishedBatch;
use forebay_proto::v1::BadRecord;
use forebay_ring::SlotFrame;

use crate::batch_metadata::{BatchMetadata, MixedLabels, SettledBatch};
use crate::targets::TargetWriter;

/// Writes the metadata and the further columns beside the pictures. If the stream mixes its pictures, `mixed` has what became
/// of these. From here on the batch owns its claims.
pub(crate) fn publish(batch: SettledBatch, mixed: Option<&MixedLabels>, targets: &mut TargetWriter) -> FinishedBatch {
    let SettledBatch { metadata, mut slot, in_gpu } = batch;
    let places = slot.geometry().batch();
    write(&metadata, slot.frame());
    targets.write(&metadata, mixed, places, slot.frame());
    let BatchMetadata { batch: seq, epoch, shown, valid, claims, bad, .. } = metadata;
    let bad = bad.into_iter().map(BadRecord::from).collect();
    let mut finished = FinishedBatch { slot, in_gpu, seq, epoch, shown, valid, claims, bad, time: 0 };
    finished.stamp();
    finished
}

fn write(metadata: &BatchMetadata, frame: &mut SlotFrame) {
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
