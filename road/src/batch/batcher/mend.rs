//! Finds pictures for the places of a batch that lack one. Such places are those of bad records, holes at the end of a
//! dynamic epoch, and copies at the end of a static one (semantics rules 7, 12 and 13).

use crate::batch::batcher::{Action, Batcher};
use crate::batch::draft::{DraftPlace, Fill};
use crate::place::At;

impl Batcher {
    /// Settles the places that are to repeat a picture. False while one is being fetched.
    pub(super) fn mend(&mut self, batch: u64) -> bool {
        let Some(draft) = self.drafts.get(&batch) else { return true };
        let is_wanting = draft.is_wanting();
        for place in 0..if is_wanting { draft.taken() } else { 0 } {
            if let Fill::Copy { asked } = self.drafts[&batch].place(place).fill {
                self.repeat_record((batch, place), asked);
            }
        }
        if self.draft(batch).is_busy() {
            return false;
        }
        if is_wanting {
            self.replace_bad(batch);
        }
        if self.rules.dynamic.is_none() {
            self.close_places(batch);
        }
        true
    }

    /// The nearest earlier good record of the batch takes the place of a bad one, else the next good one of the batch. If the
    /// batch has none, the place is a hole.
    fn replace_bad(&mut self, batch: u64) {
        for place in 0..self.drafts[&batch].taken() {
            let draft = &self.drafts[&batch];
            if draft.place(place).fill != Fill::Bad {
                continue;
            }
            match draft.nearest_good(place) {
                Some(from) => self.repeat((batch, from), (batch, place)),
                None => self.draft(batch).fill(place, Fill::Hole),
            }
        }
    }

    /// For a copy: a place that shows its record, else the record itself, fetched once for all of its copies.
    fn repeat_record(&mut self, at: At, asked: bool) {
        let draft = self.draft(at.0);
        let (epoch, turn) = (draft.epoch(), draft.place(at.1).turn);
        if let Some(from) = draft.showing(turn) {
            self.repeat((at.0, from), at);
        } else if asked {
            draft.fill(at.1, Fill::Hole);
        } else if draft.fetching(turn).is_none() {
            draft.fill(at.1, Fill::Fetching);
            self.actions.push_back(Action::Fetch { at, epoch, turn });
        }
    }

    /// Notes that what was fetched for a place is bad as well.
    pub(super) fn copy_failed(&mut self, at: At) {
        let draft = self.draft(at.0);
        let turn = draft.place(at.1).turn;
        for place in 0..draft.taken() {
            let other = draft.place(place);
            if place == at.1 || other.turn == turn && other.fill == (Fill::Copy { asked: false }) {
                draft.fill(place, Fill::Copy { asked: true });
            }
        }
    }

    /// Moves the last pictures of an ended epoch into its holes. False while records or outcomes are still to come.
    pub(super) fn close_holes(&mut self, epoch: u64) -> bool {
        if !self.ended.contains(&epoch) {
            return false;
        }
        let batches: Vec<u64> = self.of_epoch(epoch).map(|(batch, _)| *batch).collect();
        if batches.iter().any(|batch| self.drafts[batch].is_busy()) || !batches.iter().all(|batch| self.mend(*batch)) {
            return false;
        }
        self.open.remove(&epoch);
        let mut left = batches.as_slice();
        while let Some((&last, before)) = left.split_last() {
            if self.draft(last).trim() == 0 {
                self.drafts.remove(&last);
                self.actions.push_back(Action::Discard { batch: last });
                left = before;
                continue;
            }
            let Some(to) = self.hole(epoch) else { break };
            let Some(moved) = self.draft(last).pop() else { break };
            let from = (last, self.draft(last).taken());
            self.actions.push_back(Action::Copy { from, to });
            self.draft(to.0).set(to.1, moved);
        }
        true
    }

    fn repeat(&mut self, from: At, to: At) {
        let shown = *self.drafts[&from.0].place(from.1);
        self.draft(to.0).set(to.1, DraftPlace { own: None, fill: Fill::Good, ..shown });
        self.actions.push_back(Action::Copy { from, to });
    }
}
