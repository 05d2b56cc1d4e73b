//! Chooses the next read, and decides whether there is room for it.

use std::time::Instant;

use super::budget::ReadBudget;
use super::stage::ReadStage;
use super::table::{Fetch, ReadTable, ReadTicket};
use super::{MOST_AHEAD, ReadJob};
use crate::record::EpochTurn;

/// Waiting readers are woken once there is room for this many records, and not for each.
const ROUND_RECORDS: usize = 64;

/// A read to do next.
enum NextRead {
    /// Out of turn, by its place.
    Fetch(usize),
    /// One more try, by epoch, place, and how many positions are ahead of it.
    Again(u64, usize, usize),
    /// The next position of this epoch, with so many ahead of it.
    Position(u64, usize),
}

/// Who reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reader {
    /// This daemon, whatever is next.
    Any,
    /// This daemon, which leaves to decoders on other machines what they may make.
    Rest,
    /// A decoder on another machine.
    Decoder,
}

/// What may be chosen.
#[derive(Clone, Copy, Debug)]
pub(super) struct May {
    /// Positions that were never read.
    pub begin: bool,
    /// For this reader.
    pub reader: Reader,
}

impl Reader {
    /// Whether a record is read by it. A suspect, and what is to be read `here`, is for no decoder.
    fn takes(self, here: bool) -> bool {
        match self {
            Self::Any => true,
            Self::Rest => here,
            Self::Decoder => !here,
        }
    }
}

/// Whether there is something to read, if there is room.
pub(super) fn wants_room<B>(reads: &ReadTable<B>) -> bool {
    reads.again > 0 || reads.epochs.values().any(|epoch| !epoch.spans.is_empty()) || reads.has_waiting_fetch()
}

/// Whether there is room for a round of reads, or everything else waits for the next read.
pub(super) fn wants_readers<B>(reads: &ReadTable<B>, budget: &ReadBudget) -> bool {
    let room = budget.has_room_for_a_round();
    let next = |(_, ahead)| ahead == 0 || room && ahead + ROUND_RECORDS <= MOST_AHEAD;
    reads.again > 0 || reads.has_waiting_fetch() || next_epoch(reads).is_some_and(next)
}

/// The record of the read to do next.
pub(super) fn next_record<B>(reads: &ReadTable<B>, may: May, now: Instant) -> Option<u64> {
    Some(match choose(reads, may, now)? {
        NextRead::Fetch(place) => reads.fetches[place].of.turn.record(),
        NextRead::Again(number, place, _) => reads.epochs[&number].tickets[place].position.record,
        NextRead::Position(number, _) => {
            let (span, offset) = reads.epochs[&number].spans.front()?;
            (span.turn)(span.start + offset).record()
        }
    })
}

/// Chooses the next read. A batch with an open place waits for a fetch, so a fetch goes before everything else. Then
/// comes the lowest epoch. In it, retries that are due go first, because they are older than what was never read.
fn choose<B>(reads: &ReadTable<B>, May { begin, reader }: May, now: Instant) -> Option<NextRead> {
    if reader != Reader::Decoder
        && let Some(place) = reads.fetches.iter().position(|fetch| fetch.stage.is_due(now).is_some())
    {
        return Some(NextRead::Fetch(place));
    }
    let suspect = |number| reads.epochs[&number].spans.front().is_some_and(|(span, _)| span.suspect);
    let next = next_epoch(reads).filter(|(number, _)| begin && reader.takes(suspect(*number)));
    let mut ahead = 0;
    for (&number, epoch) in reads.epochs.iter().filter(|_| reads.again > 0) {
        if next.is_some_and(|(next, _)| next < number) {
            break;
        }
        let is_due = |ticket: &ReadTicket<B>| {
            ticket.stage.is_due(now).is_some_and(|known| reader.takes(known.here || ticket.position.suspect))
        };
        if let Some(place) = epoch.tickets.iter().position(is_due) {
            return Some(NextRead::Again(number, place, ahead + place));
        }
        ahead += epoch.tickets.len();
    }
    next.map(|(number, ahead)| NextRead::Position(number, ahead))
}

