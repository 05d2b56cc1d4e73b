//! The order of epochs that take several sources in chosen shares, or take records more than once (semantics rules 57
//! and 58).
//!
//! A source draws its records one after the other, over all epochs: the draws of an epoch go on where those of the epoch
//! before it ended. Its records are permuted anew each time all of them were drawn. So over many epochs each record of a
//! source has as many turns as any other of that source, and one at most more. The draws of all sources are permuted
//! together, if the epoch is shuffled. It takes memory for each source, and none for records.

pub(crate) mod shares;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::Arc;

use forebay_proto::Turn;
use forebay_proto::v1::LedgerSpec;

use crate::ledger::MAX_EPOCH;
use crate::permutation::Permutation;

/// The orders of all epochs of a spec.
#[derive(Debug)]
pub(crate) struct Mixture {
    sources: Vec<MixedSource>,
    /// Positions of an epoch.
    positions: u64,
}

/// A source, and its share.
#[derive(Debug)]
struct MixedSource {
    /// Its records in the dataset.
    records: Range<u64>,
    /// Its draws among those of an epoch that is not shuffled.
    draws: Range<u64>,
    /// What the orders of its records are made from, if they are shuffled.
    base: Option<Permutation>,
}

/// The order of one epoch.
#[derive(Clone, Debug)]
pub(crate) struct MixedEpoch {
    mixture: Arc<Mixture>,
    epoch: u64,
    /// From a position to a draw of a source.
    order: Option<Permutation>,
}

/// One pass of a source over its records.
struct Cycle(Option<Permutation>);

impl Mixture {
    /// The mixture of a spec, which was checked.
    pub(crate) fn new(spec: &LedgerSpec) -> Self {
        let (mut sources, mut records, mut positions) = (Vec::with_capacity(spec.sources.len()), 0, 0);
        for (number, source) in (0..).zip(&spec.sources) {
            let permutation = || Permutation::new(source.records, spec.seed, number, &spec.fingerprint, "source");
            sources.push(MixedSource {
                records: records..records + source.records,
                draws: positions..positions + source.positions,
                base: spec.shuffle.then(permutation),
            });
            records += source.records;
            positions += source.positions;
        }
        Self { sources, positions }
    }

    /// How many positions an epoch of the whole dataset has.
    pub(crate) const fn positions(&self) -> u64 {
        self.positions
    }
}

impl MixedEpoch {
    /// The order of an epoch of the mixture that the spec has. Epochs that no ledger reaches are all alike.
    pub(crate) fn new(mixture: Arc<Mixture>, spec: &LedgerSpec, epoch: u64) -> Self {
        let epoch = epoch.min(MAX_EPOCH);
        let permutation = || Permutation::new(mixture.positions, spec.seed, epoch, &spec.fingerprint, "mixture");
        let order = spec.shuffle.then(permutation);
        Self { mixture, epoch, order }
    }

    /// Whether positions have their draws in another order.
    pub(crate) const fn is_shuffled(&self) -> bool {
        self.order.is_some()
    }

    /// The draw of a position. The draws of each source follow those of the source before it.
    pub(crate) fn draw(&self, position: u64) -> u64 {
        self.order.as_ref().map_or(position, |order| order.forward(position))
    }

    /// What a position has, which is below the number of positions.
    pub(crate) fn turn(&self, position: u64) -> Turn {
        let draw = self.draw(position);
        let sources = &self.mixture.sources;
        let source = &sources[sources.partition_point(|source| source.draws.end <= draw)];
        let first = self.first(source);
        let (cycle, offset) = source.split(first + u128::from(draw - source.draws.start));
        let own = source.cycle(cycle).forward(offset);
        Turn::new(source.records.start + own, source.repeat(first, cycle, own))
    }

    /// The positions of a record, by its turns.
    pub(crate) fn positions(&self, record: u64) -> impl Iterator<Item = u64> {
        let source = self.mixture.sources.iter().find(|source| source.records.contains(&record));
        let turns = source.map(|source| {
            let (first, own) = (self.first(source), record - source.records.start);
            let end = first + u128::from(source.len());
            let cycles = source.split(first).0..=source.split(end).0;
            cycles.filter_map(move |cycle| {
                let place = source.place(cycle, own).checked_sub(first)?;
                let place = u64::try_from(place).ok().filter(|place| *place < source.len())?;
                let draw = source.draws.start + place;
                Some(self.order.as_ref().map_or(draw, |order| order.inverse(draw)))
            })
        });
        turns.into_iter().flatten()
    }

    /// How many draws of the source come before those of this epoch.
    fn first(&self, source: &MixedSource) -> u128 {
        u128::from(self.epoch) * u128::from(source.len())
    }
}

impl MixedSource {
    /// How often the epoch that begins with draw `first` draws a record before it does so in this cycle: once in each cycle
    /// from the epoch's first one on, but for the first one if the epoch before it drew the record there.
    fn repeat(&self, first: u128, cycle: u64, own: u64) -> u16 {
        let (begun, _) = self.split(first);
        let missed = cycle > begun && self.place(begun, own) < first;
        u16::try_from(cycle - begun - u64::from(missed)).expect("the check of the spec limits repeats")
    }

    /// Draws of an epoch.
    const fn len(&self) -> u64 {
        self.draws.end - self.draws.start
    }

    const fn count(&self) -> u64 {
        self.records.end - self.records.start
    }

    /// The cycle of a draw, counted over all epochs, and the draw's place in it.
    fn split(&self, draw: u128) -> (u64, u64) {
        let count = u128::from(self.count());
        let narrow = |number: u128| u64::try_from(number).expect("epochs and repeats are limited, so that cycles are");
        (narrow(draw / count), narrow(draw % count))
    }

    /// The draw, counted over all epochs, that has a record in a cycle.
    fn place(&self, cycle: u64, own: u64) -> u128 {
        u128::from(cycle) * u128::from(self.count()) + u128::from(self.cycle(cycle).inverse(own))
    }

    fn cycle(&self, cycle: u64) -> Cycle {
        Cycle(self.base.as_ref().map(|base| base.part(cycle, self.count())))
    }
}

impl Cycle {
    fn forward(&self, offset: u64) -> u64 {
        self.0.as_ref().map_or(offset, |order| order.forward(offset))
    }

    fn inverse(&self, own: u64) -> u64 {
        self.0.as_ref().map_or(own, |order| order.inverse(own))
    }
}
