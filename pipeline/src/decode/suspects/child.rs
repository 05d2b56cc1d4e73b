//! A child process that makes suspects, from the daemon's side: what it is asked, and what it has said.

use std::io;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use forebay_children::{ChildCommand, ChildProcess, Patience, Silence};
use forebay_proto::v1::{ChildReply, ChildRequest};

use super::message;
use crate::decode::suspect_order::SuspectOrder;

/// The daemon's own program, also if its file was replaced meanwhile.
const PROGRAM: &str = "/proc/self/exe";
/// The command that it runs in a child.
const COMMAND: &str = "make-suspects";
/// How long the end of a child may take whose end of the socket is closed. It closes nothing before.
const ENDING: Duration = Duration::from_secs(10);

/// A child for one stream. Dropping it ends it.
#[derive(Debug)]
pub(super) struct SuspectChild {
    process: ChildProcess,
    order: Arc<SuspectOrder>,
}

/// What a child has said.
#[derive(Debug)]
pub(super) enum Heard {
    Reply(Box<ChildReply>),
    /// Something else.
    Garbage,
    /// The daemon has no memory for it.
    TooMuch,
    /// It ended.
    Ended(ExitStatus),
    /// It is waited for no longer.
    Nothing,
}

impl SuspectChild {
    /// Starts a child with so much memory, which it may raise for a picture that needs more. The calling thread lives as long as it.
    ///
    /// # Errors
    /// The system starts no process.
    pub(super) fn start(order: &Arc<SuspectOrder>, memory: u64) -> io::Result<Self> {
        let process = ChildCommand::new(PROGRAM, COMMAND).args([COMMAND]).memory_at_first(memory).start()?;
        tracing::info!(child = process.pid().as_raw_pid(), "a child process makes suspects");
        Ok(Self { process, order: Arc::clone(order) })
    }

    /// Whether it is set up for this stream.
    pub(super) fn is_of(&self, order: &Arc<SuspectOrder>) -> bool {
        Arc::ptr_eq(&self.order, order)
    }

    /// Sends a request and waits for the answer, unless the stream stops or the answer is late.
    pub(super) fn ask(&mut self, request: &ChildRequest) -> Heard {
        let order = Arc::clone(&self.order);
        let is_withdrawn = || order.is_withdrawn();
        match self.answer(request, &Patience::lasting(order.read_timeout).unless(&is_withdrawn)) {
            Ok(reply) => Heard::Reply(Box::new(reply)),
            Err(Silence::Late) => Heard::Nothing,
            Err(Silence::Garbage) => Heard::Garbage,
            Err(Silence::Memory) => Heard::TooMuch,
            Err(Silence::Ended) => self.process.ending(ENDING).map_or(Heard::Garbage, Heard::Ended),
        }
    }

    fn answer(&mut self, request: &ChildRequest, patience: &Patience<'_>) -> Result<ChildReply, Silence> {
        let channel = self.process.channel();
        channel.send(&message::framed(request), patience)?;
        let head = channel.head(patience)?;
        let body = channel.whole(head, message::MOST, patience)?;
        message::of(head, &body).ok_or(Silence::Garbage)
    }
}
