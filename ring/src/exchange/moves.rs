//! How batches and slots change state: a batch is offered, taken back or done with, and its slot becomes empty.

use super::delivery::{LetGo, Outcome};
use super::slots::{Slot, SlotState};
use super::{Action, BatchId, ConsumerId, Exchange, GroupId, SlotId};

impl Exchange {
    /// Offers batches while a group has one to get and a trainer with credit.
    pub(super) fn offer(&mut self) {
        let groups = self.groups.ids();
        let mut is_left = true;
        while is_left {
            is_left = false;
            for group in &groups {
                is_left |= self.offer_to(*group);
            }
        }
    }

    /// Offers the group its next batch. False when it has none, or no trainer with credit.
    fn offer_to(&mut self, group: GroupId) -> bool {
        let Self { open, in_order, slots, consumers, groups, .. } = self;
        let may_have = |epoch: u64| epoch <= *open && groups.is_in(group, epoch);
        let Some((slot, entry)) = slots.next_for(group, may_have, *in_order) else { return false };
        let generation = entry.generation;
        let Some(delivery) = entry.delivery_mut() else { return false };
        let Some(consumer) = consumers.next(groups.members(group), delivery.last(group)) else { return false };
        let batch = delivery.batch;
        let redelivered = delivery.offer(group, consumer, groups.in_epoch(batch.epoch));
        consumers.take(consumer);
        self.begun = self.begun.max(Some(batch.epoch));
        self.actions.push_back(Action::Offer { consumer, slot, batch, generation, redelivered });
        true
    }

    /// The consumer no longer holds the slot.
    pub(super) fn take_back(&mut self, slot: SlotId, consumer: ConsumerId, how: LetGo) {
        let Some(delivery) = self.slots.expect_mut(slot).delivery_mut() else { return };
        let (batch, seen) = (delivery.batch, delivery.let_go(consumer, how));
        self.settle(slot, batch, seen);
    }

    /// Reports what has become of a batch, and empties its slot if no group needs it any more. `seen` means that a trainer
    /// may have seen it and has not acked it.
    pub(super) fn settle(&mut self, slot: SlotId, batch: BatchId, seen: bool) {
        if seen {
            self.actions.push_back(Action::Seen(batch));
        }
        let Some(delivery) = self.slots.expect_mut(slot).delivery_mut() else { return };
        if let Some(consumer) = delivery.just_acked() {
            self.actions.push_back(Action::Acked { consumer, batch });
        }
        if let Outcome::Over { dropped } = delivery.outcome() {
            self.actions.extend(dropped.map(|seen| Action::Dropped { batch, seen }));
            self.finish(slot);
        }
    }

    /// The slot is empty.
    pub(super) fn finish(&mut self, slot: SlotId) {
        let retired = self.slots.is_retired(slot.ring);
        let Slot { state, watchers, .. } = self.slots.expect_mut(slot);
        if !watchers.is_empty() {
            *state = SlotState::Quarantined;
        } else if retired {
            *state = SlotState::Retired;
            self.sweep(slot.ring);
        } else {
            *state = SlotState::Free;
            self.actions.push_back(Action::Free(slot));
        }
    }

    pub(super) fn sweep(&mut self, ring: u32) {
        if self.slots.sweep(ring) {
            self.actions.push_back(Action::RingEmpty(ring));
        }
    }
}
