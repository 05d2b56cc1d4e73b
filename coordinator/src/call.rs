//! A call to a coordinator: a request, who waits for its reply, and how it is refused.

use tokio::sync::oneshot;
use tonic::{Code, Status};

use crate::ledgers::Ledgers;

/// Why a call was refused. Each kind has a gRPC code of its own, so that it survives the way there and back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The store or the coordinator is out of reach, and whether the command was applied is not known. Repeat it
    /// with the same sequence number; an outage is never the end of the data.
    #[error("The coordinator cannot be reached or cannot store its ledgers: {0} You may retry the call.")]
    Unavailable(String),
    /// The request itself is wrong.
    #[error("{0}")]
    Invalid(String),
    /// No such ledger: it must be opened first.
    #[error("{0}")]
    NotFound(String),
    /// The ledger exists with another spec or shard size (semantics rules 1 and 20).
    #[error("{0}")]
    SpecMismatch(String),
    /// The caller is not the worker's current incarnation, or it never opened the ledger.
    #[error("{0}")]
    Fenced(String),
    /// The sequence number is older than the replies that are kept.
    #[error("{0}")]
    SequenceTooOld(String),
    /// What the store holds is not a ledger.
    #[error("{0}")]
    Corrupt(String),
}

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

impl From<CallError> for Status {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Unavailable(text) => Self::unavailable(text),
            CallError::Invalid(text) => Self::invalid_argument(text),
            CallError::NotFound(text) => Self::not_found(text),
            CallError::SpecMismatch(text) => Self::already_exists(text),
            CallError::Fenced(text) => Self::failed_precondition(text),
            CallError::SequenceTooOld(text) => Self::out_of_range(text),
            CallError::Corrupt(text) => Self::data_loss(text),
        }
    }
}

impl From<Status> for CallError {
    fn from(status: Status) -> Self {
        let text = status.message().to_owned();
        match status.code() {
            Code::InvalidArgument => Self::Invalid(text),
            Code::NotFound => Self::NotFound(text),
            Code::AlreadyExists => Self::SpecMismatch(text),
            Code::FailedPrecondition => Self::Fenced(text),
            Code::OutOfRange => Self::SequenceTooOld(text),
            Code::DataLoss => Self::Corrupt(text),
            _ => Self::Unavailable(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_survives_the_way_over_grpc() {
        let text = || "Why.".to_owned();
        for error in [
            CallError::Unavailable(text()),
            CallError::Invalid(text()),
            CallError::NotFound(text()),
            CallError::SpecMismatch(text()),
            CallError::Fenced(text()),
            CallError::SequenceTooOld(text()),
            CallError::Corrupt(text()),
        ] {
            assert_eq!(CallError::from(Status::from(error.clone())), error);
        }
    }
}
