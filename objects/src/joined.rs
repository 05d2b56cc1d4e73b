//! Joins ranges that are close to each other, so that one request reads them. Pure.

use std::ops::Range;

/// Bytes between two ranges up to which reading them costs less than another request: what arrives in the time until
/// its first byte.
const GAP: u64 = 1 << 20;
/// Bytes of joined ranges, so that no request becomes larger than what a store is good at.
const MOST: u64 = 16 << 20;

/// Ranges in order, of which each one covers some of the given ones, and which of them covers each of the given ones.
pub(crate) fn joined(ranges: &[Range<u64>]) -> (Vec<Range<u64>>, Vec<usize>) {
    let mut order: Vec<usize> = (0..ranges.len()).collect();
    order.sort_unstable_by_key(|&place| (ranges[place].start, ranges[place].end));
    let mut covers: Vec<Range<u64>> = Vec::new();
    let mut covered_by = vec![0; ranges.len()];
    for place in order {
        let range = &ranges[place];
        match covers.last_mut() {
            Some(cover)
                if range.start <= cover.end.saturating_add(GAP)
                    && (range.end <= cover.end || range.end - cover.start <= MOST) =>
            {
                cover.end = cover.end.max(range.end);
            }
            _ => covers.push(range.clone()),
        }
        covered_by[place] = covers.len() - 1;
    }
    (covers, covered_by)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn close_ranges_are_one_and_far_ones_are_not() {
        let far = 10 + GAP + 1;
        let (covers, by) = joined(&[far..far + 5, 0..10, 20..30, 5..7, 2 * far + 40..2 * far + 50]);
        assert_eq!(covers, [0..far + 5, 2 * far + 40..2 * far + 50], "the second range brings the third one close");
        assert_eq!(by, [0, 0, 0, 0, 1]);
        let (covers, by) = joined(&[far..far + 5, 0..10]);
        assert_eq!((covers, by), (vec![0..10, far..far + 5], vec![1, 0]));
        assert_eq!(joined(&[]), (vec![], vec![]));
        let (covers, _) = joined(&[0..MOST, MOST..MOST + 1]);
        assert_eq!(covers.len(), 2);
    }

    proptest! {
        #[test]
        fn each_range_is_covered(starts in prop::collection::vec((0_u64..100 << 20, 0_u64..4 << 20), 0..20)) {
            let ranges: Vec<_> = starts.into_iter().map(|(start, length)| start..start + length).collect();
            let (covers, by) = joined(&ranges);
            prop_assert_eq!(by.len(), ranges.len());
            for (range, cover) in ranges.iter().zip(by) {
                prop_assert!(covers[cover].start <= range.start && range.end <= covers[cover].end);
            }
            prop_assert!(covers.iter().all(|cover| cover.end - cover.start <= MOST));
        }
    }
}
