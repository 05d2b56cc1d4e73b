//! Shards of a dataset as tasks for workers that read the data themselves, as in `ElasticDL` and `DLRover`. Pure: it turns
//! their requests and reports into commands of the dataset's ledger.
//!
//! A task is a lease. Its id follows from the lease's, so there is no table of both. A task that takes too long goes to
//! another worker. Workers that number their commands also send heartbeats, so their tasks end soon after they do. For other
//! workers, it is unknown whether they live.

mod checkpoint;
mod late;
mod params;
mod received;
mod stored;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use forebay_proto::v1::next_task_reply::Answer as TaskAnswer;
use forebay_proto::v1::report_task_reply::Outcome;
use forebay_proto::v1::{
    AckItem, AckRequest, AcquireReply, AcquireRequest, BadRecord, Caller, Cause, Lease, NextTaskReply, OpenRequest,
    ReportTaskReply, ReportTaskRequest, ReturnedRange, StoredTasks, Task, Verdict, ack_item::Kind,
    acquire_reply::Answer,
};
use forebay_proto::{RecordSum, Turn};

pub(crate) use self::params::TaskParams;
pub use self::params::task_ledger;
use self::received::ReceivedTasks;
use crate::error::LedgerError;
use crate::ledger::{HeldPositions, Ledger, Times, cut};
use forebay_plan::Plan;

/// A shard with this many reports of errors is quarantined.
const ERRORS: u32 = 3;
/// A worker that got nothing counts as waiting for this long, in milliseconds.
const WAITING: u64 = 10_000;
/// The incarnation of workers that do not number their commands. They have no other.
pub(crate) const UNNUMBERED: u64 = 1;
/// The lower bits of a lease's id count the leases of a ledger.
const COUNTED: u64 = (1 << 40) - 1;
/// The list of the quarantine has no room for more.
const REASONS: usize = 100_000;

/// The tasks of one dataset.
#[derive(Clone, Debug)]
pub(crate) struct Tasks {
    stored: StoredTasks,
    /// Shards whose tasks have failed: epoch and first position, and how often.
    errors: BTreeMap<(u64, u64), u32>,
    /// What changed since the last commit.
    is_changed: bool,
    changed_errors: BTreeSet<(u64, u64)>,
    /// When each task was given, by its lease. Not stored: after a restart, tasks have their full time again, and their workers
    /// may not have received them.
    given: BTreeMap<u64, u64>,
    /// When a heartbeat last named each lease of a worker that sends them. Not stored either.
    named: BTreeMap<u64, u64>,
    loaded: u64,
    looked: u64,
    /// What workers that do not number their commands may not have received. Not stored: after a restart, such a task may be given
    /// twice, and none is lost.
    received: ReceivedTasks,
    /// Until when workers that got nothing count as waiting.
    waits: BTreeMap<String, u64>,
    /// All who have tasks are waiting.
    has_ended: bool,
    /// Workers that wait may get another answer now.
    stirred: bool,
    timeout: u64,
    /// How long a task lasts that no heartbeat names, of a worker that sends them.
    lease_ttl: u64,
}

