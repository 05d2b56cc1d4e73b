//! How much one record may have in a column.

use crate::{ColumnType, MAX_DEPTH};

/// The most items that one record has at each ragged level, from the outermost. Levels that a column does not have are 0.
///
/// For `polygons: f32 [*][*][*, 2]` these are the objects of a picture, the polygons of all of them, and the points of all
/// of those.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Room(pub [u64; MAX_DEPTH]);

impl Room {
    /// Room for what fits in either.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self(std::array::from_fn(|level| self.0[level].max(other.0[level])))
    }

    /// Room for `records` records, each of which fits in this.
    #[must_use]
    pub fn times(self, records: u64) -> Self {
        Self(self.0.map(|items| items.saturating_mul(records)))
    }

    /// Rows that one record may have in a column of this type.
    pub fn rows(&self, column: &ColumnType) -> u64 {
        match column.depth() {
            0 => 1,
            depth => self.0[depth - 1],
        }
    }

    /// Whether a record with these counts fits.
    pub fn holds(&self, record: &Self) -> bool {
        self.0.iter().zip(record.0).all(|(room, items)| *room >= items)
    }
}
