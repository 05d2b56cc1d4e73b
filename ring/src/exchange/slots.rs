//! The table of slots: what state each is in, who watches it, and how to find one.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::delivery::{Delivery, Due};
use super::{BatchId, ConsumerId, GroupId, HeldBatch, Holder, SlotCounts, SlotId};

/// Slots of all rings.
#[derive(Clone, Debug, Default, Hash)]
pub(super) struct Slots {
    by_id: BTreeMap<SlotId, Slot>,
    retired: BTreeSet<u32>,
}

#[derive(Clone, Debug, Hash)]
pub(super) struct Slot {
    pub(super) state: SlotState,
    /// Rises with each claim.
    pub(super) generation: u64,
    /// Living processes that were evicted while they held the slot.
    pub(super) watchers: BTreeSet<ConsumerId>,
}

#[derive(Clone, Debug, Hash)]
pub(super) enum SlotState {
    Unpopulated,
    Free,
    Filling,
    /// READY or HELD, as the batch's groups have it.
    Full(Delivery),
    Quarantined,
    Retired,
}

impl Slots {
    pub(super) fn add_ring(&mut self, ring: u32, slots: u32) {
        for slot in 0..slots {
            let entry = Slot { state: SlotState::Unpopulated, generation: 0, watchers: BTreeSet::new() };
            let before = self.by_id.insert(SlotId { ring, slot }, entry);
            assert!(before.is_none(), "there is a ring {ring} already");
        }
    }

    pub(super) fn get_mut(&mut self, slot: SlotId) -> Option<&mut Slot> {
        self.by_id.get_mut(&slot)
    }

    pub(super) fn expect_mut(&mut self, slot: SlotId) -> &mut Slot {
        self.by_id.get_mut(&slot).expect("the slot was found in the table")
    }

    pub(super) fn expect_filling(&mut self, slot: SlotId) -> &mut Slot {
        let entry = self.by_id.get_mut(&slot).filter(|entry| matches!(entry.state, SlotState::Filling));
        entry.expect("a slot is claimed before it is published or given up")
    }

    /// The first free slot.
    pub(super) fn free(&self) -> Option<SlotId> {
        self.by_id.iter().find(|(_, entry)| matches!(entry.state, SlotState::Free)).map(|(id, _)| *id)
    }

    /// The batch that this group is offered next: offered before first, then by number; of epochs that it may have alone. One
    /// that waits to be noted is passed by the others, but not `in_order`.
    pub(super) fn next_for(
        &mut self,
        group: GroupId,
        may_have: impl Fn(u64) -> bool,
        in_order: bool,
    ) -> Option<(SlotId, &mut Slot)> {
        let turn = |entry: &Slot| -> Option<Due> {
            let delivery = entry.delivery().filter(|delivery| may_have(delivery.batch.epoch))?;
            delivery.turn(group).filter(|turn| in_order || !turn.unnoted)
        };
        let due = self.by_id.iter_mut().filter_map(|(id, entry)| Some((turn(entry)?, *id, entry)));
        let next = due.min_by_key(|(turn, ..)| *turn);
        next.filter(|(turn, ..)| !turn.unnoted).map(|(_, id, entry)| (id, entry))
    }

    /// The slot of a READY or HELD batch.
    pub(super) fn of_batch(&mut self, seq: u64) -> Option<(SlotId, &mut Slot)> {
        let found = self.by_id.iter_mut().find(|(_, entry)| entry.batch().is_some_and(|batch| batch.seq == seq));
        found.map(|(id, entry)| (*id, entry))
    }

    /// Numbers of all READY and HELD batches.
    pub(super) fn batches(&self) -> Vec<u64> {
        self.by_id.values().filter_map(|entry| entry.batch().map(|batch| batch.seq)).collect()
    }

    /// The batch that the consumer holds, if it is this one.
    pub(super) fn held(&self, consumer: ConsumerId, held: HeldBatch) -> Option<&Delivery> {
        let entry = self.by_id.get(&held.slot)?;
        entry.delivery().filter(|delivery| entry.is(held) && delivery.held_by(consumer).is_some())
    }

    pub(super) fn held_mut(&mut self, consumer: ConsumerId, held: HeldBatch) -> Option<&mut Delivery> {
        let entry = self.by_id.get_mut(&held.slot).filter(|entry| entry.is(held))?;
        entry.delivery_mut().filter(|delivery| delivery.held_by(consumer).is_some())
    }

    pub(super) fn held_by(&self, consumer: ConsumerId) -> Vec<SlotId> {
        let holds = |entry: &Slot| entry.delivery().is_some_and(|delivery| delivery.held_by(consumer).is_some());
        self.by_id.iter().filter(|(_, entry)| holds(entry)).map(|(id, _)| *id).collect()
    }

    /// Slots with a batch.
    pub(super) fn full(&self) -> Vec<SlotId> {
        self.by_id.iter().filter(|(_, entry)| entry.delivery().is_some()).map(|(id, _)| *id).collect()
    }

