//! What groups may get, kept naively: for each batch, the set of groups that were there when it was first offered, and who has
//! acked it. The model knows nothing of slots' states. It asserts with each event that the exchange keeps semantics rules 42
//! to 44.

use std::collections::{BTreeMap, BTreeSet};

use forebay_ring::{Action, BatchId, ConsumerId, Exchange, GroupId, HeldBatch, Join, Membership, SlotId, Voided};

use crate::event::{Event, NAMES};

/// A trainer whose process may live.
#[derive(Clone, Debug, Hash)]
pub(crate) struct Trainer {
    group: GroupId,
    pub(crate) granted: u32,
    pub(crate) credits: u32,
    pub(crate) attached: bool,
    may_read: BTreeSet<SlotId>,
}

#[derive(Clone, Debug, Hash)]
pub(crate) struct Group {
    pub(crate) name: Option<String>,
    from: u64,
    /// Number of the last batch of each epoch that it was offered for the first time.
    newest: BTreeMap<u64, u64>,
}

#[derive(Clone, Debug, Hash)]
pub(crate) struct Batch {
    pub(crate) id: BatchId,
    slot: SlotId,
    /// Groups that are to get it and have not ended; nothing before its first offer.
    due: Option<BTreeSet<GroupId>>,
    offered_to: BTreeSet<GroupId>,
    acked_by: BTreeSet<GroupId>,
    pub(crate) void: bool,
    /// Acked or dropped.
    pub(crate) over: bool,
    pub(crate) unnoted: u32,
}

#[derive(Clone, Copy, Debug, Hash)]
pub(crate) struct InHand {
    pub(crate) consumer: ConsumerId,
    group: GroupId,
    receipt: HeldBatch,
    pub(crate) acked: bool,
}

#[derive(Clone, Debug, Hash)]
pub(crate) struct Model {
    slots: u32,
    pub(crate) exchange: Exchange,
    /// Of the last batch; the first is 1.
    pub(crate) next_seq: u64,
    /// Of the last trainer; the first is 1.
    pub(crate) next_consumer: u64,
    pub(crate) trainers: BTreeMap<ConsumerId, Trainer>,
    pub(crate) groups: BTreeMap<GroupId, Group>,
    pub(crate) batches: BTreeMap<u64, Batch>,
    pub(crate) hands: Vec<InHand>,
}

fn pick<T>(all: impl IntoIterator<Item = T>, number: usize) -> Option<T> {
    let mut all: Vec<_> = all.into_iter().collect();
    (!all.is_empty()).then(|| all.swap_remove(number % all.len()))
}

impl Model {
    /// With so many free slots, and nobody.
    pub(crate) fn new(slots: u32) -> Self {
        let mut exchange = Exchange::new(0).each();
        exchange.add_ring(0, slots);
        (0..slots).for_each(|slot| exchange.populated(SlotId { ring: 0, slot }));
        let (trainers, groups, batches) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let hands = Vec::new();
        let mut model = Self { slots, exchange, next_seq: 0, next_consumer: 0, trainers, groups, batches, hands };
        model.obey();
        model
    }

