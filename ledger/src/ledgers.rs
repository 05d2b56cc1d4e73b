//! All ledgers of a coordinator: opening, forgetting, finding the one that a request is for. Pure, as each ledger is.

mod lockstep;
mod opening;
mod registry;
mod tasks;

use std::collections::{BTreeMap, BTreeSet};

use forebay_plan::{MAX_EPOCH, dataset_records, summary};
use forebay_proto::LEDGER_VERSION;
use forebay_proto::page;
use forebay_proto::v1::{
    AbandonReply, AbandonRequest, AcquireReply, AcquireRequest, AuditReply, AuditRequest, Caller, CompareDatasetReply,
    CompareDatasetRequest, HeartbeatReply, HeartbeatRequest, LedgerUpdate, ListLedgersReply, ListLedgersRequest,
    NewRunReply, NewRunRequest, NextTaskReply, NextTaskRequest, OpenReply, OpenRequest, RegisterTasksReply,
    RegisterTasksRequest, ReportTaskReply, ReportTaskRequest, RestoreReply, RestoreRequest, RestoreTasksReply,
    RestoreTasksRequest, ShowTasksReply, ShowTasksRequest, TakeSnapshotReply, TakeSnapshotRequest,
};
use prost::Message;

use self::lockstep::{LockstepRuns, RUN, SEGMENTS};
use self::opening::{check_name, check_process, compare, plan};
use self::registry::Registry;
use self::tasks::TaskDatasets;
use crate::{
    change::Change,
    error::LedgerError,
    ledger::{Ledger, OLDEST, Times},
    tasks::{Tasks, is_task_document},
};

/// What the keys of all ledgers' documents start with.
pub const PREFIX: &str = "ledger/";

/// Ledgers by name: `RUN/STREAM/all`, `RUN/STREAM/shard-3` for a static one, `RUN/STREAM/rank-3-of-8` for one in lockstep.
#[derive(Debug)]
pub struct Ledgers {
    times: Times,
    registry: Registry,
    tasks: TaskDatasets,
    runs: LockstepRuns,
    /// Documents of forgotten ledgers.
    forgotten: Vec<Change>,
    /// The newest version of ledgers that this build reads.
    newest: u32,
    /// The newest one that all replicas of the coordinator read.
    read_by_replicas: u32,
}

impl Ledgers {
    /// From all documents of a store.
    ///
    /// # Errors
    /// They are no ledgers that this build reads.
    pub fn load(documents: &[(String, Vec<u8>)], times: Times, now: u64) -> Result<Self, LedgerError> {
        Self::load_up_to(LEDGER_VERSION, documents, times, now)
    }

    /// As [`load`](Self::load), for a build that reads up to version `newest`.
    ///
    /// # Errors
    /// Those of [`load`](Self::load).
    pub fn load_up_to(
        newest: u32,
        documents: &[(String, Vec<u8>)],
        times: Times,
        now: u64,
    ) -> Result<Self, LedgerError> {
        let mut by_name = BTreeMap::<&str, Vec<(&str, &[u8])>>::new();
        for (key, bytes) in documents {
            let (name, document) = split(key).ok_or_else(|| {
                LedgerError::Corrupt(format!("The store holds {key:?}, which is not a document of a ledger."))
            })?;
            by_name.entry(name).or_default().push((document, bytes));
        }
        let (mut ledgers, mut tasks) = (BTreeMap::<String, Ledger>::new(), TaskDatasets::new(times));
        let mut runs = LockstepRuns::default();
        for (name, documents) in by_name {
            if let (Some(stream), [(SEGMENTS, bytes)]) = (name.strip_suffix(RUN), &*documents) {
                runs.load(stream, bytes)?;
                continue;
            }
            let damaged = |why: String| {
                LedgerError::Corrupt(format!(
                    "The stored ledger {name:?} is damaged: {why}. Restore it from a backup, or begin a new run."
                ))
            };
            let (of_tasks, documents): (Vec<_>, Vec<_>) =
                documents.into_iter().partition(|(document, _)| is_task_document(document));
            let lasting = if of_tasks.is_empty() { times } else { Tasks::times(times) };
            let mut ledger = Ledger::load(&documents, newest, lasting, now).map_err(|why| {
                if why.is_newer() {
                    LedgerError::Newer(format!("The stored ledger {name:?} {why}."))
                } else {
                    damaged(why.to_string())
                }
            })?;
            if !of_tasks.is_empty() {
                tasks.load(name, &of_tasks, &mut ledger, now).map_err(damaged)?;
            }
            ledgers.insert(name.to_owned(), ledger);
        }
        for (name, ledger) in &ledgers {
            runs.load_rank(name, ledger);
        }
        let (registry, forgotten) = (Registry::of(ledgers), Vec::new());
        Ok(Self { times, registry, tasks, runs, forgotten, newest, read_by_replicas: OLDEST })
    }

