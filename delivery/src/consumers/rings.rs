//! A stream's rings: the memory of their slots, and a further ring if slots are held forever (semantics rule 4). A
//! separate thread does the steps for which the kernel may take long.

use std::collections::BTreeMap;

use crossbeam_channel as channel;
use forebay_ring::{MessageKind, NewRing, SlotId, SlotMut, packet};

use super::attached::Consumer;
use super::deliveries::Deliveries;
use super::parts::MakeRing;
use super::{InboxMessage, Outbox};
use crate::handover::Vacancies;
use crate::stream_ring::{NoRing, StreamRing};
use forebay_threads as threads;

/// Rings of a stream that take memory at the same time.
const MOST: usize = 4;

/// What the thread beside the ring's does.
enum RingWork {
    /// Takes a slot's memory from the kernel.
    Populate(SlotId, StreamRing),
    /// Makes a ring.
    Ring(u32),
}

/// How far a further ring is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Further {
    #[default]
    NotAsked,
    Asked,
    /// There is no memory for it, which was told; it is asked for again.
    Refused,
    AskedAgain,
}

/// The rings of a stream, by number.
pub(super) struct RingSet {
    /// Name of the stream, for messages.
    stream: String,
    rings: BTreeMap<u32, StreamRing>,
    vacancies: Vacancies,
    works: channel::Sender<RingWork>,
    further: Further,
}

impl RingSet {
    /// None yet; `make` makes a further one, on the thread beside.
    ///
    /// # Errors
    /// There is no room for that thread.
    pub(super) fn start(stream: String, vacancies: Vacancies, make: MakeRing, outbox: Outbox) -> std::io::Result<Self> {
        let works = ring_work(outbox, make)?;
        Ok(Self { stream, rings: BTreeMap::new(), vacancies, works, further: Further::default() })
    }

    /// Takes a ring up, and its slots' memory from the kernel.
    pub(super) fn add(&mut self, ring: u32, made: StreamRing, deliveries: &mut Deliveries) {
        let slots = made.region.geometry().slots();
        deliveries.add_ring(ring, slots);
        for slot in 0..slots {
            // The thread beside lives as long as this one.
            self.works.send(RingWork::Populate(SlotId { ring, slot }, made.clone())).ok();
        }
        self.rings.insert(ring, made);
    }

    /// A further ring is made: the stream moves on to it.
    pub(super) fn take_over(&mut self, ring: u32, made: Result<StreamRing, NoRing>, deliveries: &mut Deliveries) {
        match made {
            Ok(made) => {
                self.further = Further::NotAsked;
                tracing::warn!(stream = self.stream, ring, "slots are held for good; another ring is opened");
                let older: Vec<u32> = self.rings.keys().copied().collect();
                self.add(ring, made, deliveries);
                for ring in older {
                    deliveries.retire_ring(ring);
                }
            }
            Err(error) => self.refused(&error.to_string()),
        }
    }

    /// Lets go of a ring.
    pub(super) fn remove(&mut self, ring: u32) {
        self.rings.remove(&ring);
    }

    /// Memory of the host that their slots are in.
    pub(super) fn bytes(&self) -> u64 {
        self.rings.values().map(|ring| ring.region.geometry().total_len() as u64).sum()
    }

    /// The newest one, which a trainer is welcomed to.
    pub(super) fn newest(&self) -> Option<(u32, &StreamRing)> {
        self.rings.last_key_value().map(|(number, ring)| (*number, ring))
    }

    /// Those before one.
    pub(super) fn before(&self, ring: u32) -> impl Iterator<Item = (u32, &StreamRing)> {
        self.rings.range(..ring).map(|(number, ring)| (*number, ring))
    }

    /// Hands out the slots that are free.
    pub(super) fn claim_free(&self, deliveries: &mut Deliveries) {
        while let Some(slot) = deliveries.claim() {
            let right = self.rings.get(&slot.ring).map(|ring| ring.region.slot(slot.slot));
            match right {
                Some(Ok(right)) => self.hand_out(right),
                Some(Err(error)) => {
                    tracing::error!(%error, "a free slot cannot be written");
                    return;
                }
                None => return,
            }
        }
    }

    /// Hands out the right to a slot.
    pub(super) fn hand_out(&self, slot: SlotMut) {
        // The batch thread may be between two lives; the next one takes over the same channel.
        self.vacancies.free.send(slot).ok();
    }

    /// The batch thread has a position of this epoch, and no slot: a later batch gives way, unless a slot is on its way.
    pub(super) fn make_way(&self, epoch: u64, deliveries: &mut Deliveries) {
        if !self.vacancies.free.is_empty() {
            return;
        }
        for batch in deliveries.give_way(epoch) {
            let (stream, batch, of) = (&self.stream, batch.seq, batch.epoch);
            tracing::debug!(stream, batch, of, epoch, "a batch of a later epoch gives way");
            self.vacancies.gave_way.send(batch).ok();
        }
    }

    /// Asks for a further ring when too few slots of this one can still become free.
    pub(super) fn look(&mut self, deliveries: &Deliveries) {
        let exchange = deliveries.exchange();
        if exchange.usable() >= 2 && self.further == Further::Refused {
            self.further = Further::NotAsked;
        }
        if exchange.counts().unpopulated > 0 || exchange.usable() >= 2 {
            return;
        }
        let ring = self.rings.last_key_value().map_or(0, |(ring, _)| ring + 1);
        self.further = match self.further {
            Further::Asked | Further::AskedAgain => return,
            _ if self.rings.len() >= MOST => {
                return self.refused("as many rings as a stream may have are in use");
            }
            Further::NotAsked => Further::Asked,
            Further::Refused => Further::AskedAgain,
        };
        self.works.send(RingWork::Ring(ring)).ok();
    }

    /// The stream continues with the slots that it has. The trainers that hold the other slots may still let go of them.
    fn refused(&mut self, reason: &str) {
        let told = std::mem::replace(&mut self.further, Further::Refused);
        if matches!(told, Further::NotAsked | Further::Asked) {
            tracing::warn!(
                stream = self.stream,
                reason,
                "slots are held for good, and no other ring can be opened; end the processes that keep batches of \
                 trainers that they closed"
            );
        }
    }
}

/// Gives a trainer a ring beside the one that it was welcomed to.
pub(super) fn pass(consumer: &Consumer, number: u32, ring: &StreamRing) {
    let message = packet(&NewRing { kind: MessageKind::Ring as u32, ring: number, pixels: ring.pixels() }, &[]);
    // One that does not take it is evicted at its next message, or has hung up.
    let _sent = consumer.send(&message, &ring.fds(None));
}

/// A thread that takes the slots' memory from the kernel, one by one: the first batch need not wait for the last slot.
fn ring_work(outbox: Outbox, further: MakeRing) -> std::io::Result<channel::Sender<RingWork>> {
    let (sender, work) = channel::unbounded();
    threads::start("forebay-populate", move || {
        for work in work {
            outbox.post(match work {
                RingWork::Populate(slot, ring) => InboxMessage::Populated(slot, ring.populate(slot.slot)),
                RingWork::Ring(ring) => InboxMessage::Ring(ring, further(ring)),
            });
        }
    })?;
    Ok(sender)
}
