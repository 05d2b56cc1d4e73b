//! Files that show whether the dataset as a whole still exists. If one of its files is gone and all of these are gone
//! too, the dataset is gone (unmounted, moved, or no longer readable for this user). Then the file is not to blame.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::address::Address;

/// What is known of the files that were read.
#[derive(Debug)]
pub(super) struct Sentinels {
    /// The record that was read last, or [`NONE`].
    last: AtomicU64,
}

const NONE: u64 = u64::MAX;
/// Files that are looked at, beside the one that was read last, before the dataset counts as gone.
const MOST: u64 = 32;

impl Default for Sentinels {
    fn default() -> Self {
        Self { last: AtomicU64::new(NONE) }
    }
}

impl Sentinels {
    /// Notes that a record was read.
    pub(super) fn saw(&self, record: u64) {
        // Relaxed: whichever of two threads is the last one.
        self.last.store(record, Ordering::Relaxed);
    }

    /// Whether any record was read so far.
    pub(super) fn any_read(&self) -> bool {
        self.last.load(Ordering::Relaxed) != NONE
    }

    /// Which of the files that `failed` are lost alone: other files can be read, and these still cannot. A dataset may come back
    /// between the reads that failed and the look at the others, or vanish behind that look. So the others are looked at before
    /// and after one more look at the files themselves.
    pub(super) fn lost_alone(
        &self,
        failed: &[u64],
        len: u64,
        present: impl Fn(u64) -> bool,
        address: impl Fn(u64) -> Address,
        root: &Address,
    ) -> BTreeSet<u64> {
        let others_are_there = || self.see_others(failed, len, &present, &address, root);
        if !others_are_there() {
            return BTreeSet::new();
        }
        let lost: BTreeSet<u64> = failed.iter().copied().filter(|failed| !address(*failed).is_open_to_us()).collect();
        if lost.is_empty() || others_are_there() { lost } else { BTreeSet::new() }
    }

    /// Whether any other file of the dataset can be read. Of a dataset without others, its root tells. `present` says which
    /// files were there when it was opened.
    fn see_others(
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
        // Of several that failed, each is a sentinel of the others.
        let others = others.filter(|other| failed != [*other]);
        let mut others = others.peekable();
        if others.peek().is_none() {
            return root.still_exists();
        }
        others.any(|other| address(other).is_open_to_us())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fs;

    use super::*;

    /// A dataset of five files, and a look at its third one after a read of that failed, during which its folder is moved at the
    /// `turn`-th look at a file.
    fn blame_while_it_moves(turn: u32, was_there: bool) -> bool {
        let home = tempfile::tempdir().unwrap();
        let [here, away] = ["here", "away"].map(|name| home.path().join(name));
        let first = if was_there { &here } else { &away };
        fs::create_dir(first).unwrap();
        for record in [0, 1, 3, 4] {
            fs::write(first.join(record.to_string()), "x").unwrap();
        }
        if !was_there {
            // It failed for want of its folder alone.
            fs::write(first.join("2"), "x").unwrap();
        }
        let looks = Cell::new(0);
        let address = |record: u64| {
            looks.set(looks.get() + 1);
            if looks.get() == turn {
                let (from, to) = if was_there { (&here, &away) } else { (&away, &here) };
                fs::rename(from, to).unwrap();
            }
            Address::file(here.join(record.to_string()))
        };
        Sentinels::default().lost_alone(&[2], 5, |_| true, address, &Address::file(&here)).contains(&2)
    }

    #[test]
    fn a_file_is_not_blamed_if_its_dataset_comes_back_or_vanishes_while_others_are_looked_at() {
        // Never moved: it is lost alone, or with all others.
        assert!(blame_while_it_moves(0, true));
        assert!(!blame_while_it_moves(0, false));
        for turn in 1..40 {
            assert!(!blame_while_it_moves(turn, false), "it came back at look {turn}");
        }
        // Gone at once, and gone between the two looks at the others.
        for turn in 1..=3 {
            let lost_alone = blame_while_it_moves(turn, true);
            assert!(!lost_alone, "it vanished at look {turn}");
        }
    }
}
