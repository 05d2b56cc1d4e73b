//! A model of the border between two epochs: the real exchange, the stage's real rules for slots, and stubs of everything around
//! them. Each batch has one position, or two. The ledger leases positions in their order, and counts what was acked. Messages
//! between the stage, the ring and the ledger wait in queues until they are heard. A daemon may die: then the next one begins
//! with what the ledger knows and what trainers hand in.

mod ends;
mod steps;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use forebay_delivery::{EpochPosition, LaterBatches, Way, Youngest};
use forebay_ring::{Action, BatchId, ConsumerId, Exchange, HeldBatch, Membership, SlotId, Voided};

/// Epoch and index of a position.
type Place = (u64, u64);

/// The rule that is in force: the real one, or a mistake that the search is to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Policy {
    Real,
    /// A later batch leaves one free slot at the moment when it is begun, and none gives way.
    OneFreeSlot,
    /// Later batches never have all slots, and none gives way.
    OneReservedSlot,
    /// A later batch gives way also if it was offered by now.
    EvenOffered,
    /// The oldest later batch gives way.
    Oldest,
    /// What is behind a batch that gave way stays.
    WithGaps,
    /// Only the first position of a batch that gave way comes back.
    HalfReturned,
    /// The positions that are too few for a batch are dropped, and the slot of their batch stays with it.
    KeepsDropped,
    /// The ledger grants again what trainers hold of a dead daemon.
    ForgetsResumedClaims,
}

/// What there is in all runs of a scene.
#[derive(Clone, Debug)]
pub(super) struct Scene {
    pub(super) slots: u32,
    /// Positions of a batch. Those that are too few for one are dropped; otherwise there are none.
    pub(super) batch: usize,
    /// Positions of the first epoch that are here from the beginning, and those that come back from another node at any moment.
    pub(super) first: u64,
    pub(super) late: u64,
    /// Positions of the second epoch.
    pub(super) second: u64,
    /// A batch of the second epoch that waits for a further record until the first epoch is complete.
    pub(super) starved: Option<u64>,
    pub(super) in_order: bool,
    pub(super) trainers: Vec<Habits>,
    /// Each trainer is a group by itself.
    pub(super) each: bool,
    /// How many trainers may die, and how many may be evicted while their processes live on.
    pub(super) deaths: u32,
    pub(super) evictions: u32,
    /// Leases of the first epoch that may expire while their positions are here: another node delivers these.
    pub(super) expiries: u32,
    /// How often the daemon may die. The next one begins at once, and all trainers that live come back to it.
    pub(super) rebirths: u32,
}

/// How a trainer behaves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Habits {
    pub(super) credits: u32,
    /// How many batches that it has acked it still looks at when it asks for the next one.
    pub(super) views: usize,
    /// It never asks for a second batch.
    pub(super) idle: bool,
    /// It comes at any moment, and otherwise at the beginning.
    pub(super) late: bool,
}

/// Something that happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Attach,
    /// A position comes back from the other node.
    ComesBack,
    /// The ledger leases a position.
    Lease,
    /// The stage takes a free slot, does one thing with what was read, or has the first batch of an epoch decoded.
    Vacancy,
    Fill,
    Decoded(u64),
    /// The stage, or the ring, hears that the epoch is over.
    StageFloor,
    RingFloor,
    /// The ring hears the stage; the ledger hears what is given back.
    Hear,
    Returned,
    /// A further ring is made.
    Ring,
    /// A trainer asks for a batch. It takes one as soon as it is offered.
    Ask(usize),
    Die(usize),
    Evicted(usize),
    /// The process of one that was evicted ends.
    Exit(usize),
    Expire,
    /// What is left of an epoch is too little for a batch.
    Drop(u64),
    /// The daemon dies, and the next one begins.
    Rebirth,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Presence {
    Attached,
    Evicted,
    Gone,
}

#[derive(Clone, Debug, Hash)]
struct Trainer {
    presence: Presence,
    offered: VecDeque<HeldBatch>,
    hand: Option<HeldBatch>,
    views: VecDeque<HeldBatch>,
    asks: bool,
}

