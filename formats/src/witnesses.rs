//! Files that show whether the dataset as a whole still exists. If one of its files is gone and all of these are gone
//! too, the dataset is gone (unmounted, moved, or no longer readable for this user). Then the file is not to blame.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::address::Address;

/// What is known of the files that were read.
#[derive(Debug)]
pub(super) struct Witnesses {
    /// The record that was read last, or [`NONE`].
    last: AtomicU64,
}

const NONE: u64 = u64::MAX;
/// Files that are looked at, beside the one that was read last, before the dataset counts as gone.
const MOST: u64 = 32;

impl Default for Witnesses {
    fn default() -> Self {
        Self { last: AtomicU64::new(NONE) }
    }
}

impl Witnesses {
    /// Notes that a record was read.
    pub(super) fn saw(&self, record: u64) {
        // Relaxed: whichever of two threads is the last one.
        self.last.store(record, Ordering::Relaxed);
    }

    /// Whether any record was read so far.
    pub(super) fn any_read(&self) -> bool {
        self.last.load(Ordering::Relaxed) != NONE
    }

    /// Whether any other file of the dataset can still be read: then the files of the failed records are missing alone. Of a
    /// dataset without others, its root tells. `present` says which were there when it was opened.
    pub(super) fn stand(
        &self,
        failed: &[u64],
        len: u64,
        present: impl Fn(u64) -> bool,
        address: impl Fn(u64) -> Address,
        root: &Address,
    ) -> bool {
        let last = Some(self.last.load(Ordering::Relaxed)).filter(|last| *last != NONE);
        // In 128 bits, since a dataset may have more than 2^59 records.
        let spread =
            (0..MOST).filter_map(|part| u64::try_from(u128::from(len) * u128::from(part) / u128::from(MOST)).ok());
        let others = last.into_iter().chain(spread).filter(|other| *other < len && present(*other));
        // Of several that failed, each is a witness of the others.
        let others = others.filter(|other| failed != [*other]);
        let mut others = others.peekable();
        if others.peek().is_none() {
            return root.stands();
        }
        others.any(|other| address(other).is_open_to_us())
    }
}
