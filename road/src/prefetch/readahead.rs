//! Decides which record is read next, and which may be taken. It is a state machine without threads or a clock.
//!
//! Positions are read and taken in the order of the epoch. A lower epoch is first, so positions that are returned late
//! overtake those of the next epoch. Room in the byte budget is granted in the same order, and is freed when a record
//! was decoded. The oldest record that is not decoded may always exceed the budget. So a budget smaller than one file
//! slows the daemon down, but does not stop it. Cached records take no room, so they are limited by their number.
//! Otherwise, leases would be acquired up to the end of the epoch (semantics rule 4).

mod choice;
mod in_flight;
mod left_out;
#[cfg(test)]
mod model;
mod noted;
mod outage;
mod pause;
mod probe;
mod span;
mod stage;
mod taken;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

use crate::reason::Reason;
use crate::record::{EpochTurn, Position};
pub(crate) use in_flight::InFlight;
pub(crate) use noted::Noted;
pub(crate) use outage::{Silence, Stall};
use probe::Probe;
pub(crate) use span::Span;
use stage::ReadStage;
pub(crate) use taken::{LoadedRead, TakenRead};

/// The most positions of an epoch and the epochs before it that are being read or are ready. About as many photographs
/// fit into the default budget. So a cache makes the pipeline faster, but not longer.
pub(super) const MOST_AHEAD: usize = 2048;

/// One read to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadJob {
    /// Number of the read, never used twice.
    pub id: u64,
    /// What to read: the turn of a record in its epoch.
    pub of: EpochTurn,
    /// Bytes of the budget that it has.
    pub reserved: u64,
    /// It is the last of its lease: a further one may be wanted.
    pub last: bool,
    /// The epoch in whose order it is read. None for a read out of turn.
    epoch: Option<u64>,
    /// When it began. A record may be requested again during an earlier request, and this distinguishes the two.
    pub began: Instant,
    /// A probe only asks whether the storage answers. It reads the record alone, without partners, and its content is
    /// discarded.
    pub probe: bool,
}

/// The state; `B` is what a read gives.
pub(crate) struct ReadAhead<B> {
    budget: u64,
    /// Bytes that are being read, are ready or were taken.
    used: u64,
    /// Those that were taken.
    taken: u64,
    /// Reads that are under way.
    in_flight: InFlight,
    next_id: u64,
    fetches: VecDeque<Fetch<B>>,
    epochs: BTreeMap<u64, EpochReads<B>>,
    /// Positions whose read must be retried.
    again: usize,
    /// Reads that hung at the last check.
    hung: usize,
    /// When the latest read that gave a record began.
    answered: Option<Instant>,
    /// Partners that the storage does not give although it gives other records, each with the epoch in which this was
    /// decided. The own record replaces such a partner. Later epochs try it again.
    judged: BTreeMap<u64, u64>,
    /// What asks whether the storage answers.
    probe: Probe,
    /// Epochs below this one have nothing left to lease.
    drained: u64,
    /// Epochs below this one were reported as drained.
    told: u64,
}

struct EpochReads<B> {
    /// Leases that are not all being read, with the next offset.
    spans: VecDeque<(Span, u64)>,
    /// Records that are being read or are ready, in the order of their ids.
    tickets: VecDeque<ReadTicket<B>>,
    /// Positions without a record: they are the epoch's last.
    bare: VecDeque<Position>,
    /// A lease came since the epoch was last reported as drained.
    news: bool,
}

struct ReadTicket<B> {
    id: u64,
    position: Position,
    stage: ReadStage<B>,
}

struct Fetch<B> {
    id: u64,
    tag: (u64, u32),
    of: EpochTurn,
    stage: ReadStage<B>,
}

impl ReadJob {
    /// Number of the record to read.
    pub(crate) fn record(&self) -> u64 {
        self.of.turn.record()
    }
}

impl<B> ReadAhead<B> {
    /// Nothing leased, nothing read; epochs below `first` are over.
    pub(crate) fn new(budget: u64, first: u64) -> Self {
        let (fetches, epochs) = (VecDeque::new(), BTreeMap::new());
        let (again, hung, answered) = (0, 0, None);
        Self {
            budget,
            used: 0,
            taken: 0,
            in_flight: InFlight::default(),
            next_id: 0,
            fetches,
            epochs,
            again,
            hung,
            answered,
            judged: BTreeMap::new(),
            probe: Probe::default(),
            drained: first,
            told: first,
        }
    }

    /// Adds a lease behind those of its epoch.
    pub(crate) fn lease(&mut self, span: Span) {
        let epoch = self.epochs.entry(span.epoch).or_insert_with(EpochReads::empty);
        epoch.news = true;
        epoch.bare.extend((span.len..span.len + span.bare).map(|offset| span.position(offset)));
        if span.len > 0 {
            epoch.spans.push_back((span, 0));
        }
    }

    /// Notes that epochs below `epoch` have nothing left to lease now. Returns whether that is new.
    pub(crate) fn drained(&mut self, epoch: u64) -> bool {
        let is_new = epoch > self.drained;
        self.drained = self.drained.max(epoch);
        is_new
    }

    /// Asks for one record out of turn.
    pub(crate) fn fetch(&mut self, tag: (u64, u32), of: EpochTurn) {
        let id = self.id();
        self.fetches.push_back(Fetch { id, tag, of, stage: ReadStage::new() });
    }

    /// Leases of `epoch` whose records are not all being read.
    pub(crate) fn leases_ahead(&self, epoch: u64) -> usize {
        self.epochs.get(&epoch).map_or(0, |epoch| epoch.spans.len())
    }

