//! Chooses the next read, and decides whether there is room for it.

use std::time::Instant;

use super::stage::ReadStage;
use super::{Fetch, MOST_AHEAD, ReadAhead, ReadJob, ReadTicket};
use crate::record::EpochTurn;

/// Reads that fail or hang, after which no further ones are begun.
pub(super) const MOST_TROUBLED: usize = 64;

/// Waiting readers are woken once there is room for this much, and not for each record. It is at most this many bytes,
/// this part of the budget, and this many records.
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

    /// Whether to wake waiting readers: there is room for a round of reads, or everything else waits for the next read.
    /// They are woken again for every record that is given back, so that more of them read if one cannot keep up.
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

    /// Chooses the next read. A batch with an open place waits for a fetch, so a fetch goes before everything else. Then
    /// comes the lowest epoch. In it, retries that are due go first, because they are older than what was never read.
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

    /// The epoch of the next position to read, and how many positions are ahead of it. None if as many as allowed are
    /// ahead. Positions of later epochs do not count, because they may have to wait for this one.
    fn next_epoch(&self) -> Option<(u64, usize)> {
        let number = self.epochs.iter().find(|(_, epoch)| !epoch.spans.is_empty()).map(|(number, _)| *number)?;
        let ahead = self.epochs.range(..=number).map(|(_, epoch)| epoch.tickets.len()).sum();
        (ahead < MOST_AHEAD).then_some((number, ahead))
    }

    /// The next read, if the budget allows one. `size` gives the bytes to read for a turn, as the source knows them. If
    /// it is called with a larger number, it gives that number instead.
    pub(crate) fn next_job(&mut self, now: Instant, size: impl Fn(EpochTurn, u64) -> u64) -> Option<ReadJob> {
        match self.choose(now)? {
            NextRead::Fetch(place) => {
                let Fetch { id, of, ref stage, .. } = self.fetches[place];
                let bytes = stage.is_due(now)?.bytes;
                // A waiting fetch goes first only if no other fetch is before it.
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

    /// Takes room for a read. The read that goes first gets it as soon as nothing in decoding can still return room. A
    /// read that takes no room needs none.
    pub(super) fn grant(&mut self, bytes: u64, first: bool) -> Option<u64> {
        let used = self.used.saturating_add(bytes);
        if bytes > 0 && used > self.budget && !(first && self.taken == 0) {
            return None;
        }
        self.used = used;
        Some(bytes)
    }
}
