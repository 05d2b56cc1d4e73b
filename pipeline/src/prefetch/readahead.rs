//! Decides which record is read next, and which may be taken. It is a state machine without threads or a clock.
//!
//! Positions are read and taken in the order of the epoch. A lower epoch is first, so positions that are returned late
//! overtake those of the next epoch. Room in the byte budget is granted in the same order, and is freed when a record
//! was decoded. The oldest record that is not decoded may always exceed the budget. So a budget smaller than one file
//! slows the daemon down, but does not stop it. Cached records take no room, so they are limited by their number.
//! Otherwise, leases would be acquired up to the end of the epoch (semantics rule 4).

mod budget;
mod choice;
mod decoders;
mod in_flight;
mod job;
#[cfg(test)]
mod model;
mod noted;
mod outage;
mod pause;
mod probe;
mod silence;
mod span;
mod stage;
mod table;
mod taken;
#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use forebay_sources::{Member, ReadError, Retry};

use crate::reason::Reason;
use crate::record::{EpochTurn, FailedRead, Position};
use budget::ReadBudget;
use choice::Reader;
pub(crate) use in_flight::InFlight;
pub(crate) use job::ReadJob;
pub(crate) use noted::{Noted, Passed};
pub(crate) use outage::Stall;
use outage::Storage;
use probe::Probe;
pub(crate) use silence::Silence;
pub(crate) use span::Span;
use stage::{Latest, ReadStage};
use table::{Fetch, ReadTable, ReadTicket};
pub(crate) use taken::{LoadedRead, TakenRead};

/// The most positions of an epoch and the epochs before it that are being read or are ready. About as many photographs
/// fit into the default budget. So a cache makes the pipeline faster, but not longer.
pub(super) const MOST_AHEAD: usize = 2048;

/// How often a record may need more room than it had: what always grows is bad.
const MOST_GROWN: u32 = 4;

/// The state; `B` is what a read gives.
pub(crate) struct ReadAhead<B> {
    reads: ReadTable<B>,
    budget: ReadBudget,
    storage: Storage,
    /// What this daemon reads itself.
    reader: Reader,
    /// Epochs below this one have nothing left to lease.
    drained: u64,
    /// Epochs below this one were reported as drained.
    told: u64,
}

impl<B> ReadAhead<B> {
    /// Nothing leased, nothing read; epochs below `first` are over.
    pub(crate) fn new(budget: u64, first: u64) -> Self {
        let (reads, budget, storage) = (ReadTable::new(), ReadBudget::new(budget), Storage::default());
        Self { reads, budget, storage, reader: Reader::Any, drained: first, told: first }
    }

    /// The same for a dataset of these sources.
    pub(crate) fn of(mut self, members: &[Member]) -> Self {
        self.storage.probe = Probe::of(members);
        self
    }

    /// Adds a lease behind those of its epoch.
    pub(crate) fn lease(&mut self, span: Span) {
        self.reads.lease(span);
    }

    /// Notes that epochs below `epoch` have nothing left to lease now. Returns whether that is new.
    pub(crate) fn drained(&mut self, epoch: u64) -> bool {
        let is_new = epoch > self.drained;
        self.drained = self.drained.max(epoch);
        is_new
    }

    /// Asks for one record out of turn.
    pub(crate) fn fetch(&mut self, tag: (u64, u32), of: EpochTurn) {
        self.reads.fetch(tag, of);
    }

    /// Leases of `epoch` whose records are not all being read.
    pub(crate) fn leases_ahead(&self, epoch: u64) -> usize {
        self.reads.epochs.get(&epoch).map_or(0, |epoch| epoch.spans.len())
    }

    /// Whether positions of `epoch` are leased and were not taken.
    pub(crate) fn has(&self, epoch: u64) -> bool {
        self.reads.epochs.get(&epoch).is_some_and(|epoch| !epoch.is_empty())
    }

    /// Leases whose records are not all being read.
    pub(crate) fn leases(&self) -> usize {
        self.reads.epochs.values().map(|epoch| epoch.spans.len()).sum()
    }

    /// Reads that are under way, but for those that were given up.
    pub(crate) fn in_flight(&self) -> InFlight {
        self.budget.in_flight()
    }

    /// Whether an answer to this read still counts: its record was not given yet and is not bad, or it is the current
    /// probe.
    pub(crate) fn wants(&self, job: &ReadJob) -> bool {
        if job.probe {
            return self.storage.probe.is_under_way(job.id);
        }
        self.reads.stage(job).is_some_and(|stage| !matches!(stage, ReadStage::Done(_)))
    }

    /// Whether the reads under way have most of the room in use. If so, the storage is slow, and not the consumer of the
    /// records.
    pub(crate) fn waits_for_storage(&self) -> bool {
        self.budget.is_in_flight()
    }

    /// Bytes of the budget that are in use.
    #[cfg(test)]
    pub(crate) fn used(&self) -> u64 {
        self.budget.used()
    }

    // The next read.

