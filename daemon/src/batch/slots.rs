//! The slots of the batches in the making: which rights to write are here, and which are lent to decode threads.

use std::collections::HashMap;

use forebay_ring::{PlaceMut, SlotFrame, SlotMut};

use crate::batch::batcher::At;

/// Slots by the number of their batch.
#[derive(Debug, Default)]
pub struct Slots {
    open: HashMap<u64, Open>,
    lent: usize,
}

/// A slot in its parts; a place that is lent is missing.
#[derive(Debug)]
struct Open {
    frame: SlotFrame,
    places: Vec<Option<PlaceMut>>,
}

impl Slots {
    /// Takes the slot that a batch is made in.
    pub fn open(&mut self, batch: u64, slot: SlotMut) {
        let (frame, places) = slot.split();
        let places = places.into_iter().map(Some).collect();
        self.open.insert(batch, Open { frame, places });
    }

    /// Lends the right to one place; none if it is lent already.
    pub fn lend(&mut self, at: At) -> Option<PlaceMut> {
        let place = self.home(at)?.take()?;
        self.lent += 1;
        Some(place)
    }

    /// Takes a lent right back.
    pub fn back(&mut self, at: At, place: PlaceMut) {
        self.lent -= 1;
        // A batch's slot is closed when all of its places are home, so the home is there.
        if let Some(home) = self.home(at) {
            *home = Some(place);
        }
    }

    /// Rights that are lent.
    pub fn lent(&self) -> usize {
        self.lent
    }

    /// Copies a picture from one place to another; both are home.
    pub fn copy(&mut self, from: At, to: At) {
        let Some(mut source) = self.lend(from) else { return };
        if let Some(Some(target)) = self.home(to) {
            target.as_mut().copy_from_slice(source.as_mut());
        }
        self.back(from, source);
    }

    /// Makes a place black.
    pub fn clear(&mut self, at: At) {
        if let Some(Some(place)) = self.home(at) {
            place.as_mut().fill(0);
        }
    }

    /// Gives the whole right back, if every part of it is home.
    pub fn close(&mut self, batch: u64) -> Option<SlotMut> {
        let Open { frame, places } = self.open.remove(&batch)?;
        let home = places.into_iter().flatten().collect();
        frame.join(home).inspect_err(|error| tracing::error!(%error, "a slot was closed too early")).ok()
    }

    /// Gives every slot back.
    pub fn close_all(&mut self) -> Vec<SlotMut> {
        let batches: Vec<u64> = self.open.keys().copied().collect();
        batches.into_iter().filter_map(|batch| self.close(batch)).collect()
    }

    fn home(&mut self, (batch, place): At) -> Option<&mut Option<PlaceMut>> {
        self.open.get_mut(&batch)?.places.get_mut(place as usize)
    }
}
