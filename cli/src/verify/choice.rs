//! Which records are worth a look: those at the ends of an order, and a random sample.

use std::collections::BTreeSet;

/// The `count` records with the greatest keys, the greatest first; of equal ones, those with the lower numbers.
pub(super) fn greatest<K: Ord>(count: usize, keyed: impl Iterator<Item = (K, u64)>) -> Vec<u64> {
    let mut kept = BTreeSet::new();
    for (key, record) in keyed {
        kept.insert((key, std::cmp::Reverse(record)));
        if kept.len() > count {
            kept.pop_first();
        }
    }
    kept.into_iter().rev().map(|(_, record)| record.0).collect()
}

/// At most `count` of the records, in order: the same ones each time, and each as likely as any other.
pub(super) fn sample(count: usize, records: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut sample = greatest(count, records.map(|record| (mixed(record), record)));
    sample.sort_unstable();
    sample
}

/// splitmix64, from a fixed seed.
fn mixed(record: u64) -> u64 {
    let mut z = record.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_greatest_are_those_that_sorting_would_put_first(keys in prop::collection::vec(0..9_u8, 0..40), count in 0..12_usize) {
            let mut sorted: Vec<(u8, u64)> = keys.iter().copied().zip(0..).collect();
            sorted.sort_by_key(|(key, record)| (std::cmp::Reverse(*key), *record));
            let expected: Vec<u64> = sorted.iter().take(count).map(|(_, record)| *record).collect();
            prop_assert_eq!(greatest(count, keys.into_iter().zip(0..)), expected);
        }
    }

    #[test]
    fn a_sample_is_the_same_each_time_and_not_the_beginning() {
        let taken = sample(8, 0..1000);
        assert_eq!((&taken, taken.len()), (&sample(8, (0..1000).rev()), 8));
        assert!(taken.is_sorted() && taken.iter().any(|record| *record > 500), "{taken:?}");
        assert_eq!(sample(8, 3..6), [3, 4, 5]);
    }
}
