//! One column of a batch as a trainer sees it.

use std::ops::Range;

use forebay_columns::{ColumnType, MAX_DEPTH};

/// A column of a batch: read-only slices of the slot.
///
/// What the daemon wrote is not believed where it could lead out of the column: offsets beyond it are cut.
#[derive(Clone, Debug)]
pub struct ColumnView<'a> {
    pub(crate) column_type: &'a ColumnType,
    pub(crate) validity: &'a [u8],
    pub(crate) offsets: [&'a [i64]; MAX_DEPTH],
    pub(crate) values: &'a [u8],
}

impl<'a> ColumnView<'a> {
    /// Its type.
    pub fn column_type(&self) -> &'a ColumnType {
        self.column_type
    }

    /// For each place: 1, or 0 where its value is missing.
    pub fn validity(&self) -> &'a [u8] {
        self.validity
    }

    /// The offsets of a ragged level, counted from 1. List `i` is from offset `i` to offset `i + 1` of the next level, or of
    /// the rows. Values after the last list mean nothing.
    pub fn offsets(&self, level: usize) -> &'a [i64] {
        self.offsets[level - 1]
    }

    /// All rows, little-endian. Values after the last list mean nothing.
    pub fn values(&self) -> &'a [u8] {
        self.values
    }

    /// How many lists of each level, and then rows, the first `places` places have: the places themselves first.
    pub fn counts(&self, places: usize) -> Vec<usize> {
        let mut counts = vec![places.min(self.validity.len())];
        for level in 1..=self.column_type.depth() {
            let last = counts[level - 1];
            counts.push(self.end(level, last));
        }
        counts
    }

    /// The rows of a place, as bytes.
    ///
    /// # Panics
    /// The batch has no such place.
    pub fn place(&self, place: usize) -> &'a [u8] {
        assert!(place < self.validity.len(), "place {place} of a batch of {}", self.validity.len());
        let mut range = place..place + 1;
        for level in 1..=self.column_type.depth() {
            range = self.end(level, range.start)..self.end(level, range.end);
        }
        let row = self.column_type.row_len();
        let bytes = Range { start: range.start * row, end: range.end * row };
        self.values.get(bytes).unwrap_or_default()
    }

    /// The innermost lists of a place, each with the number of its outermost item: its object. The rows are bytes.
    ///
    /// # Panics
    /// The batch has no such place.
    pub fn lists(&self, place: usize) -> Vec<(usize, &'a [u8])> {
        assert!(place < self.validity.len(), "place {place} of a batch of {}", self.validity.len());
        let mut found = Vec::new();
        self.innermost(1, place, None, &mut found);
        found
    }

    /// Adds the innermost lists of a list, which belong to an object or have objects.
    fn innermost(&self, level: usize, list: usize, object: Option<usize>, found: &mut Vec<(usize, &'a [u8])>) {
        let (depth, row) = (self.column_type.depth(), self.column_type.row_len());
        let items = if depth == 0 { list..list + 1 } else { self.end(level, list)..self.end(level, list + 1) };
        if level >= depth {
            let rows = self.values.get(items.start * row..items.end * row).unwrap_or_default();
            found.push((object.unwrap_or_default(), rows));
            return;
        }
        for item in items.clone() {
            self.innermost(level + 1, item, object.or(Some(item - items.start)), found);
        }
    }

    /// Where the lists of a level before this one end, and so where it begins.
    fn end(&self, level: usize, list: usize) -> usize {
        let most = match level {
            _ if level == self.column_type.depth() => self.values.len() / self.column_type.row_len(),
            _ => self.offsets[level].len() - 1,
        };
        let offset = self.offsets[level - 1].get(list).copied().unwrap_or_default();
        usize::try_from(offset).unwrap_or_default().min(most)
    }
}
