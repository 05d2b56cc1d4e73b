//! What makes two ledgers the same (semantics rules 1 and 20): checks, hash and differences of a `LedgerSpec`.

use forebay_proto::v1::{GrainOrder, LedgerSpec, LockstepRank, SourceShare, StaticShard};

use crate::grains::{GRAIN_MIXTURE_PERMUTATION, GRAIN_PERMUTATION, GrainProblem};
use crate::lockstep::{RankProblem, check_rank};
use crate::mixture::shares::{self, MIXTURE_PERMUTATION, MixtureProblem};

/// The version of the permutation of records.
pub const PERMUTATION: u32 = 1;
/// Above this many shards a static split is refused: an epoch in which a shard has no record is stepped over one by
/// one.
const MAX_SHARDS: u32 = 1 << 20;
/// Keeps sums of positions far from overflow.
const MAX_RECORDS: u64 = 1 << 56;

/// A spec that no ledger can have.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SpecError {
    /// Nothing to read.
    #[error("The dataset has no records; a ledger needs at least one.")]
    Empty,
    /// Too many records.
    #[error("The dataset has {0} records; a ledger counts at most {MAX_RECORDS}.")]
    TooLarge(u64),
    /// Made by another version of Forebay.
    #[error(
        "The order has permutation version {0}, but this build knows only the versions \
             {PERMUTATION} to {GRAIN_MIXTURE_PERMUTATION}."
    )]
    Permutation(u32),
    /// Not 32 bytes.
    #[error("The dataset's fingerprint has {0} bytes; it must have 32.")]
    Fingerprint(usize),
    /// A static shard that does not exist.
    #[error("shard_id {shard_id} of num_shards {num_shards} does not exist; shard_id counts from 0 to num_shards - 1.")]
    Shard {
        /// As asked.
        shard_id: u32,
        /// As asked.
        num_shards: u32,
    },
    /// A static shard that is empty in every epoch: its trainer would wait without end.
    #[error(
        "Shard {shard_id} of {num_shards} has no record in any epoch: the dataset has {records} records, and \
         stick_to_shard keeps it at its own. Use at most {records} shards, or leave stick_to_shard out."
    )]
    EmptyShard {
        /// As asked.
        shard_id: u32,
        /// As asked.
        num_shards: u32,
        /// Of the dataset.
        records: u64,
    },
    /// Something about grains.
    #[error(transparent)]
    Grains(#[from] GrainProblem),
    /// Something about several sources, or about repeats.
    #[error(transparent)]
    Mixture(#[from] MixtureProblem),
    /// Something about a rank of lockstep.
    #[error(transparent)]
    Lockstep(#[from] RankProblem),
    /// More shards than a ledger steps over.
    #[error("num_shards is {0}; it may be at most {MAX_SHARDS}.")]
    TooManyShards(u32),
}

/// Checks a spec from outside.
pub(crate) fn check(spec: &LedgerSpec) -> Result<(), SpecError> {
    if spec.fingerprint.len() != 32 {
        return Err(SpecError::Fingerprint(spec.fingerprint.len()));
    }
    if spec.records == 0 {
        return Err(SpecError::Empty);
    }
    if spec.records > MAX_RECORDS {
        return Err(SpecError::TooLarge(spec.records));
    }
    match (spec.permutation, &spec.grains) {
        (PERMUTATION | MIXTURE_PERMUTATION, None) => {}
        (GRAIN_PERMUTATION | GRAIN_MIXTURE_PERMUTATION, Some(grains))
            if spec.shuffle && grains.digest.len() == 32 && grains.window > 0 => {}
        (version @ PERMUTATION..=GRAIN_MIXTURE_PERMUTATION, grains) => {
            return Err(GrainProblem::Spec { version, grains: grains.is_some() }.into());
        }
        (other, _) => return Err(SpecError::Permutation(other)),
    }
    shares::check(spec)?;
    if let Some(rank) = &spec.lockstep {
        check_rank(rank)?;
        if spec.shard.is_some() {
            return Err(RankProblem::Shard.into());
        }
    }
    match spec.shard {
        Some(StaticShard { num_shards, .. }) if num_shards > MAX_SHARDS => Err(SpecError::TooManyShards(num_shards)),
        Some(StaticShard { shard_id, num_shards, .. }) if shard_id >= num_shards => {
            Err(SpecError::Shard { shard_id, num_shards })
        }
        _ => Ok(()),
    }
}

/// 32 bytes that are equal exactly when two specs are, but for the rank and the world size of lockstep: a state of one
/// number of ranks can be loaded by another. Pinned: snapshots and ledgers on disk hold it.
pub fn spec_hash(spec: &LedgerSpec) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("forebay ledger spec 1");
    hasher.update(&(spec.fingerprint.len() as u64).to_le_bytes());
    hasher.update(&spec.fingerprint);
    hasher.update(&spec.records.to_le_bytes());
    hasher.update(&[u8::from(spec.shuffle)]);
    hasher.update(&spec.seed.to_le_bytes());
    hasher.update(&spec.permutation.to_le_bytes());
    if let Some(shard) = &spec.shard {
        hasher.update(&shard.shard_id.to_le_bytes());
        hasher.update(&shard.num_shards.to_le_bytes());
        hasher.update(&[u8::from(shard.stick_to_shard)]);
    }
    // Specs without grains have the hashes that they had before there were grains.
    if let Some(grains) = &spec.grains {
        hasher.update(b"grains");
        hasher.update(&(grains.digest.len() as u64).to_le_bytes());
        hasher.update(&grains.digest);
        hasher.update(&grains.window.to_le_bytes());
    }
    if !spec.sources.is_empty() {
        hasher.update(b"sources");
        hasher.update(&(spec.sources.len() as u64).to_le_bytes());
        for source in &spec.sources {
            hasher.update(&source.records.to_le_bytes());
            hasher.update(&source.positions.to_le_bytes());
        }
    }
    if let Some(LockstepRank { global_batch, .. }) = &spec.lockstep {
        hasher.update(b"lockstep");
        hasher.update(&global_batch.to_le_bytes());
    }
    hasher.finalize().into()
}

/// The spec without what two specs of one ledger may differ in: the names of sources, which are for people.
pub fn nameless(spec: &LedgerSpec) -> LedgerSpec {
    let sources = spec.sources.iter().map(|source| SourceShare { name: String::new(), ..source.clone() });
    LedgerSpec { sources: sources.collect(), ..spec.clone() }
}

/// Says in words where two specs differ, the kept one first; empty where they agree.
///
/// ```
/// use forebay_plan::differences;
/// use forebay_proto::v1::LedgerSpec;
/// let kept = LedgerSpec { records: 500, permutation: 1, ..Default::default() };
/// let asked = LedgerSpec { records: 501, ..kept.clone() };
/// assert_eq!(differences(&kept, &asked), "records was 500 and is now 501");
/// ```
pub fn differences(kept: &LedgerSpec, asked: &LedgerSpec) -> String {
    let assignment = |spec: &LedgerSpec| match (&spec.shard, &spec.lockstep) {
        (None, None) => "dynamic".to_owned(),
        (Some(s), _) => format!(
            "static (shard_id {}, num_shards {}, stick_to_shard {})",
            s.shard_id, s.num_shards, s.stick_to_shard
        ),
        (None, Some(rank)) => format!("lockstep (global_batch {})", rank.global_batch),
    };
    // Where one of the two is not in lockstep, `assignment` says all.
    let ranks = kept.lockstep.zip(asked.lockstep);
    let world_size = ranks
        .map_or_else(Default::default, |(kept, asked)| (kept.world_size.to_string(), asked.world_size.to_string()));
    let shuffle = |spec: &LedgerSpec| match spec.grains {
        Some(_) => "\"grains\"".to_owned(),
        None => spec.shuffle.to_string(),
    };
    // Where one of the two has no grains, `shuffle` says all.
    let both = kept.grains.as_ref().zip(asked.grains.as_ref());
    let grains =
        |of: fn(&GrainOrder) -> String| both.map_or_else(Default::default, |(kept, asked)| (of(kept), of(asked)));
    let digest = grains(|grains| hex(&grains.digest));
    let window = grains(|grains| grains.window.to_string());
    let shares = |spec: &LedgerSpec| match &*spec.sources {
        // Where neither has several, `records` says all.
        [] if kept.sources.is_empty() && asked.sources.is_empty() => String::new(),
        [] => format!("{} of one source", spec.records),
        sources => sources.iter().map(|source| source.positions.to_string()).collect::<Vec<_>>().join(" + "),
    };
    let fields = [
        ("the dataset's fingerprint", hex(&kept.fingerprint), hex(&asked.fingerprint)),
        ("records", kept.records.to_string(), asked.records.to_string()),
        ("shuffle", shuffle(kept), shuffle(asked)),
        ("the table of grains", digest.0, digest.1),
        ("shuffle_window", window.0, window.1),
        ("seed", kept.seed.to_string(), asked.seed.to_string()),
        ("the positions of each source", shares(kept), shares(asked)),
        ("the permutation's version", kept.permutation.to_string(), asked.permutation.to_string()),
        ("assignment", assignment(kept), assignment(asked)),
        ("world_size", world_size.0, world_size.1),
    ];
    let words: Vec<String> = fields
        .iter()
        .filter(|(_, was, is)| was != is)
        .map(|(name, was, is)| format!("{name} was {was} and is now {is}"))
        .collect();
    words.join("; ")
}

/// The first 16 digits tell two fingerprints apart.
fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().take(8).fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a String takes every write");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> LedgerSpec {
        LedgerSpec { fingerprint: vec![1; 32], records: 500, permutation: PERMUTATION, ..LedgerSpec::default() }
    }

    #[test]
    fn rule_1_each_field_changes_the_hash_and_is_named() {
        let shard = |shard_id, num_shards, stick_to_shard| Some(StaticShard { shard_id, num_shards, stick_to_shard });
        let others = [
            (LedgerSpec { fingerprint: vec![2; 32], ..spec() }, "fingerprint"),
            (LedgerSpec { records: 501, ..spec() }, "records was 500 and is now 501"),
            (LedgerSpec { shuffle: true, ..spec() }, "shuffle was false and is now true"),
            (LedgerSpec { seed: 9, ..spec() }, "seed was 0 and is now 9"),
            (LedgerSpec { permutation: 2, ..spec() }, "permutation"),
            (grained(3, 16), "shuffle was false and is now \"grains\""),
            (LedgerSpec { shard: shard(0, 2, false), ..spec() }, "was dynamic and is now static (shard_id 0"),
            (in_lockstep(8, 0, 2), "assignment was dynamic and is now lockstep (global_batch 8)"),
        ];
        for (other, words) in &others {
            assert_ne!(spec_hash(other), spec_hash(&spec()));
            let said = differences(&spec(), other);
            assert!(said.contains(words), "{said}");
        }
        assert_ne!(
            spec_hash(&LedgerSpec { shard: shard(0, 2, false), ..spec() }),
            spec_hash(&LedgerSpec { shard: shard(0, 2, true), ..spec() })
        );
        assert_eq!(differences(&spec(), &spec()), "");
    }

    fn in_lockstep(global_batch: u64, rank: u32, world_size: u32) -> LedgerSpec {
        LedgerSpec { lockstep: Some(LockstepRank { global_batch, rank, world_size }), ..spec() }
    }

    #[test]
    fn rule_40_the_hash_of_a_lockstep_run_covers_the_global_batch_and_not_the_ranks() {
        assert_eq!(spec_hash(&in_lockstep(8, 0, 2)), spec_hash(&in_lockstep(8, 3, 4)));
        assert_ne!(spec_hash(&in_lockstep(8, 0, 2)), spec_hash(&in_lockstep(16, 0, 2)));
        assert_eq!(differences(&in_lockstep(8, 0, 2), &in_lockstep(8, 0, 4)), "world_size was 2 and is now 4");
        assert_eq!(
            differences(&in_lockstep(8, 0, 2), &in_lockstep(16, 0, 2)),
            "assignment was lockstep (global_batch 8) and is now lockstep (global_batch 16)"
        );
        assert_eq!(check(&in_lockstep(8, 1, 2)), Ok(()));
        assert!(matches!(check(&in_lockstep(9, 1, 2)), Err(SpecError::Lockstep(RankProblem::Uneven { .. }))));
        let shard = Some(StaticShard { shard_id: 0, num_shards: 2, stick_to_shard: false });
        let both = LedgerSpec { shard, ..in_lockstep(8, 1, 2) };
        assert_eq!(check(&both), Err(SpecError::Lockstep(RankProblem::Shard)));
    }

    fn grained(digest: u8, window: u32) -> LedgerSpec {
        let grains = Some(GrainOrder { digest: vec![digest; 32], window });
        LedgerSpec { shuffle: true, permutation: GRAIN_PERMUTATION, grains, ..spec() }
    }

    #[test]
    fn rule_56_the_table_of_grains_and_the_window_are_part_of_the_spec() {
        let kept = grained(3, 16);
        for (other, words) in [
            (grained(4, 16), "the table of grains was 0303030303030303 and is now 0404040404040404"),
            (grained(3, 8), "shuffle_window was 16 and is now 8"),
        ] {
            assert_ne!(spec_hash(&other), spec_hash(&kept));
            assert_eq!(differences(&kept, &other), words);
        }
        let records = LedgerSpec { permutation: PERMUTATION, grains: None, ..kept.clone() };
        assert!(differences(&kept, &records).starts_with("shuffle was \"grains\" and is now true;"));
        assert_eq!(check(&kept), Ok(()));
    }

    #[test]
    fn rule_56_hashes_of_specs_are_pinned_and_those_without_grains_are_the_old_ones() {
        let shard = Some(StaticShard { shard_id: 1, num_shards: 2, stick_to_shard: true });
        let hash = |spec: LedgerSpec| blake3::Hash::from(spec_hash(&spec)).to_hex().to_string();
        let hashes = [spec(), LedgerSpec { shuffle: true, shard, ..spec() }, grained(3, 16)].map(hash);
        assert_eq!(hashes, PINNED);
    }

    const PINNED: [&str; 3] = [
        "f82f944a5fd896fff81f104878374ce2523e3fac276180d0d02b5813415fc4df",
        "d1dcce3654502ad8a470c7ad7deff0fe0b6c26b8578f0ecd6fdcde8ac58b2d0a",
        "7a758227803e47a359f625a71664349b88868f10c95451950fbeb1a9b95b3ee6",
    ];

    #[test]
    fn specs_that_no_ledger_can_have_are_refused_by_name() {
        let shard = |shard_id, num_shards| Some(StaticShard { shard_id, num_shards, stick_to_shard: false });
        assert_eq!(check(&spec()), Ok(()));
        assert_eq!(check(&LedgerSpec { records: 0, ..spec() }), Err(SpecError::Empty));
        assert_eq!(check(&LedgerSpec { records: u64::MAX, ..spec() }), Err(SpecError::TooLarge(u64::MAX)));
        assert_eq!(check(&LedgerSpec { permutation: 0, ..spec() }), Err(SpecError::Permutation(0)));
        assert_eq!(check(&LedgerSpec { fingerprint: vec![], ..spec() }), Err(SpecError::Fingerprint(0)));
        let without = |version, grains| Err(GrainProblem::Spec { version, grains }.into());
        assert_eq!(check(&LedgerSpec { permutation: 2, shuffle: true, ..spec() }), without(2, false));
        assert_eq!(check(&LedgerSpec { permutation: 1, ..grained(3, 16) }), without(1, true));
        assert_eq!(check(&LedgerSpec { shuffle: false, ..grained(3, 16) }), without(2, true));
        assert_eq!(check(&grained(3, 0)), without(2, true));
        for (shard_id, num_shards) in [(0, 0), (2, 2), (3, 2)] {
            assert_eq!(
                check(&LedgerSpec { shard: shard(shard_id, num_shards), ..spec() }),
                Err(SpecError::Shard { shard_id, num_shards })
            );
        }
    }
}
