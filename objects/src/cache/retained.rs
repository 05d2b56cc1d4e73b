//! Entries that are in use for long, such as the parts of an unpacked file. This process does not delete them to make room.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use thiserror::Error;

use super::Cache;
use super::key::CacheKey;

/// What this process retains, with the bytes of each entry and how many want it.
#[derive(Debug, Default)]
pub(super) struct Retained {
    state: Mutex<RetainedState>,
}

#[derive(Debug, Default)]
struct RetainedState {
    entries: HashMap<CacheKey, (u64, usize)>,
    bytes: u64,
}

/// Entries that stay as long as this value, as far as this process decides. Another process may still delete them.
pub struct RetainedEntries {
    cache: Arc<Cache>,
    keys: Vec<CacheKey>,
}

/// More entries would have to stay than the cache has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("more than {room} bytes of the cache's {size} would be in use all the time")]
pub struct CacheFull {
    /// Bytes of entries that may stay.
    pub room: u64,
    /// The cache's limit in bytes.
    pub size: u64,
}

impl Retained {
    pub(super) fn has(&self, key: &CacheKey) -> bool {
        self.state.lock().entries.contains_key(key)
    }
}

impl RetainedEntries {
    /// Of this cache, none at first.
    pub(super) fn none(cache: Arc<Cache>) -> Self {
        Self { cache, keys: Vec::new() }
    }

    /// Retains one more entry of this many bytes, which may be written later.
    ///
    /// # Errors
    /// All that this process retains would be too much.
    pub fn add(&mut self, key: CacheKey, bytes: u64) -> Result<(), CacheFull> {
        let mut state = self.cache.retained.state.lock();
        let (room, before) = (self.cache.room(), state.bytes);
        match state.entries.entry(key) {
            Entry::Occupied(mut entry) => entry.get_mut().1 += 1,
            Entry::Vacant(_) if before.saturating_add(bytes) > room => {
                return Err(CacheFull { room, size: self.cache.size() });
            }
            Entry::Vacant(entry) => {
                entry.insert((bytes, 1));
                state.bytes += bytes;
            }
        }
        drop(state);
        self.keys.push(key);
        Ok(())
    }
}

impl Drop for RetainedEntries {
    fn drop(&mut self) {
        let mut state = self.cache.retained.state.lock();
        for key in &self.keys {
            let Entry::Occupied(mut entry) = state.entries.entry(*key) else { continue };
            entry.get_mut().1 -= 1;
            if entry.get().1 == 0 {
                let (bytes, _) = entry.remove();
                state.bytes -= bytes;
            }
        }
    }
}

impl fmt::Debug for RetainedEntries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetainedEntries").field("entries", &self.keys.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_several_retain_counts_once_and_until_the_last_of_them_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(&folder.path().join("c"), 64 << 20).unwrap();
        let key = |number: u8| CacheKey::new("test", [[number].as_slice()]);
        let (mut one, mut other) = (cache.retain(), cache.retain());
        one.add(key(0), cache.room() - 10).unwrap();
        other.add(key(0), cache.room() - 10).unwrap();
        other.add(key(1), 10).unwrap();
        assert_eq!(other.add(key(2), 1), Err(CacheFull { room: 48 << 20, size: 64 << 20 }));
        drop(one);
        assert!(cache.retained.has(&key(0)) && other.add(key(2), 1).is_err());
        drop(other);
        assert!(!cache.retained.has(&key(0)));
        cache.retain().add(key(3), cache.room()).unwrap();
    }
}
