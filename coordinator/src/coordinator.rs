//! The one thread that owns the ledgers and their store, and the handle that others talk to it through.
//!
//! It drains its queue, applies every command, commits all changes at once, and only then replies (group commit).

mod settings;

use std::{sync::Arc, thread, time::Duration};

use forebay_ledger::{Ledgers, PREFIX, Times};
use tokio::{
    sync::{Notify, mpsc, oneshot, watch},
    time::timeout,
};

use crate::{
    call::{Call, call},
    call_error::CallError,
    news_board::NewsBoard,
    outage::{Outage, Outages},
    request::Request,
    served::{Served, TICK},
    store::Store,
};

pub use settings::CoordinatorSettings;

/// Commands that may wait; further callers wait until there is room.
const QUEUE: usize = 1024;
/// How long it waits for commands while no lease is out.
const IDLE: Duration = Duration::from_secs(60);
/// How often a store that cannot be written is tried, where no command does it.
const PROBE: Duration = Duration::from_secs(1);

/// How often it looks whether it leads, where others may lead.
const LOOK: Duration = Duration::from_millis(200);

/// Milliseconds that never go back. Tests bring their own.
pub type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// Why a coordinator did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The stored ledgers cannot be read.
    #[error(transparent)]
    Ledgers(#[from] CallError),
    /// No thread, or no timer for it.
    #[error("The coordinator's thread could not be started: {0}.")]
    Thread(#[from] std::io::Error),
}

/// Starts the thread of a coordinator.
#[derive(Debug)]
pub struct Coordinator;

/// Talks to a coordinator's thread. When the last clone is dropped, the thread answers what was asked, closes its
/// store and ends.
///
/// [`call`](Self::call) may be awaited on any runtime or none; [`wait`](Self::wait) is for plain threads.
#[derive(Clone, Debug)]
pub struct Handle {
    /// Of the thread here that owns the ledgers, or of the one that asks a coordinator elsewhere.
    queue: mpsc::Sender<Box<dyn Call>>,
    outage: watch::Receiver<Option<Outage>>,
    board: NewsBoard,
    end: Arc<Notify>,
    is_remote: bool,
}

struct Keeper<S> {
    store: S,
    clock: Clock,
    served: Served,
    times: Times,
    /// The term in which this process led when the ledgers were read.
    term: Option<u64>,
    /// `None` after a failed commit, until the store can be read again, and in another term.
    ledgers: Option<Ledgers>,
    board: NewsBoard,
    end: Arc<Notify>,
    /// Behind the store: when its other end hears no more, the store is closed.
    outages: Outages,
}

impl Coordinator {
    /// Loads the ledgers of `store` and serves them until every [`Handle`] is dropped.
    ///
    /// ```
    /// # use forebay_coordinator::{Coordinator, CoordinatorSettings, MemoryStore, monotonic_clock};
    /// # use forebay_proto::v1::{LedgerSpec, OpenRequest};
    /// let handle = Coordinator::start(MemoryStore::new(), monotonic_clock(), CoordinatorSettings::default())?;
    /// let spec = LedgerSpec { fingerprint: vec![0; 32], records: 500, permutation: 1, ..Default::default() };
    /// let opened = handle.wait(OpenRequest {
    ///     run: "first".into(),
    ///     stream: "train".into(),
    ///     spec: Some(spec),
    ///     shard_size: 32,
    ///     worker: "node-1".into(),
    ///     incarnation: 1,
    ///     ..Default::default()
    /// })?;
    /// assert_eq!(opened.ledger, "first/train/all");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn start(store: impl Store, clock: Clock, settings: CoordinatorSettings) -> Result<Handle, StartError> {
        let times = settings.times();
        let (handle, calls, outages) = Handle::new(false);
        let served = Served::new(clock());
        let (board, end) = (handle.board.clone(), Arc::clone(&handle.end));
        let mut keeper = Keeper { store, clock, served, times, term: None, ledgers: None, board, end, outages };
        // It waits until it leads.
        if let Ok(term) = keeper.leads() {
            match keeper.load(term, served.time()) {
                Ok(_) | Err(CallError::NotLeader { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
        thread::Builder::new()
            .name("forebay-ledger".to_owned())
            .spawn(move || runtime.block_on(keeper.serve(calls)))?;
        Ok(handle)
    }
}

impl Handle {
    pub(crate) fn new(is_remote: bool) -> (Self, mpsc::Receiver<Box<dyn Call>>, Outages) {
        let (queue, calls) = mpsc::channel(QUEUE);
        let (outages, outage) = Outages::new();
        (Self { queue, outage, board: NewsBoard::default(), end: Arc::default(), is_remote }, calls, outages)
    }

    /// Sends any request and awaits its reply, which comes after the durable commit.
    pub async fn call<R: Request>(&self, request: R) -> Result<R::Reply, CallError> {
        let (call, reply) = call(request);
        self.ask(call, reply).await
    }

    /// Sends a call, and awaits what comes at its other end.
    pub(crate) async fn ask<T>(
        &self,
        call: Box<dyn Call>,
        reply: oneshot::Receiver<Result<T, CallError>>,
    ) -> Result<T, CallError> {
        self.send(call).await?;
        reply.await.map_err(|_| gone())?
    }

    /// As [`call`](Self::call), for a thread that is not part of a tokio runtime; inside of one it panics.
    pub fn wait<R: Request>(&self, request: R) -> Result<R::Reply, CallError> {
        let (call, reply) = call(request);
        self.queue.blocking_send(call).map_err(|_| gone())?;
        reply.blocking_recv().map_err(|_| gone())?
    }

    /// Sends a call without waiting for its end.
    pub(crate) async fn send(&self, call: Box<dyn Call>) -> Result<(), CallError> {
        self.queue.send(call).await.map_err(|_| gone())
    }

    /// Where the coordinator's thread in this process tells its news.
    pub(crate) const fn board(&self) -> &NewsBoard {
        &self.board
    }

    /// Changes whenever workers that wait for tasks are to ask again. Only a coordinator in this process tells it.
    pub fn task_stirs(&self) -> watch::Receiver<u64> {
        self.board.stirs()
    }

    /// Whether the coordinator is in another process: then what it has given holds only until a deadline (semantics rule
    /// 19).
    pub const fn is_remote(&self) -> bool {
        self.is_remote
    }

    /// Lets a coordinator in this process answer what it was asked before, close its store and end. Later calls are refused.
    /// Returns when the store is closed, and another coordinator may lead.
    pub async fn end(&self) {
        self.end.notify_one();
        let mut outage = self.outage();
        while outage.changed().await.is_ok() {}
    }

    /// Since when the store cannot be written, and why, if that is so. Later values tell of changes.
    pub fn outage(&self) -> watch::Receiver<Option<Outage>> {
        self.outage.clone()
    }
}

impl<S: Store> Keeper<S> {
    async fn serve(mut self, mut calls: mpsc::Receiver<Box<dyn Call>>) {
        loop {
            let first = tokio::select! {
                call = timeout(self.until_deadline(), calls.recv()) => match call {
                    Ok(Some(call)) => Some(call),
                    Ok(None) => return,
                    Err(_) => None,
                },
                () = self.end.notified() => {
                    calls.close();
                    continue;
                }
            };
            let mut group: Vec<_> = first.into_iter().collect();
            while group.len() < self.at_once()
                && let Ok(call) = calls.try_recv()
            {
                group.push(call);
            }
            self.answer(group);
        }
    }

    /// Most commands of a group.
    fn at_once(&self) -> usize {
        self.store.commands_at_once().clamp(1, QUEUE)
    }

    /// Carries a group of calls out, lets leases expire, commits once, replies. Reads and heartbeats are answered as commands
    /// are: only if nobody else has led since the ledgers were read.
    fn answer(&mut self, mut group: Vec<Box<dyn Call>>) {
        let durable = self.apply(&mut group).and_then(|()| self.commit()).and_then(|()| self.still_leads());
        if let Some(ledgers) = self.ledgers.as_mut().filter(|_| durable.is_ok()) {
            self.board.tell(ledgers);
        }
        for call in group {
            call.answer(durable.clone());
        }
    }

    fn apply(&mut self, group: &mut [Box<dyn Call>]) -> Result<(), CallError> {
        let term = self.leads()?;
        let now = self.served.turn((self.clock)());
        let more_may_wait = group.len() == self.at_once();
        let ledgers = self.load(term, now)?;
        for call in group {
            call.apply(ledgers, now);
        }
        // Not before all that waited was heard: a heartbeat may have come in time and waited for a slow commit.
        if !more_may_wait {
            ledgers.expire(now);
        }
        Ok(())
    }

    /// The term, if this process is sure to lead. If not, it serves nobody: the time up to now counts against no worker, and
    /// workers that follow its news have to follow those of the leader.
    fn leads(&mut self) -> Result<u64, CallError> {
        self.store.term().map_err(|error| {
            self.served.pause((self.clock)());
            self.board.clear();
            self.outages.failed(&error)
        })
    }

    /// The ledgers; read from the store where a commit has failed, and in another term.
    fn load(&mut self, term: u64, now: u64) -> Result<&mut Ledgers, CallError> {
        let same = self.term.replace(term) == Some(term);
        let ledgers = if let Some(ledgers) = self.ledgers.take().filter(|_| same) {
            ledgers
        } else {
            let documents = self.store.load(PREFIX).map_err(|error| self.outages.failed(&error))?;
            Ledgers::load(&documents, self.times, now)?
        };
        Ok(self.ledgers.insert(ledgers))
    }

    /// Whether this process leads as it did when the ledgers were read. If not, somebody else may have changed them since.
    fn still_leads(&mut self) -> Result<(), CallError> {
        let term = self.leads()?;
        if self.term == Some(term) {
            return Ok(());
        }
        Err(CallError::Unavailable("Another coordinator has led meanwhile.".to_owned()))
    }

    /// Makes everything durable. Where that fails, what is in memory may be ahead of the store and is thrown away. While the
    /// store cannot be written, each group of commands tries it, so that the end of that is noticed.
    fn commit(&mut self) -> Result<(), CallError> {
        let changes = self.ledgers.as_mut().map(Ledgers::take_changes).unwrap_or_default();
        if changes.is_empty() && !self.outages.is_one() {
            return Ok(());
        }
        match self.store.commit(&changes) {
            Ok(()) => {
                self.outages.is_over();
                Ok(())
            }
            Err(error) => {
                // What is in the store may be ahead of what is here as well.
                self.ledgers = None;
                let refusal = self.outages.failed(&error);
                // Nothing but the attempt has failed: the replies tell what the store holds.
                if changes.is_empty() { Ok(()) } else { Err(refusal) }
            }
        }
    }

    fn until_deadline(&self) -> Duration {
        let deadline = self.ledgers.as_ref().and_then(Ledgers::next_deadline);
        let until = match deadline {
            // No lease expires meanwhile.
            _ if self.outages.is_one() => PROBE,
            // Not below the clock's grain, so that a deadline that is almost there makes no busy loop.
            Some(deadline) => Duration::from_millis(deadline.saturating_sub(self.served.time()).max(10)).min(TICK),
            None => IDLE,
        };
        // A term may begin and end at any time.
        if self.term.is_none_or(|term| term > 0) { until.min(LOOK) } else { until }
    }
}

/// Milliseconds since the process first asked, from the monotonic clock.
pub fn monotonic_clock() -> Clock {
    let start = std::time::Instant::now();
    Arc::new(move || millis(start.elapsed()))
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn gone() -> CallError {
    CallError::Unavailable("The coordinator has ended.".to_owned())
}

#[cfg(test)]
mod tests;
