//! What is noted of pictures beside their pixels, until their batches are settled.

use std::collections::BTreeMap;

use crate::place::At;

/// A note of some places: what is beside a picture in a mosaic, or what functions have returned for it.
#[derive(Debug)]
pub(super) struct Beside<T>(BTreeMap<At, T>);

impl<T> Default for Beside<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T: Clone> Beside<T> {
    /// Notes this of the picture of a place.
    pub(super) fn set(&mut self, at: At, note: Option<T>) {
        match note {
            Some(note) => self.0.insert(at, note),
            None => self.0.remove(&at),
        };
    }

    /// One place becomes a copy of another one.
    pub(super) fn copy(&mut self, from: At, to: At) {
        self.set(to, self.0.get(&from).cloned());
    }

    /// Takes out the notes of a batch, by their places.
    pub(super) fn take(&mut self, batch: u64) -> BTreeMap<u32, T> {
        let mut of_batch = self.0.split_off(&(batch, 0));
        self.0.append(&mut of_batch.split_off(&(batch + 1, 0)));
        of_batch.into_iter().map(|((_, place), note)| (place, note)).collect()
    }
}
