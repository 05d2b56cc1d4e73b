//! The batches of later epochs. No trainer is offered them yet, so they hold slots that a batch of the current epoch may need.
//! Then the youngest of them gives way (semantics rule 11). Pure.

use std::collections::BTreeMap;

/// A position, for the order of its epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EpochPosition {
    /// The epoch.
    pub epoch: u64,
    /// Its place in the epoch's order.
    pub index: u64,
}

/// The later batches of a stream, and what was given back of them.
#[derive(Clone, Debug, Hash)]
pub struct LaterBatches {
    /// The batches keep the order of their positions.
    in_order: bool,
    /// Those that were begun, also if the ring has them by now. Each with its epoch and the position that came first.
    begun: BTreeMap<u64, (u64, u64)>,
    /// In order: the first position that was given back, by epoch. What is behind it may not be in a batch before it.
    gaps: BTreeMap<u64, u64>,
    /// The ring was asked for a slot, and none has come since.
    asked: bool,
}

/// How a position of the current epoch gets a slot if none is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// One comes from a batch whose pictures are being made or mixed, or from a trainer.
    Wait,
    /// The youngest batch in the making gives way.
    Withdraw,
    /// The ring is asked for the slot of a batch that is ready.
    Ask,
}

/// The youngest batch in the making that is of a later epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Youngest {
    /// There is none, and none is being mixed.
    Nothing,
    /// Some of its pictures are still being made, or a later batch is being mixed.
    Busy,
    /// Nothing is being written in its slot.
    Idle,
}

impl LaterBatches {
    /// None yet. `in_order`: batches keep the order of their positions.
    pub fn new(in_order: bool) -> Self {
        Self { in_order, begun: BTreeMap::new(), gaps: BTreeMap::new(), asked: false }
    }

    /// Whether a batch with this position may be begun, while so many slots are free. One of a later epoch never takes the last
    /// one: a position of the current epoch that comes back late finds room, and nothing has to give way.
    pub fn has_room(epoch: u64, current: u64, free: usize) -> bool {
        free > usize::from(epoch > current)
    }

    /// A batch was begun with this position.
    pub fn begin(&mut self, batch: u64, position: EpochPosition) {
        self.begun.insert(batch, (position.epoch, position.index));
    }

    /// A slot has come.
    pub fn slot_came(&mut self) {
        self.asked = false;
    }

    /// Epochs before this one are complete.
    pub fn completed(&mut self, floor: u64) {
        self.begun.retain(|_, (epoch, _)| *epoch > floor);
        self.gaps.retain(|epoch, _| *epoch >= floor);
    }

    /// How a position of this epoch, which is not a later one, gets a slot if none is free.
    pub fn way(&mut self, epoch: u64, youngest: Youngest) -> Way {
        match youngest {
            Youngest::Idle => Way::Withdraw,
            Youngest::Busy => Way::Wait,
            Youngest::Nothing if self.asked || !self.begun.values().any(|(of, _)| *of > epoch) => Way::Wait,
            Youngest::Nothing => {
                self.asked = true;
                Way::Ask
            }
        }
    }

    /// The batch has given way: its positions come again.
    pub fn gave_way(&mut self, batch: u64) {
        let Some((epoch, index)) = self.begun.remove(&batch).filter(|_| self.in_order) else { return };
        let gap = self.gaps.entry(epoch).or_insert(index);
        *gap = index.min(*gap);
    }

    /// Whether this position is behind one that was given back and has not come again. It is to be given back too: the ledger
    /// grants both in their order.
    pub fn is_out_of_order(&self, position: EpochPosition) -> bool {
        self.gaps.get(&position.epoch).is_some_and(|gap| position.index > *gap)
    }

    /// A position has come that is not out of order.
    pub fn came(&mut self, position: EpochPosition) {
        if self.gaps.get(&position.epoch) == Some(&position.index) {
            self.gaps.remove(&position.epoch);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(epoch: u64, index: u64) -> EpochPosition {
        EpochPosition { epoch, index }
    }

    #[test]
    fn rule_11_a_later_batch_leaves_one_slot_free_and_the_current_one_takes_it() {
        let room = |epoch, free| LaterBatches::has_room(epoch, 3, free);
        assert!(!room(3, 0) && room(3, 1) && !room(4, 1) && room(4, 2) && !room(5, 1));
    }

    #[test]
    fn rule_11_the_ring_is_asked_once_for_each_slot_that_comes_and_only_if_it_may_have_later_batches() {
        let mut later = LaterBatches::new(false);
        assert_eq!(later.way(2, Youngest::Nothing), Way::Wait);
        later.begin(7, position(3, 0));
        assert_eq!((later.way(2, Youngest::Busy), later.way(2, Youngest::Idle)), (Way::Wait, Way::Withdraw));
        assert_eq!((later.way(3, Youngest::Nothing), later.way(2, Youngest::Nothing)), (Way::Wait, Way::Ask));
        assert_eq!(later.way(2, Youngest::Nothing), Way::Wait);
        later.slot_came();
        assert_eq!(later.way(2, Youngest::Nothing), Way::Ask);
        later.slot_came();
        later.completed(3);
        assert_eq!(later.way(2, Youngest::Nothing), Way::Wait, "its epoch is the current one by now");
    }

    #[test]
    fn rule_11_in_order_what_is_behind_a_batch_that_gave_way_is_given_back_until_it_comes_again() {
        let mut later = LaterBatches::new(true);
        for (batch, index) in [(5, 20), (6, 24), (7, 28)] {
            later.begin(batch, position(1, index));
        }
        later.gave_way(7);
        later.gave_way(6);
        let refuses = |later: &LaterBatches, index| later.is_out_of_order(position(1, index));
        assert!(refuses(&later, 28) && refuses(&later, 25) && !refuses(&later, 24) && !refuses(&later, 3));
        assert!(!later.is_out_of_order(position(0, 90)), "another epoch's order is whole");
        later.came(position(1, 3));
        assert!(refuses(&later, 28));
        later.came(position(1, 24));
        assert!(!refuses(&later, 28));
    }

    #[test]
    fn rule_11_batches_that_keep_no_order_leave_no_gap() {
        let mut later = LaterBatches::new(false);
        later.begin(5, position(1, 20));
        later.gave_way(5);
        assert!(!later.is_out_of_order(position(1, 21)));
        assert_eq!(later.way(0, Youngest::Nothing), Way::Wait, "there is no other one");
    }
}
