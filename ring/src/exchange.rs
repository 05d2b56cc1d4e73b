//! Decides which trainer may read which slot. Events go in as methods, decisions come out as [`Action`]s. It is pure: no
//! I/O, no clock, no access to the ring's memory.
//!
//! ```text
//! UNPOPULATED -> FREE -> FILLING -> READY -> HELD -> FREE
//!                                     ^        |-> READY        returned, or its consumer is gone un-acked
//!                                     '--------'-> QUARANTINED  acked, but a living process that was evicted may
//!                                                               still read it -> FREE when it is gone
//! ```
//! Each batch goes once to each group of trainers (`delivery.rs`). In `split` all trainers are one group. In `each` a slot is
//! HELD while a trainer of any group has it, and it is free when every group is done with it.
//!
//! A slot remembers every living process that was evicted while it held the slot (its *watchers*). Other trainers may read
//! such a slot, but it is not filled again before all of its watchers are gone.

mod action;
mod consumers;
mod delivery;
mod groups;
mod leaving;
mod moves;
mod room;
mod slots;

use std::collections::{BTreeMap, VecDeque};

pub use action::{
    Action, Adopted, BatchId, ConsumerId, ConsumerState, CreditsTaken, Granted, GroupId, GroupState, HeldBatch, Holder,
    Join, Membership, NoPlace, SlotCounts, SlotId, Voided,
};
use consumers::Consumers;
use delivery::{Delivery, LetGo, Outcome};
use groups::Groups;
use slots::{SlotState, Slots};

/// Slots beyond the trainers' credits: one that is being filled, and one that is ready.
const SPARE_SLOTS: u32 = 2;

/// The slots of a stream's rings, the batches in them and the consumers that read them.
///
/// ```
/// use forebay_ring::{Action, BatchId, ConsumerId, Exchange, HeldBatch, Membership};
///
/// let mut exchange = Exchange::new(0);
/// exchange.add_ring(0, 4);
/// exchange.populated(forebay_ring::SlotId { ring: 0, slot: 0 });
/// let trainer = ConsumerId(1);
/// assert_eq!(exchange.attach(trainer, 2, Membership::default())?.credits, 2);
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
/// # Ok::<(), forebay_ring::NoPlace>(())
/// ```
#[derive(Clone, Debug, Hash)]
pub struct Exchange {
    open: u64,
    /// No batch passes another one.
    in_order: bool,
    slots: Slots,
    consumers: Consumers,
    groups: Groups,
    /// The last epoch with a batch that was offered.
    begun: Option<u64>,
    /// Batches of earlier incarnations that consumers hold, by the consumer's own number of each.
    adopted: BTreeMap<(ConsumerId, u64), BatchId>,
    actions: VecDeque<Action>,
}

impl Exchange {
    /// No slots and no consumers; batches of epochs up to `open` are offered. Each goes to one trainer.
    pub fn new(open: u64) -> Self {
        let (slots, consumers, groups) = (Slots::default(), Consumers::default(), Groups::one());
        let (adopted, actions) = (BTreeMap::new(), VecDeque::new());
        Self { open, in_order: false, slots, consumers, groups, begun: None, adopted, actions }
    }

    /// Each batch goes once to each group of trainers.
    #[must_use]
    pub fn each(self) -> Self {
        Self { groups: Groups::many(), ..self }
    }

    /// Keeps the order of batches even while one waits to be [`noted`](Self::noted): later batches wait too. Otherwise later
    /// batches that no trainer has seen overtake it.
    #[must_use]
    pub fn in_order(self) -> Self {
        Self { in_order: true, ..self }
    }

    /// The actions that are due, oldest first. Call it after every event.
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

    /// No slot of this ring is filled any more. [`Action::RingEmpty`] follows once no trainer uses it.
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