impl Tasks {
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
        if self.id(ledger.next_lease()).is_none() {
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
            return NextTaskReply { answer: TaskAnswer::Wait.into(), task: None, kind: self.stored.kind };
        };
        let (dataset, task) = (&self.stored.dataset, self.id(lease));
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
        self.given.insert(lease, now);
        self.waits.remove(worker);
        self.continues();
        let task = task.map(|id| self.task(ledger.plan(), id, &out));
        NextTaskReply { answer: TaskAnswer::Given.into(), task, kind: self.stored.kind }
    }

    fn answer(&mut self, ledger: &mut Ledger, worker: &str, reply: &AcquireReply, now: u64) -> NextTaskReply {
        if let Some(lease) = reply.leases.first() {
            self.waits.remove(worker);
            self.continues();
            self.given.entry(lease.id).or_insert(now);
            let task = self.id(lease.id).map(|id| self.task(ledger.plan(), id, lease));
            return NextTaskReply { answer: TaskAnswer::Given.into(), task, kind: self.stored.kind };
        }
        let is_done = reply.answer() == Answer::DatasetDone;
        if !is_done {
            self.waits.insert(worker.to_owned(), now.saturating_add(WAITING));
        }
        // If a worker with the last shards dies, a worker without shards gets them. It learns of the end when all shards are
        // reported.
        let may_end = !sends_heartbeats(ledger, worker) || ledger.has_leases(worker);
        let ends = !is_done && may_end && reply.answer() == Answer::EpochEnd && self.nobody_reports(ledger, now);
        let given_once = if ends { self.given_once(ledger) } else { None };
        if let Some(lease) = given_once.filter(|_| !sends_heartbeats(ledger, worker)) {
            return self.give_again(ledger, worker, lease, now);
        }
        // A worker with heartbeats cannot be given the task of another one.
        let ends = ends && given_once.is_none();
        if ends && !self.stored.ended_open {
            self.ends_open(ledger);
        }
        // The others who wait hear it too.
        self.stirred |= ends && !std::mem::replace(&mut self.has_ended, ends);
        let answer = if is_done || ends { TaskAnswer::End } else { TaskAnswer::Wait };
        NextTaskReply { answer: answer.into(), task: None, kind: self.stored.kind }
    }

    /// A task of a worker that does not number its commands, if it was given only once: the reply may have been lost.
    fn given_once(&self, ledger: &Ledger) -> Option<u64> {
        let open = ledger.leases().filter(|(worker, _)| !sends_heartbeats(ledger, worker));
        open.map(|(_, lease)| lease.id).find(|lease| !self.received.is_doubled(*lease))
    }

    /// The workers are given the end, and these tasks are not reported.
    fn ends_open(&mut self, ledger: &Ledger) {
        (self.stored.ended_open, self.is_changed) = (true, true);
        let dataset = &self.stored.dataset;
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
    fn continues(&mut self) {
        self.has_ended = false;
        self.is_changed |= std::mem::take(&mut self.stored.ended_open);
    }

    /// Whether the workers were given the end of the data while tasks were open.
    pub(crate) const fn has_ended(&self) -> bool {
        self.stored.ended_open
    }

    /// All workers that have tasks wait for tasks themselves. A task from before a restart may have been lost on its way to its
    /// worker, so its time is waited for.
    fn nobody_reports(&self, ledger: &Ledger, now: u64) -> bool {
        let is_waiting = |worker| self.waits.get(worker).is_some_and(|until| *until > now);
        ledger.leases().all(|(worker, lease)| self.given.contains_key(&lease.id) && is_waiting(worker))
    }

    /// Ends a task.
    pub(crate) fn report(&mut self, ledger: &mut Ledger, request: &ReportTaskRequest, now: u64) -> ReportTaskReply {
        let lease = self.lease(ledger, request.task);
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
            self.stored.late_reports += 1;
            self.is_changed = true;
            let (dataset, task) = (&self.stored.dataset, request.task);
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
        if let Some(given) = self.given.remove(&lease) {
            let took = now.saturating_sub(given);
            if took > self.stored.longest && took.saturating_mul(3) > self.timeout {
                self.stored.longest = took;
                self.is_changed = true;
            }
        }
        self.forget_errors(held);
        Outcome::Counted
    }

    /// Returns a shard that its worker could not use, or quarantines it.
    fn fail(&mut self, ledger: &mut Ledger, lease: u64, held: &HeldPositions, error: &str, now: u64) -> Outcome {
        let shard = (held.epoch, held.positions.start);
        // A worker may send megabytes, and each record of the shard has the text in the quarantine.
        let error = &cut(error);
        let errors = self.errors.get(&shard).map_or(1, |errors| errors + 1);
        let (dataset, epoch, first) = (&self.stored.dataset, held.epoch, held.positions.start);
        if errors < ERRORS {
            tracing::warn!(dataset, epoch, first, errors, error, "a shard could not be used: it is given again");
            self.errors.insert(shard, errors);
            self.changed_errors.insert(shard);
            self.take_away(ledger, lease, held, Cause::TrainerEnded, now);
            return Outcome::Returned;
        }
        tracing::error!(dataset, epoch, first, errors, error, "a shard could not be used: it is in quarantine");
        let reason = format!("{errors} workers could not use its shard: {error}");
        let bad = |record| BadRecord { lease, record, reason: reason.clone(), ..BadRecord::default() };
        let bad = records(ledger.plan(), held.epoch, held.positions.clone()).take(REASONS).map(bad).collect();
        let item = AckItem { lease, range: Some(held.range), kind: Kind::Bare.into(), ..AckItem::default() };
        end(ledger, &held.worker, item, bad);
        self.given.remove(&lease);
        self.forget_errors(held);
        Outcome::Quarantined
    }

    fn forget_errors(&mut self, held: &HeldPositions) {
        let shard = (held.epoch, held.positions.start);
        if self.errors.remove(&shard).is_some() {
            self.changed_errors.insert(shard);
        }
    }

    fn take_away(&mut self, ledger: &mut Ledger, lease: u64, held: &HeldPositions, cause: Cause, now: u64) {
        let item = ReturnedRange { lease, range: Some(held.range), cause: cause.into() };
        ledger.give_back(&held.worker, &[item], now);
        self.given.remove(&lease);
    }

    /// Notes whether those who wait would get another answer.
    fn stir(&mut self, ledger: &mut Ledger, now: u64) {
        self.stirred |= !self.waits.is_empty() && (ledger.has_answer() || self.nobody_reports(ledger, now));
    }

    /// Whether workers that wait should ask again. True only once for each change.
    pub(crate) const fn take_stirred(&mut self) -> bool {
        std::mem::replace(&mut self.stirred, false)
    }

    /// The id of a lease's task; none if there are no ids left.
    fn id(&self, lease: u64) -> Option<i32> {
        i32::try_from(self.stored.first_task.saturating_add(lease & COUNTED)).ok()
    }

    /// The lease of a task. There need not be one.
    fn lease(&self, ledger: &Ledger, task: i32) -> Option<u64> {
        let counted = u64::try_from(task).ok()?.checked_sub(self.stored.first_task)?;
        (counted <= COUNTED).then_some(ledger.next_lease() & !COUNTED | counted)
    }

    fn task(&self, plan: &Plan, id: i32, lease: &Lease) -> Task {
        let (dataset, kind, epoch) = (self.stored.dataset.clone(), self.stored.kind, lease.epoch);
        let positions = lease.start..lease.end;
        let (own, records) = match shard(plan, epoch, positions.clone()) {
            Some(own) => (self.filled(own), Vec::new()),
            None => (self.filled(positions.clone()), records(plan, epoch, self.filled(positions)).collect()),
        };
        Task { id, dataset, epoch, start: own.start, end: own.end, records, kind, lease: lease.id }
    }

    /// A shard whose last batch is full, if that is wanted: it begins earlier then.
    fn filled(&self, shard: Range<u64>) -> Range<u64> {
        let len = shard.end - shard.start;
        let missing = if self.stored.fill { len.next_multiple_of(self.stored.batch_size) - len } else { 0 };
        shard.start.saturating_sub(missing)..shard.end
    }
}

