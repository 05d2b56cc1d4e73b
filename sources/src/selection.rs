//! The records of a dataset that are read, if not all of them are (semantics rule 66): one bit for each record.

use std::fmt;
use std::sync::Arc;

/// A choice of records. They keep their numbers in the dataset.
///
/// ```
/// use forebay_sources::Selection;
///
/// let even = Selection::of(5, |record| record % 2 == 0);
/// assert_eq!((even.count(), even.contains(2), even.contains(3)), (3, true, false));
/// assert_eq!(even.iter().collect::<Vec<_>>(), [0, 2, 4]);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Selection {
    /// A bit for each record, the lowest bit of the first word first. Bits behind the last record are 0.
    words: Arc<[u64]>,
    records: u64,
    count: u64,
}

impl Selection {
    /// Selects records of a dataset that has so many.
    pub fn of(records: u64, mut is_selected: impl FnMut(u64) -> bool) -> Self {
        let word = |first: u64| {
            let own = first * 64..(first * 64 + 64).min(records);
            own.filter(|record| is_selected(*record)).fold(0, |word, record| word | 1 << (record % 64))
        };
        let words: Vec<u64> = (0..records.div_ceil(64)).map(word).collect();
        Self::from_words(words.into(), records)
    }

    fn from_words(words: Arc<[u64]>, records: u64) -> Self {
        let count = words.iter().map(|word| u64::from(word.count_ones())).sum();
        Self { words, records, count }
    }

    /// The records that both have.
    ///
    /// # Panics
    /// They are of datasets with different numbers of records.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        assert_eq!(self.records, other.records, "selections of one dataset");
        let both: Vec<u64> = self.words.iter().zip(&*other.words).map(|(own, other)| own & other).collect();
        Self::from_words(both.into(), self.records)
    }

    /// How many records the dataset has.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// How many records are selected.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether a record is selected.
    pub fn contains(&self, record: u64) -> bool {
        let word = usize::try_from(record / 64).ok().and_then(|place| self.words.get(place));
        word.is_some_and(|word| word >> (record % 64) & 1 == 1)
    }

    /// The selected records, in the dataset's order.
    pub fn iter(&self) -> impl Iterator<Item = u64> {
        (0..).zip(&*self.words).flat_map(|(place, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| u64::from(left.trailing_zeros()))?;
                left &= left - 1;
                Some(place * 64 + bit)
            })
        })
    }

    /// How many of these records are selected.
    pub fn count_in(&self, records: std::ops::Range<u64>) -> u64 {
        let end = records.end.min(self.records);
        let of_word = |place: u64| {
            let word = usize::try_from(place).ok().and_then(|place| self.words.get(place)).copied().unwrap_or(0);
            let first = place * 64;
            let (from, to) = (records.start.max(first) - first, (end - first).min(64));
            let below = |bits: u64| if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
            u64::from((word & below(to) & !below(from)).count_ones())
        };
        if records.start >= end { 0 } else { (records.start / 64..end.div_ceil(64)).map(of_word).sum() }
    }

    /// A bit for each record, the lowest bit of the first word first.
    pub fn words(&self) -> &Arc<[u64]> {
        &self.words
    }
}

/// Millions of bits would be unreadable.
impl fmt::Debug for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Selection({} of {} records)", self.count, self.records)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_66_a_selection_counts_and_lists_as_a_list_of_numbers_does() {
        for records in [1, 5, 63, 64, 65, 128, 300] {
            for step in [1, 2, 3, 64, 65, 200] {
                let expected: Vec<u64> = (0..records).filter(|record| record % step == step - 1).collect();
                let selection = Selection::of(records, |record| record % step == step - 1);
                assert_eq!(selection.iter().collect::<Vec<_>>(), expected);
                assert_eq!((selection.records(), selection.count()), (records, expected.len() as u64));
                assert!((0..records + 70).all(|record| selection.contains(record) == expected.contains(&record)));
                for start in 0..=records {
                    for end in [0, start, start + 1, start + 64, records, records + 9] {
                        let own = expected.iter().filter(|record| (start..end).contains(*record)).count() as u64;
                        assert_eq!(selection.count_in(start..end), own, "{records} {step} {start}..{end}");
                    }
                }
                let odd = Selection::of(records, |record| record % 2 == 1);
                let both: Vec<u64> = expected.into_iter().filter(|record| record % 2 == 1).collect();
                assert_eq!(selection.and(&odd).iter().collect::<Vec<_>>(), both);
            }
        }
    }
}
