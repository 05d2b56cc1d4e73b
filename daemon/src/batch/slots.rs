//! The slots of the batches in the making: which rights to write are here, and which are lent to decode threads.

use std::collections::HashMap;

use forebay_ring::{PlaceMut, SlotFrame, SlotMut};

use crate::batch::batcher::At;

/// Slots by the number of their batch.
#[derive(Debug, Default)]
pub struct Slots {
    open: HashMap<u64, Held>,
    lent: usize,
}

#[derive(Debug)]
enum Held {
    Whole(SlotMut),
    Split(SlotFrame, Vec<Option<PlaceMut>>),
}

impl Slots {
    /// Takes the slot that a batch is made in.
    pub fn open(&mut self, batch: u64, slot: SlotMut) {
        self.open.insert(batch, Held::Whole(slot));
    }

    /// Lends the right to one place.
    pub fn lend(&mut self, at: At) -> Option<PlaceMut> {
        let held = match self.open.remove(&at.0)? {
            Held::Whole(slot) => {
                let (frame, places) = slot.split();
                Held::Split(frame, places.into_iter().map(Some).collect())
            }
            split @ Held::Split(..) => split,
        };
        let Held::Split(_, places) = self.open.entry(at.0).insert_entry(held).into_mut() else { return None };
        let place = places.get_mut(at.1 as usize)?.take();
        self.lent += usize::from(place.is_some());
        place
    }

    /// Takes a lent right back. One whose batch is gone ends here.
    pub fn back(&mut self, at: At, place: PlaceMut) {
        self.lent -= 1;
        if let Some(Held::Split(_, places)) = self.open.get_mut(&at.0)
            && let Some(home) = places.get_mut(at.1 as usize)
        {
            *home = Some(place);
        }
    }

    /// Rights that are lent.
    pub fn lent(&self) -> usize {
        self.lent
    }

    /// Copies a picture from one place to another.
    pub fn copy(&mut self, from: At, to: At) {
        let Some(mut target) = self.close(to.0) else { return };
        if from.0 == to.0 {
            target.copy_place(from.1, to.1);
        } else if let Some(source) = self.close(from.0) {
            target.copy_place_from(to.1, &source, from.1);
            self.open(from.0, source);
        }
        self.open(to.0, target);
    }

    /// Makes a place black.
    pub fn clear(&mut self, at: At) {
        if let Some(mut slot) = self.close(at.0) {
            slot.place_mut(at.1).fill(0);
            self.open(at.0, slot);
        }
    }

    /// Gives the whole right back, if every part of it is home.
    pub fn close(&mut self, batch: u64) -> Option<SlotMut> {
        match self.open.remove(&batch)? {
            Held::Whole(slot) => Some(slot),
            Held::Split(frame, places) => {
                let home: Vec<PlaceMut> = places.into_iter().flatten().collect();
                frame.join(home).inspect_err(|error| tracing::error!(%error, "a slot was closed too early")).ok()
            }
        }
    }

    /// Gives every slot back.
    pub fn close_all(&mut self) -> Vec<SlotMut> {
        let batches: Vec<u64> = self.open.keys().copied().collect();
        batches.into_iter().filter_map(|batch| self.close(batch)).collect()
    }
}
