//! A batch that the trainer holds: views on the ring's memory, and the decision what becomes of it.

use std::sync::Arc;

use forebay_columns::Schema;
use forebay_ring::{ColumnView, Geometry, Offer, Shape};

use crate::error::Broken;
use crate::hands::Hands;
use crate::hold::HoldTicket;
use crate::mapped::{Mapped, Ring};

/// One batch. Its arrays are read-only memory of the ring, shared with the daemon.
///
/// The slot is refilled when the batch was consumed ([`ack`](Self::ack), or [`Session::next`](crate::Session::next)
/// was called again) *and* the batch and every [`Keep`] of it are dropped. Until then the bytes stay as they are,
/// also after the daemon's death.
#[derive(Debug)]
pub struct Batch {
    offer: Offer,
    keep: Keep,
    decision: Decision,
}

/// Keeps a batch's memory as it is. Cheap to clone; may be dropped by any thread.
#[derive(Clone, Debug)]
pub struct Keep {
    lent: Arc<Lent>,
}

/// The decision about a batch, without a hold on its memory.
#[derive(Clone, Debug)]
pub struct Decision {
    hands: Arc<Hands>,
    ticket: HoldTicket,
    seq: u64,
}

#[derive(Debug)]
struct Lent {
    hands: Arc<Hands>,
    ticket: HoldTicket,
    ring: Arc<Ring>,
    slot: u32,
    /// The ring's, unless the batch has pictures of a size of their own.
    shape: Shape,
}

impl Batch {
    pub(crate) fn new(hands: &Arc<Hands>, ticket: HoldTicket, ring: Arc<Ring>, offer: Offer, shape: Shape) -> Self {
        let lent = Arc::new(Lent { hands: Arc::clone(hands), ticket, ring, slot: offer.slot, shape });
        let decision = Decision { hands: Arc::clone(hands), ticket, seq: offer.seq };
        Self { offer, keep: Keep { lent }, decision }
    }

    pub(crate) fn offer(&self) -> Offer {
        self.offer
    }

    pub(crate) fn ticket(&self) -> HoldTicket {
        self.decision.ticket
    }

    /// The same batch once more, for one that was put back and is handed out again.
    pub(crate) fn again(&self) -> Self {
        Self { offer: self.offer, keep: self.keep(), decision: self.decision() }
    }

    /// The epoch that the batch belongs to.
    pub fn epoch(&self) -> u64 {
        self.offer.epoch
    }

    /// When the batch was ready, on `CLOCK_MONOTONIC`, in nanoseconds.
    pub fn ready(&self) -> u64 {
        self.offer.ready
    }

    /// Number of the batch, unique until the daemon starts again.
    pub fn seq(&self) -> u64 {
        self.offer.seq
    }

    /// Places that the last batch's policy shows: all, but under `partial` the first `valid` (semantics rule 6).
    pub fn shown(&self) -> usize {
        self.offer.shown as usize
    }

    /// Places that are this epoch's own records.
    pub fn valid(&self) -> usize {
        self.offer.valid as usize
    }

    /// Shape, type and axis order of the images. Where steps have buckets, a batch has the places and the size of its own one.
    pub fn shape(&self) -> Shape {
        self.keep.shape()
    }

    /// Pixels of all places, in the order that [`shape`](Self::shape) gives. Empty if they are in [memory of a
    /// GPU](Self::ring).
    pub fn images(&self) -> &[u8] {
        self.keep.images()
    }

    /// The ring that the batch is in, and its slot there. In a GPU, the batch's pixels begin at the slot's number times the
    /// stride of the ring's [`Pixels`](crate::Pixels).
    pub fn ring(&self) -> (Mapped, u32) {
        (Mapped::new(&self.keep.lent.ring), self.offer.slot)
    }

    /// Labels of all places; -1 without labels.
    pub fn labels(&self) -> &[i64] {
        self.keep.labels()
    }

    /// Record numbers of all places; -1 if a place has none.
    pub fn records(&self) -> &[i64] {
        self.keep.records()
    }

    /// For all places: 1, or 0 if a place repeats another or replaces a bad record.
    pub fn mask(&self) -> &[u8] {
        self.keep.mask()
    }

    /// The columns that it has beside those of every batch.
    pub fn columns(&self) -> &Schema {
        self.keep.columns()
    }

    /// A column by its name; nothing if the batch has none of this name.
    pub fn column(&self, name: &str) -> Option<ColumnView<'_>> {
        self.keep.column(name)
    }

    /// A hold on the memory that outlives this value.
    pub fn keep(&self) -> Keep {
        self.keep.clone()
    }

    /// The right to decide that outlives this value and does not hold the memory.
    pub fn decision(&self) -> Decision {
        self.decision.clone()
    }

    /// Says that the batch was consumed, now rather than when the next one is asked for.
    ///
    /// # Errors
    /// [`Broken::Forked`] in a forked child.
    pub fn ack(&self) -> Result<(), Broken> {
        self.decision.ack()
    }

    /// Gives the batch back unread: its records are delivered again, here or to another trainer.
    ///
    /// # Errors
    /// [`Broken::Decided`] when it was acknowledged or given back before, [`Broken::Forked`] in a forked child.
    pub fn reject(self) -> Result<(), Broken> {
        self.decision.reject()
    }
}

impl Keep {
    /// See [`Batch::shape`].
    pub fn shape(&self) -> Shape {
        self.lent.shape
    }

    /// See [`Batch::images`].
    pub fn images(&self) -> &[u8] {
        // The slot's own room for them is the daemon's until they are in the GPU.
        if self.lent.ring.is_in_gpu() {
            return &[];
        }
        &self.lent.ring.view.images(self.lent.slot)[..Geometry::images_len(self.lent.shape)]
    }

    /// See [`Batch::labels`].
    pub fn labels(&self) -> &[i64] {
        self.places(self.lent.ring.view.labels(self.lent.slot))
    }

    /// See [`Batch::records`].
    pub fn records(&self) -> &[i64] {
        self.places(self.lent.ring.view.records(self.lent.slot))
    }

    /// See [`Batch::mask`].
    pub fn mask(&self) -> &[u8] {
        self.places(self.lent.ring.view.mask(self.lent.slot))
    }

    /// What is in the places of the batch, of all those of the slot.
    fn places<'a, T>(&self, of_slot: &'a [T]) -> &'a [T] {
        &of_slot[..self.lent.shape.batch as usize]
    }

    /// See [`Batch::columns`].
    pub fn columns(&self) -> &Schema {
        self.lent.ring.view.geometry().columns().schema()
    }

    /// See [`Batch::column`].
    pub fn column(&self, name: &str) -> Option<ColumnView<'_>> {
        let column = self.columns().find(name)?;
        Some(self.lent.ring.view.column(self.lent.slot, column))
    }
}

impl Decision {
    /// See [`Batch::ack`].
    ///
    /// # Errors
    /// [`Broken::Forked`] in a forked child.
    pub fn ack(&self) -> Result<(), Broken> {
        self.hands.consume(self.ticket)
    }

    /// See [`Batch::reject`].
    ///
    /// # Errors
    /// [`Broken::Decided`] when it was acknowledged or given back before, [`Broken::Forked`] in a forked child.
    pub fn reject(&self) -> Result<(), Broken> {
        if self.hands.give_back(self.ticket)? { Ok(()) } else { Err(Broken::Decided { seq: self.seq }) }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.hands.unview(self.ticket);
    }
}
