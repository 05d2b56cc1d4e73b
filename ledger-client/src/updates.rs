//! Follows a ledger: a message whenever something of it has changed, and never more than the latest.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use forebay_ledger::Ledgers;
use forebay_proto::v1::{Caller, LedgerUpdate, NewsRequest};
use tokio::sync::{mpsc, watch};
use tonic::Status;
use tonic::codegen::tokio_stream::Stream;

use crate::call::Call;
use crate::call_error::CallError;
use crate::line::Line;

/// The updates of one ledger, as a gRPC stream.
#[derive(Debug)]
pub struct UpdateFeed(mpsc::Receiver<LedgerUpdate>);

impl UpdateFeed {
    /// The latest update, and those that come, as long as this one is read.
    pub(crate) fn of(mut updates: watch::Receiver<LedgerUpdate>) -> Self {
        let (sender, feed) = mpsc::channel(1);
        tokio::spawn(async move {
            loop {
                let latest = updates.borrow_and_update().clone();
                if sender.send(latest).await.is_err() {
                    return;
                }
                tokio::select! {
                    changed = updates.changed() => if changed.is_err() { return },
                    () = sender.closed() => return,
                }
            }
        });
        Self(feed)
    }

    pub(crate) fn into_receiver(self) -> mpsc::Receiver<LedgerUpdate> {
        self.0
    }
}

/// A worker that wants to be told what changes in a ledger of another process.
pub(crate) struct Following {
    caller: Caller,
    updates: mpsc::Sender<LedgerUpdate>,
}

impl Following {
    /// The call, and what comes of it.
    pub(crate) fn new(caller: Caller) -> (Self, mpsc::Receiver<LedgerUpdate>) {
        let (updates, told) = mpsc::channel(1);
        (Self { caller, updates }, told)
    }
}

impl Call for Following {
    fn apply(&mut self, _ledgers: &mut Ledgers, _now: u64) {}

    fn answer(self: Box<Self>, _durable: Result<(), CallError>) {}

    fn forward(self: Box<Self>, line: Arc<Line>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let Self { caller, updates } = *self;
        Box::pin(async move {
            tokio::select! {
                () = line.follow(NewsRequest { caller: Some(caller) }, &updates) => {}
                () = updates.closed() => {}
            }
        })
    }

    fn is_lasting(&self) -> bool {
        true
    }
}

impl Stream for UpdateFeed {
    type Item = Result<LedgerUpdate, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|update| update.map(Ok))
    }
}
