//! Lockstep assignment (semantics rule 40), as pure arithmetic: which positions of an epoch's order each rank of a run
//! has, and which numbers of ranks there may be.
//!
//! A step of all ranks together covers the next `global_batch` positions, and each rank has an equal part of them. So
//! the records of a step do not depend on the number of ranks.

use forebay_proto::v1::LockstepRank;

/// More ranks are refused, as more shards are.
const MAX_RANKS: u32 = 1 << 20;
/// How many world sizes an error names at most.
const NAMED_SIZES: usize = 16;

/// A rank that no run of lockstep can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RankProblem {
    /// Nothing to divide, or a rank that does not exist.
    #[error("rank {rank} of world_size {world_size} does not exist; rank counts from 0 to world_size - 1.")]
    Rank {
        /// As asked.
        rank: u32,
        /// As asked.
        world_size: u32,
    },
    /// Ranks cannot have equal parts of a step.
    #[error(
        "global_batch {global_batch} is not a multiple of world_size {world_size}. {}",
        fitting(*.global_batch, *.world_size)
    )]
    Uneven {
        /// As asked.
        global_batch: u64,
        /// As asked.
        world_size: u32,
    },
    /// More ranks than there may be.
    #[error("world_size is {0}; it may be at most {MAX_RANKS}.")]
    TooMany(u32),
    /// A spec of two assignments.
    #[error("A ledger belongs to a shard or to a rank of lockstep, not to both.")]
    Shard,
}

/// What can be done about ranks that cannot have equal parts.
fn fitting(global_batch: u64, world_size: u32) -> String {
    let sizes: Vec<String> = world_sizes(global_batch, world_size).iter().map(u32::to_string).collect();
    let below = global_batch / u64::from(world_size.max(1)) * u64::from(world_size);
    let above = below.saturating_add(world_size.into());
    let batches = if below == 0 { above.to_string() } else { format!("{below} or {above}") };
    format!("World sizes that fit: {}. A global_batch that fits: {batches}.", sizes.join(", "))
}

/// The numbers of ranks that can share a step, those nearest to this one.
pub fn world_sizes(global_batch: u64, near: u32) -> Vec<u32> {
    let mut sizes: Vec<u32> = (1..=MAX_RANKS).filter(|size| global_batch.is_multiple_of((*size).into())).collect();
    sizes.sort_by_key(|size| size.abs_diff(near));
    sizes.truncate(NAMED_SIZES);
    sizes.sort_unstable();
    sizes
}

/// Checks a rank from outside.
///
/// # Errors
/// There is no such rank, or ranks cannot have equal parts of a step.
pub fn check_rank(of: &LockstepRank) -> Result<(), RankProblem> {
    let &LockstepRank { global_batch, rank, world_size } = of;
    if world_size > MAX_RANKS {
        return Err(RankProblem::TooMany(world_size));
    }
    if rank >= world_size {
        return Err(RankProblem::Rank { rank, world_size });
    }
    if global_batch == 0 || !global_batch.is_multiple_of(world_size.into()) {
        return Err(RankProblem::Uneven { global_batch, world_size });
    }
    Ok(())
}

/// The positions of an epoch's order that one rank has, in its own count from 0.
///
/// ```
/// use forebay_plan::RankPositions;
/// use forebay_proto::v1::LockstepRank;
/// // 22 positions in steps of 8: two whole steps, and 6 positions for 4 ranks.
/// let rank = RankPositions::new(LockstepRank { global_batch: 8, rank: 1, world_size: 4 }, 22);
/// let own: Vec<u64> = (0..rank.own()).map(|position| rank.place(position)).collect();
/// assert_eq!(own, [2, 3, 10, 11, 17, 18]);
/// assert_eq!(rank.len(), 6); // as many as each other rank
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankPositions {
    all: u64,
    global_batch: u64,
    rank: u64,
    world_size: u64,
}

impl RankPositions {
    /// Of an epoch with `all` positions. The rank must pass [`check_rank`].
    pub fn new(of: LockstepRank, all: u64) -> Self {
        let LockstepRank { global_batch, rank, world_size } = of;
        let (rank, world_size) = (rank.into(), u64::from(world_size).max(1));
        Self { all, global_batch: global_batch.max(world_size), rank, world_size }
    }

    /// Positions of a whole step that are this rank's.
    pub fn batch(&self) -> u64 {
        self.global_batch / self.world_size
    }

    /// How many positions this rank has of the steps before one.
    pub fn before_step(&self, step: u64) -> u64 {
        if step <= self.whole_steps() { step * self.batch() } else { self.len() }
    }

    /// How many positions have a record.
    pub fn own(&self) -> u64 {
        self.whole_steps() * self.batch() + self.rest_before(self.rank + 1) - self.rest_before(self.rank)
    }

    /// How many positions there are: as many for each rank. The last one may have no record.
    pub fn len(&self) -> u64 {
        self.whole_steps() * self.batch() + self.rest().div_ceil(self.world_size)
    }

    /// True for an epoch without positions.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where a position is in the epoch's order. Positions from [`own`](Self::own) on repeat the rank's last record, or
    /// the epoch's if the rank has none.
    pub fn place(&self, position: u64) -> u64 {
        let Some(last) = self.own().checked_sub(1) else { return self.all.saturating_sub(1) };
        let position = position.min(last);
        let (step, place) = (position / self.batch(), position % self.batch());
        let within = if step < self.whole_steps() { self.rank * self.batch() } else { self.rest_before(self.rank) };
        step * self.global_batch + within + place
    }