/// Makes a worker known that does not number its commands.
fn join(ledger: &mut Ledger, worker: &str, now: u64) {
    let request = OpenRequest { worker: worker.to_owned(), incarnation: UNNUMBERED, ..OpenRequest::default() };
    ledger.register(&request, now);
}

/// Whether a worker numbers its commands, and so sends heartbeats.
fn sends_heartbeats(ledger: &Ledger, worker: &str) -> bool {
    ledger.incarnation(worker) > UNNUMBERED
}

/// The records at the positions of a shard, if they follow each other in the dataset.
fn shard(plan: &Plan, epoch: u64, positions: Range<u64>) -> Option<Range<u64>> {
    match plan.grain_at(epoch, positions.start) {
        Some((places, records)) => (places == positions).then_some(records),
        None => (!plan.spec().shuffle).then_some(positions),
    }
}

/// Accounts for a shard; false if another worker has it by now.
fn end(ledger: &mut Ledger, worker: &str, item: AckItem, bad: Vec<BadRecord>) -> bool {
    let request = AckRequest { items: vec![item], bad, ..AckRequest::default() };
    ledger.ack(worker, &request).verdicts == [i32::from(Verdict::Accepted)]
}

/// The records at these positions of an epoch; the same ones, in the dataset's order, if they follow each other there.
fn records(plan: &Plan, epoch: u64, positions: Range<u64>) -> impl Iterator<Item = u64> {
    let run = shard(plan, epoch, positions.clone());
    let listed = run.is_none().then(|| {
        let order = plan.epoch(epoch);
        positions.map(move |position| order.record(position))
    });
    run.into_iter().flatten().chain(listed.into_iter().flatten())
}
