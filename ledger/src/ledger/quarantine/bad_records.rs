//! The records that were ever in quarantine, however many they are: `max_failures` counts them (semantics rule 7). The list of
//! the quarantine is bounded. What is beyond it is stored as bits, in a document for each block of records.

use std::collections::{BTreeMap, BTreeSet};

use forebay_proto::v1::StoredBadBlock;

/// Records of a block.
const BLOCK: u64 = 4096;
const BYTES: usize = 512;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct BadRecords {
    /// A bit for each record of a block that has some.
    blocks: BTreeMap<u64, Box<[u8; BYTES]>>,
    count: u64,
    /// Blocks with records that are not in the list of the quarantine.
    unlisted: BTreeSet<u64>,
}

impl BadRecords {
    /// How many they are.
    pub(super) const fn len(&self) -> u64 {
        self.count
    }

    /// Takes a record that the list has.
    pub(super) fn list(&mut self, record: u64) {
        self.set(record);
    }

    /// Takes a record that the list has no room for. Gives its block, unless it was known.
    pub(super) fn add(&mut self, record: u64) -> Option<u64> {
        let block = record / BLOCK;
        self.set(record).then(|| {
            self.unlisted.insert(block);
            block
        })
    }

    fn set(&mut self, record: u64) -> bool {
        let bits = self.blocks.entry(record / BLOCK).or_insert_with(|| Box::new([0; BYTES]));
        let place = usize::try_from(record % BLOCK).expect("a place in a block");
        let (byte, bit) = (&mut bits[place / 8], 1 << (place % 8));
        let is_new = *byte & bit == 0;
        *byte |= bit;
        self.count += u64::from(is_new);
        is_new
    }

    /// The blocks that are documents.
    pub(super) fn unlisted(&self) -> impl Iterator<Item = u64> {
        self.unlisted.iter().copied()
    }

    /// The document of a block, if it has one.
    pub(super) fn stored(&self, block: u64) -> Option<StoredBadBlock> {
        let bits = self.blocks.get(&block).filter(|_| self.unlisted.contains(&block))?;
        Some(StoredBadBlock { block, bits: bits.to_vec() })
    }

    /// Takes a document. False for one that is none.
    pub(super) fn load(&mut self, StoredBadBlock { block, bits }: &StoredBadBlock) -> bool {
        let Some(first) = block.checked_mul(BLOCK).filter(|_| bits.len() == BYTES) else { return false };
        let set = (0..BLOCK).zip(bits.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1)));
        for (place, _) in set.filter(|(_, is_set)| *is_set) {
            self.set(first.saturating_add(place));
        }
        self.unlisted.insert(*block);
        true
    }
}

impl FromIterator<u64> for BadRecords {
    /// Records that the list has.
    fn from_iter<I: IntoIterator<Item = u64>>(records: I) -> Self {
        let mut bad = Self::default();
        records.into_iter().for_each(|record| bad.list(record));
        bad
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rule_7_distinct_records_are_counted_over_the_list_its_rest_and_the_documents(
            listed in proptest::collection::vec(0_u64..20_000, 0..40),
            rest in proptest::collection::vec(0_u64..20_000, 0..40),
        ) {
            let mut bad: BadRecords = listed.iter().copied().collect();
            let blocks: BTreeSet<u64> = rest.iter().filter_map(|record| bad.add(*record)).collect();
            let distinct: BTreeSet<u64> = listed.iter().chain(&rest).copied().collect();
            prop_assert_eq!(bad.len(), distinct.len() as u64);
            prop_assert_eq!(bad.unlisted().collect::<BTreeSet<_>>(), blocks);
            let mut again: BadRecords = listed.iter().copied().collect();
            for block in bad.unlisted() {
                prop_assert!(again.load(&bad.stored(block).unwrap()));
            }
            prop_assert_eq!(again.len(), bad.len());
            prop_assert!(rest.iter().all(|record| again.add(*record).is_none()));
        }
    }

    #[test]
    fn a_document_that_is_none_is_refused() {
        let mut bad = BadRecords::default();
        for block in
            [StoredBadBlock { block: 0, bits: vec![1; 511] }, StoredBadBlock { block: u64::MAX, bits: vec![1; BYTES] }]
        {
            assert!(!bad.load(&block));
        }
        assert_eq!(bad.len(), 0);
    }
}
