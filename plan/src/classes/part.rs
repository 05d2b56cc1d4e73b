//! The positions that one rank has of an epoch whose steps have one class each, or those of all ranks together.
//!
//! Each rank has an equal part of a step's places, and as many positions of each step. A position beyond its part of the places
//! is bare, and so is one that has no turn.

use std::num::NonZeroU64;
use std::ops::Range;

use forebay_proto::Turn;
use forebay_proto::v1::{LedgerSpec, LockstepRank};

use super::{ClassLayout, ClassOrder, ClassSize};

/// See the module. Positions are counted as the rank counts them.
#[derive(Clone, Debug)]
pub(crate) struct ClassPart {
    order: ClassOrder,
    rank: u64,
    ranks: u64,
}

/// What a step of a class has on all ranks together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepClass {
    /// The step, counted from the epoch's start.
    pub step: u64,
    /// Number of the class.
    pub class: usize,
    /// Turns of records.
    pub turns: u64,
}

/// What the part has of a step.
#[derive(Clone, Copy, Debug)]
struct StepPart {
    /// The step's first place that is the rank's, and how many there are.
    first: u64,
    places: u64,
    /// How many of them have a turn. They are in front.
    turns: u64,
}

impl ClassPart {
    /// Of a rank, or the whole epoch.
    pub(crate) fn new(order: ClassOrder, rank: Option<&LockstepRank>) -> Self {
        let (rank, ranks) = ranks_of(rank);
        Self { order, rank, ranks }
    }

    /// How many positions a rank has of an epoch.
    pub(crate) fn positions(layout: &ClassLayout, rank: Option<&LockstepRank>) -> u64 {
        layout.positions() / ranks_of(rank).1
    }

    /// How many turns a rank has of an epoch.
    pub(crate) fn turns(layout: &ClassLayout, rank: Option<&LockstepRank>) -> u64 {
        let (rank, ranks) = ranks_of(rank);
        layout.turns_of_rank(rank, ranks)
    }

    /// How many positions there are.
    pub(crate) fn len(&self) -> u64 {
        self.order.positions() / self.ranks
    }

    /// How many of them have a turn.
    pub(crate) fn records(&self) -> u64 {
        self.order.layout().turns_of_rank(self.rank, self.ranks)
    }

    /// The turn at a position; nothing where it is bare.
    pub(crate) fn own(&self, position: u64) -> Option<Turn> {
        let (step, place) = self.place(position);
        let part = self.of_step(step)?;
        (place < part.turns).then(|| self.order.turn(self.whole(step, part.first + place)))?
    }

    /// The turn that a position shows. At a bare one, that is the nearest earlier one that the rank has in the step, or else the
    /// step's first. Positions beyond the epoch's end show the last step.
    pub(crate) fn shown(&self, position: u64) -> Turn {
        let (step, place) = self.place(position.min(self.len().saturating_sub(1)));
        let part = self.of_step(step);
        let last = part.and_then(|part| Some(part.first + place.min(part.turns.checked_sub(1)?)));
        self.order.turn(self.whole(step, last.unwrap_or(0))).expect("each step has a turn at its first place")
    }

    /// How many of these positions have a turn.
    pub(crate) fn records_in(&self, positions: &Range<u64>) -> u64 {
        if *positions == (0..self.len()) {
            return self.records();
        }
        let own = self.positions_of_step();
        let (mut start, end, mut count) = (positions.start, positions.end.min(self.len()), 0);
        while start < end {
            let (step, place) = self.place(start);
            let turns = self.of_step(step).map_or(0, |part| part.turns);
            let stop = end.min(start - place + own);
            count += turns.min(place + stop - start).saturating_sub(place);
            start = stop;
        }
        count
    }

    /// Those of these positions that have no turn, as ranges that rise.
    pub(crate) fn bare_in(&self, positions: &Range<u64>) -> Vec<Range<u64>> {
        let own = self.positions_of_step();
        let (mut start, end, mut bare) = (positions.start, positions.end.min(self.len()), Vec::<Range<u64>>::new());
        while start < end {
            let (step, place) = self.place(start);
            let (first, stop) = (start - place, end.min(start - place + own));
            let behind = start.max(first + self.of_step(step).map_or(0, |part| part.turns));
            match bare.last_mut() {
                _ if behind >= stop => {}
                Some(last) if last.end == behind => last.end = stop,
                _ => bare.push(behind..stop),
            }
            start = stop;
        }
        bare
    }

    /// How many places of a step are the part's.
    pub(crate) fn places_of_step(&self, step: u64) -> u64 {
        self.of_step(step).map_or(0, |part| part.places)
    }

    /// What a step has on all ranks together. Nothing beyond the epoch's end.
    pub(crate) fn step_class(&self, step: u64) -> Option<StepClass> {
        Some(StepClass { step, class: self.order.class(step)?, turns: self.order.size(step)?.turns })
    }

    /// The turns of a step on all ranks together.
    pub(crate) fn turns_of_step(&self, step: u64) -> impl Iterator<Item = Turn> {
        let turns = self.order.size(step).map_or(0, |size| size.turns);
        (0..turns).filter_map(move |place| self.order.turn(self.whole(step, place)))
    }

    /// The positions of a record, one for each turn that the part has of it.
    pub(crate) fn positions_of(&self, record: u64) -> impl Iterator<Item = u64> {
        self.order.positions_of(record).filter_map(|position| {
            let places = self.order.layout().places();
            let (step, place) = (position / places, position % places);
            let part = self.of_step(step)?;
            let own = place.checked_sub(part.first).filter(|own| *own < part.places)?;
            Some(step * self.positions_of_step() + own)
        })
    }

    /// Positions of each step.
    fn positions_of_step(&self) -> u64 {
        self.order.layout().places() / self.ranks
    }

    /// The step of a position, and its place among the step's positions.
    fn place(&self, position: u64) -> (u64, u64) {
        (position / self.positions_of_step(), position % self.positions_of_step())
    }

    /// The position of a place, as the whole epoch counts it.
    fn whole(&self, step: u64, place: u64) -> u64 {
        step * self.order.layout().places() + place
    }

    fn of_step(&self, step: u64) -> Option<StepPart> {
        let ClassSize { turns, places } = self.order.size(step)?;
        let part = places / self.ranks;
        let first = self.rank * part;
        Some(StepPart { first, places: part, turns: turns.saturating_sub(first).min(part) })
    }
}

/// How many positions each step of classes has, a rank's part if the spec is that of one. Nothing if its steps have no classes.
pub fn step_positions(spec: &LedgerSpec) -> Option<NonZeroU64> {
    let places = spec.classes.as_ref()?.places.iter().max()?;
    NonZeroU64::new(u64::from(*places) / ranks_of(spec.lockstep.as_ref()).1)
}

/// The number of a rank, and how many there are.
fn ranks_of(rank: Option<&LockstepRank>) -> (u64, u64) {
    rank.map_or((0, 1), |rank| (rank.rank.into(), u64::from(rank.world_size).max(1)))
}