    /// The batch is complete in its slot: FILLING becomes READY. A `seq` is never used twice.
    ///
    /// # Panics
    /// When the slot was not claimed; so does [`give_up`](Self::give_up).
    pub fn publish(&mut self, slot: SlotId, batch: BatchId) {
        self.slots.expect_filling(slot).state = SlotState::Full(Delivery::new(batch));
        self.offer();
    }

    /// A claim of this batch is lost, because its lease went to another worker. A READY batch is dropped at once. One that a
    /// trainer holds is not offered again, and its ack is still reported.
    pub fn void(&mut self, seq: u64) -> Voided {
        let Some((slot, entry)) = self.slots.of_batch(seq) else { return Voided::Unknown };
        let Some(delivery) = entry.delivery_mut() else { return Voided::Unknown };
        let (batch, holders) = (delivery.batch, delivery.void());
        let dropped = matches!(delivery.outcome(), Outcome::Over { dropped: Some(_) });
        self.settle(slot, batch, false);
        match (holders.is_empty(), dropped) {
            (false, _) => Voided::Held(holders),
            (true, true) => Voided::Dropped,
            (true, false) => Voided::Unknown,
        }
    }

    /// A restore fenced every lease: all READY batches are dropped, held ones are not offered again.
    pub fn drop_ready(&mut self) {
        for seq in self.slots.batches() {
            self.void(seq);
        }
    }

    /// The stream is about to end: as [`drop_ready`](Self::drop_ready), but a batch that one group has acked, or has in its hands,
    /// is kept for the others until [`drop_unacked`](Self::drop_unacked).
    pub fn drop_unread(&mut self) {
        for seq in self.slots.batches() {
            let delivery = self.slots.of_batch(seq).and_then(|(_, entry)| entry.delivery_mut());
            if !delivery.is_some_and(|delivery| delivery.is_for_more_groups()) {
                self.void(seq);
            }
        }
    }

    /// The stream ends: what no group has acked is not offered again. What one has acked, and others have not, stays as it is.
    pub fn drop_unacked(&mut self) {
        for seq in self.slots.batches() {
            let delivery = self.slots.of_batch(seq).and_then(|(_, entry)| entry.delivery_mut());
            if let Some(delivery) = delivery.filter(|delivery| !delivery.is_acked()) {
                delivery.keep_sights();
                self.void(seq);
            }
        }
    }

    /// Names of the groups that still wait for a batch which another group has acked. `None` if no group waits for it.
    /// Groups without a name are left out.
    pub fn waiting_for(&self, seq: u64) -> Option<Vec<String>> {
        let delivery = self.slots.deliveries().find(|delivery| delivery.batch.seq == seq)?;
        let waiting: Vec<_> = delivery.unacked().collect();
        let names = waiting.iter().filter_map(|group| self.groups.name(*group).map(str::to_owned));
        (delivery.is_acked() && !waiting.is_empty()).then(|| names.collect())
    }

    /// The ledger knows for good what [`Action::Seen`] said of the batch, which may be offered again.
    pub fn noted(&mut self, seq: u64) {
        if let Some(delivery) = self.slots.of_batch(seq).and_then(|(_, entry)| entry.delivery_mut()) {
            delivery.noted();
        }
        self.offer();
    }

    // Consumers.

    /// A trainer attaches and asks for credits. It is granted what its group has left of them, at least one and at most what
    /// it asked for (rule 4).
    ///
    /// # Errors
    /// No credit is left, or there are too many groups.
    pub fn attach(&mut self, consumer: ConsumerId, asked: u32, membership: Membership) -> Result<Granted, NoPlace> {
        let slots = self.slots.in_service();
        let credits = slots.saturating_sub(SPARE_SLOTS);
        let group = self.groups.find(&membership);
        if group.is_none() && !self.groups.has_room() {
            return Err(NoPlace::Groups { groups: groups::MOST });
        }
        let members: Vec<_> = group.iter().flat_map(|group| self.groups.members(*group)).collect();
        let left = credits.saturating_sub(self.consumers.granted(members.iter().copied()));
        if left == 0 {
            let trainers = u32::try_from(members.len()).unwrap_or(u32::MAX);
            return Err(CreditsTaken { slots, credits, trainers }.into());
        }
        let granted = asked.clamp(1, left);
        let begun = self.begun.is_some_and(|begun| begun >= self.open);
        let epoch = self.groups.enter(consumer, membership, self.open, begun);
        self.consumers.attach(consumer, granted);
        self.offer();
        Ok(Granted { credits: granted, epoch })
    }

