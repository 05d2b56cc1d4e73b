//! A stream's rings: their slots' memory, and a further ring where slots are held for ever (semantics rule 4). What
//! the kernel may take its time for is done by a thread beside the ring's.

use std::sync::Arc;

use crossbeam_channel as channel;
use forebay_ring::{MessageKind, NewRing, SlotId, packet};

use super::attached::Consumer;
use super::{Note, Outbox, RingThread};
use crate::gpu_ring::StreamRing;
use crate::threads;

/// Rings of a stream that take memory at the same time.
const MOST: usize = 4;

/// What the thread beside the ring's does.
pub(super) enum Work {
    /// Takes a slot's memory from the kernel.
    Populate(SlotId, StreamRing),
    /// Makes a ring.
    Ring(u32),
}

/// How far a further ring is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Further {
    #[default]
    NotAsked,
    Asked,
    /// There is no memory for it, which was told; it is asked for again.
    Refused,
    AskedAgain,
}

impl RingThread {
    pub(super) fn add_ring(&mut self, ring: u32, made: StreamRing) {
        let slots = made.region.geometry().slots();
        self.deliveries.add_ring(ring, slots);
        for slot in 0..slots {
            // The thread beside lives as long as this one.
            self.works.send(Work::Populate(SlotId { ring, slot }, made.clone())).ok();
        }
        if ring > 0 {
            for consumer in self.consumers.values() {
                pass(consumer, ring, &made);
            }
        }
        self.rings.insert(ring, made);
    }

    /// Asks for a further ring when too few slots of this one can still become free.
    pub(super) fn look_at_rings(&mut self) {
        if self.deliveries.exchange().usable() >= 2 && self.further == Further::Refused {
            self.further = Further::NotAsked;
        }
        if self.deliveries.exchange().counts().unpopulated > 0 || self.deliveries.exchange().usable() >= 2 {
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
        self.works.send(Work::Ring(ring)).ok();
    }

    /// A further ring is made: the stream moves on to it.
    pub(super) fn take_over(&mut self, ring: u32, made: Result<StreamRing, String>) {
        match made {
            Ok(made) => {
                self.further = Further::NotAsked;
                tracing::warn!(stream = self.parts.stream, ring, "slots are held for ever; a further ring is opened");
                let older: Vec<u32> = self.rings.keys().copied().collect();
                self.add_ring(ring, made);
                for ring in older {
                    self.deliveries.retire_ring(ring);
                }
            }
            Err(reason) => self.refused(&reason),
        }
    }

    /// The stream goes on with the slots that it has; whoever holds the others may let go.
    fn refused(&mut self, reason: &str) {
        let told = std::mem::replace(&mut self.further, Further::Refused);
        if matches!(told, Further::NotAsked | Further::Asked) {
            tracing::warn!(
                stream = self.parts.stream,
                reason,
                "slots are held for ever, and no further ring can be opened; end the processes that keep arrays of \
                 Loaders that they closed"
            );
        }
    }
}

/// Gives a trainer a ring beside the one that it was welcomed to.
pub(super) fn pass(consumer: &Consumer, number: u32, ring: &StreamRing) {
    let news = packet(&NewRing { kind: MessageKind::Ring as u32, ring: number, pixels: ring.pixels() }, &[]);
    // One that does not take it is evicted at its next message, or has hung up.
    let _sent = consumer.send(&news, &ring.fds(None));
}

/// A thread that takes the slots' memory from the kernel, one by one: the first batch need not wait for the last slot.
pub(super) fn ring_work(
    outbox: Outbox,
    further: Arc<dyn Fn(u32) -> Result<StreamRing, String> + Send + Sync>,
) -> std::io::Result<channel::Sender<Work>> {
    let (sender, work) = channel::unbounded();
    threads::start("forebay-populate", move || {
        for work in work {
            outbox.post(match work {
                Work::Populate(slot, ring) => Note::Populated(slot, ring.populate(slot.slot)),
                Work::Ring(ring) => Note::Ring(ring, further(ring)),
            });
        }
    })?;
    Ok(sender)
}
