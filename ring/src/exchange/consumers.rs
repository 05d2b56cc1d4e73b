//! Consumers, their credits, and whose turn it is.

use std::collections::BTreeMap;

use super::{ConsumerId, ConsumerState};

/// All consumers that are attached, or evicted but alive and with slots to watch.
#[derive(Clone, Debug, Default, Hash)]
pub(super) struct Consumers {
    by_id: BTreeMap<ConsumerId, Consumer>,
}

#[derive(Clone, Debug, Hash)]
struct Consumer {
    attached: bool,
    granted: u32,
    /// Offers that it allows now.
    credits: u32,
    held: u32,
    offered: u64,
    delivered: u64,
}

impl Consumers {
    pub(super) fn attach(&mut self, id: ConsumerId, granted: u32) {
        let consumer = Consumer { attached: true, granted, credits: granted, held: 0, offered: 0, delivered: 0 };
        let before = self.by_id.insert(id, consumer);
        assert!(before.is_none(), "consumer {id:?} is attached already; numbers are not used twice");
    }

    pub(super) fn contains(&self, id: ConsumerId) -> bool {
        self.by_id.contains_key(&id)
    }

    /// Credits granted to these.
    pub(super) fn granted(&self, members: impl Iterator<Item = ConsumerId>) -> u32 {
        members.filter_map(|id| self.by_id.get(&id)).map(|consumer| consumer.granted).sum()
    }

    /// Those that an offer could go to.
    pub(super) fn waiting(&self) -> impl Iterator<Item = ConsumerId> + '_ {
        self.by_id.iter().filter(|(_, consumer)| consumer.may_have()).map(|(id, _)| *id)
    }

    pub(super) fn credit(&mut self, id: ConsumerId, more: u64) {
        if let Some(consumer) = self.by_id.get_mut(&id) {
            let more = u32::try_from(more).unwrap_or(u32::MAX);
            consumer.credits = consumer.credits.saturating_add(more).min(consumer.granted);
        }
    }

    /// Which of these consumers gets the next batch. It must have credit. If possible, it is not `last`, which had this
    /// batch before. Then the one with the fewest held slots is chosen, and of several the one that was served least so far.
    pub(super) fn next(
        &self,
        members: impl Iterator<Item = ConsumerId>,
        last: Option<ConsumerId>,
    ) -> Option<ConsumerId> {
        let known = members.filter_map(|id| Some((id, self.by_id.get(&id)?)));
        let ready = known.filter(|(_, consumer)| consumer.may_have());
        ready.min_by_key(|(id, consumer)| (last == Some(*id), consumer.held, consumer.offered)).map(|(id, _)| id)
    }

    /// It gets an offer.
    pub(super) fn take(&mut self, id: ConsumerId) {
        let consumer = self.by_id.get_mut(&id).expect("offers go to known consumers");
        consumer.credits -= 1;
        consumer.held += 1;
        consumer.offered += 1;
    }

    /// It no longer holds a slot.
    pub(super) fn let_go(&mut self, id: ConsumerId) {
        let consumer = self.by_id.get_mut(&id).expect("who holds a slot is known");
        consumer.held -= 1;
    }

    pub(super) fn delivered(&mut self, id: ConsumerId) {
        if let Some(consumer) = self.by_id.get_mut(&id) {
            consumer.delivered += 1;
        }
    }

    /// True if it was attached until now.
    pub(super) fn evict(&mut self, id: ConsumerId) -> bool {
        let Some(consumer) = self.by_id.get_mut(&id).filter(|consumer| consumer.attached) else { return false };
        consumer.attached = false;
        consumer.held = 0;
        true
    }

    pub(super) fn forget(&mut self, id: ConsumerId) {
        self.by_id.remove(&id);
    }

    pub(super) fn states(&self) -> impl Iterator<Item = ConsumerState> + '_ {
        self.by_id.iter().map(|(id, consumer)| {
            let Consumer { attached, granted, held, delivered, .. } = *consumer;
            ConsumerState { id: *id, attached, granted, held, delivered }
        })
    }
}

impl Consumer {
    fn may_have(&self) -> bool {
        self.attached && self.credits > 0 && self.held < self.granted
    }
}
