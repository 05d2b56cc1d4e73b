//! Who may read what: the `split` mode's state machine. Events go in as methods, decisions come out as [`Action`]s.
//! It is pure: no I/O, no clock, no memory of the ring's.
//!
//! ```text
//! UNPOPULATED -> FREE -> FILLING -> READY -> HELD -> FREE
//!                                     ^        |-> READY        returned, or its consumer is gone un-acked
//!                                     '--------'-> QUARANTINED  acked, but a living process that was put out may
//!                                                               still look at it -> FREE when it is gone
//! ```
//! A slot remembers every living process that was put out while it held the slot (its *watchers*). Such a slot may
//! be read by others, but is not filled again before all of its watchers are gone.

mod action;
mod consumers;
mod leaving;
mod slots;

use std::collections::{BTreeMap, VecDeque};

pub use action::{
    Action, Adopted, BatchId, ConsumerId, ConsumerState, CreditsTaken, HeldBatch, Holder, SlotCounts, SlotId, Voided,
};
use consumers::Consumers;
use slots::{Delivery, Slot, SlotState, Slots};

/// Slots beyond the trainers' credits: one to fill, one to stand ready.
const SPARE_SLOTS: u32 = 2;

/// The slots of a stream's rings, the batches in them and the consumers that read them.
///
/// ```
/// use forebay_ring::{Action, BatchId, ConsumerId, Exchange, HeldBatch};
///
/// let mut exchange = Exchange::new(0);
/// exchange.add_ring(0, 4);
/// exchange.populated(forebay_ring::SlotId { ring: 0, slot: 0 });
/// let trainer = ConsumerId(1);
/// assert_eq!(exchange.attach(trainer, 2)?, 2);
///
/// let slot = exchange.claim().expect("one slot is populated");
/// exchange.publish(slot, BatchId { seq: 1, epoch: 0 });
/// let offer = exchange.drain().find_map(|action| match action {
///     Action::Offer { batch, slot, generation, .. } => Some(HeldBatch { seq: batch.seq, slot, generation }),
///     _ => None,
/// });
/// let held = offer.expect("the trainer has credit");
/// assert!(exchange.ack(trainer, held));
/// assert!(exchange.release(trainer, held, false));
/// # Ok::<(), forebay_ring::CreditsTaken>(())
/// ```
#[derive(Debug)]
pub struct Exchange {
    open: u64,
    /// No batch passes another one.
    in_order: bool,
    slots: Slots,
    consumers: Consumers,
    /// Batches of an earlier incarnation in a consumer's hands, with their epochs.
    adopted: BTreeMap<(ConsumerId, u64), u64>,
    actions: VecDeque<Action>,
}

impl Exchange {
    /// No slots and no consumers; batches of epochs up to `open` are offered.
    pub fn new(open: u64) -> Self {
        let (slots, consumers) = (Slots::default(), Consumers::default());
        Self { open, in_order: false, slots, consumers, adopted: BTreeMap::new(), actions: VecDeque::new() }
    }

    /// Batches keep their order also where one waits to be [`noted`](Self::noted): those behind it wait too. Otherwise
    /// batches that nobody has seen pass it.
    #[must_use]
    pub fn in_order(self) -> Self {
        Self { in_order: true, ..self }
    }

