//! Which record is read next, and which may be taken: a state machine without threads or clock.
//!
//! Positions are read and taken in the order of the epoch; a lower epoch goes first, so that positions that come back
//! late pass those of the next epoch. Room in the byte budget is granted in the same order, and the record that is
//! taken next may always exceed it: a budget smaller than one file slows the road down, it does not stop it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::record::Position;

/// A lease to be read, with its positions' record numbers as a function.
pub struct Span {
    /// Lease id.
    pub lease: u64,
    /// Epoch of the lease.
    pub epoch: u64,
    /// First place in the epoch's order.
    pub start: u64,
    /// How many positions.
    pub len: u64,
    /// Record number of a place in the epoch's order.
    pub record: Arc<dyn Fn(u64) -> u64 + Send + Sync>,
}

/// One read to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// Number of the read, never used twice.
    pub id: u64,
    /// Record to read.
    pub record: u64,
    /// Bytes of the budget that it has.
    pub reserved: u64,
    epoch: u64,
}

/// What [`ReadAhead::take`] gives.
#[derive(Debug, PartialEq, Eq)]
pub enum Taken<R> {
    /// The next position of the order.
    Record(Position, R),
    /// What [`ReadAhead::fetch`] asked for.
    Fetched {
        /// As given with the request.
        tag: (u64, u32),
        /// Record that was read.
        record: u64,
        /// What came of it.
        read: R,
    },
    /// Every position of this epoch was taken, and none is left to lease at this moment. Told once.
    Drained(u64),
    /// Nothing now.
    Wait,
}

/// The state; `R` is what a read gives.
pub struct ReadAhead<R> {
    budget: u64,
    used: u64,
    next_id: u64,
    fetches: VecDeque<Fetch<R>>,
    epochs: BTreeMap<u64, Epoch<R>>,
    /// Epochs below this one have nothing left to lease.
    drained: u64,
    /// Epochs below this one were reported as drained.
    told: u64,
}

struct Epoch<R> {
    spans: VecDeque<(Span, u64)>,
    tickets: VecDeque<Ticket<R>>,
    /// A record was taken or a lease added since the epoch was last reported as drained.
    news: bool,
}

struct Ticket<R> {
    id: u64,
    position: Position,
    state: Stage<R>,
}

struct Fetch<R> {
    id: u64,
    tag: (u64, u32),
    epoch: u64,
    record: u64,
    state: Stage<R>,
}

enum Stage<R> {
    Waiting,
    Reading(Instant),
    Done(R),
}

impl<R> ReadAhead<R> {
    /// Nothing leased, nothing read; epochs below `first` are over.
    pub fn new(budget: u64, first: u64) -> Self {
        let (fetches, epochs) = (VecDeque::new(), BTreeMap::new());
        Self { budget, used: 0, next_id: 0, fetches, epochs, drained: first, told: first }
    }

    /// Adds a lease behind those of its epoch.
    pub fn lease(&mut self, span: Span) {
        let epoch = self.epochs.entry(span.epoch).or_insert_with(Epoch::empty);
        epoch.news = true;
        epoch.spans.push_back((span, 0));
    }

    /// Epochs below `epoch` have nothing left to lease at this moment.
    pub fn drained(&mut self, epoch: u64) {
        self.drained = self.drained.max(epoch);
    }

    /// Asks for one record out of turn.
    pub fn fetch(&mut self, tag: (u64, u32), epoch: u64, record: u64) {
        let id = self.id();
        self.fetches.push_back(Fetch { id, tag, epoch, record, state: Stage::Waiting });
    }

    /// Leases of `epoch` that are not read to their end.
    pub fn leases_ahead(&self, epoch: u64) -> usize {
        self.epochs.get(&epoch).map_or(0, |e| e.spans.len())
    }

    /// Leases that are not read to their end.
    pub fn leases(&self) -> usize {
        self.epochs.values().map(|epoch| epoch.spans.len()).sum()
    }

    /// The read to do next, if the budget allows one. `size` gives a record's bytes, as far as known.
    pub fn next_job(&mut self, now: Instant, size: impl Fn(u64) -> u64) -> Option<Job> {
        if let Some(fetch) = self.fetches.iter_mut().find(|fetch| matches!(fetch.state, Stage::Waiting)) {
            // A batch waits for this one with a place open: it may exceed the budget as the oldest record may.
            fetch.state = Stage::Reading(now);
            let (id, record, epoch) = (fetch.id, fetch.record, fetch.epoch);
            let reserved = size(record);
            self.used += reserved;
            return Some(Job { id, record, reserved, epoch });
        }
        let (&number, epoch) = self.epochs.iter_mut().find(|(_, epoch)| !epoch.spans.is_empty())?;
        let (span, next) = epoch.spans.front_mut().expect("an epoch with spans was found");
        let record = (span.record)(span.start + *next);
        let reserved = size(record);
        if !epoch.tickets.is_empty() && self.used.saturating_add(reserved) > self.budget {
            return None;
        }
        let position = Position {
            epoch: number,
            lease: span.lease,
            offset: *next,
            lease_len: span.len,
            index: span.start + *next,
            record,
        };
        *next += 1;
        if *next == span.len {
            epoch.spans.pop_front();
        }
        self.used += reserved;
        let id = self.next_id;
        self.next_id += 1;
        epoch.tickets.push_back(Ticket { id, position, state: Stage::Reading(now) });
        Some(Job { id, record, reserved, epoch: number })
    }

