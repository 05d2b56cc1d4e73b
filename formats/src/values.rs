//! A list of numbers that is this process's own, or a part of an index that is mapped. Millions of records keep their numbers
//! in such lists, so that opening an index copies none of them.

use std::ops::Deref;

use arrow_buffer::{ArrowNativeType, ScalarBuffer};

/// Numbers in memory, or in a mapped file.
#[derive(Clone, Debug)]
pub(crate) enum Values<T: ArrowNativeType> {
    Own(Vec<T>),
    Shared(ScalarBuffer<T>),
}

impl<T: ArrowNativeType> Values<T> {
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

impl<T: ArrowNativeType> Default for Values<T> {
    fn default() -> Self {
        Self::Own(Vec::new())
    }
}

impl<T: ArrowNativeType> Deref for Values<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::Own(own) => own,
            Self::Shared(shared) => shared,
        }
    }
}

impl<T: ArrowNativeType> From<Vec<T>> for Values<T> {
    fn from(own: Vec<T>) -> Self {
        Self::Own(own)
    }
}

impl<T: ArrowNativeType> From<ScalarBuffer<T>> for Values<T> {
    fn from(shared: ScalarBuffer<T>) -> Self {
        Self::Shared(shared)
    }
}

impl<T: ArrowNativeType> FromIterator<T> for Values<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self::Own(values.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sharing_copies_nothing_and_a_change_of_shared_numbers_changes_no_other() {
        let mut values: Values<u64> = (0..5).collect();
        let first = values.as_ptr();
        let shared = values.share();
        assert_eq!((values.as_ptr(), shared.as_ptr()), (first, first));
        values.push(5);
        assert_eq!((&*values, &*shared), (&[0, 1, 2, 3, 4, 5][..], &[0, 1, 2, 3, 4][..]));
    }
}
