//! The ring's thread of one stream: sockets and deaths come in, offers go out.
//!
//! [`Deliveries`] decides; this thread does what it says. It is the only one that knows which slot is where: batches
//! come to it as rights to slots, and free slots leave it as rights. It never waits for anybody but the kernel.

mod act;
mod asked;
mod attached;
mod claims;
mod deliveries;
mod epoch_end;
mod inbox;
mod rings;
mod status;
mod trainers;

use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel as channel;
use forebay_proto::v1::ReturnedRange;
use forebay_ring::{ConsumerId, MessageKind, PACKET_LEN, SlotMut, text, text_code};
use rustix::event::{PollFd, PollFlags, poll};

use crate::ack::{Fate, Fates};
use crate::batch::Output;
use crate::gpu_ring::StreamRing;
use crate::publish::Ready;
use crate::suspects::Suspects;
use crate::threads;
use act::number;
pub(crate) use asked::Asked;
pub(crate) use attached::Arrival;
use attached::Consumer;
pub(crate) use claims::ranges;
use deliveries::Deliveries;
pub(crate) use inbox::{Inbox, Note, Outbox, inbox};
use rings::{Further, Work, ring_work};
pub(crate) use status::RingStatus;

/// What the thread works with.
pub(crate) struct RingParts {
    /// Name of the stream, for messages.
    pub stream: String,
    /// Makes a further ring, by its number. Another thread calls it: the kernel may take its time.
    pub further: Arc<dyn Fn(u32) -> Result<StreamRing, String> + Send + Sync>,
    /// Rights to free slots, for the batch thread.
    pub free: channel::Sender<SlotMut>,
    /// Receipts, for the ledger.
    pub fates: Fates,
    /// Records that may have killed a daemon, until they are in a finished batch.
    pub suspects: Arc<Suspects>,
    /// Calls of consumers; answers come back as [`Note::Answer`], or [`Note::Evict`] for one that cannot be read.
    pub calls: Box<dyn Fn(ConsumerId, u64, Asked) + Send>,
    /// Told when a consumer has left, or was not let in, with how many are left.
    pub left: Box<dyn Fn(ConsumerId, usize) + Send>,
    /// First epoch that is not complete.
    pub epoch: u64,
    /// Epochs in all, without end if nothing.
    pub epochs: Option<u64>,
    /// How long an epoch's end may wait for a held batch.
    pub epoch_end_timeout: Duration,
    /// What is counted.
    pub counters: Arc<Counters>,
}

/// What the ring's thread counts, for metrics.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Batches that were published.
    pub published: AtomicU64,
    /// Batches that were offered again.
    pub redelivered: AtomicU64,
    /// Records whose batch was consumed.
    pub delivered: AtomicU64,
}

/// The thread, and what it knows.
pub(crate) struct RingThread {
    parts: RingParts,
    inbox: Inbox,
    deliveries: Deliveries,
    rings: BTreeMap<u32, StreamRing>,
    works: channel::Sender<Work>,
    further: Further,
    consumers: BTreeMap<ConsumerId, Consumer>,
    /// Calls that are still to be handed on.
    calls: Vec<(ConsumerId, u64, Asked)>,
    /// [`text_code`] and reason.
    failure: Option<(u32, String)>,
    /// Why the storage gives nothing at this moment.
    storage: Option<String>,
    /// Why the ledger takes nothing at this moment.
    ledger: Option<String>,
    /// The stream is about to end.
    draining: bool,
}

impl std::fmt::Debug for RingParts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RingParts").field("stream", &self.stream).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for RingThread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RingThread")
            .field("parts", &self.parts)
            .field("deliveries", &self.deliveries)
            .finish_non_exhaustive()
    }
}

/// How often the end of an epoch is looked at.
const LOOK: Duration = Duration::from_secs(1);

