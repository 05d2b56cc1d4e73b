//! Steps whose lengths take turns: a block is one step of each length (semantics rule 65). All records are one class.

use super::{ClassLayout, ClassSize, Leftovers};
use crate::permutation::Permutation;

/// A step of a length, as the layout counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockStep {
    /// Number of the length.
    pub length: usize,
    /// Number of the block.
    pub block: u64,
}

/// The blocks of every epoch. Behind the whole blocks are the first steps of one more, until all turns have a place.
#[derive(Clone, Debug)]
pub(super) struct LengthBlocks {
    /// Places of the steps of a block that are before that of each length.
    before: Vec<u64>,
    /// Places of a block.
    places: u64,
    turns: u64,
}

impl LengthBlocks {
    /// Blocks for so many turns, with the places of a step of each length.
    ///
    /// # Panics
    /// A step has no places, or there is no length.
    pub(super) fn new(turns: u64, places: &[u64]) -> Self {
        assert!(!places.is_empty() && places.iter().all(|places| *places > 0), "each length has places");
        let mut all = 0_u64;
        let before = places.iter().map(|own| {
            all += own;
            all - own
        });
        Self { before: before.collect(), places: all, turns }
    }

    /// The steps of each length, one after the other.
    pub(super) fn layout(&self, places: &[u64]) -> ClassLayout {
        let (whole, rest) = (self.whole(), self.turns % self.places);
        let sizes = self.before.iter().zip(places).map(|(before, &places)| ClassSize {
            turns: whole * places + rest.saturating_sub(*before).min(places),
            places,
        });
        ClassLayout::new(&sizes.collect::<Vec<_>>(), Leftovers::Repeat, 1)
    }

    /// Whole blocks.
    fn whole(&self) -> u64 {
        self.turns / self.places
    }

    /// Steps of a whole block.
    fn steps(&self) -> u64 {
        self.before.len() as u64
    }

    /// What a step of the epoch is. The steps of whole blocks are permuted.
    pub(super) fn step(&self, step: u64, order: Option<&Permutation>) -> BlockStep {
        let (block, own) = (step / self.steps(), step % self.steps());
        let own = self.of_block(block, order).map_or(own, |order| order.forward(own));
        BlockStep { length: usize::try_from(own).unwrap_or(usize::MAX), block }
    }

    /// The step of the epoch: the inverse of [`step`](Self::step).
    pub(super) fn place(&self, BlockStep { length, block }: BlockStep, order: Option<&Permutation>) -> u64 {
        let own = length as u64;
        block * self.steps() + self.of_block(block, order).map_or(own, |order| order.inverse(own))
    }

    fn of_block(&self, block: u64, order: Option<&Permutation>) -> Option<Permutation> {
        order.filter(|_| block < self.whole()).map(|order| order.part(block, self.steps()))
    }

    /// The turn at a place of a step, if the turns are not shuffled. They follow the steps of whole blocks in the order of their
    /// lengths.
    pub(super) fn turn(&self, BlockStep { length, block }: BlockStep, place: u64) -> u64 {
        block * self.places + self.before[length] + place
    }

    /// The step and the place of such a turn: the inverse of [`turn`](Self::turn).
    pub(super) fn step_of(&self, turn: u64) -> (BlockStep, u64) {
        let (block, own) = (turn / self.places, turn % self.places);
        let length = self.before.partition_point(|before| *before <= own) - 1;
        (BlockStep { length, block }, own - self.before[length])
    }
}
