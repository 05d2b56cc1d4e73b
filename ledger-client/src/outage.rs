//! A time in which the store of the ledgers cannot be used: what is wrong, and since when.

use std::{
    fmt,
    time::{Duration, Instant},
};

use tokio::sync::watch;

use crate::call_error::CallError;

/// The store cannot be used here. Commands wait; nothing that was acknowledged is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outage {
    /// When a commit first failed.
    pub since: Instant,
    /// What failed and where, as of the last attempt, without a full stop.
    pub cause: String,
    /// Nothing has failed: another coordinator leads, or will in a moment.
    pub follows: bool,
}

/// Tells subscribers when an outage begins and ends, and logs each once.
#[derive(Debug)]
pub struct Outages(watch::Sender<Option<Outage>>);

impl Outage {
    /// How long it has lasted.
    pub fn lasts(&self) -> Duration {
        self.since.elapsed()
    }
}

impl fmt::Display for Outage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the ledger could not be reached or written for {} s: {}", self.lasts().as_secs(), self.cause)
    }
}

impl Outages {
    /// Without an outage so far, and with the channel that tells of them.
    pub fn new() -> (Self, watch::Receiver<Option<Outage>>) {
        let (sender, receiver) = watch::channel(None);
        (Self(sender), receiver)
    }

    /// Whether there is one now.
    pub fn is_one(&self) -> bool {
        self.0.borrow().is_some()
    }

    /// The error for callers if another coordinator leads, or will in a moment. The cause has no full stop.
    pub fn follows(&self, leader: Option<String>, cause: &str) -> CallError {
        self.tell(cause, true);
        CallError::NotLeader { leader, why: format!("{cause}.") }
    }

    /// The error for the callers of a failed attempt. The cause has no full stop.
    pub fn continues(&self, cause: &str) -> CallError {
        self.tell(cause, false);
        CallError::Unavailable(format!("{cause}."))
    }

    fn tell(&self, cause: &str, follows: bool) {
        self.0.send_if_modified(|known| {
            let begun = known.as_ref().is_none_or(|outage| outage.follows != follows);
            if begun && follows {
                tracing::info!(cause, "this coordinator does not lead");
            } else if begun {
                tracing::error!(cause, "the ledger cannot be reached or written; everything waits until it can be");
            }
            match known {
                Some(outage) if !begun => {
                    let is_new = outage.cause != cause;
                    cause.clone_into(&mut outage.cause);
                    is_new
                }
                _ => {
                    *known = Some(Outage { since: Instant::now(), cause: cause.to_owned(), follows });
                    true
                }
            }
        });
    }

    /// An attempt has succeeded.
    pub fn is_over(&self) {
        self.0.send_if_modified(|known| {
            let Some(outage) = known.take() else { return false };
            let seconds = outage.lasts().as_secs();
            if outage.follows {
                tracing::info!(seconds, "this coordinator leads");
            } else {
                tracing::info!(seconds, "the ledger is written again");
            }
            true
        });
    }
}
