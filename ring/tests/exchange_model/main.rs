//! The exchange under random events, deaths at any point included, against a plain model of what trainers see.
//!
//! The model knows nothing of states: it keeps what each process could still read, which batches were delivered,
//! and how much each trainer allowed. What the exchange wants done is checked against that.
#![allow(clippy::unwrap_used, reason = "a test's own steps")]

mod dead;
mod event;

use std::collections::{BTreeMap, BTreeSet};

use dead::DeadDaemons;
use event::{Event, event};
use forebay_ring::{Action, BatchId, ConsumerId, Exchange, Granted, HeldBatch, Membership, SlotId, Voided};
use proptest::prelude::*;

const SLOTS: u32 = 6;

/// A slot in a trainer's hands.
#[derive(Clone, Copy, Debug)]
struct InHand {
    consumer: ConsumerId,
    receipt: HeldBatch,
    acked: bool,
}

#[derive(Debug)]
struct Trainer {
    granted: u32,
    credits: u32,
    attached: bool,
    /// Slots that a living process may look at, whatever it said.
    may_read: BTreeSet<SlotId>,
}

struct Model {
    exchange: Exchange,
    /// No batch may pass one that waits to be noted.
    in_order: bool,
    trainers: BTreeMap<ConsumerId, Trainer>,
    next_consumer: u64,
    next_seq: u64,
    filling: Vec<(SlotId, u64)>,
    hands: Vec<InHand>,
    /// Un-acked batches whose trainer has ended since the last look: each is to be told of, once.
    seen: BTreeSet<u64>,
    /// Those that were told of, and that the ledger may still forget. It answers for dropped ones too.
    unnoted: BTreeSet<u64>,
    dead: DeadDaemons,
    published: BTreeMap<u64, (BatchId, SlotId)>,
    acked: BTreeSet<u64>,
    dropped: BTreeSet<u64>,
}

/// The element that a number picks, if there is any.
fn pick<T: Copy>(all: impl IntoIterator<Item = T>, number: usize) -> Option<T> {
    let all: Vec<_> = all.into_iter().collect();
    (!all.is_empty()).then(|| all[number % all.len()])
}

impl Model {
    fn new(in_order: bool) -> Self {
        let mut exchange = Exchange::new(0);
        if in_order {
            exchange = exchange.in_order();
        }
        exchange.add_ring(0, SLOTS);
        Self {
            exchange,
            in_order,
            trainers: BTreeMap::new(),
            next_consumer: 0,
            next_seq: 0,
            filling: Vec::new(),
            hands: Vec::new(),
            seen: BTreeSet::new(),
            unnoted: BTreeSet::new(),
            dead: DeadDaemons::default(),
            published: BTreeMap::new(),
            acked: BTreeSet::new(),
            dropped: BTreeSet::new(),
        }
    }

