//! Where states of a lockstep run were taken, and where accounts of ranks begin and end. The sums of a rank up to such a place
//! are kept, so that its account goes on, or ends, there, whatever was delivered behind it (semantics rule 40).

use std::ops::Range;

use forebay_proto::v1::{EpochPosition, StoredMark, UnsummedRange};

use super::Ledger;
use super::receipts::overlap;
use super::tallies::{PositionFate, Tallies, between};
use super::worker_index::WorkerIndex;
use forebay_plan::RankPositions;

/// Marks that are kept. Older ones are forgotten.
const MARKS: usize = 64;
/// Positions without a receipt whose records are added up at once when an account is cut or an epoch is ended: a few
/// milliseconds. What is more is left to the audit.
pub(super) const SUMMED_AT_ONCE: u64 = 1 << 16;

/// A mark as it is stored.
pub(super) fn stored(place: (u64, u64), below: &Tallies) -> StoredMark {
    let (epoch, position) = place;
    StoredMark { at: Some(EpochPosition { epoch, position }), below: Some(below.message(epoch)) }
}

impl Ledger {
    /// Takes in a mark that was stored.
    pub(super) fn put_mark(&mut self, stored: &StoredMark) -> (u64, u64) {
        let place = order(stored.at.unwrap_or_default());
        self.marks.insert(place, stored.below.as_ref().map(Tallies::from_message).unwrap_or_default());
        place
    }

    /// Notes that a state of the run was taken before this step. A rank that has gone on behind it keeps no sums of it.
    pub(crate) fn mark(&mut self, epoch: u64, step: u64) {
        let Some(at) = self.place_of_step(epoch, step) else { return };
        if self.has_mark(epoch, step) || self.has_counted_behind(at) {
            return;
        }
        let below = self.tallies.get(at.epoch).cloned().unwrap_or_default();
        self.marks.insert(order(at), self.without_dropped_end(at.epoch, below));
        self.dirty.marks.insert(order(at));
        while self.marks.len() > MARKS {
            self.dirty.marks.extend(self.marks.pop_first().map(|(oldest, _)| oldest));
        }
    }

    /// Whether a state of the run was taken before this step, and the sums up to there are kept.
    pub(crate) fn has_mark(&self, epoch: u64, step: u64) -> bool {
        self.place_of_step(epoch, step).is_some_and(|at| self.marks.contains_key(&order(at)))
    }

    /// The generation of its segment.
    pub(crate) fn segment(&self) -> u64 {
        self.segment.max(1)
    }

    /// Whether the newest part of its account begins before this step.
    pub(crate) fn begins_at(&self, epoch: u64, step: u64) -> bool {
        self.place_of_step(epoch, step) == Some(self.account_begins())
    }

    /// Whether a position of this step or a later one is complete.
    pub(crate) fn has_counted_from(&self, epoch: u64, step: u64) -> bool {
        self.place_of_step(epoch, step).is_some_and(|at| self.has_counted_behind(at))
    }

    /// Whether its account can go on in this epoch: it has come to this one, or to the one before.
    pub(crate) const fn is_near(&self, epoch: u64) -> bool {
        epoch <= self.cursor_epoch.saturating_add(1)
    }

    /// Whether its run has gone on with another number of ranks.
    pub(crate) const fn has_ended(&self) -> bool {
        self.ends.is_some()
    }

    /// Makes the ledger one of a segment. Its account begins before this step, whatever it had counted.
    pub(crate) fn begin_at(&mut self, segment: u64, epoch: u64, step: u64) {
        self.segment = segment;
        if let Some(at) = self.place_of_step(epoch, step).filter(|at| *at != self.account_begins()) {
            self.begin_anew(at);
            (self.cursor_epoch, self.cursor) = (at.epoch, at.position);
            self.generation += 1;
        }
        self.touch();
    }

    /// Forgets all that it has counted. Its account begins at this place.
    pub(super) fn begin_anew(&mut self, at: EpochPosition) {
        self.drop_positions();
        self.dirty.marks.extend(std::mem::take(&mut self.marks).into_keys());
        self.dirty.epochs.extend(std::mem::take(&mut self.tallies).into_keys());
        self.begins = if order(at) == (0, 0) { Vec::new() } else { vec![at] };
    }

