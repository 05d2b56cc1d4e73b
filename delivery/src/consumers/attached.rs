//! An attached trainer, with its socket and its process, and a trainer that is about to attach.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use forebay_proto::v1::call_reply::Reply;
use forebay_proto::v1::{CallReply, Failure, GroupKey, StreamInfo};
use forebay_ring::{
    Bulk, BulkError, Call, ConsumerId, Membership, MessageKind, PACKET_LEN, Peer, Received, Sent, Socket, SocketError,
    Welcome, packet, text, text_code,
};
use prost::Message as _;

use super::held_claim::ResumedBatch;
use crate::stream_ring::StreamRing;

/// A trainer whose request was accepted.
#[derive(Debug)]
pub(crate) struct Arrival {
    /// Its number.
    pub id: ConsumerId,
    /// Its socket.
    pub socket: Socket,
    /// Its process.
    pub peer: Peer,
    /// The version of the protocol that both sides speak.
    pub protocol: u32,
    /// Offers that it asks for.
    pub credits: u32,
    /// The group that it joins.
    pub membership: Membership,
    /// How the ledger knows its group; nothing in `split`.
    pub key: Option<GroupKey>,
    /// The daemon's incarnation.
    pub incarnation: u64,
    /// What it is told of the stream.
    pub info: StreamInfo,
    /// Batches of earlier incarnations in its hands.
    pub adopted: Vec<ResumedBatch>,
    /// What its user is told first.
    pub notice: Option<String>,
}

/// An attached trainer, or an evicted one whose process still lives.
#[derive(Debug)]
pub(super) struct Consumer {
    socket: Option<Socket>,
    peer: Peer,
    /// Name of its group, if it has one.
    group: Option<String>,
    /// Calls that it has no answer to yet.
    calls: u32,
    attached: Instant,
    /// How long it says that it has waited.
    waited: Duration,
}

/// Calls of one consumer that wait for their answers.
const CALLS_AT_ONCE: u32 = 4;

impl Arrival {
    /// Sends it away with a reason.
    pub(crate) fn refuse(self, code: u32, reason: &str) {
        tracing::info!(pid = self.peer.shown_pid(), reason, "a trainer was refused");
        // It reads the reason and sees the end, or it is gone: both are well.
        let _sent = self.socket.send(&text(MessageKind::Refused, code, reason), &[]);
    }

    /// Welcomes it to a ring.
    ///
    /// # Errors
    /// It is gone already.
    pub(super) fn welcome(self, credits: u32, number: u32, ring: &StreamRing) -> Result<Consumer, SocketError> {
        let welcome = Welcome {
            kind: MessageKind::Welcome as u32,
            protocol: self.protocol,
            incarnation: self.incarnation,
            consumer: self.id.0,
            credits,
            ring: number,
            pixels: ring.pixels(),
        };
        let info = match Bulk::write(&self.info.encode_to_vec()) {
            Ok(info) => info.into_fd(),
            Err(error) => {
                self.refuse(text_code::BUSY, &format!("the daemon cannot say what the stream is: {error}"));
                return Err(SocketError::Io(std::io::Error::other(error)));
            }
        };
        let _sent = self.socket.send(&packet(&welcome, &[]), &ring.fds(Some(info.as_fd())))?;
        Ok(Consumer {
            socket: Some(self.socket),
            peer: self.peer,
            group: self.membership.group,
            calls: 0,
            attached: Instant::now(),
            waited: Duration::ZERO,
        })
    }
}

impl Consumer {
    /// Its process, for people.
    pub(super) fn pid(&self) -> u32 {
        self.peer.shown_pid()
    }

    /// Whether its process has no number here. The one that is shown is that of its own PID namespace.
    pub(super) fn is_foreign(&self) -> bool {
        self.peer.pid() == 0
    }

    /// Its user.
    pub(super) fn uid(&self) -> u32 {
        self.peer.uid()
    }

    /// Its group's name, if it has one.
    pub(super) fn group(&self) -> Option<&str> {
        self.group.as_deref()
    }

