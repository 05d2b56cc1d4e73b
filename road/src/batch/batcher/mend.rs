//! Finds pictures for the places of a batch that lack one. Such places are those of bad records, holes at the end of a
//! dynamic epoch, and copies at the end of a static one (semantics rules 7, 12 and 13).

use crate::batch::batcher::{Action, Batcher};
use crate::batch::draft::{Draft, DraftPlace, Fill, Side};
use crate::place::At;
use crate::record::Position;
use crate::settings::OnError;

impl Batcher {
    /// Settles the places that are to repeat a picture. False while one is being fetched.
    pub(super) fn mend(&mut self, batch: u64) -> bool {
        let Some(draft) = self.drafts.get(&batch) else { return true };
        if draft.is_wanting() {
            for place in 0..draft.taken() {
                match self.drafts[&batch].place(place).fill {
                    Fill::Bad { position, probe } => self.stand_in((batch, place), position, probe),
                    Fill::Copy { asked } => self.repeat_record((batch, place), asked),
                    _ => {}
                }
            }
        }
        if self.draft(batch).is_busy() {
            return false;
        }
        if self.rules.dynamic.is_none() {
            self.close_places(batch);
        }
        true
    }

    /// For a bad record: the nearest earlier good one of its lease, else the next one; else its place is a hole.
    fn stand_in(&mut self, at: At, position: Position, probe: Option<u64>) {
        let Position { epoch, lease, offset, lease_len, index, .. } = position;
        let earlier = self
            .of_epoch(epoch)
            .filter_map(|(batch, draft)| Some((*batch, draft.beside(lease, offset, Side::Before)?)));
        let offset_of = |(batch, place): &At| self.drafts[batch].place(*place).own.map(|own| own.offset);
        if let Some(from) = earlier.max_by_key(offset_of) {
            self.repeat(from, at);
        } else if let (None, Some((_, turn))) = (probe, self.last_good.get(&lease).copied()) {
            self.draft(at.0).fill(at.1, Fill::Probing { position, probe: offset + 1 });
            self.actions.push_back(Action::Fetch { at, epoch, turn });
        } else if let Some(place) = self.drafts[&at.0].beside(lease, offset, Side::After) {
            self.repeat((at.0, place), at);
        } else {
            let next = probe.unwrap_or(offset + 1);
            if next < lease_len {
                self.draft(at.0).fill(at.1, Fill::Probing { position, probe: next + 1 });
                self.actions.push_back(Action::Probe { at, epoch, index: index - offset + next });
            } else {
                self.draft(at.0).fill(at.1, Fill::Hole);
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
        let DraftPlace { fill, turn, .. } = *draft.place(at.1);
        if let Fill::Probing { position, probe } = fill {
            draft.fill(at.1, Fill::Bad { position, probe: Some(probe) });
            return;
        }
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

    /// Keeps the last good records of the leases that a published batch shows, for bad ones in later batches.
    pub(super) fn remember(&mut self, draft: &Draft) {
        if self.rules.on_error != OnError::Replace {
            return;
        }
        for own in draft.owned() {
            self.last_good.insert(own.lease, (own.epoch, own.turn()));
            if own.offset + 1 == own.lease_len {
                self.last_good.remove(&own.lease);
            }
        }
        // Leases that end with a bad record: only the epoch's end tells that they are over.
        let epoch = draft.epoch();
        self.last_good.retain(|_, (of, _)| *of + 1 >= epoch);
    }

    fn repeat(&mut self, from: At, to: At) {
        let shown = *self.drafts[&from.0].place(from.1);
        self.draft(to.0).set(to.1, DraftPlace { own: None, fill: Fill::Good, ..shown });
        self.actions.push_back(Action::Copy { from, to });
    }
}
