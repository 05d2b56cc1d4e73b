//! A list of numbers that is in memory, or in an index that is open. Millions of records keep their numbers in such lists, so
//! that opening an index reads none of them.

use std::ops::{Deref, Range};
use std::sync::Arc;

use arrow_buffer::{ArrowNativeType, ScalarBuffer};

use crate::index_blocks::IndexBlocks;

/// A number that an index may have: little-endian bytes.
pub(crate) trait IndexNumber: ArrowNativeType {
    /// The numbers that these bytes are.
    fn of_bytes(bytes: &[u8]) -> Vec<Self>;
}

/// Numbers in memory, or in an index.
#[derive(Clone, Debug)]
pub(crate) enum Values<T: IndexNumber> {
    Memory(MemoryValues<T>),
    Stored(StoredNumbers),
}

/// Numbers in memory: this list's own, or shared with the columns of an index that is made of them.
#[derive(Clone, Debug)]
pub(crate) enum MemoryValues<T: ArrowNativeType> {
    Own(Vec<T>),
    Shared(ScalarBuffer<T>),
}

/// Where numbers are in an index.
#[derive(Clone, Debug)]
pub(crate) struct StoredNumbers {
    pub blocks: Arc<IndexBlocks>,
    /// The first byte.
    pub start: u64,
    /// How many numbers there are.
    pub len: usize,
}

impl<T: IndexNumber> Values<T> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Memory(values) => values.len(),
            Self::Stored(stored) => stored.len,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number at this place, or nothing beyond the end. If it cannot be read from its index, it is 0, and the index has
    /// failed.
    pub(crate) fn get(&self, place: usize) -> Option<T> {
        match self {
            Self::Memory(values) => values.get(place).copied(),
            Self::Stored(stored) => stored.range(place..place.checked_add(1)?)?.pop(),
        }
    }

    /// The number at this place, as [`get`](Self::get) gives it.
    ///
    /// # Panics
    /// There is no such place.
    pub(crate) fn at(&self, place: usize) -> T {
        self.get(place).unwrap_or_else(|| panic!("place {place} of {}", self.len()))
    }

    /// All numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = T> {
        (0..self.len()).map(|place| self.at(place))
    }

    /// Adds a number. What is not this list's own becomes a copy first.
    pub(crate) fn push(&mut self, value: T) {
        self.memory().push(value);
    }

    /// The same numbers as Arrow keeps them. What is in memory is not copied. From now on they are shared.
    pub(crate) fn share(&mut self) -> ScalarBuffer<T> {
        self.memory().share()
    }

    fn memory(&mut self) -> &mut MemoryValues<T> {
        if let Self::Stored(_) = self {
            *self = self.iter().collect();
        }
        match self {
            Self::Memory(values) => values,
            Self::Stored(_) => unreachable!("it was made a copy above"),
        }
    }
}

impl<T: ArrowNativeType> MemoryValues<T> {
    /// Adds a number. What is shared becomes a copy first.
    pub(crate) fn push(&mut self, value: T) {
        self.own().push(value);
    }

    /// Adds several.
    pub(crate) fn extend_from_slice(&mut self, values: &[T]) {
        self.own().extend_from_slice(values);
    }

    /// The same numbers as Arrow keeps them, without a copy. From now on they are shared.
    pub(crate) fn share(&mut self) -> ScalarBuffer<T> {
        let shared = match std::mem::replace(self, Self::Own(Vec::new())) {
            Self::Own(own) => ScalarBuffer::from(own),
            Self::Shared(shared) => shared,
        };
        *self = Self::Shared(shared.clone());
        shared
    }

    fn own(&mut self) -> &mut Vec<T> {
        if let Self::Shared(shared) = self {
            *self = Self::Own(shared.to_vec());
        }
        match self {
            Self::Own(own) => own,
            Self::Shared(_) => unreachable!("it was made a copy above"),
        }
    }
}

impl<T: ArrowNativeType> Deref for MemoryValues<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::Own(own) => own,
            Self::Shared(shared) => shared,
        }
    }
}

impl StoredNumbers {
    /// The numbers at these places. Nothing if some of them are beyond the end. If they cannot be read, they are 0, and the index
    /// has failed.
    pub(crate) fn range<T: IndexNumber>(&self, places: Range<usize>) -> Option<Vec<T>> {
        if places.start > places.end || places.end > self.len {
            return None;
        }
        let size = size_of::<T>() as u64;
        let mut bytes = vec![0; places.len() * size_of::<T>()];
        self.blocks.read_or_fail(self.start.saturating_add((places.start as u64).saturating_mul(size)), &mut bytes);
        Some(T::of_bytes(&bytes))
    }
}

macro_rules! index_numbers {
    ($($number:ty),*) => {
        $(impl IndexNumber for $number {
            fn of_bytes(bytes: &[u8]) -> Vec<Self> {
                let (numbers, _) = bytes.as_chunks();
                numbers.iter().map(|number| Self::from_le_bytes(*number)).collect()
            }
        })*
    };
}

index_numbers!(u8, u32, u64, i64);

impl<T: IndexNumber> Default for Values<T> {
    fn default() -> Self {
        Self::from(Vec::new())
    }
}

impl<T: ArrowNativeType> Default for MemoryValues<T> {
    fn default() -> Self {
        Self::Own(Vec::new())
    }
}

impl<T: IndexNumber> From<Vec<T>> for Values<T> {
    fn from(own: Vec<T>) -> Self {
        Self::Memory(own.into())
    }
}

impl<T: ArrowNativeType> From<Vec<T>> for MemoryValues<T> {
    fn from(own: Vec<T>) -> Self {
        Self::Own(own)
    }
}

impl<T: IndexNumber> From<StoredNumbers> for Values<T> {
    fn from(stored: StoredNumbers) -> Self {
        Self::Stored(stored)
    }
}

impl<T: IndexNumber> FromIterator<T> for Values<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self::from(values.into_iter().collect::<Vec<T>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sharing_copies_nothing_and_a_change_of_shared_numbers_changes_no_other() {
        let mut values = MemoryValues::from(vec![0_u64, 1, 2, 3, 4]);
        let first = values.as_ptr();
        let shared = values.share();
        assert_eq!((values.as_ptr(), shared.as_ptr()), (first, first));
        values.push(5);
        assert_eq!((&*values, &*shared), (&[0, 1, 2, 3, 4, 5][..], &[0, 1, 2, 3, 4][..]));
    }
}
