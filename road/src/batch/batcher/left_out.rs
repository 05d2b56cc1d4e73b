//! Positions that `drop` leaves out: those that a static epoch has no batch for, and those that are too few for a batch at the end
//! of a dynamic one.

use forebay_plan::LastBatchPolicy;

use crate::batch::batcher::Batcher;
use crate::record::Position;

impl Batcher {
    /// Notes a position that no batch has room for: it is acked as dropped at the epoch's end, or given up with the tail.
    pub(crate) fn drop_position(&mut self, position: Position) {
        self.dropped.push(position);
    }

    /// How many further positions of a dynamic epoch make no batch, if no others come. What its batches in the making have is
    /// counted, since a bad record may yet need one of them.
    pub(crate) fn spare(&self, epoch: u64) -> u64 {
        if self.rules.dynamic != Some(LastBatchPolicy::Drop) {
            return 0;
        }
        let taken: u64 = self.of_epoch(epoch).map(|(_, draft)| u64::from(draft.taken())).sum();
        let left_out = self.dropped.iter().filter(|position| position.epoch == epoch).count() as u64;
        u64::from(self.rules.batch_size).saturating_sub(1 + taken + left_out)
    }

    /// The positions of an epoch that were left out.
    pub(super) fn left_out(&mut self, epoch: u64) -> Vec<Position> {
        self.dropped.extract_if(.., |position| position.epoch == epoch).collect()
    }
}
