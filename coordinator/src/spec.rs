//! What makes two ledgers the same (semantics rules 1 and 20): checks, hash and differences of a `LedgerSpec`.

use forebay_proto::v1::{LedgerSpec, StaticShard};

/// The only version of the permutation so far.
pub const PERMUTATION: u32 = 1;
/// Above this many shards a static split is refused: an epoch in which a shard has no record is stepped over one by
/// one.
const MAX_SHARDS: u32 = 1 << 20;
/// Keeps sums of positions far from overflow.
const MAX_RECORDS: u64 = 1 << 56;

/// A spec that no ledger can have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// Nothing to read.
    #[error("The dataset has no records; a ledger needs at least one.")]
    Empty,
    /// Too many records.
    #[error("The dataset has {0} records; a ledger counts at most {MAX_RECORDS}.")]
    TooLarge(u64),
    /// Made by another version of Forebay.
    #[error("The order has permutation version {0}, but this build knows only version {PERMUTATION}.")]
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
    if spec.permutation != PERMUTATION {
        return Err(SpecError::Permutation(spec.permutation));
    }
    match spec.shard {
        Some(StaticShard { num_shards, .. }) if num_shards > MAX_SHARDS => Err(SpecError::TooManyShards(num_shards)),
        Some(StaticShard { shard_id, num_shards, .. }) if shard_id >= num_shards => {
            Err(SpecError::Shard { shard_id, num_shards })
        }
        _ => Ok(()),
    }
}

/// 32 bytes that are equal exactly when two specs are. Pinned: snapshots and ledgers on disk hold it.
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
    hasher.finalize().into()
}

/// Says in words where two specs differ, the kept one first; empty where they agree.
///
/// ```
/// use forebay_coordinator::differences;
/// use forebay_proto::v1::LedgerSpec;
/// let kept = LedgerSpec { records: 500, permutation: 1, ..Default::default() };
/// let asked = LedgerSpec { records: 501, ..kept.clone() };
/// assert_eq!(differences(&kept, &asked), "records was 500 and is now 501");
/// ```
pub fn differences(kept: &LedgerSpec, asked: &LedgerSpec) -> String {
    let shard = |shard: &Option<StaticShard>| match shard {
        None => "dynamic".to_owned(),
        Some(s) => format!(
            "static (shard_id {}, num_shards {}, stick_to_shard {})",
            s.shard_id, s.num_shards, s.stick_to_shard
        ),
    };
    let fields = [
        ("the dataset's fingerprint", hex(&kept.fingerprint), hex(&asked.fingerprint)),
        ("records", kept.records.to_string(), asked.records.to_string()),
        ("shuffle", kept.shuffle.to_string(), asked.shuffle.to_string()),
        ("seed", kept.seed.to_string(), asked.seed.to_string()),
        ("the permutation's version", kept.permutation.to_string(), asked.permutation.to_string()),
        ("assignment", shard(&kept.shard), shard(&asked.shard)),
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
            (LedgerSpec { shard: shard(0, 2, false), ..spec() }, "was dynamic and is now static (shard_id 0"),
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

    #[test]
    fn specs_that_no_ledger_can_have_are_refused_by_name() {
        let shard = |shard_id, num_shards| Some(StaticShard { shard_id, num_shards, stick_to_shard: false });
        assert_eq!(check(&spec()), Ok(()));
        assert_eq!(check(&LedgerSpec { records: 0, ..spec() }), Err(SpecError::Empty));
        assert_eq!(check(&LedgerSpec { records: u64::MAX, ..spec() }), Err(SpecError::TooLarge(u64::MAX)));
        assert_eq!(check(&LedgerSpec { permutation: 0, ..spec() }), Err(SpecError::Permutation(0)));
        assert_eq!(check(&LedgerSpec { fingerprint: vec![], ..spec() }), Err(SpecError::Fingerprint(0)));
        for (shard_id, num_shards) in [(0, 0), (2, 2), (3, 2)] {
            assert_eq!(
                check(&LedgerSpec { shard: shard(shard_id, num_shards), ..spec() }),
                Err(SpecError::Shard { shard_id, num_shards })
            );
        }
    }
}