    /// Whether there is something to read, if there is room.
    pub(crate) fn wants_room(&self) -> bool {
        choice::wants_room(&self.reads)
    }

    /// Whether to wake waiting readers: there is room for a round of reads, or everything else waits for the next read.
    /// They are woken again for every record that is given back, so that more of them read if one cannot keep up.
    pub(crate) fn wants_readers(&self) -> bool {
        choice::wants_readers(&self.reads, &self.budget) || self.wants_probe()
    }

    /// Whether a probe is to begin as soon as there is nothing else to read.
    pub(crate) fn wants_probe(&self) -> bool {
        self.storage.probe.is_wanted()
    }

    /// Whether one is under way.
    #[cfg(test)]
    pub(crate) fn is_probing(&self) -> bool {
        self.storage.probe.is_probing()
    }

    /// The next read, if the budget allows one. `size` gives the bytes to read for a turn, as the source knows them. If
    /// it is called with a larger number, it gives that number instead.
    pub(crate) fn next_job(&mut self, now: Instant, size: impl Fn(EpochTurn, u64) -> u64) -> Option<ReadJob> {
        let may = choice::May { begin: !self.storage.is_stuck(self.reads.again), reader: self.reader };
        choice::next_job(&mut self.reads, &mut self.budget, may, now, size)
    }

    /// The next probe, as [`Probe::next`] says. Call this only if there is no other read to do.
    pub(crate) fn next_probe(&mut self, now: Instant, size: impl Fn(u64, u64) -> u64) -> Option<ReadJob> {
        self.storage.probe.next(&mut self.reads, &mut self.budget, now, size)
    }

    /// Looks for reads that are late, as [`Storage::expire`] says. Returns how many were given up now.
    pub(crate) fn expire(&mut self, now: Instant, timeout: Duration, silence: Silence<'_>) -> usize {
        self.storage.expire(&mut self.reads, &mut self.budget, (now, timeout), silence)
    }

    /// The oldest read that fails, or that hangs for longer than `patience`.
    pub(crate) fn stall(&self, now: Instant, patience: Duration) -> Option<Stall> {
        let troubles = self.reads.stages().filter_map(|(record, stage)| stage.trouble(record, now, patience));
        let (since, record, outage) = troubles.min_by_key(|(since, ..)| *since)?;
        Some(Stall { since, record, outage: outage.cloned() })
    }

    // What is taken.

    /// Takes what comes next of the epochs up to `limit`; a position only if its epoch has room for it.
    pub(crate) fn take(
        &mut self,
        limit: u64,
        room: impl Fn(&Position) -> bool,
    ) -> TakenRead<Result<LoadedRead<B>, Reason>> {
        if let Some(place) = self.reads.fetches.iter().position(|fetch| matches!(fetch.stage, ReadStage::Done(_)))
            && let Some(Fetch { tag, of, stage: ReadStage::Done(read), .. }) = self.reads.fetches.remove(place)
        {
            return TakenRead::Fetched { tag, turn: of.turn, read: self.hand_out(read) };
        }
        // An epoch without a single position here (an empty shard, or all of it held by trainers) is drained as well.
        let untold = (self.told < self.drained && self.told <= limit).then_some(self.told);
        for (&number, epoch) in self.reads.epochs.range_mut(..=limit) {
            if untold.is_some_and(|untold| untold < number) {
                break;
            }
            let next = match (epoch.next_bare(), epoch.tickets.front()) {
                (Some(position), _) | (None, Some(ReadTicket { position, stage: ReadStage::Done(_), .. })) => {
                    Some(*position)
                }
                _ => None,
            };
            if let Some(position) = next.filter(|position| !room(position)) {
                return TakenRead::NoRoom(position);
            }
            if let Some(position) = epoch.take_bare() {
                return TakenRead::Bare(position);
            }
            if let Some(position) = next
                && let Some(ReadTicket { stage: ReadStage::Done(read), .. }) = epoch.take_ticket()
            {
                return TakenRead::Record(position, self.hand_out(read));
            }
            if !epoch.is_empty() {
                return TakenRead::Wait;
            }
            if number < self.drained && epoch.changed {
                epoch.changed = false;
                self.told = self.told.max(number + 1);
                return TakenRead::Drained(number);
            }
        }
        if let Some(untold) = untold {
            self.told = untold + 1;
            return TakenRead::Drained(untold);
        }
        TakenRead::Wait
    }

    /// Forgets epochs below `floor`, which are complete. Returns whether there were any.
    pub(crate) fn completed(&mut self, floor: u64) -> bool {
        let epochs = &mut self.reads.epochs;
        let before = epochs.len();
        epochs.retain(|number, epoch| *number >= floor || !epoch.is_empty() || epoch.changed);
        self.storage.completed(floor);
        epochs.len() < before
    }

