//! What the stage gives back unseen: positions that make no batch here, and slots of batches that give way to one of the current
//! epoch (semantics rule 11).

use forebay_delivery::{Fate, Handover, Way, Youngest};
use forebay_proto::v1::{Cause, Range, ReturnedRange};

use super::BatchStage;
use crate::record::Position;

impl BatchStage {
    /// No slot is free for this position. If it is of the current epoch, a later batch gives way. True if there is a slot now.
    pub(super) fn make_way(&mut self, position: &Position) -> bool {
        if position.epoch > self.parts.progress.borrow().floor {
            return false;
        }
        if self.parts.slots.spare() > 0 {
            return true;
        }
        self.lacks_slot = true;
        let drafts = self.batcher.youngest_after(position.epoch);
        let is_mixing = self.parts.mixer.as_ref().is_some_and(|mixer| !mixer.is_idle());
        let youngest = match drafts {
            Some(batch) if self.parts.slots.is_home(batch) => Youngest::Idle,
            None if !is_mixing => Youngest::Nothing,
            _ => Youngest::Busy,
        };
        match (self.later.way(position.epoch, youngest), drafts) {
            (Way::Withdraw, Some(batch)) => self.withdraw(batch),
            // Behind every batch that was handed on: the ring knows them when it hears this.
            (Way::Ask, _) => (self.parts.output)(Handover::NeedsSlot { epoch: position.epoch }),
            _ => {}
        }
        self.parts.slots.spare() > 0
    }

    /// A batch in the making gives way.
    fn withdraw(&mut self, batch: u64) {
        // Positions of a stream of one daemon come back to it, so the epoch's end waits for them.
        let positions = self.batcher.withdraw(batch, !self.parts.shares_tails);
        tracing::debug!(stream = self.parts.stream, batch, "a batch of a later epoch gives way");
        self.partners.take(batch);
        self.parts.slots.discard(batch);
        self.later.gave_way(batch);
        self.give_back(positions.iter().map(|position| (position.lease, position.offset, position.offset + 1)));
        self.perform();
    }

    /// Whether a position may be in a batch now. If not, it is to be given back.
    pub(super) fn admits(&mut self, position: &Position) -> bool {
        let admitted = !self.later.is_out_of_order(position.in_epoch());
        if admitted {
            self.later.came(position.in_epoch());
        } else {
            self.give_back([(position.lease, position.offset, position.offset + 1)].into_iter());
        }
        admitted
    }

    /// Gives parts of leases back, as (lease, first offset, end): no trainer has seen them.
    pub(super) fn give_back(&self, parts: impl Iterator<Item = (u64, u64, u64)>) {
        let back = |(lease, start, end)| ReturnedRange {
            lease,
            range: Some(Range { start, end }),
            cause: Cause::Unseen.into(),
        };
        let ranges: Vec<_> = ranges(parts).into_iter().map(back).collect();
        if !ranges.is_empty() {
            self.tell(Fate::Returned(ranges));
        }
    }
}

/// Parts of leases, as (lease, first offset, end), with neighbours put together.
pub(super) fn ranges(parts: impl Iterator<Item = (u64, u64, u64)>) -> Vec<(u64, u64, u64)> {
    let mut whole: Vec<(u64, u64, u64)> = Vec::new();
    for (lease, start, end) in parts {
        match whole.last_mut() {
            Some(last) if last.0 == lease && last.2 == start => last.2 = end,
            _ => whole.push((lease, start, end)),
        }
    }
    whole
}