    fn apply(&mut self, event: Event) {
        match event {
            Event::Populate(slot) => self.exchange.populated(SlotId { ring: 0, slot }),
            Event::Claim { epoch_ahead } => self.claim(self.exchange.open() + epoch_ahead),
            Event::Publish(number) => self.publish(number),
            Event::GiveUp(number) => {
                if !self.filling.is_empty() {
                    let (slot, _) = self.filling.swap_remove(number % self.filling.len());
                    self.exchange.give_up(slot);
                }
            }
            Event::Attach(asked) => self.attach(asked),
            Event::Adopt { pick: number, seq } => {
                if let Some(consumer) = pick(self.attached(), number) {
                    self.dead.adopt(&mut self.exchange, consumer, seq);
                }
            }
            Event::EndAdopted { pick: number, end } => self.dead.end(&mut self.exchange, number, end),
            Event::Ack(number) => self.ack(number),
            Event::Release { pick: number, returned } => self.release(number, returned),
            Event::Credit { pick: number, more } => {
                if let Some(consumer) = pick(self.trainers.keys().copied(), number) {
                    let trainer = self.trainers.get_mut(&consumer).unwrap();
                    trainer.credits = (trainer.credits + u32::try_from(more).unwrap()).min(trainer.granted);
                    self.exchange.credit(consumer, more);
                }
            }
            Event::Lie { pick: number, seq, slot, generation } => {
                if let Some(consumer) = pick(self.trainers.keys().copied(), number) {
                    let receipt = HeldBatch { seq, slot: SlotId { ring: 0, slot }, generation };
                    if !self.hands.iter().any(|hand| hand.consumer == consumer && hand.receipt == receipt) {
                        assert!(!self.exchange.ack(consumer, receipt));
                        assert!(!self.exchange.release(consumer, receipt, true));
                    }
                }
            }
            Event::Evict(number) => {
                if let Some(consumer) = pick(self.attached(), number) {
                    self.evict(consumer);
                }
            }
            Event::Exit(number) => {
                if let Some(consumer) = pick(self.trainers.keys().copied(), number) {
                    self.exit(consumer);
                }
            }
            Event::NextEpoch => self.exchange.open_epoch(self.exchange.open() + 1),
            Event::Void(seq) => {
                if let Voided::Held(holders) = self.exchange.void(seq) {
                    let its = self.hands.iter().filter(|hand| hand.receipt.seq == seq && !hand.acked);
                    assert_eq!(holders, its.map(|hand| hand.consumer).collect::<Vec<_>>());
                }
            }
            Event::DropReady => self.exchange.drop_ready(),
            Event::Noted(number) => {
                if let Some(seq) = pick(self.unnoted.iter().copied(), number) {
                    self.unnoted.remove(&seq);
                    self.exchange.noted(seq);
                }
            }
        }
        self.obey();
        self.check();
    }

    fn attached(&self) -> Vec<ConsumerId> {
        self.trainers.iter().filter(|(_, trainer)| trainer.attached).map(|(id, _)| *id).collect()
    }

    fn claim(&mut self, epoch: u64) {
        let Some(slot) = self.exchange.claim() else { return };
        for (id, trainer) in &self.trainers {
            assert!(!trainer.may_read.contains(&slot), "{slot:?} is refilled while {id:?} may read it");
        }
        for (seq, (_, place)) in &self.published {
            assert!(*place != slot || self.is_over(*seq), "{slot:?} is refilled while batch {seq} stands in it");
        }
        assert!(self.filling.iter().all(|(other, _)| *other != slot), "{slot:?} is claimed twice");
        self.filling.push((slot, epoch));
    }

    fn publish(&mut self, number: usize) {
        if self.filling.is_empty() {
            return;
        }
        let (slot, epoch) = self.filling.swap_remove(number % self.filling.len());
        self.next_seq += 1;
        let batch = BatchId { seq: self.next_seq, epoch };
        self.published.insert(batch.seq, (batch, slot));
        self.exchange.publish(slot, batch);
    }

    fn attach(&mut self, asked: u32) {
        self.next_consumer += 1;
        let id = ConsumerId(self.next_consumer);
        let taken: u32 = self.trainers.values().filter(|trainer| trainer.attached).map(|trainer| trainer.granted).sum();
        match self.exchange.attach(id, asked, Membership::default()) {
            Ok(Granted { credits: granted, .. }) => {
                assert!(granted >= 1 && granted <= asked.max(1) && taken + granted <= SLOTS - 2);
                let may_read = BTreeSet::new();
                self.trainers.insert(id, Trainer { granted, credits: granted, attached: true, may_read });
            }
            Err(_) => assert_eq!(taken, SLOTS - 2),
        }
    }

    fn ack(&mut self, number: usize) {
        if !self.hands.is_empty() {
            let at = number % self.hands.len();
            let InHand { consumer, receipt, acked } = self.hands[at];
            self.hands[at].acked = true;
            assert_eq!(self.exchange.awaits(consumer, receipt), !acked);
            assert_eq!(self.exchange.ack(consumer, receipt), !acked);
        }
    }

