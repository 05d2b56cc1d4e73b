//! Keeps the latest grains that were read and decoded, so that the records of one grain cost one read.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use forebay_sources::ReadError;
use parking_lot::Mutex;

/// The records of a grain, decoded.
#[derive(Debug, Default)]
pub(crate) struct Grain {
    /// The bytes of all its records, one after the other.
    pub bytes: Vec<u8>,
    /// Where each record ends.
    pub ends: Vec<usize>,
}

/// Some grains of a dataset, the latest ones.
///
/// Threads that need the same grain wait for the one that reads it. That lock belongs to the grain alone, and it is the only
/// one here that is held across a read.
#[derive(Debug)]
pub(crate) struct GrainCache {
    /// The most bytes of grains that are kept, except for the latest one, which is kept in any case.
    budget: usize,
    kept: Mutex<VecDeque<Kept>>,
}

#[derive(Debug)]
struct Kept {
    number: u64,
    slot: Arc<GrainSlot>,
}

/// A grain, once one thread has read it.
#[derive(Debug, Default)]
struct GrainSlot {
    grain: Mutex<Option<Arc<Grain>>>,
    /// Its bytes, as far as they are known.
    len: AtomicUsize,
}

impl Grain {
    /// A record of the grain, counted from the grain's first.
    pub(crate) fn record(&self, index: usize) -> Option<&[u8]> {
        let start = if index == 0 { 0 } else { *self.ends.get(index - 1)? };
        self.bytes.get(start..*self.ends.get(index)?)
    }
}

impl GrainCache {
    /// An empty cache.
    pub(crate) fn new(budget: usize) -> Self {
        Self { budget, kept: Mutex::new(VecDeque::new()) }
    }

    /// The grain with this number. `read` makes it if it is not kept.
    ///
    /// # Errors
    /// Those of `read`. Nothing is kept then.
    pub(crate) fn get(
        &self,
        number: u64,
        read: impl FnOnce() -> Result<Grain, ReadError>,
    ) -> Result<Arc<Grain>, ReadError> {
        let slot = self.slot(number);
        let mut held = slot.grain.lock();
        if let Some(grain) = &*held {
            return Ok(Arc::clone(grain));
        }
        match read() {
            Ok(grain) => {
                slot.len.store(grain.bytes.len(), Ordering::Relaxed);
                let grain = Arc::new(grain);
                *held = Some(Arc::clone(&grain));
                drop(held);
                self.shrink();
                Ok(grain)
            }
            Err(error) => {
                self.kept.lock().retain(|kept| !Arc::ptr_eq(&kept.slot, &slot));
                Err(error)
            }
        }
    }

    /// The grain's slot, now the latest.
    fn slot(&self, number: u64) -> Arc<GrainSlot> {
        let mut kept = self.kept.lock();
        let found = kept.iter().position(|kept| kept.number == number).and_then(|place| kept.remove(place));
        let latest = found.unwrap_or_else(|| Kept { number, slot: Arc::default() });
        let slot = Arc::clone(&latest.slot);
        kept.push_front(latest);
        slot
    }

    fn shrink(&self) {
        let mut kept = self.kept.lock();
        let bytes =
            |kept: &VecDeque<Kept>| kept.iter().map(|kept| kept.slot.len.load(Ordering::Relaxed)).sum::<usize>();
        while kept.len() > 1 && bytes(&kept) > self.budget {
            kept.pop_back();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use forebay_sources::Locator;

    use super::*;

    fn grain(len: usize) -> Grain {
        Grain { bytes: vec![7; len], ends: vec![1, len] }
    }

    #[test]
    fn a_grain_is_read_once_while_it_is_kept_and_the_oldest_goes_first() {
        let cache = GrainCache::new(10);
        let reads = Cell::new(0);
        let get = |number| {
            cache.get(number, || {
                reads.set(reads.get() + 1);
                Ok(grain(4))
            })
        };
        for number in [0, 1, 0, 1, 2] {
            assert_eq!(get(number).unwrap().record(1), Some(&[7; 3][..]));
        }
        assert_eq!(reads.get(), 3, "0, 1 and 2 once each");
        get(1).unwrap();
        assert_eq!(reads.get(), 3, "1 is younger than 0");
        get(0).unwrap();
        assert_eq!(reads.get(), 4, "0 went when 2 came");
    }

    #[test]
    fn a_grain_larger_than_the_budget_is_kept_until_the_next_one_comes() {
        let cache = GrainCache::new(10);
        cache.get(0, || Ok(grain(100))).unwrap();
        cache.get(0, || panic!("it is kept")).unwrap();
        cache.get(1, || Ok(grain(1))).unwrap();
        assert_eq!(cache.kept.lock().len(), 1);
    }

    #[test]
    fn a_grain_that_cannot_be_read_is_tried_again() {
        let cache = GrainCache::new(10);
        let fault = || ReadError::damaged(Locator::file("x"), "a test");
        assert_eq!(cache.get(0, || Err(fault())).unwrap_err(), fault());
        assert_eq!(cache.kept.lock().len(), 0);
        cache.get(0, || Ok(grain(3))).unwrap();
    }

    #[test]
    fn a_record_beyond_the_grain_is_none() {
        let grain = grain(3);
        assert_eq!((grain.record(0), grain.record(2)), (Some(&[7][..]), None));
        assert_eq!(Grain { bytes: Vec::new(), ends: vec![5] }.record(0), None);
    }
}
