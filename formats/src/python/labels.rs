//! The labels of a reader's records, as they were when the dataset was opened.

use serde_json::Value;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct ReaderLabels {
    /// One per record, or empty.
    values: Vec<i64>,
    pub classes: Vec<String>,
}

impl ReaderLabels {
    pub(super) fn new(values: Vec<i64>, classes: Vec<String>) -> Self {
        Self { values, classes }
    }

    /// The label of a record; -1 without one.
    pub(super) fn at(&self, record: u64) -> i64 {
        let place = usize::try_from(record).ok();
        place.and_then(|place| self.values.get(place)).copied().unwrap_or(-1)
    }

    /// Whether a label that came with a record is its own. Before the first record was looked at, it is not known whether
    /// there are labels at all.
    pub(super) fn agrees(&self, record: u64, given: &Value) -> bool {
        let known = self.at(record);
        match given {
            _ if self.values.is_empty() => true,
            Value::String(text) => {
                let class = usize::try_from(known).ok().and_then(|place| self.classes.get(place));
                class.is_some_and(|class| class == text)
            }
            given => given.as_i64() == Some(known),
        }
    }
}
