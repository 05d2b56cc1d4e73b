//! Positions without a record: the last ones of an epoch, or any of those behind the turns of a step of a class.

use std::ops::Range;

use forebay_proto::Turn;

use super::{EpochOrder, Places};
use crate::classes::StepClass;

impl EpochOrder {
    /// Those of these positions that have no record, as ranges that rise.
    pub fn bare_in(&self, positions: &Range<u64>) -> Vec<Range<u64>> {
        if let Places::OfClasses(part) = &self.places {
            return part.bare_in(positions);
        }
        let bare = positions.start.max(self.records().min(positions.end))..positions.end;
        [bare].into_iter().filter(|bare| !bare.is_empty()).collect()
    }

    /// What a step of a class has on all ranks together. Nothing if steps have no classes.
    pub fn step_class(&self, step: u64) -> Option<StepClass> {
        match &self.places {
            Places::OfClasses(part) => part.step_class(step),
            _ => None,
        }
    }

    /// The turns of a step of a class on all ranks together. None if steps have no classes.
    pub fn turns_of_step(&self, step: u64) -> impl Iterator<Item = Turn> {
        let part = match &self.places {
            Places::OfClasses(part) => Some(part),
            _ => None,
        };
        part.into_iter().flat_map(move |part| part.turns_of_step(step)).map(|turn| self.of_dataset(turn))
    }

    /// How many places a step of a class has here, which may be less than its positions. Nothing if steps have no classes.
    pub(crate) fn places_of_step(&self, step: u64) -> Option<u64> {
        match &self.places {
            Places::OfClasses(part) => Some(part.places_of_step(step)),
            _ => None,
        }
    }
}
