//! A dataset's table of grains: which records are read at once (semantics rule 56).

use std::fmt;
use std::ops::Range;

use forebay_proto::v1::{GrainLengths, GrainOrder};

/// The version of the permutation of grains, and of records within windows of them (semantics rule 56).
pub const GRAIN_PERMUTATION: u32 = 2;
/// The version of the permutation of a mixture whose sources are permuted by grains (semantics rules 56 and 58).
pub const GRAIN_MIXTURE_PERMUTATION: u32 = 4;
/// The version of the permutation of such a mixture whose shares change between epochs (semantics rule 67).
pub const CHANGING_GRAIN_PERMUTATION: u32 = 7;
/// Above this many grains, the table would take more than 128 MiB.
const MAX_GRAINS: usize = 1 << 24;

/// The grains of a dataset, in its order. It takes 8 bytes per grain.
///
/// ```
/// use forebay_plan::GrainTable;
///
/// let table = GrainTable::new(&[0, 3, 7], 10)?;
/// assert_eq!(table.lengths().lengths, [3, 4, 3]);
/// # Ok::<(), forebay_plan::GrainProblem>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct GrainTable {
    /// The first record of each grain, rising from 0, and the number of records.
    bounds: Vec<u64>,
}

/// What is wrong with a table of grains, or with a spec that is about one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GrainProblem {
    /// Permutation and grains do not belong together.
    #[error(
        "The order has permutation version {version}, which does not go with {}. Versions {GRAIN_PERMUTATION}, \
         {GRAIN_MIXTURE_PERMUTATION} and {CHANGING_GRAIN_PERMUTATION}, and no others, need shuffle, a digest of 32 bytes over the table of grains, and a \
         window of at least 1 grain.",
        if *.grains { "grains" } else { "no grains" }
    )]
    Spec {
        /// Of the permutation.
        version: u32,
        /// The spec has grains.
        grains: bool,
    },
    /// A spec without the table that it is about.
    #[error("The order permutes grains, but the table of the dataset's grains is missing.")]
    Missing,
    /// A table with another digest than the spec.
    #[error("The table of the dataset's grains is not the one that the order was made for.")]
    Other,
    /// Grains without records, or other records than the dataset's.
    #[error("The table of the dataset's grains is broken: grains must have records, and together all of the dataset.")]
    Broken,
    /// A grain of several sources. Sources are shuffled by their own grains.
    #[error("The table of the dataset's grains does not fit its sources: a grain has records of two of them.")]
    Sources,
    /// The table would take too much memory.
    #[error("The dataset has more than 16777216 grains. Set shuffle = true, or write it with larger grains.")]
    TooMany,
}

impl GrainTable {
    /// The table of grains that begin with these records, in a dataset of `records`.
    ///
    /// # Errors
    /// A grain would have no record, or there are too many grains.
    pub fn new(starts: &[u64], records: u64) -> Result<Self, GrainProblem> {
        Self::from_bounds(starts.iter().copied().chain([records]).collect())
    }

    /// The table as it is stored and sent.
    ///
    /// # Errors
    /// As [`new`](Self::new), or the lengths do not add up to `records`.
    pub fn from_lengths(lengths: &GrainLengths, records: u64) -> Result<Self, GrainProblem> {
        let (mut bounds, mut last, mut end) = (vec![0_u64], 0_u64, 0_u64);
        let mut numbers = lengths.lengths.iter().copied();
        while let Some(number) = numbers.next() {
            let (length, times) = if number == 0 { (last, numbers.next().unwrap_or(0)) } else { (number, 1) };
            let room = MAX_GRAINS as u64 + 1 - bounds.len() as u64;
            if times > room {
                return Err(GrainProblem::TooMany);
            }
            for _ in 0..times {
                end = end.checked_add(length).filter(|end| *end <= records).ok_or(GrainProblem::Broken)?;
                bounds.push(end);
            }
            last = length;
        }
        if end != records {
            return Err(GrainProblem::Broken);
        }
        Self::from_bounds(bounds)
    }

    fn from_bounds(bounds: Vec<u64>) -> Result<Self, GrainProblem> {
        if bounds.len() > MAX_GRAINS + 1 {
            return Err(GrainProblem::TooMany);
        }
        if bounds.len() < 2 || bounds[0] != 0 || !bounds.is_sorted_by(|a, b| a < b) {
            return Err(GrainProblem::Broken);
        }
        Ok(Self { bounds })
    }

    /// The number of records of each grain, equal ones in a row together.
    pub fn lengths(&self) -> GrainLengths {
        let mut lengths = Vec::new();
        let mut own = self.bounds.windows(2).map(|pair| pair[1] - pair[0]).peekable();
        while let Some(length) = own.next() {
            lengths.push(length);
            let more = std::iter::from_fn(|| own.next_if_eq(&length)).count() as u64;
            match more {
                0 => {}
                1 => lengths.push(length),
                more => lengths.extend([0, more]),
            }
        }
        GrainLengths { lengths }
    }