    /// The batches that are in slots.
    pub(super) fn deliveries(&self) -> impl Iterator<Item = &Delivery> {
        self.by_id.values().filter_map(Slot::delivery)
    }

    /// READY batches of epochs behind this one that no group was ever offered, the youngest first. Each with whether its slot
    /// can be filled when it is gone.
    pub(super) fn unoffered_after(&self, epoch: u64) -> Vec<(BatchId, bool)> {
        let is_later = |delivery: &&Delivery| delivery.batch.epoch > epoch && !delivery.was_offered();
        let found = self.by_id.iter().filter_map(|(id, entry)| {
            let delivery = entry.delivery().filter(is_later)?;
            Some((delivery.batch, !self.is_retired(id.ring)))
        });
        let mut later: Vec<_> = found.collect();
        later.sort_by_key(|(batch, _)| Reverse((batch.epoch, batch.seq)));
        later
    }

    pub(super) fn holders(&self, epoch: u64) -> impl Iterator<Item = Holder> + '_ {
        let of_epoch = self.deliveries().filter(move |delivery| delivery.batch.epoch == epoch);
        of_epoch
            .flat_map(|delivery| delivery.holders().map(move |consumer| Holder { consumer, seq: delivery.batch.seq }))
    }

    pub(super) fn watched_by(&self, consumer: ConsumerId) -> u32 {
        self.by_id.values().map(|entry| u32::from(entry.watchers.contains(&consumer))).sum()
    }

    /// Removes a watcher from all slots. Returns the quarantined slots that no process watches any more.
    pub(super) fn unwatch(&mut self, consumer: ConsumerId) -> Vec<SlotId> {
        let mut done = Vec::new();
        for (id, entry) in &mut self.by_id {
            let left = entry.watchers.remove(&consumer) && entry.watchers.is_empty();
            if left && matches!(entry.state, SlotState::Quarantined) {
                done.push(*id);
            }
        }
        done
    }

    /// The ring's free slots are not used any more; the others follow when they are done.
    pub(super) fn retire(&mut self, ring: u32) {
        self.retired.insert(ring);
        for entry in self.by_id.iter_mut().filter(|(id, _)| id.ring == ring).map(|(_, entry)| entry) {
            if matches!(entry.state, SlotState::Free | SlotState::Unpopulated) {
                entry.state = SlotState::Retired;
            }
        }
    }

    pub(super) fn is_retired(&self, ring: u32) -> bool {
        self.retired.contains(&ring)
    }

    /// Removes a retired ring if no trainer uses it. Returns whether it did.
    pub(super) fn sweep(&mut self, ring: u32) -> bool {
        let mut slots = self.by_id.iter().filter(|(id, _)| id.ring == ring);
        let empty = self.is_retired(ring) && slots.all(|(_, entry)| matches!(entry.state, SlotState::Retired));
        if empty {
            self.by_id.retain(|id, _| id.ring != ring);
            self.retired.remove(&ring);
        }
        empty
    }

    /// Slots of rings that are not retired.
    pub(super) fn in_service(&self) -> u32 {
        self.by_id.keys().map(|id| u32::from(!self.is_retired(id.ring))).sum()
    }

    pub(super) fn usable(&self) -> u32 {
        let usable = |id: &SlotId, entry: &Slot| {
            let stuck = entry.delivery().is_some_and(Delivery::is_only_viewed) || !entry.watchers.is_empty();
            !stuck && !self.is_retired(id.ring)
        };
        self.by_id.iter().map(|(id, entry)| u32::from(usable(id, entry))).sum()
    }

    pub(super) fn counts(&self) -> SlotCounts {
        let mut counts = SlotCounts::default();
        for entry in self.by_id.values() {
            let count = match &entry.state {
                SlotState::Unpopulated => &mut counts.unpopulated,
                SlotState::Free => &mut counts.free,
                SlotState::Filling => &mut counts.filling,
                SlotState::Full(delivery) if delivery.is_held() => &mut counts.held,
                SlotState::Full(_) => &mut counts.ready,
                SlotState::Quarantined => &mut counts.quarantined,
                SlotState::Retired => &mut counts.retired,
            };
            *count += 1;
        }
        counts
    }
}

impl Slot {
    pub(super) fn delivery(&self) -> Option<&Delivery> {
        match &self.state {
            SlotState::Full(delivery) => Some(delivery),
            _ => None,
        }
    }

    pub(super) fn delivery_mut(&mut self) -> Option<&mut Delivery> {
        match &mut self.state {
            SlotState::Full(delivery) => Some(delivery),
            _ => None,
        }
    }

    fn batch(&self) -> Option<BatchId> {
        self.delivery().map(|delivery| delivery.batch)
    }

    fn is(&self, held: HeldBatch) -> bool {
        self.batch().is_some_and(|batch| batch.seq == held.seq) && self.generation == held.generation
    }
}
