//! How far the read of a record has progressed.

use std::time::{Duration, Instant};

use forebay_sources::ReadError;

use super::LoadedRead;
use crate::reason::Reason;

/// How far it is.
pub(super) enum ReadStage<B> {
    /// To be read, with what is known of it.
    Waiting(Known),
    /// A thread reads it.
    Reading {
        /// Since when.
        began: Instant,
        /// What was known before.
        known: Known,
        /// It was given up, and the thread replaced. What it gives still counts.
        lost: bool,
    },
    /// It was read, or is bad.
    Done(Result<LoadedRead<B>, Reason>),
}

/// A try that has come to its end.
pub(super) struct Tried {
    /// When it began.
    pub(super) began: Instant,
    /// What was known before it.
    pub(super) known: Known,
    /// Its thread was given up.
    pub(super) lost: bool,
}

/// What earlier tries have told of a record that is to be read.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Bytes that it needs, where they are more than its source knows of.
    pub(super) bytes: u64,
    /// How often it turned out to need more.
    pub(super) grown: u32,
    /// Its reads fail, though it is not to blame.
    pub(super) failing: Option<Failing>,
}

/// A read that fails, and is tried again.
#[derive(Debug)]
pub(super) struct Failing {
    /// When the first try that failed began.
    pub(super) since: Instant,
    /// Tries that failed.
    pub(super) tries: u32,
    /// When the next one is due.
    pub(super) due: Instant,
    /// Why the last one failed.
    pub(super) outage: Box<ReadError>,
}

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

impl<B> ReadStage<B> {
    /// As a record begins that nothing is known of.
    pub(super) fn new() -> Self {
        Self::Waiting(Known::default())
    }

    /// What is known, if it waits to be read, and no longer for an outage's end.
    pub(super) fn is_due(&self, now: Instant) -> Option<&Known> {
        match self {
            Self::Waiting(known) if known.failing.as_ref().is_none_or(|failing| failing.due <= now) => Some(known),
            _ => None,
        }
    }

    pub(super) fn waits(&self) -> bool {
        matches!(self, Self::Waiting(_))
    }

    /// It is read from now on.
    pub(super) fn begin(&mut self, now: Instant) {
        if let Self::Waiting(known) = self {
            *self = Self::Reading { began: now, known: std::mem::take(known), lost: false };
        }
    }

    /// The read has come back, if it was not given up for good.
    pub(super) fn end(&mut self) -> Option<Tried> {
        let Self::Reading { began, known, lost } = self else { return None };
        Some(Tried { began: *began, known: std::mem::take(known), lost: *lost })
    }

    /// Whether it fails, or hangs.
    pub(super) fn is_troubled(&self) -> bool {
        match self {
            Self::Waiting(known) => known.failing.is_some(),
            Self::Reading { known, lost, .. } => *lost || known.failing.is_some(),
            Self::Done(_) => false,
        }
    }

    /// Whether its thread was given up.
    pub(super) fn hangs(&self) -> bool {
        matches!(self, Self::Reading { lost: true, .. })
    }

    /// Since when it fails, and how, or hangs for longer than `patience`.
    pub(super) fn trouble(&self, now: Instant, patience: Duration) -> Option<(Instant, Option<&ReadError>)> {
        match self {
            Self::Waiting(Known { failing: Some(failing), .. })
            | Self::Reading { known: Known { failing: Some(failing), .. }, .. } => {
                Some((failing.since, Some(&failing.outage)))
            }
            Self::Reading { began, .. } if now.saturating_duration_since(*began) > patience => Some((*began, None)),
            _ => None,
        }
    }
}

impl Known {
    /// Another try failed.
    pub(super) fn failed(&mut self, began: Instant, now: Instant, outage: Box<ReadError>) {
        let (since, tries) = self.failing.take().map_or((began, 0), |failing| (failing.since, failing.tries));
        let pause = FIRST_PAUSE.saturating_mul(1 << tries.min(16)).min(LONGEST_PAUSE);
        self.failing = Some(Failing { since, tries: tries.saturating_add(1), due: now + pause, outage });
    }
}
