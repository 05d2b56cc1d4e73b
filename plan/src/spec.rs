//! What makes two ledgers the same (semantics rules 1 and 20): checks, hash and differences of a `LedgerSpec`.

#[cfg(test)]
mod tests;

use forebay_printable::printable;
use forebay_proto::v1::{ClassOrder, GrainOrder, LedgerSpec, LockstepRank, ShareChange, SourceShare, StaticShard};

use crate::classes::{self, CLASS_PERMUTATION, ClassProblem};
use crate::grains::{CHANGING_GRAIN_PERMUTATION, GRAIN_MIXTURE_PERMUTATION, GRAIN_PERMUTATION, GrainProblem};
use crate::lockstep::{RankProblem, check_rank};
use crate::mixture::problem::MixtureProblem;
use crate::mixture::shares::{self, CHANGING_MIXTURE_PERMUTATION, MIXTURE_PERMUTATION};
use crate::selection::{self, SELECTED, SelectionProblem, dataset_records};

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
             {PERMUTATION} to {CHANGING_GRAIN_PERMUTATION}, and these with {SELECTED} added for selected records."
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
    /// Something about steps of classes.
    #[error(transparent)]
    Classes(#[from] ClassProblem),
    /// Something about selected records.
    #[error(transparent)]
    Selection(#[from] SelectionProblem),
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
    if dataset_records(spec) > MAX_RECORDS {
        return Err(SpecError::TooLarge(dataset_records(spec)));
    }
    shares::check_turns(spec)?;
    let spec = &selection::unselected(spec)?;
    classes::check(spec)?;
    match (spec.permutation, &spec.grains) {
        (PERMUTATION | MIXTURE_PERMUTATION | CLASS_PERMUTATION | CHANGING_MIXTURE_PERMUTATION, None) => {}
        (GRAIN_PERMUTATION | GRAIN_MIXTURE_PERMUTATION | CHANGING_GRAIN_PERMUTATION, Some(grains))
            if spec.shuffle && grains.digest.len() == 32 && grains.window > 0 => {}
        (version @ PERMUTATION..=CHANGING_GRAIN_PERMUTATION, grains) => {
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
    if !spec.share_changes.is_empty() {
        hasher.update(b"changes");
        hasher.update(&(spec.share_changes.len() as u64).to_le_bytes());
        for change in &spec.share_changes {
            hasher.update(&change.epoch.to_le_bytes());
            hasher.update(&(change.positions.len() as u64).to_le_bytes());
            for positions in &change.positions {
                hasher.update(&positions.to_le_bytes());
            }
        }
    }
    if let Some(ClassOrder { digest, places, leftovers, repeats, rule: _, accumulate, lengths }) = &spec.classes {
        hasher.update(b"classes");
        hasher.update(&(digest.len() as u64).to_le_bytes());
        hasher.update(digest);
        hasher.update(&leftovers.to_le_bytes());
        for numbers in [places, repeats] {
            hasher.update(&(numbers.len() as u64).to_le_bytes());
            for number in numbers {
                hasher.update(&number.to_le_bytes());
            }
        }
        if !lengths.is_empty() {
            hasher.update(b"lengths");
            hasher.update(&(lengths.len() as u64).to_le_bytes());
            for length in lengths {
                hasher.update(&length.to_le_bytes());
            }
        }
        if *accumulate > 1 {
            hasher.update(b"accumulate");
            hasher.update(&accumulate.to_le_bytes());
        }
    }
    if let Some(selection) = &spec.selection {
        hasher.update(b"selection");
        hasher.update(&(selection.digest.len() as u64).to_le_bytes());
        hasher.update(&selection.digest);
        hasher.update(&selection.records.to_le_bytes());
    }
    if let Some(LockstepRank { global_batch, .. }) = &spec.lockstep {
        hasher.update(b"lockstep");
        hasher.update(&global_batch.to_le_bytes());
    }
    hasher.finalize().into()
}

/// The spec without what two specs of one ledger may differ in: the names of sources and of the classes' rule, which are for
/// people.
pub fn nameless(spec: &LedgerSpec) -> LedgerSpec {
    let sources = spec.sources.iter().map(|source| SourceShare { name: String::new(), ..source.clone() });
    let classes = spec.classes.clone().map(|classes| ClassOrder { rule: String::new(), ..classes });
    LedgerSpec { sources: sources.collect(), classes, ..spec.clone() }
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
    let classes = |of: fn(&ClassOrder) -> String| {
        let said = |spec: &LedgerSpec| spec.classes.as_ref().map_or_else(|| "none".to_owned(), of);
        (said(kept), said(asked))
    };
    let table = classes(|classes| match &*classes.rule {
        "" => hex(&classes.digest),
        rule => format!("{} ({})", hex(&classes.digest), printable(rule)),
    });
    let places = classes(|classes| numbers(&classes.places));
    let lengths = classes(|classes| numbers(&classes.lengths));
    let leftovers = classes(|classes| classes.leftovers().as_str_name().to_ascii_lowercase());
    let repeats = classes(|classes| numbers(&classes.repeats));
    let accumulate = classes(|classes| classes.accumulate.max(1).to_string());
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
        sources => {
            let first: Vec<u64> = sources.iter().map(|source| source.positions).collect();
            let later = spec
                .share_changes
                .iter()
                .map(|ShareChange { epoch, positions }| format!(", from epoch {epoch} on {}", sum(positions)));
            sum(&first) + &later.collect::<String>()
        }
    };
    let selection = |spec: &LedgerSpec| match &spec.selection {
        Some(selection) => format!("{} ({} of {} records)", hex(&selection.digest), spec.records, selection.records),
        None => "none".to_owned(),
    };
    let fields = [
        ("the dataset's fingerprint", hex(&kept.fingerprint), hex(&asked.fingerprint)),
        ("records", kept.records.to_string(), asked.records.to_string()),
        ("the selection", selection(kept), selection(asked)),
        ("shuffle", shuffle(kept), shuffle(asked)),
        ("the table of grains", digest.0, digest.1),
        ("shuffle_window", window.0, window.1),
        ("the table of classes", table.0, table.1),
        ("the places of the steps of each class", places.0, places.1),
        ("seq_lens", lengths.0, lengths.1),
        ("leftovers", leftovers.0, leftovers.1),
        ("the repeats of each source", repeats.0, repeats.1),
        ("accumulate", accumulate.0, accumulate.1),
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

/// Numbers of sources, as a sum.
fn sum(positions: &[u64]) -> String {
    positions.iter().map(u64::to_string).collect::<Vec<_>>().join(" + ")
}

/// Numbers with commas, of which the first ones tell two lists apart for people.
fn numbers(all: &[u32]) -> String {
    if all.is_empty() {
        return "none".to_owned();
    }
    all.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

/// The first 16 digits tell two fingerprints apart.
fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().take(8).fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a String takes every write");
        text
    })
}
