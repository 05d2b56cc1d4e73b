//! The byte budget of the reads ahead: who has how much of it.

use super::InFlight;

/// Waiting readers are woken once there is room for this much, and not for each record. It is at most this many bytes, and this
/// part of the budget.
const ROUND_BYTES: u64 = 8 << 20;
const ROUND_PART: u64 = 8;

/// Bytes that are being read, are ready or were taken, and how many there may be.
#[derive(Debug)]
pub(super) struct ReadBudget {
    limit: u64,
    /// Bytes that are being read, are ready or were taken.
    used: u64,
    /// Those that were taken.
    taken: u64,
    /// Reads that are under way.
    in_flight: InFlight,
}

impl ReadBudget {
    /// Of so many bytes, which are all free.
    pub(super) fn new(limit: u64) -> Self {
        Self { limit, used: 0, taken: 0, in_flight: InFlight::default() }
    }

    /// Bytes that are in use.
    #[cfg(test)]
    pub(super) fn used(&self) -> u64 {
        self.used
    }

    /// Reads that are under way, but for those that were given up.
    pub(super) fn in_flight(&self) -> InFlight {
        self.in_flight
    }

    /// Whether the reads under way have most of the room in use.
    pub(super) fn is_in_flight(&self) -> bool {
        self.in_flight.bytes > self.used / 2
    }

    /// Whether there is room for a round of reads.
    pub(super) fn has_room_for_a_round(&self) -> bool {
        self.limit.saturating_sub(self.used) >= ROUND_BYTES.min(self.limit / ROUND_PART)
    }

    /// Takes room for a read, which is under way then. The read that goes `first` gets it as soon as nothing in decoding can
    /// still return room. A read that takes no room needs none.
    pub(super) fn grant(&mut self, bytes: u64, first: bool) -> Option<u64> {
        let used = self.used.saturating_add(bytes);
        if bytes > 0 && used > self.limit && !(first && self.taken == 0) {
            return None;
        }
        self.used = used;
        self.in_flight.add(bytes);
        Some(bytes)
    }

    /// A read with this room is not under way any more. Its room stays in use.
    pub(super) fn ended(&mut self, reserved: u64) {
        self.in_flight.remove(reserved);
    }

    /// These reads were given up. Their room stays in use until they return.
    pub(super) fn given_up(&mut self, reads: InFlight) {
        self.in_flight.remove_all(reads);
    }

    /// Room that a read had, or what it gave, is free again.
    pub(super) fn give_back(&mut self, reserved: u64) {
        self.used = self.used.saturating_sub(reserved);
    }

    /// What a read gave was taken, with its room.
    pub(super) fn hand_out(&mut self, reserved: u64) {
        self.taken += reserved;
    }

    /// Room of something that was taken is free again.
    pub(super) fn release(&mut self, reserved: u64) {
        self.give_back(reserved);
        self.taken = self.taken.saturating_sub(reserved);
    }

    /// Forgets everything that was not taken.
    pub(super) fn close(&mut self) {
        (self.used, self.in_flight) = (self.taken, InFlight::default());
    }
}
