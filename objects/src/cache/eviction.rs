//! Which entries go when the cache is too full: those that were not used for the longest time. Pure.

use std::time::SystemTime;

/// An entry, as the folder shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stored<N> {
    /// Its name.
    pub(super) name: N,
    /// Bytes that it takes on the disk.
    pub(super) size: u64,
    /// When it was last used, or written.
    pub(super) used: SystemTime,
}

/// The names of the entries that go. None go while all take at most `most` bytes. Otherwise, the rest takes at most
/// `rest`.
pub(super) fn evicted<N>(mut entries: Vec<Stored<N>>, most: u64, rest: u64) -> Vec<N> {
    let mut taken: u64 = entries.iter().map(|entry| entry.size).sum();
    if taken <= most {
        return Vec::new();
    }
    entries.sort_by_key(|entry| entry.used);
    let mut gone = Vec::new();
    for entry in entries {
        if taken <= rest {
            break;
        }
        taken -= entry.size;
        gone.push(entry.name);
    }
    gone
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn entries(sizes_and_ages: &[(u64, u64)]) -> Vec<Stored<usize>> {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        let stored = |(name, (size, age)): (usize, &(u64, u64))| Stored {
            name,
            size: *size,
            used: now - Duration::from_secs(*age),
        };
        sizes_and_ages.iter().enumerate().map(stored).collect()
    }

    #[test]
    fn the_longest_unused_go_until_the_rest_fits() {
        let stored = entries(&[(10, 5), (10, 50), (10, 1), (10, 40), (10, 2)]);
        assert_eq!(evicted(stored.clone(), 50, 20), Vec::<usize>::new());
        assert_eq!(evicted(stored.clone(), 49, 40), [1]);
        assert_eq!(evicted(stored.clone(), 49, 30), [1, 3]);
        assert_eq!(evicted(stored.clone(), 49, 25), [1, 3, 0]);
        assert_eq!(evicted(stored, 0, 0), [1, 3, 0, 4, 2]);
        assert_eq!(evicted::<usize>(Vec::new(), 0, 0), Vec::<usize>::new());
    }
}
