//! How far the read of a record has progressed.

use std::time::{Duration, Instant};

use forebay_sources::{ReadError, ReadErrorKind};

use super::LoadedRead;
use super::pause;
use crate::reason::Reason;

/// How far it is.
pub(super) enum ReadStage<B> {
    /// To be read, with what is known of it.
    Waiting(Known),
    /// A thread reads it, or it was requested.
    Reading {
        /// Since when.
        began: Instant,
        /// When it last progressed, or began.
        heard: Instant,
        /// The partner that is being read for its mosaic. None while the record itself is.
        partner: Option<u64>,
        /// Bytes of the budget that it has.
        reserved: u64,
        /// What was known before.
        known: Known,
        /// It was given up, and the thread replaced. What it gives still counts.
        lost: bool,
        /// A decoder on another machine was asked. It takes no room, and its caller takes it back in time.
        remote: bool,
    },
    /// It was read, or is bad.
    Done(Result<LoadedRead<B>, Reason>),
}

/// A try that has ended.
pub(super) struct Tried {
    /// What was known before it.
    pub(super) known: Known,
    /// The try was given up before.
    pub(super) given_up: bool,
    /// When the try last progressed, or began.
    pub(super) heard: Instant,
    /// The state of the record's latest try, which may be a later one.
    pub(super) latest: Latest,
}

/// The state of a record's latest try when one of its tries ended.
pub(super) enum Latest {
    /// It was under way, with this room.
    InFlight(u64),
    /// It was given up.
    GivenUp,
    /// It was still to be made.
    Waits,
    /// A decoder on another machine was asked.
    Remote,
}

/// What earlier tries have shown about a record that will be read.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Bytes that it needs, if they are more than its source knows of.
    pub(super) bytes: u64,
    /// Which of its records turned out to need more, and how often: itself, and the partners of its mosaic.
    grown: Vec<(u64, u32)>,
    /// How often it was requested without an answer, though later requests were answered.
    pub(super) unanswered: u32,
    /// No decoder on another machine is asked for it.
    pub(super) here: bool,
    /// Its reads fail, though no record is to blame.
    pub(super) failing: Option<Failing>,
}

/// A read that fails, and is tried again.
#[derive(Debug)]
pub(super) struct Failing {
    /// The record that the storage does not give: the own one, or a partner of its mosaic.
    pub(super) record: u64,
    /// When the first failed try began, or last progressed.
    pub(super) since: Instant,
    /// Tries that failed.
    pub(super) tries: u32,
    /// When the next one is due.
    pub(super) due: Instant,
    /// Why the last one failed.
    pub(super) outage: Box<ReadError>,
    /// The last one was not answered.
    pub(super) silent: bool,
}

impl<B> ReadStage<B> {
    /// A record about which nothing is known.
    pub(super) fn new() -> Self {
        Self::Waiting(Known::default())
    }

    /// What is known of a record that waits to be read, if no outage delays it any longer.
    pub(super) fn is_due(&self, now: Instant) -> Option<&Known> {
        match self {
            Self::Waiting(known) if known.failing.as_ref().is_none_or(|failing| failing.due <= now) => Some(known),
            _ => None,
        }
    }

    pub(super) fn waits(&self) -> bool {
        matches!(self, Self::Waiting(_))
    }

    /// Notes that the read that began at `began` has returned, with a record or an error. Returns nothing if that does
    /// not count any more: the record is done, or this read has failed before and a later one is made.
    pub(super) fn end(&mut self, began: Instant, gave: bool) -> Option<Tried> {
        match self {
            Self::Reading { began: latest, heard, reserved, known, lost, remote, .. } if *latest == began || gave => {
                Some(Tried {
                    known: std::mem::take(known),
                    given_up: *lost || *latest != began,
                    heard: if *latest == began { *heard } else { began },
                    latest: match (*lost, *remote) {
                        (true, _) => Latest::GivenUp,
                        (false, true) => Latest::Remote,
                        (false, false) => Latest::InFlight(*reserved),
                    },
                })
            }
            Self::Waiting(known) if gave => {
                Some(Tried { known: std::mem::take(known), given_up: true, heard: began, latest: Latest::Waits })
            }
            _ => None,
        }
    }

    /// Notes that it is read from now on.
    pub(super) fn begin(&mut self, now: Instant, reserved: u64) {
        if let Self::Waiting(known) = self {
            let known = std::mem::take(known);
            let (partner, lost, remote) = (None, false, false);
            *self = Self::Reading { began: now, heard: now, partner, reserved, known, lost, remote };
        }
    }

    /// Notes that a decoder on another machine is asked for it.
    pub(super) fn begin_remote(&mut self, now: Instant) {
        self.begin(now, 0);
        if let Self::Reading { remote, .. } = self {
            *remote = true;
        }
    }