    /// Which of this rank's positions a place of the epoch's order is; none if another rank has it.
    pub fn position(&self, place: u64) -> Option<u64> {
        let (step, within) = (place / self.global_batch, place % self.global_batch);
        let (first, count) = if step < self.whole_steps() {
            (self.rank * self.batch(), self.batch())
        } else {
            let first = self.rest_before(self.rank);
            (first, self.rest_before(self.rank + 1) - first)
        };
        let offset = within.checked_sub(first).filter(|offset| *offset < count)?;
        Some(step * self.batch() + offset)
    }

    /// Steps in which each rank has a whole batch.
    fn whole_steps(&self) -> u64 {
        self.all / self.global_batch
    }

    /// Positions that are left for a last step.
    fn rest(&self) -> u64 {
        self.all % self.global_batch
    }

    /// How many positions of the last step lower ranks have: floor(rank * R / w).
    fn rest_before(&self, rank: u64) -> u64 {
        let product = u128::from(rank) * u128::from(self.rest());
        u64::try_from(product / u128::from(self.world_size)).expect("rank <= world_size, so it is at most the rest")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rank(all: u64, global_batch: u64, rank: u32, world_size: u32) -> RankPositions {
        let of = LockstepRank { global_batch, rank, world_size };
        check_rank(&of).unwrap();
        RankPositions::new(of, all)
    }

    /// The places of a step, by rank.
    fn step(all: u64, global_batch: u64, world_size: u32, step: u64) -> Vec<Vec<u64>> {
        let of = |number| {
            let rank = rank(all, global_batch, number, world_size);
            let (start, end) = (rank.before_step(step), rank.before_step(step + 1));
            (start..end.min(rank.own())).map(|position| rank.place(position)).collect()
        };
        (0..world_size).map(of).collect()
    }

    proptest! {
        #[test]
        fn rule_40_a_step_has_the_same_records_for_any_number_of_ranks(
            all in 1_u64..3000, eighths in 1_u64..40, half in any::<bool>(),
        ) {
            let global_batch = eighths * 8;
            let steps = all.div_ceil(global_batch);
            for number in 0..steps {
                let whole: Vec<u64> = (number * global_batch..((number + 1) * global_batch).min(all)).collect();
                for world_size in [1, 2, 4, 8] {
                    let parts = step(all, global_batch, world_size, number);
                    prop_assert_eq!(parts.concat(), whole.clone());
                    let (least, most) = (parts.iter().map(Vec::len).min(), parts.iter().map(Vec::len).max());
                    prop_assert!(most.unwrap() - least.unwrap() <= 1, "parts differ by one record at most");
                }
            }
            // Every rank has as many steps, and its positions lead back.
            for world_size in [1, 2, 4, 8] {
                for number in 0..world_size {
                    let rank = rank(all, global_batch, number, world_size);
                    prop_assert_eq!(rank.len().div_ceil(rank.batch()), steps);
                    prop_assert!(rank.own() <= rank.len() && rank.own() + 1 >= rank.len());
                    prop_assert_eq!(rank.before_step(steps), rank.len());
                    let sampled = (0..rank.own()).step_by(if half { 2 } else { 1 });
                    for position in sampled {
                        prop_assert_eq!(rank.position(rank.place(position)), Some(position));
                    }
                }
                for place in 0..all {
                    let has = |number: &u32| rank(all, global_batch, *number, world_size).position(place).is_some();
                    prop_assert_eq!((0..world_size).filter(has).count(), 1, "place {} of {}", place, all);
                }
            }
        }
    }

    #[test]
    fn rule_40_a_rank_without_a_record_in_the_last_step_repeats_its_last_one_or_the_epochs() {
        let third = rank(10, 8, 2, 4);
        assert_eq!((third.own(), third.len()), (2, 3));
        assert_eq!([third.place(0), third.place(1), third.place(2)], [4, 5, 5]);
        // Of an epoch with fewer records than ranks.
        let first = rank(2, 8, 0, 4);
        assert_eq!((first.own(), first.len(), first.place(0)), (0, 1, 1));
    }

    #[test]
    fn rule_40_a_world_size_that_does_not_divide_the_global_batch_is_refused_with_those_that_do() {
        let told = check_rank(&LockstepRank { global_batch: 100, rank: 0, world_size: 8 }).unwrap_err().to_string();
        assert_eq!(
            told,
            "global_batch 100 is not a multiple of world_size 8. World sizes that fit: 1, 2, 4, 5, 10, 20, 25, 50, 100. \
             A global_batch that fits: 96 or 104."
        );
        assert_eq!(world_sizes(840, 6).len(), NAMED_SIZES);
        assert_eq!(world_sizes(840, 6)[..8], [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(world_sizes(1 << 40, 1 << 20).last(), Some(&(1 << 20)));
        let few = check_rank(&LockstepRank { global_batch: 3, rank: 0, world_size: 8 }).unwrap_err();
        assert!(few.to_string().ends_with("fit: 1, 3. A global_batch that fits: 8."), "{few}");
        let rank = |rank, world_size| check_rank(&LockstepRank { global_batch: 8, rank, world_size });
        assert_eq!(rank(2, 2), Err(RankProblem::Rank { rank: 2, world_size: 2 }));
        assert_eq!(rank(0, 0), Err(RankProblem::Rank { rank: 0, world_size: 0 }));
        assert_eq!(rank(0, MAX_RANKS + 1), Err(RankProblem::TooMany(MAX_RANKS + 1)));
        assert!(check_rank(&LockstepRank { global_batch: 0, rank: 0, world_size: 1 }).is_err());
    }

    #[test]
    fn rule_40_six_billion_records_cost_nothing() {
        let last = rank(6_000_000_000, 840, 7, 8);
        let position = last.own() - 1;
        assert_eq!(last.position(last.place(position)), Some(position));
    }
}
