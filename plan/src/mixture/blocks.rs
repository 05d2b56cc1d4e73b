//! Mixes the draws of several sources and keeps the order of each: an epoch is cut into blocks, each block has its share of every
//! source, and within a block it is random whose draw is next. So a source whose draws follow its grains is read by its grains.
//!
//! A block costs a permutation of each of its positions, well below a microsecond, and 8 bytes for each. The latest are kept.

use std::ops::Range;

use crate::{permutation::Permutation, recent::Recent};

/// Positions of a block on average, in an epoch that has as many. Pinned: another number is another order.
pub(super) const LEN: u64 = 4096;
/// Blocks that are kept: for the readers and for receipts, each in one and soon in the next.
const KEPT: usize = 4;

/// The blocks of an epoch. Those of all epochs have the same bounds.
#[derive(Debug)]
pub(super) struct Blocks {
    /// The draws of each source in an epoch. Those of the first source come first, then those of the second.
    draws: Vec<Range<u64>>,
    count: u64,
    kept: Recent<Block>,
}

/// The draws of the positions that follow each other.
#[derive(Debug)]
struct Block {
    epoch: u64,
    number: u64,
    start: u64,
    draws: Vec<u64>,
}

impl Blocks {
    /// Blocks of about `len` positions, for sources with these draws.
    pub(super) fn new(draws: Vec<Range<u64>>, len: u64) -> Self {
        let positions = draws.last().map_or(0, |last| last.end);
        Self { draws, count: positions.div_ceil(len).max(1), kept: Recent::new(KEPT) }
    }

    /// The draw of a position, which is below the number of positions. `order` is the epoch's.
    pub(super) fn draw(&self, order: &Permutation, epoch: u64, position: u64) -> u64 {
        let is_meant = |block: &Block| {
            let place = position.checked_sub(block.start);
            block.epoch == epoch && place.is_some_and(|place| place < block.draws.len() as u64)
        };
        let block = self.kept.get(is_meant, || self.make(order, epoch, self.block_of(position)));
        block.draws[index(position - block.start)]
    }

    /// The position of a draw, which is below the number of positions.
    pub(super) fn position(&self, order: &Permutation, epoch: u64, draw: u64) -> u64 {
        let source = &self.draws[self.draws.partition_point(|source| source.end <= draw)];
        let number = self.block_of_draw(source, draw - source.start);
        let is_meant = |block: &Block| (block.epoch, block.number) == (epoch, number);
        let block = self.kept.get(is_meant, || self.make(order, epoch, number));
        let place = block.draws.iter().position(|&own| own == draw).expect("the block of the draw has it");
        block.start + place as u64
    }

    /// How many draws of a source come before a block: its share of what comes before, rounded down.
    fn before(&self, source: &Range<u64>, number: u64) -> u64 {
        let share = u128::from(number) * u128::from(source.end - source.start) / u128::from(self.count);
        u64::try_from(share).expect("a block is one of those of an epoch")
    }

    /// The first position of a block.
    fn start(&self, number: u64) -> u64 {
        self.draws.iter().map(|source| self.before(source, number)).sum()
    }

    /// The block of a position.
    fn block_of(&self, position: u64) -> u64 {
        let positions = self.draws.last().map_or(1, |last| last.end);
        // Rounding down brings each block forward by less than a position for each source, so the block is hardly ever a later one.
        let share = u128::from(position) * u128::from(self.count) / u128::from(positions);
        let mut number = u64::try_from(share).expect("a position is below the number of positions");
        while number + 1 < self.count && self.start(number + 1) <= position {
            number += 1;
        }
        number
    }

    /// The block of a draw of a source, counted from the source's first in the epoch: the last one with no more draws before it.
    fn block_of_draw(&self, source: &Range<u64>, own: u64) -> u64 {
        let end = (u128::from(own) + 1) * u128::from(self.count);
        let number = end.div_ceil(u128::from(source.end - source.start)) - 1;
        u64::try_from(number).expect("a draw of a source is in a block of the epoch")
    }

    fn make(&self, order: &Permutation, epoch: u64, number: u64) -> Block {
        let (mut next, mut ends, mut len) = (Vec::new(), Vec::new(), 0);
        for source in &self.draws {
            let before = self.before(source, number);
            len += self.before(source, number + 1) - before;
            next.push(source.start + before);
            ends.push(len);
        }
        let order = order.part(number, len);
        let draw = |place| {
            let slot = order.forward(place);
            let source = &mut next[ends.partition_point(|&end| end <= slot)];
            *source += 1;
            *source - 1
        };
        Block { epoch, number, start: self.start(number), draws: (0..len).map(draw).collect() }
    }
}

fn index(place: u64) -> usize {
    usize::try_from(place).expect("a block is in memory")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rule_58_each_block_has_its_share_of_every_source_and_their_draws_keep_their_order(
            shares in prop::collection::vec(1_u64..60, 1..6), len in 1_u64..20, seed: u64, epoch in 0_u64..9
        ) {
            let bounds = shares.iter().scan(0, |end, share| { *end += share; Some(*end - share..*end) });
            let sources: Vec<Range<u64>> = bounds.collect();
            let positions: u64 = shares.iter().sum();
            let blocks = Blocks::new(sources.clone(), len);
            let order = Permutation::new(positions, seed, epoch, b"x", "blocks");
            let all: Vec<u64> = (0..positions).map(|position| blocks.draw(&order, epoch, position)).collect();
            for source in &sources {
                let own: Vec<u64> = all.iter().copied().filter(|draw| source.contains(draw)).collect();
                prop_assert_eq!(own, source.clone().collect::<Vec<_>>());
            }
            // Compared with a loop over all blocks.
            let mut end = 0;
            for number in 1..=blocks.count {
                end = shares.iter().map(|share| number * share / blocks.count).sum::<u64>();
                for (share, source) in shares.iter().zip(&sources) {
                    let before = all[..index(end)].iter().filter(|draw| source.contains(draw)).count() as u64;
                    prop_assert_eq!(before, number * share / blocks.count);
                }
            }
            prop_assert_eq!(end, positions);
            for (position, draw) in (0..).zip(&all) {
                prop_assert_eq!(blocks.position(&order, epoch, *draw), position);
            }
        }
    }

    #[test]
    fn a_million_positions_of_thousands_of_sources_have_their_draws_wherever_one_asks() {
        let sources: Vec<Range<u64>> = (0..4096).map(|source| source * 300..(source + 1) * 300).collect();
        let blocks = Blocks::new(sources, LEN);
        let order = Permutation::new(4096 * 300, 1, 0, b"x", "blocks");
        for position in [0, 4095, 4096, 614_400, 4096 * 300 - 1] {
            let draw = blocks.draw(&order, 0, position);
            assert_eq!(blocks.position(&order, 0, draw), position);
        }
    }
}
