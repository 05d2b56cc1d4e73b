//! Writing a batch's values into memory that was laid out for them.

use thiserror::Error;

use crate::{ColumnType, MAX_DEPTH, Value};

/// The memory of one column of a batch, filled place by place.
///
/// A ragged column's offsets count from the batch's start: list `i` of a level is from offset `i` to offset `i + 1`.
#[derive(Debug)]
pub struct ColumnMut<'a> {
    column_type: &'a ColumnType,
    /// For each place: 1, or 0 for a null.
    validity: &'a mut [u8],
    /// For each level, one more than its lists.
    offsets: [&'a mut [i64]; MAX_DEPTH],
    values: &'a mut [u8],
    /// Places that are written.
    places: usize,
    /// Lists of each level that are written, and the bytes.
    lists: [usize; MAX_DEPTH],
    len: usize,
}

/// A record that has more than there is room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the record has {found} items at level {level} of the column, and there is room for {room}")]
pub struct Full {
    /// The ragged level, counted from 1; 0 for rows.
    pub level: usize,
    /// What the record has.
    pub found: usize,
    /// What there is room for.
    pub room: usize,
}

impl<'a> ColumnMut<'a> {
    /// A column without places. `offsets` has a slice for each of the type's levels, and empty ones behind them.
    ///
    /// # Panics
    /// A level of the type has no offsets.
    pub fn new(
        column_type: &'a ColumnType,
        validity: &'a mut [u8],
        mut offsets: [&'a mut [i64]; MAX_DEPTH],
        values: &'a mut [u8],
    ) -> Self {
        for offsets in &mut offsets[..column_type.depth()] {
            offsets[0] = 0;
        }
        Self { column_type, validity, offsets, values, places: 0, lists: [0; MAX_DEPTH], len: 0 }
    }

    /// Writes the next place. On an error nothing is written, and the place is still the next one.
    ///
    /// # Panics
    /// Every place is written already.
    pub fn push(&mut self, value: &Value<'_>) -> Result<(), Full> {
        assert!(self.places < self.validity.len(), "a batch of {} places", self.validity.len());
        self.check(value)?;
        self.validity[self.places] = u8::from(!value.is_null());
        let depth = self.column_type.depth();
        if depth > 0 {
            let last = self.offsets[0][self.places];
            self.offsets[0][self.places + 1] = last + count(value.items());
            self.lists[0] = self.places + 1;
        }
        for level in 2..=depth {
            let (theirs, own) = (value.inner(level), &mut *self.offsets[level - 1]);
            let written = self.lists[level - 1];
            let base = own[written];
            for (place, offset) in theirs.iter().skip(1).enumerate() {
                own[written + 1 + place] = base + (offset - theirs[0]);
            }
            self.lists[level - 1] += theirs.len().saturating_sub(1);
        }
        self.values[self.len..self.len + value.bytes().len()].copy_from_slice(value.bytes());
        self.len += value.bytes().len();
        self.places += 1;
        Ok(())
    }

    /// Writes the next place as a null.
    pub fn push_null(&mut self) -> Result<(), Full> {
        if self.column_type.depth() > 0 {
            return self.push(&Value::new(0, [&[0]; MAX_DEPTH - 1], &[], true));
        }
        assert!(self.places < self.validity.len(), "a batch of {} places", self.validity.len());
        let end = self.len + self.column_type.row_len();
        self.values[self.len..end].fill(0);
        self.validity[self.places] = 0;
        (self.len, self.places) = (end, self.places + 1);
        Ok(())
    }

    fn check(&self, value: &Value<'_>) -> Result<(), Full> {
        for level in 2..=self.column_type.depth() {
            let found = value.inner(level).len().saturating_sub(1);
            let room = self.offsets[level - 1].len() - 1 - self.lists[level - 1];
            if found > room {
                return Err(Full { level: level - 1, found, room });
            }
        }
        let row = self.column_type.row_len();
        let (found, room) = (value.bytes().len() / row, (self.values.len() - self.len) / row);
        if found > room { Err(Full { level: self.column_type.depth(), found, room }) } else { Ok(()) }
    }
}

fn count(items: usize) -> i64 {
    i64::try_from(items).expect("what is in memory can be counted")
}

#[cfg(test)]
mod tests;
