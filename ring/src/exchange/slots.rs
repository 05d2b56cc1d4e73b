//! The table of slots: what state each is in, who watches it, and how to find one.

use std::collections::{BTreeMap, BTreeSet};

use super::{BatchId, ConsumerId, HeldBatch, Holder, SlotCounts, SlotId};

/// Slots of all rings.
#[derive(Debug, Default)]
pub(super) struct Slots {
    by_id: BTreeMap<SlotId, Slot>,
    retired: BTreeSet<u32>,
}

#[derive(Debug)]
pub(super) struct Slot {
    pub(super) state: SlotState,
    /// Rises with each claim.
    pub(super) generation: u64,
    /// Living processes that were put out while they held the slot.
    pub(super) watchers: BTreeSet<ConsumerId>,
}

#[derive(Debug)]
pub(super) enum SlotState {
    Unpopulated,
    Free,
    Filling,
    Ready(Delivery),
    Held { consumer: ConsumerId, delivery: Delivery, acked: bool },
    Quarantined,
    Retired,
}

/// A batch on its way to a trainer.
#[derive(Clone, Debug)]
pub(super) struct Delivery {
    pub(super) batch: BatchId,
    /// How often it was offered.
    pub(super) offers: u32,
    /// Who had it last.
    pub(super) last: Option<ConsumerId>,
    /// A claim of it is lost: it is not offered again.
    pub(super) void: bool,
    /// A trainer may have seen it, which the ledger could still forget: it waits until that is noted.
    pub(super) unnoted: bool,
}

impl Delivery {
    pub(super) fn new(batch: BatchId) -> Self {
        Self { batch, offers: 0, last: None, void: false, unnoted: false }
    }
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

    /// The READY batch to offer next: offered before first, then by number; none of a later epoch than `open`. One that
    /// waits to be noted is passed by the others, but not `in_order`.
    pub(super) fn next_ready(&mut self, open: u64, in_order: bool) -> Option<(SlotId, &mut Slot)> {
        let may_be_next = |delivery: &Delivery| delivery.batch.epoch <= open && (in_order || !delivery.unnoted);
        let key = |entry: &Slot| match &entry.state {
            SlotState::Ready(delivery) if may_be_next(delivery) => Some((delivery.offers == 0, delivery.batch.seq)),
            _ => None,
        };
        let ready = self.by_id.iter_mut().filter_map(|(id, entry)| Some((key(entry)?, *id, entry)));
        let next = ready.min_by_key(|(key, ..)| *key).map(|(_, id, entry)| (id, entry));
        next.filter(|(_, entry)| !matches!(&entry.state, SlotState::Ready(delivery) if delivery.unnoted))
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

    /// The state of a slot that the consumer holds, if it is this one.
    pub(super) fn held(&self, consumer: ConsumerId, held: HeldBatch) -> Option<&SlotState> {
        let entry = self.by_id.get(&held.slot)?;
        entry.is_held(consumer, held).then_some(&entry.state)
    }

    pub(super) fn held_mut(&mut self, consumer: ConsumerId, held: HeldBatch) -> Option<&mut SlotState> {
        let entry = self.by_id.get_mut(&held.slot)?;
        entry.is_held(consumer, held).then_some(&mut entry.state)
    }

    pub(super) fn held_by(&self, consumer: ConsumerId) -> Vec<SlotId> {
        let held = self.by_id.iter().filter(|(_, entry)| entry.holder() == Some(consumer));
        held.map(|(id, _)| *id).collect()
    }

    pub(super) fn holders(&self, epoch: u64) -> impl Iterator<Item = Holder> + '_ {
        self.by_id.values().filter_map(move |entry| match &entry.state {
            SlotState::Held { consumer, delivery, acked: false } if delivery.batch.epoch == epoch => {
                Some(Holder { consumer: *consumer, seq: delivery.batch.seq })
            }
            _ => None,
        })
    }

    pub(super) fn watched_by(&self, consumer: ConsumerId) -> u32 {
        self.by_id.values().map(|entry| u32::from(entry.watchers.contains(&consumer))).sum()
    }

    /// Removes a watcher everywhere; gives the quarantined slots that nobody watches any more.
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

    /// Removes a retired ring that nobody uses; true if it did.
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
            let stuck = matches!(entry.state, SlotState::Held { acked: true, .. }) || !entry.watchers.is_empty();
            !stuck && !self.is_retired(id.ring)
        };
        self.by_id.iter().map(|(id, entry)| u32::from(usable(id, entry))).sum()
    }

    pub(super) fn counts(&self) -> SlotCounts {
        let mut counts = SlotCounts::default();
        for entry in self.by_id.values() {
            let count = match entry.state {
                SlotState::Unpopulated => &mut counts.unpopulated,
                SlotState::Free => &mut counts.free,
                SlotState::Filling => &mut counts.filling,
                SlotState::Ready(_) => &mut counts.ready,
                SlotState::Held { .. } => &mut counts.held,
                SlotState::Quarantined => &mut counts.quarantined,
                SlotState::Retired => &mut counts.retired,
            };
            *count += 1;
        }
        counts
    }
}

impl Slot {
    fn batch(&self) -> Option<BatchId> {
        match &self.state {
            SlotState::Ready(delivery) | SlotState::Held { delivery, .. } => Some(delivery.batch),
            _ => None,
        }
    }

    fn holder(&self) -> Option<ConsumerId> {
        match self.state {
            SlotState::Held { consumer, .. } => Some(consumer),
            _ => None,
        }
    }

    fn is_held(&self, consumer: ConsumerId, held: HeldBatch) -> bool {
        let batch = self.batch().is_some_and(|batch| batch.seq == held.seq);
        self.holder() == Some(consumer) && batch && self.generation == held.generation
    }
}
