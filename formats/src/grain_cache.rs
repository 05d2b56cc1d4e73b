//! Keeps the latest grains that were read and decoded, so that the records of one grain cost one read.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use forebay_sources::{Pulse, Pulses, ReadError};
use parking_lot::Mutex;

use crate::used_memory::UsedMemory;

/// The records of a grain, decoded.
#[derive(Debug, Default)]
pub(crate) struct Grain {
    /// The bytes of all its records, one after the other.
    pub bytes: Vec<u8>,
    /// Where each record ends.
    pub ends: Vec<usize>,
}

/// Some grains of a dataset, the latest ones. `E` says why a grain was not read.
///
/// Threads that need the same grain wait for the one that reads it, and share what comes of that read, good or bad: the
/// storage is slow to say that it fails, and the last of them must not hear of it after as many such times as there are
/// threads. The lock across a read belongs to the grain alone.
#[derive(Debug)]
pub(crate) struct GrainCache<E = ReadError> {
    /// The most memory of grains that are kept, except for the latest one, which is kept in any case. A part of it more is kept
    /// of the grains that went, for those that come.
    budget: usize,
    kept: Mutex<KeptGrains<E>>,
}

#[derive(Debug)]
struct KeptGrains<E> {
    /// By the grain's number.
    grains: HashMap<u64, Kept<E>>,
    /// The number of each grain, by the turn in which it was used last.
    order: BTreeMap<u64, u64>,
    /// The latest turn.
    turn: u64,
    /// What all of them take.
    len: usize,
    /// The memory of grains that went.
    used: UsedMemory,
}

/// The part of the budget that used memory may take beside it.
const USED_PART: usize = 4;

#[derive(Debug)]
struct Kept<E> {
    turn: u64,
    /// What the grain takes; 0 until it has been read.
    len: usize,
    attempt: Arc<Attempt<E>>,
}

/// One attempt to read a grain.
#[derive(Debug)]
struct Attempt<E> {
    /// What came of it. One that failed is known only to those who waited for it.
    outcome: Mutex<Option<Result<Arc<Grain>, E>>>,
    /// The threads that wait for it hear that it goes on.
    waiting: Arc<Pulses>,
}

/// The most that the records of a grain may take beyond what is stored of them. A dictionary, or views of one place, can repeat
/// a picture without an end.
pub(crate) const MOST_REPEATED: u64 = 128 << 20;

/// What is left of [`MOST_REPEATED`] for the columns of a grain, which share it.
#[derive(Debug)]
pub(crate) struct RepeatRoom(u64);

impl Default for RepeatRoom {
    fn default() -> Self {
        Self(MOST_REPEATED)
    }
}

impl RepeatRoom {
    /// The most bytes that the next column may have, of which so many are stored.
    pub(crate) fn most(&self, stored: u64) -> u64 {
        stored.saturating_add(self.0)
    }

    /// A column has so many bytes.
    pub(crate) fn take(&mut self, stored: u64, len: usize) {
        self.0 = self.0.saturating_sub((len as u64).saturating_sub(stored));
    }
}

impl Grain {
    /// A record of the grain, counted from the grain's first.
    pub(crate) fn record(&self, index: usize) -> Option<&[u8]> {
        let start = if index == 0 { 0 } else { *self.ends.get(index - 1)? };
        self.bytes.get(start..*self.ends.get(index)?)
    }

    /// The memory that it takes, with what is kept about it.
    fn len(&self) -> usize {
        self.bytes.capacity() + 8 * self.ends.capacity() + 64
    }

    /// Gives memory back, if most of it has nothing.
    fn fit(&mut self) {
        if self.bytes.capacity() / 2 > self.bytes.len() {
            self.bytes.shrink_to_fit();
        }
        self.ends.shrink_to_fit();
    }
}

impl<E: Clone> GrainCache<E> {
    /// An empty cache.
    pub(crate) fn new(budget: usize) -> Self {
        let used = UsedMemory::new(budget / USED_PART);
        let kept = KeptGrains { grains: HashMap::new(), order: BTreeMap::new(), turn: 0, len: 0, used };
        Self { budget, kept: Mutex::new(kept) }
    }