    /// Notes what a read gave. Gives it back when the read was given up before.
    pub fn done(&mut self, job: &Job, read: R) -> Option<R> {
        if let Some(fetch) = self.fetches.iter_mut().find(|fetch| fetch.id == job.id) {
            return fetch.state.finish(read);
        }
        // Tickets stand in the order of their ids.
        let tickets = self.epochs.get_mut(&job.epoch).map(|epoch| &mut epoch.tickets);
        let found = tickets.and_then(|tickets| {
            let place = tickets.binary_search_by_key(&job.id, |ticket| ticket.id).ok()?;
            tickets.get_mut(place)
        });
        match found {
            Some(ticket) => ticket.state.finish(read),
            None => Some(read),
        }
    }

    /// Takes what comes next of the epochs up to `limit`; without a limit only what was fetched.
    pub fn take(&mut self, limit: Option<u64>) -> Taken<R> {
        if let Some(place) = self.fetches.iter().position(|fetch| matches!(fetch.state, Stage::Done(_)))
            && let Some(Fetch { tag, record, state: Stage::Done(read), .. }) = self.fetches.remove(place)
        {
            return Taken::Fetched { tag, record, read };
        }
        let Some(limit) = limit else { return Taken::Wait };
        for (&number, epoch) in self.epochs.range_mut(..=limit) {
            match epoch.tickets.front() {
                Some(Ticket { state: Stage::Done(_), .. }) => {
                    if let Some(Ticket { position, state: Stage::Done(read), .. }) = epoch.tickets.pop_front() {
                        return Taken::Record(position, read);
                    }
                }
                Some(_) => return Taken::Wait,
                None if !epoch.spans.is_empty() => return Taken::Wait,
                None => {
                    if number < self.drained && epoch.news {
                        epoch.news = false;
                        self.told = self.told.max(number + 1);
                        return Taken::Drained(number);
                    }
                }
            }
        }
        // An epoch without a single position here (an empty shard) is drained as well.
        if self.told < self.drained && self.told <= limit && !self.epochs.contains_key(&self.told) {
            self.told += 1;
            return Taken::Drained(self.told - 1);
        }
        Taken::Wait
    }

    /// Gives up reads that began more than `timeout` ago; `outcome` says what becomes of them. Answers how many.
    pub fn expire(&mut self, now: Instant, timeout: Duration, outcome: impl Fn(u64) -> R) -> usize {
        let mut late = 0;
        let tickets = self.epochs.values_mut().flat_map(|epoch| epoch.tickets.iter_mut());
        let reads = tickets
            .map(|ticket| (ticket.position.record, &mut ticket.state))
            .chain(self.fetches.iter_mut().map(|fetch| (fetch.record, &mut fetch.state)));
        for (record, state) in reads {
            if matches!(state, Stage::Reading(since) if now.duration_since(*since) > timeout) {
                *state = Stage::Done(outcome(record));
                late += 1;
            }
        }
        late
    }

    /// Forgets epochs below `floor`, which are complete.
    pub fn completed(&mut self, floor: u64) {
        self.epochs.retain(|number, epoch| *number >= floor || !epoch.is_empty() || epoch.news);
    }

    /// Gives room back.
    pub fn release(&mut self, reserved: u64) {
        self.used = self.used.saturating_sub(reserved);
    }

    /// Forgets everything. Gives the ranges that were not taken, as (lease, first offset, end), and what was read.
    pub fn close(&mut self) -> (Vec<(u64, u64, u64)>, Vec<R>) {
        let mut rest: Vec<(u64, u64, u64)> = Vec::new();
        let mut unread = Vec::new();
        for (_, epoch) in std::mem::take(&mut self.epochs) {
            for ticket in epoch.tickets {
                let Position { lease, offset, .. } = ticket.position;
                match rest.last_mut() {
                    Some(last) if last.0 == lease && last.2 == offset => last.2 += 1,
                    _ => rest.push((lease, offset, offset + 1)),
                }
                if let Stage::Done(read) = ticket.state {
                    unread.push(read);
                }
            }
            rest.extend(epoch.spans.iter().map(|(span, next)| (span.lease, *next, span.len)));
        }
        unread.extend(self.fetches.drain(..).filter_map(|fetch| match fetch.state {
            Stage::Done(read) => Some(read),
            _ => None,
        }));
        (rest, unread)
    }

    fn id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id - 1
    }
}

impl<R> Epoch<R> {
    fn empty() -> Self {
        Self { spans: VecDeque::new(), tickets: VecDeque::new(), news: true }
    }

    fn is_empty(&self) -> bool {
        self.spans.is_empty() && self.tickets.is_empty()
    }
}

impl<R> Stage<R> {
    fn finish(&mut self, read: R) -> Option<R> {
        match self {
            Self::Done(_) => Some(read),
            _ => {
                *self = Self::Done(read);
                None
            }
        }
    }
}

impl<R> std::fmt::Debug for ReadAhead<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReadAhead")
            .field("used", &self.used)
            .field("epochs", &self.epochs.len())
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Span {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Span").field("lease", &self.lease).field("len", &self.len).finish_non_exhaustive()
    }
}
