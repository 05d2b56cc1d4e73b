//! Shards of a dataset as tasks for workers that read the data themselves, as in `ElasticDL` and `DLRover`. Pure: it turns
//! their requests and reports into commands of the dataset's ledger.
//!
//! A task is a lease. Its id follows from the lease's, so there is no table of both. A task that takes too long goes to
//! another worker. Workers that number their commands also send heartbeats, so their tasks end soon after they do. For other
//! workers, it is unknown whether they live.

mod checkpoint;
mod documents;
mod params;
mod received;
mod shards;
mod times;
mod unnumbered;
mod waiting;

use std::collections::BTreeSet;

use forebay_proto::v1::next_task_reply::Answer as TaskAnswer;
use forebay_proto::v1::report_task_reply::Outcome;
use forebay_proto::v1::{
    AckItem, AcquireReply, AcquireRequest, BadRecord, Caller, Cause, Lease, LedgerStatus, NextTaskReply,
    RegisterTasksRequest, ReportTaskReply, ReportTaskRequest, RestoreTasksRequest, ReturnedRange, ack_item::Kind,
    acquire_reply::Answer,
};
use forebay_proto::{RecordSum, Turn};

use self::documents::TaskDocuments;
pub(crate) use self::documents::is_task_document;
pub(crate) use self::params::TaskParams;
pub use self::params::task_ledger;
use self::received::ReceivedTasks;
use self::shards::{end, records};
use self::times::{Lateness, TaskTimes};
pub(crate) use self::unnumbered::UNNUMBERED;
use self::unnumbered::{join, sends_heartbeats};
use self::waiting::WaitingWorkers;
use crate::change::Change;
use crate::error::LedgerError;
use crate::ledger::{HeldPositions, Ledger, Times, cut};

/// A shard with this many reports of errors is quarantined.
const ERRORS: u32 = 3;
/// The list of the quarantine has no room for more.
const REASONS: usize = 100_000;

/// The tasks of one dataset.
#[derive(Clone, Debug)]
pub(crate) struct Tasks {
    documents: TaskDocuments,
    times: TaskTimes,
    /// What workers that do not number their commands may not have received. Not stored: after a restart, such a task may be given
    /// twice, and none is lost.
    received: ReceivedTasks,
    waiting: WaitingWorkers,
}

impl Tasks {
    /// The tasks of a new dataset.
    pub(crate) fn new(request: &RegisterTasksRequest, ledger: &mut Ledger, times: Times, now: u64) -> Self {
        Self::of(TaskDocuments::new(request), ledger, times, now)
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
        Ok(Self::of(TaskDocuments::load(documents)?, ledger, times, now))
    }

    fn of(documents: TaskDocuments, ledger: &mut Ledger, times: Times, now: u64) -> Self {
        if ledger.plan().grains().is_some() {
            ledger.lease_whole_grains();
        }
        let (times, waiting) = (TaskTimes::new(times, now), WaitingWorkers::unknown());
        Self { documents, times, received: ReceivedTasks::default(), waiting }
    }

    /// Its ledger is recovered from a snapshot: no task gets an id that one may have had since. To be called before.
    pub(crate) fn recover(&mut self, ledger: &Ledger) {
        self.documents.recover(ledger.next_lease());
    }

    /// The documents that changed since the last call, with keys that start with `prefix`.
    pub(crate) fn take_changes(&mut self, prefix: &str, changes: &mut Vec<Change>) {
        self.documents.take_changes(prefix, changes);
    }

    /// All documents.
    pub(crate) fn documents(&self, prefix: &str, documents: &mut Vec<Change>) {
        self.documents.all(prefix, documents);
    }

    /// Times of a ledger of tasks: its leases do not expire.
    pub(crate) const fn times(times: Times) -> Times {
        Times { lease_ttl: u64::MAX, ..times }
    }

