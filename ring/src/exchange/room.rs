//! Room for the open epoch: if a batch of it has no slot, a batch of a later epoch gives way (semantics rule 11).

use super::{BatchId, Exchange};

impl Exchange {
    /// A batch of this epoch needs a slot. If no slot is free, the youngest batch of an epoch behind both this one and the
    /// open one gives way: it is [dropped](super::Action::Dropped) unseen, and its slot becomes FREE. Gives the batches that
    /// were dropped, the youngest first. There are several only if batches keep their order, and slots of the youngest cannot
    /// be filled again. There are none if no batch can give way. A batch that was offered, or that may be, never gives way.
    pub fn give_way(&mut self, epoch: u64) -> Vec<BatchId> {
        if self.slots.free().is_some() {
            return Vec::new();
        }
        let later = self.slots.unoffered_after(epoch.max(self.open));
        let Some(last) = later.iter().position(|(_, becomes_free)| *becomes_free) else { return Vec::new() };
        // In order, a batch that is made again must not be behind one that was made after it.
        let first = if self.in_order { 0 } else { last };
        let batches: Vec<BatchId> = later[first..=last].iter().map(|(batch, _)| *batch).collect();
        for batch in &batches {
            self.void(batch.seq);
        }
        batches
    }
}
