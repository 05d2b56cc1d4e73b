//! How consumers leave: evicted while their process lives, by the end of their process, or with a BYE; and what becomes of
//! the batches that they held.

use super::delivery::LetGo;
use super::{Action, Adopted, ConsumerId, Exchange, GroupId};

impl Exchange {
    /// The consumer's socket hung up, or it is evicted, and its process lives. Its un-acked batches go to others;
    /// its slots are not filled again before it is [`gone`](Self::gone).
    pub fn evict(&mut self, consumer: ConsumerId) {
        if !self.consumers.evict(consumer) {
            return;
        }
        let ended = self.groups.leave(consumer);
        for slot in self.slots.held_by(consumer) {
            self.slots.expect_mut(slot).watchers.insert(consumer);
            self.take_back(slot, consumer, LetGo { seen: true, ends: ended.is_some() });
        }
        self.orphan(consumer, true);
        if let Some(group) = ended {
            self.forget_group(group);
        }
        if self.slots.watched_by(consumer) == 0 {
            self.forget(consumer);
        }
        self.offer();
    }

    /// The consumer's process has ended: it reads no slot any more. It may have seen the batches that it held un-acked, and
    /// they go to other trainers. Receive the messages in its socket first: receipts that it sent before a SIGKILL are still
    /// there.
    pub fn gone(&mut self, consumer: ConsumerId) {
        self.leave(consumer, true);
    }

    /// The consumer has said BYE: it reads no slot any more. It has given back all of its batches. If it still holds one,
    /// that is an offer that crossed its BYE, which it has not seen.
    pub fn bye(&mut self, consumer: ConsumerId) {
        self.leave(consumer, false);
    }

    /// Ends a group that has had no trainer for too long: no batch waits for it any more. False if a trainer is in it.
    pub fn end_group(&mut self, group: GroupId) -> bool {
        let ends = self.groups.end(group);
        if ends {
            self.forget_group(group);
            self.offer();
        }
        ends
    }

    /// The batches that waited for the group are for the others alone.
    fn forget_group(&mut self, group: GroupId) {
        self.groups.take_up(self.open);
        for slot in self.slots.full() {
            let Some(delivery) = self.slots.expect_mut(slot).delivery_mut() else { continue };
            let (batch, seen) = (delivery.batch, delivery.end(group));
            self.settle(slot, batch, seen);
        }
    }

    fn leave(&mut self, consumer: ConsumerId, seen: bool) {
        if !self.consumers.contains(consumer) {
            return;
        }
        let ended = self.groups.leave(consumer);
        for slot in self.slots.held_by(consumer) {
            self.take_back(slot, consumer, LetGo { seen, ends: ended.is_some() });
        }
        self.orphan(consumer, seen);
        if let Some(group) = ended {
            self.forget_group(group);
        }
        for slot in self.slots.unwatch(consumer) {
            self.finish(slot);
        }
        self.forget(consumer);
        self.offer();
    }

    fn orphan(&mut self, consumer: ConsumerId, seen: bool) {
        self.adopted.retain(|&(holder, hold), &mut batch| {
            if holder == consumer {
                let adopted = Adopted { consumer, hold, batch };
                self.actions.push_back(Action::Orphaned { adopted, seen });
            }
            holder != consumer
        });
    }

    fn forget(&mut self, consumer: ConsumerId) {
        self.consumers.forget(consumer);
        self.actions.push_back(Action::Gone(consumer));
    }
}
