//! Datasets whose shards are given to workers as tasks: their registration, and what workers ask of them.

use std::collections::{BTreeMap, BTreeSet};

use forebay_proto::v1::next_task_reply::Answer;
use forebay_proto::v1::{
    HeartbeatReply, NextTaskReply, NextTaskRequest, OpenRequest, RegisterTasksReply, RegisterTasksRequest,
    ReportTaskReply, ReportTaskRequest, RestoreTasksReply, RestoreTasksRequest, ShowTasksReply, ShowTasksRequest,
};

use super::PREFIX;
use super::opening::{NAME_LEN, check_name, check_process};
use super::registry::Registry;
use crate::change::Change;
use crate::error::LedgerError;
use crate::ledger::{Ledger, Times};
use crate::tasks::{TaskParams, Tasks, UNNUMBERED, task_ledger};
use forebay_plan::Plan;
use forebay_plan::differences;

/// The tasks of the ledgers whose shards are given to workers that read the data themselves, by the ledgers' names.
#[derive(Debug)]
pub(super) struct TaskDatasets {
    by_name: BTreeMap<String, Tasks>,
    times: Times,
}

impl TaskDatasets {
    /// None yet. `times` are those of a ledger of a stream.
    pub(super) const fn new(times: Times) -> Self {
        Self { by_name: BTreeMap::new(), times }
    }

    /// Takes in the tasks of a stored ledger, from their documents.
    ///
    /// # Errors
    /// Why they are none of tasks, in words.
    pub(super) fn load(
        &mut self,
        name: &str,
        documents: &[(&str, &[u8])],
        ledger: &mut Ledger,
        now: u64,
    ) -> Result<(), String> {
        self.by_name.insert(name.to_owned(), Tasks::load(documents, ledger, self.times, now)?);
        Ok(())
    }

    /// The tasks of a ledger.
    pub(super) fn get(&self, name: &str) -> Option<&Tasks> {
        self.by_name.get(name)
    }

    /// The documents that changed since the last call.
    pub(super) fn take_changes(&mut self, changes: &mut Vec<Change>) {
        for (name, tasks) in &mut self.by_name {
            tasks.take_changes(&format!("{PREFIX}{name}/"), changes);
        }
    }

    /// All documents.
    pub(super) fn documents(&self, documents: &mut Vec<Change>) {
        for (name, tasks) in &self.by_name {
            tasks.documents(&format!("{PREFIX}{name}/"), documents);
        }
    }

    /// A ledger is recovered from a snapshot. To be called before.
    pub(super) fn recover(&mut self, name: &str, ledger: &Ledger) {
        if let Some(tasks) = self.by_name.get_mut(name) {
            tasks.recover(ledger);
        }
    }

    /// A ledger is forgotten: adds the documents of its tasks.
    pub(super) fn forget(&mut self, name: &str, documents: &mut Vec<Change>) {
        if let Some(tasks) = self.by_name.remove(name) {
            tasks.documents(&format!("{PREFIX}{name}/"), documents);
        }
    }

    /// Takes away the tasks that take too long.
    pub(super) fn expire(&mut self, registry: &mut Registry, now: u64) {
        for (name, tasks) in &mut self.by_name {
            if let Some(ledger) = registry.get_mut(name) {
                tasks.expire(ledger, now);
            }
        }
    }

    /// Makes a dataset's ledger, or compares what is said about it with what was said first. Joins it in the name of a worker
    /// that numbers its commands.
    pub(super) fn register(
        &mut self,
        registry: &mut Registry,
        request: &RegisterTasksRequest,
        now: u64,
    ) -> Result<RegisterTasksReply, LedgerError> {
        let name = task_ledger(&request.dataset);
        let stream = name.split('/').nth(1).unwrap_or_default();
        if request.dataset.is_empty() || stream.len() > NAME_LEN {
            return Err(LedgerError::Invalid(format!(
                "The dataset's name must have 1 to {NAME_LEN} bytes, and {:?} has {}.",
                request.dataset,
                stream.len()
            )));
        }
        let RegisterTasksRequest { worker, incarnation, process, .. } = request.clone();
        if !worker.is_empty() {
            check_name("worker", &worker)?;
            check_process(process.as_ref())?;
            if incarnation <= UNNUMBERED {
                return Err(LedgerError::Invalid(format!("incarnation must be above {UNNUMBERED}.")));
            }
        }
        if registry.contains(&name) && !self.by_name.contains_key(&name) {
            return Err(LedgerError::SpecMismatch(format!(
                "The ledger {name:?} belongs to a stream of daemons. Choose another name for the dataset."
            )));
        }
        if request.records > 0 {
            self.make_or_compare(registry, &name, request, now)?;
        }
        let lease_ttl_ms = self.times.lease_ttl;
        let (ledger, _) = self.tasks_of(registry, &name)?;
        if !worker.is_empty() {
            ledger.register(
                &OpenRequest { worker, incarnation, process, ledger_version: u32::MAX, ..OpenRequest::default() },
                now,
            );
        }
        Ok(RegisterTasksReply { ledger: name, task_size: ledger.lease_size(), lease_ttl_ms })
    }

