//! One epoch of a plan: which turn is at which position, and the other way around.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use forebay_proto::Turn;
use forebay_proto::v1::SourceShare;

use super::{EpochOrder, Places, counts, placed};
use crate::selection::SelectionTable;

impl EpochOrder {
    /// How many records the epoch has.
    pub fn records(&self) -> u64 {
        if let Places::OfClasses(part) = &self.places { part.records() } else { self.extent.records() }
    }

    /// See [`Plan::epoch_len`](crate::Plan::epoch_len).
    pub fn len(&self) -> u64 {
        if let Places::OfClasses(part) = &self.places { part.len() } else { self.extent.len() }
    }

    /// How many of these positions have a record.
    pub fn records_in(&self, positions: &Range<u64>) -> u64 {
        match &self.places {
            Places::OfClasses(part) => part.records_in(positions),
            _ => positions.end.min(self.records()).saturating_sub(positions.start),
        }
    }

    /// True for an epoch without positions.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// See [`Plan::record`](crate::Plan::record).
    pub fn record(&self, position: u64) -> u64 {
        self.turn(position).record()
    }

    /// The turn of a record at a position; see [`Plan::record`](crate::Plan::record).
    pub fn turn(&self, position: u64) -> Turn {
        let place = || self.extent.place(position);
        self.of_dataset(match &self.places {
            Places::AsTheyAre => Turn::first(place()),
            Places::Permuted(permutation) => Turn::first(permutation.forward(place())),
            Places::ByGrains(grains) => Turn::first(grains.record(place())),
            Places::Mixed(mixed) => mixed.turn(place()),
            Places::OfClasses(part) => part.shown(position),
        })
    }

    /// A turn of a place among the selected records, as one of a record of the dataset.
    pub(super) fn of_dataset(&self, turn: Turn) -> Turn {
        self.selection.as_ref().map_or(turn, |selection| selection.turn(turn))
    }

    /// The turn that the epoch has at a position; none at a position without a record.
    pub fn own(&self, position: u64) -> Option<Turn> {
        match &self.places {
            Places::OfClasses(part) => part.own(position).map(|turn| self.of_dataset(turn)),
            _ => (position < self.records()).then(|| self.turn(position)),
        }
    }

    /// How many of these positions each of the sources has. Positions without a record count for no source.
    pub fn count_sources(&self, sources: &[SourceShare], positions: &Range<u64>) -> Vec<u64> {
        if matches!(self.places, Places::OfClasses(_)) {
            return counts::count(&self.places, sources, positions.clone());
        }
        let mut counts = vec![0; sources.len()];
        for places in self.extent.spans(positions) {
            let of_span = counts::count(&self.places, sources, places);
            counts.iter_mut().zip(of_span).for_each(|(count, more)| *count += more);
        }
        counts
    }

    /// See [`Plan::positions_of`](crate::Plan::positions_of).
    pub fn positions_of(&self, record: u64) -> impl Iterator<Item = u64> {
        let record = placed(self.selection.as_ref(), record);
        let single = match &self.places {
            Places::Mixed(_) | Places::OfClasses(_) => None,
            _ if record >= self.all => None,
            Places::AsTheyAre => Some(record),
            Places::Permuted(permutation) => Some(permutation.inverse(record)),
            Places::ByGrains(grains) => Some(grains.place(record)),
        };
        let mixed = match &self.places {
            Places::Mixed(mixed) => Some(mixed.positions(record)),
            _ => None,
        };
        let places = single.into_iter().chain(mixed.into_iter().flatten());
        let of_classes = match &self.places {
            Places::OfClasses(part) => Some(part.positions_of(record)),
            _ => None,
        };
        places.filter_map(|place| self.extent.position(place)).chain(of_classes.into_iter().flatten())
    }

    /// Calls `visit` with each of these records and each of its positions, in whatever order is the cheapest.
    pub fn visit_positions(&self, records: &BTreeSet<u64>, mut visit: impl FnMut(u64, u64)) {
        if let Places::Mixed(mixed) = &self.places {
            let places = |selection: &Arc<SelectionTable>| {
                records.iter().filter_map(|record| selection.place(*record)).collect()
            };
            let selected: Option<BTreeSet<u64>> = self.selection.as_ref().map(places);
            mixed.visit_positions(selected.as_ref().unwrap_or(records), |record, place| {
                if let Some(position) = self.extent.position(place) {
                    visit(self.of_dataset(Turn::first(record)).record(), position);
                }
            });
            return;
        }
        for &record in records {
            self.positions_of(record).for_each(|position| visit(record, position));
        }
    }
}
