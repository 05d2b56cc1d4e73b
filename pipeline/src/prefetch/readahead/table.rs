//! The reads of leased positions and of single records, each with how far it is.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Instant;

use super::budget::ReadBudget;
use super::stage::ReadStage;
use super::{ReadJob, Span};
use crate::record::{EpochTurn, Position};

/// All reads that are to be done, are under way, or whose record was not taken.
pub(super) struct ReadTable<B> {
    next_id: u64,
    /// Records out of turn.
    pub(super) fetches: VecDeque<Fetch<B>>,
    /// The leased positions.
    pub(super) epochs: BTreeMap<u64, EpochReads<B>>,
    /// Positions whose read must be retried.
    pub(super) again: usize,
    /// Reads in flight whose positions were left out, with their beginnings. Their threads read on, and were not replaced.
    left: BTreeMap<u64, Instant>,
}

pub(super) struct EpochReads<B> {
    /// Leases that are not all being read, with the next offset.
    pub(super) spans: VecDeque<(Span, u64)>,
    /// Records that are being read or are ready, in the order of their ids.
    pub(super) tickets: VecDeque<ReadTicket<B>>,
    /// Positions without a record, each with how many positions with one come before it.
    pub(super) bare: VecDeque<(u64, Position)>,
    /// How many positions with a record were leased, and how many of them were taken.
    leased: u64,
    taken: u64,
    /// A lease came since the epoch was last reported as drained.
    pub(super) changed: bool,
}

pub(super) struct ReadTicket<B> {
    pub(super) id: u64,
    pub(super) position: Position,
    pub(super) stage: ReadStage<B>,
}

pub(super) struct Fetch<B> {
    pub(super) id: u64,
    pub(super) tag: (u64, u32),
    pub(super) of: EpochTurn,
    pub(super) stage: ReadStage<B>,
}

impl<B> ReadTable<B> {
    /// Nothing leased, nothing asked for.
    pub(super) fn new() -> Self {
        Self { next_id: 0, fetches: VecDeque::new(), epochs: BTreeMap::new(), again: 0, left: BTreeMap::new() }
    }