    /// A heartbeat of a worker has been answered so. If its ledger is one of tasks, it may have named some.
    pub(super) fn heard(&mut self, name: &str, leases: &[u64], reply: &mut HeartbeatReply, now: u64) {
        if let Some(tasks) = self.by_name.get_mut(name) {
            let named: BTreeSet<u64> = leases.iter().copied().collect();
            tasks.heard(reply.leases.iter().copied().filter(|lease| named.contains(lease)), now);
            reply.lease_ttl_ms = self.times.lease_ttl;
        }
    }

    fn make_or_compare(
        &mut self,
        registry: &mut Registry,
        name: &str,
        request: &RegisterTasksRequest,
        now: u64,
    ) -> Result<(), LedgerError> {
        let kept = registry.get(name);
        let TaskParams { spec, table, task_size } = TaskParams::check(request, kept.map(Ledger::lease_size))?;
        let Some(ledger) = registry.get_mut(name) else {
            let plan = Plan::with_grains(&spec, table).map_err(|error| LedgerError::Invalid(error.to_string()))?;
            let origin = format!("{name} {:x}", request.origin);
            let times = Tasks::times(self.times);
            let mut ledger = Ledger::new(plan, task_size, request.epochs, origin.as_bytes(), times);
            self.by_name.insert(name.to_owned(), Tasks::new(request, &mut ledger, self.times, now));
            registry.insert(name, ledger);
            return Ok(());
        };
        let differences = differences(ledger.plan().spec(), &spec);
        if !differences.is_empty() {
            return Err(LedgerError::SpecMismatch(format!(
                "The dataset {:?} was registered as something else: {differences}. Undo the change, choose another name, or \
                 begin anew with `forebay run new`.",
                request.dataset
            )));
        }
        // A worker that was started again with fewer epochs must not end the job of all.
        let (epochs, dataset) = (ledger.epochs(), &request.dataset);
        let is_longer = epochs > 0 && (request.epochs == 0 || request.epochs > epochs);
        if is_longer {
            tracing::info!(dataset, epochs, now = request.epochs, "the dataset has more epochs from now on");
            ledger.set_epochs(request.epochs);
        } else if request.epochs != epochs {
            tracing::warn!(
                dataset,
                epochs,
                asked = request.epochs,
                "a worker asked for fewer epochs: the dataset keeps its own"
            );
        }
        Ok(())
    }

    /// A task for the worker. If the dataset is not registered yet, the answer is to wait.
    pub(super) fn next(
        &mut self,
        registry: &mut Registry,
        request: &NextTaskRequest,
        now: u64,
    ) -> Result<NextTaskReply, LedgerError> {
        let caller = request.caller.clone().unwrap_or_default();
        check_name("worker", &caller.worker)?;
        match self.tasks_of(registry, &caller.ledger) {
            Ok((ledger, tasks)) => tasks.next(ledger, &caller, now),
            Err(_) if caller.sequence == 0 => Ok(NextTaskReply { answer: Answer::Wait.into(), task: None, kind: 0 }),
            Err(error) => Err(error),
        }
    }

    /// What became of a task.
    pub(super) fn report(
        &mut self,
        registry: &mut Registry,
        request: &ReportTaskRequest,
        now: u64,
    ) -> Result<ReportTaskReply, LedgerError> {
        let caller = request.caller.clone().unwrap_or_default();
        let (ledger, tasks) = self.tasks_of(registry, &caller.ledger)?;
        if caller.sequence == 0 {
            return Ok(tasks.report(ledger, request, now));
        }
        ledger.once(Some(&caller), 12, now, |ledger, _| Ok(tasks.report(ledger, request, now)))
    }

    /// All tasks of a ledger, with the workers that have them.
    pub(super) fn show(
        &mut self,
        registry: &mut Registry,
        request: &ShowTasksRequest,
    ) -> Result<ShowTasksReply, LedgerError> {
        let (ledger, tasks) = self.tasks_of(registry, &task_ledger(&request.dataset))?;
        Ok(ShowTasksReply { epoch: ledger.begun(), checkpoint: tasks.checkpoint(ledger)? })
    }

    /// Puts the tasks of a ledger back to what a checkpoint says.
    pub(super) fn restore(
        &mut self,
        registry: &mut Registry,
        request: &RestoreTasksRequest,
    ) -> Result<RestoreTasksReply, LedgerError> {
        let (ledger, tasks) = self.tasks_of(registry, &task_ledger(&request.dataset))?;
        tasks.restore(ledger, request).map(|()| RestoreTasksReply {})
    }

    fn tasks_of<'s>(
        &'s mut self,
        registry: &'s mut Registry,
        name: &str,
    ) -> Result<(&'s mut Ledger, &'s mut Tasks), LedgerError> {
        let missing = || LedgerError::NotFound(format!("No worker has registered the dataset of {name:?} yet."));
        registry.get_mut(name).zip(self.by_name.get_mut(name)).ok_or_else(missing)
    }

    /// Whether workers that wait for tasks should ask again. True only once for each change.
    pub(super) fn take_stirred(&mut self) -> bool {
        self.by_name.values_mut().fold(false, |stirred, tasks| stirred | tasks.take_stirred())
    }
}