    /// Readable when its process has ended.
    pub(super) fn pidfd(&self) -> BorrowedFd<'_> {
        self.peer.pidfd()
    }

    /// Its socket, until it hangs up or is evicted.
    pub(super) fn socket(&self) -> Option<&Socket> {
        self.socket.as_ref()
    }

    /// Notes how long the trainer says that it has waited. Returns how much of that is believed, because no trainer waits
    /// for longer than it has been here.
    pub(super) fn waits(&mut self, time: Duration) -> Duration {
        let counted = time.min(self.attached.elapsed().saturating_sub(self.waited));
        self.waited += counted;
        counted
    }

    /// Whether it can be talked to.
    pub(super) fn is_open(&self) -> bool {
        self.socket.is_some()
    }

    /// Stops sending for every process that shares the connection. What was sent can still be received.
    pub(super) fn shut_down(&self) {
        if let Some(socket) = &self.socket {
            socket.shut_down();
        }
    }

    /// Ends the connection, for forked children that share it too.
    pub(super) fn close(&mut self) {
        if let Some(socket) = self.socket.take() {
            socket.shut_down();
        }
    }

    /// Takes one packet.
    ///
    /// # Errors
    /// It does not keep to the protocol.
    pub(super) fn receive(&self, buffer: &mut [u8]) -> Result<Received, SocketError> {
        self.socket.as_ref().map_or(Ok(Received::WouldBlock), |socket| socket.recv(buffer))
    }

    /// Sends one packet without waiting. An error is the end of the connection, which the next `receive` reports.
    pub(super) fn send(&self, packet: &[u8], fds: &[BorrowedFd<'_>]) -> Sent {
        self.socket.as_ref().map_or(Sent::Closed, |socket| socket.send(packet, fds).unwrap_or(Sent::Closed))
    }

    /// Notes a call. Returns false if too many calls of the trainer wait for answers. Answers come one after the other. A
    /// trainer that stops waiting for one may call again, but only a limited number of times.
    pub(super) fn calls(&mut self) -> bool {
        self.calls += 1;
        self.calls <= CALLS_AT_ONCE
    }

    /// Answers a call, in the packet or, where it is too long for one, beside it.
    pub(super) fn answer(&mut self, id: u64, reply: &[u8]) -> Sent {
        self.answer_by(id, reply, |reply| Bulk::write(reply).map(Bulk::into_fd))
    }

    /// Answers a call. `beside` makes the descriptor of a long answer. If that fails, the caller gets an error, because
    /// it would otherwise wait forever.
    fn answer_by(&mut self, id: u64, reply: &[u8], beside: impl Fn(&[u8]) -> Result<OwnedFd, BulkError>) -> Sent {
        self.calls = self.calls.saturating_sub(1);
        if !reply.is_empty() && size_of::<Call>() + reply.len() <= PACKET_LEN {
            return self.send_answer(id, reply);
        }
        let head = Call { kind: MessageKind::Answer as u32, len: 0, id };
        let sent = beside(reply).map_err(|error| error.to_string()).and_then(|fd| {
            let socket = self.socket.as_ref().map(|socket| socket.send(&packet(&head, &[]), &[fd.as_fd()]));
            socket.unwrap_or(Ok(Sent::Closed)).map_err(|error| error.to_string())
        });
        sent.unwrap_or_else(|error| {
            tracing::error!(error, "an answer could not be sent");
            let message = format!("The daemon has an answer, but could not send it: {error}.");
            let failure = CallReply { reply: Some(Reply::Failure(Failure { message })) };
            self.send_answer(id, &failure.encode_to_vec())
        })
    }

    fn send_answer(&self, id: u64, reply: &[u8]) -> Sent {
        let head = Call { kind: MessageKind::Answer as u32, len: u32::try_from(reply.len()).unwrap_or(0), id };
        self.send(&packet(&head, reply), &[])
    }
}

#[cfg(test)]
mod tests {
    use forebay_ring::{Body, Message};

    use super::*;

    fn consumer(ours: Socket, calls: u32) -> Consumer {
        let peer = Peer::of(&ours).unwrap();
        Consumer { peer, socket: Some(ours), group: None, calls, attached: Instant::now(), waited: Duration::ZERO }
    }

    #[test]
    fn rule_14_after_a_shut_down_what_was_sent_is_still_there_and_nothing_comes_after_it() {
        let (ours, theirs) = Socket::pair().unwrap();
        let consumer = consumer(ours, 0);
        assert_eq!(theirs.send(b"the last receipt", &[]).unwrap(), Sent::Done);
        consumer.shut_down();
        assert!(!matches!(theirs.send(b"of a forked child", &[]), Ok(Sent::Done)));
        let mut buffer = [0; 64];
        assert!(matches!(consumer.receive(&mut buffer), Ok(Received::Packet { len: 16, .. })));
        assert!(matches!(consumer.receive(&mut buffer), Ok(Received::Closed)));
    }

    #[test]
    fn an_answer_that_cannot_be_sent_is_told_to_the_caller_in_its_place() {
        let (ours, theirs) = Socket::pair().unwrap();
        let mut consumer = consumer(ours, 1);
        let long = vec![0; PACKET_LEN];
        let out_of_descriptors = |_: &[u8]| Err(BulkError::Io(std::io::Error::from_raw_os_error(24)));
        assert_eq!(consumer.answer_by(7, &long, out_of_descriptors), Sent::Done);
        let mut buffer = vec![0; PACKET_LEN];
        let Ok(Received::Packet { len, fds }) = theirs.recv(&mut buffer) else { panic!("an answer") };
        let Ok(Message::Answer(7, Body::Inline(reply))) = Message::parse(&buffer[..len], fds) else { panic!("inline") };
        let Some(Reply::Failure(failure)) = CallReply::decode(reply).unwrap().reply else { panic!("a failure") };
        assert!(
            failure.message.contains("could not send it") && failure.message.contains("os error 24"),
            "{failure:?}"
        );
    }
}
