//! Where states of a lockstep run were taken. The sums of a rank up to there are kept, so that its account goes on, or ends, at
//! such a place, whatever was delivered behind it (semantics rule 40).

use std::ops::Range;

use forebay_proto::v1::{EpochPosition, StoredMark};

use super::{Ledger, receipts::overlap, tallies::PositionFate, tallies::Tallies};
use crate::lockstep::RankPositions;

/// Marks that are kept. Older ones are forgotten.
const MARKS: usize = 64;

/// A place of a state, and what was counted of its epoch before it. The epochs before are whole.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    at: EpochPosition,
    pub(super) below: Tallies,
}

impl Mark {
    /// Whether all of these positions are before it, in its epoch.
    pub(super) fn is_behind(&self, epoch: u64, positions: &Range<u64>) -> bool {
        self.at.epoch == epoch && positions.end <= self.at.position
    }

    /// Whether only a part of these positions is before it.
    pub(super) fn is_between(&self, epoch: u64, positions: &Range<u64>) -> bool {
        self.at.epoch == epoch && positions.start < self.at.position && self.at.position < positions.end
    }

    pub(super) fn stored(&self) -> StoredMark {
        StoredMark { at: Some(self.at), below: Some(self.below.message(self.at.epoch)) }
    }

    pub(super) fn from_stored(stored: &StoredMark) -> Self {
        let below = stored.below.as_ref().map(Tallies::from_message).unwrap_or_default();
        Self { at: stored.at.unwrap_or_default(), below }
    }
}

impl Ledger {
    /// Notes that a state of the run was taken before this step. A rank that has gone on behind it keeps no sums of it.
    pub(crate) fn mark(&mut self, epoch: u64, step: u64) {
        let Some(at) = self.place_of_step(epoch, step) else { return };
        if self.marks.iter().any(|mark| mark.at == at) || self.has_counted_behind(at) {
            return;
        }
        let below = self.tallies.get(&at.epoch).cloned().unwrap_or_default();
        let index = self.marks.partition_point(|mark| order(mark.at) < order(at));
        self.marks.insert(index, Mark { at, below });
        let oldest = self.marks.len().saturating_sub(MARKS);
        self.marks.drain(..oldest);
        self.touch();
    }

    /// The generation of its segment.
    pub(crate) fn segment(&self) -> u64 {
        self.segment.max(1)
    }

    /// Whether the newest part of its account begins before this step.
    pub(crate) fn begins_at(&self, epoch: u64, step: u64) -> bool {
        self.place_of_step(epoch, step) == Some(self.account_begins())
    }

    /// Whether its run has gone on with another number of ranks.
    pub(crate) const fn has_ended(&self) -> bool {
        self.ends.is_some()
    }

    /// Makes a fresh ledger one of a segment. Its account begins before this step.
    pub(crate) fn begin_at(&mut self, segment: u64, epoch: u64, step: u64) {
        self.segment = segment;
        if let Some(at) = self.place_of_step(epoch, step).filter(|at| *at != EpochPosition::default()) {
            self.begins = vec![at];
            (self.cursor_epoch, self.cursor) = (at.epoch, at.position);
            self.generation += 1;
        }
        self.touch();
    }

    /// Ends the account before this step, where the run goes on with another number of ranks. No worker has the ledger any
    /// more. An account that has not come so far ends where it is.
    pub(crate) fn close(&mut self, epoch: u64, step: u64) {
        let Some(wanted) = self.place_of_step(epoch, step) else { return };
        if self.ends.is_some_and(|ends| order(ends) <= order(wanted)) {
            return;
        }
        let begin = self.account_begins();
        let ends = if self.reaches(wanted) || order(wanted) < order(begin) {
            wanted
        } else if self.has_counted_behind(begin) {
            EpochPosition { epoch: self.cursor_epoch, position: self.cursor }
        } else {
            begin
        };
        self.end(ends);
    }

    /// Ends the account where it begins, because its run went on from a state before that. Nothing of it counts.
    pub(crate) fn void(&mut self) {
        if !self.has_ended() || !self.tallies.is_empty() {
            self.end(self.account_begins());
            self.dirty.epochs.extend(std::mem::take(&mut self.tallies).into_keys());
        }
    }

    fn end(&mut self, at: EpochPosition) {
        self.cut(at);
        (self.cursor_epoch, self.cursor) = (at.epoch, at.position);
        self.ends = Some(at);
        self.dirty.workers.extend(std::mem::take(&mut self.workers).into_keys());
        self.generation += 1;
        self.touch();
    }

