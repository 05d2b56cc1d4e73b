//! What the exchange has decided, done: offers, receipts to the ledger, free slots, ends of epochs.

use std::sync::atomic::Ordering;
use std::time::Instant;

use forebay_proto::v1::{AckItem, BadRecord, Cause};
use forebay_ring::{Action, Adopted, ConsumerId, Held, MessageKind, Number, Offer, packet};

use super::RingThread;
use super::attached::Consumer;
use crate::ack::Fate;

impl RingThread {
    pub(super) fn act(&mut self) {
        loop {
            let actions: Vec<Action> = self.exchange.drain().collect();
            if actions.is_empty() {
                return self.advance();
            }
            for action in actions {
                self.do_one(action);
            }
        }
    }

    fn do_one(&mut self, action: Action) {
        match action {
            Action::Offer { consumer, slot, batch, generation, redelivered } => {
                let Some(known) = self.claims.get(batch.seq) else { return };
                self.parts.counters.redelivered.fetch_add(u64::from(redelivered > 0), Ordering::Relaxed);
                let offer = Offer {
                    kind: MessageKind::Offer as u32,
                    ring: slot.ring,
                    seq: batch.seq,
                    generation,
                    epoch: batch.epoch,
                    slot: slot.slot,
                    shown: known.shown,
                    valid: known.valid,
                    claims: known.len(),
                    redelivered,
                    reserved: 0,
                    deadline: u64::MAX,
                    ready: known.ready,
                };
                self.send(consumer, &packet(&offer, &[]));
            }
            Action::Acked { consumer: _, batch } => {
                let (items, bad) = self.claims.acked(batch.seq);
                self.deliver(batch.epoch, items, bad);
            }
            Action::Seen(batch) => {
                self.tell(Fate::Seen { items: self.claims.seen(batch.seq), batch: batch.seq });
            }
            Action::AdoptedAcked(Adopted { consumer, batch }) => {
                let (items, bad) = self.claims.adopted_acked(consumer, batch);
                self.deliver(batch.epoch, items, bad);
            }
            Action::Dropped { batch, seen } => {
                let ranges = self.claims.dropped(batch.seq, self.cause(seen));
                self.give_back(ranges);
            }
            Action::Orphaned { adopted: Adopted { consumer, batch }, seen } => {
                let ranges = self.claims.orphaned(consumer, batch, self.cause(seen));
                self.give_back(ranges);
            }
            Action::Free(_) => self.claim_free(),
            Action::EpochEnd { consumer, epoch } => self.send(consumer, &number(MessageKind::EpochEnd, epoch)),
            Action::Gone(consumer) => {
                self.consumers.remove(&consumer);
            }
            Action::RingEmpty(ring) => {
                self.rings.remove(&ring);
                // Behind every offer of it: trainers have nothing in their hands that stands there.
                self.send_all(&number(MessageKind::Retired, ring.into()));
            }
        }
    }

    fn deliver(&self, epoch: u64, items: Vec<AckItem>, bad: Vec<BadRecord>) {
        let records = items.iter().map(|item| item.count).sum();
        self.parts.counters.delivered.fetch_add(records, Ordering::Relaxed);
        let urgent = self.claims.undelivered(epoch) == 0;
        self.tell(Fate::Acked { items, bad, urgent });
    }

    /// Why a batch comes back that was not acked, and may have been seen or not.
    const fn cause(&self, seen: bool) -> Cause {
        match (seen, self.ending) {
            (false, _) => Cause::Unseen,
            (true, false) => Cause::TrainerEnded,
            (true, true) => Cause::DaemonStopped,
        }
    }

    /// Opens the next epoch when the current one is over, and says when the last one is.
    pub(super) fn advance(&mut self) {
        let open = self.exchange.open();
        if self.claims.undelivered(open) == 0 && self.end.is_over(open) {
            tracing::info!(stream = self.parts.stream, epoch = open, "the epoch is complete");
            self.exchange.open_epoch(open + 1);
            self.act();
        }
        // Told behind the end of the last epoch, which a reset or a restore may have ended as well.
        if self.end.done().is_some_and(|epochs| self.exchange.open() >= epochs)
            && let Some(epochs) = self.end.just_done()
        {
            self.send_all(&number(MessageKind::Done, epochs));
        }
    }

    /// What time brings: an epoch that waits for a holder, a ring whose slots are stuck.
    pub(super) fn look(&mut self) {
        let open = self.exchange.open();
        let holders = self.exchange.holders(open);
        let waiting: Vec<ConsumerId> =
            if self.end.only_held_left(open) && self.claims.undelivered(open) <= holders.len() {
                let holds = |id: &ConsumerId| holders.iter().any(|holder| holder.consumer == *id);
                self.consumers.iter().filter(|(id, each)| each.is_open() && !holds(id)).map(|(id, _)| *id).collect()
            } else {
                Vec::new()
            };
        let waits = !waiting.is_empty() && !holders.is_empty();
        if let Some((for_how_long, expired)) = self.end.waits(waits, Instant::now())
            && let Some(holder) = holders.first()
        {
            let pid = self.consumers.get(&holder.consumer).map_or(0, Consumer::pid);
            tracing::warn!(
                stream = self.parts.stream,
                epoch = open,
                pid,
                batch = holder.seq,
                seconds = for_how_long.as_secs(),
                "the epoch's end waits for a batch that a trainer holds"
            );
            let held = Held {
                kind: MessageKind::Held as u32,
                pid,
                epoch: open,
                seq: holder.seq,
                for_ms: u64::try_from(for_how_long.as_millis()).unwrap_or(u64::MAX),
                expired: u32::from(expired),
                reserved: 0,
            };
            for id in waiting {
                self.send(id, &packet(&held, &[]));
            }
        }
        self.look_at_rings();
    }
}

/// A message that is one number.
pub(super) fn number(kind: MessageKind, value: u64) -> Vec<u8> {
    packet(&Number { kind: kind as u32, reserved: 0, value }, &[])
}
