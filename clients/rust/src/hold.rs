//! The batches that this trainer holds: each from its hand-out to its ACK and RELEASE.
//!
//! ACK says that the batch was consumed, RELEASE that no view of its slot is left (semantics rule 14). The slot returns to
//! the daemon when both have come, or with an ACK that says that no view was left. Pure: events in, packets out.

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use forebay_ring::{HeldBatch, MessageKind, Number, Offer, Release, ResumedClaim, SlotId, packet};

use crate::receipt::{Receipt, SentReceipts};

/// One batch that was handed out. Unique in this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HoldTicket(u64);

/// Every batch that was handed out and is not wholly given back.
#[derive(Debug, Default)]
pub(crate) struct Holds {
    entries: Vec<Hold>,
    tickets: u64,
    sent: SentReceipts,
    /// The session ends: no further offer is wanted.
    leaving: bool,
}

#[derive(Debug)]
struct Hold {
    ticket: HoldTicket,
    offer: Offer,
    receipt: Receipt,
    stage: HoldStage,
    /// A view of the slot is left.
    viewed: bool,
    /// The daemon that offered it has died; its slot is this process's own memory now. Later daemons know the batch by this
    /// number, which no other batch in these hands has: those of two dead daemons may have the same `seq`.
    orphaned: Option<NonZeroU32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HoldStage {
    /// Handed out, neither acked nor given back.
    InHand,
    /// Put back: the caller never had it, and its offer waits again.
    Waiting,
    /// ACK went out.
    Consumed,
    /// Not consumed: another trainer gets it.
    Returned,
}

/// Packets to send, in order.
pub(crate) type Packets = Vec<Vec<u8>>;

impl Holds {
    /// A batch is handed out.
    pub(crate) fn take(&mut self, offer: Offer, receipt: Receipt) -> HoldTicket {
        self.tickets += 1;
        let ticket = HoldTicket(self.tickets);
        self.entries.push(Hold { ticket, offer, receipt, stage: HoldStage::InHand, viewed: true, orphaned: None });
        ticket
    }

    /// The batch was consumed. Nothing happens to one that was acked or given back before.
    ///
    /// If no view of its slot is left, the ACK gives the slot back as well: one packet instead of three.
    pub(crate) fn consume(&mut self, ticket: HoldTicket) -> Packets {
        let more = self.more();
        let meant = |hold: &Hold| hold.ticket == ticket && hold.stage == HoldStage::InHand;
        let Some(place) = self.entries.iter().position(meant) else { return Packets::new() };
        let hold = &mut self.entries[place];
        let freed = !hold.viewed && !hold.is_orphaned();
        let packets = hold.ack(freed.then_some(more));
        let receipt = if freed || hold.is_orphaned() {
            self.entries.remove(place).receipt
        } else {
            hold.stage = HoldStage::Consumed;
            hold.receipt.clone()
        };
        self.sent.keep(receipt);
        packets
    }

    /// All batches in hand were consumed: the caller asks for the next one.
    pub(crate) fn consume_all(&mut self) -> Packets {
        let tickets: Vec<HoldTicket> = self.in_hand().map(|hold| hold.ticket).collect();
        tickets.into_iter().flat_map(|ticket| self.consume(ticket)).collect()
    }

    /// Returns the batch unread. False if it was acked or returned before.
    pub(crate) fn give_back(&mut self, ticket: HoldTicket) -> (bool, Packets) {
        let found = self.in_hand_mut(ticket).map(|hold| hold.stage = HoldStage::Returned).is_some();
        (found, self.settle(ticket))
    }

    /// The caller never got the batch, and its offer waits again. False if that is impossible: it was decided before, or its
    /// daemon has died, so that the next one must hear of its return.
    pub(crate) fn put_back(&mut self, ticket: HoldTicket) -> (bool, Packets) {
        match self.in_hand_mut(ticket) {
            Some(hold) if !hold.is_orphaned() => {
                hold.stage = HoldStage::Waiting;
                (true, Packets::new())
            }
            _ => (false, self.give_back(ticket).1),
        }
    }

    /// A batch that was put back is handed out again.
    pub(crate) fn take_again(&mut self, ticket: HoldTicket) {
        if let Some(hold) = self.waiting_mut(|hold| hold.ticket == ticket) {
            hold.stage = HoldStage::InHand;
        }
    }

    /// Offers that wait are returned unread, for as many others. If one was handed out once, its slot is returned with the
    /// last view of it.
    pub(crate) fn unread(&mut self, offers: &[Offer]) -> Packets {
        let mut packets = Packets::new();
        for offer in offers {
            match self.waiting_mut(|hold| hold.offer.seq == offer.seq) {
                Some(hold) => {
                    hold.stage = HoldStage::Returned;
                    let ticket = hold.ticket;
                    packets.extend(self.settle(ticket));
                }
                None => packets.extend(self.back(release(offer, true, None))),
            }
        }
        packets
    }

    /// Returns all batches unread: the caller closes, or the run was restored.
    pub(crate) fn give_back_all(&mut self) -> Packets {
        let tickets: Vec<HoldTicket> = self.in_hand().map(|hold| hold.ticket).collect();
        tickets.into_iter().flat_map(|ticket| self.give_back(ticket).1).collect()
    }

    /// The session ends: all batches and all waiting offers are returned, without credits for further ones.
    pub(crate) fn leave(&mut self, waiting: &[Offer]) -> Packets {
        self.leaving = true;
        let mut packets = self.give_back_all();
        packets.extend(self.unread(waiting));
        packets
    }

