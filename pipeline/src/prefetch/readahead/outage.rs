//! Reads that fail or hang through no fault of the record (semantics rules 7 and 28). It decides whether the record is
//! at fault after all, and since when everything waits.
//!
//! A record is to blame if the storage returns other records meanwhile. For a thread that hangs, one read that returns
//! later is enough. A request that is not answered is made a second time before that counts: no thread is held up by it,
//! and its connection may be at fault. A record at which reads fail must also be the only one in trouble. In all other
//! cases, the read is retried for as long as it takes. A read whose bytes arrive slowly does not hang: each sign of
//! progress restarts its time.
//!
//! A read for a mosaic may fail or hang at a partner. The partner is judged in the same way. It is left out from then on,
//! and the record whose place it is stays good.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use forebay_sources::{ReadError, ReadErrorKind, Retry};

use super::budget::ReadBudget;
use super::probe::{Probe, ProbeAnswer};
use super::stage::ReadStage;
use super::table::ReadTable;
use super::{InFlight, Noted, ReadJob, Silence};
use crate::reason::Reason;

/// The oldest read that fails or hangs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stall {
    /// When it began.
    pub since: Instant,
    /// The record that the storage does not give.
    pub record: u64,
    /// Why it fails; nothing for one that hangs.
    pub outage: Option<ReadError>,
}

/// Requests of a record without an answer, after which it is bad.
const MOST_UNANSWERED: u32 = 2;

/// Reads that fail or hang, after which no further ones are begun.
pub(super) const MOST_TROUBLED: usize = 64;

/// What is known of the storage, and what it says about single records.
#[derive(Debug, Default)]
pub(super) struct Storage {
    /// When the latest read that gave a record began.
    answered: Option<Instant>,
    /// Partners that the storage does not give although it gives other records, each with the epoch in which this was
    /// decided. The own record replaces such a partner. Later epochs try it again.
    judged: BTreeMap<u64, u64>,
    /// Reads that hung at the last check.
    hung: usize,
    /// What asks whether the storage answers.
    pub(super) probe: Probe,
}

impl Storage {
    /// Whether so many reads fail or hang that no further ones are begun. `again` of them must be retried.
    pub(super) fn is_stuck(&self, again: usize) -> bool {
        again >= MOST_TROUBLED || self.hung >= MOST_TROUBLED
    }

    /// Looks for reads that began or last progressed more than `timeout` ago, and judges those that are their record's
    /// fault. Returns how many were given up now. They may still return, so their bytes stay in use until then. If no
    /// other read can tell whose fault it is, a [probe](Probe::next) is wanted.
    pub(super) fn expire<B>(
        &mut self,
        reads: &mut ReadTable<B>,
        budget: &mut ReadBudget,
        (now, timeout): (Instant, Duration),
        silence: Silence<'_>,
    ) -> usize {
        let answered = self.answered;
        let is_alone = reads.culprits().len() == 1 && !self.probe.has_failed();
        let given_since = |began: Instant| answered.is_some_and(|answered| answered > began);
        let late = |began: Instant| now.saturating_duration_since(began) > timeout;
        let (mut given_up, mut again, mut judged_to_wait) = (InFlight::default(), 0, 0);
        let mut partners = Vec::new();
        for (ticket, of, stage) in reads.stages_mut() {
            let record = of.turn.record();
            match stage {
                ReadStage::Reading { heard, partner, reserved, known, lost, remote: false, .. } if late(*heard) => {
                    if !std::mem::replace(lost, true) {
                        given_up.add(*reserved);
                    }
                    match silence {
                        Silence::Thread if given_since(*heard) => match partner {
                            None => *stage = ReadStage::Done(Err(Reason::Late { timeout })),
                            Some(partner) => {
                                partners.push((*partner, of.epoch));
                                *stage = ReadStage::Waiting(std::mem::take(known));
                                again += usize::from(ticket);
                            }
                        },
                        Silence::Thread => {}
                        Silence::Request(outage) => {
                            let mut known = std::mem::take(known);
                            known.unanswered += u32::from(given_since(*heard));
                            if known.unanswered >= MOST_UNANSWERED {
                                *stage = ReadStage::Done(Err(Reason::Late { timeout }));
                            } else {
                                known.failed(record, *heard, now, Box::new(outage(record)), true);
                                *stage = ReadStage::Waiting(known);
                                again += usize::from(ticket);
                            }
                        }
                    }
                }
                ReadStage::Waiting(known) => {
                    let judged = known.failing.as_ref().filter(|failing| late(failing.since) && is_alone);
                    // A shortage of the system is never the fault of a file. A request without an answer has another
                    // limit.
                    let judged =
                        judged.filter(|failing| failing.outage.kind != ReadErrorKind::Resources && !failing.silent);
                    match judged.filter(|failing| given_since(failing.since)) {
                        Some(failing) if failing.record == record => {
                            let error = failing.outage.clone();
                            *stage = ReadStage::Done(Err(Reason::Outlasted { error, timeout }));
                            judged_to_wait += usize::from(ticket);
                        }
                        Some(failing) => partners.push((failing.record, of.epoch)),
                        None => {}
                    }
                }
                _ => {}
            }
        }
        reads.again = reads.again + again - judged_to_wait;
        for (partner, epoch) in partners {
            self.judge(partner, epoch);
            reads.leave_out(partner);
        }
        if let Some(reserved) = self.probe.expire(now, timeout, silence) {
            given_up.add(reserved);
        }
        budget.given_up(given_up);
        self.hung = reads.stages().filter(|(_, stage)| stage.hangs()).count();
        self.probe.look(reads, self.answered, now, timeout);
        given_up.reads + reads.expire_left(late)
    }

    /// Notes that the storage gave a record. An outage is over if that record failed before. It is also over with the
    /// first record after a failed probe.
    pub(super) fn given<B>(&mut self, job: &ReadJob, failed_before: bool, now: Instant, reads: &mut ReadTable<B>) {
        self.answered = self.answered.max(Some(job.began));
        if self.probe.given(job) || failed_before {
            reads.outage_is_over(now);
        }
    }

    /// Notes the result of a probe.
    pub(super) fn probed<B>(
        &mut self,
        job: &ReadJob,
        read: Result<(), Retry>,
        now: Instant,
        (reads, budget): (&mut ReadTable<B>, &mut ReadBudget),
    ) -> Noted {
        budget.give_back(job.reserved);
        let Some((lost, answer)) = self.probe.ended(job.id, read, now) else { return Noted::Late };
        if !lost {
            budget.ended(job.reserved);
        }
        match answer {
            ProbeAnswer::OutageIsOver => reads.outage_is_over(now),
            ProbeAnswer::Given => self.answered = self.answered.max(Some(job.began)),
            ProbeAnswer::Nothing => {}
        }
        if lost { Noted::Late } else { Noted::Behind }
    }

    /// The storage does not give this partner, as was found in this epoch.
    pub(super) fn judge(&mut self, partner: u64, epoch: u64) {
        self.judged.insert(partner, epoch);
    }

    /// Whether a partner was judged.
    pub(super) fn is_judged(&self, partner: u64) -> bool {
        self.judged.contains_key(&partner)
    }

    /// The storage gives this record after all.
    pub(super) fn acquit(&mut self, record: u64) {
        self.judged.remove(&record);
    }

    /// Forgets what was judged in epochs below `floor`, which are complete.
    pub(super) fn completed(&mut self, floor: u64) {
        self.judged.retain(|_, epoch| *epoch >= floor);
    }

    /// Forgets the reads that are under way.
    pub(super) fn close(&mut self) {
        self.probe.close();
        self.hung = 0;
    }
}