impl RingThread {
    /// Starts the thread with the first ring; it ends when the inbox says so or is dropped.
    pub(crate) fn start(parts: RingParts, first: StreamRing, inbox: Inbox, outbox: &Outbox) -> std::io::Result<()> {
        let works = ring_work(outbox.clone(), Arc::clone(&parts.further))?;
        let mut state = Self {
            deliveries: Deliveries::new(parts.epoch, parts.epochs, parts.epoch_end_timeout),
            parts,
            inbox,
            rings: BTreeMap::new(),
            works,
            further: Further::default(),
            consumers: BTreeMap::new(),
            calls: Vec::new(),
            failure: None,
            storage: None,
            ledger: None,
            draining: false,
        };
        threads::start("forebay-ring", move || {
            state.add_ring(0, first);
            state.run();
        })?;
        Ok(())
    }

    fn run(&mut self) {
        let mut buffer = vec![0; PACKET_LEN];
        let mut looked = Instant::now();
        loop {
            match self.inbox.notes() {
                Some(notes) => {
                    for note in notes {
                        if let Note::Close(done) = note {
                            self.end(&mut buffer);
                            done.send(()).ok();
                            return;
                        }
                        self.note(note);
                    }
                }
                None => return,
            }
            self.act();
            let (readable, dead) = self.wait();
            for id in readable {
                self.receive(id, &mut buffer);
                self.act();
            }
            for id in dead {
                // What it sent before it died counts: everything is received first.
                self.last_words(id, &mut buffer);
                self.gone(id);
                self.act();
            }
            self.hand_on_calls(&mut buffer);
            if looked.elapsed() >= LOOK {
                looked = Instant::now();
                self.look();
                self.act();
            }
        }
    }

    fn note(&mut self, note: Note) {
        match note {
            Note::Batch(Output::Ready(ready)) => self.publish(ready),
            Note::Batch(Output::Lost(ready, reason)) => {
                self.drop_batch(ready);
                self.fail(text_code::OTHER, reason);
            }
            Note::Batch(Output::Unused(slot)) => self.hand_out(slot),
            Note::Batch(Output::Stalled { words, expired }) => {
                let kind = if expired { MessageKind::Stalled } else { MessageKind::Notice };
                self.send_all(&text(kind, text_code::OTHER, &words));
                self.storage = Some(words);
            }
            Note::Batch(Output::Resumed) => {
                self.send_all(&text(MessageKind::Notice, text_code::OTHER, "the storage gives files again"));
                self.storage = None;
            }
            Note::Batch(Output::Failed(reason)) => self.fail(text_code::RECORD, reason),
            Note::Failed(reason) => self.fail(text_code::OTHER, reason),
            Note::Tell { words, lasting } => {
                self.send_all(&text(MessageKind::Notice, text_code::OTHER, &words));
                self.ledger = lasting.then_some(words);
            }
            Note::Populated(slot, Ok(())) => self.deliveries.populated(slot),
            Note::Populated(_, Err(error)) => self.fail(text_code::MEMORY, error.to_string()),
            Note::Ring(ring, made) => self.take_over(ring, made),
            Note::Attach(arrival) => self.attach(*arrival),
            Note::Progress(progress) => self.deliveries.heard(progress),
            Note::Answer { consumer, id, reply } => self.send_answer(consumer, id, &reply),
            Note::Evict { consumer, reason } => self.evict(consumer, &reason),
            Note::DropReady { progress, fenced, done } => {
                if fenced {
                    self.deliveries.drop_fenced(progress);
                } else {
                    self.deliveries.drop_ready();
                }
                self.act();
                let left = self.deliveries.restart(progress);
                self.give_back(left);
                // The batch thread that waited for it has ended; the next one says so itself.
                self.storage = None;
                self.failure = None;
                self.send_all(&number(MessageKind::Fenced, progress.floor));
                done.send(()).ok();
            }
            Note::Drain(done) => {
                self.draining = true;
                self.deliveries.drop_ready();
                self.act();
                done.send(()).ok();
            }
            Note::Lost(leases) => self.deliveries.lose(&leases),
            Note::Noted(batch) => self.deliveries.noted(batch),
            Note::Restored(consumer) => self.tell_if_done(consumer),
            // The loop ends at it.
            Note::Close(_) => {}
            Note::Status(reply) => {
                reply.send(self.status()).ok();
            }
        }
    }