#[derive(Clone, Debug, Hash)]
struct Draft {
    places: Vec<Place>,
    slot: SlotId,
}

/// From the stage to the ring, in their order.
#[derive(Clone, Debug, Hash)]
enum Made {
    Ready(u64, SlotId),
    NeedsSlot(u64),
}

/// From the ring to the stage, in their order.
#[derive(Clone, Debug, Hash)]
enum Vacancy {
    GaveWay(u64),
    Slot(SlotId),
}

/// A moment of a run.
#[derive(Clone, Debug, Hash)]
pub(super) struct Border {
    policy: Policy,
    exchange: Exchange,
    later: LaterBatches,
    /// Not leased; at the other node; delivered, or lost to it.
    open: BTreeSet<Place>,
    elsewhere: BTreeSet<Place>,
    done: BTreeSet<Place>,
    /// On their way back to the ledger.
    back: VecDeque<Place>,
    /// Leased and read, an earlier epoch first.
    read: Vec<Place>,
    spare: Vec<SlotId>,
    drafts: BTreeMap<u64, Draft>,
    made: VecDeque<Made>,
    vacancies: VecDeque<Vacancy>,
    /// The first epoch that is not complete, as the ledger knows it, and as the stage does.
    floor: u64,
    stage_floor: u64,
    trainers: Vec<Trainer>,
    /// Those in the making, in the ring, and in the hands of trainers of a daemon that is dead.
    batches: BTreeMap<u64, Vec<Place>>,
    was_offered: BTreeSet<u64>,
    /// The last position of the second epoch that a trainer was offered, if batches keep their order.
    reached: Option<u64>,
    next: u64,
    rings: u32,
    /// How often a batch gave way.
    gave_way: u64,
    /// How many positions of the first epoch came back.
    came_back: u64,
    deaths: u32,
    evictions: u32,
    expiries: u32,
    rebirths: u32,
    /// What must not happen, and did.
    pub(super) wrong: Option<&'static str>,
}

impl Border {
    pub(super) fn new(scene: &Scene, policy: Policy) -> Self {
        // What comes back to a shard is what its trainers had before the daemon was started: the first positions.
        let (late, here) = (0..scene.late, scene.late..scene.late + scene.first);
        let second = (0..scene.second).map(|index| (1, index));
        let mut border = Self {
            policy,
            exchange: exchange(scene, 0),
            later: later(scene, policy),
            open: here.map(|index| (0, index)).chain(second).collect(),
            elsewhere: late.map(|index| (0, index)).collect(),
            done: BTreeSet::new(),
            back: VecDeque::new(),
            read: Vec::new(),
            spare: Vec::new(),
            drafts: BTreeMap::new(),
            made: VecDeque::new(),
            vacancies: VecDeque::new(),
            floor: 0,
            stage_floor: 0,
            trainers: Vec::new(),
            batches: BTreeMap::new(),
            was_offered: BTreeSet::new(),
            reached: None,
            next: 0,
            rings: 0,
            gave_way: 0,
            came_back: scene.first + scene.late,
            deaths: scene.deaths,
            evictions: scene.evictions,
            expiries: scene.expiries,
            rebirths: scene.rebirths,
            wrong: None,
        };
        border.add_ring(scene);
        while scene.trainers.get(border.trainers.len()).is_some_and(|next| !next.late) {
            border.attach(scene);
        }
        border.begins(scene);
        border
    }

    /// The first slots need not wait in the queue.
    fn begins(&mut self, scene: &Scene) {
        self.act(scene);
        while !self.vacancies.is_empty() {
            self.take_vacancy();
        }
    }

    fn add_ring(&mut self, scene: &Scene) {
        self.exchange.add_ring(self.rings, scene.slots);
        (0..scene.slots).for_each(|slot| self.exchange.populated(SlotId { ring: self.rings, slot }));
        if let Some(before) = self.rings.checked_sub(1) {
            self.exchange.retire_ring(before);
        }
        self.rings += 1;
    }

    /// Both epochs are complete.
    pub(super) fn is_complete(&self) -> bool {
        self.floor == 2
    }