    /// Gives a worker the next shard.
    ///
    /// # Errors
    /// The caller is another incarnation than the worker's, or there are no ids left.
    pub(crate) fn next(
        &mut self,
        ledger: &mut Ledger,
        caller: &Caller,
        now: u64,
    ) -> Result<NextTaskReply, LedgerError> {
        if self.documents.id(ledger.next_lease()).is_none() {
            let text = "All ids of tasks are used up: begin a new run with `forebay run new`.";
            return Err(LedgerError::Invalid(text.to_owned()));
        }
        let one = AcquireRequest { leases: 1, ..AcquireRequest::default() };
        let reply = if caller.sequence == 0 {
            join(ledger, &caller.worker, now);
            let unreported = Self::unreported(ledger, &caller.worker);
            if let Some(lease) = self.received.missing(&caller.worker, &unreported) {
                return Ok(self.give_again(ledger, &caller.worker, lease, now));
            }
            let reply = ledger.acquire(&caller.worker, &one, now);
            // A worker that waits asks often, and changes nothing.
            if !reply.leases.is_empty() {
                self.received.gives(&caller.worker, &unreported, None);
            }
            reply
        } else {
            // The reply that is stored is the lease, which is small.
            ledger.once(Some(caller), 11, now, |ledger, worker| Ok(ledger.acquire(worker, &one, now)))?
        };
        Ok(self.answer(ledger, &caller.worker, &reply, now))
    }

    /// The leases of a worker, in the order in which it was given them.
    fn unreported(ledger: &Ledger, worker: &str) -> Vec<u64> {
        ledger.leases_of(worker).map(|lease| lease.id).collect::<BTreeSet<u64>>().into_iter().collect()
    }

    /// Gives a task a second time, to its worker or to another one. Its records may be repeated.
    fn give_again(&mut self, ledger: &mut Ledger, worker: &str, lease: u64, now: u64) -> NextTaskReply {
        let found = ledger.leases().find(|(_, out)| out.id == lease).map(|(owner, out)| (owner.to_owned(), *out));
        let Some((owner, out)) = found else {
            return NextTaskReply { answer: TaskAnswer::Wait.into(), task: None, kind: self.documents.kind() };
        };
        let (dataset, task) = (self.documents.dataset(), self.documents.id(lease));
        tracing::info!(
            dataset,
            worker,
            task,
            "a task is given a second time, since its worker may not have received it"
        );
        if owner == worker {
            let unreported = Self::unreported(ledger, worker);
            self.received.gives(worker, &unreported, Some(lease));
        }
        self.received.double(&owner, lease);
        ledger.may_repeat(&out, Cause::TrainerEnded);
        // It has its whole time again.
        self.times.give_again(lease, now);
        self.waiting.stops(worker);
        self.continues();
        let task = task.map(|id| self.documents.task(ledger.plan(), id, &out));
        NextTaskReply { answer: TaskAnswer::Given.into(), task, kind: self.documents.kind() }
    }

    fn answer(&mut self, ledger: &mut Ledger, worker: &str, reply: &AcquireReply, now: u64) -> NextTaskReply {
        if let Some(lease) = reply.leases.first() {
            self.waiting.stops(worker);
            self.continues();
            self.times.give(lease.id, now);
            let task = self.documents.id(lease.id).map(|id| self.documents.task(ledger.plan(), id, lease));
            return NextTaskReply { answer: TaskAnswer::Given.into(), task, kind: self.documents.kind() };
        }
        let is_done = reply.answer() == Answer::DatasetDone;
        if !is_done {
            self.waiting.waits(worker, now);
        }
        // If a worker with the last shards dies, a worker without shards gets them. It learns of the end when all shards are
        // reported.
        let may_end = !sends_heartbeats(ledger, worker) || ledger.has_leases(worker);
        let ends = !is_done && may_end && reply.answer() == Answer::EpochEnd && self.no_worker_reports(ledger, now);
        let given_once = if ends { self.given_once(ledger) } else { None };
        if let Some(lease) = given_once.filter(|_| !sends_heartbeats(ledger, worker)) {
            return self.give_again(ledger, worker, lease, now);
        }
        // A worker with heartbeats cannot be given the task of another one.
        let ends = ends && given_once.is_none();
        if ends && !self.documents.ended_open() {
            self.documents.end_open(ledger);
        }
        if ends {
            self.waiting.end();
        }
        let answer = if is_done || ends { TaskAnswer::End } else { TaskAnswer::Wait };
        NextTaskReply { answer: answer.into(), task: None, kind: self.documents.kind() }
    }

    /// A task of a worker that does not number its commands, if it was given only once: the reply may have been lost.
    fn given_once(&self, ledger: &Ledger) -> Option<u64> {
        let open = ledger.leases().filter(|(worker, _)| !sends_heartbeats(ledger, worker));
        open.map(|(_, lease)| lease.id).find(|lease| !self.received.is_doubled(*lease))
    }

