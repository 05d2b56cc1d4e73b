//! The batches of a session: those that were offered, the rings that they are in, and those in the caller's hands.

use std::sync::Arc;

use forebay_ring::{Message, Offer, PictureSize, Socket, View};

use crate::batch::Batch;
use crate::error::Broken;
use crate::hands::Hands;
use crate::hold::Holds;
use crate::inbox::Inbox;
use crate::link;
use crate::mapped::Ring;
use crate::owner::Owner;
use crate::receipt::Receipt;
use crate::rings::Rings;
use crate::watch::{HeldBatch, HoldingNode};

/// What the daemon has offered, and what became of it here.
#[derive(Debug)]
pub(super) struct Batches {
    pub(super) inbox: Inbox,
    pub(super) hands: Arc<Hands>,
    pub(super) rings: Rings,
    /// The batch that was put back, as long as its offer waits.
    untaken: Option<Batch>,
}

impl Batches {
    /// Of a trainer that attached over this socket, while the stream was in this epoch, to the ring of this number.
    pub(super) fn new(epoch: u64, socket: &Arc<Socket>, number: u32, ring: Arc<Ring>) -> Self {
        let hands = Arc::new(Hands::new(Owner::this_process()));
        hands.connect(Arc::clone(socket));
        Self { inbox: Inbox::new(epoch), hands, rings: Rings::new(number, ring), untaken: None }
    }

    /// Takes a message of the daemon of this incarnation.
    pub(super) fn hear(&mut self, message: Message<'_>, incarnation: u64) -> Result<(), Broken> {
        let reports = &mut self.inbox.reports;
        match message {
            Message::Offer(offer) => self.inbox.offer(offer),
            Message::EpochEnd(epoch) => {
                self.inbox.epoch_end(epoch);
                self.hands.change(|holds| holds.epoch_ended(epoch));
            }
            Message::Done(_) => self.inbox.done(),
            Message::Failed(code, text) => reports.fail(code, link::told(text)),
            Message::Evict(_, text) => reports.evict(link::told(text)),
            Message::Held { head, elsewhere } => {
                let node = |(name, host)| HoldingNode { name: link::told(name), host: link::told(host) };
                reports.hold_up(HeldBatch::new(&head, elsewhere.map(node)), head.expired != 0);
            }
            Message::Stalled(_, text) => reports.stall(link::told(text)),
            Message::Missed(missed) => reports.miss(missed),
            Message::Notice(_, words) => reports.notice(link::told(words)),
            Message::Ring { head, fd, pixels } => {
                let view = View::map(fd, incarnation, head.ring)?;
                self.rings.add(head.ring, Ring::new(view, head.pixels, pixels)?);
            }
            Message::Retired(ring) => self.rings.retire(ring)?,
            Message::Deadline(deadline) => self.inbox.renew(deadline),
            Message::Void(seq) => {
                if let Some(void) = self.inbox.void(seq) {
                    self.untaken.take_if(|batch| batch.seq() == seq);
                    self.hands.change(|holds| holds.unread(&[void]));
                }
            }
            Message::Fenced(epoch) => {
                let void = self.inbox.fence(epoch);
                self.untaken = None;
                self.hands.change(|holds| {
                    holds.forget_sent();
                    holds.unread(&void)
                });
            }
            // A newer daemon says it, and nothing depends on it.
            Message::Unknown(_) => {}
            other => return Err(Broken::Protocol(format!("{other:?} came, which only a trainer sends"))),
        }
        Ok(())
    }

    /// Puts the batch of this offer into the caller's hands.
    pub(super) fn hand_out(&mut self, offer: Offer) -> Result<Batch, Broken> {
        if let Some(batch) = self.untaken.take_if(|batch| batch.seq() == offer.seq) {
            self.hands.take_again(batch.ticket());
            return Ok(batch);
        }
        let ring = self.rings.get(offer.ring);
        let ring =
            ring.ok_or_else(|| Broken::Protocol(format!("batch {} is in unknown ring {}", offer.seq, offer.ring)))?;
        let view = &ring.view;
        let geometry = view.geometry();
        let fits = offer.slot < geometry.slots()
            && offer.shown as usize <= geometry.batch()
            && offer.valid <= offer.shown
            && offer.claims as usize <= geometry.batch();
        if !fits {
            return Err(Broken::Protocol(format!("the offer of batch {} does not fit its ring: {offer:?}", offer.seq)));
        }
        let no_room = |why: String| Broken::Protocol(format!("the offer of batch {} is wrong: {why}", offer.seq));
        let size = PictureSize::of_offer(offer.height, offer.width).map_err(|error| no_room(error.to_string()))?;
        let shape = match size {
            None => geometry.shape(),
            Some(size) => geometry.sized(size, offer.shown).map_err(|error| no_room(error.to_string()))?,
        };
        let claims = &view.claims(offer.slot)[..offer.claims as usize];
        let repeats = geometry.columns().schema().repeats();
        let repeats = repeats.map(|column| bytemuck::cast_slice(view.column(offer.slot, column).values()));
        let (records, mask) = (view.records(offer.slot), view.mask(offer.slot));
        let receipt = Receipt::read(&offer, claims, records, repeats, mask)?;
        let ticket = self.hands.take(offer, receipt);
        Ok(Batch::new(&self.hands, ticket, Arc::clone(ring), offer, shape))
    }

    /// The caller never got this batch: its offer waits again.
    pub(super) fn put_back(&mut self, batch: &Batch) {
        if self.hands.put_back(batch.ticket()) {
            self.inbox.put_back(batch.offer());
            self.untaken = Some(batch.again());
        }
    }

    /// No further batch can come before a view of an earlier one is dropped; an epoch's end still can.
    pub(super) fn holds_all(&self, credits: u32) -> bool {
        !self.inbox.has_offer() && self.hands.with(Holds::slots) >= credits as usize
    }

    /// The run continues from a state that was loaded, in this epoch. Batches in hand are given back, and waiting offers
    /// are discarded.
    pub(super) fn restart(&mut self, epoch: u64) {
        let offers = self.inbox.take_offers();
        self.inbox.restart(epoch);
        self.untaken = None;
        self.hands.change(|holds| {
            holds.forget_sent();
            let mut packets = holds.give_back_all();
            packets.extend(holds.unread(&offers));
            packets
        });
    }

    /// The caller has ended this epoch itself.
    pub(super) fn leave(&mut self, epoch: u64) {
        let offers = self.inbox.leave(epoch);
        self.untaken.take_if(|batch| batch.epoch() <= epoch);
        self.hands.change(|holds| holds.unread(&offers));
    }

    /// The daemon is lost, and its offers with it.
    pub(super) fn disconnect(&mut self) {
        self.untaken = None;
        self.hands.disconnect();
    }

    /// A new daemon has taken over. It is in this epoch, and has welcomed the trainer to the ring of this number.
    pub(super) fn take_over(&mut self, epoch: u64, socket: &Arc<Socket>, number: u32, ring: Arc<Ring>) {
        self.rings.take_over(number, ring);
        self.inbox.take_over(epoch);
        self.hands.connect(Arc::clone(socket));
    }

    /// The session ends: what was offered or is in hand is returned unread.
    pub(super) fn close(&mut self) {
        self.untaken = None;
        self.hands.leave(&self.inbox.take_offers());
    }
}