    /// All replicas of the coordinator read up to this version. Ledgers whose workers read it too are written with it from now on.
    pub fn replicas_read(&mut self, version: u32) {
        let version = version.min(self.newest);
        if version != self.read_by_replicas {
            self.read_by_replicas = version;
            self.registry.iter_mut().for_each(|(_, ledger)| ledger.agree_on_version(version));
        }
    }

    /// The ledger of this name.
    ///
    /// # Errors
    /// There is none.
    pub fn get(&mut self, name: &str) -> Result<&mut Ledger, LedgerError> {
        self.registry.find(name)
    }

    /// The latest update for workers that follow a ledger; `None` if the ledger is gone.
    pub fn latest_update(&mut self, name: &str) -> Option<LedgerUpdate> {
        self.registry.shown_one(name).map(Ledger::latest_update)
    }

    /// The ledger that a caller names.
    pub fn of_caller(&mut self, caller: Option<&Caller>) -> Result<&mut Ledger, LedgerError> {
        self.runs.current(&mut self.registry, ledger_of(caller))
    }

    /// Lets a worker's command act on its ledger, once: see `Ledger::once`.
    pub fn command<R: Message + Default>(
        &mut self,
        number: u32,
        caller: Option<&Caller>,
        now: u64,
        act: impl FnOnce(&mut Ledger, &str) -> Result<R, LedgerError>,
    ) -> Result<R, LedgerError> {
        self.of_caller(caller)?.once(caller, number, now, act)
    }

    /// Returns the leases of silent workers, and the tasks that take too long.
    pub fn expire(&mut self, now: u64) {
        self.tasks.expire(&mut self.registry, now);
        self.registry.expire(now);
    }

    /// When the next lease expires.
    pub fn next_deadline(&self) -> Option<u64> {
        self.registry.next_deadline()
    }

    /// The names of all ledgers that may have changed since the last call. Some may be gone.
    pub fn take_touched(&mut self) -> BTreeSet<String> {
        self.registry.take_touched()
    }

    /// The changes to commit: all since the last call.
    pub fn take_changes(&mut self) -> Vec<Change> {
        let mut changes = std::mem::take(&mut self.forgotten);
        self.registry.for_touched(|name, ledger| ledger.take_changes(&format!("{PREFIX}{name}/"), &mut changes));
        self.tasks.take_changes(&mut changes);
        changes.extend(self.runs.take_changes());
        changes
    }

    /// All documents of all ledgers, as they are.
    pub fn documents(&self) -> Vec<Change> {
        let mut documents = Vec::new();
        for (name, ledger) in self.registry.iter() {
            ledger.documents(&format!("{PREFIX}{name}/"), &mut documents);
        }
        self.tasks.documents(&mut documents);
        documents.extend(self.runs.documents());
        documents
    }

    /// Lets every ledger go on from a snapshot that was taken at this time: see `Ledger::recover`.
    pub fn recover(&mut self, taken: u64, origin: &[u8]) {
        for (name, ledger) in self.registry.iter_mut() {
            self.tasks.recover(name, ledger);
            ledger.recover(taken, &[name.as_bytes(), b" ", origin].concat());
        }
    }

    /// The generation of each ledger, by name.
    pub fn generations(&self) -> Vec<(String, u64)> {
        self.registry.iter().map(|(name, ledger)| (name.clone(), ledger.generation())).collect()
    }

