//! What was found to be wrong with records while a dataset was opened. A file may be made of bad records alone, so few
//! different reasons are kept, and a record has only the number of its reason.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use forebay_printable::printable;

/// Different reasons that are kept. A reason may name numbers of its record, so all of them may differ.
const MOST_REASONS: usize = 1000;
/// Bytes of a reason. It may quote what the file has.
const LONGEST: usize = 1000;
/// What is said of the records whose reasons were too many.
const ONE_MORE: &str = "it was found to be damaged when the dataset was opened, as were so many others that only the reasons \
                        of the first ones were kept";

/// The records that cannot be read, and why.
#[derive(Clone, Debug, Default)]
pub(crate) struct Faults {
    of_records: BTreeMap<u64, u32>,
    reasons: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u32>,
}

impl Faults {
    /// Notes what is wrong with a record, unless something is noted already.
    pub(crate) fn add(&mut self, record: u64, reason: &str) {
        if self.of_records.contains_key(&record) {
            return;
        }
        let number = self.number(reason);
        self.of_records.insert(record, number);
    }

    fn number(&mut self, reason: &str) -> u32 {
        let reason = shortened(reason);
        let is_kept = self.reasons.len() < MOST_REASONS || self.numbers.contains_key(reason);
        let reason = if is_kept { reason } else { ONE_MORE };
        if let Some(number) = self.numbers.get(reason) {
            return *number;
        }
        let number = u32::try_from(self.reasons.len()).expect("few reasons are kept");
        let reason: Arc<str> = reason.into();
        self.reasons.push(Arc::clone(&reason));
        self.numbers.insert(reason, number);
        number
    }

    /// What is wrong with a record, if something is.
    pub(crate) fn get(&self, record: u64) -> Option<&str> {
        self.of_records.get(&record).map(|number| &*self.reasons[*number as usize])
    }

    /// Whether something is wrong with a record.
    pub(crate) fn has(&self, record: u64) -> bool {
        self.of_records.contains_key(&record)
    }

    /// Tells the log how many records of a dataset cannot be read, where there are some.
    pub(crate) fn warn(&self, dataset: &Path) {
        if !self.is_empty() {
            tracing::warn!(dataset = %printable(dataset), records = self.len(), "records are damaged, and will be refused when they are read");
        }
    }

    /// Records that cannot be read.
    pub(crate) fn len(&self) -> usize {
        self.of_records.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.of_records.is_empty()
    }

    /// What is wrong with the first of them.
    pub(crate) fn first(&self) -> Option<&str> {
        self.of_records.keys().next().and_then(|record| self.get(*record))
    }
}

/// The beginning of a reason, if it is too long.
fn shortened(reason: &str) -> &str {
    let end = (0..=LONGEST.min(reason.len())).rev().find(|end| reason.is_char_boundary(*end));
    &reason[..end.unwrap_or(0)]
}

impl<S: AsRef<str>> FromIterator<(u64, S)> for Faults {
    fn from_iter<I: IntoIterator<Item = (u64, S)>>(found: I) -> Self {
        let mut faults = Self::default();
        for (record, reason) in found {
            faults.add(record, reason.as_ref());
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_of_a_record_is_kept() {
        let mut faults = Faults::from_iter([(7, "cut"), (3, "empty"), (7, "late")]);
        faults.add(9, "cut");
        assert_eq!([3, 7, 8, 9].map(|record| faults.get(record)), [Some("empty"), Some("cut"), None, Some("cut")]);
        assert_eq!((faults.len(), faults.first(), faults.has(8)), (3, Some("empty"), false));
        assert_eq!(faults.reasons.len(), 2);
    }

    #[test]
    fn reasons_are_bounded_however_many_records_are_bad_and_whatever_they_quote() {
        let long = "ä".repeat(LONGEST);
        let mut faults = Faults::default();
        for record in 0..10_000 {
            faults.add(record, &format!("record {record}: {long}"));
        }
        faults.add(10_000, "record 0");
        assert_eq!((faults.len(), faults.reasons.len()), (10_001, MOST_REASONS + 1));
        assert!(faults.reasons.iter().all(|reason| reason.len() <= LONGEST));
        assert!(faults.get(999).unwrap().starts_with("record 999: ä"), "the first ones keep their own");
        assert_eq!([1000, 9_999, 10_000].map(|record| faults.get(record)), [Some(ONE_MORE); 3]);
    }
}