    /// Ends the account before this step, where the run goes on with another number of ranks. No worker has the ledger any
    /// more.
    pub(crate) fn close(&mut self, epoch: u64, step: u64) {
        let Some(wanted) = self.place_of_step(epoch, step) else { return };
        if self.ends.is_none_or(|ends| order(ends) > order(wanted)) {
            self.end(wanted);
        }
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
        self.index = WorkerIndex::default();
        self.generation += 1;
        self.touch();
    }

    /// Ends the account at this place. What was counted behind it is nobody's, and so are all leases. What has no receipt
    /// before it counts as delivered by the state.
    pub(super) fn cut(&mut self, at: EpochPosition) {
        let goes_on = self.has_counted_behind(at);
        if let Some(sums) = self.tallies.get(at.epoch).cloned() {
            *self.tally(at.epoch) = self.without_dropped_end(at.epoch, sums);
        }
        let mut open: Vec<(u64, Range<u64>)> = self.open().collect();
        open.push((self.cursor_epoch, self.cursor..self.plan.epoch_len(self.cursor_epoch)));
        open.push((self.cursor_epoch + 1, 0..at.position));
        self.drop_positions();
        let behind = self.marks.split_off(&(at.epoch, at.position.saturating_add(1)));
        self.dirty.marks.extend(behind.into_keys());
        if goes_on {
            let mark = self.marks.get(&order(at)).cloned();
            if mark.is_none() {
                // Of the epoch's sums, none is only of what is before it.
                open.retain(|(epoch, _)| *epoch != at.epoch);
                open.push((at.epoch, self.epoch_begins(at.epoch)..at.position));
            }
            let behind = self.tallies.split_off(at.epoch);
            self.dirty.epochs.extend(behind.into_keys());
            if self.epoch_begins(at.epoch) < at.position {
                *self.tally(at.epoch) = mark.unwrap_or_default();
            }
        }
        let mut room = SUMMED_AT_ONCE;
        for (epoch, positions) in open {
            let end = if epoch == at.epoch { positions.end.min(at.position) } else { positions.end };
            // What the plan leaves out was never to be delivered.
            let dropped = self.leasable(epoch).clamp(positions.start, end.max(positions.start))..end;
            let end = dropped.start.min(end);
            if epoch < at.epoch && !dropped.is_empty() {
                self.drop_positions_of(epoch, &dropped);
            }
            if epoch <= at.epoch && positions.start < end {
                let delivered = positions.start..end;
                match room.checked_sub(end - positions.start) {
                    Some(left) => {
                        room = left;
                        self.account_by_plan(epoch, &delivered, |tallies, plan, part, sum| {
                            tallies.by_state += sum;
                            tallies.count(plan, epoch, part, PositionFate::Delivered);
                        });
                    }
                    None => drop(self.account_unsummed(epoch, &delivered, PositionFate::Delivered)),
                }
            }
        }
        self.touch();
    }

    /// Counts positions as abandoned, or as delivered by a state, without their sums. Says how many records they have.
    pub(super) fn account_unsummed(&mut self, epoch: u64, positions: &Range<u64>, fate: PositionFate) -> u64 {
        let rank = self.plan.spec().lockstep.unwrap_or_default();
        let (abandoned, mut records) = (fate == PositionFate::Abandoned, 0);
        for part in self.split_at_marks(epoch, positions) {
            let end = part.end.min(self.plan.epoch_records(epoch));
            if part.start < end {
                let (rank, world_size) = (rank.rank, rank.world_size);
                let more = UnsummedRange { rank, world_size, start: part.start, end, abandoned };
                records += end - part.start;
                self.account(epoch, &part, |tallies, _| tallies.add_unsummed(more));
            }
        }
        records
    }

    /// Positions as they are divided by the marks.
    pub(super) fn split_at_marks(&self, epoch: u64, positions: &Range<u64>) -> Vec<Range<u64>> {
        let marks = self.marks.range(between(epoch, positions)).map(|((_, position), _)| *position);
        let ends: Vec<u64> = marks.chain([positions.end]).collect();
        let starts = [positions.start].into_iter().chain(ends.iter().copied());
        starts.zip(&ends).map(|(start, &end)| start..end).collect()
    }

    /// Whether a position at this place or behind it is complete.
    fn has_counted_behind(&self, at: EpochPosition) -> bool {
        (at.epoch..=self.cursor_epoch).any(|epoch| {
            let from = if epoch == at.epoch { at.position } else { 0 };
            // What is left out behind it counts nothing.
            let leased = if epoch == self.cursor_epoch { self.cursor } else { self.plan.epoch_len(epoch) };
            let to = leased.min(self.leasable(epoch));
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
