//! What others ask the ledgers through, be they in this process or in another one.

use std::sync::Arc;
use std::time::Duration;

use forebay_proto::v1::{Caller, HeartbeatRequest, LedgerUpdate, NewsRequest, OpenReply, OpenRequest};
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::time::{Instant, sleep};

use crate::call::{Call, call};
use crate::call_error::CallError;
use crate::outage::{Outage, Outages};
use crate::pauses::Pauses;
use crate::request::Request;
use crate::update_channels::UpdateChannels;
use crate::updates::{Following, UpdateFeed};

/// Commands that may wait; further callers wait until there is room.
pub const QUEUE: usize = 1024;

/// Talks to a coordinator's thread. When the last clone is dropped, the thread answers what was asked, closes its
/// store and ends.
///
/// [`call`](Self::call) may be awaited on any runtime or none; [`wait`](Self::wait) is for plain threads.
#[derive(Clone, Debug)]
pub struct Handle {
    /// Of the thread here that owns the ledgers, or of the one that asks a coordinator elsewhere.
    queue: mpsc::Sender<Box<dyn Call>>,
    outage: watch::Receiver<Option<Outage>>,
    updates: UpdateChannels,
    end: Arc<Notify>,
    is_remote: bool,
}

/// The other end of a [`Handle`]: of the thread that answers.
#[derive(Debug)]
pub struct CallQueue {
    /// Ends when the last handle is dropped.
    pub calls: mpsc::Receiver<Box<dyn Call>>,
    /// Tells the handle of outages.
    pub outages: Outages,
    /// For workers that follow a ledger of this process.
    pub updates: UpdateChannels,
    /// [`Handle::end`] was called.
    pub end: Arc<Notify>,
}

impl Handle {
    /// A handle, and what the thread behind it has. `is_remote` if the ledgers are in another process.
    pub fn new(is_remote: bool) -> (Self, CallQueue) {
        let (queue, calls) = mpsc::channel(QUEUE);
        let (outages, outage) = Outages::new();
        let handle = Self { queue, outage, updates: UpdateChannels::default(), end: Arc::default(), is_remote };
        let queue = CallQueue { calls, outages, updates: handle.updates.clone(), end: Arc::clone(&handle.end) };
        (handle, queue)
    }

    /// Sends any request and awaits its reply, which comes after the durable commit.
    pub async fn call<R: Request>(&self, request: R) -> Result<R::Reply, CallError> {
        let (call, reply) = call(request);
        self.ask(call, reply).await
    }

    /// Sends a call, and awaits its reply.
    ///
    /// # Errors
    /// What the other end says, or there is none any more.
    pub async fn ask<T>(
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
    async fn send(&self, call: Box<dyn Call>) -> Result<(), CallError> {
        self.queue.send(call).await.map_err(|_| gone())
    }

    /// Opens a ledger for a worker. If another incarnation has the worker's name and the request says in `replaces` which one
    /// it knows, this takes its place (semantics rule 33). A coordinator elsewhere may be started again at this moment, and a process that had the name
    /// before may just have ended: both are waited for, for a while.
    ///
    /// # Errors
    /// The ledger is about something else, the worker's name is in use, or the coordinator does not answer or cannot store its
    /// ledgers.
    pub async fn open(&self, mut request: OpenRequest) -> Result<OpenReply, CallError> {
        let until = Instant::now() + self.patience();
        let mut pauses = Pauses::of(request.incarnation);
        let mut waits_for_name = false;
        loop {
            match self.call(request.clone()).await {
                Ok(reply) if reply.incumbent != 0 => request.replaces = Some(reply.incumbent),
                Err(CallError::NameTaken(why)) if Instant::now() < until => {
                    if !std::mem::replace(&mut waits_for_name, true) {
                        tracing::warn!(
                            worker = request.worker,
                            why,
                            "the worker's name is in use: waiting until it is free"
                        );
                    }
                    sleep(pauses.next()).await;
                }
                Err(CallError::Unavailable(_)) if Instant::now() < until => sleep(pauses.next()).await,
                answer => return answer,
            }
        }
    }

    /// How long the opening of a ledger waits for a coordinator that does not answer. One in this process answers at once.
    const fn patience(&self) -> Duration {
        // Longer than a machine's name is kept from another boot.
        if self.is_remote() { Duration::from_secs(15) } else { Duration::ZERO }
    }

    /// The updates of a worker's ledger as long as the worker listens, in the coordinator's own process.
    ///
    /// # Errors
    /// It does not have the ledger open.
    pub async fn updates(&self, request: NewsRequest) -> Result<UpdateFeed, CallError> {
        let ledger = request.caller.as_ref().map_or("", |caller| &caller.ledger);
        let updates = self.updates.follow(ledger);
        // Once this is answered, the coordinator knows the worker, and the channel has the first update.
        self.call(HeartbeatRequest { caller: request.caller, ..HeartbeatRequest::default() }).await?;
        Ok(UpdateFeed::of(updates))
    }

    /// Ends the updates of a coordinator in this process for all who follow: it is about to end itself.
    pub fn end_updates(&self) {
        self.updates.end();
    }

    /// Follows a ledger. With a coordinator in another process, it ends when that cannot be asked: until the ledger is followed
    /// again, replies to heartbeats have the same updates.
    pub async fn follow(&self, caller: Caller) -> mpsc::Receiver<LedgerUpdate> {
        if !self.is_remote() {
            // Refused, it has ended already.
            let here = self.updates(NewsRequest { caller: Some(caller) }).await;
            return here.map_or_else(|_refusal| mpsc::channel(1).1, UpdateFeed::into_receiver);
        }
        let (following, updates) = Following::new(caller);
        // Without a coordinator, it has ended already.
        let _gone = self.send(Box::new(following)).await;
        updates
    }

    /// Changes whenever workers that wait for tasks should ask again. Only a coordinator in this process changes it.
    pub fn task_stirs(&self) -> watch::Receiver<u64> {
        self.updates.stirs()
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

    /// Since when the store cannot be written, and why. `None` if it can. The channel gives later changes.
    pub fn outage(&self) -> watch::Receiver<Option<Outage>> {
        self.outage.clone()
    }
}

fn gone() -> CallError {
    CallError::Unavailable("The coordinator has ended.".to_owned())
}
