//! The model of batches that trainers bring from dead daemons. All of these counted their batches from the start, so many have
//! the same number.

use std::collections::BTreeMap;

use forebay_ring::{Adopted, BatchId, ConsumerId, Exchange, HeldBatch};

use crate::pick;

/// How a living trainer ends with a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Acked,
    /// Unused, for another trainer.
    Returned,
    /// Without a word about it: it may have been used.
    Released,
}

/// Batches of dead daemons in trainers' hands.
#[derive(Debug, Default)]
pub(crate) struct DeadDaemons {
    /// By the trainer's own number of each.
    held: BTreeMap<(ConsumerId, u64), BatchId>,
    /// One with which its trainer has just ended.
    ended: Option<(Adopted, End)>,
}

impl DeadDaemons {
    /// A trainer comes with one more.
    pub(crate) fn adopt(&mut self, exchange: &mut Exchange, consumer: ConsumerId, seq: u64) {
        let hold = (1..=u64::MAX).find(|hold| !self.held.contains_key(&(consumer, *hold))).unwrap();
        let batch = BatchId { seq, epoch: exchange.open() };
        self.held.insert((consumer, hold), batch);
        exchange.adopt(consumer, hold, batch);
    }

    /// A trainer ends with one: that one, and no other of its number.
    pub(crate) fn end(&mut self, exchange: &mut Exchange, number: usize, end: End) {
        let Some((consumer, hold)) = pick(self.held.keys().copied(), number) else { return };
        let batch = self.held[&(consumer, hold)];
        let receipt = HeldBatch::resumed(hold, batch.seq);
        assert!(exchange.awaits(consumer, receipt));
        let is_it = match end {
            End::Acked => exchange.ack(consumer, receipt),
            End::Returned => exchange.release(consumer, receipt, true),
            End::Released => exchange.release(consumer, receipt, false),
        };
        assert!(is_it);
        assert!(!exchange.awaits(consumer, receipt));
        assert!(!exchange.ack(consumer, receipt));
        assert!(!exchange.release(consumer, receipt, true));
        self.ended = Some((Adopted { consumer, hold, batch }, end));
    }

    /// The exchange says that one is acked.
    pub(crate) fn acked(&mut self, adopted: Adopted) {
        assert_eq!(self.ended.take(), Some((adopted, End::Acked)));
        self.forget(adopted);
    }

    /// The exchange says that one is orphaned: its trainer has returned it, or may have seen it and has let go of it or is gone.
    pub(crate) fn orphaned(&mut self, adopted: Adopted, seen: bool) {
        match self.ended.take() {
            Some((ended, end)) => assert_eq!((ended, end), (adopted, if seen { End::Released } else { End::Returned })),
            None => assert!(seen, "nobody has returned {adopted:?}"),
        }
        self.forget(adopted);
    }

    fn forget(&mut self, adopted: Adopted) {
        assert_eq!(self.held.remove(&(adopted.consumer, adopted.hold)), Some(adopted.batch));
    }

    /// Everything was told. Those who are attached hold the rest.
    pub(crate) fn check(&self, exchange: &Exchange, attached: &[ConsumerId]) {
        assert_eq!(self.ended, None, "what became of it is not told");
        assert!(self.held.keys().all(|(holder, _)| attached.contains(holder)), "nobody holds one of {:?}", self.held);
        for epoch in 0..=exchange.open() {
            let of_epoch = self.held.iter().filter(|(_, batch)| batch.epoch == epoch);
            for ((consumer, _), batch) in of_epoch {
                let holders = exchange.holders(epoch);
                assert!(holders.iter().any(|holder| holder.consumer == *consumer && holder.seq == batch.seq));
                assert!(!exchange.is_done_with(*consumer, epoch));
            }
        }
    }
}
