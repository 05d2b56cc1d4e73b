//! The tasks of a dataset as documents of its ledger, there and back.

use std::collections::{BTreeMap, BTreeSet};

use forebay_proto::v1::register_tasks_request::Remainder;
use forebay_proto::v1::{RegisterTasksRequest, StoredTaskErrors, StoredTasks};
use prost::Message;

use super::received::ReceivedTasks;
use super::{COUNTED, Tasks};
use crate::change::Change;
use crate::ledger::{Ledger, Times};

/// Layout of the documents.
const VERSION: u32 = 1;
/// What holds for all tasks of a dataset.
const TASKS: &str = "tasks";
/// A shard whose tasks have failed.
const ERROR: &str = "task-error/";
/// Ids of tasks begin below this number, so at least as many are left.
const HIGHEST_FIRST: u64 = 1 << 30;
/// Ids that are left out after a recovery, for tasks that were given after the snapshot.
const STRIDE: u64 = 1 << 24;

impl Tasks {
    /// Whether a document of a ledger is one of its tasks.
    pub(crate) fn is_document(key: &str) -> bool {
        key == TASKS || key.starts_with(ERROR)
    }

    /// The tasks of a new dataset.
    pub(crate) fn new(request: &RegisterTasksRequest, ledger: &mut Ledger, times: Times, now: u64) -> Self {
        let stored = StoredTasks {
            version: VERSION,
            dataset: request.dataset.clone(),
            batch_size: request.batch_size,
            fill: request.remainder() == Remainder::Fill,
            kind: request.kind,
            first_task: request.origin % HIGHEST_FIRST,
            longest: 0,
            late_reports: 0,
            ended_open: false,
        };
        Self { is_changed: true, ..Self::of(stored, BTreeMap::new(), ledger, times, now) }
    }

    /// From documents, keys without the ledger's prefix.
    ///
    /// # Errors
    /// Why they are none of tasks, in words.
    pub(crate) fn load(
        documents: &[(&str, &[u8])],
        ledger: &mut Ledger,
        times: Times,
        now: u64,
    ) -> Result<Self, String> {
        let (mut stored, mut errors) = (None, BTreeMap::new());
        for (key, bytes) in documents {
            let unreadable = |error| format!("the document {key} cannot be read: {error}");
            if *key == TASKS {
                stored = Some(StoredTasks::decode(*bytes).map_err(unreadable)?);
            } else {
                let found = StoredTaskErrors::decode(*bytes).map_err(unreadable)?;
                errors.insert((found.epoch, found.start), found.errors);
            }
        }
        let stored = stored.ok_or_else(|| format!("the document {TASKS} is missing"))?;
        if stored.version != VERSION {
            return Err(format!("its tasks have version {}, and this build reads version {VERSION}", stored.version));
        }
        if stored.batch_size == 0 {
            return Err(format!("a number in the document {TASKS} is impossible"));
        }
        Ok(Self::of(stored, errors, ledger, times, now))
    }

    fn of(stored: StoredTasks, errors: BTreeMap<(u64, u64), u32>, ledger: &mut Ledger, times: Times, now: u64) -> Self {
        if ledger.plan().grains().is_some() {
            ledger.lease_whole_grains();
        }
        Self {
            stored,
            errors,
            is_changed: false,
            changed_errors: BTreeSet::new(),
            given: BTreeMap::new(),
            named: BTreeMap::new(),
            loaded: now,
            looked: 0,
            received: ReceivedTasks::default(),
            waits: BTreeMap::new(),
            has_ended: false,
            // Those who wait are not known any more.
            stirred: true,
            timeout: times.task,
            lease_ttl: times.lease_ttl,
        }
    }

    /// Its ledger is recovered from a snapshot: no task gets an id that one may have had since. To be called before.
    pub(crate) fn recover(&mut self, ledger: &Ledger) {
        let used = (ledger.next_lease() & COUNTED).saturating_add(STRIDE);
        self.stored.first_task = self.stored.first_task.saturating_add(used);
        self.is_changed = true;
    }

    /// The documents that changed since the last call, with keys that start with `prefix`.
    pub(crate) fn take_changes(&mut self, prefix: &str, changes: &mut Vec<Change>) {
        if std::mem::take(&mut self.is_changed) {
            changes.push(Change::Put { key: format!("{prefix}{TASKS}"), value: self.stored.encode_to_vec() });
        }
        for shard in std::mem::take(&mut self.changed_errors) {
            changes.push(self.error(prefix, shard));
        }
    }

    /// All documents.
    pub(crate) fn documents(&self, prefix: &str, documents: &mut Vec<Change>) {
        documents.push(Change::Put { key: format!("{prefix}{TASKS}"), value: self.stored.encode_to_vec() });
        documents.extend(self.errors.keys().map(|shard| self.error(prefix, *shard)));
    }

    fn error(&self, prefix: &str, shard: (u64, u64)) -> Change {
        let key = format!("{prefix}{}", error_key(shard));
        match self.errors.get(&shard) {
            None => Change::Delete { key },
            Some(&errors) => {
                let stored = StoredTaskErrors { epoch: shard.0, start: shard.1, errors };
                Change::Put { key, value: stored.encode_to_vec() }
            }
        }
    }
}

fn error_key((epoch, start): (u64, u64)) -> String {
    format!("{ERROR}{epoch:016x}-{start:016x}")
}