    /// A group with this name was there before the daemon was started, and may come back: batches are for it too, until it is
    /// [ended](Self::end_group). False in `split`, or if there are too many groups.
    pub fn expect_group(&mut self, name: &str) -> bool {
        self.groups.expect(name)
    }

    /// The trainer allows that many more offers. It never gets more at once than it was granted.
    pub fn credit(&mut self, consumer: ConsumerId, more: u64) {
        self.consumers.credit(consumer, more);
        self.offer();
    }

    /// The batch was consumed. Its slot stays HELD until the [`release`](Self::release) (rule 14). False when it is
    /// not what the consumer holds.
    pub fn ack(&mut self, consumer: ConsumerId, held: HeldBatch) -> bool {
        if let Some(hold) = held.hold() {
            let Some(batch) = self.adopted.remove(&(consumer, hold)) else { return false };
            self.consumers.delivered(consumer);
            self.actions.push_back(Action::AdoptedAcked(Adopted { consumer, hold, batch }));
            return true;
        }
        let Some(delivery) = self.slots.held_mut(consumer, held) else { return false };
        let (batch, is_first) = (delivery.batch, delivery.ack(consumer));
        if is_first {
            self.consumers.delivered(consumer);
            self.groups.delivered(consumer);
            self.settle(held.slot, batch, false);
        }
        is_first
    }

    /// True while the consumer holds this batch un-acked: a part of an ACK may be kept.
    pub fn awaits(&self, consumer: ConsumerId, held: HeldBatch) -> bool {
        if let Some(hold) = held.hold() {
            return self.adopted.contains_key(&(consumer, hold));
        }
        self.slots.held(consumer, held).and_then(|delivery| delivery.held_by(consumer)) == Some(false)
    }

    /// No view of the slot is left. A batch that was not acked, or is `returned`, goes to another trainer. An earlier ack
    /// remains valid. False if the consumer does not hold this batch.
    pub fn release(&mut self, consumer: ConsumerId, held: HeldBatch, returned: bool) -> bool {
        if let Some(hold) = held.hold() {
            let Some(batch) = self.adopted.remove(&(consumer, hold)) else { return !returned };
            self.actions.push_back(Action::Orphaned { adopted: Adopted { consumer, hold, batch }, seen: !returned });
            return true;
        }
        if self.slots.held(consumer, held).is_none() {
            return false;
        }
        self.consumers.let_go(consumer);
        self.take_back(held.slot, consumer, LetGo { seen: !returned, ends: false });
        self.offer();
        true
    }

    /// The consumer holds a batch of an earlier incarnation, outside of every ring (rule 16). `hold` is its own number of it:
    /// batches of two incarnations may have the same `seq`. It ends as [`Action::AdoptedAcked`] or [`Action::Orphaned`].
    pub fn adopt(&mut self, consumer: ConsumerId, hold: u64, batch: BatchId) {
        self.adopted.entry((consumer, hold)).or_insert(batch);
    }

    // Epochs.

    /// Batches of epochs up to this one may be offered. Every consumer whose group was in an epoch gets the end of that
    /// epoch (rule 11).
    pub fn open_epoch(&mut self, epoch: u64) {
        for ended in self.open..epoch {
            for group in self.groups.in_epoch(ended) {
                for consumer in self.groups.members(group) {
                    self.actions.push_back(Action::EpochEnd { consumer, epoch: ended });
                }
            }
        }
        self.open = self.open.max(epoch);
        self.offer();
    }