    /// What is to be done, oldest first. Call it after every event.
    pub fn drain(&mut self) -> impl Iterator<Item = Action> + '_ {
        self.actions.drain(..)
    }

    // Rings and slots.

    /// Adds a ring. Its slots can be claimed when they are [`populated`](Self::populated).
    ///
    /// # Panics
    /// When there is a ring of this number.
    pub fn add_ring(&mut self, ring: u32, slots: u32) {
        self.slots.add_ring(ring, slots);
    }

    /// The slot has its memory and becomes FREE.
    pub fn populated(&mut self, slot: SlotId) {
        if let Some(entry) = self.slots.get_mut(slot).filter(|entry| matches!(entry.state, SlotState::Unpopulated)) {
            entry.state = SlotState::Free;
            self.actions.push_back(Action::Free(slot));
        }
    }

    /// No slot of this ring is filled any more. [`Action::RingEmpty`] tells when nobody uses it.
    pub fn retire_ring(&mut self, ring: u32) {
        self.slots.retire(ring);
        self.sweep(ring);
    }

    /// The right to fill a slot: FREE becomes FILLING. `None` while there is none.
    pub fn claim(&mut self) -> Option<SlotId> {
        let slot = self.slots.free()?;
        let entry = self.slots.expect_mut(slot);
        entry.state = SlotState::Filling;
        entry.generation += 1;
        Some(slot)
    }

    /// The slot will not be filled: FILLING becomes FREE.
    pub fn give_up(&mut self, slot: SlotId) {
        self.slots.expect_filling(slot);
        self.finish(slot);
    }

    /// The batch stands in the slot: FILLING becomes READY. A `seq` is never used twice.
    ///
    /// # Panics
    /// When the slot was not claimed; so does [`give_up`](Self::give_up).
    pub fn publish(&mut self, slot: SlotId, batch: BatchId) {
        self.slots.expect_filling(slot).state = SlotState::Ready(Delivery::new(batch));
        self.offer();
    }

    /// A claim of this batch is lost (its lease went to somebody else). A READY batch is dropped at once; one in
    /// somebody's hands is not offered again, and its ack is still reported.
    pub fn void(&mut self, seq: u64) -> Voided {
        let Some((slot, entry)) = self.slots.of_batch(seq) else { return Voided::Unknown };
        match &mut entry.state {
            SlotState::Held { consumer, delivery, acked: false } => {
                delivery.void = true;
                Voided::Held(*consumer)
            }
            SlotState::Ready(delivery) => {
                let batch = delivery.batch;
                self.actions.push_back(Action::Dropped { batch, seen: false });
                self.finish(slot);
                Voided::Dropped
            }
            _ => Voided::Unknown,
        }
    }

    /// A restore fenced every lease: all READY batches are dropped, held ones are not offered again.
    pub fn drop_ready(&mut self) {
        for seq in self.slots.batches() {
            self.void(seq);
        }
    }

    /// The ledger knows for good what [`Action::Seen`] said of the batch, which may be offered again.
    pub fn noted(&mut self, seq: u64) {
        if let Some((_, Slot { state: SlotState::Ready(delivery), .. })) = self.slots.of_batch(seq) {
            delivery.unnoted = false;
        }
        self.offer();
    }

    // Consumers.

    /// A trainer attaches and asks for credits. It is granted what is left of them, at least one and at most what
    /// it asked for (rule 4).
    pub fn attach(&mut self, consumer: ConsumerId, asked: u32) -> Result<u32, CreditsTaken> {
        let slots = self.slots.in_service();
        let credits = slots.saturating_sub(SPARE_SLOTS);
        let left = credits.saturating_sub(self.consumers.granted());
        if left == 0 {
            return Err(CreditsTaken { slots, credits, trainers: self.consumers.attached_count() });
        }
        let granted = asked.clamp(1, left);
        self.consumers.attach(consumer, granted);
        self.offer();
        Ok(granted)
    }

    /// The trainer allows that many more offers. It never gets more at once than it was granted.
    pub fn credit(&mut self, consumer: ConsumerId, more: u64) {
        self.consumers.credit(consumer, more);
        self.offer();
    }

    /// The batch was consumed. Its slot stays HELD until the [`release`](Self::release) (rule 14). False when it is
    /// not what the consumer holds.
    pub fn ack(&mut self, consumer: ConsumerId, held: HeldBatch) -> bool {
        if held.is_handed_in() {
            let Some(epoch) = self.adopted.remove(&(consumer, held.seq)) else { return false };
            self.consumers.delivered(consumer);
            let batch = BatchId { seq: held.seq, epoch };
            self.actions.push_back(Action::AdoptedAcked(Adopted { consumer, batch }));
            return true;
        }
        match self.slots.held_mut(consumer, held) {
            Some(SlotState::Held { delivery, acked: acked @ false, .. }) => {
                *acked = true;
                let batch = delivery.batch;
                self.consumers.delivered(consumer);
                self.actions.push_back(Action::Acked { consumer, batch });
                true
            }
            _ => false,
        }
    }

    /// True while the consumer holds this batch un-acked: a part of an ACK may be kept.
    pub fn awaits(&self, consumer: ConsumerId, held: HeldBatch) -> bool {
        if held.is_handed_in() {
            return self.adopted.contains_key(&(consumer, held.seq));
        }
        matches!(self.slots.held(consumer, held), Some(SlotState::Held { acked: false, .. }))
    }

    /// No view of the slot is left. A batch that was not acked, or is `returned`, goes to another trainer; an ack
    /// that came before stands. False when it is not what the consumer holds.
    pub fn release(&mut self, consumer: ConsumerId, held: HeldBatch, returned: bool) -> bool {
        if held.is_handed_in() {
            let Some(epoch) = self.adopted.remove(&(consumer, held.seq)) else { return !returned };
            let batch = BatchId { seq: held.seq, epoch };
            self.actions.push_back(Action::Orphaned { adopted: Adopted { consumer, batch }, seen: false });
            return true;
        }
        if self.slots.held_mut(consumer, held).is_none() {
            return false;
        }
        self.consumers.let_go(consumer);
        self.take_back(held.slot, !returned);
        self.offer();
        true
    }

    /// The consumer holds a batch of the daemon's earlier incarnation, outside of every ring (rule 16). It ends as
    /// [`Action::AdoptedAcked`] or [`Action::Orphaned`].
    pub fn adopt(&mut self, consumer: ConsumerId, batch: BatchId) {
        self.adopted.insert((consumer, batch.seq), batch.epoch);
    }

    // Epochs.

    /// Batches of epochs up to this one may be offered. Every consumer is told of each epoch that is over (rule 11).
    pub fn open_epoch(&mut self, epoch: u64) {
        for ended in self.open..epoch {
            for consumer in self.consumers.attached() {
                self.actions.push_back(Action::EpochEnd { consumer, epoch: ended });
            }
        }
        self.open = self.open.max(epoch);
        self.offer();
    }

    /// A restore: the stream goes on at this epoch, which may be an earlier one. What was READY was
    /// [dropped](Self::drop_ready) before.
    pub fn restart_at(&mut self, epoch: u64) {
        self.open = epoch;
    }

    /// The last epoch whose batches may be offered.
    pub fn open(&self) -> u64 {
        self.open
    }

    /// Whose un-acked batches an epoch waits for, by batch number.
    pub fn holders(&self, epoch: u64) -> Vec<Holder> {
        let adopted = self.adopted.iter().filter(|(_, its)| **its == epoch);
        let mut holders: Vec<_> = adopted.map(|(&(consumer, seq), _)| Holder { consumer, seq }).collect();
        holders.extend(self.slots.holders(epoch));
        holders.sort_by_key(|holder| holder.seq);
        holders
    }

    // Numbers.

    /// Slots by state.
    pub fn counts(&self) -> SlotCounts {
        self.slots.counts()
    }

    /// Slots that will be free again without somebody's death: not retired, not watched, not held after their ack.
    /// With fewer than two, open a further ring (rule 4).
    pub fn usable(&self) -> u32 {
        self.slots.usable()
    }

    /// Slots that a consumer may still look at although it was put out.
    pub fn watched_by(&self, consumer: ConsumerId) -> u32 {
        self.slots.watched_by(consumer)
    }

    /// The consumers, in order of their numbers.
    pub fn consumers(&self) -> impl Iterator<Item = ConsumerState> + '_ {
        self.consumers.states()
    }

    /// Offers READY batches while there is a batch that may be offered and a consumer with credit.
    fn offer(&mut self) {
        while let Some((slot, entry)) = self.slots.next_ready(self.open, self.in_order) {
            let SlotState::Ready(delivery) = &mut entry.state else { return };
            let Some(consumer) = self.consumers.next(delivery.last) else { return };
            let (batch, redelivered) = (delivery.batch, delivery.offers);
            delivery.offers += 1;
            delivery.last = Some(consumer);
            entry.state = SlotState::Held { consumer, delivery: delivery.clone(), acked: false };
            self.consumers.take(consumer);
            let generation = entry.generation;
            self.actions.push_back(Action::Offer { consumer, slot, batch, generation, redelivered });
        }
    }

    /// A HELD slot is in nobody's hands any more; who had it may have `seen` its batch.
    fn take_back(&mut self, slot: SlotId, seen: bool) {
        let entry = self.slots.expect_mut(slot);
        let SlotState::Held { delivery, acked, .. } = &mut entry.state else { return };
        let batch = delivery.batch;
        match (acked, delivery.void) {
            (true, _) => self.finish(slot),
            (false, true) => {
                self.actions.push_back(Action::Dropped { batch, seen });
                self.finish(slot);
            }
            (false, false) => {
                delivery.unnoted = seen;
                entry.state = SlotState::Ready(delivery.clone());
                if seen {
                    self.actions.push_back(Action::Seen(batch));
                }
            }
        }
    }

    /// Nothing stands in the slot any more.
    fn finish(&mut self, slot: SlotId) {
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

    fn sweep(&mut self, ring: u32) {
        if self.slots.sweep(ring) {
            self.actions.push_back(Action::RingEmpty(ring));
        }
    }
}
