//! The slots of the batches in the making, with what is beside their pictures, and which batch of a later epoch gives its slot
//! (semantics rule 11).

use forebay_cuda::CudaError;
use forebay_delivery::{EpochPosition, LaterBatches, Way, Youngest};
use forebay_pixels::Origin;
use forebay_ring::SlotMut;

use crate::batch::beside::Beside;
use crate::batch::slots::{SizedStep, Slots};
use crate::batch_metadata::{BatchMetadata, SettledBatch};
use crate::decode::Done;
use crate::mosaic::Partners;
use crate::place::At;
use crate::reason::Reason;
use crate::returned::Returned;

/// The stage's slots, by the batches in them.
#[derive(Debug)]
pub(crate) struct StageSlots {
    /// The rights to write.
    pub(super) slots: Slots,
    /// What is beside the pictures of places in a mosaic.
    partners: Beside<Box<Partners>>,
    /// What functions in Python have returned beside pictures.
    returned: Beside<Box<Returned>>,
    later: LaterBatches,
    /// A position of the current epoch has no slot.
    lacks_one: bool,
}

impl StageSlots {
    /// These slots, without a batch. `in_order`: batches keep the order of their positions.
    pub(crate) fn new(slots: Slots, in_order: bool) -> Self {
        let (partners, returned, later) = (Beside::default(), Beside::default(), LaterBatches::new(in_order));
        Self { slots, partners, returned, later, lacks_one: false }
    }

    /// Takes note of the batches that have given way in the ring.
    pub(super) fn hear(&mut self) {
        let Self { slots, later, .. } = self;
        slots.gave_way().for_each(|batch| later.gave_way(batch));
    }

    /// Epochs before this one are complete.
    pub(super) fn completed(&mut self, floor: u64) {
        self.later.completed(floor);
    }

    /// Whether a position can be taken, though it needs a new batch: there is a slot for it, or it is given back anyway.
    pub(super) fn can_take(&self, position: EpochPosition, floor: u64) -> bool {
        LaterBatches::has_room(position.epoch, floor, self.slots.spare()) || self.later.is_out_of_order(position)
    }

    /// Whether a position may be in a batch now. If not, it is to be given back.
    pub(super) fn admits(&mut self, position: EpochPosition) -> bool {
        let admitted = !self.later.is_out_of_order(position);
        if admitted {
            self.later.came(position);
        }
        admitted
    }

    /// Keeps a free slot for the next batch.
    pub(super) fn keep(&mut self, slot: SlotMut) {
        self.later.slot_came();
        self.slots.keep(slot);
    }

    /// Takes a free slot to make a batch in it, which begins with this position.
    pub(super) fn open(&mut self, batch: u64, position: EpochPosition, sized: Option<SizedStep>) {
        self.later.begin(batch, position);
        self.slots.open(batch, sized);
    }

    /// Whether a position of the current epoch has lacked a slot since [`begin`](Self::begin).
    pub(super) fn lacks_one(&self) -> bool {
        self.lacks_one
    }

    /// The stage begins to take positions.
    pub(super) fn begin(&mut self) {
        self.lacks_one = false;
    }

    /// How a position of the current epoch gets a slot, of which none is free. `drafts` is the youngest batch in the making of a
    /// later epoch.
    pub(super) fn way(&mut self, epoch: u64, drafts: Option<u64>, is_busy: bool) -> Way {
        self.lacks_one = true;
        let youngest = match drafts {
            Some(batch) if self.slots.is_home(batch) => Youngest::Idle,
            None if !is_busy => Youngest::Nothing,
            _ => Youngest::Busy,
        };
        self.later.way(epoch, youngest)
    }

    /// A batch in the making has given way.
    pub(super) fn gave_way(&mut self, batch: u64) {
        self.discard(batch);
        self.later.gave_way(batch);
    }

    /// Keeps the slot of a batch, which is not made after all, for another one.
    pub(super) fn discard(&mut self, batch: u64) {
        self.partners.take(batch);
        self.returned.take(batch);
        self.slots.discard(batch);
    }

    /// Takes the right to a place back, with what is beside its picture.
    pub(super) fn back(&mut self, done: Done) -> (At, Result<Origin, Reason>) {
        let Done { at, place, outcome, partners, returned } = done;
        self.slots.back(at, place);
        self.partners.set(at, partners);
        self.returned.set(at, returned);
        (at, outcome)
    }

    /// Copies a picture with its masks and views from one place to another; both are home.
    ///
    /// # Errors
    /// It is in a GPU that is well, and cannot be read.
    pub(super) fn copy(&mut self, from: At, to: At) -> Result<(), CudaError> {
        self.partners.copy(from, to);
        self.returned.copy(from, to);
        self.slots.copy(from, to)
    }

    /// Takes a settled batch out, with its slot if every place is home.
    pub(super) fn close(&mut self, mut metadata: BatchMetadata) -> Option<SettledBatch> {
        metadata.partners = self.partners.take(metadata.batch);
        metadata.set_returned(self.returned.take(metadata.batch));
        metadata.step = self.slots.step(metadata.batch);
        let (slot, in_gpu) = self.slots.close(metadata.batch)?;
        Some(SettledBatch { metadata, slot, in_gpu })
    }
}