    /// A restore: the stream continues at this epoch, which may be an earlier one. The READY batches were
    /// [dropped](Self::drop_ready) before.
    pub fn restart_at(&mut self, epoch: u64) {
        self.open = epoch;
        self.begun = None;
        self.groups.restart_at(epoch);
    }

    /// The last epoch whose batches may be offered.
    pub fn open(&self) -> u64 {
        self.open
    }

    /// Whose un-acked batches an epoch waits for, by batch number.
    pub fn holders(&self, epoch: u64) -> Vec<Holder> {
        let adopted = self.adopted.iter().filter(|(_, batch)| batch.epoch == epoch);
        let mut holders: Vec<_> = adopted.map(|(&(consumer, _), batch)| Holder { consumer, seq: batch.seq }).collect();
        holders.extend(self.slots.holders(epoch));
        holders.sort_by_key(|holder| holder.seq);
        holders
    }

    /// Whether the consumer and its group have nothing un-acked of the epoch, and wait for nothing of it that is there.
    pub fn is_done_with(&self, consumer: ConsumerId, epoch: u64) -> bool {
        let Some(group) = self.groups.of(consumer) else { return false };
        let is_in = self.groups.is_in(group, epoch);
        let is_due = |delivery: &Delivery| is_in && delivery.is_due(group) || delivery.held_by(consumer) == Some(false);
        let mut of_epoch = self.slots.deliveries().filter(|delivery| delivery.batch.epoch == epoch);
        let mut adopted = self.adopted.iter().filter(|(_, batch)| batch.epoch == epoch);
        !of_epoch.any(is_due) && !adopted.any(|((holder, _), _)| *holder == consumer)
    }

    /// The group that is furthest behind, and the trainers that wait for it, because the ring has no room for a batch that
    /// is new to them. `None` while there is room, or while no trainer waits.
    pub fn held_up(&self) -> Option<(GroupState, Vec<ConsumerId>)> {
        let counts = self.counts();
        if counts.unpopulated + counts.free + counts.filling > 0 {
            return None;
        }
        let states: Vec<_> = self.groups().collect();
        let has_had_all = |id: &ConsumerId| states.iter().any(|group| group.behind == 0 && group.members.contains(id));
        let waiting: Vec<_> = self.consumers.waiting().filter(has_had_all).collect();
        let last = states.into_iter().filter(|group| group.behind > 0).max_by_key(|group| group.behind)?;
        (!waiting.is_empty()).then_some((last, waiting))
    }

    // Numbers.

    /// Slots by state.
    pub fn counts(&self) -> SlotCounts {
        self.slots.counts()
    }

    /// Slots that will be free again without the death of a trainer: not retired, not watched, not held after their ack.
    /// With fewer than two, open a further ring (rule 4).
    pub fn usable(&self) -> u32 {
        self.slots.usable()
    }

    /// Slots that a consumer may still read although it was evicted.
    pub fn watched_by(&self, consumer: ConsumerId) -> u32 {
        self.slots.watched_by(consumer)
    }

    /// The consumers, in order of their numbers.
    pub fn consumers(&self) -> impl Iterator<Item = ConsumerState> + '_ {
        self.consumers.states()
    }

    /// The groups of trainers, with what each has and waits for; none in `split`.
    pub fn groups(&self) -> impl Iterator<Item = GroupState> + '_ {
        self.groups.states().map(|state| {
            let open = self.slots.deliveries().filter(|delivery| delivery.batch.epoch <= self.open);
            let mine = open.filter(|delivery| self.groups.is_in(state.id, delivery.batch.epoch));
            let behind = mine.filter(|delivery| delivery.is_unacked_by(state.id)).count();
            GroupState { behind: u32::try_from(behind).unwrap_or(u32::MAX), ..state }
        })
    }
}
