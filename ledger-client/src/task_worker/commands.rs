//! What a worker says to the coordinator about tasks: numbered commands, each repeated until it is answered, and heartbeats.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use forebay_ledger::task_ledger;
use forebay_proto::v1::next_task_reply::Answer;
use forebay_proto::v1::report_task_reply::Outcome;
use forebay_proto::v1::{
    Caller, HeartbeatRequest, NextTaskRequest, RegisterTasksRequest, ReportTaskRequest, RestoreTasksRequest,
    ShowTasksRequest, Task,
};
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::pending::Waiter;
use crate::call_error::CallError;
use crate::handle::Handle;
use crate::outage::Outage;
use crate::pauses::Pauses;
use crate::request::Request;

/// How long joining waits for a coordinator that does not answer.
const JOINING: Duration = Duration::from_secs(15);
/// Heartbeats in a lease's time.
const BEATS: u32 = 6;

/// A worker of a dataset, in one incarnation.
#[derive(Debug)]
pub(super) struct TaskCommands {
    handle: Handle,
    dataset: String,
    worker: String,
    incarnation: u64,
    /// Number of the last command.
    sequence: tokio::sync::Mutex<u64>,
    /// The lowest number whose reply was not seen.
    unseen: AtomicU64,
    /// How long a lease lasts, in milliseconds. 0: the coordinator has not said it yet.
    lease_ttl: watch::Sender<u64>,
    tasks: Mutex<WorkerTasks>,
    is_ending: watch::Sender<bool>,
}

/// A task, and after how many restores by this worker it was given.
#[derive(Debug)]
pub struct GivenTask {
    /// The task.
    pub task: Task,
    /// The worker's count of restores when the task was given. If it differs from
    /// [`TaskWorker::restores`](super::TaskWorker::restores), the task is no longer valid.
    pub restores: u64,
}

/// What the worker has.
#[derive(Debug, Default)]
struct WorkerTasks {
    restores: u64,
    /// Fetched, but not yet taken by a caller.
    ready: VecDeque<GivenTask>,
    /// The leases of all tasks that are not reported, by task.
    leases: BTreeMap<i32, u64>,
}

impl TaskCommands {
    pub(super) fn new(handle: Handle, request: &RegisterTasksRequest) -> Self {
        Self {
            handle,
            dataset: request.dataset.clone(),
            worker: request.worker.clone(),
            incarnation: request.incarnation,
            sequence: tokio::sync::Mutex::new(0),
            unseen: AtomicU64::new(1),
            lease_ttl: watch::Sender::new(0),
            tasks: Mutex::default(),
            is_ending: watch::Sender::new(false),
        }
    }

    /// Makes the worker known. It gets the records of a shard.
    pub(super) async fn join(&self, request: RegisterTasksRequest) -> Result<u64, CallError> {
        let mut pauses = Pauses::of(self.incarnation);
        let reply = loop {
            match timeout(JOINING, self.answered(request.clone())).await {
                // Another worker says what the dataset is.
                Ok(Err(CallError::NotFound(_))) if request.records == 0 && !self.ends() => sleep(pauses.next()).await,
                Ok(answer) => break answer?,
                Err(_elapsed) => {
                    let why = self.outage().map_or_else(|| "no answer".to_owned(), |outage| outage.cause);
                    return Err(CallError::Unavailable(format!("{why}.")));
                }
            }
        };
        self.lease_ttl.send_replace(reply.lease_ttl_ms);
        Ok(reply.task_size)
    }

    /// Fetches a task, and waits for one as long as the caller waits. False at the end of the data.
    pub(super) async fn fetch(&self, caller: &Waiter) -> Result<bool, CallError> {
        let mut pauses = Pauses::of(self.incarnation);
        while caller.waits() {
            if !self.tasks.lock().ready.is_empty() {
                return Ok(true);
            }
            // One command at a time. While this one waited, another may have got a task, or the caller may have given up.
            let mut sequence = self.sequence.lock().await;
            if self.ends() || !caller.waits() {
                return Err(closed());
            }
            if !self.tasks.lock().ready.is_empty() {
                return Ok(true);
            }
            let answer = self.next(&mut sequence).await?;
            drop(sequence);
            match answer {
                Answer::Given => {}
                Answer::End => return Ok(false),
                _ => {
                    let mut ending = self.is_ending.subscribe();
                    tokio::select! {
                        () = sleep(pauses.next()) => {}
                        _ending = ending.wait_for(|ends| *ends) => return Err(closed()),
                    }
                }
            }
        }
        Err(closed())
    }

