//! The connection to a daemon. When the daemon is gone, it reaches its successor, and reports the batches that this trainer
//! holds (semantics rule 16).

use std::sync::Arc;
use std::time::{Duration, Instant};

use forebay_proto::v1::StreamInfo;
use forebay_ring::{Socket, Welcome, text_code};

use super::batches::Batches;
use crate::error::{AttachError, Broken, CallError, NextError};
use crate::link::{self, Asked, Impatience, Link, Patience, Resume};
use crate::mapped::Ring;
use crate::target::{Options, Target};
use crate::watch::{Notice, Watch};

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

/// The daemon that a session is attached to, and what it takes to attach to the next one.
#[derive(Debug)]
pub(super) struct Connection {
    target: Target,
    options: Options,
    /// The ledger knows this trainer by it, whatever becomes of its daemons.
    trainer: u64,
    link: Link,
    /// The daemon that will follow the one of `link`, which is gone.
    asked: Option<Asked>,
    /// Since when no daemon is reached.
    lost: Option<Instant>,
}

impl Connection {
    /// Attaches to a stream, and returns the ring that the daemon welcomes this trainer to.
    pub(super) fn attach(
        target: Target,
        options: Options,
        watch: &mut dyn Watch,
    ) -> Result<(Self, Arc<Ring>), AttachError> {
        let timeout = options.attach_timeout;
        let trainer = link::number()?;
        let (link, ring) = link::attach(&target, &options, trainer, &mut Patience::new(watch, Some(timeout)))?;
        Ok((Self { target, options, trainer, link, asked: None, lost: None }, ring))
    }

    pub(super) fn socket(&self) -> &Arc<Socket> {
        &self.link.socket
    }

    /// What the daemon says about the stream.
    pub(super) fn info(&self) -> &StreamInfo {
        &self.link.info
    }

    pub(super) fn welcome(&self) -> &Welcome {
        &self.link.welcome
    }

    pub(super) fn daemon_pid(&self) -> Option<u32> {
        match &self.target {
            Target::Private { daemon, .. } => daemon.pid(),
            Target::Stream { .. } => Some(self.link.info.daemon_pid).filter(|pid| *pid > 0),
        }
    }

    /// A batch of this daemon was handed out.
    pub(super) fn has_delivered(&self) {
        if let Target::Private { daemon, .. } = &self.target {
            daemon.has_delivered();
        }
    }

    /// Reaches the next daemon, which takes over the batches that this trainer holds.
    pub(super) fn reconnect(
        &mut self,
        cause: &str,
        batches: &mut Batches,
        patience: &mut Patience<'_>,
    ) -> Result<(), Unreached> {
        if let Some(reason) = batches.inbox.reports.evicted() {
            return Err(Unreached::Evicted(reason));
        }
        if self.asked.is_none() {
            batches.disconnect();
        }
        // Calls with short timeouts continue one wait, which began when the daemon was first found gone.
        let lost = *self.lost.get_or_insert_with(|| {
            patience.watch().notice(&Notice::DaemonLost { cause: cause.to_owned() });
            Instant::now()
        });
        let mut pause = FIRST_PAUSE;
        loop {
            let left = patience.left().unwrap_or(self.options.attach_timeout).min(self.options.attach_timeout);
            let source = match self.attach_again(batches, &mut Patience::new(patience.watch(), Some(left))) {
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
                let source = Box::new(source.after(lost.elapsed()));
                return Err(Unreached::Outage { cause: cause.to_owned(), source });
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
    fn attach_again(&mut self, batches: &mut Batches, patience: &mut Patience<'_>) -> Result<(), AttachError> {
        let asked = if let Some(asked) = self.asked.take() {
            asked
        } else {
            let resume = Resume { incarnation: self.link.welcome.incarnation, list: batches.hands.resumed_claims() };
            link::ask(&self.target, &self.options, self.trainer, Some(&resume), patience)?
        };
        let (link, ring) = match asked.answer(&self.target, self.options.told_after, patience) {
            Err(error @ (AttachError::Timeout { .. } | AttachError::Broken(Broken::Interrupted))) => {
                self.asked = Some(asked);
                return Err(error);
            }
            answer => answer?,
        };
        batches.take_over(link.info.epoch, &link.socket, link.welcome.ring, ring);
        self.link = link;
        Ok(())
    }

    /// The session ends: a daemon that was asked need not answer.
    pub(super) fn close(&mut self) {
        if let Some(asked) = self.asked.take() {
            asked.give_up();
        }
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