    /// A task was given: the end is still to come.
    fn continues(&mut self) {
        self.waiting.continues();
        self.documents.continues();
    }

    /// Whether the workers were given the end of the data while tasks were open.
    pub(crate) const fn has_ended(&self) -> bool {
        self.documents.ended_open()
    }

    /// All workers that have tasks wait for tasks themselves. A task from before a restart may have been lost on its way to its
    /// worker, so its time is waited for.
    fn no_worker_reports(&self, ledger: &Ledger, now: u64) -> bool {
        let reports_nothing = |(worker, lease): (&str, &Lease)| {
            self.times.knows_when_given(lease.id) && self.waiting.is_waiting(worker, now)
        };
        ledger.leases().all(reports_nothing)
    }

    /// Ends a task.
    pub(crate) fn report(&mut self, ledger: &mut Ledger, request: &ReportTaskRequest, now: u64) -> ReportTaskReply {
        let lease = self.documents.lease(ledger.next_lease(), request.task);
        if let Some(lease) = lease.filter(|_| !request.unheard) {
            let held = ledger.held(lease);
            self.received.reported(held.as_ref().map(|held| &*held.worker), lease, held.is_some());
        }
        let outcome = match lease.and_then(|lease| Some((lease, ledger.held(lease)?))) {
            Some((lease, held)) if request.unheard => {
                if held.is_out {
                    self.take_away(ledger, lease, &held, Cause::Unseen, now);
                }
                Outcome::Returned
            }
            Some((lease, held)) if request.given_back && held.is_out => {
                self.take_away(ledger, lease, &held, Cause::TrainerEnded, now);
                Outcome::Returned
            }
            Some((lease, held)) if request.error.is_empty() => self.deliver(ledger, lease, &held, now),
            Some((lease, held)) if held.is_out => self.fail(ledger, lease, &held, &request.error, now),
            _ => Outcome::Late,
        };
        if outcome == Outcome::Late {
            self.documents.count_late_report();
            let (dataset, task) = (self.documents.dataset(), request.task);
            tracing::info!(
                dataset,
                task,
                "a task was reported that is no longer valid, or belongs to another worker by now"
            );
        }
        self.stir(ledger, now);
        ReportTaskReply { outcome: outcome.into() }
    }

    /// Counts a shard. A task whose time was up counts too, as long as no other worker has got its shard.
    fn deliver(&mut self, ledger: &mut Ledger, lease: u64, held: &HeldPositions, now: u64) -> Outcome {
        let own = records(ledger.plan(), held.epoch, held.positions.clone());
        let sum: RecordSum = own.map(Turn::first).collect();
        let (sum_high, sum_low) = sum.halves();
        let (range, kind) = (Some(held.range), Kind::Delivered.into());
        let item = AckItem { lease, range, kind, count: sum.count, sum_high, sum_low };
        if !end(ledger, &held.worker, item, Vec::new()) {
            return Outcome::Late;
        }
        // The duration is unknown if the task was taken away meanwhile, or was given before a restart.
        if let Some(took) = self.times.end(lease, now)
            && self.times.is_remarkable(took)
        {
            self.documents.note_longest(took);
        }
        self.documents.forget_errors(shard_of(held));
        Outcome::Counted
    }

    /// Returns a shard that its worker could not use, or quarantines it.
    fn fail(&mut self, ledger: &mut Ledger, lease: u64, held: &HeldPositions, error: &str, now: u64) -> Outcome {
        let shard = shard_of(held);
        // A worker may send megabytes, and each record of the shard has the text in the quarantine.
        let error = &cut(error);
        let errors = self.documents.errors_of(shard) + 1;
        let (dataset, epoch, first) = (self.documents.dataset(), held.epoch, held.positions.start);
        if errors < ERRORS {
            tracing::warn!(dataset, epoch, first, errors, error, "a task could not be used: it is given again");
            self.documents.set_errors(shard, errors);
            self.take_away(ledger, lease, held, Cause::TrainerEnded, now);
            return Outcome::Returned;
        }
        tracing::error!(dataset, epoch, first, errors, error, "a task could not be used: it is in quarantine");
        let reason = format!("{errors} workers could not use its shard: {error}");
        let bad = |record| BadRecord { lease, record, reason: reason.clone(), ..BadRecord::default() };
        let bad = records(ledger.plan(), held.epoch, held.positions.clone()).take(REASONS).map(bad).collect();
        let item = AckItem { lease, range: Some(held.range), kind: Kind::Bare.into(), ..AckItem::default() };
        end(ledger, &held.worker, item, bad);
        self.times.end(lease, now);
        self.documents.forget_errors(shard);
        Outcome::Quarantined
    }