    pub(super) fn take(&self) -> Option<GivenTask> {
        self.tasks.lock().ready.pop_front()
    }

    pub(super) fn restores(&self) -> u64 {
        self.tasks.lock().restores
    }

    /// Asks for a task once. One that is given is ready then, unless it was lost meanwhile. The caller has the lock of the numbers.
    async fn next(&self, sequence: &mut u64) -> Result<Answer, CallError> {
        let (reply, is_late) = self.numbered(sequence, |caller| NextTaskRequest { caller: Some(caller) }).await?;
        let answer = reply.answer();
        if let Some(task) = reply.task {
            let (id, lease) = (task.id, task.lease);
            self.tasks.lock().leases.insert(id, lease);
            // After an outage, the reply may be older than the lease lasts. If it does not, the heartbeat forgets it.
            if is_late {
                self.confirm().await?;
            }
            let mut tasks = self.tasks.lock();
            if tasks.leases.contains_key(&id) {
                let restores = tasks.restores;
                tasks.ready.push_back(GivenTask { task, restores });
            }
        }
        Ok(answer)
    }

    pub(super) async fn report(&self, task: i32, error: String) -> Result<Outcome, CallError> {
        self.end_task(ReportTaskRequest { task, error, ..ReportTaskRequest::default() }).await
    }

    async fn end_task(&self, report: ReportTaskRequest) -> Result<Outcome, CallError> {
        let mut sequence = self.sequence.lock().await;
        self.end_alone(&mut sequence, report).await
    }

    /// As [`end_task`](Self::end_task). The caller has the lock of the numbers.
    async fn end_alone(&self, sequence: &mut u64, report: ReportTaskRequest) -> Result<Outcome, CallError> {
        let task = report.task;
        let (reply, _) = self.numbered(sequence, |caller| ReportTaskRequest { caller: Some(caller), ..report }).await?;
        self.tasks.lock().leases.remove(&task);
        Ok(reply.outcome())
    }

    pub(super) async fn checkpoint(&self) -> Result<String, CallError> {
        let reply = self.answered(ShowTasksRequest { dataset: self.dataset.clone() }).await?;
        Ok(reply.checkpoint)
    }

    pub(super) async fn restore(&self, checkpoint: String, load_id: String) -> Result<(), CallError> {
        // One command at a time: a task that is asked for now is of the new state.
        let mut sequence = self.sequence.lock().await;
        let dataset = self.dataset.clone();
        self.answered(RestoreTasksRequest { dataset, checkpoint, load_id }).await?;
        let given_back = self.give_back_fresh(&mut sequence).await;
        let mut tasks = self.tasks.lock();
        *tasks = WorkerTasks { restores: tasks.restores + 1, ..WorkerTasks::default() };
        drop(tasks);
        given_back
    }

    /// Gives back the tasks that the coordinator still counts as this worker's after a restore. Another worker may have
    /// loaded the state under the same id before, and this worker may have got tasks of it. Without this, no other worker
    /// would get them for a lease's time.
    async fn give_back_fresh(&self, sequence: &mut u64) -> Result<(), CallError> {
        if self.tasks.lock().leases.is_empty() {
            return Ok(());
        }
        // This forgets the tasks that the restore has ended.
        self.confirm().await?;
        let (fresh, untaken) = {
            let tasks = self.tasks.lock();
            let untaken: Vec<i32> = tasks.ready.iter().map(|given| given.task.id).collect();
            (tasks.leases.keys().copied().collect::<Vec<i32>>(), untaken)
        };
        for task in fresh {
            let unheard = untaken.contains(&task);
            let report = ReportTaskRequest { task, unheard, given_back: !unheard, ..ReportTaskRequest::default() };
            self.end_alone(sequence, report).await?;
        }
        Ok(())
    }

