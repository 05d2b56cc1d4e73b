//! Notes the result of a read, and whether the thread that takes records must be woken for it. Most results change nothing
//! for that thread.

use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

use forebay_sources::{ReadError, Retry};

use super::stage::{Latest, ReadStage};
use super::{EpochReads, Fetch, LoadedRead, ReadAhead, ReadJob};
use crate::reason::Reason;
use crate::record::FailedRead;

/// How often a record may need more room than it had: what always grows is bad.
const MOST_GROWN: u32 = 4;

/// The result of noting a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Noted {
    /// It may be taken next, as soon as it is its epoch's turn.
    Next,
    /// Other records are before it, or it is read again. The batch thread finds it when it takes the last of those before
    /// it.
    Behind,
    /// The read was given up before, and its thread too if it had one. Its result may still count.
    Late,
}

/// The result of passing over reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Passed {
    /// How many records.
    pub records: usize,
    /// One of them was the last of its lease: a further one may be wanted.
    pub last: bool,
    /// One of them may be taken next, as soon as it is its epoch's turn.
    pub next: bool,
}

impl<B> ReadAhead<B> {
    /// Passes over reads. As long as `known` has the next record, that record is done without a read and takes no room.
    /// Each known record is asked for once at most, because there is always room for a record that takes none.
    pub(crate) fn pass(&mut self, now: Instant, mut known: impl FnMut(u64) -> Option<B>) -> Passed {
        let mut passed = Passed::default();
        while let Some(content) = self.next_record(now).and_then(&mut known)
            && let Some(job) = self.next_job(now, |_of, _bytes| 0)
        {
            passed.next |= self.note(&job, Ok(content), now, false) == Noted::Next;
            passed.records += 1;
            passed.last |= job.last;
        }
        passed
    }

    /// Notes that bytes of a read arrive, though its record is not complete yet. Such a read is slow, but does not hang.
    pub(crate) fn goes_on(&mut self, job: &ReadJob, now: Instant) {
        if job.probe {
            self.probe.goes_on(job.id, now);
        } else if let Some((_, stage)) = stage_of(&mut self.fetches, &mut self.epochs, job) {
            stage.goes_on(job.began, now);
        }
    }

    /// Notes that a read continues with a partner of its record. Returns whether to read the partner. A judged partner is
    /// left out.
    pub(crate) fn turns_to(&mut self, job: &ReadJob, partner: u64, now: Instant) -> bool {
        let is_good = !self.judged.contains_key(&partner);
        if is_good && let Some((_, stage)) = stage_of(&mut self.fetches, &mut self.epochs, job) {
            stage.turns_to(job.began, partner, now);
        }
        is_good
    }

    /// Notes the result of a read of a record alone.
    pub(crate) fn done(&mut self, job: &ReadJob, read: Result<B, ReadError>, now: Instant) -> Noted {
        self.ended(job, read.map_err(|error| FailedRead::at(job.record(), error)), now)
    }

    /// Notes the result of a read, which may have failed at a partner of its record.
    pub(crate) fn ended(&mut self, job: &ReadJob, read: Result<B, FailedRead>, now: Instant) -> Noted {
        if job.probe {
            return self.probed(job, read.map(drop).map_err(|failed| failed.error.retry()), now);
        }
        self.note(job, read, now, true)
    }

    /// Notes the result for the record. An answer from a cache says nothing about the storage.
    fn note(&mut self, job: &ReadJob, read: Result<B, FailedRead>, now: Instant, speaks: bool) -> Noted {
        let found = stage_of(&mut self.fetches, &mut self.epochs, job);
        let found = found.and_then(|(place, stage)| Some((place, stage.end(job.began, read.is_ok())?, stage)));
        if found.is_none() || read.is_err() {
            self.used = self.used.saturating_sub(job.reserved);
        }
        let Some((place, tried, stage)) = found else { return Noted::Late };
        let in_turn = usize::from(job.epoch.is_some());
        match tried.latest {
            Latest::InFlight(reserved) => self.in_flight.remove(reserved),
            Latest::GivenUp => {}
            Latest::Waits => self.again -= in_turn,
        }
        let (mut known, given_up, heard) = (tried.known, tried.given_up, tried.heard);
        let failed_before = known.failing.is_some();
        let done = match read.map_err(|failed| (failed.error.retry(), failed.record, failed.error)) {
            Ok(bytes) => Some(Ok(LoadedRead { bytes, reserved: job.reserved })),
            Err((Retry::Never, _, error)) => Some(Err(Reason::Read(error))),
            Err((Retry::WithRoom(bytes), record, _)) => {
                known.bytes = bytes;
                let always_grows = known.grew(record) > MOST_GROWN;
                if always_grows && record != job.record() {
                    self.judged.insert(record, job.of.epoch);
                }
                (always_grows && record == job.record()).then_some(Err(Reason::Growing { bytes }))
            }
            // The partner was judged during this read, and the next read leaves it out.
            Err((Retry::Later, record, _)) if record != job.record() && self.judged.contains_key(&record) => None,
            Err((Retry::Later, record, outage)) => {
                known.failed(record, heard, now, outage, false);
                None
            }
        };
        let Some(done) = done else {
            *stage = ReadStage::Waiting(known);
            self.again += in_turn;
            return if given_up { Noted::Late } else { Noted::Behind };
        };
        let given = done.is_ok();
        *stage = ReadStage::Done(done);
        if given {
            self.judged.remove(&job.record());
            if speaks {
                self.given(job, failed_before || given_up, now);
            }
        }
        match place {
            _ if given_up => Noted::Late,
            0 => Noted::Next,
            _ => Noted::Behind,
        }
    }
}

/// How far the record of a read is, and its place in its epoch.
fn stage_of<'a, B>(
    fetches: &'a mut VecDeque<Fetch<B>>,
    epochs: &'a mut BTreeMap<u64, EpochReads<B>>,
    job: &ReadJob,
) -> Option<(usize, &'a mut ReadStage<B>)> {
    let Some(epoch) = job.epoch else {
        let fetch = fetches.iter_mut().find(|fetch| fetch.id == job.id)?;
        return Some((0, &mut fetch.stage));
    };
    let tickets = &mut epochs.get_mut(&epoch)?.tickets;
    let place = tickets.binary_search_by_key(&job.id, |ticket| ticket.id).ok()?;
    Some((place, &mut tickets[place].stage))
}