    /// What a spec has to have, so that epochs permute these grains and the records of `window` of them.
    pub fn order(&self, window: u32) -> GrainOrder {
        GrainOrder { digest: self.digest().to_vec(), window }
    }

    /// Pinned: specs on disk hold it.
    pub fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("forebay grains 1");
        for bound in &self.bounds {
            hasher.update(&bound.to_le_bytes());
        }
        hasher.finalize().into()
    }

    /// How many grains there are.
    pub const fn count(&self) -> u64 {
        self.bounds.len() as u64 - 1
    }

    /// How many records they have together.
    pub fn records(&self) -> u64 {
        self.bounds.last().copied().unwrap_or(0)
    }

    /// The records of a grain.
    pub fn records_of(&self, grain: u64) -> Range<u64> {
        let grain = usize::try_from(grain).expect("a table in memory is no longer than usize::MAX");
        self.bounds[grain]..self.bounds[grain + 1]
    }

    /// The grains that have these records, and no others.
    pub fn grains_of(&self, records: &Range<u64>) -> Option<Range<u64>> {
        let grain = |record| self.bounds.binary_search(record).ok().map(|grain| grain as u64);
        Some(grain(&records.start)?..grain(&records.end)?)
    }

    /// The grain of a record.
    pub fn grain_of(&self, record: u64) -> u64 {
        self.bounds.partition_point(|&bound| bound <= record) as u64 - 1
    }
}

/// A list of millions of numbers would be unreadable.
impl fmt::Debug for GrainTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GrainTable({} grains)", self.count())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn equal_grains_in_a_row_are_two_numbers_more() {
        let table = GrainTable::new(&[0, 4, 8, 12, 16, 18, 20], 21).unwrap();
        assert_eq!(table.lengths().lengths, [4, 0, 3, 2, 2, 1]);
    }

    #[test]
    fn rule_56_the_digest_is_pinned() {
        // Ledgers on disk depend on it.
        let table = GrainTable::new(&[0, 3, 7], 10).unwrap();
        assert_eq!(blake3::Hash::from(table.digest()).to_hex().as_str(), PINNED);
        assert_ne!(GrainTable::new(&[0, 3, 8], 10).unwrap().digest(), table.digest());
        assert_ne!(GrainTable::new(&[0, 3, 7], 11).unwrap().digest(), table.digest());
    }

    const PINNED: &str = "a34dfd41ff9346eb2e6b0ea7c9cae948764f2f29458a08b1a6a6a54e0c0488a3";

    #[test]
    fn tables_that_no_dataset_has_are_refused() {
        let broken = || Err(GrainProblem::Broken);
        for (starts, records) in [(&[][..], 5), (&[1], 5), (&[0, 0], 5), (&[0, 3, 2], 5), (&[0, 5], 5), (&[0], 0)] {
            assert_eq!(GrainTable::new(starts, records), broken(), "{starts:?}");
        }
        let read = |lengths: &[u64]| GrainTable::from_lengths(&GrainLengths { lengths: lengths.to_vec() }, 10);
        for lengths in [&[][..], &[9], &[11], &[0, 3], &[0], &[10, 0], &[u64::MAX, 0, 2], &[5, 0, 1, 0, 1]] {
            let read = read(lengths);
            if lengths == [10, 0] {
                assert!(read.is_ok(), "no more of them is no more");
            } else {
                assert_eq!(read, broken(), "{lengths:?}");
            }
        }
        assert_eq!(read(&[1, 0, u64::MAX]), Err(GrainProblem::TooMany));
    }

    proptest! {
        #[test]
        fn a_table_is_read_back_as_it_was_and_finds_the_grain_of_each_record(
            lengths in prop::collection::vec(prop_oneof![1_u64..4, 1_u64..1000], 1..60)
        ) {
            let ends: Vec<u64> = lengths.iter().scan(0, |end, length| { *end += length; Some(*end) }).collect();
            let (records, starts) = (ends[ends.len() - 1], [&[0], &ends[..ends.len() - 1]].concat());
            let table = GrainTable::new(&starts, records).unwrap();
            prop_assert_eq!(&GrainTable::from_lengths(&table.lengths(), records).unwrap(), &table);
            for grain in 0..table.count() {
                let own = table.records_of(grain);
                prop_assert_eq!((table.grain_of(own.start), table.grain_of(own.end - 1)), (grain, grain));
            }
        }

        #[test]
        fn whatever_numbers_are_read_give_a_table_of_all_records_or_none(
            lengths in prop::collection::vec(prop_oneof![0_u64..6, any::<u64>()], 0..12), records in 0_u64..40
        ) {
            if let Ok(table) = GrainTable::from_lengths(&GrainLengths { lengths }, records) {
                prop_assert_eq!(table.records_of(table.count() - 1).end, records);
            }
        }
    }
}