    /// The last view of the batch's slot is gone.
    pub(crate) fn unview(&mut self, ticket: HoldTicket) -> Packets {
        if let Some(hold) = self.entries.iter_mut().find(|hold| hold.ticket == ticket) {
            hold.viewed = false;
        }
        self.settle(ticket)
    }

    /// The daemon has died: its slots no longer count, and the batches that this trainer holds must be handed in.
    pub(crate) fn orphan(&mut self) {
        self.entries.retain(|hold| hold.stage == HoldStage::InHand);
        let taken: BTreeSet<NonZeroU32> = self.entries.iter().filter_map(|hold| hold.orphaned).collect();
        let mut free = (1..=u32::MAX).filter_map(NonZeroU32::new).filter(|number| !taken.contains(number));
        for hold in self.entries.iter_mut().filter(|hold| !hold.is_orphaned()) {
            hold.orphaned = free.next();
        }
    }

    /// The report for a new daemon (semantics rule 16).
    pub(crate) fn resumed_claims(&self) -> Vec<ResumedClaim> {
        let consumed = self.sent.iter().flat_map(|receipt| receipt.resumed_claims(None));
        let held = self.in_hand().filter(|hold| hold.is_orphaned());
        let held = held.flat_map(|hold| hold.receipt.resumed_claims(hold.orphaned));
        consumed.chain(held).collect()
    }

    /// Receipts of the batches in hand, which a snapshot counts as consumed (semantics rule 22).
    pub(crate) fn receipts_in_hand(&self) -> impl Iterator<Item = &Receipt> {
        self.in_hand().map(|hold| &hold.receipt)
    }

    /// An epoch is complete, its receipts durable.
    pub(crate) fn epoch_ended(&mut self, epoch: u64) -> Packets {
        self.sent.epoch_ended(epoch);
        Packets::new()
    }

    /// The run went back to a snapshot: older receipts mean nothing any more.
    pub(crate) fn forget_sent(&mut self) {
        self.sent.clear();
    }

    /// Slots of the living daemon's rings that this process holds.
    pub(crate) fn slots(&self) -> usize {
        self.entries.iter().filter(|hold| !hold.is_orphaned()).count()
    }

    /// Slots of the living daemon's rings that still have a view.
    pub(crate) fn viewed(&self) -> usize {
        self.entries.iter().filter(|hold| hold.viewed && !hold.is_orphaned()).count()
    }

    fn in_hand(&self) -> impl Iterator<Item = &Hold> {
        self.entries.iter().filter(|hold| hold.stage == HoldStage::InHand)
    }

    fn in_hand_mut(&mut self, ticket: HoldTicket) -> Option<&mut Hold> {
        self.entries.iter_mut().find(|hold| hold.ticket == ticket && hold.stage == HoldStage::InHand)
    }

    fn waiting_mut(&mut self, is_meant: impl Fn(&Hold) -> bool) -> Option<&mut Hold> {
        self.entries.iter_mut().find(|hold| hold.stage == HoldStage::Waiting && is_meant(hold))
    }

    /// Sends RELEASE, with the credit for one more offer, once the batch is decided and its last view gone.
    fn settle(&mut self, ticket: HoldTicket) -> Packets {
        let decided = |hold: &Hold| matches!(hold.stage, HoldStage::Consumed | HoldStage::Returned);
        let done = |hold: &Hold| hold.ticket == ticket && decided(hold) && (hold.is_orphaned() || !hold.viewed);
        let Some(place) = self.entries.iter().position(done) else { return Packets::new() };
        let hold = self.entries.remove(place);
        if hold.is_orphaned() {
            // It was given back: one that was consumed has ended with its ACK.
            return vec![release(&hold.offer, true, hold.orphaned)];
        }
        self.back(release(&hold.offer, hold.stage == HoldStage::Returned, None))
    }

    /// Returns a slot, for one more offer unless none is wanted.
    fn back(&self, release: Vec<u8>) -> Packets {
        match self.more() {
            0 => vec![release],
            more => vec![release, credit(more)],
        }
    }

    /// How many more offers are wanted for a returned slot.
    fn more(&self) -> u32 {
        u32::from(!self.leaving)
    }
}

impl Hold {
    fn is_orphaned(&self) -> bool {
        self.orphaned.is_some()
    }

    fn ack(&self, freed: Option<u32>) -> Packets {
        self.receipt.packets(&named(&self.offer, self.orphaned), freed)
    }
}

/// The batch as the daemon knows it. A batch that an earlier daemon offered is in no ring, and has this trainer's own
/// number.
fn named(offer: &Offer, orphaned: Option<NonZeroU32>) -> HeldBatch {
    let slot = SlotId { ring: offer.ring, slot: offer.slot };
    let offered = HeldBatch { seq: offer.seq, slot, generation: offer.generation };
    orphaned.map_or(offered, |number| HeldBatch::resumed(number.get().into(), offer.seq))
}

/// Returns a slot. It is also used for offers that were never handed out.
fn release(offer: &Offer, returned: bool, orphaned: Option<NonZeroU32>) -> Vec<u8> {
    let HeldBatch { seq, slot, generation } = named(offer, orphaned);
    let kind = MessageKind::Release as u32;
    packet(&Release { kind, slot: slot.slot, seq, generation, returned: u32::from(returned), ring: slot.ring }, &[])
}

/// That many more offers may be sent.
fn credit(offers: u32) -> Vec<u8> {
    packet(&Number { kind: MessageKind::Credit as u32, reserved: 0, value: offers.into() }, &[])
}

#[cfg(test)]
#[path = "hold/tests.rs"]
mod tests;