    /// Takes it back from the decoder that was asked at `began`. Returns whether that is so.
    pub(super) fn take_back(&mut self, began: Instant, here: bool) -> bool {
        match self {
            Self::Reading { began: latest, known, remote: true, .. } if *latest == began => {
                let known = std::mem::take(known);
                *self = Self::Waiting(Known { here: known.here || here, ..known });
                true
            }
            _ => false,
        }
    }

    /// Notes that the read that began at `began` progresses.
    pub(super) fn continues(&mut self, began: Instant, now: Instant) {
        match self {
            Self::Reading { began: latest, heard, .. } if *latest == began => *heard = now,
            _ => {}
        }
    }

    /// Notes that the read that began at `began` continues with a partner.
    pub(super) fn turns_to(&mut self, began: Instant, partner: u64, now: Instant) {
        match self {
            Self::Reading { began: latest, heard, partner: current, .. } if *latest == began => {
                (*heard, *current) = (now, Some(partner));
            }
            _ => {}
        }
    }

    /// Why it fails, if it does.
    pub(super) fn failing(&mut self) -> Option<&mut Failing> {
        match self {
            Self::Waiting(known) | Self::Reading { known, .. } => known.failing.as_mut(),
            Self::Done(_) => None,
        }
    }

    /// Leaves out the judged partner that it waits for.
    pub(super) fn leave_out(&mut self, partner: u64) {
        match self {
            Self::Waiting(known) | Self::Reading { known, .. } => {
                known.failing.take_if(|failing| failing.record == partner);
            }
            Self::Done(_) => {}
        }
    }

    /// The record at which the read of `own` fails or hangs, if it does.
    pub(super) fn culprit(&self, own: u64) -> Option<u64> {
        match self {
            Self::Reading { partner, lost: true, .. } => Some(partner.unwrap_or(own)),
            Self::Waiting(known) | Self::Reading { known, .. } => known.failing.as_ref().map(|failing| failing.record),
            Self::Done(_) => None,
        }
    }

    /// Since when this stage has waited for the answer of another read, and the record that such an answer judges.
    /// `alone` means that the storage fails for no other record. `late` tells whether the wait has been long enough.
    pub(super) fn awaits(&self, own: u64, alone: bool, late: impl Fn(Instant) -> bool) -> Option<(Instant, u64)> {
        let (heard, known) = match self {
            Self::Reading { heard, partner, lost: true, .. } => return Some((*heard, partner.unwrap_or(own))),
            Self::Reading { heard, known, .. } => (Some(*heard), known),
            Self::Waiting(known) => (None, known),
            Self::Done(_) => return None,
        };
        let failing = known.failing.as_ref()?;
        if failing.silent {
            // Its next request counts only if another one is answered meanwhile.
            return Some((heard?, failing.record));
        }
        let is_judged = alone && late(failing.since) && failing.outage.kind != ReadErrorKind::Resources;
        is_judged.then_some((failing.since, failing.record))
    }

    /// Whether it is under way without any trouble so far. Then its answer may tell something about others.
    pub(super) fn may_answer(&self) -> bool {
        matches!(self, Self::Reading { lost: false, remote: false, known: Known { failing: None, .. }, .. })
    }

    /// Whether its thread was given up.
    pub(super) fn hangs(&self) -> bool {
        matches!(self, Self::Reading { lost: true, .. })
    }

    /// Since when the read of `own` fails, at which record, and how. A read that hangs for longer than `patience` counts
    /// too.
    pub(super) fn trouble(
        &self,
        own: u64,
        now: Instant,
        patience: Duration,
    ) -> Option<(Instant, u64, Option<&ReadError>)> {
        match self {
            Self::Waiting(Known { failing: Some(failing), .. })
            | Self::Reading { known: Known { failing: Some(failing), .. }, .. } => {
                Some((failing.since, failing.record, Some(&failing.outage)))
            }
            Self::Reading { heard, partner, remote: false, .. } if now.saturating_duration_since(*heard) > patience => {
                Some((*heard, partner.unwrap_or(own), None))
            }
            _ => None,
        }
    }
}

impl Known {
    /// Notes that another try has failed at `record`, or was not answered. The try last progressed at `heard`.
    pub(super) fn failed(&mut self, record: u64, heard: Instant, now: Instant, outage: Box<ReadError>, silent: bool) {
        let before = self.failing.take();
        let since = before.as_ref().filter(|failing| failing.record == record).map_or(heard, |failing| failing.since);
        let tries = before.map_or(0, |failing| failing.tries);
        let due = now + pause::before_retry(record, tries);
        self.failing = Some(Failing { record, since, tries: tries.saturating_add(1), due, outage, silent });
    }

    /// Notes that another try has found that `record` needs more room than it had. Returns how often that has happened.
    pub(super) fn grew(&mut self, record: u64) -> u32 {
        let place = self.grown.iter().position(|(grown, _)| *grown == record).unwrap_or_else(|| {
            self.grown.push((record, 0));
            self.grown.len() - 1
        });
        self.grown[place].1 += 1;
        self.grown[place].1
    }
}
