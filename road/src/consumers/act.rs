//! What is to be done with batches, done: offers, receipts to the ledger, free slots, ends of epochs.

use std::sync::atomic::Ordering;
use std::time::Instant;

use forebay_ring::{Held, MessageKind, Number, packet};

use super::RingThread;
use super::attached::Consumer;
use super::deliveries::{Deed, Overdue};

impl RingThread {
    pub(super) fn act(&mut self) {
        loop {
            let deeds = self.deliveries.deeds();
            if deeds.is_empty() {
                return self.advance();
            }
            for deed in deeds {
                self.do_one(deed);
            }
        }
    }

    fn do_one(&mut self, deed: Deed) {
        match deed {
            Deed::Offer(consumer, offer) => {
                self.parts.counters.redelivered.fetch_add(u64::from(offer.redelivered > 0), Ordering::Relaxed);
                self.send(consumer, &packet(&offer, &[]));
            }
            Deed::Delivered(records, fate) => {
                self.parts.counters.delivered.fetch_add(records, Ordering::Relaxed);
                self.tell(fate);
            }
            Deed::Tell(fate) => self.tell(fate),
            Deed::Claim => self.claim_free(),
            Deed::EpochEnd(consumer, epoch) => self.send(consumer, &number(MessageKind::EpochEnd, epoch)),
            Deed::Gone(consumer) => {
                self.consumers.remove(&consumer);
            }
            Deed::RingEmpty(ring) => {
                self.rings.remove(&ring);
                // Behind every offer of it: trainers have nothing in their hands that stands there.
                self.send_all(&number(MessageKind::Retired, ring.into()));
            }
        }
    }

    /// Opens the next epoch when the current one is over, and says when the last one is.
    pub(super) fn advance(&mut self) {
        if let Some(epoch) = self.deliveries.advance() {
            tracing::info!(stream = self.parts.stream, epoch, "the epoch is complete");
            self.act();
        }
        if let Some(epochs) = self.deliveries.just_done() {
            self.send_all(&number(MessageKind::Done, epochs));
        }
    }

    /// What time brings: an epoch that waits for a holder, a ring whose slots are stuck.
    pub(super) fn look(&mut self) {
        let here = self.consumers.iter().filter(|(_, each)| each.is_open()).map(|(id, _)| *id);
        if let Some(overdue) = self.deliveries.overdue(here, Instant::now()) {
            let Overdue { epoch, holder, batch, for_how_long, expired, waiting } = overdue;
            let pid = self.consumers.get(&holder).map_or(0, Consumer::pid);
            tracing::warn!(
                stream = self.parts.stream,
                epoch,
                pid,
                batch,
                seconds = for_how_long.as_secs(),
                "the epoch's end waits for a batch that a trainer holds"
            );
            let held = Held {
                kind: MessageKind::Held as u32,
                pid,
                epoch,
                seq: batch,
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