    /// The grain with this number. `read` makes it if it is not kept, and nobody else reads it at this moment. It may use the
    /// buffer that it gets, which has bytes of another grain.
    ///
    /// # Errors
    /// Those of the attempt that this call made, or waited for. Nothing is kept then: a later call reads again.
    pub(crate) fn get(&self, number: u64, read: impl FnOnce(Vec<u8>) -> Result<Grain, E>) -> Result<Arc<Grain>, E> {
        let attempt = self.kept.lock().attempt(number);
        let mut held = attempt.outcome.try_lock().unwrap_or_else(|| {
            attempt.waiting.join(Pulse::current());
            attempt.outcome.lock()
        });
        if let Some(outcome) = &*held {
            return outcome.clone();
        }
        attempt.waiting.join(Pulse::current());
        let used = self.kept.lock().used.take();
        let outcome = attempt.waiting.all().during(|| read(used)).map(|mut grain| {
            grain.fit();
            Arc::new(grain)
        });
        attempt.waiting.leave();
        *held = Some(outcome.clone());
        if let Ok(grain) = &outcome {
            drop(held);
            let dropped = self.kept.lock().fill(number, &attempt, grain.len(), self.budget);
            for memory in dropped.into_iter().filter_map(Kept::into_memory) {
                let surplus = self.kept.lock().used.keep(memory);
                // It is freed while no lock is held.
                drop(surplus);
            }
        } else {
            // Forgotten before anybody hears of it: whoever asks from now on reads again.
            self.kept.lock().forget(number, &attempt);
        }
        outcome
    }
}

impl<E> Kept<E> {
    /// The memory of the grain, unless somebody still reads it.
    fn into_memory(self) -> Option<Vec<u8>> {
        let grain = Arc::into_inner(self.attempt)?.outcome.into_inner()?.ok()?;
        Arc::into_inner(grain).map(|grain| grain.bytes)
    }
}

impl<E> KeptGrains<E> {
    /// The attempt to read the grain, which is the latest one used now.
    fn attempt(&mut self, number: u64) -> Arc<Attempt<E>> {
        self.turn += 1;
        let new = || {
            let attempt = Attempt { outcome: Mutex::new(None), waiting: Arc::default() };
            Kept { turn: 0, len: 0, attempt: Arc::new(attempt) }
        };
        let kept = self.grains.entry(number).or_insert_with(new);
        self.order.remove(&kept.turn);
        self.order.insert(self.turn, number);
        kept.turn = self.turn;
        Arc::clone(&kept.attempt)
    }

