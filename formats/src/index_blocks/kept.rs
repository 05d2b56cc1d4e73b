//! The blocks that were read last. A block that was used since the last round stays for another round.

use std::collections::HashMap;
use std::sync::Arc;

/// The number of an index, and that of its block.
type BlockKey = (u64, u64);

/// At most so many blocks.
#[derive(Debug)]
pub(super) struct KeptBlocks {
    most: usize,
    places: HashMap<BlockKey, usize>,
    blocks: Vec<KeptBlock>,
    /// The place that is looked at next for a new block.
    next: usize,
}

#[derive(Debug)]
struct KeptBlock {
    key: BlockKey,
    bytes: Arc<[u8]>,
    is_used: bool,
}

impl KeptBlocks {
    pub(super) fn new(most: usize) -> Self {
        Self { most, places: HashMap::new(), blocks: Vec::new(), next: 0 }
    }

    pub(super) fn get(&mut self, key: BlockKey) -> Option<Arc<[u8]>> {
        let block = &mut self.blocks[*self.places.get(&key)?];
        block.is_used = true;
        Some(Arc::clone(&block.bytes))
    }

    /// Keeps a block, in the place of another one if there are as many as may be kept.
    pub(super) fn put(&mut self, key: BlockKey, bytes: Arc<[u8]>) {
        if self.places.contains_key(&key) {
            // Two threads have read it.
            return;
        }
        let new = KeptBlock { key, bytes, is_used: false };
        if self.blocks.len() < self.most {
            self.places.insert(key, self.blocks.len());
            self.blocks.push(new);
            return;
        }
        // After a whole round, no block counts as used.
        while std::mem::take(&mut self.blocks[self.next].is_used) {
            self.next = (self.next + 1) % self.most;
        }
        self.places.remove(&self.blocks[self.next].key);
        self.places.insert(key, self.next);
        self.blocks[self.next] = new;
        self.next = (self.next + 1) % self.most;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_is_used_outlives_those_that_are_not_and_there_are_never_more_than_may_be_kept() {
        let mut kept = KeptBlocks::new(3);
        let bytes = |number: u64| Arc::from(number.to_le_bytes().as_slice());
        for number in 0..100 {
            kept.put((1, number), bytes(number));
            assert_eq!(kept.get((1, 0)), Some(bytes(0)), "it is used in each round");
            assert!(kept.places.contains_key(&(1, number)));
            assert_eq!(kept.get((2, number)), None, "that of another index");
            assert!(kept.blocks.len() <= 3 && kept.places.len() == kept.blocks.len());
        }
        kept.put((1, 0), bytes(7));
        assert_eq!(kept.get((1, 0)), Some(bytes(0)), "both are what the file has");
        assert_eq!(kept.get((1, 50)), None);
    }
}
