//! Lets trainers in: the ledger hears of one, and of what it had of an earlier daemon, before the trainer hears of the stream.

use forebay_ledger_client::CallError;
use forebay_proto::v1::{AckRequest, GroupKey, StreamInfo};
use forebay_ring::{ConsumerId, Membership, Peer, Socket, text_code};

use crate::attendance::Party;
use crate::consumers::{Arrival, HandedIn, Note};
use crate::delivery::Delivery;
use crate::hand_in::{self, HandIns};
use crate::settings::Mode;

/// A trainer that asks to attach.
#[derive(Debug)]
pub struct AttachRequest {
    /// Its number, which it keeps over the deaths of its daemons.
    pub number: u64,
    /// The version of the protocol that it and this daemon speak.
    pub protocol: u32,
    /// Offers that it asks for; 0 for those of the stream.
    pub credits: u32,
    /// The group that it joins.
    pub membership: Membership,
    /// What it consumed and holds from an earlier incarnation of the daemon.
    pub hand_ins: HandIns,
}

/// What a trainer is told for its program where the ledger refuses.
pub fn ledger_code(error: &CallError) -> u32 {
    match error {
        // A name is free after a while.
        CallError::Unavailable(_) | CallError::NameTaken(_) => text_code::BUSY,
        // No time changes it: a new run, or the old dataset or settings, do.
        CallError::SpecMismatch(_) => text_code::SETTINGS,
        _ => text_code::OTHER,
    }
}

impl Delivery {
    /// Admits a trainer. `info` says what it is told of the stream in this epoch.
    pub async fn attach(
        &self,
        socket: Socket,
        peer: Peer,
        request: AttachRequest,
        info: impl FnOnce(u64) -> StreamInfo,
    ) {
        let AttachRequest { number, protocol, credits, membership, hand_ins } = request;
        let credits = if credits == 0 { self.terms.credits } else { credits };
        let id = self.attendance.number();
        self.see_who_left().await;
        let notice = self.may_have_missed(&membership, &hand_ins);
        let party = self.party(&membership);
        let key = party.key(peer.shown_pid(), self.terms.incarnation ^ id.0);
        let (adopted, refusal) = match self.attendance.enter(id, &peer, party) {
            None => match self.welcome((id, number), &hand_ins, key.as_ref()).await {
                Ok(adopted) => (adopted, None),
                Err(error) => (Vec::new(), Some((ledger_code(&error), error.to_string()))),
            },
            Some(reason) => (Vec::new(), Some((text_code::BUSY, reason))),
        };
        let incarnation = self.terms.incarnation;
        let info = info(self.ledger.progress().floor);
        let arrival =
            Arrival { id, socket, peer, protocol, credits, membership, key, incarnation, info, adopted, notice };
        match refusal {
            None => self.post(Note::Attach(Box::new(arrival))),
            Some((code, reason)) => {
                self.attendance.leave(id);
                arrival.refuse(code, &reason);
            }
        }
    }

    /// Whom a trainer shares its batches with.
    fn party(&self, membership: &Membership) -> Party {
        match (self.terms.settings.mode, &membership.group) {
            (Mode::Split, _) => Party::All,
            (Mode::Each, Some(group)) => Party::Group(group.clone()),
            (Mode::Each, None) => Party::Alone,
        }
    }

    /// Tells the ledger of a trainer, before the trainer is told of the stream.
    async fn welcome(
        &self,
        (id, number): (ConsumerId, u64),
        hand_ins: &HandIns,
        group: Option<&GroupKey>,
    ) -> Result<Vec<HandedIn>, CallError> {
        if let Some(group) = group.filter(|group| !group.name.is_empty()) {
            let began = AckRequest { began: vec![group.name.clone()], ..AckRequest::default() };
            self.ledger.worker().ack(began).await?;
        }
        let adopted = hand_ins.tell(&self.ledger, group).await?;
        if let Err(error) = self.presence.enter(self.ledger.worker(), id, number).await {
            hand_in::give_back(adopted, &self.ledger);
            return Err(error);
        }
        self.ledger.trainer_is_heard();
        Ok(adopted)
    }
}