    /// Whether positions of `epoch` are leased and were not taken.
    pub(crate) fn has(&self, epoch: u64) -> bool {
        self.epochs.get(&epoch).is_some_and(|epoch| !epoch.is_empty())
    }

    /// Leases whose records are not all being read.
    pub(crate) fn leases(&self) -> usize {
        self.epochs.values().map(|epoch| epoch.spans.len()).sum()
    }

    /// Reads that are under way, but for those that were given up.
    pub(crate) fn in_flight(&self) -> InFlight {
        self.in_flight
    }

    /// Whether an answer to this read still counts: its record was not given yet and is not bad, or it is the current
    /// probe.
    pub(crate) fn wants(&self, job: &ReadJob) -> bool {
        if job.probe {
            return self.probe.is_under_way(job.id);
        }
        let stage = match job.epoch {
            None => self.fetches.iter().find(|fetch| fetch.id == job.id).map(|fetch| &fetch.stage),
            Some(epoch) => self.epochs.get(&epoch).and_then(|epoch| {
                let place = epoch.tickets.binary_search_by_key(&job.id, |ticket| ticket.id).ok()?;
                Some(&epoch.tickets[place].stage)
            }),
        };
        stage.is_some_and(|stage| !matches!(stage, ReadStage::Done(_)))
    }

    /// Whether the reads under way have most of the room in use. If so, the storage is slow, and not the consumer of the
    /// records.
    pub(crate) fn waits_for_storage(&self) -> bool {
        self.in_flight.bytes > self.used / 2
    }

    /// Bytes of the budget that are in use.
    #[cfg(test)]
    pub(crate) fn used(&self) -> u64 {
        self.used
    }

    /// Takes what comes next of the epochs up to `limit`; a position only if its epoch has room for it.
    pub(crate) fn take(
        &mut self,
        limit: u64,
        room: impl Fn(&Position) -> bool,
    ) -> TakenRead<Result<LoadedRead<B>, Reason>> {
        if let Some(place) = self.fetches.iter().position(|fetch| matches!(fetch.stage, ReadStage::Done(_)))
            && let Some(Fetch { tag, of, stage: ReadStage::Done(read), .. }) = self.fetches.remove(place)
        {
            return TakenRead::Fetched { tag, turn: of.turn, read: self.hand_out(read) };
        }
        // An epoch without a single position here (an empty shard, or all of it held by trainers) is drained as well.
        let untold = (self.told < self.drained && self.told <= limit).then_some(self.told);
        for (&number, epoch) in self.epochs.range_mut(..=limit) {
            if untold.is_some_and(|untold| untold < number) {
                break;
            }
            let next = match epoch.tickets.front() {
                Some(ReadTicket { position, stage: ReadStage::Done(_), .. }) => Some(*position),
                None if epoch.spans.is_empty() => epoch.bare.front().copied(),
                _ => None,
            };
            if let Some(position) = next.filter(|position| !room(position)) {
                return TakenRead::NoRoom(position);
            }
            if let Some(position) = next {
                let Some(ReadTicket { stage: ReadStage::Done(read), .. }) = epoch.tickets.pop_front() else {
                    epoch.bare.pop_front();
                    return TakenRead::Bare(position);
                };
                return TakenRead::Record(position, self.hand_out(read));
            }
            if !epoch.is_empty() {
                return TakenRead::Wait;
            }
            if number < self.drained && epoch.news {
                epoch.news = false;
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
        let before = self.epochs.len();
        self.epochs.retain(|number, epoch| *number >= floor || !epoch.is_empty() || epoch.news);
        self.judged.retain(|_, epoch| *epoch >= floor);
        self.epochs.len() < before
    }

    /// Gives the room of something that was taken back.
    pub(crate) fn release(&mut self, reserved: u64) {
        self.used = self.used.saturating_sub(reserved);
        self.taken = self.taken.saturating_sub(reserved);
    }

    /// Forgets everything that was not taken. Gives its ranges, as (lease, first offset, end).
    pub(crate) fn close(&mut self) -> Vec<(u64, u64, u64)> {
        let mut rest: Vec<(u64, u64, u64)> = Vec::new();
        self.fetches.clear();
        self.probe.close();
        (self.again, self.hung, self.in_flight) = (0, 0, InFlight::default());
        self.used = self.taken;
        for (_, epoch) in std::mem::take(&mut self.epochs) {
            let tickets = epoch
                .tickets
                .iter()
                .map(|ReadTicket { position, .. }| (position.lease, position.offset, position.offset + 1));
            let spans = epoch.spans.iter().map(|(span, next)| (span.lease, *next, span.len));
            let bare = epoch.bare.iter().map(|position| (position.lease, position.offset, position.offset + 1));
            for (lease, start, end) in tickets.chain(spans).chain(bare) {
                match rest.last_mut() {
                    Some(last) if last.0 == lease && last.2 == start => last.2 = end,
                    _ => rest.push((lease, start, end)),
                }
            }
        }
        rest
    }

    fn hand_out(&mut self, read: Result<LoadedRead<B>, Reason>) -> Result<LoadedRead<B>, Reason> {
        self.taken += read.as_ref().map_or(0, |held| held.reserved);
        read
    }

    fn id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id - 1
    }
}

impl<B> EpochReads<B> {
    fn empty() -> Self {
        Self { spans: VecDeque::new(), tickets: VecDeque::new(), bare: VecDeque::new(), news: true }
    }

    fn is_empty(&self) -> bool {
        self.spans.is_empty() && self.tickets.is_empty() && self.bare.is_empty()
    }
}

impl<B> std::fmt::Debug for ReadAhead<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReadAhead")
            .field("used", &self.used)
            .field("epochs", &self.epochs.len())
            .finish_non_exhaustive()
    }
}
