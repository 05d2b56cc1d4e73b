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

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use forebay_sources::{ReadError, ReadErrorKind};

use super::stage::ReadStage;
use super::{InFlight, ReadAhead, ReadJob};
use crate::reason::Reason;
use crate::record::EpochTurn;

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

/// What a read that is late means.
#[derive(Clone, Copy)]
pub(crate) enum Silence<'a> {
    /// Its thread hangs. What it gives still counts.
    Thread,
    /// The request is made again, as after this outage of the record.
    Request(&'a dyn Fn(u64) -> ReadError),
}

impl<B> ReadAhead<B> {
    /// Looks for reads that began or last progressed more than `timeout` ago, and judges those that are their record's
    /// fault. Returns how many were given up now. They may still return, so their bytes stay in use until then. If no
    /// other read can tell whose fault it is, a [probe](Self::next_probe) is wanted.
    pub(crate) fn expire(&mut self, now: Instant, timeout: Duration, silence: Silence<'_>) -> usize {
        let answered = self.answered;
        let is_alone = self.culprits().len() == 1 && !self.probe.has_failed();
        let given_since = |began: Instant| answered.is_some_and(|answered| answered > began);
        let late = |began: Instant| now.saturating_duration_since(began) > timeout;
        let (mut given_up, mut again, mut judged_to_wait) = (InFlight::default(), 0, 0);
        let mut partners = Vec::new();
        for (ticket, of, stage) in self.stages_mut() {
            let record = of.turn.record();
            match stage {
                ReadStage::Reading { heard, partner, reserved, known, lost, .. } if late(*heard) => {
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
        self.again = self.again + again - judged_to_wait;
        for (partner, epoch) in partners {
            self.leave_out(partner, epoch);
        }
        if let Some(reserved) = self.probe.expire(now, timeout, silence) {
            given_up.add(reserved);
        }
        self.in_flight.remove_all(given_up);
        self.hung = self.stages().filter(|(_, stage)| stage.hangs()).count();
        self.look_for_suspect(now, timeout);
        given_up.reads
    }

    /// The oldest read that fails, or that hangs for longer than `patience`.
    pub(crate) fn stall(&self, now: Instant, patience: Duration) -> Option<Stall> {
        let troubles = self.stages().filter_map(|(record, stage)| stage.trouble(record, now, patience));
        let (since, record, outage) = troubles.min_by_key(|(since, ..)| *since)?;
        Some(Stall { since, record, outage: outage.cloned() })
    }

    /// Notes that the storage gave a record. An outage is over if that record failed before. It is also over with the
    /// first record after a failed probe.
    pub(super) fn given(&mut self, job: &ReadJob, failed_before: bool, now: Instant) {
        self.answered = self.answered.max(Some(job.began));
        if self.probe.given(job) || failed_before {
            self.outage_is_over(now);
        }
    }

    /// Makes all reads that wait for the end of an outage due. If they fail from now on, that is another outage.
    pub(super) fn outage_is_over(&mut self, now: Instant) {
        for (_, _, stage) in self.stages_mut() {
            if let Some(failing) = stage.failing() {
                (failing.since, failing.due) = (now, now);
            }
        }
    }

    /// Leaves out a partner that was judged: the mosaics of other records are read without it.
    fn leave_out(&mut self, partner: u64, epoch: u64) {
        self.judged.insert(partner, epoch);
        let others = self.stages_mut().filter(|(_, of, _)| of.turn.record() != partner);
        others.for_each(|(_, _, stage)| stage.leave_out(partner));
    }

    /// The records that the storage does not give.
    pub(super) fn culprits(&self) -> BTreeSet<u64> {
        self.stages().filter_map(|(record, stage)| stage.culprit(record)).collect()
    }

    pub(super) fn stages(&self) -> impl Iterator<Item = (u64, &ReadStage<B>)> {
        let tickets = self.epochs.values().flat_map(|epoch| &epoch.tickets);
        let tickets = tickets.map(|ticket| (ticket.position.record, &ticket.stage));
        tickets.chain(self.fetches.iter().map(|fetch| (fetch.of.turn.record(), &fetch.stage)))
    }

    /// All stages. For each: whether it is one of a position, and what is read.
    fn stages_mut(&mut self) -> impl Iterator<Item = (bool, EpochTurn, &mut ReadStage<B>)> {
        let tickets = self.epochs.values_mut().flat_map(|epoch| &mut epoch.tickets);
        let tickets = tickets.map(|ticket| (true, ticket.position.of_epoch(), &mut ticket.stage));
        tickets.chain(self.fetches.iter_mut().map(|fetch| (false, fetch.of, &mut fetch.stage)))
    }
}
