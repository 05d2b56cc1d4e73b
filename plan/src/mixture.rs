//! The order of epochs that take several sources in chosen shares, or take records more than once (semantics rules 57,
//! 58 and 67).
//!
//! A source draws its records one after the other, over all epochs: the draws of an epoch begin where those of the epoch
//! before it ended. Whenever all of its records were drawn, they are permuted again, or its grains and the records of their
//! windows are (rule 56). So over many epochs, the numbers of turns of a source's records differ by one at most. If the
//! epoch is shuffled, the draws of all sources are permuted together. Draws that follow grains keep their order, and are
//! mixed in blocks. The order takes memory for each source and for grains, but none for records.

mod blocks;
mod phase;
pub(crate) mod problem;
pub(crate) mod shares;
#[cfg(test)]
mod tests;
mod weights;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use forebay_proto::Turn;
use forebay_proto::v1::LedgerSpec;

use self::phase::Phase;
pub use self::weights::EpochWeights;
use crate::grain_passes::{GrainPass, GrainPasses, PassKeys};
use crate::grains::{GrainProblem, GrainTable};
use crate::permutation::{MAX_EPOCH, Permutation};

/// The orders of all epochs of a spec.
#[derive(Debug)]
pub(crate) struct Mixture {
    sources: Vec<MixedSource>,
    /// Positions of an epoch.
    positions: u64,
    /// The shares of sources, which change from one to the next. There is at least one.
    phases: Vec<Phase>,
}

/// A source, whatever its share is.
#[derive(Debug)]
struct MixedSource {
    /// Its records in the dataset.
    records: Range<u64>,
    order: SourceOrder,
}

/// What an epoch draws of a source.
#[derive(Debug)]
struct SourceDraws<'m> {
    source: &'m MixedSource,
    /// Among the draws of the epoch, if it is not shuffled.
    draws: Range<u64>,
    /// How many draws of the source come before those of this epoch.
    first: u128,
}

/// What the orders of a source's records are made from.
#[derive(Debug)]
enum SourceOrder {
    AsTheyAre,
    Permuted(Permutation),
    ByGrains(Box<(GrainPasses, PassKeys)>),
}

/// The order of one epoch.
#[derive(Clone, Debug)]
pub(crate) struct MixedEpoch {
    mixture: Arc<Mixture>,
    epoch: u64,
    /// The number of the phase that it is in.
    phase: usize,
    /// From a position to a draw of a source. If draws are mixed in blocks, the orders of blocks are made from it.
    order: Option<Permutation>,
}

/// One pass of a source over its records.
enum Cycle {
    AsTheyAre,
    Permuted(Permutation),
    /// Of records that begin with this one of the dataset.
    ByGrains(Arc<GrainPass>, u64),
}

impl Mixture {
    /// The mixture of a spec, which was checked, with the table of grains if the spec is about one.
    ///
    /// # Errors
    /// A grain has records of several sources.
    pub(crate) fn new(spec: &LedgerSpec, table: Option<&Arc<GrainTable>>) -> Result<Self, GrainProblem> {
        let (mut sources, mut records) = (Vec::with_capacity(spec.sources.len()), 0);
        for (number, source) in (0..).zip(&spec.sources) {
            let own = records..records + source.records;
            let permutation = |n, domain| Permutation::new(n, spec.seed, number, &spec.fingerprint, domain);
            let order = match (table, &spec.grains) {
                (Some(table), Some(order)) => {
                    let grains = table.grains_of(&own).ok_or(GrainProblem::Sources)?;
                    let passes = GrainPasses::new(Arc::clone(table), grains, order.window);
                    let grains = permutation(passes.count(), "source grains");
                    let windows = permutation(source.records, "source windows");
                    SourceOrder::ByGrains(Box::new((passes, PassKeys { grains, windows })))
                }
                _ if spec.shuffle => SourceOrder::Permuted(permutation(source.records, "source")),
                _ => SourceOrder::AsTheyAre,
            };
            sources.push(MixedSource { records: own, order });
            records += source.records;
        }
        let positions = spec.sources.iter().map(|source| source.positions).sum();
        Ok(Self { phases: Phase::of_spec(spec, table.is_some() && sources.len() > 1), sources, positions })
    }

    /// How many positions an epoch of the whole dataset has.
    pub(crate) const fn positions(&self) -> u64 {
        self.positions
    }

    /// The table of grains, if sources are permuted by them.
    pub(crate) fn grains(&self) -> Option<&Arc<GrainTable>> {
        match &self.sources.first()?.order {
            SourceOrder::ByGrains(by_grains) => Some(by_grains.0.table()),
            SourceOrder::AsTheyAre | SourceOrder::Permuted(_) => None,
        }
    }
}

impl MixedEpoch {
    /// The order of an epoch of the mixture that the spec has. Epochs that no ledger reaches are all alike.
    pub(crate) fn new(mixture: Arc<Mixture>, spec: &LedgerSpec, epoch: u64) -> Self {
        let epoch = epoch.min(MAX_EPOCH);
        let phase = mixture.phases.partition_point(|phase| phase.since() <= epoch) - 1;
        let domain = match (mixture.phases[phase].blocks(), mixture.grains()) {
            (Some(_), _) => Some("blocks"),
            (None, Some(_)) => None,
            (None, None) => spec.shuffle.then_some("mixture"),
        };
        let permutation = |domain| Permutation::new(mixture.positions, spec.seed, epoch, &spec.fingerprint, domain);
        let order = domain.map(permutation);
        Self { mixture, epoch, phase, order }
    }

