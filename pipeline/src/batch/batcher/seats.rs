//! Batches of static assignment. The plan determines each position's batch and place (semantics rules 7 and 13). If a
//! position was delivered before, is bad or has no record, no other position gets its place. Later positions never move
//! up.

use std::collections::BTreeMap;

use crate::batch::batcher::drafts::Drafts;
use crate::record::Position;

/// Epoch, and number of a batch in it.
type Seat = (u64, u64);

/// The batches to which positions may still come.
#[derive(Debug)]
pub(super) struct Seats {
    /// Places of a batch, at least one.
    batch_size: u64,
    batches: BTreeMap<Seat, u64>,
}

impl Seats {
    /// None yet.
    pub(super) fn new(batch_size: u32) -> Self {
        Self { batch_size: u64::from(batch_size.max(1)), batches: BTreeMap::new() }
    }

    /// Whether a position needs a new batch.
    pub(super) fn needs_batch(&self, position: &Position, drafts: &Drafts) -> bool {
        let batch = self.batches.get(&self.seat_of(position));
        batch.is_none_or(|batch| drafts.of(*batch).has(self.place_of(position), position))
    }

    /// This batch is that of the position.
    pub(super) fn add(&mut self, position: &Position, batch: u64) {
        self.batches.insert(self.seat_of(position), batch);
    }

    /// The batch of a position among those that are begun.
    pub(super) fn batch_of(&self, position: &Position) -> u64 {
        *self.batches.get(&self.seat_of(position)).expect("the caller began a batch when needs_slot said so")
    }

    /// The place of a position in its batch.
    #[allow(clippy::cast_possible_truncation, reason = "a remainder of a u32")]
    pub(super) fn place_of(&self, position: &Position) -> u32 {
        (position.index % self.batch_size) as u32
    }

    /// A position has come. A batch is complete with its last position.
    pub(super) fn arrived(&mut self, batch: u64, position: &Position, drafts: &mut Drafts) {
        let draft = drafts.of_mut(batch);
        if self.place_of(position) + 1 >= draft.positions() {
            draft.end();
            self.batches.remove(&self.seat_of(position));
        }
    }

    /// No further position comes for the batch of this one.
    pub(super) fn end_own(&mut self, position: &Position, drafts: &mut Drafts) {
        if let Some(batch) = self.batches.remove(&self.seat_of(position)) {
            drafts.of_mut(batch).end();
        }
    }

    /// No further position comes for the batches of the epoch before a position's own.
    pub(super) fn end_before(&mut self, position: &Position, drafts: &mut Drafts) {
        self.end((position.epoch, 0), self.seat_of(position), drafts);
    }

    /// No further position comes for the batches of an epoch.
    pub(super) fn end_epoch(&mut self, epoch: u64, drafts: &mut Drafts) {
        self.end((epoch, 0), (epoch + 1, 0), drafts);
    }

    fn end(&mut self, from: Seat, before: Seat, drafts: &mut Drafts) {
        let ended: Vec<Seat> = self.batches.range(from..before).map(|(seat, _)| *seat).collect();
        for seat in ended {
            if let Some(batch) = self.batches.remove(&seat) {
                drafts.of_mut(batch).end();
            }
        }
    }

    /// The batch is not made after all.
    pub(super) fn forget(&mut self, batch: u64) {
        self.batches.retain(|_, seat| *seat != batch);
    }

    /// Forgets all of them.
    pub(super) fn clear(&mut self) {
        self.batches.clear();
    }

    fn seat_of(&self, position: &Position) -> Seat {
        (position.epoch, position.index / self.batch_size)
    }
}