    /// A number for a read, never used twice.
    pub(super) fn id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id - 1
    }

    /// Adds a lease behind those of its epoch.
    pub(super) fn lease(&mut self, span: Span) {
        let epoch = self.epochs.entry(span.epoch).or_insert_with(EpochReads::empty);
        epoch.changed = true;
        let mut without = 0;
        for bare in &span.bare {
            let before = epoch.leased + bare.start - without;
            without += bare.end - bare.start;
            epoch.bare.extend(bare.clone().map(|offset| (before, span.position(offset))));
        }
        epoch.leased += span.len - without;
        let first = span.next(0);
        if first < span.end() {
            epoch.spans.push_back((span, first));
        }
    }

    /// Asks for one record out of turn.
    pub(super) fn fetch(&mut self, tag: (u64, u32), of: EpochTurn) {
        let id = self.id();
        self.fetches.push_back(Fetch { id, tag, of, stage: ReadStage::new() });
    }

    /// Whether something is asked for out of turn whose read has not begun.
    pub(super) fn has_waiting_fetch(&self) -> bool {
        self.fetches.iter().any(|fetch| fetch.stage.waits())
    }

    /// How far the record of a read is.
    pub(super) fn stage(&self, job: &ReadJob) -> Option<&ReadStage<B>> {
        let Some(epoch) = job.epoch else {
            return self.fetches.iter().find(|fetch| fetch.id == job.id).map(|fetch| &fetch.stage);
        };
        let tickets = &self.epochs.get(&epoch)?.tickets;
        let place = tickets.binary_search_by_key(&job.id, |ticket| ticket.id).ok()?;
        Some(&tickets[place].stage)
    }

    /// How far the record of a read is, and its place in its epoch.
    pub(super) fn stage_mut(&mut self, job: &ReadJob) -> Option<(usize, &mut ReadStage<B>)> {
        let Some(epoch) = job.epoch else {
            let fetch = self.fetches.iter_mut().find(|fetch| fetch.id == job.id)?;
            return Some((0, &mut fetch.stage));
        };
        let tickets = &mut self.epochs.get_mut(&epoch)?.tickets;
        let place = tickets.binary_search_by_key(&job.id, |ticket| ticket.id).ok()?;
        Some((place, &mut tickets[place].stage))
    }

    /// Takes a position back from a decoder on another machine, which was asked for it.
    pub(super) fn take_back(&mut self, job: &ReadJob, here: bool, suspect: bool) {
        let Some(epoch) = job.epoch.and_then(|epoch| self.epochs.get_mut(&epoch)) else { return };
        let Ok(place) = epoch.tickets.binary_search_by_key(&job.id, |ticket| ticket.id) else { return };
        let ReadTicket { position, stage, .. } = &mut epoch.tickets[place];
        if stage.take_back(job.began, here) {
            position.suspect |= suspect;
            self.again += 1;
        }
    }

    /// All stages, each with its record.
    pub(super) fn stages(&self) -> impl Iterator<Item = (u64, &ReadStage<B>)> {
        let tickets = self.epochs.values().flat_map(|epoch| &epoch.tickets);
        let tickets = tickets.map(|ticket| (ticket.position.record, &ticket.stage));
        tickets.chain(self.fetches.iter().map(|fetch| (fetch.of.turn.record(), &fetch.stage)))
    }

    /// All stages. For each: whether it is one of a position, and what is read.
    pub(super) fn stages_mut(&mut self) -> impl Iterator<Item = (bool, EpochTurn, &mut ReadStage<B>)> {
        let tickets = self.epochs.values_mut().flat_map(|epoch| &mut epoch.tickets);
        let tickets = tickets.map(|ticket| (true, ticket.position.of_epoch(), &mut ticket.stage));
        tickets.chain(self.fetches.iter_mut().map(|fetch| (false, fetch.of, &mut fetch.stage)))
    }

    /// The records that the storage does not give.
    pub(super) fn culprits(&self) -> BTreeSet<u64> {
        self.stages().filter_map(|(record, stage)| stage.culprit(record)).collect()
    }

    /// Whether the oldest read of a position, or of a record out of turn, fails or hangs.
    pub(super) fn oldest_is_in_trouble(&self) -> bool {
        let fetch = self.fetches.front().map(|fetch| (fetch.of.turn.record(), &fetch.stage));
        let mut oldest = self.stages().next().into_iter().chain(fetch);
        oldest.any(|(own, stage)| stage.culprit(own).is_some())
    }

    /// Makes all reads that wait for the end of an outage due. If they fail from now on, that is another outage.
    pub(super) fn outage_is_over(&mut self, now: Instant) {
        for (_, _, stage) in self.stages_mut() {
            if let Some(failing) = stage.failing() {
                (failing.since, failing.due) = (now, now);
            }
        }
    }

    /// The mosaics of other records are read without this partner.
    pub(super) fn leave_out(&mut self, partner: u64) {
        let others = self.stages_mut().filter(|(_, of, _)| of.turn.record() != partner);
        others.for_each(|(_, _, stage)| stage.leave_out(partner));
    }

    /// Takes all that was not taken of an epoch of which nothing is left to lease, if there are no more positions than `most`. Their
    /// reads give nothing any more.
    pub(super) fn leave_rest(&mut self, epoch: u64, most: u64, budget: &mut ReadBudget) -> Vec<Position> {
        let Some(epoch) = self.epochs.get_mut(&epoch) else { return Vec::new() };
        let count = epoch.leased - epoch.taken;
        if !epoch.bare.is_empty() || count > most {
            return Vec::new();
        }
        let mut left_out = Vec::new();
        for ReadTicket { id, position, stage } in epoch.tickets.drain(..) {
            left_out.push(position);
            match stage {
                ReadStage::Done(Ok(read)) => budget.give_back(read.reserved),
                // Its room comes back with its thread, or with its answer.
                ReadStage::Reading { began, reserved, lost: false, remote: false, .. } => {
                    budget.ended(reserved);
                    self.left.insert(id, began);
                }
                ReadStage::Waiting(_) => self.again -= 1,
                ReadStage::Done(Err(_)) | ReadStage::Reading { .. } => {}
            }
        }
        for (span, next) in epoch.spans.drain(..) {
            left_out.extend((next..span.end()).map(|offset| span.position(offset)));
        }
        epoch.taken = epoch.leased;
        left_out
    }

    /// Whether a read that has ended was left out, and its thread not given up.
    pub(super) fn was_left(&mut self, job: &ReadJob) -> bool {
        self.left.get(&job.id) == Some(&job.began) && self.left.remove(&job.id).is_some()
    }

    /// Gives up the threads of reads that were left out and are late. Gives their number.
    pub(super) fn expire_left(&mut self, late: impl Fn(Instant) -> bool) -> usize {
        let before = self.left.len();
        self.left.retain(|_, began| !late(*began));
        before - self.left.len()
    }

    /// Forgets everything that was not taken. Gives its ranges, as (lease, first offset, end).
    pub(super) fn close(&mut self) -> Vec<(u64, u64, u64)> {
        let mut rest: Vec<(u64, u64, u64)> = Vec::new();
        self.fetches.clear();
        self.again = 0;
        for (_, epoch) in std::mem::take(&mut self.epochs) {
            let tickets = epoch
                .tickets
                .iter()
                .map(|ReadTicket { position, .. }| (position.lease, position.offset, position.offset + 1));
            let spans = epoch.spans.iter().flat_map(|(span, next)| {
                span.records().map(|records| (span.lease, records.start.max(*next), records.end))
            });
            let bare = epoch.bare.iter().map(|(_, position)| (position.lease, position.offset, position.offset + 1));
            let mut ranges: Vec<_> = tickets.chain(spans).chain(bare).filter(|(_, start, end)| start < end).collect();
            ranges.sort_unstable();
            for (lease, start, end) in ranges {
                match rest.last_mut() {
                    Some(last) if last.0 == lease && last.2 == start => last.2 = end,
                    _ => rest.push((lease, start, end)),
                }
            }
        }
        rest
    }
}

impl<B> EpochReads<B> {
    fn empty() -> Self {
        let (spans, tickets, bare) = (VecDeque::new(), VecDeque::new(), VecDeque::new());
        Self { spans, tickets, bare, leased: 0, taken: 0, changed: true }
    }

    /// The next position, if it has no record.
    pub(super) fn next_bare(&self) -> Option<&Position> {
        self.bare.front().filter(|(before, _)| *before <= self.taken).map(|(_, position)| position)
    }

    /// Takes it.
    pub(super) fn take_bare(&mut self) -> Option<Position> {
        self.next_bare()?;
        self.bare.pop_front().map(|(_, position)| position)
    }

    /// Takes the first position that is being read or is ready.
    pub(super) fn take_ticket(&mut self) -> Option<ReadTicket<B>> {
        let ticket = self.tickets.pop_front()?;
        self.taken += 1;
        Some(ticket)
    }

    /// Whether every position was taken.
    pub(super) fn is_empty(&self) -> bool {
        self.spans.is_empty() && self.tickets.is_empty() && self.bare.is_empty()
    }
}
