//! Follows a ledger: a message whenever something of it has changed, and never more than the latest.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use forebay_ledger::Ledgers;
use forebay_proto::v1::{Caller, HeartbeatRequest, LedgerNews, NewsRequest};
use tokio::sync::mpsc;
use tonic::Status;
use tonic::codegen::tokio_stream::Stream;

use crate::call::Call;
use crate::call_error::CallError;
use crate::handle::Handle;
use crate::line::Line;

/// The news of one ledger, as a gRPC stream.
#[derive(Debug)]
pub struct NewsFeed(mpsc::Receiver<LedgerNews>);

impl Handle {
    /// The news of a worker's ledger as long as the worker listens, in the coordinator's own process.
    ///
    /// # Errors
    /// It does not have the ledger open.
    pub async fn news(&self, request: NewsRequest) -> Result<NewsFeed, CallError> {
        let ledger = request.caller.as_ref().map_or("", |caller| &caller.ledger);
        let mut news = self.board().follow(ledger);
        // Once this is answered, the coordinator knows the worker, and its first news is on the board.
        self.call(HeartbeatRequest { caller: request.caller, ..HeartbeatRequest::default() }).await?;
        let (sender, feed) = mpsc::channel(1);
        tokio::spawn(async move {
            loop {
                let now = news.borrow_and_update().clone();
                if sender.send(now).await.is_err() {
                    return;
                }
                tokio::select! {
                    changed = news.changed() => if changed.is_err() { return },
                    () = sender.closed() => return,
                }
            }
        });
        Ok(NewsFeed(feed))
    }

    /// Ends the news of a coordinator in this process for all who follow: it is about to end itself.
    pub fn end_news(&self) {
        self.board().end();
    }

    /// Follows a ledger. With a coordinator in another process, it ends when that cannot be asked: until the ledger is followed
    /// again, replies to heartbeats have the same news.
    pub async fn follow(&self, caller: Caller) -> mpsc::Receiver<LedgerNews> {
        let (news, told) = mpsc::channel(1);
        if !self.is_remote() {
            // Refused, it has ended already.
            let here = self.news(NewsRequest { caller: Some(caller) }).await;
            return here.map_or(told, |NewsFeed(told)| told);
        }
        // Without a coordinator, it has ended already.
        let _gone = self.send(Box::new(Following { caller, news })).await;
        told
    }
}

/// A worker that wants to be told what changes.
struct Following {
    caller: Caller,
    news: mpsc::Sender<LedgerNews>,
}

impl Call for Following {
    fn apply(&mut self, _ledgers: &mut Ledgers, _now: u64) {}

    fn answer(self: Box<Self>, _durable: Result<(), CallError>) {}

    fn forward(self: Box<Self>, line: Arc<Line>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let Self { caller, news } = *self;
        Box::pin(async move {
            tokio::select! {
                () = line.follow(NewsRequest { caller: Some(caller) }, &news) => {}
                () = news.closed() => {}
            }
        })
    }

    fn is_lasting(&self) -> bool {
        true
    }
}

impl Stream for NewsFeed {
    type Item = Result<LedgerNews, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|news| news.map(Ok))
    }
}
