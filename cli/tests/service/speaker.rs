//! A trainer that speaks the protocol word by word, as tests want it.

use std::os::fd::{AsFd, OwnedFd};

use forebay_proto::RecordSum;
use forebay_ring::{
    Ack, Attach, ClaimSum, Message, MessageKind, Number, Offer, PACKET_LEN, Received, Sent, Socket, View, packet,
};

use crate::daemon::{Home, PATIENCE};

/// A trainer that speaks the protocol word by word.
pub(crate) struct Speaker {
    socket: Socket,
    buffer: Vec<u8>,
}

/// What the daemon said.
#[derive(Debug)]
pub(crate) enum DaemonMessage {
    Refused(u32, String),
    Evicted(String),
    Offer(Offer),
    Welcome(Box<View>),
    /// It hung up.
    Nothing,
    Other,
}

impl Speaker {
    pub(crate) fn connect(home: &Home) -> Self {
        Self { socket: Socket::connect(&home.socket()).unwrap(), buffer: vec![0; PACKET_LEN] }
    }

    pub(crate) fn say(&self, packet: &[u8], fds: &[OwnedFd]) {
        let fds: Vec<_> = fds.iter().map(AsFd::as_fd).collect();
        // The daemon may have hung up by now: what it said before is still to be heard.
        assert_ne!(self.socket.send(packet, &fds).unwrap(), Sent::WouldBlock);
    }

    pub(crate) fn attach(&self) {
        self.say(&packet(&attach(), &[]), &[]);
    }

    pub(crate) fn hear(&mut self) -> DaemonMessage {
        loop {
            let events = self.socket.wait(Some(PATIENCE)).unwrap();
            assert!(events.readable || events.hung_up, "the daemon says nothing");
            match self.socket.recv(&mut self.buffer).unwrap() {
                Received::WouldBlock => {}
                Received::Closed => return DaemonMessage::Nothing,
                Received::Packet { len, fds } => {
                    return match Message::parse(&self.buffer[..len], fds).unwrap() {
                        Message::Refused(code, text) => DaemonMessage::Refused(code, text.to_owned()),
                        Message::Evict(_, text) => DaemonMessage::Evicted(text.to_owned()),
                        Message::Offer(offer) => DaemonMessage::Offer(offer),
                        Message::Welcome { head, ring, .. } => {
                            DaemonMessage::Welcome(Box::new(View::map(ring, head.incarnation, head.ring).unwrap()))
                        }
                        _ => DaemonMessage::Other,
                    };
                }
            }
        }
    }

    pub(crate) fn refused(&mut self) -> (u32, String) {
        match self.hear() {
            DaemonMessage::Refused(code, reason) => {
                assert!(matches!(self.hear(), DaemonMessage::Nothing), "the daemon hangs up after it has refused");
                (code, reason)
            }
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn welcome(&mut self) -> Box<View> {
        self.attach();
        match self.hear() {
            DaemonMessage::Welcome(view) => view,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn offer(&mut self) -> Offer {
        loop {
            match self.hear() {
                DaemonMessage::Offer(offer) => return offer,
                DaemonMessage::Other => {}
                other => panic!("{other:?}"),
            }
        }
    }

    /// Acks and releases a batch with sums of its own making.
    pub(crate) fn ack(&self, offer: &Offer, sums: &[RecordSum]) {
        let sums: Vec<ClaimSum> =
            sums.iter().map(|sum| sum.halves()).map(|(high, low)| ClaimSum { high, low }).collect();
        let head = Ack {
            kind: MessageKind::Ack as u32,
            slot: offer.slot,
            seq: offer.seq,
            generation: offer.generation,
            first: 0,
            count: u32::try_from(sums.len()).unwrap(),
            last: 1,
            ring: offer.ring,
            freed: 0,
            more: 0,
        };
        self.say(&packet(&head, bytemuck::cast_slice(&sums)), &[]);
        let release = forebay_ring::Release {
            kind: MessageKind::Release as u32,
            slot: offer.slot,
            seq: offer.seq,
            generation: offer.generation,
            returned: 0,
            ring: offer.ring,
        };
        self.say(&packet(&release, &[]), &[]);
        self.say(&packet(&Number { kind: MessageKind::Credit as u32, reserved: 0, value: 1 }, &[]), &[]);
    }
}

impl Drop for Speaker {
    fn drop(&mut self) {
        // Children that other tests start at this moment hold a copy of the descriptor until they run their program.
        self.socket.shut_down();
    }
}

pub(crate) fn attach() -> Attach {
    Attach { credits: 2, name: Attach::pad_name("train").unwrap(), trainer: 7, ..Attach::ours() }
}

pub(crate) fn goodbye() -> Vec<u8> {
    packet(&Number { kind: MessageKind::Bye as u32, reserved: 0, value: 0 }, &[])
}
