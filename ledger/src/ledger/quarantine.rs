//! The records that were bad, and whether the run has failed because of them (semantics rules 7 and 41).

mod bad_records;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use forebay_proto::v1::{BadRecord, QuarantineKey, QuarantinedRecord, RunFailure, StoredBadBlock, StoredHead};

use self::bad_records::BadRecords;
use super::documents::{DocumentWriter, Revision};

/// What the keys of entries begin with.
pub(super) const ENTRY: &str = "quarantine/";
/// What the keys of blocks of bad records begin with.
pub(super) const BAD: &str = "bad/";

/// The quarantine lists at most so many records; the count and the sums go on.
const LISTED: usize = 100_000;
/// Longest file name and reason in the list, in bytes.
const TEXT_LEN: usize = 1024;
/// Longest reason of the first records in the list, and how many these are: a traceback is as long.
const FIRST_TEXT_LEN: usize = 4096;
const FIRST: usize = 1000;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Quarantine {
    /// By (epoch, record), at most `LISTED`; `count` and `bad` continue beyond it.
    entries: BTreeMap<(u64, u64), QuarantinedRecord>,
    /// The records that were ever in quarantine.
    bad: BadRecords,
    /// The listed records that end processes.
    poison: BTreeSet<u64>,
    /// How often a record was put in quarantine.
    count: u64,
    failure: RunFailure,
    dirty: DirtyQuarantine,
    pub(super) revision: Revision,
}

/// Which documents changed since the last commit.
#[derive(Clone, Debug, Default)]
struct DirtyQuarantine {
    entries: BTreeSet<(u64, u64)>,
    bad: BTreeSet<u64>,
}

impl Quarantine {
    /// From the head of a stored ledger, without the entries.
    pub(super) fn load(head: &StoredHead) -> Self {
        Self { count: head.quarantined, failure: head.failure.clone().unwrap_or_default(), ..Self::default() }
    }

    /// Takes in an entry that was stored.
    pub(super) fn load_entry(&mut self, entry: QuarantinedRecord) {
        if !entry.skipped {
            self.bad.list(entry.record);
        }
        self.poison.extend(entry.poison.then_some(entry.record));
        self.entries.insert((entry.epoch, entry.record), entry);
    }

    /// Takes in a stored block of bad records. False for one that is none.
    pub(super) fn load_bad(&mut self, block: &StoredBadBlock) -> bool {
        self.bad.load(block)
    }

    pub(super) fn fill_head(&self, head: &mut StoredHead) {
        (head.quarantined, head.failure) = (self.count, Some(self.failure.clone()));
    }

    pub(super) fn write_changes(&mut self, documents: &mut DocumentWriter<'_>) {
        let dirty = std::mem::take(&mut self.dirty);
        self.write(&dirty, documents);
    }

    pub(super) fn write_all(&self, documents: &mut DocumentWriter<'_>) {
        let (entries, bad) = (self.entries.keys().copied().collect(), self.bad.unlisted().collect());
        self.write(&DirtyQuarantine { entries, bad }, documents);
    }

    fn write(&self, dirty: &DirtyQuarantine, documents: &mut DocumentWriter<'_>) {
        for &(epoch, record) in &dirty.entries {
            documents.put(&format!("{ENTRY}{epoch:016x}-{record:016x}"), self.entries.get(&(epoch, record)));
        }
        for &block in &dirty.bad {
            documents.put(&format!("{BAD}{block:016x}"), self.bad.stored(block).as_ref());
        }
    }

    /// The entries behind this key, in their order.
    pub(super) fn list(&self, after: Option<QuarantineKey>) -> impl Iterator<Item = &QuarantinedRecord> {
        let start = after.map_or(Bound::Unbounded, |key| Bound::Excluded((key.epoch, key.record)));
        self.entries.range((start, Bound::Unbounded)).map(|(_, entry)| entry)
    }

    /// The entry of a record in an epoch.
    pub(super) fn get(&self, epoch: u64, record: u64) -> Option<&QuarantinedRecord> {
        self.entries.get(&(epoch, record))
    }

    /// How many records were ever in quarantine, without those that a function left out.
    pub(super) const fn bad(&self) -> u64 {
        self.bad.len()
    }

    /// The listed records that end processes.
    pub(super) const fn poison(&self) -> &BTreeSet<u64> {
        &self.poison
    }

    /// Lists a record.
    pub(super) fn add(&mut self, epoch: u64, record: u64, bad: &BadRecord) {
        self.count = self.count.saturating_add(1);
        self.revision.rise();
        if self.entries.len() < LISTED {
            let most = if self.entries.len() < FIRST { FIRST_TEXT_LEN } else { TEXT_LEN };
            let (file, reason) = (cut(&bad.file), cut_at(&bad.reason, most));
            let BadRecord { poison, skipped, .. } = *bad;
            let entry = QuarantinedRecord { record, file, reason, epoch, poison, skipped };
            self.poison.extend(poison.then_some(record));
            self.entries.insert((epoch, record), entry);
            if !skipped {
                self.bad.list(record);
            }
            self.dirty.entries.insert((epoch, record));
        } else if !bad.skipped
            && let Some(block) = self.bad.add(record)
        {
            self.dirty.bad.insert(block);
        }
    }

    /// The records that are listed in the epochs from this one on.
    pub(super) fn listed_from(&self, first: u64) -> BTreeMap<u64, BTreeSet<u64>> {
        let mut listed: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
        for &(epoch, record) in self.entries.range((first, 0)..).map(|(key, _)| key) {
            listed.entry(epoch).or_default().insert(record);
        }
        listed
    }

    /// Takes entries out. Only records that are still listed count as bad then.
    pub(super) fn forget(&mut self, entries: &[(u64, u64)]) {
        for key in entries {
            self.entries.remove(key);
            self.dirty.entries.insert(*key);
        }
        self.dirty.bad.extend(self.bad.unlisted());
        let bad = self.entries.values().filter(|entry| !entry.skipped);
        self.bad = bad.map(|entry| entry.record).collect();
        let poison = self.entries.values().filter(|entry| entry.poison);
        self.poison = poison.map(|entry| entry.record).collect();
        self.revision.rise();
    }

    /// Whether the run has failed, and why.
    pub(super) const fn failure(&self) -> &RunFailure {
        &self.failure
    }

    pub(super) const fn has_failed(&self) -> bool {
        !self.failure.why.is_empty()
    }

    /// The run fails for this reason.
    pub(super) fn fail(&mut self, why: String) {
        self.failure.why = why;
        self.failure.number += 1;
        self.revision.rise();
    }

    /// A restore, a reset or another opening ends a failure.
    pub(super) fn continue_after_failure(&mut self) {
        if self.has_failed() {
            self.failure.why.clear();
            self.failure.number += 1;
            self.revision.rise();
        }
    }
}

/// A text that is kept, at most so long.
pub(crate) fn cut(text: &str) -> String {
    cut_at(text, TEXT_LEN)
}

/// A text that is kept, with at most so many bytes.
fn cut_at(text: &str, most: usize) -> String {
    text.char_indices().take_while(|(start, c)| start + c.len_utf8() <= most).map(|(_, c)| c).collect()
}
