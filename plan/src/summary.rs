//! Datasets in short: where the list of records of one node differs from that of another (semantics rule 41).

use std::ops::Range;

use forebay_proto::v1::DatasetSummary;

/// Most blocks of a summary.
const BLOCKS: u64 = 1024;

/// Records of a block, in the summary of a dataset with `records` records. A power of two, so that lists of different
/// lengths have the same blocks, or a block of one list is several blocks of the other.
///
/// ```
/// assert_eq!(forebay_plan::summary_block(1024), 1);
/// assert_eq!(forebay_plan::summary_block(1_281_167), 2048);
/// ```
pub const fn summary_block(records: u64) -> u64 {
    records.div_ceil(BLOCKS).next_power_of_two()
}

/// Whether this may be the summary of `records` records.
pub fn is_of(summary: &DatasetSummary, records: u64) -> bool {
    summary.block == summary_block(records) && summary.sums.len() as u64 == records.div_ceil(summary.block)
}

/// The first records that differ, as far as the blocks show. Each summary comes with the number of its records, and must be
/// the summary of that many. `None` if all blocks are equal.
pub fn first_difference(one: (u64, &DatasetSummary), other: (u64, &DatasetSummary)) -> Option<Range<u64>> {
    let block = one.1.block.max(other.1.block);
    let (a, b) = (merged(one.1, block), merged(other.1, block));
    let differs = (0..a.len().max(b.len())).find(|&at| a.get(at) != b.get(at))? as u64;
    let start = differs.saturating_mul(block);
    Some(start..start.saturating_add(block).min(one.0.max(other.0)))
}

/// The sums of larger blocks.
fn merged(summary: &DatasetSummary, block: u64) -> Vec<u64> {
    let together = usize::try_from(block / summary.block).unwrap_or(usize::MAX).max(1);
    let sum = |sums: &[u64]| sums.iter().fold(0_u64, |sum, of_block| sum.wrapping_add(*of_block));
    summary.sums.chunks(together).map(sum).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Of a list whose records have these hashes.
    fn summary(hashes: &[u64]) -> DatasetSummary {
        let block = summary_block(hashes.len() as u64);
        let sum = |hashes: &[u64]| hashes.iter().fold(0_u64, |sum, hash| sum.wrapping_add(*hash));
        let sums = hashes.chunks(usize::try_from(block).unwrap()).map(sum).collect();
        DatasetSummary { bytes: 0, block, sums }
    }

    #[test]
    fn rule_41_an_summary_has_at_most_1024_blocks() {
        for (records, block) in [(1, 1), (1024, 1), (1025, 2), (2048, 2), (2049, 4), (1 << 56, 1 << 46)] {
            assert_eq!(summary_block(records), block, "{records}");
            assert!(records.div_ceil(block) <= BLOCKS);
        }
        let five = summary(&[1, 2, 3, 4, 5]);
        assert!(is_of(&five, 5) && !is_of(&five, 6) && !is_of(&five, 1_000_000));
        assert!(!is_of(&DatasetSummary { block: 0, ..five }, 5));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn rule_41_the_first_difference_is_found_also_between_lists_of_different_lengths(
            len in 1_usize..6000,
            other_len in 1_usize..6000,
            at in 0_usize..6000,
        ) {
            // All hashes differ, so that no two sums are equal by chance.
            let one: Vec<u64> = (0..len as u64).map(|record| record.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1).collect();
            let mut other: Vec<u64> = one.iter().copied().chain(7..).take(other_len).collect();
            if let Some(hash) = other.get_mut(at) {
                *hash ^= 0x10;
            }
            let naive = (0..len.max(other_len)).find(|&record| one.get(record) != other.get(record));
            let (a, b) = (summary(&one), summary(&other));
            let found = first_difference((len as u64, &a), (other_len as u64, &b));
            prop_assert_eq!(found.is_some(), naive.is_some());
            if let (Some(found), Some(naive)) = (found.clone(), naive) {
                let block = summary_block(len.max(other_len) as u64);
                prop_assert!(found.contains(&(naive as u64)) && found.end - found.start <= block, "{:?} {}", found, naive);
            }
            prop_assert_eq!(first_difference((other_len as u64, &b), (len as u64, &a)), found);
        }
    }
}
