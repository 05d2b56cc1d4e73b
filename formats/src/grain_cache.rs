//! Keeps the latest grains that were read and decoded, so that the records of one grain cost one read.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

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
    /// The most memory of grains that are kept, except for the latest one, which is kept in any case.
    budget: usize,
    kept: Mutex<KeptGrains>,
}

#[derive(Debug, Default)]
struct KeptGrains {
    /// By the grain's number.
    grains: HashMap<u64, Kept>,
    /// The number of each grain, by the turn in which it was used last.
    order: BTreeMap<u64, u64>,
    /// The latest turn.
    turn: u64,
    /// What all of them take.
    len: usize,
}

#[derive(Debug)]
struct Kept {
    turn: u64,
    /// What the grain takes; 0 until it has been read.
    len: usize,
    slot: Arc<GrainSlot>,
}

/// A grain, once one thread has read it.
type GrainSlot = Mutex<Option<Arc<Grain>>>;

impl Grain {
    /// A record of the grain, counted from the grain's first.
    pub(crate) fn record(&self, index: usize) -> Option<&[u8]> {
        let start = if index == 0 { 0 } else { *self.ends.get(index - 1)? };
        self.bytes.get(start..*self.ends.get(index)?)
    }

    /// The memory that it takes, with what is kept about it.
    fn len(&self) -> usize {
        self.bytes.len() + 8 * self.ends.len() + 64
    }
}

impl GrainCache {
    /// An empty cache.
    pub(crate) fn new(budget: usize) -> Self {
        Self { budget, kept: Mutex::default() }
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
        let slot = self.kept.lock().slot(number);
        let mut held = slot.lock();
        if let Some(grain) = &*held {
            return Ok(Arc::clone(grain));
        }
        match read() {
            Ok(grain) => {
                let len = grain.len();
                let grain = Arc::new(grain);
                *held = Some(Arc::clone(&grain));
                drop(held);
                // What is dropped is freed once the lock is free.
                let dropped = self.kept.lock().fill(number, &slot, len, self.budget);
                drop(dropped);
                Ok(grain)
            }
            Err(error) => {
                self.kept.lock().forget(number, &slot);
                Err(error)
            }
        }
    }
}

impl KeptGrains {
    /// The grain's slot, now the latest.
    fn slot(&mut self, number: u64) -> Arc<GrainSlot> {
        self.turn += 1;
        let kept = self.grains.entry(number).or_insert_with(|| Kept { turn: 0, len: 0, slot: Arc::default() });
        self.order.remove(&kept.turn);
        self.order.insert(self.turn, number);
        kept.turn = self.turn;
        Arc::clone(&kept.slot)
    }

    /// Counts a grain that has been read, and takes out the oldest ones that are too much.
    fn fill(&mut self, number: u64, slot: &Arc<GrainSlot>, len: usize, budget: usize) -> Vec<Kept> {
        if let Some(kept) = self.grains.get_mut(&number).filter(|kept| Arc::ptr_eq(&kept.slot, slot)) {
            kept.len = len;
            self.len += len;
        }
        let mut dropped = Vec::new();
        while self.grains.len() > 1
            && self.len > budget
            && let Some((_, oldest)) = self.order.pop_first()
        {
            dropped.extend(self.grains.remove(&oldest).inspect(|kept| self.len -= kept.len));
        }
        dropped
    }

    /// Takes out a grain that could not be read, unless another thread already reads it anew.
    fn forget(&mut self, number: u64, slot: &Arc<GrainSlot>) {
        if self.grains.get(&number).is_some_and(|kept| Arc::ptr_eq(&kept.slot, slot))
            && let Some(kept) = self.grains.remove(&number)
        {
            self.order.remove(&kept.turn);
            self.len -= kept.len;
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
        let cache = GrainCache::new(2 * grain(4).len());
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
        assert_eq!(cache.kept.lock().grains.len(), 1);
    }

    #[test]
    fn what_the_records_of_a_grain_take_beside_their_bytes_counts_too() {
        let of_empty_records = || Grain { bytes: Vec::new(), ends: vec![0; 100] };
        let cache = GrainCache::new(4000);
        for number in 0..100 {
            cache.get(number, || Ok(of_empty_records())).unwrap();
            cache.get(number, || panic!("it is kept")).unwrap();
        }
        let kept = cache.kept.lock();
        assert_eq!((kept.grains.len(), kept.order.len(), kept.len), (4, 4, 4 * of_empty_records().len()));
    }

    #[test]
    fn a_grain_that_cannot_be_read_is_tried_again() {
        let cache = GrainCache::new(10);
        let fault = || ReadError::damaged(Locator::file("x"), "a test");
        assert_eq!(cache.get(0, || Err(fault())).unwrap_err(), fault());
        assert!(cache.kept.lock().grains.is_empty() && cache.kept.lock().order.is_empty());
        cache.get(0, || Ok(grain(3))).unwrap();
    }

    #[test]
    fn a_record_beyond_the_grain_is_none() {
        let grain = grain(3);
        assert_eq!((grain.record(0), grain.record(2)), (Some(&[7][..]), None));
        assert_eq!(Grain { bytes: Vec::new(), ends: vec![5] }.record(0), None);
    }
}
