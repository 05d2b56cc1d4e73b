//! Epochs in which each source has the same share (semantics rule 67).

use std::ops::Range;

use forebay_proto::v1::LedgerSpec;

use super::blocks::{self, Blocks};

/// Epochs that follow each other and share their positions out alike.
#[derive(Debug)]
pub(super) struct Phase {
    /// The first of the epochs.
    since: u64,
    /// The draws of each source in an epoch that is not shuffled.
    draws: Vec<Range<u64>>,
    /// How many draws each source has in all epochs before these.
    earlier: Vec<u128>,
    /// What mixes draws that keep their order.
    blocks: Option<Blocks>,
}

impl Phase {
    /// The phases of a spec, which was checked. Each begins where the one before it ends.
    pub(super) fn of_spec(spec: &LedgerSpec, in_blocks: bool) -> Vec<Self> {
        let first = spec.sources.iter().map(|source| source.positions).collect();
        let changes = spec.share_changes.iter().map(|change| (change.epoch, change.positions.clone()));
        let mut phases: Vec<Self> = Vec::with_capacity(1 + spec.share_changes.len());
        for (since, positions) in [(0, first)].into_iter().chain(changes) {
            let draws = side_by_side(&positions);
            let earlier = (0..positions.len()).map(|number| phases.last().map_or(0, |last| last.before(number, since)));
            let earlier = earlier.collect();
            let blocks = in_blocks.then(|| Blocks::new(draws.clone(), blocks::LEN));
            phases.push(Self { since, draws, earlier, blocks });
        }
        phases
    }

    pub(super) const fn since(&self) -> u64 {
        self.since
    }

    pub(super) fn draws(&self) -> &[Range<u64>] {
        &self.draws
    }

    pub(super) const fn blocks(&self) -> Option<&Blocks> {
        self.blocks.as_ref()
    }

    /// The source that has a draw.
    pub(super) fn source(&self, draw: u64) -> usize {
        self.draws.partition_point(|own| own.end <= draw)
    }

    /// How many draws a source has in all epochs before this one, which is not before the phase.
    pub(super) fn before(&self, number: usize, epoch: u64) -> u128 {
        let Range { start, end } = self.draws[number];
        self.earlier[number] + u128::from(epoch - self.since) * u128::from(end - start)
    }
}

/// Ranges of these lengths, each of which begins where the one before it ends.
fn side_by_side(lengths: &[u64]) -> Vec<Range<u64>> {
    let next = |start: &mut u64, len: &u64| {
        let own = *start..*start + len;
        *start = own.end;
        Some(own)
    };
    lengths.iter().scan(0, next).collect()
}