    fn take_away(&mut self, ledger: &mut Ledger, lease: u64, held: &HeldPositions, cause: Cause, now: u64) {
        let item = ReturnedRange { lease, range: Some(held.range), cause: cause.into() };
        ledger.give_back(&held.worker, &[item], now);
        self.times.end(lease, now);
    }

    /// A heartbeat of the worker that has these leases has named them.
    pub(crate) fn heard(&mut self, leases: impl Iterator<Item = u64>, now: u64) {
        self.times.heard(leases, now);
    }

    /// Takes away tasks that were not reported in time, or whose worker sends no heartbeats any more.
    pub(crate) fn expire(&mut self, ledger: &mut Ledger, now: u64) {
        if !self.times.looks(now) {
            return;
        }
        self.waiting.expire(now);
        let longest = self.documents.longest();
        let late = |(worker, lease): (&str, &Lease)| {
            let lateness = self.times.lateness(lease.id, sends_heartbeats(ledger, worker), longest, now)?;
            Some((lease.id, lateness))
        };
        let late: Vec<(u64, Lateness)> = ledger.leases().filter_map(late).collect();
        for (lease, lateness) in late {
            let Some(held) = ledger.held(lease) else { continue };
            let (dataset, worker, task) = (self.documents.dataset(), &held.worker, self.documents.id(lease));
            lateness.tell(dataset, worker, task);
            self.take_away(ledger, lease, &held, Cause::LeaseExpired, now);
        }
        // Other commands may have ended leases.
        let open: BTreeSet<u64> = ledger.leases().map(|(_, lease)| lease.id).collect();
        self.times.keep(&open);
        self.received.keep(&open);
        self.stir(ledger, now);
    }

    /// Adds what the ledger's own status does not know.
    pub(crate) fn complete(&self, status: &mut LedgerStatus) {
        status.late_reports = self.documents.late_reports();
        status.open_at_end = if self.has_ended() { status.leased + status.returned } else { 0 };
        for worker in &mut status.workers {
            let sends_heartbeats = worker.incarnation > UNNUMBERED;
            worker.gone_after_ms = self.times.gone_after(sends_heartbeats, self.documents.longest());
        }
    }

    /// The state of all shards. What workers have is not done in it.
    ///
    /// # Errors
    /// None in practice: the ledger takes each snapshot that names no receipts.
    pub(crate) fn checkpoint(&self, ledger: &mut Ledger) -> Result<String, LedgerError> {
        checkpoint::write(ledger, self.documents.dataset(), self.documents.batch_size())
    }

    /// Goes back to a checkpoint, or to the beginning. Tasks that are out are no longer valid then.
    ///
    /// # Errors
    /// It is not a checkpoint, or is one of another dataset or order, or its load id was used for another one. Nothing has
    /// changed then.
    pub(crate) fn restore(&mut self, ledger: &mut Ledger, request: &RestoreTasksRequest) -> Result<(), LedgerError> {
        if checkpoint::restore(ledger, request)? {
            self.times.forget_all();
            self.documents.forget_all_errors();
            self.waiting.restart();
        }
        Ok(())
    }

    /// Notes whether those who wait would get another answer.
    fn stir(&mut self, ledger: &mut Ledger, now: u64) {
        if self.waiting.has_any() && (ledger.has_answer() || self.no_worker_reports(ledger, now)) {
            self.waiting.stir();
        }
    }

    /// Whether workers that wait should ask again. True only once for each change.
    pub(crate) const fn take_stirred(&mut self) -> bool {
        self.waiting.take_stirred()
    }
}

/// The shard that a worker has positions of: its epoch and its first position.
fn shard_of(held: &HeldPositions) -> (u64, u64) {
    (held.epoch, held.positions.start)
}
