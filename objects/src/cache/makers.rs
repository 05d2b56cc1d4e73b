//! Entries of the cache that take long to make, such as those of an unpacked file: one thread at a time makes each.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use forebay_sources::{Pulse, Pulses};
use parking_lot::{Condvar, Mutex};

use super::key::CacheKey;

/// The keys whose entries are being made in this process, and who waits for each.
#[derive(Debug, Default)]
pub(super) struct Makers {
    keys: Mutex<HashMap<CacheKey, Arc<Pulses>>>,
    /// One of them is made.
    made: Condvar,
}

/// The only one that may make the entry of its key now. Ends with its value.
#[derive(Debug)]
pub struct CacheMaker {
    makers: Arc<Makers>,
    key: CacheKey,
    /// The maker's own read, and those that wait.
    waiting: Arc<Pulses>,
}

impl Makers {
    /// Waits until no other thread makes the entry of this key. Blocks.
    pub(super) fn take(self: &Arc<Self>, key: &CacheKey) -> CacheMaker {
        let (pulse, mut joined) = (Pulse::current(), None::<Arc<Pulses>>);
        let mut keys = self.keys.lock();
        loop {
            let others = match keys.entry(*key) {
                Entry::Occupied(others) => Arc::clone(others.get()),
                Entry::Vacant(vacant) => {
                    let waiting = Arc::clone(vacant.insert(Arc::default()));
                    waiting.join(pulse);
                    return CacheMaker { makers: Arc::clone(self), key: *key, waiting };
                }
            };
            // The entry of any key wakes all who wait.
            if joined.as_ref().is_none_or(|joined| !Arc::ptr_eq(joined, &others)) {
                others.join(pulse.clone());
                joined = Some(others);
            }
            self.made.wait(&mut keys);
        }
    }
}

impl CacheMaker {
    /// A part of the entry is made: those who wait for it are not forgotten.
    pub fn beat(&self) {
        self.waiting.all().beat();
    }
}

impl Drop for CacheMaker {
    fn drop(&mut self) {
        self.makers.keys.lock().remove(&self.key);
        self.makers.made.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn rule_28_who_waits_for_an_entry_hears_that_it_is_being_made() {
        let makers = Arc::new(Makers::default());
        let key = CacheKey::new("test", [[0].as_slice()]);
        let maker = makers.take(&key);
        let (send, heard) = std::sync::mpsc::channel();
        thread::scope(|scope| {
            let makers = &makers;
            scope.spawn(move || {
                Pulse::new(move || send.send(()).unwrap_or_default()).during(|| drop(makers.take(&key)));
            });
            // As often as it takes until the other thread waits.
            while heard.try_recv().is_err() {
                maker.beat();
                thread::yield_now();
            }
            drop(maker);
        });
        assert!(makers.keys.lock().is_empty());
    }

    #[test]
    fn one_at_a_time_makes_an_entry_and_no_key_is_kept() {
        let (makers, inside) = (Arc::new(Makers::default()), AtomicUsize::new(0));
        let key = |number: u8| CacheKey::new("test", [[number].as_slice()]);
        let other = makers.take(&key(1));
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        let _maker = makers.take(&key(0));
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        inside.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(makers.keys.lock().len(), 1);
        drop(other);
        assert!(makers.keys.lock().is_empty());
    }
}