    /// Lets it happen, and asserts that what the exchange wants done is right.
    pub(crate) fn apply(&mut self, event: Event) {
        match event {
            Event::Publish { ahead } => self.publish(self.exchange.open() + ahead),
            Event::Attach { name, late, credits } => self.attach(NAMES.get(name), late, credits),
            Event::Ack(number) => {
                if let Some(at) = pick(0..self.hands.len(), number) {
                    let InHand { consumer, group, receipt, acked } = self.hands[at];
                    self.hands[at].acked = true;
                    self.batches.get_mut(&receipt.seq).unwrap().acked_by.insert(group);
                    assert_eq!(self.exchange.ack(consumer, receipt), !acked);
                }
            }
            Event::Release { pick: number, returned } => {
                if let Some(at) = pick(0..self.hands.len(), number) {
                    let hand = self.hands.swap_remove(at);
                    self.trainers.get_mut(&hand.consumer).unwrap().may_read.remove(&hand.receipt.slot);
                    assert!(self.exchange.release(hand.consumer, hand.receipt, returned));
                }
            }
            Event::Credit(number) => {
                if let Some((id, trainer)) = pick(self.trainers.iter_mut(), number) {
                    trainer.credits = (trainer.credits + 1).min(trainer.granted);
                    self.exchange.credit(*id, 1);
                }
            }
            Event::Evict(number) => self.leave(number, false, Exchange::evict),
            Event::Exit(number) => self.leave(number, true, Exchange::gone),
            Event::Bye(number) => self.leave(number, true, Exchange::bye),
            Event::EndGroup(number) => {
                if let Some(id) = pick(self.groups.keys().copied(), number) {
                    let is_empty = !self.trainers.values().any(|trainer| trainer.attached && trainer.group == id);
                    if is_empty {
                        self.end(id);
                    }
                    assert_eq!(self.exchange.end_group(id), is_empty);
                }
            }
            Event::NextEpoch if !self.is_over() => return,
            Event::NextEpoch => self.exchange.open_epoch(self.exchange.open() + 1),
            Event::Void(seq) => {
                if let Some(batch) = self.batches.get_mut(&seq).filter(|batch| !batch.over) {
                    batch.void = true;
                }
                let told = self.exchange.void(seq);
                let its = self.hands.iter().filter(|hand| hand.receipt.seq == seq && !hand.acked);
                let holders: BTreeSet<_> = its.map(|hand| hand.consumer).collect();
                match told {
                    Voided::Held(told) => assert_eq!(told.into_iter().collect::<BTreeSet<_>>(), holders),
                    Voided::Dropped | Voided::Unknown => assert!(holders.is_empty()),
                }
            }
            Event::Noted(number) => {
                let waiting = self.batches.iter_mut().filter(|(_, batch)| batch.unnoted > 0);
                if let Some((seq, batch)) = pick(waiting, number) {
                    batch.unnoted -= 1;
                    self.exchange.noted(*seq);
                }
            }
        }
        self.obey();
        // What led here is forgotten: moments that differ in nothing else are the same.
        self.hands.sort_by_key(|hand| (hand.consumer, hand.receipt.seq));
        let is_in_hand = |seq: u64| self.hands.iter().any(|hand| hand.receipt.seq == seq);
        self.batches.retain(|seq, batch| !batch.over || is_in_hand(*seq));
        self.check();
    }

    fn publish(&mut self, epoch: u64) {
        let Some(slot) = self.exchange.claim() else { return };
        let readers = self.trainers.iter().find(|(_, trainer)| trainer.may_read.contains(&slot));
        assert!(readers.is_none(), "{slot:?} is refilled while {readers:?} may read it");
        let occupant = self.batches.values().find(|batch| batch.slot == slot && !batch.over);
        assert!(occupant.is_none(), "{slot:?} is refilled over {occupant:?}");
        self.next_seq += 1;
        let id = BatchId { seq: self.next_seq, epoch };
        let (offered_to, acked_by) = (BTreeSet::new(), BTreeSet::new());
        let batch = Batch { id, slot, due: None, offered_to, acked_by, void: false, over: false, unnoted: 0 };
        self.batches.insert(id.seq, batch);
        self.exchange.publish(slot, id);
    }

    fn attach(&mut self, name: Option<&&str>, late: bool, credits: u32) {
        let consumer = ConsumerId(self.next_consumer + 1);
        let join = if late { Join::Epoch } else { Join::Next };
        let membership = Membership { group: name.map(|name| (*name).to_owned()), join };
        let Ok(granted) = self.exchange.attach(consumer, credits, membership.clone()) else { return };
        self.next_consumer = consumer.0;
        let states: Vec<_> = self.exchange.groups().collect();
        let state = states.iter().find(|state| state.members.contains(&consumer)).unwrap();
        assert_eq!(state.name, membership.group);
        let same = |group: &Group| group.name.is_some() && group.name == membership.group;
        if let Some((id, group)) = self.groups.iter().find(|(_, group)| same(group)) {
            assert_eq!((state.id, granted.epoch), (*id, group.from), "the group is there");
        } else {
            let open = self.exchange.open();
            let is_left_to_others = self.groups.values().any(|group| group.from <= open);
            assert!(granted.epoch <= open || (late && is_left_to_others), "nobody is left for epoch {open}");
            let group = Group { name: membership.group, from: granted.epoch, newest: BTreeMap::new() };
            assert!(self.groups.insert(state.id, group).is_none(), "numbers are not used twice");
        }
        let (may_read, granted) = (BTreeSet::new(), granted.credits);
        let trainer = Trainer { group: state.id, granted, credits: granted, attached: true, may_read };
        self.trainers.insert(consumer, trainer);
    }

