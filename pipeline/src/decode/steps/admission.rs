//! Which pictures of a stream are on their way to functions and back. The others wait, and are not decoded yet.

use std::collections::VecDeque;

/// Those under way are counted. Those that wait are kept, in their order.
#[derive(Debug)]
pub(super) struct StepAdmission<T> {
    /// Most pictures under way.
    most: usize,
    /// Most bytes of those that have sizes of their own. A larger picture is under way alone.
    most_bytes: u64,
    under_way: usize,
    bytes: u64,
    waiting: VecDeque<(T, u64)>,
}

impl<T> StepAdmission<T> {
    /// With at least one picture under way.
    pub(super) fn new(most: usize, most_bytes: u64) -> Self {
        Self { most, most_bytes, under_way: 0, bytes: 0, waiting: VecDeque::new() }
    }

    /// Gives the picture back if it may be decoded now. Otherwise it waits. It has so many bytes.
    pub(super) fn enter(&mut self, picture: T, bytes: u64) -> Option<T> {
        if self.waiting.is_empty() && self.has_room(bytes) {
            self.count(bytes);
            return Some(picture);
        }
        self.waiting.push_back((picture, bytes));
        None
    }

    /// A picture of so many bytes has left. Gives those that may be decoded now, with their bytes.
    pub(super) fn leave(&mut self, bytes: u64) -> Vec<(T, u64)> {
        self.under_way -= 1;
        self.bytes -= bytes;
        let mut next = Vec::new();
        while let Some((picture, bytes)) = self.waiting.pop_front() {
            if !self.has_room(bytes) {
                self.waiting.push_front((picture, bytes));
                break;
            }
            self.count(bytes);
            next.push((picture, bytes));
        }
        next
    }

    fn has_room(&self, bytes: u64) -> bool {
        let fits = self.bytes.saturating_add(bytes) <= self.most_bytes;
        self.under_way < self.most && (fits || self.under_way == 0)
    }

    fn count(&mut self, bytes: u64) {
        self.under_way += 1;
        self.bytes += bytes;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pictures_are_decoded_in_their_order_within_both_bounds_and_none_waits_for_nothing(
            (most, most_bytes) in (1_usize..6, 0_u64..100),
            sizes in prop::collection::vec(prop_oneof![Just(0), 0_u64..40, 90_u64..300], 1..60),
            leaves in prop::collection::vec(any::<prop::sample::Index>(), 60),
        ) {
            let mut admission = StepAdmission::new(most, most_bytes);
            let (mut under_way, mut begun): (Vec<(usize, u64)>, Vec<usize>) = (Vec::new(), Vec::new());
            let mut leaves = leaves.into_iter();
            let mut sizes_left = sizes.iter().copied().enumerate();
            let mut entered = 0;
            loop {
                let entering = sizes_left.next();
                if let Some((number, bytes)) = entering {
                    entered += 1;
                    if let Some(number) = admission.enter(number, bytes) {
                        under_way.push((number, bytes));
                        begun.push(number);
                    }
                }
                let bytes: u64 = under_way.iter().map(|(_, bytes)| bytes).sum();
                prop_assert!(under_way.len() <= most);
                prop_assert!(bytes <= most_bytes || under_way.iter().filter(|(_, bytes)| *bytes > 0).count() == 1);
                // If one waits, there is one whose end lets it in.
                prop_assert!(!under_way.is_empty() || begun.len() == entered);
                if entering.is_none() || entered % 3 == 0 {
                    if under_way.is_empty() {
                        break;
                    }
                    let place = leaves.next().map_or(0, |index| index.index(under_way.len()));
                    let (_, bytes) = under_way.swap_remove(place);
                    for (number, bytes) in admission.leave(bytes) {
                        under_way.push((number, bytes));
                        begun.push(number);
                    }
                }
            }
            prop_assert_eq!(begun, (0..entered).collect::<Vec<_>>());
        }
    }
}
