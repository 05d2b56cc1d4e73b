//! The line to a coordinator in another process: one call over it, with its deadline, and what an answer means.

use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use forebay_proto::v1::ledger_client::LedgerClient;
use forebay_proto::v1::{LedgerNews, NewsRequest};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tonic::transport::Channel;
use tonic::{Code, Status};

use crate::address::Address;
use crate::call_error::CallError;
use crate::outage::Outages;
use crate::request::Request;
use crate::token::TokenFile;

/// Largest reply, in bytes. A snapshot of a million open ranges has fewer.
const REPLY: usize = 64 << 20;

/// The ways to a coordinator.
#[derive(Debug)]
pub(crate) struct Line {
    ways: Vec<(Address, Channel)>,
    /// The one that is asked now.
    current: AtomicUsize,
    token: Option<TokenFile>,
    deadline: Duration,
    outages: Outages,
}

impl Line {
    /// Over these ways, the first of which is tried first; there is at least one.
    pub(crate) fn new(
        ways: Vec<(Address, Channel)>,
        token: Option<TokenFile>,
        deadline: Duration,
        outages: Outages,
    ) -> Self {
        Self { ways, current: AtomicUsize::new(0), token, deadline, outages }
    }

    /// Asks the coordinator. An answer that does not come in time, or that says that it cannot answer now, is an outage.
    pub(crate) async fn ask<R: Request>(&self, message: R) -> Result<R::Reply, CallError> {
        let at = self.current.load(Ordering::Relaxed);
        let (address, channel) = &self.ways[at];
        let client =
            LedgerClient::new(channel.clone()).max_decoding_message_size(REPLY).max_encoding_message_size(REPLY);
        let mut request = tonic::Request::new(message);
        request.set_timeout(self.deadline);
        if let Some(token) = &self.token {
            token.sign(request.metadata_mut());
        }
        let refused = match timeout(self.deadline, R::send(request, client)).await {
            Ok(Ok(reply)) => {
                self.outages.is_over();
                return Ok(reply.into_inner());
            }
            // tonic watches the same deadline, and may be the first to see it pass.
            Ok(Err(status)) if matches!(status.code(), Code::Cancelled | Code::DeadlineExceeded) => self.silent(),
            Ok(Err(status)) => match of_status(&status) {
                Ok(refusal) => {
                    self.outages.is_over();
                    return Err(refusal);
                }
                Err(outage) => outage,
            },
            Err(_elapsed) => self.silent(),
        };
        // Another call may have gone on to the next address meanwhile.
        let next = (at + 1) % self.ways.len();
        let _moved = self.current.compare_exchange(at, next, Ordering::Relaxed, Ordering::Relaxed);
        Err(self.outages.goes_on(&format!("the coordinator at {address}: {refused}")))
    }

    /// Passes on what the coordinator tells of a ledger, until it cannot be asked.
    pub(crate) async fn follow(&self, message: NewsRequest, news: &mpsc::Sender<LedgerNews>) {
        let (address, channel) = &self.ways[self.current.load(Ordering::Relaxed)];
        let mut client = LedgerClient::new(channel.clone());
        let mut request = tonic::Request::new(message);
        if let Some(token) = &self.token {
            token.sign(request.metadata_mut());
        }
        let mut told = match timeout(self.deadline, client.news(request)).await {
            Ok(Ok(told)) => told.into_inner(),
            Ok(Err(refused)) => {
                tracing::debug!(%address, %refused, "the ledger is not followed: its news come with heartbeats");
                return;
            }
            Err(_elapsed) => return,
        };
        while let Ok(Some(now)) = told.message().await {
            if news.send(now).await.is_err() {
                return;
            }
        }
    }

    fn silent(&self) -> String {
        format!("no answer within {} s", self.deadline.as_secs_f32())
    }
}

/// The coordinator's own refusal; else, in words without a full stop, why it could not be asked or cannot answer now.
fn of_status(status: &Status) -> Result<CallError, String> {
    let text = || status.message().trim_end_matches('.').to_owned();
    match status.code() {
        Code::PermissionDenied => Ok(CallError::Invalid(status.message().to_owned())),
        Code::Unimplemented => Ok(CallError::Invalid(
            "The coordinator does not know this call: it is of an older version than this program.".to_owned(),
        )),
        // A new token may reach one end before the other.
        Code::Unauthenticated => Err(text()),
        _ => match CallError::from(status.clone()) {
            CallError::Unavailable(_) => Err(status.source().map_or_else(text, innermost)),
            refusal => Ok(refusal),
        },
    }
}

/// What the system said; what is around it says only that a transport failed.
fn innermost(error: &(dyn Error + 'static)) -> String {
    error.source().map_or_else(|| error.to_string(), innermost)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_34_only_what_the_coordinator_itself_refuses_is_final() {
        assert_eq!(of_status(&Status::failed_precondition("Gone.")), Ok(CallError::Fenced("Gone.".into())));
        assert_eq!(of_status(&Status::permission_denied("No.")), Ok(CallError::Invalid("No.".into())));
        for status in [
            Status::unavailable("Off."),
            Status::unauthenticated("Off."),
            Status::unknown("Off."),
            Status::internal("Off."),
        ] {
            assert_eq!(of_status(&status), Err("Off".to_owned()), "{status}");
        }
    }
}
