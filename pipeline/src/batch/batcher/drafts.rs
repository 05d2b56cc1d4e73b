//! The batches in the making, by their numbers.

use std::collections::BTreeMap;

use crate::batch::draft::Draft;
use crate::batch::form::Form;
use crate::place::At;
use crate::record::{BadRecord, Position};

/// Those that were begun and not yet published.
#[derive(Debug)]
pub(super) struct Drafts {
    /// Number of the next one.
    next: u64,
    /// Places of each.
    size: u32,
    begun: BTreeMap<u64, Draft>,
}

impl Drafts {
    /// None yet, of `size` places each.
    pub(super) fn new(size: u32) -> Self {
        Self { next: 0, size, begun: BTreeMap::new() }
    }

    /// Continues the numbers of earlier batches of the same stream.
    pub(super) fn number_from(&mut self, next: u64) {
        self.next = next;
    }

    /// Number of the next batch.
    pub(super) fn next_number(&self) -> u64 {
        self.next
    }

    /// Begins a batch of a dynamic epoch. Gives its number.
    pub(super) fn begin(&mut self, epoch: u64) -> u64 {
        self.add(Draft::new(epoch, self.size))
    }

    /// Begins a batch of static assignment. Gives its number.
    pub(super) fn begin_fixed(&mut self, epoch: u64, form: &Form) -> u64 {
        self.add(Draft::fixed(epoch, self.size, form))
    }

    fn add(&mut self, draft: Draft) -> u64 {
        let number = self.next;
        self.next += 1;
        self.begun.insert(number, draft);
        number
    }

    /// Whether none is in the making.
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.begun.is_empty()
    }

    /// A batch, if it is in the making.
    pub(super) fn get(&self, batch: u64) -> Option<&Draft> {
        self.begun.get(&batch)
    }

    /// A batch, if it is in the making, to be changed.
    pub(super) fn get_mut(&mut self, batch: u64) -> Option<&mut Draft> {
        self.begun.get_mut(&batch)
    }

    /// A batch that is in the making.
    pub(super) fn of(&self, batch: u64) -> &Draft {
        self.begun.get(&batch).expect("a batch that was begun and not yet published")
    }

    /// The same, to be changed.
    pub(super) fn of_mut(&mut self, batch: u64) -> &mut Draft {
        self.begun.get_mut(&batch).expect("a batch that was begun and not yet published")
    }

    /// Takes a batch out.
    pub(super) fn remove(&mut self, batch: u64) -> Option<Draft> {
        self.begun.remove(&batch)
    }

    /// The batches of an epoch, in the order of their numbers.
    pub(super) fn of_epoch(&self, epoch: u64) -> impl Iterator<Item = (u64, &Draft)> {
        let batches = self.begun.iter().filter(move |(_, draft)| draft.epoch() == epoch);
        batches.map(|(batch, draft)| (*batch, draft))
    }

    /// The lowest hole of the epoch.
    pub(super) fn hole(&self, epoch: u64) -> Option<At> {
        self.of_epoch(epoch).find_map(|(batch, draft)| Some((batch, draft.hole()?)))
    }

    /// The youngest batch of an epoch behind this one.
    pub(super) fn youngest_after(&self, epoch: u64) -> Option<u64> {
        self.begun.iter().rev().find(|(_, draft)| draft.epoch() > epoch).map(|(batch, _)| *batch)
    }

    /// Returns the bad records of batches that will never be published. They are quarantined too, because they are the
    /// reason.
    pub(super) fn take_bad(&mut self) -> Vec<BadRecord> {
        self.begun.values_mut().flat_map(|draft| std::mem::take(&mut draft.bad)).collect()
    }

    /// Gives all of them up. Returns their positions.
    pub(super) fn close(&mut self) -> Vec<Position> {
        let begun = std::mem::take(&mut self.begun);
        begun.values().flat_map(|draft| draft.owned().chain(draft.without())).collect()
    }
}
