//! The tasks of a dataset as documents of its ledger, there and back.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use forebay_plan::Plan;
use forebay_proto::v1::register_tasks_request::Remainder;
use forebay_proto::v1::{Lease, RegisterTasksRequest, StoredTaskErrors, StoredTasks, Task};
use prost::Message;

use super::shards::{records, shard};
use crate::change::Change;
use crate::ledger::Ledger;

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

/// The lower bits of a lease's id count the leases of a ledger.
const COUNTED: u64 = (1 << 40) - 1;

/// What is stored of the tasks, beside their leases.
#[derive(Clone, Debug)]
pub(super) struct TaskDocuments {
    stored: StoredTasks,
    /// Shards whose tasks have failed: epoch and first position, and how often.
    errors: BTreeMap<(u64, u64), u32>,
    /// `stored` has changed since the last commit.
    is_changed: bool,
    changed_errors: BTreeSet<(u64, u64)>,
}

/// Whether a document of a ledger is one of its tasks.
pub(crate) fn is_task_document(key: &str) -> bool {
    key == TASKS || key.starts_with(ERROR)
}

impl TaskDocuments {
    /// Those of a new dataset.
    pub(super) fn new(request: &RegisterTasksRequest) -> Self {
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
        Self { stored, errors: BTreeMap::new(), is_changed: true, changed_errors: BTreeSet::new() }
    }

    /// From documents, keys without the ledger's prefix.
    pub(super) fn load(documents: &[(&str, &[u8])]) -> Result<Self, String> {
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
        Ok(Self { stored, errors, is_changed: false, changed_errors: BTreeSet::new() })
    }

    /// The ledger is recovered from a snapshot in which this is the id of its next lease.
    pub(super) fn recover(&mut self, next_lease: u64) {
        let used = (next_lease & COUNTED).saturating_add(STRIDE);
        self.stored.first_task = self.stored.first_task.saturating_add(used);
        self.is_changed = true;
    }

    pub(super) fn dataset(&self) -> &str {
        &self.stored.dataset
    }

    pub(super) const fn kind(&self) -> i32 {
        self.stored.kind
    }

    pub(super) const fn batch_size(&self) -> u64 {
        self.stored.batch_size
    }

    /// The id of a lease's task; none if there are no ids left.
    pub(super) fn id(&self, lease: u64) -> Option<i32> {
        i32::try_from(self.stored.first_task.saturating_add(lease & COUNTED)).ok()
    }

    /// The lease of a task, in a ledger whose next lease has this id. There need not be one.
    pub(super) fn lease(&self, next_lease: u64, task: i32) -> Option<u64> {
        let counted = u64::try_from(task).ok()?.checked_sub(self.stored.first_task)?;
        (counted <= COUNTED).then_some(next_lease & !COUNTED | counted)
    }

    /// A shard whose last batch is full, if that is wanted: it begins earlier then.
    pub(super) fn filled(&self, shard: Range<u64>) -> Range<u64> {
        let len = shard.end - shard.start;
        let missing = if self.stored.fill { len.next_multiple_of(self.stored.batch_size) - len } else { 0 };
        shard.start.saturating_sub(missing)..shard.end
    }

    /// The task of this id, as its worker gets it.
    pub(super) fn task(&self, plan: &Plan, id: i32, lease: &Lease) -> Task {
        let (dataset, kind, epoch) = (self.stored.dataset.clone(), self.stored.kind, lease.epoch);
        let positions = lease.start..lease.end;
        let (own, records) = match shard(plan, epoch, positions.clone()) {
            Some(own) => (self.filled(own), Vec::new()),
            None => (self.filled(positions.clone()), records(plan, epoch, self.filled(positions)).collect()),
        };
        Task { id, dataset, epoch, start: own.start, end: own.end, records, kind, lease: lease.id }
    }

    /// How long the slowest task took, in milliseconds, as far as tasks took long.
    pub(super) const fn longest(&self) -> u64 {
        self.stored.longest
    }

    /// A task took this long.
    pub(super) fn note_longest(&mut self, took: u64) {
        if took > self.stored.longest {
            self.stored.longest = took;
            self.is_changed = true;
        }
    }

    pub(super) const fn late_reports(&self) -> u64 {
        self.stored.late_reports
    }

    pub(super) fn count_late_report(&mut self) {
        self.stored.late_reports += 1;
        self.is_changed = true;
    }

    /// Whether the workers were given the end of the data while tasks were open.
    pub(super) const fn ended_open(&self) -> bool {
        self.stored.ended_open
    }

    /// The workers are given the end, and these tasks are not reported.
    pub(super) fn end_open(&mut self, ledger: &Ledger) {
        (self.stored.ended_open, self.is_changed) = (true, true);
        let dataset = self.dataset();
        for (worker, lease) in ledger.leases() {
            let (task, epoch, start, end) = (self.id(lease.id), lease.epoch, lease.start, lease.end);
            tracing::warn!(
                dataset,
                worker,
                task,
                epoch,
                start,
                end,
                "the workers are given the end of the data, and this task is not reported: its epoch does not add up until it is"
            );
        }
    }

    /// A task was given: the end is still to come.
    pub(super) fn continues(&mut self) {
        self.is_changed |= std::mem::take(&mut self.stored.ended_open);
    }

    /// How often the tasks of this shard have failed.
    pub(super) fn errors_of(&self, shard: (u64, u64)) -> u32 {
        self.errors.get(&shard).copied().unwrap_or(0)
    }

    pub(super) fn set_errors(&mut self, shard: (u64, u64), errors: u32) {
        self.errors.insert(shard, errors);
        self.changed_errors.insert(shard);
    }

    /// This shard is done.
    pub(super) fn forget_errors(&mut self, shard: (u64, u64)) {
        if self.errors.remove(&shard).is_some() {
            self.changed_errors.insert(shard);
        }
    }

    pub(super) fn forget_all_errors(&mut self) {
        self.changed_errors.extend(std::mem::take(&mut self.errors).into_keys());
    }

    /// The documents that changed since the last call, with keys that start with `prefix`.
    pub(super) fn take_changes(&mut self, prefix: &str, changes: &mut Vec<Change>) {
        if std::mem::take(&mut self.is_changed) {
            changes.push(Change::Put { key: format!("{prefix}{TASKS}"), value: self.stored.encode_to_vec() });
        }
        for shard in std::mem::take(&mut self.changed_errors) {
            changes.push(self.error(prefix, shard));
        }
    }

    /// All documents.
    pub(super) fn all(&self, prefix: &str, documents: &mut Vec<Change>) {
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
