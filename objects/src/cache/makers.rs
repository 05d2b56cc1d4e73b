//! Who makes entries of the cache that take long, such as those of an unpacked file: one at a time for each key.

use std::collections::HashSet;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

use super::key::CacheKey;

/// The keys whose entries are being made in this process.
#[derive(Debug, Default)]
pub(super) struct Makers {
    keys: Mutex<HashSet<CacheKey>>,
    /// One of them is made.
    made: Condvar,
}

/// The only one that may make the entry of its key now. Ends with its value.
#[derive(Debug)]
pub struct CacheMaker {
    makers: Arc<Makers>,
    key: CacheKey,
}

impl Makers {
    /// Waits until nobody else is. Blocks.
    pub(super) fn take(self: &Arc<Self>, key: &CacheKey) -> CacheMaker {
        let mut keys = self.keys.lock();
        while !keys.insert(*key) {
            self.made.wait(&mut keys);
        }
        CacheMaker { makers: Arc::clone(self), key: *key }
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
