//! A worker that reads the data itself: it gets shards from a coordinator as tasks, and reports them.
//!
//! A thread of its own sends heartbeats and carries out commands. So a caller may wait for a while, give up and wait again:
//! a command continues until the coordinator has answered it (semantics rule 34).

mod commands;
mod pending;

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use forebay_proto::v1::RegisterTasksRequest;
use forebay_proto::v1::report_task_reply::Outcome;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::call_error::CallError;
use crate::handle::Handle;
use crate::outage::Outage;

pub use self::commands::GivenTask;
use self::commands::TaskCommands;
pub use self::pending::Pending;

/// How long the end of a worker waits for the coordinator to take back what the worker still has.
const FAREWELL: Duration = Duration::from_secs(2);

/// See the module. When it is dropped, its thread ends, and the coordinator gives its tasks to others once they have lasted for
/// a lease's time.
#[derive(Debug)]
pub struct TaskWorker {
    own: Arc<TaskCommands>,
    orders: mpsc::UnboundedSender<WorkerOrder>,
}

/// What the thread carries out.
type WorkerOrder = Pin<Box<dyn Future<Output = ()> + Send>>;

impl TaskWorker {
    /// Starts the thread of a worker, which joins the dataset of `request` under the name `request.worker`. The answer is the
    /// number of records of a shard.
    ///
    /// # Errors
    /// The system has no thread, no timer or no randomness.
    pub fn start(handle: Handle, request: RegisterTasksRequest) -> io::Result<(Self, Pending<u64>)> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
        let incarnation = fresh()?;
        let request = RegisterTasksRequest { incarnation, origin: incarnation, ..request };
        let own = Arc::new(TaskCommands::new(handle, &request));
        let (orders, given) = mpsc::unbounded_channel();
        let serving = Arc::clone(&own);
        thread::Builder::new()
            .name("forebay-tasks".to_owned())
            .spawn(move || runtime.block_on(serve(serving, given)))?;
        let worker = Self { own, orders };
        let own = Arc::clone(&worker.own);
        let joined = worker.order(Pending::channel(), async move { own.join(request).await });
        Ok((worker, joined))
    }

    /// Gets a task, which [`take`](Self::take) then takes. False at the end of the data; never because of an outage.
    pub fn fetch(&self) -> Pending<bool> {
        let own = Arc::clone(&self.own);
        let (answer, pending) = Pending::channel();
        let caller = pending.caller();
        self.order((answer, pending), async move { own.fetch(&caller).await })
    }

    /// A task that was fetched. None if there is none, or another thread has taken it.
    pub fn take(&self) -> Option<GivenTask> {
        self.own.take()
    }

    /// How often this worker has restored a state. Tasks from before the last restore are no longer valid.
    pub fn restores(&self) -> u64 {
        self.own.restores()
    }

    /// Ends a task: all its records were used, or there was an error.
    pub fn report(&self, task: i32, error: String) -> Pending<Outcome> {
        let own = Arc::clone(&self.own);
        self.order(Pending::channel(), async move { own.report(task, error).await })
    }

    /// The state of the dataset's shards, as JSON.
    pub fn checkpoint(&self) -> Pending<String> {
        let own = Arc::clone(&self.own);
        self.order(Pending::channel(), async move { own.checkpoint().await })
    }

    /// Goes back to a state of the shards, or to their beginning if it is empty. Tasks that are out are no longer valid
    /// then. If several workers load it together, they give the same `load_id`, which is new for each load.
    pub fn restore(&self, checkpoint: String, load_id: String) -> Pending<()> {
        let own = Arc::clone(&self.own);
        self.order(Pending::channel(), async move { own.restore(checkpoint, load_id).await })
    }

    /// Gives all tasks back that were not reported. Does not wait for an outage: the coordinator then gives them to others after
    /// a lease's time.
    pub fn close(&self) -> Pending<()> {
        self.own.end();
        let own = Arc::clone(&self.own);
        self.order(Pending::channel(), async move {
            // Tasks that are not given back in time expire.
            tokio::time::timeout(FAREWELL, own.give_back()).await.ok();
            Ok(())
        })
    }

    /// Since when the coordinator cannot be asked, and why, if that is so.
    pub fn outage(&self) -> Option<Outage> {
        self.own.outage()
    }

    fn order<T: Send + 'static>(
        &self,
        (answer, pending): (pending::PendingAnswer<T>, Pending<T>),
        what: impl Future<Output = Result<T, CallError>> + Send + 'static,
    ) -> Pending<T> {
        let order = Box::pin(async move { answer.tell(what.await) });
        // Without the thread, the answer says that it is gone.
        self.orders.send(order).ok();
        pending
    }
}

/// Carries orders out, and sends heartbeats, until the worker is dropped.
async fn serve(own: Arc<TaskCommands>, mut orders: mpsc::UnboundedReceiver<WorkerOrder>) {
    let mut under_way = JoinSet::new();
    under_way.spawn(async move { own.beat().await });
    while let Some(order) = orders.recv().await {
        while under_way.try_join_next().is_some() {}
        under_way.spawn(order);
    }
}

/// A number that tells this start from all others.
fn fresh() -> io::Result<u64> {
    let mut bytes = [0; 8];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    // 0 means none, and 1 is for workers that do not number their commands.
    Ok(u64::from_le_bytes(bytes) | 2)
}
