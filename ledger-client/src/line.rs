//! The line to a coordinator in another process: one call over it, with its deadline, and what an answer means.

use std::error::Error;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use forebay_proto::v1::ledger_client::LedgerClient;
use forebay_proto::v1::{LedgerUpdate, NewsRequest};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout, timeout_at};
use tonic::{Code, Status};

use crate::address::Address;
use crate::call_error::CallError;
use crate::dial::{WayThere, told};
use crate::outage::Outages;
use crate::request::Request;
use crate::token::TokenFile;

/// Largest reply, in bytes. A snapshot of a million open ranges has fewer.
const REPLY: usize = 64 << 20;

/// The ways to a coordinator.
#[derive(Debug)]
pub struct Line {
    ways: Vec<WayThere>,
    /// The one that is asked now.
    current: AtomicUsize,
    token: Option<TokenFile>,
    deadline: Duration,
    outages: Outages,
}

impl Line {
    /// Over these ways, at least one. The first is tried first.
    pub(crate) fn new(ways: Vec<WayThere>, token: Option<TokenFile>, deadline: Duration, outages: Outages) -> Self {
        Self { ways, current: AtomicUsize::new(0), token, deadline, outages }
    }

    /// Asks the coordinator. An answer that does not come in time, or that says that it cannot answer now, is an outage. If
    /// it says that another one of these leads, that one is asked at once.
    pub(crate) async fn ask<R: Request>(&self, message: R) -> Result<R::Reply, CallError> {
        let until = Instant::now() + self.deadline;
        let mut hops = self.ways.len();
        loop {
            let at = self.current.load(Ordering::Relaxed);
            let why = match self.ask_at(at, message.clone(), until).await {
                Err(CallError::NotLeader { leader: Some(leader), .. }) if hops > 1 && self.turn_to(&leader, at) => {
                    hops -= 1;
                    continue;
                }
                Err(CallError::NotLeader { leader: Some(leader), why }) if !self.knows(&leader) => format!(
                    "{why} It names {leader}, which is not among the addresses of this program: add it to endpoint in \
                     [coordinator], or to --coordinator, or give that coordinator an --advertise under which it is reached"
                ),
                Err(CallError::Unavailable(why) | CallError::NotLeader { why, .. }) => why,
                answer => {
                    self.ways[at].faults.forget();
                    self.outages.is_over();
                    return answer;
                }
            };
            // Another call may have moved to the next address meanwhile.
            let next = (at + 1) % self.ways.len();
            let _moved = self.current.compare_exchange(at, next, Ordering::Relaxed, Ordering::Relaxed);
            let why = why.trim_end_matches('.');
            return Err(self.outages.continues(&format!("the coordinator at {}: {why}", self.ways[at].address)));
        }
    }

    /// Asks one of them.
    async fn ask_at<R: Request>(&self, at: usize, message: R, until: Instant) -> Result<R::Reply, CallError> {
        let client = LedgerClient::new(self.ways[at].channel.clone())
            .max_decoding_message_size(REPLY)
            .max_encoding_message_size(REPLY);
        let mut request = tonic::Request::new(message);
        request.set_timeout(until.saturating_duration_since(Instant::now()));
        if let Some(token) = &self.token {
            token.sign(request.metadata_mut());
        }
        match timeout_at(until, R::send(request, client)).await {
            Ok(Ok(reply)) => Ok(reply.into_inner()),
            // tonic watches the same deadline, and may be the first to see it pass.
            Ok(Err(status)) if matches!(status.code(), Code::Cancelled | Code::DeadlineExceeded) => {
                Err(self.silent(at))
            }
            Ok(Err(status)) => Err(match (of_status(&status), self.ways[at].faults.last()) {
                // HTTP/2 keeps only the text of what broke its connection.
                (CallError::Unavailable(_), Some(fault)) if status.source().is_some() => CallError::Unavailable(fault),
                (refusal, _) => refusal,
            }),
            Err(_elapsed) => Err(self.silent(at)),
        }
    }

    /// Passes on the coordinator's updates of a ledger, until the coordinator does not answer.
    pub(crate) async fn follow(&self, message: NewsRequest, updates: &mpsc::Sender<LedgerUpdate>) {
        let WayThere { address, channel, .. } = &self.ways[self.current.load(Ordering::Relaxed)];
        let mut client = LedgerClient::new(channel.clone());
        let mut request = tonic::Request::new(message);
        if let Some(token) = &self.token {
            token.sign(request.metadata_mut());
        }
        let mut told = match timeout(self.deadline, client.news(request)).await {
            Ok(Ok(told)) => told.into_inner(),
            Ok(Err(refused)) => {
                tracing::debug!(%address, %refused, "the ledger is not followed: its updates come with heartbeats");
                return;
            }
            Err(_elapsed) => return,
        };
        while let Ok(Some(now)) = told.message().await {
            if updates.send(now).await.is_err() {
                return;
            }
        }
    }

    /// Whether it has a way to this address.
    fn knows(&self, leader: &str) -> bool {
        leader.parse().is_ok_and(|leader: Address| self.ways.iter().any(|way| way.address == leader))
    }

    /// Continues at this address. False if it is not one of the known addresses, or was just asked.
    fn turn_to(&self, leader: &str, asked: usize) -> bool {
        let leads = |way: &WayThere| leader.parse().is_ok_and(|leader: Address| leader == way.address);
        let Some(next) = self.ways.iter().position(leads).filter(|next| *next != asked) else { return false };
        self.current.store(next, Ordering::Relaxed);
        true
    }

    /// No answer came in time. If the connection broke meanwhile, that is the reason: a refused certificate looks like
    /// silence.
    fn silent(&self, at: usize) -> CallError {
        let silence = format!("no answer within {} s", self.deadline.as_secs_f32());
        CallError::Unavailable(match self.ways[at].faults.last() {
            Some(fault) => format!("{silence}; the connection broke: {fault}"),
            None => silence,
        })
    }
}

/// The coordinator's own refusal; else `Unavailable`, or `NotLeader`, with why it could not be asked or cannot answer now.
fn of_status(status: &Status) -> CallError {
    match status.code() {
        Code::PermissionDenied => CallError::Invalid(status.message().to_owned()),
        Code::Unimplemented => CallError::Invalid(
            "The coordinator does not know this call: it is of an older version than this program.".to_owned(),
        ),
        // A new token may reach one end before the other.
        Code::Unauthenticated => CallError::Unavailable(status.message().to_owned()),
        _ => match CallError::from(status.clone()) {
            CallError::Unavailable(text) => CallError::Unavailable(status.source().map_or(text, innermost)),
            refusal => refusal,
        },
    }
}

/// What the system said; what is around it says only that a transport failed.
fn innermost(error: &(dyn Error + 'static)) -> String {
    match (error.source(), error.downcast_ref::<io::Error>()) {
        (Some(source), _) => innermost(source),
        (None, Some(system)) => told(system),
        (None, None) => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_34_only_what_the_coordinator_itself_refuses_is_final() {
        assert_eq!(of_status(&Status::failed_precondition("Gone.")), CallError::Fenced("Gone.".into()));
        assert_eq!(of_status(&Status::permission_denied("No.")), CallError::Invalid("No.".into()));
        for status in [
            Status::unavailable("Off."),
            Status::unauthenticated("Off."),
            Status::unknown("Off."),
            Status::internal("Off."),
        ] {
            assert_eq!(of_status(&status), CallError::Unavailable("Off.".to_owned()), "{status}");
        }
    }
}
