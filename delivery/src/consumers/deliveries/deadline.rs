//! Until when trainers may hand out the batches that they were offered (semantics rule 5). Pure.

use std::collections::BTreeSet;

use forebay_ring::ConsumerId;

/// The deadline of all offers, and the trainers that wait for a later one.
#[derive(Debug)]
pub(in crate::consumers) struct OfferDeadline {
    /// `CLOCK_BOOTTIME` nanosecond.
    at: u64,
    /// Trainers that have batches whose deadline has passed.
    expired: BTreeSet<ConsumerId>,
}

impl Default for OfferDeadline {
    fn default() -> Self {
        Self { at: u64::MAX, expired: BTreeSet::new() }
    }
}

impl OfferDeadline {
    /// The `CLOCK_BOOTTIME` nanosecond that offers say now.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// Sets the moment until which trainers may hand out what is offered to them. Returns the trainers that wait for a
    /// later deadline. The others learn it from their next offer: one that does not read must not be sent a message every
    /// second.
    pub(in crate::consumers) fn renew(&mut self, at: u64) -> BTreeSet<ConsumerId> {
        self.at = at;
        std::mem::take(&mut self.expired)
    }

    /// A later deadline than the one that this trainer knows. If there is none yet, the trainer is told when there is.
    pub(in crate::consumers) fn beyond(&mut self, consumer: ConsumerId, known: u64) -> Option<u64> {
        let later = self.at > known;
        if !later {
            self.expired.insert(consumer);
        }
        later.then_some(self.at)
    }

    /// The trainer waits for nothing any more.
    pub(super) fn forget(&mut self, consumer: ConsumerId) {
        self.expired.remove(&consumer);
    }
}