    fn leave(&mut self, number: usize, exits: bool, how: fn(&mut Exchange, ConsumerId)) {
        let Some(id) = pick(self.trainers.keys().copied(), number) else { return };
        let trainer = self.trainers.get_mut(&id).unwrap();
        let group = trainer.group;
        let was_attached = std::mem::take(&mut trainer.attached);
        if exits {
            trainer.may_read.clear();
        }
        self.hands.retain(|hand| hand.consumer != id);
        if was_attached && self.groups.get(&group).is_some_and(|group| group.name.is_none()) {
            self.end(group);
        }
        how(&mut self.exchange, id);
    }

    /// Whether nothing is left of the open epoch.
    pub(crate) fn is_over(&self) -> bool {
        self.batches.values().all(|batch| batch.over || batch.void || batch.id.epoch > self.exchange.open())
    }

    fn end(&mut self, id: GroupId) {
        self.groups.remove(&id);
        let open = self.exchange.open();
        if self.groups.values().all(|group| group.from > open)
            && let Some((_, oldest)) = self.groups.iter_mut().next()
        {
            oldest.from = open;
        }
        for batch in self.batches.values_mut().filter(|batch| !batch.over) {
            let Some(due) = &mut batch.due else { continue };
            due.remove(&id);
            if due.is_empty() && batch.acked_by.is_empty() {
                batch.due = None;
            }
        }
    }

    fn obey(&mut self) {
        let actions: Vec<_> = self.exchange.drain().collect();
        for action in actions {
            match action {
                Action::Offer { consumer, slot, batch, generation, redelivered } => {
                    self.offered(consumer, HeldBatch { seq: batch.seq, slot, generation }, redelivered);
                }
                Action::Acked { batch, .. } => {
                    let batch = self.batches.get_mut(&batch.seq).unwrap();
                    assert!(!std::mem::replace(&mut batch.over, true), "{batch:?} was over");
                    assert!(!batch.acked_by.is_empty(), "nobody has acked {batch:?}");
                    let missing = batch.due.iter().flatten().find(|group| !batch.acked_by.contains(group));
                    assert!(missing.is_none() || batch.void, "{missing:?} has not acked {batch:?}");
                }
                Action::Dropped { batch, .. } => {
                    let batch = self.batches.get_mut(&batch.seq).unwrap();
                    assert!(!std::mem::replace(&mut batch.over, true), "{batch:?} was over");
                    assert!(batch.void && batch.acked_by.is_empty(), "{batch:?} is dropped");
                }
                Action::Seen(batch) => self.batches.get_mut(&batch.seq).unwrap().unnoted += 1,
                Action::EpochEnd { consumer, epoch } => {
                    let trainer = &self.trainers[&consumer];
                    assert!(trainer.attached && self.groups[&trainer.group].from <= epoch);
                }
                Action::Gone(consumer) => {
                    let trainer = self.trainers.remove(&consumer).unwrap();
                    assert!(trainer.may_read.is_empty(), "{consumer:?} is forgotten while it may read");
                }
                Action::Free(_) => {}
                Action::AdoptedAcked(_) | Action::Orphaned { .. } | Action::RingEmpty(_) => panic!("{action:?}"),
            }
        }
    }