    /// A position of the first epoch is here and has no slot, though a batch of the second one has.
    pub(super) fn waits_for_a_later_slot(&self) -> bool {
        let waits = self.floor == 0 && self.read.first().is_some_and(|(epoch, _)| *epoch == 0) && self.spare.is_empty();
        waits && self.batches.values().any(|places| places[0].0 == 1)
    }

    // What may happen.

    /// What happens by itself, sooner or later.
    pub(super) fn steps(&self, scene: &Scene) -> Vec<Event> {
        let mut steps = Vec::new();
        let mut step = |may: bool, event| steps.extend(may.then_some(event));
        step(self.trainers.len() < scene.trainers.len(), Event::Attach);
        step(!self.elsewhere.is_empty(), Event::ComesBack);
        step(self.to_lease().is_some(), Event::Lease);
        step(!self.vacancies.is_empty(), Event::Vacancy);
        step(!self.read.is_empty(), Event::Fill);
        step(self.floor > self.exchange.open(), Event::RingFloor);
        step(self.floor > self.stage_floor, Event::StageFloor);
        step(!self.made.is_empty(), Event::Hear);
        step(!self.back.is_empty(), Event::Returned);
        step(self.exchange.usable() < 2 && self.rings < 2, Event::Ring);
        for epoch in 0..2 {
            step(self.to_decode(scene, epoch).is_some(), Event::Decoded(epoch));
            step(!self.to_drop(scene, epoch).is_empty(), Event::Drop(epoch));
        }
        for (number, trainer) in self.trainers.iter().enumerate() {
            let (is_here, idle) = (trainer.presence == Presence::Attached, scene.trainers[number].idle);
            step(is_here && !trainer.asks && !(idle && trainer.hand.is_some()), Event::Ask(number));
            step(trainer.presence == Presence::Evicted, Event::Exit(number));
        }
        steps
    }

    /// What may happen at any moment, and need not.
    pub(super) fn accidents(&self) -> Vec<Event> {
        let mut accidents = Vec::new();
        // Trainers are alike, so only the first one has them.
        if self.trainers.len() > 1 && self.trainers.iter().all(|trainer| trainer.presence == Presence::Attached) {
            accidents.extend((self.deaths > 0).then_some(Event::Die(0)));
            accidents.extend((self.evictions > 0).then_some(Event::Evicted(0)));
        }
        let may_expire = self.expiries > 0 && self.read.first().is_some_and(|(epoch, _)| *epoch == 0);
        accidents.extend(may_expire.then_some(Event::Expire));
        accidents.extend((self.rebirths > 0).then_some(Event::Rebirth));
        accidents
    }

    pub(super) fn apply(&mut self, scene: &Scene, event: Event) {
        match event {
            Event::Attach => self.attach(scene),
            Event::ComesBack => self.open.extend(self.elsewhere.pop_first()),
            Event::Lease => self.lease(),
            Event::Vacancy => self.take_vacancy(),
            Event::Fill => self.fill(scene),
            Event::Decoded(epoch) => self.decoded(scene, epoch),
            Event::StageFloor => {
                self.stage_floor = self.floor;
                self.later.completed(self.floor);
            }
            Event::RingFloor => self.exchange.open_epoch(self.floor),
            Event::Hear => self.hear(),
            Event::Returned => self.open.extend(self.back.pop_front()),
            Event::Ring => self.add_ring(scene),
            Event::Ask(number) => self.ask(scene, number),
            Event::Evicted(number) => self.leave(number, Presence::Evicted),
            Event::Die(number) | Event::Exit(number) => self.leave(number, Presence::Gone),
            Event::Expire => {
                self.expiries -= 1;
                self.count(self.read[0], scene);
            }
            Event::Drop(epoch) => self.drop_rest(scene, epoch),
            Event::Rebirth => self.rebirth(scene),
        }
        self.act(scene);
    }
}

fn exchange(scene: &Scene, open: u64) -> Exchange {
    let exchange = if scene.in_order { Exchange::new(open).in_order() } else { Exchange::new(open) };
    if scene.each { exchange.each() } else { exchange }
}

fn later(scene: &Scene, policy: Policy) -> LaterBatches {
    LaterBatches::new(scene.in_order && policy != Policy::WithGaps)
}