    /// From now on, an outage is waited for no longer.
    pub(super) fn end(&self) {
        self.is_ending.send_replace(true);
    }

    /// Gives everything back that was not reported.
    pub(super) async fn give_back(&self) {
        let open: Vec<i32> = self.tasks.lock().leases.keys().copied().collect();
        for task in open {
            let report = ReportTaskRequest { task, given_back: true, ..ReportTaskRequest::default() };
            if self.end_task(report).await.is_err() {
                return;
            }
        }
    }

    pub(super) fn outage(&self) -> Option<Outage> {
        self.handle.outage().borrow().clone()
    }

    /// Sends heartbeats for as long as it runs.
    pub(super) async fn beat(&self) {
        let mut lease_ttl = self.lease_ttl.subscribe();
        loop {
            let lasts = lease_ttl.wait_for(|millis| *millis > 0).await.map_or(u64::MAX, |millis| *millis);
            sleep(Duration::from_millis(lasts) / BEATS).await;
            // In an outage, the next heartbeat comes soon enough. If a heartbeat is refused, the next command returns the
            // error.
            self.heartbeat().await.ok();
        }
    }

    /// Sends a heartbeat, and repeats it until it is answered.
    async fn confirm(&self) -> Result<(), CallError> {
        let mut pauses = Pauses::of(self.incarnation);
        loop {
            match self.heartbeat().await {
                Err(CallError::Unavailable(_)) if !self.ends() => sleep(pauses.next()).await,
                answer => return answer,
            }
        }
    }

    /// Names all leases, and forgets those that are not this worker's any more.
    async fn heartbeat(&self) -> Result<(), CallError> {
        let named: Vec<u64> = self.tasks.lock().leases.values().copied().collect();
        let caller = Caller { unseen: self.unseen.load(Ordering::Relaxed), ..self.caller(0) };
        let request = HeartbeatRequest { caller: Some(caller), leases: named.clone(), waits: false };
        let reply = self.handle.call(request).await?;
        // A coordinator that was started again may have another one.
        self.lease_ttl.send_replace(reply.lease_ttl_ms);
        let is_lost = |lease: &u64| named.contains(lease) && !reply.leases.contains(lease);
        let mut tasks = self.tasks.lock();
        tasks.leases.retain(|_, lease| !is_lost(lease));
        tasks.ready.retain(|given| !is_lost(&given.task.lease));
        drop(tasks);
        Ok(())
    }

    /// Sends the next command, and repeats it with the same number until it is answered. Says whether that took long. The
    /// caller has the lock of the numbers.
    async fn numbered<R: Request>(
        &self,
        sequence: &mut u64,
        request: impl FnOnce(Caller) -> R,
    ) -> Result<(R::Reply, bool), CallError> {
        *sequence += 1;
        let request = request(self.caller(*sequence));
        self.unseen.store(*sequence, Ordering::Relaxed);
        let mut pauses = Pauses::of(self.incarnation ^ *sequence);
        let answer = self.repeated(request, &mut pauses).await;
        self.unseen.store(*sequence + 1, Ordering::Relaxed);
        Ok((answer?, !pauses.is_first()))
    }

    /// As a command, of what has the same effect each time.
    async fn answered<R: Request>(&self, request: R) -> Result<R::Reply, CallError> {
        self.repeated(request, &mut Pauses::of(self.incarnation)).await
    }

    async fn repeated<R: Request>(&self, request: R, pauses: &mut Pauses) -> Result<R::Reply, CallError> {
        loop {
            match self.handle.call(request.clone()).await {
                Err(CallError::Unavailable(_) | CallError::NotLeader { .. }) if !self.ends() => {
                    sleep(pauses.next()).await;
                }
                answer => return answer,
            }
        }
    }

    fn ends(&self) -> bool {
        *self.is_ending.borrow()
    }

    fn caller(&self, sequence: u64) -> Caller {
        Caller {
            ledger: task_ledger(&self.dataset),
            worker: self.worker.clone(),
            incarnation: self.incarnation,
            sequence,
            // One command at a time: all replies before this one's were seen, or are not waited for any more.
            unseen: sequence,
        }
    }
}

fn closed() -> CallError {
    CallError::Unavailable("The worker was closed.".to_owned())
}
