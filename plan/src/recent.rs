//! A cache of the values that were used last. Making one takes long enough to be worth the memory.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;

/// Up to a fixed number of values.
#[derive(Debug)]
pub(crate) struct Recent<V> {
    most: usize,
    /// The one that was used last is the first.
    values: Mutex<VecDeque<Arc<V>>>,
}

impl<V> Recent<V> {
    pub(crate) const fn new(most: usize) -> Self {
        Self { most, values: Mutex::new(VecDeque::new()) }
    }

    /// The value for which `is_meant` is true. If none is kept, it is made, and the least recently used one is dropped.
    pub(crate) fn get(&self, is_meant: impl Fn(&V) -> bool, make: impl FnOnce() -> V) -> Arc<V> {
        let mut values = self.values.lock();
        let kept = values.iter().position(|value| is_meant(value)).and_then(|place| values.remove(place));
        let value = kept.unwrap_or_else(|| Arc::new(make()));
        values.push_front(Arc::clone(&value));
        values.truncate(self.most);
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_that_was_not_used_for_longest_is_made_again() {
        let (recent, mut made) = (Recent::new(2), Vec::new());
        for number in [1, 2, 1, 3, 1, 2] {
            let make = || {
                made.push(number);
                number
            };
            assert_eq!(*recent.get(|kept| *kept == number, make), number);
        }
        assert_eq!(made, [1, 2, 3, 2]);
    }
}
