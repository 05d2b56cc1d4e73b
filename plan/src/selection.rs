//! The selected records of a dataset (semantics rule 66): which record has which place among them, and the other way around.
//! It takes 1.125 bits for each record of the dataset.

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use forebay_proto::Turn;
use forebay_proto::v1::{LedgerSpec, RecordSelection, SelectedRecords};

/// Added to the version of a permutation whose records are selected. So a build that knows no selections refuses the order.
pub const SELECTED: u32 = 256;
/// Words between two counts.
const BLOCK: usize = 8;

/// The records that are selected, in the dataset's order.
#[derive(Clone, PartialEq, Eq)]
pub struct SelectionTable {
    /// A bit for each record, the lowest bit of the first word first.
    words: Arc<[u64]>,
    /// How many records are selected before each block of words.
    before: Vec<u64>,
    records: u64,
    count: u64,
}

/// What is wrong with a selection, or with a spec that is about one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectionProblem {
    /// Permutation and selection do not belong together.
    #[error(
        "The order has permutation version {version}, which does not go with {}. Versions above {SELECTED}, and no others, need a \
         digest of 32 bytes over the selected records.",
        if *.selected { "a selection" } else { "no selection" }
    )]
    Spec {
        /// Of the permutation.
        version: u32,
        /// The spec has a selection.
        selected: bool,
    },
    /// A spec without the records that it is about.
    #[error("The order is about selected records, but the list of these is missing.")]
    Missing,
    /// Records with another digest than the spec's.
    #[error("The list of selected records is not the one that the order was made for.")]
    Other,
    /// Bits that are no selection of the dataset.
    #[error("The list of selected records is broken: it must have one bit for each record of the dataset.")]
    Broken,
    /// Nothing of a source.
    #[error("No record of the source \"{}\" is selected. Leave the source out, or select some of its records.", forebay_printable::printable(.0))]
    Nothing(String),
}

impl SelectionTable {
    /// The records of a dataset of `records` whose bits are set, the lowest bit of the first word first.
    ///
    /// # Errors
    /// There are more or fewer bits.
    pub fn new(words: Arc<[u64]>, records: u64) -> Result<Self, SelectionProblem> {
        let behind = records % 64;
        let is_clear = behind == 0 || words.last().is_none_or(|last| last >> behind == 0);
        if words.len() as u64 != records.div_ceil(64) || !is_clear {
            return Err(SelectionProblem::Broken);
        }
        let mut count = 0;
        let block = |words: &[u64]| {
            let before = count;
            count += words.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
            before
        };
        let before = words.chunks(BLOCK).map(block).collect();
        Ok(Self { words, before, records, count })
    }

    /// The records as they are stored and sent.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn read(selected: &SelectedRecords, records: u64) -> Result<Self, SelectionProblem> {
        if selected.bits.len() as u64 != records.div_ceil(8) {
            return Err(SelectionProblem::Broken);
        }
        let word = |bytes: &[u8]| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        };
        Self::new(selected.bits.chunks(8).map(word).collect(), records)
    }

    /// The records of a spec, as they are stored and sent. Nothing if it selects none.
    ///
    /// # Errors
    /// They are not of such a dataset.
    pub fn of_spec(
        spec: &LedgerSpec,
        selected: Option<&SelectedRecords>,
    ) -> Result<Option<Arc<Self>>, SelectionProblem> {
        let found = spec.selection.as_ref().zip(selected);
        found.map(|(order, selected)| Self::read(selected, order.records).map(Arc::new)).transpose()
    }

    /// The records as they are stored and sent: a bit for each.
    pub fn selected(&self) -> SelectedRecords {
        let mut bits: Vec<u8> = self.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bits.truncate(usize::try_from(self.records.div_ceil(8)).unwrap_or(usize::MAX));
        SelectedRecords { bits }
    }

    /// What a spec says of it. The digest is pinned: specs on disk hold it.
    pub fn order(&self) -> RecordSelection {
        let mut hasher = blake3::Hasher::new_derive_key("forebay selection 1");
        hasher.update(&self.records.to_le_bytes());
        for words in self.words.chunks(1 << 10) {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            hasher.update(&bytes);
        }
        RecordSelection { digest: hasher.finalize().as_bytes().to_vec(), records: self.records }
    }

    /// How many records the dataset has.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// How many records are selected.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        (self.words.len() + self.before.capacity()) * size_of::<u64>()
    }

    /// The record that has this place among the selected ones.
    ///
    /// # Panics
    /// Fewer are selected.
    pub fn record(&self, place: u64) -> u64 {
        assert!(place < self.count, "place {place} of {}", self.count);
        let block = self.before.partition_point(|before| *before <= place) - 1;
        let (mut left, mut at) = (place - self.before[block], block * BLOCK);
        loop {
            let word = self.words[at];
            let own = u64::from(word.count_ones());
            if left < own {
                return at as u64 * 64 + nth(word, left);
            }
            (left, at) = (left - own, at + 1);
        }
    }

    /// The place of a record among the selected ones, if it is one.
    pub fn place(&self, record: u64) -> Option<u64> {
        if record >= self.records {
            return None;
        }
        let (at, bit) = (usize::try_from(record / 64).ok()?, record % 64);
        (self.words[at] >> bit & 1 == 1).then(|| self.before_record(at, bit))
    }

    /// How many of the selected records are below this one.
    pub fn below(&self, record: u64) -> u64 {
        if record >= self.records {
            return self.count;
        }
        self.before_record(usize::try_from(record / 64).unwrap_or(usize::MAX), record % 64)
    }

    fn before_record(&self, at: usize, bit: u64) -> u64 {
        let block = at / BLOCK;
        let whole = self.words[block * BLOCK..at].iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        self.before[block] + whole + u64::from((self.words[at] & ((1 << bit) - 1)).count_ones())
    }

    /// A turn of a place among the selected records, as a turn of its record.
    pub(crate) fn turn(&self, of_place: Turn) -> Turn {
        Turn::new(self.record(of_place.record()), of_place.repeat())
    }
}

/// The place of the bit that is set after `before` others.
fn nth(mut word: u64, before: u64) -> u64 {
    for _ in 0..before {
        word &= word - 1;
    }
    word.trailing_zeros().into()
}

/// How many records the dataset of a spec has, selected or not.
pub fn dataset_records(spec: &LedgerSpec) -> u64 {
    spec.selection.as_ref().map_or(spec.records, |selection| selection.records)
}

/// The spec of the same order of a dataset that has the selected records alone.
///
/// # Errors
/// The spec contradicts itself.
pub(crate) fn unselected(spec: &LedgerSpec) -> Result<LedgerSpec, SelectionProblem> {
    let version = spec.permutation;
    match (&spec.selection, version.checked_sub(SELECTED)) {
        (None, None) => Ok(spec.clone()),
        (Some(RecordSelection { digest, records }), Some(permutation))
            if digest.len() == 32 && *records >= spec.records =>
        {
            Ok(LedgerSpec { permutation, selection: None, ..spec.clone() })
        }
        (selection, _) => Err(SelectionProblem::Spec { version, selected: selection.is_some() }),
    }
}

/// A list of millions of bits would be unreadable.
impl fmt::Debug for SelectionTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SelectionTable({} of {} records)", self.count, self.records)
    }
}