    /// Gives up the last positions of an epoch unread, when they are too few for a batch and the policy drops them. So a storage
    /// that does not give them holds nothing up.
    ///
    /// Takes all that was not taken of the first epoch with something to take, up to `limit`, if nothing of that epoch is left to
    /// lease and there are no more positions than `most` says. Their reads give nothing any more.
    pub(crate) fn leave_rest(&mut self, limit: u64, most: impl Fn(u64) -> u64) -> Vec<Position> {
        let first = self.reads.epochs.range(..=limit).find(|(_, epoch)| !epoch.is_empty());
        match first.map(|(number, _)| *number).filter(|number| *number < self.drained) {
            Some(number) => self.reads.leave_rest(number, most(number), &mut self.budget),
            None => Vec::new(),
        }
    }

    /// Gives the room of something that was taken back.
    pub(crate) fn release(&mut self, reserved: u64) {
        self.budget.release(reserved);
    }

    /// Forgets everything that was not taken. Gives its ranges, as (lease, first offset, end).
    pub(crate) fn close(&mut self) -> Vec<(u64, u64, u64)> {
        self.storage.close();
        self.budget.close();
        self.reads.close()
    }

    fn hand_out(&mut self, read: Result<LoadedRead<B>, Reason>) -> Result<LoadedRead<B>, Reason> {
        self.budget.hand_out(read.as_ref().map_or(0, |held| held.reserved));
        read
    }

    // What reads give.

    /// Passes over reads. As long as `known` has the next record, that record is done without a read and takes no room.
    /// Each known record is asked for once at most, because there is always room for a record that takes none.
    pub(crate) fn pass(&mut self, now: Instant, mut known: impl FnMut(u64) -> Option<B>) -> Passed {
        let mut passed = Passed::default();
        let next = |ahead: &Self| {
            let may = choice::May { begin: !ahead.storage.is_stuck(ahead.reads.again), reader: ahead.reader };
            choice::next_record(&ahead.reads, may, now)
        };
        while let Some(content) = next(self).and_then(&mut known)
            && let Some(job) = self.next_job(now, |_of, _bytes| 0)
        {
            passed.next |= self.note(&job, Ok(content), now, false) == Noted::Next;
            passed.records += 1;
            passed.last |= job.last;
        }
        passed
    }

    /// Notes that bytes of a read arrive, though its record is not complete yet. Such a read is slow, but does not hang.
    pub(crate) fn continues(&mut self, job: &ReadJob, now: Instant) {
        if job.probe {
            self.storage.probe.continues(job.id, now);
        } else if let Some((_, stage)) = self.reads.stage_mut(job) {
            stage.continues(job.began, now);
        }
    }

    /// Notes that a read continues with a partner of its record. Returns whether to read the partner. A judged partner is
    /// left out.
    pub(crate) fn turns_to(&mut self, job: &ReadJob, partner: u64, now: Instant) -> bool {
        let is_good = !self.storage.is_judged(partner);
        if is_good && let Some((_, stage)) = self.reads.stage_mut(job) {
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
            let read = read.map(drop).map_err(|failed| failed.error.retry());
            return self.storage.probed(job, read, now, (&mut self.reads, &mut self.budget));
        }
        self.note(job, read, now, true)
    }

    /// Notes the result for the record. An answer from a cache says nothing about the storage.
    fn note(&mut self, job: &ReadJob, read: Result<B, FailedRead>, now: Instant, speaks: bool) -> Noted {
        let Self { reads, budget, storage, .. } = self;
        let found = reads.stage_mut(job);
        let found = found.and_then(|(place, stage)| Some((place, stage.end(job.began, read.is_ok())?, stage)));
        if found.is_none() || read.is_err() {
            budget.give_back(job.reserved);
        }
        let Some((place, tried, stage)) = found else {
            return if reads.was_left(job) { Noted::Behind } else { Noted::Late };
        };
        let in_turn = usize::from(job.epoch.is_some());
        let mut waited = 0;
        match tried.latest {
            Latest::InFlight(reserved) => budget.ended(reserved),
            Latest::GivenUp | Latest::Remote => {}
            Latest::Waits => waited = in_turn,
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
                    storage.judge(record, job.of.epoch);
                }
                (always_grows && record == job.record()).then_some(Err(Reason::Growing { bytes }))
            }
            // The partner was judged during this read, and the next read leaves it out.
            Err((Retry::Later, record, _)) if record != job.record() && storage.is_judged(record) => None,
            Err((Retry::Later, record, outage)) => {
                known.failed(record, heard, now, outage, false);
                None
            }
        };
        let given = matches!(done, Some(Ok(_)));
        let is_done = done.is_some();
        *stage = done.map_or_else(|| ReadStage::Waiting(known), ReadStage::Done);
        reads.again -= waited;
        if !is_done {
            reads.again += in_turn;
        } else if given {
            storage.acquit(job.record());
            if speaks {
                storage.given(job, failed_before || given_up, now, reads);
            }
        }
        match place {
            _ if given_up => Noted::Late,
            0 if is_done => Noted::Next,
            _ => Noted::Behind,
        }
    }
}

impl<B> std::fmt::Debug for ReadAhead<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReadAhead")
            .field("budget", &self.budget)
            .field("epochs", &self.reads.epochs.len())
            .finish_non_exhaustive()
    }
}