    /// Whether a state at this place is one of this account. If not, the account begins anew there: the state is of another run,
    /// or from before the account.
    pub(super) fn reaches(&self, at: EpochPosition) -> bool {
        let begin = self.account_begins();
        let is_near = at.epoch <= self.cursor_epoch.saturating_add(1);
        let is_behind = order(at) > order(begin) && is_near && self.has_counted_behind(begin);
        at == begin || is_behind || self.marks.iter().any(|mark| mark.at == at)
    }

    /// Ends the account at this place. What was counted behind it is nobody's, and so are all leases. What has no receipt
    /// before it counts as delivered by the state.
    pub(super) fn cut(&mut self, at: EpochPosition) {
        let goes_on = self.has_counted_behind(at);
        let mut open: Vec<(u64, Range<u64>)> = self.open().collect();
        open.push((self.cursor_epoch, self.cursor..self.plan.epoch_len(self.cursor_epoch)));
        open.push((self.cursor_epoch + 1, 0..at.position));
        for (name, worker) in &mut self.workers {
            if !std::mem::take(&mut worker.leases).is_empty() {
                self.dirty.workers.insert(name.clone());
            }
        }
        self.returned.clear();
        self.tails.clear();
        self.marks.retain(|mark| order(mark.at) <= order(at));
        if goes_on {
            let mark = self.marks.iter().find(|mark| mark.at == at).map(|mark| mark.below.clone());
            if mark.is_none() {
                // Of the epoch's sums, none is only of what is before it.
                open.retain(|(epoch, _)| *epoch != at.epoch);
                open.push((at.epoch, self.epoch_begins(at.epoch)..at.position));
            }
            let behind = self.tallies.split_off(&at.epoch);
            self.dirty.epochs.extend(behind.into_keys());
            if self.epoch_begins(at.epoch) < at.position {
                *self.tally(at.epoch) = mark.unwrap_or_default();
            }
        }
        for (epoch, positions) in open {
            let end = if epoch == at.epoch { positions.end.min(at.position) } else { positions.end };
            if epoch <= at.epoch && positions.start < end {
                let delivered = positions.start..end;
                self.account_by_plan(epoch, &delivered, |tallies| &mut tallies.by_state, PositionFate::Delivered);
            }
        }
        self.touch();
    }

    /// Positions as they are divided by the marks.
    pub(super) fn split_at_marks(&self, epoch: u64, positions: &Range<u64>) -> Vec<Range<u64>> {
        let marks = self.marks.iter().filter(|mark| mark.is_between(epoch, positions)).map(|mark| mark.at.position);
        let ends: Vec<u64> = marks.chain([positions.end]).collect();
        let starts = [positions.start].into_iter().chain(ends.iter().copied());
        starts.zip(&ends).map(|(start, &end)| start..end).collect()
    }

    /// Whether a position at this place or behind it is complete.
    fn has_counted_behind(&self, at: EpochPosition) -> bool {
        (at.epoch..=self.cursor_epoch).any(|epoch| {
            let from = if epoch == at.epoch { at.position } else { 0 };
            let to = if epoch == self.cursor_epoch { self.cursor } else { self.plan.epoch_len(epoch) };
            let open =
                self.open().filter(|(of, _)| *of == epoch).map(|(_, positions)| overlap(&positions, &(from..to)));
            open.sum::<u64>() < to.saturating_sub(from)
        })
    }

    /// What is leased, or was, and is not complete.
    fn open(&self) -> impl Iterator<Item = (u64, Range<u64>)> {
        let held = self.workers.values().flat_map(|worker| worker.leases.values());
        let held = held.flat_map(|held| held.open.iter().map(|span| (held.lease.epoch, span)));
        held.chain(self.unleased().map(|back| (back.epoch, back.start..back.end)))
    }

    /// Where the account begins of which the newest epoch is a part.
    fn account_begins(&self) -> EpochPosition {
        self.begins.last().copied().unwrap_or_default()
    }

    /// Where the account of an epoch begins.
    fn epoch_begins(&self, epoch: u64) -> u64 {
        self.begins.iter().find(|begin| begin.epoch == epoch).map_or(0, |begin| begin.position)
    }

    /// The rank's first position of a step.
    fn place_of_step(&self, epoch: u64, step: u64) -> Option<EpochPosition> {
        let rank = RankPositions::new(self.plan.spec().lockstep?, self.plan.positions());
        Some(EpochPosition { epoch, position: rank.before_step(step) })
    }
}

/// Places in the order in which they come.
const fn order(place: EpochPosition) -> (u64, u64) {
    (place.epoch, place.position)
}