    fn release(&mut self, number: usize, returned: bool) {
        if !self.hands.is_empty() {
            let hand = self.hands.swap_remove(number % self.hands.len());
            self.trainers.get_mut(&hand.consumer).unwrap().may_read.remove(&hand.receipt.slot);
            if !returned && !hand.acked {
                self.seen.insert(hand.receipt.seq);
            }
            assert!(self.exchange.release(hand.consumer, hand.receipt, returned));
        }
    }

    fn evict(&mut self, consumer: ConsumerId) {
        self.trainers.get_mut(&consumer).unwrap().attached = false;
        self.end_with_hands(consumer);
        self.exchange.evict(consumer);
    }

    fn exit(&mut self, consumer: ConsumerId) {
        let trainer = self.trainers.get_mut(&consumer).unwrap();
        trainer.attached = false;
        trainer.may_read.clear();
        self.end_with_hands(consumer);
        self.exchange.gone(consumer);
    }

    fn end_with_hands(&mut self, consumer: ConsumerId) {
        let (its, others) = self.hands.iter().partition::<Vec<_>, _>(|hand| hand.consumer == consumer);
        self.hands = others;
        self.seen.extend(its.iter().filter(|hand| !hand.acked).map(|hand| hand.receipt.seq));
    }

    fn is_over(&self, seq: u64) -> bool {
        self.acked.contains(&seq) || self.dropped.contains(&seq)
    }

    fn is_open(&self, seq: u64) -> bool {
        self.published[&seq].0.epoch <= self.exchange.open()
    }

    /// A batch that a trainer could have now: what nobody has seen does not wait for the ledger.
    fn is_kept_back(&self) -> Option<u64> {
        let held = |consumer: &ConsumerId| self.hands.iter().filter(|hand| hand.consumer == *consumer).count();
        let waits = |(id, trainer): (&ConsumerId, &Trainer)| {
            trainer.attached && trainer.credits > 0 && held(id) < trainer.granted as usize
        };
        if !self.trainers.iter().any(waits) || (self.in_order && !self.unnoted.is_empty()) {
            return None;
        }
        let in_hand = |seq: u64| self.hands.iter().any(|hand| hand.receipt.seq == seq);
        let mut open = self.published.keys().copied().filter(|seq| !self.is_over(*seq) && self.is_open(*seq));
        open.find(|seq| !in_hand(*seq) && !self.unnoted.contains(seq))
    }