    /// Opens a ledger for a worker, or makes it. A name that is taken by a living worker is refused.
    pub fn open(&mut self, request: &OpenRequest, now: u64) -> Result<OpenReply, LedgerError> {
        let invalid = |text: String| LedgerError::Invalid(text);
        for (what, name) in [("run", &request.run), ("stream", &request.stream), ("worker", &request.worker)] {
            check_name(what, name)?;
        }
        let spec = request.spec.as_ref().ok_or_else(|| invalid("The request holds no spec.".to_owned()))?;
        if request.lease_size == 0 || request.incarnation == 0 {
            return Err(invalid("lease_size and incarnation must not be 0.".to_owned()));
        }
        check_process(request.process.as_ref())?;
        if request.epochs > MAX_EPOCH {
            return Err(invalid(format!("epochs is {}; it may be at most {MAX_EPOCH}.", request.epochs)));
        }
        let stream = format!("{}/{}/", request.run, request.stream);
        compare(&self.registry, &stream, request, now)?;
        let name = self.runs.name_of(&stream, spec);
        let resumed = self.registry.contains(&name);
        // One summary is enough for all shards.
        let wants_summary = self.registry.of_stream(&stream).all(|(_, ledger)| ledger.summary().is_none());
        if !resumed {
            let origin = format!("{name} {} {:x}", request.worker, request.incarnation);
            let plan = plan(&self.registry, &stream, request, spec)?;
            let mut ledger = Ledger::new(plan, request.lease_size, request.epochs, origin.as_bytes(), self.times);
            self.runs.place(&stream, &mut ledger);
            self.registry.insert(&name, ledger);
        }
        let ledger = self.registry.get_mut(&name).expect("it was there or has just been made");
        ledger.check_version(request)?;
        if request.lease_size_required && request.lease_size != ledger.lease_size() {
            return Err(LedgerError::SpecMismatch(format!(
                "Run {:?} of stream {:?} was made with lease_size {}, and now {} is asked for. A run keeps its \
                 lease_size: leave it out, or begin a new run.",
                request.run,
                request.stream,
                ledger.lease_size(),
                request.lease_size
            )));
        }
        if let Some(incumbent) = ledger.incumbent(request, now)? {
            return Ok(OpenReply { incumbent, ..OpenReply::default() });
        }
        ledger.agree(request, now)?;
        ledger.take_policies(request, now);
        ledger.register(request, now);
        ledger.agree_on_version(self.read_by_replicas);
        Ok(OpenReply {
            ledger: name,
            spec_hash: ledger.spec_hash().to_vec(),
            lease_size: ledger.lease_size(),
            resumed,
            progress: Some(ledger.progress()),
            lease_ttl_ms: self.times.lease_ttl,
            incumbent: 0,
            wants_summary,
            groups: ledger.former_groups(),
            awaits_trainers: ledger.awaits_trainers(&request.worker),
        })
    }

    /// Where a dataset differs from that of a stream's run.
    pub fn compare_dataset(&self, request: &CompareDatasetRequest) -> Result<CompareDatasetReply, LedgerError> {
        if request.summary.as_ref().is_some_and(|asked| !summary::is_of(asked, request.records)) {
            return Err(LedgerError::Invalid("The summary in the request does not fit its records.".to_owned()));
        }
        let stream = format!("{}/{}/", request.run, request.stream);
        let known =
            self.registry.of_stream(&stream).find_map(|(_, ledger)| Some((ledger.plan().spec(), ledger.summary()?)));
        let Some((spec, kept)) = known.filter(|(spec, _)| spec.fingerprint != request.fingerprint) else {
            return Ok(CompareDatasetReply::default());
        };
        let first = request
            .summary
            .as_ref()
            .and_then(|asked| summary::first_difference((dataset_records(spec), kept), (request.records, asked)));
        let first = first.map(|records| forebay_proto::v1::Range { start: records.start, end: records.end });
        Ok(CompareDatasetReply { differs: true, records: dataset_records(spec), bytes: kept.bytes, first })
    }

    /// A page of the ledgers, by name.
    pub fn list(&mut self, request: &ListLedgersRequest, now: u64) -> ListLedgersReply {
        let ledgers = self.registry.shown(&request.after);
        let status = |(name, ledger): (&String, &mut Ledger)| {
            let mut status = ledger.status(name, !request.without_workers, now);
            if let Some(tasks) = self.tasks.get(name) {
                tasks.complete(&mut status);
            }
            status
        };
        let (ledgers, more) = page(ledgers.map(status));
        ListLedgersReply { ledgers, more }
    }

    /// Begins a run with a name of its own.
    pub fn new_run(&mut self, request: &NewRunRequest) -> Result<NewRunReply, LedgerError> {
        for (what, name) in [("run", &request.run), ("stream", &request.stream)] {
            check_name(what, name)?;
        }
        let stream = format!("{}/{}/", request.run, request.stream);
        let names: Vec<String> = self.registry.of_stream(&stream).map(|(name, _)| name.clone()).collect();
        for name in &names {
            self.forget(name);
        }
        self.forgotten.extend(self.runs.forget(&stream));
        Ok(NewRunReply { forgotten: u32::try_from(names.len()).unwrap_or(u32::MAX) })
    }