    /// Counts a grain that has been read, and takes out the oldest ones that are too much.
    fn fill(&mut self, number: u64, attempt: &Arc<Attempt<E>>, len: usize, budget: usize) -> Vec<Kept<E>> {
        if let Some(kept) = self.grains.get_mut(&number).filter(|kept| Arc::ptr_eq(&kept.attempt, attempt)) {
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
    fn forget(&mut self, number: u64, attempt: &Arc<Attempt<E>>) {
        if self.grains.get(&number).is_some_and(|kept| Arc::ptr_eq(&kept.attempt, attempt))
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
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::mpsc;
    use std::thread;

    use forebay_sources::{Locator, ReadErrorKind};

    use super::*;

    fn grain(len: usize) -> Grain {
        Grain { bytes: vec![7; len], ends: vec![1, len] }
    }

    #[test]
    fn a_grain_is_read_once_while_it_is_kept_and_the_oldest_goes_first() {
        let cache = GrainCache::<ReadError>::new(2 * grain(4).len());
        let reads = Cell::new(0);
        let get = |number| {
            cache.get(number, |_| {
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
        let cache = GrainCache::<ReadError>::new(10);
        cache.get(0, |_| Ok(grain(100))).unwrap();
        cache.get(0, |_| panic!("it is kept")).unwrap();
        cache.get(1, |_| Ok(grain(1))).unwrap();
        assert_eq!(cache.kept.lock().grains.len(), 1);
    }

    #[test]
    fn what_the_records_of_a_grain_take_beside_their_bytes_counts_too() {
        let of_empty_records = || Grain { bytes: Vec::new(), ends: vec![0; 100] };
        let cache = GrainCache::<ReadError>::new(4000);
        for number in 0..100 {
            cache.get(number, |_| Ok(of_empty_records())).unwrap();
            cache.get(number, |_| panic!("it is kept")).unwrap();
        }
        let kept = cache.kept.lock();
        assert_eq!((kept.grains.len(), kept.order.len(), kept.len), (4, 4, 4 * of_empty_records().len()));
    }

    #[test]
    fn memory_of_grains_that_went_is_given_to_those_that_come_and_is_bounded() {
        let cache = GrainCache::<ReadError>::new(1000);
        // The memory that a new grain of so many bytes is given.
        let given = |number, len| {
            let mut given = 0;
            let read = |mut used: Vec<u8>| {
                given = used.capacity();
                used.clear();
                used.resize(len, 7);
                Ok(Grain { bytes: used, ends: vec![len] })
            };
            assert_eq!(cache.get(number, read).unwrap().bytes, vec![7; len]);
            given
        };
        assert_eq!([0, 1, 2, 3].map(|number| given(number, 200)), [0; 4], "the fourth puts out the first");
        assert_eq!([4, 5, 6, 7].map(|number| given(number, 200)), [200; 4]);
        assert_eq!(given(8, 20), 200);
        let kept = cache.kept.lock();
        assert_eq!(kept.len, 3 * (200 + 72) + 20 + 72, "a small one does not keep what it was given");
        assert_eq!(kept.used.len(), 0);
    }

    #[test]
    fn memory_that_is_much_or_still_read_is_not_kept_for_others() {
        let cache = GrainCache::<ReadError>::new(1000);
        let get = |number, len| cache.get(number, |_| Ok(grain(len))).unwrap();
        get(0, 900);
        let held = get(1, 900);
        get(2, 900);
        assert_eq!(cache.kept.lock().used.len(), 0, "a quarter of the budget is less than any of them");
        let small = get(3, 200);
        (4..8).for_each(|number| drop(get(number, 200)));
        assert_eq!(cache.kept.lock().used.len(), 200);
        assert_eq!((held.bytes.len(), small.bytes.len()), (900, 200));
    }

    #[test]
    fn a_grain_that_cannot_be_read_is_tried_again() {
        let cache = GrainCache::new(10);
        let fault = || ReadError::damaged(Locator::file("x"), "a test");
        assert_eq!(cache.get(0, |_| Err(fault())).unwrap_err(), fault());
        assert!(cache.kept.lock().grains.is_empty() && cache.kept.lock().order.is_empty());
        cache.get(0, |_| Ok(grain(3))).unwrap();
    }

    #[test]
    fn rule_54_threads_that_wait_for_a_grain_hear_of_its_outage_together() {
        let (cache, reads) = (Arc::new(GrainCache::new(10)), Arc::new(AtomicU64::new(0)));
        let outage = || ReadError::new(ReadErrorKind::Storage, Locator::file("x"));
        let (begins, has_begun) = mpsc::channel();
        let (fail, fails) = mpsc::channel::<()>();
        let first = thread::spawn({
            let (cache, reads) = (Arc::clone(&cache), Arc::clone(&reads));
            move || {
                cache.get(0, |_| {
                    begins.send(()).unwrap();
                    fails.recv().unwrap();
                    reads.fetch_add(1, Ordering::Relaxed);
                    Err(outage())
                })
            }
        });
        has_begun.recv().unwrap();
        let attempt = Arc::clone(&cache.kept.lock().grains[&0].attempt);
        let heard = Arc::new(AtomicU64::new(0));
        let others = [(); 7].map(|()| {
            let (cache, reads, heard) = (Arc::clone(&cache), Arc::clone(&reads), Arc::clone(&heard));
            let pulse = Pulse::new(move || {
                heard.fetch_add(1, Ordering::Relaxed);
            });
            thread::spawn(move || {
                pulse.during(|| {
                    cache.get(0, |_| {
                        reads.fetch_add(1, Ordering::Relaxed);
                        Ok(grain(3))
                    })
                })
            })
        });
        // All of them wait for this attempt once one beat of it is heard by seven.
        while heard.swap(0, Ordering::Relaxed) < 7 {
            attempt.waiting.all().beat();
            thread::yield_now();
        }
        fail.send(()).unwrap();
        assert_eq!(first.join().unwrap().unwrap_err(), outage());
        for other in others {
            assert_eq!(other.join().unwrap().unwrap_err(), outage());
        }
        assert_eq!(reads.load(Ordering::Relaxed), 1, "one attempt for all of them");
        cache.get(0, |_| Ok(grain(3))).expect("a later call reads again");
    }

    #[test]
    fn rule_31_the_columns_of_a_grain_share_what_they_may_repeat() {
        let mut room = RepeatRoom::default();
        assert_eq!(room.most(1000), 1000 + MOST_REPEATED);
        room.take(1000, 1000 + (100 << 20));
        assert_eq!(room.most(10), 10 + MOST_REPEATED - (100 << 20));
        room.take(500, 100);
        assert_eq!(room.most(0), MOST_REPEATED - (100 << 20), "what is not repeated takes nothing");
        room.take(0, 1 << 30);
        assert_eq!(room.most(7), 7);
    }

    #[test]
    fn a_record_beyond_the_grain_is_none() {
        let grain = grain(3);
        assert_eq!((grain.record(0), grain.record(2)), (Some(&[7][..]), None));
        assert_eq!(Grain { bytes: Vec::new(), ends: vec![5] }.record(0), None);
    }
}
