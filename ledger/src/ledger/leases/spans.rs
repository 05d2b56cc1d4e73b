//! A set of positions as disjoint, rising ranges that do not touch.

use std::ops::Range;

use forebay_proto::v1;

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::ledger) struct Spans(Vec<Range<u64>>);

impl Spans {
    /// The set of one range.
    pub(in crate::ledger) fn of(range: Range<u64>) -> Self {
        Self(if range.is_empty() { Vec::new() } else { vec![range] })
    }

    /// From stored ranges; `None` unless they are what this type keeps to.
    pub(super) fn load(stored: &[v1::Range]) -> Option<Self> {
        Self::try_new(stored.iter().map(|range| range.start..range.end).collect())
    }

    pub(super) fn stored(&self) -> Vec<v1::Range> {
        self.iter().map(|span| v1::Range { start: span.start, end: span.end }).collect()
    }

    fn try_new(ranges: Vec<Range<u64>>) -> Option<Self> {
        let good = ranges.iter().all(|range| !range.is_empty()) && ranges.is_sorted_by(|a, b| a.end < b.start);
        good.then_some(Self(ranges))
    }

    pub(in crate::ledger) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(in crate::ledger) fn iter(&self) -> impl Iterator<Item = Range<u64>> {
        self.0.iter().cloned()
    }

    /// Puts `range` in, of which nothing is in the set.
    pub(in crate::ledger) fn insert(&mut self, range: Range<u64>) {
        let at = self.0.partition_point(|own| own.end < range.start);
        let touched = self.0[at..].iter().take_while(|own| own.start <= range.end).count();
        let near = self.0.splice(at..at + touched, []);
        let whole = near.fold(range, |whole, own| whole.start.min(own.start)..whole.end.max(own.end));
        self.0.insert(at, whole);
    }

    /// Takes out what of `range` is in the set.
    pub(in crate::ledger) fn cut(&mut self, range: &Range<u64>) {
        let parts: Vec<Range<u64>> = self.parts(range).filter_map(|(part, is_in)| is_in.then_some(part)).collect();
        for part in parts {
            self.remove(&part);
        }
    }

    /// The parts of `range`, rising, each with whether it is in the set.
    pub(in crate::ledger) fn parts(&self, range: &Range<u64>) -> impl Iterator<Item = (Range<u64>, bool)> {
        let inside = self.0.iter().map(|own| own.start.max(range.start)..own.end.min(range.end));
        let mut parts = Vec::new();
        let mut start = range.start;
        for part in inside.filter(|part| !part.is_empty()) {
            parts.extend([(start..part.start, false), (part.clone(), true)]);
            start = part.end;
        }
        parts.push((start..range.end, false));
        parts.into_iter().filter(|(part, _)| !part.is_empty())
    }

    /// Takes `range` out; false, and no change, unless all of it is in the set.
    pub(in crate::ledger) fn remove(&mut self, range: &Range<u64>) -> bool {
        let Some(index) = self.0.iter().position(|own| own.start <= range.start && range.end <= own.end) else {
            return false;
        };
        let own = self.0[index].clone();
        let rest = [own.start..range.start, range.end..own.end];
        self.0.splice(index..=index, rest.into_iter().filter(|rest| !rest.is_empty()));
        true
    }
}

/// How many positions are in both.
pub(in crate::ledger) fn overlap(one: &Range<u64>, other: &Range<u64>) -> u64 {
    one.end.min(other.end).saturating_sub(one.start.max(other.start))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn removing_is_what_it_is_for_a_set_of_numbers(cuts in proptest::collection::vec((0u64..40, 1u64..12), 0..30)) {
            let mut spans = Spans::of(0..40);
            let mut model: std::collections::BTreeSet<u64> = (0..40).collect();
            for (start, len) in cuts {
                let range = start..start + len;
                let whole = range.clone().all(|x| model.contains(&x));
                prop_assert_eq!(spans.remove(&range), whole);
                if whole {
                    model.retain(|x| !range.contains(x));
                }
                prop_assert_eq!(spans.iter().flatten().collect::<Vec<_>>(), model.iter().copied().collect::<Vec<_>>());
                prop_assert!(Spans::try_new(spans.0.clone()).is_some());
            }
        }

        #[test]
        fn parts_and_cuts_are_what_they_are_for_a_set_of_numbers(
            kept in proptest::collection::vec((0u64..40, 1u64..6), 0..8), from in 0u64..40, len in 0u64..30,
        ) {
            let (mut spans, mut model) = (Spans::default(), std::collections::BTreeSet::new());
            for (start, len) in kept {
                if (start..start + len).all(|x| !model.contains(&x)) {
                    spans.insert(start..start + len);
                    model.extend(start..start + len);
                }
            }
            let range = from..from + len;
            let flat = spans.parts(&range).flat_map(|(part, is_in)| part.map(move |x| (x, is_in)));
            let expected = range.clone().map(|x| (x, model.contains(&x)));
            prop_assert_eq!(flat.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
            spans.cut(&range);
            model.retain(|x| !range.contains(x));
            prop_assert_eq!(spans.iter().flatten().collect::<Vec<_>>(), model.iter().copied().collect::<Vec<_>>());
            prop_assert!(Spans::try_new(spans.0.clone()).is_some());
        }

        #[test]
        fn inserting_is_what_it_is_for_a_set_of_numbers(parts in proptest::collection::vec((0u64..40, 1u64..12), 0..30)) {
            let mut spans = Spans::default();
            let mut model = std::collections::BTreeSet::new();
            for (start, len) in parts {
                let range = start..start + len;
                if range.clone().all(|x| !model.contains(&x)) {
                    spans.insert(range.clone());
                    model.extend(range);
                }
                prop_assert_eq!(spans.iter().flatten().collect::<Vec<_>>(), model.iter().copied().collect::<Vec<_>>());
                prop_assert!(Spans::try_new(spans.0.clone()).is_some());
            }
        }
    }
}