    /// Whether positions have their draws in another order.
    pub(crate) const fn is_shuffled(&self) -> bool {
        self.order.is_some()
    }

    /// The draw of a position. The draws of each source follow those of the source before it.
    pub(crate) fn draw(&self, position: u64) -> u64 {
        match (&self.order, self.phase().blocks()) {
            (None, _) => position,
            (Some(order), None) => order.forward(position),
            (Some(order), Some(blocks)) => blocks.draw(order, self.epoch, position),
        }
    }

    /// The position of a draw.
    fn position(&self, draw: u64) -> u64 {
        match (&self.order, self.phase().blocks()) {
            (None, _) => draw,
            (Some(order), None) => order.inverse(draw),
            (Some(order), Some(blocks)) => blocks.position(order, self.epoch, draw),
        }
    }

    /// What a position has, which is below the number of positions.
    pub(crate) fn turn(&self, position: u64) -> Turn {
        let draw = self.draw(position);
        let SourceDraws { source, draws, first } = self.source(self.phase().source(draw));
        let (cycle, offset) = source.split(first + u128::from(draw - draws.start));
        let own = source.cycle(cycle).forward(offset);
        Turn::new(source.records.start + own, source.repeat(first, cycle, own))
    }

    /// The positions of a record, by its turns.
    pub(crate) fn positions(&self, record: u64) -> impl Iterator<Item = u64> {
        let number = self.mixture.sources.iter().position(|source| source.records.contains(&record));
        let turns = number.map(|number| {
            let drawn = self.source(number);
            let own = record - drawn.source.records.start;
            drawn.cycles().filter_map(move |cycle| drawn.draw_in(cycle, own))
        });
        turns.into_iter().flatten().map(|draw| self.position(draw))
    }

    /// Calls `visit` with each of these records and each of its positions. Cycles come one after the other, and in each of them the
    /// draws in their order: cycles of grains, and blocks of draws, take long to make, and few are kept.
    pub(crate) fn visit_positions(&self, records: &BTreeSet<u64>, mut visit: impl FnMut(u64, u64)) {
        for drawn in (0..self.mixture.sources.len()).map(|number| self.source(number)) {
            let own = &drawn.source.records;
            for cycle in drawn.cycles() {
                let draw = |&record: &u64| Some((drawn.draw_in(cycle, record - own.start)?, record));
                let mut draws: Vec<_> = records.range(own.clone()).filter_map(draw).collect();
                draws.sort_unstable();
                for (draw, record) in draws {
                    visit(record, self.position(draw));
                }
            }
        }
    }

    /// Where the draws of each source end.
    pub(crate) fn ends(&self) -> impl Iterator<Item = u64> {
        self.phase().draws().iter().map(|draws| draws.end)
    }

    fn phase(&self) -> &Phase {
        &self.mixture.phases[self.phase]
    }

    /// What this epoch draws of a source.
    fn source(&self, number: usize) -> SourceDraws<'_> {
        let (phase, source) = (self.phase(), &self.mixture.sources[number]);
        SourceDraws { source, draws: phase.draws()[number].clone(), first: phase.before(number, self.epoch) }
    }
}

impl SourceDraws<'_> {
    fn len(&self) -> u64 {
        self.draws.end - self.draws.start
    }

    /// The cycles that have draws of the epoch.
    fn cycles(&self) -> Range<u64> {
        let last = u128::from(self.len()).checked_sub(1).map(|last| self.source.split(self.first + last).0);
        let begun = self.source.split(self.first).0;
        begun..last.map_or(begun, |last| last + 1)
    }

    /// The draw of the epoch that has a record of the source in a cycle, if there is one.
    fn draw_in(&self, cycle: u64, own: u64) -> Option<u64> {
        let place = self.source.place(cycle, own).checked_sub(self.first)?;
        let place = u64::try_from(place).ok().filter(|place| *place < self.len())?;
        Some(self.draws.start + place)
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
        match &self.order {
            SourceOrder::AsTheyAre => Cycle::AsTheyAre,
            SourceOrder::Permuted(base) => Cycle::Permuted(base.part(cycle, self.count())),
            SourceOrder::ByGrains(by_grains) => {
                let (passes, base) = &**by_grains;
                let keys = || PassKeys {
                    grains: base.grains.part(cycle, passes.count()),
                    windows: base.windows.part(cycle, self.count()),
                };
                Cycle::ByGrains(passes.pass(cycle, keys), self.records.start)
            }
        }
    }
}

impl Cycle {
    fn forward(&self, offset: u64) -> u64 {
        match self {
            Self::AsTheyAre => offset,
            Self::Permuted(order) => order.forward(offset),
            Self::ByGrains(pass, first) => pass.record(offset) - first,
        }
    }

    fn inverse(&self, own: u64) -> u64 {
        match self {
            Self::AsTheyAre => own,
            Self::Permuted(order) => order.inverse(own),
            Self::ByGrains(pass, first) => pass.place(first + own),
        }
    }
}