    /// What was sent counts; what is held after it is given back, so that the end is no death (semantics rule 21).
    fn end(&mut self, buffer: &mut [u8]) {
        self.deliveries.drop_ready();
        self.act();
        self.deliveries.end();
        let ids: Vec<_> = self.consumers.keys().copied().collect();
        for id in ids {
            self.last_words(id, buffer);
            self.deliveries.gone(id);
        }
        self.act();
    }

    // Slots.

    fn claim_free(&mut self) {
        while let Some(slot) = self.deliveries.claim() {
            let right = self.rings.get(&slot.ring).map(|ring| ring.region.slot(slot.slot));
            match right {
                Some(Ok(right)) => self.hand_out(right),
                Some(Err(error)) => {
                    tracing::error!(%error, "a free slot cannot be written");
                    return;
                }
                None => return,
            }
        }
    }

    fn hand_out(&self, slot: SlotMut) {
        // The batch thread may be between two lives; the next one takes over the same channel.
        self.parts.free.send(slot).ok();
    }

    fn publish(&mut self, ready: Ready) {
        self.parts.counters.published.fetch_add(1, Ordering::Relaxed);
        if self.draining {
            return self.drop_batch(ready);
        }
        let items = self.parts.suspects.finished(&ready.claims);
        if !items.is_empty() {
            self.tell(Fate::Acked { items, bad: Vec::new(), urgent: true });
        }
        self.deliveries.publish(ready);
    }

    /// What no trainer gets: its claims and its slot go back.
    fn drop_batch(&mut self, ready: Ready) {
        let ranges = self.deliveries.give_up(ready);
        self.give_back(ranges);
    }

    fn give_back(&self, ranges: Vec<ReturnedRange>) {
        if !ranges.is_empty() {
            self.tell(Fate::Returned(ranges));
        }
    }

    fn tell(&self, fate: Fate) {
        // The ledger's task outlives this thread, but for a daemon that ends at once.
        self.parts.fates.send(fate).ok();
    }

    /// Waits for something to do: (consumers with a packet or hung up, consumers whose process has ended).
    fn wait(&self) -> (Vec<ConsumerId>, Vec<ConsumerId>) {
        let consumers: Vec<(&ConsumerId, &Consumer)> = self.consumers.iter().collect();
        let mut fds = vec![PollFd::new(self.inbox.bell(), PollFlags::IN)];
        let mut of: Vec<(ConsumerId, bool)> = Vec::new();
        for (id, consumer) in consumers {
            fds.push(PollFd::from_borrowed_fd(consumer.pidfd(), PollFlags::IN));
            of.push((*id, true));
            if let Some(socket) = consumer.socket() {
                fds.push(PollFd::from_borrowed_fd(socket.as_fd(), PollFlags::IN));
                of.push((*id, false));
            }
        }
        let timeout = rustix::time::Timespec { tv_sec: LOOK.as_secs().cast_signed(), tv_nsec: 0 };
        // EINTR and the like: the loop comes round again.
        let _woken = poll(&mut fds, Some(&timeout));
        let ready = fds[1..].iter().zip(of).filter(|(fd, _)| !fd.revents().is_empty());
        let (dead, readable): (Vec<_>, Vec<_>) = ready.map(|(_, who)| who).partition(|(_, is_pidfd)| *is_pidfd);
        let ids = |list: Vec<(ConsumerId, bool)>| list.into_iter().map(|(id, _)| id).collect();
        (ids(readable), ids(dead))
    }
}

#[cfg(test)]
mod tests;
