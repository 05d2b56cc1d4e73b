//! Datasets whose shards are given to workers as tasks: their registration, and what workers ask of them.

use std::collections::BTreeSet;

use forebay_proto::v1::next_task_reply::Answer;
use forebay_proto::v1::{
    HeartbeatReply, HeartbeatRequest, NextTaskReply, NextTaskRequest, OpenRequest, RegisterTasksReply,
    RegisterTasksRequest, ReportTaskReply, ReportTaskRequest, RestoreTasksReply, RestoreTasksRequest, ShowTasksReply,
    ShowTasksRequest,
};

use super::{Ledgers, NAME_LEN, check_name, check_process};
use crate::error::LedgerError;
use crate::ledger::Ledger;
use crate::tasks::{TaskParams, Tasks, UNNUMBERED, task_ledger};
use forebay_plan::Plan;
use forebay_plan::differences;

impl Ledgers {
    /// Makes a dataset's ledger, or compares what is said about it with what was said first. Joins it in the name of a worker
    /// that numbers its commands.
    pub fn register_tasks(
        &mut self,
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
        if self.shelf.contains(&name) && !self.tasks.contains_key(&name) {
            return Err(LedgerError::SpecMismatch(format!(
                "The ledger {name:?} belongs to a stream of daemons. Choose another name for the dataset."
            )));
        }
        if request.records > 0 {
            self.make_or_compare(&name, request, now)?;
        }
        let lease_ttl_ms = self.times.lease_ttl;
        let (ledger, _) = self.tasks_of(&name)?;
        if !worker.is_empty() {
            ledger.register(&OpenRequest { worker, incarnation, process, ..OpenRequest::default() }, now);
        }
        Ok(RegisterTasksReply { ledger: name, shard_size: ledger.shard_size(), lease_ttl_ms })
    }

    /// Extends the leases that the caller names, tasks or not.
    pub fn heartbeat(&mut self, request: &HeartbeatRequest, now: u64) -> Result<HeartbeatReply, LedgerError> {
        let mut reply = self.of_caller(request.caller.as_ref())?.heartbeat(request, now)?;
        let name = request.caller.as_ref().map_or("", |caller| &caller.ledger);
        if let Some(tasks) = self.tasks.get_mut(name) {
            let named: BTreeSet<u64> = request.leases.iter().copied().collect();
            tasks.heard(reply.leases.iter().copied().filter(|lease| named.contains(lease)), now);
            reply.lease_ttl_ms = self.times.lease_ttl;
        }
        Ok(reply)
    }

    fn make_or_compare(&mut self, name: &str, request: &RegisterTasksRequest, now: u64) -> Result<(), LedgerError> {
        let kept = self.shelf.get(name);
        let TaskParams { spec, table, shard_size } = TaskParams::check(request, kept.map(Ledger::shard_size))?;
        let Some(ledger) = self.shelf.get_mut(name) else {
            let plan = Plan::with_grains(&spec, table).map_err(|error| LedgerError::Invalid(error.to_string()))?;
            let origin = format!("{name} {:x}", request.origin);
            let times = Tasks::times(self.times);
            let mut ledger = Ledger::new(plan, shard_size, request.epochs, origin.as_bytes(), times);
            self.tasks.insert(name.to_owned(), Tasks::new(request, &mut ledger, self.times, now));
            self.shelf.insert(name, ledger);
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
    pub fn next_task(&mut self, request: &NextTaskRequest, now: u64) -> Result<NextTaskReply, LedgerError> {
        let caller = request.caller.clone().unwrap_or_default();
        check_name("worker", &caller.worker)?;
        match self.tasks_of(&caller.ledger) {
            Ok((ledger, tasks)) => tasks.next(ledger, &caller, now),
            Err(_) if caller.sequence == 0 => Ok(NextTaskReply { answer: Answer::Wait.into(), task: None, kind: 0 }),
            Err(error) => Err(error),
        }
    }

    /// What became of a task.
    pub fn report_task(&mut self, request: &ReportTaskRequest, now: u64) -> Result<ReportTaskReply, LedgerError> {
        let caller = request.caller.clone().unwrap_or_default();
        let (ledger, tasks) = self.tasks_of(&caller.ledger)?;
        if caller.sequence == 0 {
            return Ok(tasks.report(ledger, request, now));
        }
        ledger.once(Some(&caller), 12, now, |ledger, _| Ok(tasks.report(ledger, request, now)))
    }

    /// All tasks of a ledger, with the workers that have them.
    pub fn show_tasks(&mut self, request: &ShowTasksRequest) -> Result<ShowTasksReply, LedgerError> {
        let (ledger, tasks) = self.tasks_of(&task_ledger(&request.dataset))?;
        Ok(ShowTasksReply { epoch: ledger.begun(), checkpoint: tasks.checkpoint(ledger)? })
    }

    /// Puts the tasks of a ledger back to what a checkpoint says.
    pub fn restore_tasks(&mut self, request: &RestoreTasksRequest) -> Result<RestoreTasksReply, LedgerError> {
        let (ledger, tasks) = self.tasks_of(&task_ledger(&request.dataset))?;
        tasks.restore(ledger, request).map(|()| RestoreTasksReply {})
    }

    fn tasks_of(&mut self, name: &str) -> Result<(&mut Ledger, &mut Tasks), LedgerError> {
        let missing = || LedgerError::NotFound(format!("No worker has registered the dataset of {name:?} yet."));
        self.shelf.get_mut(name).zip(self.tasks.get_mut(name)).ok_or_else(missing)
    }

    /// Whether workers that wait for tasks should ask again. True only once for each change.
    pub fn take_stirred(&mut self) -> bool {
        self.tasks.values_mut().fold(false, |stirred, tasks| stirred | tasks.take_stirred())
    }
}
