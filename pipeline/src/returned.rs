//! What functions in Python return beside a picture (semantics rule 59).

use forebay_columns::{Value, ValueBuf};

/// What functions have returned for one picture, where it is in the picture as it is now.
#[derive(Clone, Debug, Default)]
pub(crate) struct Returned {
    /// Its label, if they have changed that.
    pub label: Option<i64>,
    /// For each column of the dataset that a batch has, its value. `None`: as the dataset has it.
    pub values: Vec<Option<ValueBuf>>,
}

impl Returned {
    /// The value of each column.
    pub(crate) fn each(&self) -> impl Iterator<Item = Option<Value<'_>>> {
        self.values.iter().map(|value| value.as_ref().map(ValueBuf::value))
    }
}

impl PartialEq for Returned {
    fn eq(&self, other: &Self) -> bool {
        self.label == other.label && self.each().eq(other.each())
    }
}

impl Eq for Returned {}
