//! The caches of a process. There is one for each dataset and form. All streams that request it share it, and it is
//! dropped with the last of them.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use forebay_ring::Memory;
use forebay_sources::{Locator, Source};
use parking_lot::Mutex;
use thiserror::Error;

use super::{Cache, Keep};
use crate::ByteSize;
use crate::memory::Promises;

/// The cache that a stream requests.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CacheKey {
    /// The dataset's fingerprint: relative paths and sizes, not times.
    fingerprint: [u8; 32],
    /// Where its first record is: another folder with files of the same names and sizes is another dataset here.
    first: Locator,
    keep: Keep,
    budget: u64,
}

/// Why a cache is not available.
#[derive(Debug, Error)]
pub enum CacheError {
    /// Its budget is larger than the memory that is left.
    #[error(
        "the cache: memory = \"{}\" does not fit: {limited_by} leaves {:#}, of which {:#} are \
         reserved for rings and other caches; lower cache.memory, or raise that limit",
        ByteSize(*.budget), ByteSize(*.available), ByteSize(*.promised)
    )]
    TooLarge {
        /// Bytes asked for.
        budget: u64,
        /// Bytes left.
        available: u64,
        /// Bytes of those that rings and other caches may still take.
        promised: u64,
        /// Who sets the bound.
        limited_by: String,
    },
    /// The system does not say how much memory there is.
    #[error("the cache: {0}")]
    System(#[from] std::io::Error),
}

/// The caches that streams of this process have.
#[derive(Debug, Default)]
pub struct Caches {
    promises: Arc<Promises>,
    open: Mutex<HashMap<CacheKey, Weak<Cache>>>,
}

impl CacheKey {
    /// The key of this dataset's cache with this form and this budget.
    pub fn new(source: &dyn Source, keep: Keep, budget: ByteSize) -> Self {
        Self { fingerprint: source.fingerprint(), first: source.locator(0), keep, budget: budget.0 }
    }
}

impl Caches {
    /// Makes an empty set of caches. Their budgets count towards `promises`.
    pub fn new(promises: Arc<Promises>) -> Self {
        Self { promises, open: Mutex::default() }
    }

    /// The cache of this key, which is made if no stream has it.
    ///
    /// # Errors
    /// There is less memory than its budget; caches and rings that are not full yet count as if they were.
    pub fn open(&self, key: CacheKey) -> Result<Arc<Cache>, CacheError> {
        self.open_within(key, Memory::now)
    }

    fn open_within(
        &self,
        key: CacheKey,
        memory: impl FnOnce() -> std::io::Result<Memory>,
    ) -> Result<Arc<Cache>, CacheError> {
        let mut caches = self.open.lock();
        if let Some(cache) = caches.get(&key).and_then(Weak::upgrade) {
            return Ok(cache);
        }
        caches.retain(|_, cache| cache.strong_count() > 0);
        let cache = self.promises.promise(|promised| {
            let Memory { available, limited_by } = memory()?;
            let budget = key.budget;
            if budget > available.saturating_sub(promised) {
                return Err(CacheError::TooLarge { budget, available, promised, limited_by });
            }
            Ok(Arc::new(Cache::new(key.keep, budget)))
        })?;
        caches.insert(key, Arc::downgrade(&cache));
        Ok(cache)
    }
}

#[cfg(test)]
mod tests {
    use forebay_pixels::Form;

    use super::*;
    use crate::record::Content;

    fn key(dataset: u8, budget: u64) -> CacheKey {
        CacheKey { fingerprint: [dataset; 32], first: Locator::file("/data/a.jpg"), keep: Keep::Encoded, budget }
    }

    fn open(caches: &Caches, key: CacheKey) -> Result<Arc<Cache>, CacheError> {
        caches.open_within(key, || Ok(Memory { available: 10_000, limited_by: "the test".into() }))
    }

    #[test]
    fn streams_of_a_dataset_share_one_cache_and_it_goes_with_the_last() {
        let caches = Caches::default();
        let first = open(&caches, key(1, 4000)).unwrap();
        first.offer(7, b"seven");
        let second = open(&caches, key(1, 4000)).unwrap();
        assert!(Arc::ptr_eq(&first, &second));
        let holds = |cache: &Cache, record| cache.find(record).is_some();
        let elsewhere = CacheKey { first: Locator::file("/data/copy/a.jpg"), ..key(1, 4000) };
        let decoded = CacheKey { keep: Keep::Decoded(Form::default()), ..key(1, 1000) };
        for other in [elsewhere, decoded] {
            assert!(!holds(&open(&caches, other).unwrap(), 7));
        }
        drop(first);
        assert!(holds(&second, 7));
        drop(second);
        assert!(!holds(&open(&caches, key(1, 4000)).unwrap(), 7), "a new one");
    }

    #[test]
    fn rule_31_a_budget_is_compared_with_what_is_left_and_what_other_caches_may_still_take() {
        let caches = Caches::default();
        let refused = open(&caches, key(1, 10_001)).unwrap_err().to_string();
        assert!(refused.contains("10001b") && refused.contains("the test leaves 9.77 KiB"), "{refused}");
        let first = open(&caches, key(1, 6000)).unwrap();
        first.offer(0, &[0; 1000]);
        let used = first.figures().bytes;
        assert!(used > 1000);
        let refused = open(&caches, key(2, 4001 + used)).unwrap_err();
        assert!(matches!(refused, CacheError::TooLarge { promised, .. } if promised == 6000 - used), "{refused}");
        let second = open(&caches, key(2, 4000 + used)).unwrap();
        drop(first);
        assert!(open(&caches, key(3, 6001 - used)).is_err(), "the second may still take all of its budget");
        open(&caches, key(3, 6000 - used)).unwrap();
        drop(second);
        open(&caches, key(3, 10_000)).unwrap();
    }

    #[test]
    fn what_is_found_and_what_is_not_is_counted() {
        let cache = Cache::new(Keep::Encoded, 3000);
        assert!(cache.find(1).is_none());
        cache.offer(1, b"one");
        cache.offer(2, &[0; 3000]);
        let Some(Content::File(bytes)) = cache.find(1) else { panic!("it is there") };
        assert_eq!(*bytes, *b"one");
        let figures = cache.figures();
        assert_eq!((figures.hits, figures.misses, figures.records, figures.budget), (1, 2, 1, 3000));
        assert!(figures.bytes > 3 && cache.find(2).is_none(), "no room");
        let room = cache.room(3, 10).unwrap();
        room.keep(Content::File(vec![0; 11].into()));
        assert!(cache.find(3).is_none(), "it is larger than was asked for");
    }
}
