//! The daemon is gone: reach it, or its successor, and report the batches that this trainer holds (semantics rule 16).

use std::sync::Arc;
use std::time::{Duration, Instant};

use forebay_ring::text_code;

use super::Session;
use crate::error::{AttachError, Broken, CallError, NextError};
use crate::link::{self, Impatience, Patience, Resume};
use crate::watch::Notice;

/// Pauses between attempts: short first, since a service manager starts a daemon again within moments.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
/// The next daemon waits for its trainers for 0.8 s: a pause must not take so long.
const LONGEST_PAUSE: Duration = Duration::from_millis(400);

/// Why no daemon was reached.
pub(super) enum Unreached {
    /// The caller waits no longer; the next call tries on.
    Impatient(Impatience),
    /// The daemon has put this consumer out, with its reason.
    Evicted(String),
    /// The time for it is over, or trying on is no use.
    Outage { cause: String, source: Box<AttachError> },
}

impl Session {
    pub(super) fn reconnect(&mut self, cause: &str, patience: &mut Patience<'_>) -> Result<(), Unreached> {
        if let Some(reason) = self.inbox.evicted() {
            return Err(Unreached::Evicted(reason));
        }
        if self.asked.is_none() {
            // Its offer dies with the daemon.
            self.untaken = None;
            self.hands.disconnect();
        }
        // Calls with short timeouts continue one wait, which began when the daemon was first found gone.
        let lost = *self.lost.get_or_insert_with(|| {
            patience.watch().notice(&Notice::DaemonLost { cause: cause.to_owned() });
            Instant::now()
        });
        let mut pause = FIRST_PAUSE;
        loop {
            let left = patience.left().unwrap_or(self.options.attach_timeout).min(self.options.attach_timeout);
            let source = match self.attach_again(&mut Patience::new(patience.watch(), Some(left))) {
                Ok(()) => {
                    self.lost = None;
                    patience.watch().notice(&Notice::DaemonBack);
                    return Ok(());
                }
                // A caller gives up once: asked again, it may have no reason any more.
                Err(AttachError::Broken(Broken::Interrupted)) => return Err(Impatience::Interrupted.into()),
                Err(source) => source,
            };
            // One that was asked has been reached, and may take longer to open the stream.
            let is_over = self.asked.is_none() && lost.elapsed() >= self.options.reconnect_timeout;
            if !is_over {
                patience.slice()?;
            }
            if is_over || !passes(&source) {
                self.lost = None;
                return Err(Unreached::Outage { cause: cause.to_owned(), source: Box::new(source) });
            }
            let until = Instant::now() + pause;
            while Instant::now() < until {
                let slice = patience.slice()?;
                std::thread::park_timeout(slice.min(until.saturating_duration_since(Instant::now())));
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// One attempt to reach the next daemon. If the caller stopped waiting, the next call continues the same attempt. The
    /// daemon may have accepted the handed-in claims, and would give them to other trainers if this one hung up.
    fn attach_again(&mut self, patience: &mut Patience<'_>) -> Result<(), AttachError> {
        let asked = if let Some(asked) = self.asked.take() {
            asked
        } else {
            let resume = Resume { incarnation: self.link.welcome.incarnation, list: self.hands.hand_in() };
            link::ask(&self.target, &self.options, self.number, Some(&resume), patience)?
        };
        let (link, ring) = match asked.answer(&self.target, self.options.told_after, patience) {
            Err(error @ (AttachError::Timeout { .. } | AttachError::Broken(Broken::Interrupted))) => {
                self.asked = Some(asked);
                return Err(error);
            }
            answer => answer?,
        };
        self.rings.take_over(link.welcome.ring, ring);
        self.inbox.take_over(link.info.epoch);
        self.hands.connect(Arc::clone(&link.socket));
        self.link = link;
        // What the former daemon was asked has no answer.
        self.vigil.hears();
        Ok(())
    }
}

/// A daemon that starts, that is short of something, or that still counts the old connection, may take this trainer a
/// moment later; so may one whose dataset was not there when it started.
fn passes(source: &AttachError) -> bool {
    match source {
        AttachError::Connect { .. } | AttachError::Denied { .. } | AttachError::HungUp { .. } => true,
        AttachError::Refused(refusal) => matches!(refusal.code, text_code::BUSY | text_code::DATASET),
        _ => false,
    }
}

impl From<Impatience> for Unreached {
    fn from(impatience: Impatience) -> Self {
        Self::Impatient(impatience)
    }
}

impl From<Unreached> for NextError {
    fn from(unreached: Unreached) -> Self {
        match unreached {
            Unreached::Impatient(impatience) => impatience.into(),
            Unreached::Evicted(reason) => Self::Evicted(reason),
            Unreached::Outage { cause, source } => Self::Outage { cause, source },
        }
    }
}

impl From<Unreached> for CallError {
    fn from(unreached: Unreached) -> Self {
        match unreached {
            Unreached::Impatient(impatience) => impatience.into(),
            Unreached::Evicted(reason) => Self::Failed(format!("the daemon has evicted this trainer: {reason}")),
            Unreached::Outage { cause, source } => Self::Outage { cause, source },
        }
    }
}

impl From<Impatience> for NextError {
    fn from(impatience: Impatience) -> Self {
        match impatience {
            Impatience::Interrupted => Self::Broken(Broken::Interrupted),
            Impatience::TimedOut(waited) => Self::Timeout { waited },
        }
    }
}

impl From<Impatience> for CallError {
    fn from(impatience: Impatience) -> Self {
        match impatience {
            Impatience::Interrupted => Self::Broken(Broken::Interrupted),
            Impatience::TimedOut(waited) => Self::Timeout { waited },
        }
    }
}
