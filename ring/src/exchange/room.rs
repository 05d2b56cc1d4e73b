//! Room for the open epoch: if a batch of it has no slot, a batch of a later epoch gives way (semantics rule 11).

use super::{BatchId, ConsumerId, ConsumerState, Exchange};

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

    /// The trainer that holds the most slots, and the number of the first batch that it holds, acked or not.
    pub fn keeper(&self) -> Option<(ConsumerState, u64)> {
        let keeper = self.consumers().filter(|state| state.held > 0).max_by_key(|state| state.held)?;
        let held = self.slots.deliveries().filter(|delivery| delivery.held_by(keeper.id).is_some());
        Some((keeper, held.map(|delivery| delivery.batch.seq).min()?))
    }

    /// Slots of the rings that are in use, whatever is in them.
    pub fn in_service(&self) -> u32 {
        self.slots.in_service()
    }

    /// Whether the consumer could get a batch of this epoch: its group is in it, and it does not hold all that it may.
    pub fn may_get(&self, consumer: ConsumerId, epoch: u64) -> bool {
        let has_room = self.consumers().any(|state| state.id == consumer && state.held < state.granted);
        has_room && self.groups.of(consumer).is_some_and(|group| self.groups.is_in(group, epoch))
    }
}
