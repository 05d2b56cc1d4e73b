//! Calls to the daemon: their packets, and the answer that is waited for. Pure.

use std::os::fd::OwnedFd;

use forebay_proto::v1::{self, call_reply::Reply, call_request::Call as Request};
use forebay_ring::{Bulk, Call, MessageKind, PACKET_LEN, packet};
use prost::Message as _;

use crate::error::{Broken, CallError};
use crate::link;

/// The calls of a session, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Calls {
    made: u64,
    /// The call that is waited for.
    expected: Option<u64>,
    answer: Option<Vec<u8>>,
}

impl Calls {
    /// A call with these bytes, and the descriptors that belong to it. Answers to earlier calls are discarded, since the
    /// caller no longer waits for them.
    pub(super) fn ask(&mut self, body: &[u8]) -> Result<(Vec<u8>, Vec<OwnedFd>), Broken> {
        let inline = body.len() <= PACKET_LEN - size_of::<Call>();
        let (tail, fds): (&[u8], Vec<OwnedFd>) =
            if inline { (body, Vec::new()) } else { (&[], vec![Bulk::write(body)?.into_fd()]) };
        let packet = self.packet(tail);
        self.expected = Some(self.made);
        self.answer = None;
        Ok((packet, fds))
    }

    /// A call without content. Every daemon answers it, and the answer is ignored.
    pub(super) fn ping(&mut self) -> Vec<u8> {
        self.packet(&[])
    }

    fn packet(&mut self, tail: &[u8]) -> Vec<u8> {
        self.made += 1;
        let len = u32::try_from(tail.len()).expect("it fits into a packet");
        packet(&Call { kind: MessageKind::Call as u32, len, id: self.made }, tail)
    }

    /// Whether this is the answer that is waited for.
    pub(super) fn answer(&mut self, call: u64, body: Vec<u8>) -> bool {
        let expected = self.expected == Some(call);
        if expected {
            self.expected = None;
            self.answer = Some(body);
        }
        expected
    }

    /// The answer that was waited for, once.
    pub(super) fn take_answer(&mut self) -> Option<Vec<u8>> {
        self.answer.take()
    }

    /// The daemon is gone: no call has an answer any more.
    pub(super) fn forget(&mut self) {
        self.expected = None;
    }
}

/// What the caller of a request waits for.
pub(super) fn name(request: &Request) -> &'static str {
    match request {
        Request::State(_) => "a state of the run",
        Request::Restore(_) => "the load of a state",
        Request::Path(_) => "the path of a record",
        Request::Reset(_) => "the end of the epoch",
        Request::Quarantine(_) => "the list of bad records",
        Request::Audit(_) => "the audit",
    }
}

pub(super) fn reply(answer: &[u8]) -> Result<Reply, CallError> {
    let reply = v1::CallReply::decode(answer).map_err(|error| Broken::Protocol(error.to_string()))?;
    match reply.reply {
        Some(Reply::Failure(failure)) => Err(CallError::Failed(link::told(&failure.message))),
        Some(reply) => Ok(reply),
        None => Err(Broken::Protocol("it sent an empty answer".to_owned()).into()),
    }
}

pub(super) fn unexpected(reply: &Reply) -> CallError {
    Broken::Protocol(format!("it answered another question: {reply:?}")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_to_calls_that_were_given_up_are_forgotten() {
        let mut calls = Calls::default();
        for _ in 1..=2 {
            calls.ask(b"which").unwrap();
        }
        assert!(!calls.answer(1, b"late".to_vec()));
        assert_eq!(calls.take_answer(), None);
        assert!(calls.answer(2, b"right".to_vec()));
        assert_eq!(calls.take_answer(), Some(b"right".to_vec()));
    }

    #[test]
    fn the_answer_to_a_ping_is_not_the_one_that_is_waited_for() {
        let mut calls = Calls::default();
        calls.ask(b"which").unwrap();
        calls.ping();
        assert!(!calls.answer(2, Vec::new()));
        assert!(calls.answer(1, Vec::new()));
    }

    #[test]
    fn a_daemon_that_is_gone_answers_no_call() {
        let mut calls = Calls::default();
        calls.ask(b"which").unwrap();
        calls.forget();
        assert!(!calls.answer(1, Vec::new()));
    }
}
