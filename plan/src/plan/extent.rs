//! Which places of an epoch's whole order a plan has: all of them, those of a static shard, or those of a rank.

use std::ops::Range;

use forebay_proto::v1::{LedgerSpec, StaticShard};

use crate::lockstep::RankPositions;

/// The places of one epoch, by positions of the plan.
#[derive(Clone, Copy, Debug)]
pub(super) enum Extent {
    /// Places that follow each other.
    Span {
        /// Places of the whole order.
        all: u64,
        /// Its first place.
        start: u64,
        /// How many of its positions have a record.
        records: u64,
        /// How many positions it has.
        len: u64,
    },
    /// A part of each step.
    Rank(RankPositions),
}

impl Extent {
    /// Of an epoch of a plan whose whole order has `all` places.
    pub(super) fn of(spec: &LedgerSpec, all: u64, epoch: u64) -> Self {
        match (spec.shard, spec.lockstep) {
            (Some(StaticShard { shard_id, num_shards, stick_to_shard }), _) => {
                let num_shards = u64::from(num_shards);
                let turn = if stick_to_shard { 0 } else { epoch % num_shards };
                let shard = (u64::from(shard_id) + turn) % num_shards;
                let start = shard_start(shard, all, num_shards);
                let records = shard_start(shard + 1, all, num_shards) - start;
                let len = if records == 0 { 0 } else { all.div_ceil(num_shards) };
                Self::Span { all, start, records, len }
            }
            (None, Some(rank)) => Self::Rank(RankPositions::new(rank, all)),
            (None, None) => Self::Span { all, start: 0, records: all, len: all },
        }
    }

    /// How many positions have a record.
    pub(super) fn records(&self) -> u64 {
        match self {
            Self::Span { records, .. } => *records,
            Self::Rank(rank) => rank.own(),
        }
    }

    /// How many positions there are: one for each record, and as many as in the other parts. A static shard that is
    /// empty in this epoch has none.
    pub(super) fn len(&self) -> u64 {
        match self {
            Self::Span { len, .. } => *len,
            Self::Rank(rank) => rank.len(),
        }
    }

    /// The place of a position. Positions beyond the records of a span go on in the order, and wrap at its end; those
    /// of a rank repeat the last one.
    pub(super) fn place(&self, position: u64) -> u64 {
        match self {
            Self::Span { all, start, .. } => {
                let place = (u128::from(*start) + u128::from(position)) % u128::from(*all);
                u64::try_from(place).expect("a remainder of a u64")
            }
            Self::Rank(rank) => rank.place(position),
        }
    }

    /// The position of a place; none for a place of another part.
    pub(super) fn position(&self, place: u64) -> Option<u64> {
        match self {
            Self::Span { start, records, .. } => place.checked_sub(*start).filter(|position| position < records),
            Self::Rank(rank) => rank.position(place),
        }
    }

    /// The places of positions that have a record, as ranges that follow each other.
    pub(super) fn spans(&self, positions: &Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let mut next = positions.start.min(self.records());
        let end = positions.end.min(self.records());
        std::iter::from_fn(move || {
            if next >= end {
                return None;
            }
            let count = match self {
                Self::Span { .. } => end - next,
                Self::Rank(rank) => (rank.batch() - next % rank.batch()).min(end - next),
            };
            let place = self.place(next);
            next += count;
            Some(place..place + count)
        })
    }
}

/// floor(shard * N / n), as DALI computes it.
fn shard_start(shard: u64, all: u64, num_shards: u64) -> u64 {
    let product = u128::from(shard) * u128::from(all);
    u64::try_from(product / u128::from(num_shards)).expect("shard <= num_shards, so the quotient is at most N")
}