    /// Does what the exchange wants, as daemon and trainers would, and checks that it may be wanted.
    fn obey(&mut self) {
        let actions: Vec<_> = self.exchange.drain().collect();
        for action in actions {
            match action {
                Action::Offer { consumer, slot, batch, generation, redelivered } => {
                    assert!(!self.is_over(batch.seq), "batch {} is over", batch.seq);
                    assert!(!self.unnoted.contains(&batch.seq), "batch {} waits to be noted", batch.seq);
                    let waits = |seq: &&u64| !self.is_over(**seq) && self.is_open(**seq);
                    let first = self.unnoted.iter().find(waits).map(|seq| (false, *seq)).filter(|_| self.in_order);
                    assert!(first.is_none_or(|first| (redelivered == 0, batch.seq) < first), "{first:?} waits");
                    assert!(batch.epoch <= self.exchange.open(), "epoch {} is not open", batch.epoch);
                    assert_eq!(self.published.get(&batch.seq), Some(&(batch, slot)));
                    assert!(self.hands.iter().all(|hand| hand.receipt.slot != slot), "{slot:?} is in somebody's hands");
                    let held = self.hands.iter().filter(|hand| hand.consumer == consumer).count();
                    let trainer = self.trainers.get_mut(&consumer).unwrap();
                    assert!(trainer.attached && trainer.credits > 0 && held < trainer.granted as usize);
                    trainer.credits -= 1;
                    trainer.may_read.insert(slot);
                    let receipt = HeldBatch { seq: batch.seq, slot, generation };
                    self.hands.push(InHand { consumer, receipt, acked: false });
                }
                Action::Acked { batch, .. } => {
                    assert!(self.published.contains_key(&batch.seq));
                    assert!(!self.is_over(batch.seq), "batch {} is over already", batch.seq);
                    self.acked.insert(batch.seq);
                }
                Action::Seen(batch) => {
                    assert!(!self.is_over(batch.seq), "batch {} is over", batch.seq);
                    assert!(self.seen.remove(&batch.seq), "nobody ended with batch {}", batch.seq);
                    assert!(self.unnoted.insert(batch.seq), "batch {} was offered meanwhile", batch.seq);
                }
                Action::AdoptedAcked(adopted) => self.dead.acked(adopted),
                Action::Dropped { batch, seen } => {
                    assert!(!self.is_over(batch.seq), "batch {} is over already", batch.seq);
                    assert_eq!(self.seen.remove(&batch.seq), seen, "batch {}", batch.seq);
                    self.dropped.insert(batch.seq);
                }
                Action::Orphaned { adopted, seen } => self.dead.orphaned(adopted, seen),
                Action::Gone(consumer) => {
                    let trainer = self.trainers.remove(&consumer).expect("a consumer goes once");
                    assert!(!trainer.attached);
                    assert!(trainer.may_read.is_empty(), "{consumer:?} is forgotten while it may read");
                }
                Action::EpochEnd { consumer, epoch } => {
                    assert!(self.trainers[&consumer].attached && epoch < self.exchange.open());
                }
                Action::Free(_) => {}
                Action::RingEmpty(ring) => panic!("ring {ring} was not retired"),
            }
        }
        self.dead.check(&self.exchange, &self.attached());
        assert!(self.seen.is_empty(), "somebody ended with {:?}, which is not told", self.seen);
    }

    /// What must hold at every moment.
    fn check(&self) {
        assert_eq!(self.is_kept_back(), None, "a trainer has credit for this batch");
        let counts = self.exchange.counts();
        let sum = counts.unpopulated + counts.free + counts.filling + counts.ready + counts.held + counts.quarantined;
        assert_eq!((sum, counts.retired), (SLOTS, 0), "a slot is in exactly one state");
        assert_eq!(counts.filling as usize, self.filling.len());
        assert_eq!(counts.held as usize, self.hands.len());
        let waiting = self.published.keys().filter(|seq| !self.is_over(**seq)).count();
        let unacked = self.hands.iter().filter(|hand| !hand.acked).count();
        assert_eq!(waiting, counts.ready as usize + unacked, "every batch is acked, dropped, ready or held");
        for state in self.exchange.consumers() {
            let held = self.hands.iter().filter(|hand| hand.consumer == state.id).count();
            assert_eq!(state.held as usize, held);
            assert!(state.held <= state.granted);
        }
    }

    /// Everybody dies; one good trainer reads the rest. Nothing may be left over.
    fn finish(mut self) {
        let everybody: Vec<_> = self.trainers.keys().copied().collect();
        for consumer in everybody {
            self.exit(consumer);
            self.obey();
            self.check();
        }
        while !self.unnoted.is_empty() {
            self.apply(Event::Noted(0));
        }
        while !self.filling.is_empty() {
            self.apply(Event::Publish(0));
        }
        self.apply(Event::NextEpoch);
        self.apply(Event::Attach(2));
        while !self.hands.is_empty() {
            self.apply(Event::Ack(1));
            self.apply(Event::Release { pick: 0, returned: false });
            self.apply(Event::Noted(0));
            self.apply(Event::Credit { pick: 0, more: 1 });
        }
        assert!(self.published.keys().all(|seq| self.is_over(*seq)), "a batch is lost");
        let counts = self.exchange.counts();
        assert_eq!(counts.free + counts.unpopulated, SLOTS);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_batch_is_lost_and_no_slot_refilled_under_a_readers_eyes(
        in_order in any::<bool>(),
        events in prop::collection::vec(event(), 0..120),
    ) {
        let mut model = Model::new(in_order);
        for event in events {
            model.apply(event);
        }
        model.finish();
    }
}
