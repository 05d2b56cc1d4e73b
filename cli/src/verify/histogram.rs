//! How numbers are spread: the smallest, the median, the largest, and how many are in which range.

use serde::Serialize;

/// How the numbers of all records are spread.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Spread {
    pub min: u64,
    /// The lower one of two.
    pub median: u64,
    pub max: u64,
    /// Ranges without a gap, rising.
    #[serde(rename = "histogram")]
    pub ranges: Vec<Range>,
}

/// How many numbers are at least `from` and below `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Range {
    pub from: u64,
    pub to: u64,
    #[serde(rename = "records")]
    pub count: u64,
}

/// Most ranges of a histogram.
const MOST: usize = 32;

impl Spread {
    /// Of these numbers. `None` without numbers.
    pub(crate) fn of(mut numbers: Vec<u64>) -> Option<Self> {
        numbers.sort_unstable();
        let (min, max) = (*numbers.first()?, *numbers.last()?);
        let median = numbers[(numbers.len() - 1) / 2];
        let edges = edges(min, max);
        let below = |edge: u64| numbers.partition_point(|number| *number < edge) as u64;
        let range = |pair: &[u64]| Range { from: pair[0], to: pair[1], count: below(pair[1]) - below(pair[0]) };
        // Nothing is above the last edge, but the largest number may be on it.
        let mut ranges: Vec<Range> = edges.windows(2).map(range).collect();
        if let Some(last) = ranges.last_mut() {
            last.count = numbers.len() as u64 - below(last.from);
        }
        Some(Self { min, median, max, ranges })
    }

    /// The largest count of a range.
    pub(super) fn highest(&self) -> u64 {
        self.ranges.iter().map(|range| range.count).max().unwrap_or(0)
    }
}

/// Edges of at most [`MOST`] ranges around all numbers from `min` to `max`. They are 2, 4 or 8 to a doubling, or 1 if the
/// numbers are far apart.
fn edges(min: u64, max: u64) -> Vec<u64> {
    let of = |parts: u32| {
        let octaves = (min.max(1).ilog2()..=max.max(1).ilog2() + 1).flat_map(|octave| steps(octave, parts));
        let mut edges: Vec<u64> = if min == 0 { vec![0] } else { Vec::new() };
        edges.extend(octaves);
        edges.dedup();
        // One edge at or below the smallest number, one above the largest.
        let last = edges.partition_point(|edge| *edge <= max).min(edges.len() - 1);
        let first = edges.partition_point(|edge| *edge <= min).min(last).saturating_sub(1);
        edges[first..=last].to_vec()
    };
    [8, 4, 2].into_iter().map(of).find(|edges| edges.len() <= MOST + 1).unwrap_or_else(|| {
        let mut edges = of(1);
        // 64 doublings are the most that there are.
        while edges.len() > MOST + 1 {
            let last = edges.last().copied();
            edges = edges.into_iter().step_by(2).collect();
            edges.extend(last.filter(|last| edges.last() != Some(last)));
        }
        edges
    })
}

/// The edges from 2^octave on, before the next power.
fn steps(octave: u32, parts: u32) -> impl Iterator<Item = u64> {
    let start = 1_u128 << octave;
    // Equal steps within a doubling: edges such as 256, 320, 384, 448 are easier to read than roots of 2.
    (0..parts).map(move |part| u64::try_from(start + start * u128::from(part) / u128::from(parts)).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_number_is_in_exactly_one_range(
            numbers in prop::collection::vec(prop_oneof![0..100_u64, 200..5000_u64, any::<u64>()], 1..200)
        ) {
            let spread = Spread::of(numbers.clone()).unwrap();
            prop_assert!(!spread.ranges.is_empty() && spread.ranges.len() <= MOST, "{:?}", spread.ranges);
            for pair in spread.ranges.windows(2) {
                prop_assert_eq!(pair[0].to, pair[1].from);
            }
            let last = spread.ranges.len() - 1;
            for (place, range) in spread.ranges.iter().enumerate() {
                prop_assert!(range.from < range.to);
                let inside = |number: &&u64| range.from <= **number && (**number < range.to || place == last);
                prop_assert_eq!(range.count, numbers.iter().filter(inside).count() as u64);
            }
            prop_assert_eq!(spread.ranges.iter().map(|range| range.count).sum::<u64>(), numbers.len() as u64);
            let below = numbers.iter().filter(|number| **number < spread.median).count();
            let above = numbers.iter().filter(|number| **number > spread.median).count();
            prop_assert!(below <= numbers.len() / 2 && above <= numbers.len() / 2);
            prop_assert!(numbers.contains(&spread.min) && numbers.contains(&spread.max));
        }
    }

    #[test]
    fn no_numbers_have_no_spread_and_equal_ones_one_range() {
        assert_eq!(Spread::of(Vec::new()), None);
        let spread = Spread::of(vec![500; 7]).unwrap();
        assert_eq!((spread.min, spread.median, spread.max), (500, 500, 500));
        assert_eq!(spread.ranges, [Range { from: 480, to: 512, count: 7 }]);
    }
}
