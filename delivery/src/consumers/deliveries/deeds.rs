//! What the ring's thread has to do, and what goes to the ledger: the exchange's decisions, with the claims of the
//! batches.

use forebay_proto::v1::{Cause, GroupShare, ReturnedRange};
use forebay_ring::{Action, ConsumerId, HeldBatch, MessageKind, Offer};

use super::Deliveries;
use crate::ack::{BatchReceipts, Fate};
use crate::consumers::claims::Claims;

/// Something that is to be done.
#[derive(Debug)]
pub(in crate::consumers) enum Deed {
    /// Offer a batch to a trainer.
    Offer(ConsumerId, Offer),
    /// Tell the ledger.
    Tell(Fate),
    /// Fill the slots that are free.
    Claim,
    /// Tell a trainer that this epoch is over.
    EpochEnd(ConsumerId, u64),
    /// Forget a trainer.
    Gone(ConsumerId),
    /// Let go of a ring.
    RingEmpty(u32),
}

impl Deliveries {
    /// What is to be done, oldest first. Call it after every event.
    pub(in crate::consumers) fn deeds(&mut self) -> Vec<Deed> {
        let Self { exchange, claims, ending, deadline, told, .. } = self;
        let mut is_decided = false;
        let actions = exchange.drain().inspect(|action| {
            is_decided |= matches!(action, Action::AdoptedAcked(_) | Action::Orphaned { .. });
        });
        let decided = actions.filter_map(|action| deed(action, claims, *ending, *deadline));
        // A group's receipt goes before the batch's own.
        let deeds = told.drain(..).map(Deed::Tell).chain(decided).collect();
        if is_decided {
            self.all_may_have_missed();
        }
        deeds
    }

    /// A trainer has acked a batch that other groups wait for: if the daemon dies, its group has consumed it nevertheless
    /// (semantics rule 44).
    pub(super) fn share(&mut self, consumer: ConsumerId, held: HeldBatch) {
        let Some(key) = self.keys.get(&consumer).filter(|_| !held.is_handed_in()) else { return };
        let Some(waiting) = self.exchange.waiting_for(held.seq) else { return };
        let receipts = self.claims.consumed_by(key, held.seq);
        let share = |receipt| GroupShare { receipt: Some(receipt), waiting: waiting.clone() };
        self.told.push(Fate::Shared(receipts.into_iter().map(share).collect()));
    }
}

/// A decision of the exchange, with the claims of its batch.
fn deed(action: Action, claims: &mut Claims, ending: bool, deadline: u64) -> Option<Deed> {
    Some(match action {
        Action::Offer { consumer, slot, batch, generation, redelivered } => {
            let known = claims.get(batch.seq)?;
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
                deadline,
                ready: known.ready,
            };
            Deed::Offer(consumer, offer)
        }
        Action::Acked { consumer: _, batch } => {
            let receipts = claims.acked(batch.seq);
            delivered(batch.epoch, receipts, claims)
        }
        Action::AdoptedAcked(adopted) => {
            let receipts = claims.adopted_acked(adopted);
            delivered(adopted.batch.epoch, receipts, claims)
        }
        // Another group has acked the batch, so it is not offered again. Its trainer will hand it in.
        Action::Seen(_) if ending => return None,
        Action::Seen(batch) => Deed::Tell(Fate::Seen { items: claims.seen(batch.seq), batch: batch.seq }),
        Action::Dropped { batch, seen } => back(claims.dropped(batch.seq, cause(seen, ending)))?,
        Action::Orphaned { adopted, seen } => back(claims.orphaned(adopted, cause(seen, ending)))?,
        Action::Free(_) => Deed::Claim,
        Action::EpochEnd { consumer, epoch } => Deed::EpochEnd(consumer, epoch),
        Action::Gone(consumer) => Deed::Gone(consumer),
        Action::RingEmpty(ring) => Deed::RingEmpty(ring),
    })
}

/// The last receipts of an epoch are urgent: its end waits for them.
fn delivered(epoch: u64, receipts: BatchReceipts, claims: &Claims) -> Deed {
    let urgent = claims.undelivered(epoch) == 0;
    Deed::Tell(Fate::Acked { receipts, urgent })
}

fn back(ranges: Vec<ReturnedRange>) -> Option<Deed> {
    (!ranges.is_empty()).then_some(Deed::Tell(Fate::Returned(ranges)))
}

/// Why a batch comes back without an ACK, depending on whether a trainer may have seen it.
const fn cause(seen: bool, ending: bool) -> Cause {
    match (seen, ending) {
        (false, _) => Cause::Unseen,
        (true, false) => Cause::TrainerEnded,
        (true, true) => Cause::DaemonStopped,
    }
}
