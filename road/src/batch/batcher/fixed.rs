//! Batches of static assignment. The plan determines each position's batch and place (semantics rules 7 and 13). If a
//! position was delivered before, is bad or has no record, no other position gets its place. Later positions never move
//! up.

use std::mem;

use crate::batch::batcher::{Action, Batcher};
use crate::batch::draft::{Draft, DraftPlace, Fill};
use crate::batch::form::Form;
use crate::place::At;
use crate::record::{BadRecord, Position};

impl Batcher {
    /// Opens the batch of a static position, for which the caller has a slot. Gives its number.
    pub(crate) fn begin_fixed(&mut self, position: &Position, form: &Form) -> u64 {
        self.pass(position);
        let seat = self.seat_of(position);
        if let Some(before) = self.seats.remove(&seat) {
            // The place is taken: the position is repeated after its lease was lost.
            self.draft(before).end();
        }
        let batch = self.number();
        self.drafts.insert(batch, Draft::fixed(position.epoch, self.rules.batch_size, form));
        self.seats.insert(seat, batch);
        self.settle(position.epoch);
        batch
    }

    /// Closes the batches before a position's own for now. Positions are granted in order, so each missing position is
    /// either complete, or a trainer or another worker still has it.
    pub(crate) fn pass(&mut self, position: &Position) {
        if self.rules.dynamic.is_none() {
            self.end_seats((position.epoch, 0), self.seat_of(position));
            self.settle(position.epoch);
        }
    }

    /// Notes a static position that has no record. Its batch must be there.
    pub(crate) fn bare(&mut self, position: Position) {
        let batch = self.batch_of(&position);
        self.draft(batch).bare.push(position);
        self.arrived(batch, &position);
        self.settle(position.epoch);
    }

    /// Whether a static position needs a new batch.
    pub(super) fn needs_seat(&self, position: &Position) -> bool {
        let batch = self.seats.get(&self.seat_of(position));
        batch.is_none_or(|batch| self.drafts[batch].has(self.place_of(position), position))
    }

    /// Gives a static position its place.
    pub(super) fn seat_fixed(&mut self, position: &Position, place: DraftPlace) -> At {
        let batch = self.batch_of(position);
        let at = (batch, self.place_of(position));
        self.draft(batch).set(at.1, place);
        self.arrived(batch, position);
        at
    }

    /// If places never shift, a hole shows another picture of the batch. If there is none, it is black. Such a place has
    /// no record.
    pub(super) fn close_places(&mut self, batch: u64) {
        while let Some(place) = self.draft(batch).hole() {
            let draft = self.draft(batch);
            let donor = draft.nearest_good(place);
            match donor {
                Some(from) => draft.repeat(from, place),
                // The label of the bad record is not that of a black picture.
                None => draft.set(place, DraftPlace::HOLE),
            }
            draft.fill(place, Fill::Anonymous);
            let to = (batch, place);
            let black = Action::Clear { at: to };
            self.actions.push_back(donor.map_or(black, |from| Action::Copy { from: (batch, from), to }));
        }
    }

    /// Returns the bad records of batches that will never be published. They are quarantined too, because they are the
    /// reason.
    pub(super) fn bad_of_drafts(&mut self) -> Vec<BadRecord> {
        self.drafts.values_mut().flat_map(|draft| mem::take(&mut draft.bad)).collect()
    }

    /// The batch of a position among those that are begun.
    fn batch_of(&self, position: &Position) -> u64 {
        *self.seats.get(&self.seat_of(position)).expect("the caller began a batch when needs_slot said so")
    }

    /// Epoch and number of a position's batch in it.
    fn seat_of(&self, position: &Position) -> (u64, u64) {
        (position.epoch, position.index / u64::from(self.rules.batch_size.max(1)))
    }

    #[allow(clippy::cast_possible_truncation, reason = "a remainder of a u32")]
    fn place_of(&self, position: &Position) -> u32 {
        (position.index % u64::from(self.rules.batch_size.max(1))) as u32
    }

    /// A batch is complete with its last position.
    fn arrived(&mut self, batch: u64, position: &Position) {
        let place = self.place_of(position);
        if place + 1 >= self.draft(batch).positions() {
            self.draft(batch).end();
            self.seats.remove(&self.seat_of(position));
        }
    }

    /// No further position comes for the batches of these seats.
    pub(super) fn end_seats(&mut self, from: (u64, u64), before: (u64, u64)) {
        let ended: Vec<(u64, u64)> = self.seats.range(from..before).map(|(seat, _)| *seat).collect();
        for seat in ended {
            if let Some(batch) = self.seats.remove(&seat) {
                self.draft(batch).end();
            }
        }
    }
}
