//! Keeps the latest grains that were read and decoded, so that the records of one grain cost one read.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::thread;

use forebay_sources::{Pulse, Pulses, ReadError};
use parking_lot::{Mutex, MutexGuard};

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
/// Threads that need the same grain wait for the thread that reads it, and share its result, good or bad. A failing
/// storage takes long to report an error. If each thread tried again, the last one would wait that long for every thread
/// before it. The lock during a read belongs to that grain alone.
///
/// If grains are read in order, a thread that would wait first reads one of the next grains. One thread decompresses a
/// grain, and the others would be idle otherwise.
#[derive(Debug)]
pub(crate) struct GrainCache<E = ReadError> {
    /// How many grains there are, and how many of the next ones may be read ahead.
    count: u64,
    ahead: u64,
    /// The most memory of the kept grains, except that the latest grain is always kept. In addition, a part of this is
    /// kept from dropped grains, for new ones.
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
    /// The memory of dropped grains.
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

/// The most grains that are read ahead. There is one for each core but the first, up to this number.
const MOST_AHEAD: u64 = 7;

/// One attempt to read a grain.
#[derive(Debug)]
struct Attempt<E> {
    /// Its result. Only threads that waited for a failed attempt get its error.
    outcome: Mutex<Option<Outcome<E>>>,
    /// The threads that wait for it. They are notified when the read makes progress.
    waiting: Arc<Pulses>,
}

/// A grain, or why it was not read.
type Outcome<E> = Result<Arc<Grain>, E>;

/// The most bytes that the records of a grain may take beyond their stored bytes. A dictionary, or views of one place,
/// can repeat a picture endlessly.
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
    /// The most bytes that the next column may have. `stored` of them are stored.
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

    /// The memory that it takes, including what is kept about it.
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
        Self { count: 0, ahead: 0, budget, kept: Mutex::new(kept) }
    }

    /// Reads ahead with the available cores. The dataset has `count` grains. Nothing is read ahead from a store: if the
    /// store were silent, the record that the thread needs would be late.
    #[must_use]
    pub(crate) fn reading_ahead(self, count: usize, is_remote: bool) -> Self {
        if is_remote {
            return self;
        }
        let cores = thread::available_parallelism().map_or(1, usize::from) as u64;
        Self { count: count as u64, ahead: (cores - 1).min(MOST_AHEAD), ..self }
    }

    /// The grain with this number. If it is not kept and no other thread is reading it, `read` makes it. `read` may use
    /// the buffer that it gets, which has bytes of another grain. `read` may also be called with the number of another
    /// grain.
    ///
    /// # Errors
    /// Those of the attempt that this call made or waited for. Then nothing is kept, and a later call reads again.
    pub(crate) fn get(&self, number: u64, read: impl Fn(u64, Vec<u8>) -> Result<Grain, E>) -> Result<Arc<Grain>, E> {
        let attempt = self.kept.lock().attempt(number);
        let held = attempt.outcome.try_lock().unwrap_or_else(|| {
            attempt.waiting.join(Pulse::current());
            self.read_ahead(number, &read);
            attempt.outcome.lock()
        });
        if let Some(outcome) = &*held {
            return outcome.clone();
        }
        self.read(number, &attempt, held, read)
    }

    /// Reads one of the grains after this one, unless they are kept or other threads read them.
    fn read_ahead(&self, number: u64, read: impl Fn(u64, Vec<u8>) -> Result<Grain, E>) {
        let next = {
            let mut kept = self.kept.lock();
            kept.next(number, self.count.min(number.saturating_add(self.ahead + 1)), self.budget)
                .map(|next| (next, kept.attempt(next)))
        };
        let Some((next, attempt)) = next else { return };
        if let Some(held) = attempt.outcome.try_lock()
            && held.is_none()
        {
            // A thread that needs this grain gets the result, or reads again after an error.
            let _outcome = self.read(next, &attempt, held, read);
        }
    }

    /// Makes this attempt.
    fn read(
        &self,
        number: u64,
        attempt: &Arc<Attempt<E>>,
        mut held: MutexGuard<'_, Option<Outcome<E>>>,
        read: impl Fn(u64, Vec<u8>) -> Result<Grain, E>,
    ) -> Outcome<E> {
        attempt.waiting.join(Pulse::current());
        let used = self.kept.lock().used.take();
        let outcome = attempt.waiting.all().during(|| read(number, used)).map(|mut grain| {
            grain.fit();
            Arc::new(grain)
        });
        attempt.waiting.leave();
        *held = Some(outcome.clone());
        if let Ok(grain) = &outcome {
            drop(held);
            let dropped = self.kept.lock().fill(number, attempt, grain.len(), self.budget);
            for memory in dropped.into_iter().filter_map(Kept::into_memory) {
                let surplus = self.kept.lock().used.keep(memory);
                // It is freed while no lock is held.
                drop(surplus);
            }
        } else {
            // The attempt is forgotten before a waiting thread gets the error. So every later call reads again.
            self.kept.lock().forget(number, attempt);
        }
        outcome
    }
}

impl<E> Kept<E> {
    /// The memory of the grain, unless a thread still uses the grain.
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

    /// The first grain after this one and before `end` that is neither kept nor being read. Nothing if grains are not
    /// read in order: then the grain before this one is not kept. Also nothing if the budget cannot hold all of these
    /// grains twice, by the average of those that were read.
    fn next(&self, number: u64, end: u64, budget: usize) -> Option<u64> {
        let is_in_order = number.checked_sub(1).is_none_or(|before| self.grains.contains_key(&before));
        let next = (number + 1..end).find(|next| !self.grains.contains_key(next)).filter(|_| is_in_order)?;
        let read = self.grains.values().filter(|kept| kept.len > 0).count();
        let Some(average) = self.len.checked_div(read) else { return (next == number + 1).then_some(next) };
        let all = usize::try_from(next - number + 1).ok()?.checked_mul(2 * average)?;
        (all <= budget).then_some(next)
    }

    /// Counts a grain that has been read, and takes out the oldest grains that exceed the budget.
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

    /// Takes out a grain that could not be read, unless another thread is already reading it again.
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
mod tests;