/// The epoch of the next position to read, and how many positions are ahead of it. None if as many as allowed are
/// ahead. Positions of later epochs do not count, because they may have to wait for this one.
fn next_epoch<B>(reads: &ReadTable<B>) -> Option<(u64, usize)> {
    let number = reads.epochs.iter().find(|(_, epoch)| !epoch.spans.is_empty()).map(|(number, _)| *number)?;
    let ahead = reads.epochs.range(..=number).map(|(_, epoch)| epoch.tickets.len()).sum();
    (ahead < MOST_AHEAD).then_some((number, ahead))
}

/// Begins the next read, if the budget allows one. `size` gives the bytes to read for a turn, as the source knows them. If
/// it is called with a larger number, it gives that number instead.
pub(super) fn next_job<B>(
    reads: &mut ReadTable<B>,
    budget: &mut ReadBudget,
    may: May,
    now: Instant,
    size: impl Fn(EpochTurn, u64) -> u64,
) -> Option<ReadJob> {
    match choose(reads, may, now)? {
        NextRead::Fetch(place) => {
            let Fetch { id, of, ref stage, .. } = reads.fetches[place];
            let bytes = stage.is_due(now)?.bytes;
            // A waiting fetch goes first only if no other fetch is before it.
            let reserved = budget.grant(size(of, bytes), place == 0)?;
            reads.fetches[place].stage.begin(now, reserved);
            Some(ReadJob { id, of, reserved, last: false, epoch: None, began: now, probe: false })
        }
        NextRead::Again(number, place, ahead) => {
            let ReadTicket { id, position, stage } = reads.epochs.get_mut(&number)?.tickets.get_mut(place)?;
            let (id, of) = (*id, position.of_epoch());
            let reserved = budget.grant(size(of, stage.is_due(now)?.bytes), ahead == 0)?;
            stage.begin(now, reserved);
            reads.again -= 1;
            Some(ReadJob { id, of, reserved, last: false, epoch: Some(number), began: now, probe: false })
        }
        NextRead::Position(number, ahead) => next_position(reads, budget, (number, ahead), now, size),
    }
}

fn next_position<B>(
    reads: &mut ReadTable<B>,
    budget: &mut ReadBudget,
    (number, ahead): (u64, usize),
    now: Instant,
    size: impl Fn(EpochTurn, u64) -> u64,
) -> Option<ReadJob> {
    let (span, offset) = reads.epochs[&number].spans.front()?;
    let reserved = budget.grant(size(span.position(*offset).of_epoch(), 0), ahead == 0)?;
    append(reads, number, reserved, |stage| stage.begin(now, reserved), now)
}

/// Begins the next position of an epoch.
fn append<B>(
    reads: &mut ReadTable<B>,
    number: u64,
    reserved: u64,
    begin: impl FnOnce(&mut ReadStage<B>),
    now: Instant,
) -> Option<ReadJob> {
    let (span, offset) = reads.epochs[&number].spans.front()?;
    let (offset, position) = (*offset, span.position(*offset));
    let (of, next) = (position.of_epoch(), span.next(offset + 1));
    let id = reads.id();
    let epoch = reads.epochs.get_mut(&number)?;
    let last = next >= position.lease_end;
    if last {
        epoch.spans.pop_front();
    } else if let Some((_, of_span)) = epoch.spans.front_mut() {
        *of_span = next;
    }
    let mut stage = ReadStage::new();
    begin(&mut stage);
    epoch.tickets.push_back(ReadTicket { id, position, stage });
    Some(ReadJob { id, of, reserved, last, epoch: Some(number), began: now, probe: false })
}

/// The next position for a decoder on another machine, which takes no room of the budget. If there is no memory for answers
/// (`is_full`), only the oldest position is chosen, which everything waits for.
pub(super) fn decoder_job<B>(reads: &mut ReadTable<B>, is_full: bool, now: Instant) -> Option<ReadJob> {
    match choose(reads, May { begin: true, reader: Reader::Decoder }, now)? {
        NextRead::Again(number, place, ahead) if ahead == 0 || !is_full => {
            let ReadTicket { id, position, stage } = reads.epochs.get_mut(&number)?.tickets.get_mut(place)?;
            stage.begin_remote(now);
            let (id, of) = (*id, position.of_epoch());
            reads.again -= 1;
            Some(ReadJob { id, of, reserved: 0, last: false, epoch: Some(number), began: now, probe: false })
        }
        NextRead::Position(number, ahead) if ahead == 0 || !is_full => {
            append(reads, number, 0, |stage| stage.begin_remote(now), now)
        }
        _ => None,
    }
}
