//! A call to a coordinator: a request, and the caller that waits for its reply.

use std::pin::Pin;
use std::sync::Arc;

use forebay_ledger::Ledgers;
use tokio::sync::oneshot;

use crate::call_error::CallError;
use crate::line::Line;
use crate::request::Request;

/// A request on its way to a coordinator, whichever it is.
pub trait Call: Send {
    /// Carries the request out at a time `now` in milliseconds.
    fn apply(&mut self, ledgers: &mut Ledgers, now: u64);
    /// Sends the reply, or why what was carried out is not `durable`.
    fn answer(self: Box<Self>, durable: Result<(), CallError>);
    /// Asks a coordinator in another process, and sends its reply.
    fn forward(self: Box<Self>, line: Arc<Line>) -> Pin<Box<dyn Future<Output = ()> + Send>>;
    /// Whether it lasts until its caller or the coordinator ends.
    fn is_lasting(&self) -> bool {
        false
    }
}

type Answer<R> = Result<<R as Request>::Reply, CallError>;

struct Asked<R: Request> {
    /// Until it is carried out.
    request: Option<R>,
    /// From then on.
    reply: Option<Answer<R>>,
    caller: oneshot::Sender<Answer<R>>,
}

/// A call, and the receiver of its reply.
pub fn call<R: Request>(request: R) -> (Box<dyn Call>, oneshot::Receiver<Answer<R>>) {
    let (caller, reply) = oneshot::channel();
    (Box::new(Asked { request: Some(request), reply: None, caller }), reply)
}

impl<R: Request> Call for Asked<R> {
    fn apply(&mut self, ledgers: &mut Ledgers, now: u64) {
        self.reply = self.request.take().map(|request| request.apply(ledgers, now).map_err(CallError::from));
    }

    fn answer(self: Box<Self>, durable: Result<(), CallError>) {
        let Self { reply, caller, .. } = *self;
        let reply = durable.and_then(|()| reply.expect("a call is carried out before it is durable"));
        // A caller that no longer waits has given up on its reply.
        caller.send(reply).ok();
    }

    fn forward(self: Box<Self>, line: Arc<Line>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let Self { request, mut caller, .. } = *self;
        let request = request.expect("a call that is forwarded was not carried out here");
        Box::pin(async move {
            let reply = tokio::select! {
                reply = line.ask(request) => reply,
                // A caller that no longer waits has given up on its reply.
                () = caller.closed() => return,
            };
            caller.send(reply).ok();
        })
    }
}
