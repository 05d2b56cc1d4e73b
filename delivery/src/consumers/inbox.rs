//! The inbox of the ring's thread: a queue of notes, and a bell that wakes the thread while it waits for its sockets.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use crossbeam_channel as channel;
use forebay_proto::v1::Progress;
use forebay_ring::{ConsumerId, RegionError, SlotId};
use rustix::event::{EventfdFlags, eventfd};
use tokio::sync::oneshot;

use crate::consumers::{Arrival, RingStatus};
use crate::handover::Handover;
use crate::ledger_event::LedgerEvent;
use crate::stream_ring::{NoRing, StreamRing};

/// Something that the ring's thread is to know.
#[derive(Debug)]
pub(crate) enum InboxMessage {
    /// From the batch thread.
    Batch(Handover),
    /// A slot has its memory, or cannot get it.
    Populated(SlotId, Result<(), RegionError>),
    /// A further ring is made, or why not.
    Ring(u32, Result<StreamRing, NoRing>),
    /// A trainer whose request was accepted.
    Attach(Box<Arrival>),
    /// From the coordinator.
    Progress(Progress),
    /// The reply to a consumer's call, as protobuf.
    Answer {
        /// Who called.
        consumer: ConsumerId,
        /// As the call said.
        id: u64,
        /// Protobuf `CallReply`.
        reply: Vec<u8>,
    },
    /// A consumer does not keep to the protocol.
    Evict {
        /// Who.
        consumer: ConsumerId,
        /// What is wrong.
        reason: String,
    },
    /// After a restore or a reset: drops the batches that no trainer holds, and continues the stream at this epoch.
    DropReady {
        /// The coordinator's current progress.
        progress: Progress,
        /// True if a restore has fenced every lease. Otherwise, a reset has fenced the leases of the epoch that it ended.
        fenced: bool,
        /// Answered when nothing from before is left.
        done: oneshot::Sender<()>,
    },
    /// From the ledger, of leases and batches.
    Ledger(LedgerEvent),
    /// The stream is about to end: drops the batches that no trainer holds, and offers no batch again. Answered when the
    /// claims of the dropped batches are on their way back.
    Drain(oneshot::Sender<()>),
    /// A consumer has the answer to a restore, before which nothing counts: it is told if the stream has ended.
    Restored(ConsumerId),
    /// A message for the users of the trainers: why the ledger takes nothing at this moment, or that it takes receipts
    /// again.
    Tell {
        /// The message.
        words: String,
        /// It holds until the next message. A trainer that attaches before that gets it too.
        lasting: bool,
    },
    /// The stream cannot continue.
    Failed(String),
    /// The run has failed at a bad record, which may be another daemon's.
    RunFailed(String),
    /// How things are.
    Status(oneshot::Sender<RingStatus>),
    /// The stream ends. Answered when what trainers held is on its way back.
    Close(oneshot::Sender<()>),
}

/// The reading end.
#[derive(Debug)]
pub(crate) struct Inbox {
    messages: channel::Receiver<InboxMessage>,
    bell: Arc<OwnedFd>,
}

/// The writing end; clones write to the same thread.
#[derive(Clone, Debug)]
pub(crate) struct Outbox {
    messages: channel::Sender<InboxMessage>,
    bell: Arc<OwnedFd>,
}

/// Makes both ends.
///
/// # Errors
/// The process has no descriptor left.
pub(crate) fn inbox() -> std::io::Result<(Outbox, Inbox)> {
    let bell = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
    let (sender, messages) = channel::unbounded();
    Ok((Outbox { messages: sender, bell: Arc::clone(&bell) }, Inbox { messages, bell }))
}

impl Outbox {
    /// Leaves a note. One that comes too late, after the thread has ended, is dropped with what it owns.
    pub(crate) fn post(&self, message: InboxMessage) {
        if self.messages.send(message).is_ok() {
            // A full counter rings as well as one that was raised.
            let _rung = rustix::io::write(&*self.bell, &1u64.to_le_bytes());
        }
    }
}

impl Inbox {
    /// The notes that are there. `None` if every [`Outbox`] is gone and no note is left.
    pub(crate) fn messages(&self) -> Option<Vec<InboxMessage>> {
        let mut count = [0; 8];
        // Silenced before the queue is read: a note that comes in between rings again.
        let _silent = rustix::io::read(&*self.bell, &mut count);
        let mut messages = Vec::new();
        loop {
            match self.messages.try_recv() {
                Ok(message) => messages.push(message),
                Err(channel::TryRecvError::Disconnected) if messages.is_empty() => return None,
                Err(_empty) => return Some(messages),
            }
        }
    }

    /// Readable when there is a note.
    pub(crate) fn bell(&self) -> &OwnedFd {
        &self.bell
    }
}