    /// Removes a ledger with its documents.
    fn forget(&mut self, name: &str) {
        if let Some(ledger) = self.registry.remove(name) {
            let mut documents = Vec::new();
            ledger.documents(&format!("{PREFIX}{name}/"), &mut documents);
            self.tasks.forget(name, &mut documents);
            self.forgotten.extend(documents.into_iter().map(Change::into_delete));
        }
    }

    /// Grants leases, unless the run is read by ranks of another number.
    pub fn acquire(&mut self, request: &AcquireRequest, now: u64) -> Result<AcquireReply, LedgerError> {
        let caller = request.caller.as_ref();
        self.runs.check_segment(&self.registry, ledger_of(caller))?;
        self.command(1, caller, now, |ledger, worker| Ok(ledger.acquire(worker, request, now)))
    }

    /// Extends the leases that the caller names, tasks or not.
    pub fn heartbeat(&mut self, request: &HeartbeatRequest, now: u64) -> Result<HeartbeatReply, LedgerError> {
        let caller = request.caller.as_ref();
        let mut reply = self.of_caller(caller)?.heartbeat(request, now)?;
        self.tasks.heard(ledger_of(caller), &request.leases, &mut reply, now);
        Ok(reply)
    }

    /// Takes a rank to a state, and its run with it: ranks of another number begin a segment there, and those of before are
    /// fenced.
    pub fn restore(&mut self, request: &RestoreRequest, now: u64) -> Result<RestoreReply, LedgerError> {
        self.runs.restore(&mut self.registry, request, now)
    }

    /// Ends an epoch. If it is that of a rank, the other ranks continue behind it as well.
    pub fn abandon(&mut self, request: &AbandonRequest, now: u64) -> Result<AbandonReply, LedgerError> {
        self.runs.abandon(&mut self.registry, request, now)
    }

    /// A state. If it is that of a rank, all ranks keep their sums of what is before it.
    pub fn take_snapshot(&mut self, request: &TakeSnapshotRequest) -> Result<TakeSnapshotReply, LedgerError> {
        self.runs.take_snapshot(&mut self.registry, request)
    }

    /// A page of a ledger's tallies. With that of a rank goes the account of its run.
    pub fn audit(&mut self, request: &AuditRequest) -> Result<AuditReply, LedgerError> {
        let mut reply = self.runs.audit(&mut self.registry, request)?;
        reply.has_ended = self.tasks.get(&request.ledger).is_some_and(Tasks::has_ended);
        Ok(reply)
    }

    /// Makes a dataset's ledger, or compares what is said about it with what was said first. Joins it in the name of a worker
    /// that numbers its commands.
    pub fn register_tasks(
        &mut self,
        request: &RegisterTasksRequest,
        now: u64,
    ) -> Result<RegisterTasksReply, LedgerError> {
        self.tasks.register(&mut self.registry, request, now)
    }

    /// A task for the worker. If the dataset is not registered yet, the answer is to wait.
    pub fn next_task(&mut self, request: &NextTaskRequest, now: u64) -> Result<NextTaskReply, LedgerError> {
        self.tasks.next(&mut self.registry, request, now)
    }

    /// What became of a task.
    pub fn report_task(&mut self, request: &ReportTaskRequest, now: u64) -> Result<ReportTaskReply, LedgerError> {
        self.tasks.report(&mut self.registry, request, now)
    }

    /// All tasks of a ledger, with the workers that have them.
    pub fn show_tasks(&mut self, request: &ShowTasksRequest) -> Result<ShowTasksReply, LedgerError> {
        self.tasks.show(&mut self.registry, request)
    }

    /// Puts the tasks of a ledger back to what a checkpoint says.
    pub fn restore_tasks(&mut self, request: &RestoreTasksRequest) -> Result<RestoreTasksReply, LedgerError> {
        self.tasks.restore(&mut self.registry, request)
    }

    /// Whether workers that wait for tasks should ask again. True only once for each change.
    pub fn take_stirred(&mut self) -> bool {
        self.tasks.take_stirred()
    }
}

/// The name of a caller's ledger.
fn ledger_of(caller: Option<&Caller>) -> &str {
    caller.map_or("", |caller| &caller.ledger)
}

/// A key's ledger name and document.
pub fn split(key: &str) -> Option<(&str, &str)> {
    let rest = key.strip_prefix(PREFIX)?;
    let (end, _) = rest.match_indices('/').nth(2)?;
    Some((&rest[..end], &rest[end + 1..]))
}
