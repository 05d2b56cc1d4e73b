//! Messages between simulated daemons and coordinators.

use forebay_proto::v1::{
    AckRequest, AcquireReply, AcquireRequest, AttendRequest, Caller, HeartbeatReply, HeartbeatRequest, NackRequest,
    OpenReply, OpenRequest, ReturnRequest, SettleRequest, Verdict,
};

use forebay_ledger_client::CallError;
use forebay_ledger_client::Request;
use forebay_ledger_client::{Call, call};

/// What a daemon asks.
#[derive(Clone, Debug)]
pub(super) enum Ask {
    Open(Box<OpenRequest>),
    Acquire(AcquireRequest),
    Ack(AckRequest),
    Nack(NackRequest),
    Return(ReturnRequest),
    Settle(SettleRequest),
    Attend(AttendRequest),
    Beat(HeartbeatRequest),
}

/// What it is told.
#[derive(Clone, Debug)]
pub(super) enum Told {
    Open(OpenReply),
    Acquire(AcquireReply),
    /// Of each item of a request.
    Verdicts(Vec<Verdict>),
    Attend,
    Beat(HeartbeatReply),
}

/// A question on its way, or at a coordinator.
#[derive(Clone, Debug)]
pub(super) struct Message {
    /// Which process sent it.
    pub(super) from: usize,
    /// The lowest number whose reply its process had not seen then.
    pub(super) unseen: u64,
    /// When it was sent, in milliseconds.
    pub(super) sent: u64,
    pub(super) ask: Ask,
}

/// What it is told, or why nothing.
pub(super) type Answer = Result<Told, CallError>;

impl Ask {
    pub(super) fn caller_mut(&mut self) -> Option<&mut Caller> {
        match self {
            Self::Open(_) => None,
            Self::Acquire(request) => request.caller.as_mut(),
            Self::Ack(request) => request.caller.as_mut(),
            Self::Nack(request) => request.caller.as_mut(),
            Self::Return(request) => request.caller.as_mut(),
            Self::Settle(request) => request.caller.as_mut(),
            Self::Attend(request) => request.caller.as_mut(),
            Self::Beat(request) => request.caller.as_mut(),
        }
    }

    pub(super) fn caller(&self) -> Option<&Caller> {
        match self {
            Self::Open(_) => None,
            Self::Acquire(request) => request.caller.as_ref(),
            Self::Ack(request) => request.caller.as_ref(),
            Self::Nack(request) => request.caller.as_ref(),
            Self::Return(request) => request.caller.as_ref(),
            Self::Settle(request) => request.caller.as_ref(),
            Self::Attend(request) => request.caller.as_ref(),
            Self::Beat(request) => request.caller.as_ref(),
        }
    }

    /// The call, and what takes its answer when it was carried out.
    pub(super) fn call(self) -> (Box<dyn Call>, Box<dyn FnOnce() -> Answer>) {
        match self {
            Self::Open(request) => of(*request, Told::Open),
            Self::Acquire(request) => of(request, Told::Acquire),
            Self::Ack(request) => of(request, |reply| Told::Verdicts(reply.verdicts().collect())),
            Self::Nack(request) => of(request, |reply| Told::Verdicts(reply.verdicts().collect())),
            Self::Return(request) => of(request, |reply| Told::Verdicts(reply.verdicts().collect())),
            Self::Settle(request) => of(request, |reply| Told::Verdicts(reply.verdicts().collect())),
            Self::Attend(request) => of(request, |_| Told::Attend),
            Self::Beat(request) => of(request, Told::Beat),
        }
    }
}

fn of<R: Request>(
    request: R,
    told: impl FnOnce(R::Reply) -> Told + 'static,
) -> (Box<dyn Call>, Box<dyn FnOnce() -> Answer>) {
    let (call, mut reply) = call(request);
    (call, Box::new(move || reply.try_recv().expect("each call of a turn is answered in it").map(told)))
}
