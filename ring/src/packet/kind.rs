//! Which kind a packet's first word names.

use std::fmt;

use super::error::PacketError;
use crate::message::MessageKind;

impl TryFrom<u32> for MessageKind {
    type Error = PacketError;

    fn try_from(word: u32) -> Result<Self, PacketError> {
        const KINDS: [MessageKind; 25] = [
            MessageKind::Attach,
            MessageKind::Welcome,
            MessageKind::Refused,
            MessageKind::Offer,
            MessageKind::Ack,
            MessageKind::Release,
            MessageKind::Credit,
            MessageKind::EpochEnd,
            MessageKind::Done,
            MessageKind::Failed,
            MessageKind::Evict,
            MessageKind::Call,
            MessageKind::Answer,
            MessageKind::Held,
            MessageKind::Ring,
            MessageKind::Bye,
            MessageKind::Connect,
            MessageKind::Deadline,
            MessageKind::Fenced,
            MessageKind::Retired,
            MessageKind::Notice,
            MessageKind::Stalled,
            MessageKind::Void,
            MessageKind::Missed,
            MessageKind::Waited,
        ];
        KINDS.into_iter().find(|kind| *kind as u32 == word).ok_or(PacketError::UnknownKind(word))
    }
}

impl fmt::Display for MessageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
