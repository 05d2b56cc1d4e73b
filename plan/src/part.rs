//! The part of an epoch that a ledger is about, where that is not all of it: a static shard, or a rank of lockstep.

use std::fmt;

use forebay_proto::v1::{LedgerSpec, LockstepRank, StaticShard};

/// A shard or a rank. One trainer reads it, and its batches have fixed places: the same positions always make the same
/// batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EpochPart {
    /// Of static assignment (semantics rule 13).
    Shard(StaticShard),
    /// Of lockstep assignment (semantics rule 40).
    Rank(LockstepRank),
}

impl EpochPart {
    /// The part that a spec is about; none for the whole epoch.
    pub fn of(spec: &LedgerSpec) -> Option<Self> {
        spec.shard.map(Self::Shard).or_else(|| spec.lockstep.map(Self::Rank))
    }

    /// How many parts an epoch has.
    pub fn count(&self) -> u32 {
        match self {
            Self::Shard(shard) => shard.num_shards.max(1),
            Self::Rank(rank) => rank.world_size.max(1),
        }
    }

    /// The last part of a ledger's name. In lockstep, each segment after the first one has ledgers of its own.
    pub fn name(part: Option<Self>, segment: u64) -> String {
        match part {
            None => "all".to_owned(),
            Some(Self::Shard(shard)) => format!("shard-{}", shard.shard_id),
            Some(Self::Rank(LockstepRank { rank, world_size, .. })) if segment < 2 => {
                format!("rank-{rank}-of-{world_size}")
            }
            Some(Self::Rank(LockstepRank { rank, world_size, .. })) => {
                format!("rank-{rank}-of-{world_size}-generation-{segment}")
            }
        }
    }
}

impl fmt::Display for EpochPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shard(shard) => write!(f, "shard {} of {}", shard.shard_id, shard.num_shards),
            Self::Rank(rank) => write!(f, "rank {} of {}", rank.rank, rank.world_size),
        }
    }
}
