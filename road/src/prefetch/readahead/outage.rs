//! Reads that fail or hang through no fault of the record (semantics rules 7 and 28). It decides whether the record is
//! at fault after all, and since when everything waits.
//!
//! A record is to blame if the storage returns other records meanwhile. For a read that hangs, one read that returns
//! later is enough. A read that fails must also be the only one in trouble. In all other cases, the read is retried for
//! as long as it takes.

use std::time::{Duration, Instant};

use forebay_sources::{ReadError, ReadErrorKind};

use super::ReadAhead;
use super::stage::ReadStage;
use crate::reason::Reason;

/// The oldest read that fails or hangs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stall {
    /// When it began.
    pub since: Instant,
    /// Its record.
    pub record: u64,
    /// Why it fails; nothing for one that hangs.
    pub outage: Option<ReadError>,
}

impl<B> ReadAhead<B> {
    /// Looks for reads that began more than `timeout` ago, and judges those that are their record's fault. Answers how
    /// many threads have not come back.
    pub(crate) fn expire(&mut self, now: Instant, timeout: Duration) -> usize {
        let (answered, troubled) = (self.answered, self.troubled());
        let given_since = |began: Instant| answered.is_some_and(|answered| answered > began);
        let late = |began: Instant| now.saturating_duration_since(began) > timeout;
        let (mut lost_threads, mut judged_to_wait) = (0, 0);
        for (ticket, stage) in self.stages_mut() {
            match stage {
                ReadStage::Reading { began, lost, .. } if late(*began) => {
                    lost_threads += usize::from(!std::mem::replace(lost, true));
                    if given_since(*began) {
                        // Its bytes stay in use until the thread comes back, if it does.
                        *stage = ReadStage::Done(Err(Reason::Late { timeout }));
                    }
                }
                ReadStage::Waiting(known) => {
                    let judged = known.failing.as_ref().filter(|failing| late(failing.since) && troubled == 1);
                    // What the system lacks is never in a file.
                    let judged = judged.filter(|failing| failing.outage.kind != ReadErrorKind::Resources);
                    if let Some(failing) = judged.filter(|failing| given_since(failing.since)) {
                        let error = failing.outage.clone();
                        *stage = ReadStage::Done(Err(Reason::Outlasted { error, timeout }));
                        judged_to_wait += usize::from(ticket);
                    }
                }
                _ => {}
            }
        }
        self.again -= judged_to_wait;
        self.hung = self.stages().filter(|(_, stage)| stage.hangs()).count();
        lost_threads
    }

    /// The oldest read that fails, or that hangs for longer than `patience`.
    pub(crate) fn stall(&self, now: Instant, patience: Duration) -> Option<Stall> {
        let troubles = self.stages().filter_map(|(record, stage)| {
            let (since, outage) = stage.trouble(now, patience)?;
            Some((since, record, outage))
        });
        let (since, record, outage) = troubles.min_by_key(|(since, ..)| *since)?;
        Some(Stall { since, record, outage: outage.cloned() })
    }

    /// The storage gave a record, whose read began then. One that failed before says that an outage is over: all others that
    /// wait for that are due.
    pub(super) fn given(&mut self, began: Instant, failed_before: bool, now: Instant) {
        self.answered = self.answered.max(Some(began));
        if failed_before {
            for (_, stage) in self.stages_mut() {
                if let ReadStage::Waiting(known) = stage
                    && let Some(failing) = &mut known.failing
                {
                    failing.due = now;
                }
            }
        }
    }

    /// Reads that fail or hang.
    pub(super) fn troubled(&self) -> usize {
        self.stages().filter(|(_, stage)| stage.is_troubled()).count()
    }

    fn stages(&self) -> impl Iterator<Item = (u64, &ReadStage<B>)> {
        let tickets = self.epochs.values().flat_map(|epoch| &epoch.tickets);
        let tickets = tickets.map(|ticket| (ticket.position.record, &ticket.stage));
        tickets.chain(self.fetches.iter().map(|fetch| (fetch.record, &fetch.stage)))
    }

    /// Whether each is one of a position.
    fn stages_mut(&mut self) -> impl Iterator<Item = (bool, &mut ReadStage<B>)> {
        let tickets = self.epochs.values_mut().flat_map(|epoch| &mut epoch.tickets);
        let tickets = tickets.map(|ticket| (true, &mut ticket.stage));
        tickets.chain(self.fetches.iter_mut().map(|fetch| (false, &mut fetch.stage)))
    }
}