    fn offered(&mut self, consumer: ConsumerId, receipt: HeldBatch, redelivered: u32) {
        let trainer = self.trainers.get_mut(&consumer).unwrap();
        let held = self.hands.iter().filter(|hand| hand.consumer == consumer).count();
        assert!(trainer.attached && trainer.credits > 0 && held < trainer.granted as usize);
        trainer.credits -= 1;
        trainer.may_read.insert(receipt.slot);
        let batch = self.batches.get_mut(&receipt.seq).unwrap();
        assert!(!batch.over && !batch.void && batch.id.epoch <= self.exchange.open() && batch.slot == receipt.slot);
        let group = trainer.group;
        let present = self.groups.iter().filter(|(_, group)| group.from <= batch.id.epoch).map(|(id, _)| *id);
        let due = batch.due.get_or_insert_with(|| present.collect());
        assert!(due.contains(&group), "{group:?} is not one of the batch's groups {due:?}");
        assert!(!batch.acked_by.contains(&group), "{group:?} has acked {} already", receipt.seq);
        let twice = self.hands.iter().find(|hand| hand.receipt.seq == receipt.seq && hand.group == group);
        assert!(twice.is_none(), "{twice:?} has it already");
        let is_new = batch.offered_to.insert(group) && redelivered == 0;
        assert!(is_new || batch.unnoted == 0, "{} waits to be noted", receipt.seq);
        if is_new {
            let newest = self.groups.get_mut(&group).unwrap().newest.entry(batch.id.epoch).or_default();
            assert!(*newest < receipt.seq, "{group:?} had {newest} before {}", receipt.seq);
            *newest = receipt.seq;
        }
        self.hands.push(InHand { consumer, group, receipt, acked: false });
    }

    /// What must hold at every moment.
    fn check(&self) {
        let counts = self.exchange.counts();
        let held: BTreeSet<_> = self.hands.iter().map(|hand| hand.receipt.slot).collect();
        assert_eq!(counts.held as usize, held.len());
        assert_eq!(counts.free + counts.ready + counts.held + counts.quarantined, self.slots);
        let known: Vec<_> = self.exchange.groups().map(|group| group.id).collect();
        assert_eq!(known, self.groups.keys().copied().collect::<Vec<_>>());
        for (id, trainer) in &self.trainers {
            let held = self.hands.iter().filter(|hand| hand.consumer == *id).count();
            if trainer.attached && trainer.credits > 0 && held < trainer.granted as usize {
                let kept = self.batches.values().find(|batch| self.waits_for(batch, trainer.group));
                assert!(kept.is_none(), "{id:?} has credit for {kept:?}");
            }
        }
    }

    /// Whether the group could get this batch now.
    fn waits_for(&self, batch: &Batch, group: GroupId) -> bool {
        let is_open = !batch.over && !batch.void && batch.id.epoch <= self.exchange.open();
        let is_due = match &batch.due {
            None => self.groups[&group].from <= batch.id.epoch,
            Some(due) => due.contains(&group) && !batch.acked_by.contains(&group),
        };
        let has = |hand: &InHand| hand.receipt.seq == batch.id.seq && hand.group == group;
        is_open && is_due && batch.unnoted == 0 && !self.hands.iter().any(has)
    }

    /// A last trainer comes, everybody else dies, their groups end, and it reads the rest. Nothing may be left over.
    pub(crate) fn finish(mut self, late: bool) {
        self.attach(None, late, 2);
        self.obey();
        let last = ConsumerId(self.next_consumer);
        while let Some(number) = self.trainers.keys().position(|id| *id != last) {
            self.apply(Event::Exit(number));
        }
        let its = self.trainers[&last].group;
        while let Some(number) = self.groups.keys().position(|id| *id != its) {
            self.apply(Event::EndGroup(number));
        }
        while self.batches.values().any(|batch| batch.unnoted > 0) {
            self.apply(Event::Noted(0));
        }
        for _ in 0..2 {
            while !self.hands.is_empty() {
                self.apply(Event::Ack(0));
                self.apply(Event::Release { pick: 0, returned: false });
                self.apply(Event::Credit(0));
            }
            self.apply(Event::NextEpoch);
        }
        let left = self.batches.values().find(|batch| !batch.over);
        assert!(left.is_none(), "{left:?} is lost");
        assert_eq!(self.exchange.counts().free, self.slots);
    }
}
