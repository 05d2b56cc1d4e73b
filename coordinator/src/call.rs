//! A call to a coordinator: a request, and who waits for its reply.

use tokio::sync::oneshot;

use crate::call_error::CallError;
use crate::ledgers::Ledgers;

/// A request to any of the coordinator's procedures: the messages of `ledger.proto` are, and `procedures.rs` lists them.
pub trait Request: Send + 'static {
    /// What it gives.
    type Reply: Send + 'static;
    #[doc(hidden)]
    fn apply(self, ledgers: &mut Ledgers, now: u64) -> Result<Self::Reply, CallError>;
}

/// A request on its way through the coordinator's thread, whichever it is.
pub(crate) trait Call: Send {
    /// Carries the request out at a time `now` in milliseconds.
    fn apply(&mut self, ledgers: &mut Ledgers, now: u64);
    /// Sends the reply, or why what was carried out is not `durable`.
    fn answer(self: Box<Self>, durable: Result<(), CallError>);
}

type Answer<R> = Result<<R as Request>::Reply, CallError>;

struct Asked<R: Request> {
    /// Until it is carried out.
    request: Option<R>,
    /// From then on.
    reply: Option<Answer<R>>,
    caller: oneshot::Sender<Answer<R>>,
}

/// A call, and where its reply comes.
pub(crate) fn call<R: Request>(request: R) -> (Box<dyn Call>, oneshot::Receiver<Answer<R>>) {
    let (caller, reply) = oneshot::channel();
    (Box::new(Asked { request: Some(request), reply: None, caller }), reply)
}

impl<R: Request> Call for Asked<R> {
    fn apply(&mut self, ledgers: &mut Ledgers, now: u64) {
        self.reply = self.request.take().map(|request| request.apply(ledgers, now));
    }

    fn answer(self: Box<Self>, durable: Result<(), CallError>) {
        let Self { reply, caller, .. } = *self;
        let reply = durable.and_then(|()| reply.expect("a call is carried out before it is durable"));
        // A caller that no longer waits has given up on its reply.
        caller.send(reply).ok();
    }
}
