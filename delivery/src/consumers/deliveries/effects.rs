//! What the ring's thread has to do, and what goes to the ledger: the exchange's decisions, with the claims of the
//! batches.

use forebay_proto::v1::{Cause, ReturnedRange};
use forebay_ring::{Action, ConsumerId, MessageKind, Offer, PictureSize};

use crate::consumers::claims::Claims;
use crate::outcomes::{BatchReceipts, DeliveryOutcome};

/// Something that is to be done.
#[derive(Debug)]
pub(in crate::consumers) enum Effect {
    /// Offer a batch to a trainer.
    Offer(ConsumerId, Offer),
    /// Tell the ledger.
    Tell(DeliveryOutcome),
    /// Fill the slots that are free.
    Claim,
    /// Tell a trainer that this epoch is over.
    EpochEnd(ConsumerId, u64),
    /// Forget a trainer.
    Gone(ConsumerId),
    /// Let go of a ring.
    RingEmpty(u32),
}

/// A decision of the exchange, with the claims of its batch. Offers are good until `deadline`.
pub(super) fn effect(action: Action, claims: &mut Claims, ending: bool, deadline: u64) -> Option<Effect> {
    Some(match action {
        Action::Offer { consumer, slot, batch, generation, redelivered } => {
            let known = claims.get(batch.seq)?;
            let (height, width) = known.size.map_or((0, 0), PictureSize::sides);
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
                height,
                width,
                deadline,
                ready: known.ready,
            };
            Effect::Offer(consumer, offer)
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
        Action::Seen(batch) => Effect::Tell(DeliveryOutcome::Seen { items: claims.seen(batch.seq), batch: batch.seq }),
        Action::Dropped { batch, seen } => back(claims.dropped(batch.seq, cause(seen, ending)))?,
        Action::Orphaned { adopted, seen } => back(claims.orphaned(adopted, cause(seen, ending)))?,
        Action::Free(_) => Effect::Claim,
        Action::EpochEnd { consumer, epoch } => Effect::EpochEnd(consumer, epoch),
        Action::Gone(consumer) => Effect::Gone(consumer),
        Action::RingEmpty(ring) => Effect::RingEmpty(ring),
    })
}

/// The last receipts of an epoch are urgent: its end waits for them.
fn delivered(epoch: u64, receipts: BatchReceipts, claims: &Claims) -> Effect {
    let urgent = claims.undelivered(epoch) == 0;
    Effect::Tell(DeliveryOutcome::Receipts { receipts, urgent })
}

fn back(ranges: Vec<ReturnedRange>) -> Option<Effect> {
    (!ranges.is_empty()).then_some(Effect::Tell(DeliveryOutcome::Returned(ranges)))
}

/// Why a batch comes back without an ACK, depending on whether a trainer may have seen it.
const fn cause(seen: bool, ending: bool) -> Cause {
    match (seen, ending) {
        (false, _) => Cause::Unseen,
        (true, false) => Cause::TrainerEnded,
        (true, true) => Cause::DaemonStopped,
    }
}
