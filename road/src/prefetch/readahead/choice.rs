//! Chooses the next read, and decides whether there is room for it.

use std::time::Instant;

use super::stage::ReadStage;
use super::{Fetch, MOST_AHEAD, ReadAhead, ReadJob, ReadTicket};
use crate::record::EpochTurn;

/// Reads that fail or hang, after which no further ones are begun.
pub(super) const MOST_TROUBLED: usize = 64;

/// Readers that wait are called once there is room for this much, and not for each record: at most this many bytes, or this
/// part of the budget, and so many records.
const ROUND_BYTES: u64 = 8 << 20;
const ROUND_PART: u64 = 8;
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

impl<B> ReadAhead<B> {
    /// Whether there is something to read, if there is room.
    pub(crate) fn wants_room(&self) -> bool {
        self.again > 0
            || self.epochs.values().any(|epoch| !epoch.spans.is_empty())
            || self.fetches.iter().any(|fetch| fetch.stage.waits())
    }

    /// Whether readers that wait are to be called: there is room for a round of reads, or what is read next is what
    /// everything else waits for. They are called again with every record that is given back, so that more of them
    /// read where one alone does not keep up.
    pub(crate) fn wants_readers(&self) -> bool {
        let round = ROUND_BYTES.min(self.budget / ROUND_PART);
        let room = self.budget.saturating_sub(self.used) >= round;
        let next = |(_, ahead)| ahead == 0 || room && ahead + ROUND_RECORDS <= MOST_AHEAD;
        self.again > 0
            || self.fetches.iter().any(|fetch| fetch.stage.waits())
            || self.next_epoch().is_some_and(next)
            || self.wants_probe()
    }

    /// The record of the read to do next.
    pub(super) fn next_record(&self, now: Instant) -> Option<u64> {
        Some(match self.choose(now)? {
            NextRead::Fetch(place) => self.fetches[place].of.turn.record(),
            NextRead::Again(number, place, _) => self.epochs[&number].tickets[place].position.record,
            NextRead::Position(number, _) => {
                let (span, offset) = self.epochs[&number].spans.front()?;
                (span.turn)(span.start + offset).record()
            }
        })
    }

    /// A batch waits for what is fetched with a place open: nothing goes before it. Then comes the lowest epoch, and in it
    /// tries that are due, which are older than what was never read.
    fn choose(&self, now: Instant) -> Option<NextRead> {
        if let Some(place) = self.fetches.iter().position(|fetch| fetch.stage.is_due(now).is_some()) {
            return Some(NextRead::Fetch(place));
        }
        let many = self.again >= MOST_TROUBLED || self.hung >= MOST_TROUBLED;
        let next = self.next_epoch().filter(|_| !many);
        let mut ahead = 0;
        for (&number, epoch) in self.epochs.iter().filter(|_| self.again > 0) {
            if next.is_some_and(|(next, _)| next < number) {
                break;
            }
            if let Some(place) = epoch.tickets.iter().position(|ticket| ticket.stage.is_due(now).is_some()) {
                return Some(NextRead::Again(number, place, ahead + place));
            }
            ahead += epoch.tickets.len();
        }
        next.map(|(number, ahead)| NextRead::Position(number, ahead))
    }

    /// The epoch of the position to read next, unless as many as may be lie ahead, and how many those are. Those of later
    /// epochs do not count: they may have to wait for this one.
    fn next_epoch(&self) -> Option<(u64, usize)> {
        let number = self.epochs.iter().find(|(_, epoch)| !epoch.spans.is_empty()).map(|(number, _)| *number)?;
        let ahead = self.epochs.range(..=number).map(|(_, epoch)| epoch.tickets.len()).sum();
        (ahead < MOST_AHEAD).then_some((number, ahead))
    }

    /// The read to do next, if the budget allows one. `size` gives the bytes of what is read for a turn as the source knows them, or
    /// as many as it is told, if they are more.
    pub(crate) fn next_job(&mut self, now: Instant, size: impl Fn(EpochTurn, u64) -> u64) -> Option<ReadJob> {
        match self.choose(now)? {
            NextRead::Fetch(place) => {
                let Fetch { id, of, ref stage, .. } = self.fetches[place];
                let bytes = stage.is_due(now)?.bytes;
                // Waiting ones stand behind the others.
                let reserved = self.grant(size(of, bytes), place == 0)?;
                self.fetches[place].stage.begin(now, reserved);
                self.in_flight.add(reserved);
                Some(ReadJob { id, of, reserved, last: false, epoch: None, began: now, probe: false })
            }
            NextRead::Again(number, place, ahead) => {
                let ReadTicket { id, position, stage } = self.epochs.get(&number)?.tickets.get(place)?;
                let (id, of) = (*id, position.of_epoch());
                let reserved = self.grant(size(of, stage.is_due(now)?.bytes), ahead == 0)?;
                self.epochs.get_mut(&number)?.tickets[place].stage.begin(now, reserved);
                self.again -= 1;
                self.in_flight.add(reserved);
                Some(ReadJob { id, of, reserved, last: false, epoch: Some(number), began: now, probe: false })
            }
            NextRead::Position(number, ahead) => self.next_position(now, number, ahead, size),
        }
    }

    fn next_position(
        &mut self,
        now: Instant,
        number: u64,
        ahead: usize,
        size: impl Fn(EpochTurn, u64) -> u64,
    ) -> Option<ReadJob> {
        let (span, offset) = self.epochs[&number].spans.front()?;
        let (offset, position) = (*offset, span.position(*offset));
        let (of, lease_len) = (position.of_epoch(), position.lease_len);
        let reserved = self.grant(size(of, 0), ahead == 0)?;
        let id = self.id();
        let epoch = self.epochs.get_mut(&number)?;
        let last = offset + 1 == lease_len;
        if last {
            epoch.spans.pop_front();
        } else if let Some((_, next)) = epoch.spans.front_mut() {
            *next += 1;
        }
        let mut stage = ReadStage::new();
        stage.begin(now, reserved);
        epoch.tickets.push_back(ReadTicket { id, position, stage });
        self.in_flight.add(reserved);
        Some(ReadJob { id, of, reserved, last, epoch: Some(number), began: now, probe: false })
    }

    /// Takes room for a read. What goes first gets it as soon as nothing is in decoding that will give some back; what
    /// takes none needs none.
    pub(super) fn grant(&mut self, bytes: u64, first: bool) -> Option<u64> {
        let used = self.used.saturating_add(bytes);
        if bytes > 0 && used > self.budget && !(first && self.taken == 0) {
            return None;
        }
        self.used = used;
        Some(bytes)
    }
}
