//! What `drop` leaves out at the end of an epoch is not waited for.

use crate::batch::BatchStage;

impl BatchStage {
    /// Leaves out what cannot fill a batch any more, read or not. Answers whether there was something.
    pub(super) fn leave_out(&mut self) -> bool {
        let floor = self.parts.progress.borrow().floor;
        let left_out = self.parts.prefetch.leave_rest(floor + 1, |epoch| self.batcher.spare(epoch));
        let is_some = !left_out.is_empty();
        for position in left_out {
            self.note_lease(&position);
            self.batcher.drop_position(position);
        }
        is_some
    }
}
