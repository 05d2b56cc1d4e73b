//! What others ask the ledgers through, be they in this process or in another one.

use std::sync::Arc;

use tokio::sync::{Notify, mpsc, oneshot, watch};

use crate::call::{Call, call};
use crate::call_error::CallError;
use crate::news_board::NewsBoard;
use crate::outage::{Outage, Outages};
use crate::request::Request;

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
    board: NewsBoard,
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
    /// The news for workers that follow a ledger of this process.
    pub board: NewsBoard,
    /// [`Handle::end`] was called.
    pub end: Arc<Notify>,
}

impl Handle {
    /// A handle, and what the thread behind it has. `is_remote` if the ledgers are in another process.
    pub fn new(is_remote: bool) -> (Self, CallQueue) {
        let (queue, calls) = mpsc::channel(QUEUE);
        let (outages, outage) = Outages::new();
        let handle = Self { queue, outage, board: NewsBoard::default(), end: Arc::default(), is_remote };
        let queue = CallQueue { calls, outages, board: handle.board.clone(), end: Arc::clone(&handle.end) };
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
    pub(crate) async fn send(&self, call: Box<dyn Call>) -> Result<(), CallError> {
        self.queue.send(call).await.map_err(|_| gone())
    }

    /// Where the coordinator's thread in this process tells its news.
    pub(crate) const fn board(&self) -> &NewsBoard {
        &self.board
    }

    /// Changes whenever workers that wait for tasks should ask again. Only a coordinator in this process changes it.
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

    /// Since when the store cannot be written, and why. `None` if it can. The channel gives later changes.
    pub fn outage(&self) -> watch::Receiver<Option<Outage>> {
        self.outage.clone()
    }
}

fn gone() -> CallError {
    CallError::Unavailable("The coordinator has ended.".to_owned())
}
