//! Records with the same bytes.

use super::checked::Digest;

/// The records of each content that several have, in order. The largest groups are first.
pub(super) fn twins(mut contents: Vec<(Digest, u64)>) -> Vec<Vec<u64>> {
    contents.sort_unstable();
    let groups = contents.chunk_by(|(one, _), (other, _)| one == other).filter(|group| group.len() > 1);
    let mut twins: Vec<Vec<u64>> = groups.map(|group| group.iter().map(|(_, record)| *record).collect()).collect();
    twins.sort_unstable_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
    twins
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn two_records_are_in_a_group_if_and_only_if_they_have_the_same_content(
            contents in prop::collection::vec(0..12_u8, 0..40)
        ) {
            let of = |(record, content): (usize, &u8)| ([*content; 16], record as u64);
            let found = twins(contents.iter().enumerate().rev().map(of).collect());
            let mut by_content: BTreeMap<u8, Vec<u64>> = BTreeMap::new();
            for (record, content) in contents.iter().enumerate() {
                by_content.entry(*content).or_default().push(record as u64);
            }
            let mut expected: Vec<Vec<u64>> = by_content.into_values().filter(|records| records.len() > 1).collect();
            prop_assert!(found.is_sorted_by_key(|group| std::cmp::Reverse(group.len())));
            let mut sorted = found;
            sorted.sort();
            expected.sort();
            prop_assert_eq!(sorted, expected);
        }
    }
}
