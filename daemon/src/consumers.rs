//! The ring's thread of one stream: sockets and deaths come in, offers go out.
//!
//! [`Exchange`] decides; this thread does what it says. It is the only one that knows which slot is where: batches
//! come to it as rights to slots, and free slots leave it as rights. It never waits for anybody but the kernel.

mod attached;
mod claims;
mod epoch_end;
mod inbox;
mod status;

use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel as channel;
use forebay_proto::v1::{CallRequest, LeasedRange};
use forebay_ring::{
    Action, Adopted, Batch, Body, Bulk, ConsumerId, Exchange, Held, Kind, Message, NewRing, Number, Offer, PACKET_LEN,
    Receipt, Received, Region, Sent, SlotId, SlotMut, packet, text, text_code,
};
use prost::Message as _;
use rustix::event::{PollFd, PollFlags, poll};

use crate::ack::{Fate, Fates};
use crate::batch::Output;
use crate::publish::Ready;
pub use attached::Arrival;
use attached::Consumer;
use claims::{Claims, Receipts};
use epoch_end::EpochEnd;
pub use inbox::{Inbox, Note, Outbox, inbox};
pub use status::RingStatus;

/// What the thread works with.
pub struct Parts {
    /// Name of the stream, for messages.
    pub stream: String,
    /// Makes a further ring, by its number.
    pub further: Box<dyn Fn(u32) -> Result<Region, String> + Send>,
    /// Rights to free slots, for the batch thread.
    pub free: channel::Sender<SlotMut>,
    /// Receipts, for the ledger.
    pub fates: Fates,
    /// Calls of consumers; answers come back as [`Note::Answer`].
    pub calls: Box<dyn Fn(ConsumerId, u64, CallRequest) + Send>,
    /// Told when a consumer has left, or was not let in, with how many are left.
    pub left: Box<dyn Fn(ConsumerId, usize) + Send>,
    /// First epoch that is not complete.
    pub epoch: u64,
    /// Epochs in all, without end if nothing.
    pub epochs: Option<u64>,
    /// An epoch is over only when its last batches, which may hold nothing but copies, are delivered as well.
    pub fixed: bool,
    /// How long an epoch's end may wait for a held batch.
    pub epoch_end_timeout: Duration,
    /// What is counted.
    pub counters: Arc<Counters>,
}

/// What the ring's thread counts, for metrics.
#[derive(Debug, Default)]
pub struct Counters {
    /// Batches that were published.
    pub published: AtomicU64,
    /// Batches that were offered again.
    pub redelivered: AtomicU64,
    /// Records whose batch was consumed.
    pub delivered: AtomicU64,
}

/// The thread's state.
pub struct Consumers {
    parts: Parts,
    inbox: Inbox,
    exchange: Exchange,
    regions: BTreeMap<u32, Region>,
    populate: channel::Sender<(SlotId, Region)>,
    consumers: BTreeMap<ConsumerId, Consumer>,
    /// Published batches that are not acked, by number.
    claims: Claims,
    end: EpochEnd,
    failure: Option<String>,
}

/// How often the end of an epoch is looked at.
const LOOK: Duration = Duration::from_secs(1);
/// Packets taken from one consumer before the next has its turn.
const TURN: usize = 64;
/// Bytes of a call's protobuf: a snapshot of a ledger with very many open ranges is the longest.
const CALL_LIMIT: u64 = 64 << 20;

impl Consumers {
    /// Starts the thread with the first ring; it ends when the inbox says so or is dropped.
    pub fn start(parts: Parts, first: Region, inbox: Inbox, outbox: &Outbox) -> std::io::Result<()> {
        let populate = populate(outbox.clone())?;
        let mut state = Self {
            exchange: Exchange::new(parts.epoch),
            end: EpochEnd::new(parts.epoch, parts.epochs, parts.fixed, parts.epoch_end_timeout),
            parts,
            inbox,
            regions: BTreeMap::new(),
            populate,
            consumers: BTreeMap::new(),
            claims: Claims::default(),
            failure: None,
        };
        std::thread::Builder::new().name("forebay-ring".into()).spawn(move || {
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
                Some(notes) => notes.into_iter().for_each(|note| self.note(note)),
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
                while self.receive(id, &mut buffer) {}
                self.leave(id);
                self.exchange.exited(id);
                self.act();
            }
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
            Note::Batch(Output::Unused(slot)) => self.hand_out(slot),
            Note::Batch(Output::Finished(epoch)) => self.end.finished(epoch),
            Note::Batch(Output::Failed(reason)) | Note::Failed(reason) => self.fail(reason),
            Note::Populated(slot, Ok(())) => self.exchange.populated(slot),
            Note::Populated(_, Err(error)) => self.fail(error.to_string()),
            Note::Attach(arrival) => self.attach(*arrival),
            Note::Progress(progress) => self.end.heard(progress),
            Note::Answer { consumer, id, reply } => self.send_answer(consumer, id, &reply),
            Note::DropReady { epoch, done } => {
                self.exchange.drop_ready();
                self.act();
                self.claims.clear();
                self.exchange.restart_at(epoch);
                self.end.reopen(epoch);
                done.send(()).ok();
            }
            // The inbox ends at it.
            Note::Close => {}
            Note::Status(reply) => {
                reply.send(self.status()).ok();
            }
        }
    }

    // Slots.

    fn add_ring(&mut self, ring: u32, region: Region) {
        let slots = region.geometry().slots();
        self.exchange.add_ring(ring, slots);
        for slot in 0..slots {
            // The thread that populates lives as long as this one.
            self.populate.send((SlotId { ring, slot }, region.clone())).ok();
        }
        let news = packet(&NewRing { kind: Kind::Ring as u32, ring }, &[]);
        if ring > 0 {
            for consumer in self.consumers.values() {
                // One that does not take it is evicted at its next message, or has hung up.
                let _sent = consumer.send(&news, &[region.fd()]);
            }
        }
        self.regions.insert(ring, region);
    }

    fn claim_free(&mut self) {
        while let Some(slot) = self.exchange.claim(self.exchange.open()) {
            let right = self.regions.get(&slot.ring).map(|region| region.slot(slot.slot));
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
        let Ready { slot, seq, epoch, shown, valid, claims } = ready;
        let place = SlotId { ring: slot.ring(), slot: slot.index() };
        // From here on the slot is read, and written by nobody.
        drop(slot);
        self.claims.published(seq, epoch, shown, valid, claims);
        self.parts.counters.published.fetch_add(1, Ordering::Relaxed);
        self.exchange.publish(place, Batch { seq, epoch });
    }

    // Consumers.

    fn attach(&mut self, arrival: Arrival) {
        let id = arrival.id;
        let granted = match self.exchange.attach(id, arrival.credits) {
            Ok(granted) => granted,
            Err(taken) => {
                arrival.refuse(text_code::BUSY, &taken.to_string());
                return (self.parts.left)(id, self.open());
            }
        };
        let Some((newest, region)) = self.regions.last_key_value() else { return };
        let (adopted, consumer) = match arrival.welcome(granted, *newest, region) {
            Ok(parts) => parts,
            Err(error) => {
                tracing::info!(%error, "a trainer left before it was welcomed");
                self.exchange.exited(id);
                return (self.parts.left)(id, self.open());
            }
        };
        tracing::info!(stream = self.parts.stream, consumer = id.0, pid = consumer.pid(), "a trainer attached");
        self.consumers.insert(id, consumer);
        for (seq, epoch, claims) in adopted {
            self.exchange.adopt(id, Batch { seq, epoch });
            self.claims.adopted(id, seq, epoch, claims);
        }
        if let Some(reason) = &self.failure {
            let packet = text(Kind::Failed, text_code::RECORD, reason);
            self.send(id, &packet);
        } else if let Some(epochs) = self.end.done() {
            self.send(id, &number(Kind::Done, epochs));
        }
    }

    /// Takes what a consumer sent. True when there may be more.
    fn receive(&mut self, id: ConsumerId, buffer: &mut [u8]) -> bool {
        for _ in 0..TURN {
            let Some(consumer) = self.consumers.get(&id) else { return false };
            match consumer.receive(buffer) {
                Ok(Received::Packet { len, fds }) => {
                    let parsed = Message::parse(&buffer[..len], fds);
                    match parsed {
                        Ok(message) => self.message(id, message),
                        Err(error) => self.evict(id, &error.to_string()),
                    }
                }
                Ok(Received::WouldBlock) => return false,
                Ok(Received::Closed) => {
                    self.put_out(id);
                    return false;
                }
                Err(error) => {
                    self.evict(id, &error.to_string());
                    return false;
                }
            }
        }
        true
    }

    fn message(&mut self, id: ConsumerId, message: Message<'_>) {
        match message {
            Message::Ack { head, sums } => {
                let receipt = Receipt::from(&head);
                if !self.exchange.awaits(id, receipt) {
                    self.exchange.ack(id, receipt);
                    return;
                }
                match self.claims.sums(id, &head, &sums) {
                    Receipts::Partial => {}
                    Receipts::Whole => {
                        self.exchange.ack(id, receipt);
                    }
                    Receipts::Wrong => self.evict(id, "an ACK's sums do not fit the batch's claims"),
                }
            }
            Message::Release(release) => {
                self.exchange.release(id, Receipt::from(&release), release.returned != 0);
            }
            Message::Credit(more) => self.exchange.credit(id, more),
            Message::Call(call, body) => match request(body) {
                Ok(request) => (self.parts.calls)(id, call, request),
                Err(reason) => self.evict(id, &reason),
            },
            Message::Bye => self.put_out(id),
            _ => self.evict(id, "a trainer does not send this kind of message"),
        }
    }

    /// The consumer has hung up, or has to; its process may live on and look at its slots.
    fn put_out(&mut self, id: ConsumerId) {
        self.leave(id);
        self.exchange.put_out(id);
    }

    fn leave(&mut self, id: ConsumerId) {
        if let Some(consumer) = self.consumers.get_mut(&id).filter(|consumer| consumer.is_open()) {
            consumer.close();
            (self.parts.left)(id, self.open());
        }
    }

    fn open(&self) -> usize {
        self.consumers.values().filter(|consumer| consumer.is_open()).count()
    }

    fn evict(&mut self, id: ConsumerId, reason: &str) {
        if let Some(consumer) = self.consumers.get_mut(&id) {
            tracing::warn!(stream = self.parts.stream, consumer = id.0, pid = consumer.pid(), reason, "evicted");
            // A full queue is one of the reasons why it is put out.
            let _sent = consumer.send(&text(Kind::Evict, text_code::OTHER, reason), &[]);
            self.put_out(id);
        }
    }

    fn send(&mut self, id: ConsumerId, packet: &[u8]) {
        let sent = self.consumers.get_mut(&id).map(|consumer| consumer.send(packet, &[]));
        if sent == Some(Sent::WouldBlock) {
            // Hundreds of packets fit: who does not take them is stuck or hostile.
            self.evict(id, "it does not take its messages");
        }
    }

    fn send_answer(&mut self, id: ConsumerId, call: u64, reply: &[u8]) {
        if self.consumers.get(&id).map(|each| each.answer(call, reply)) == Some(Sent::WouldBlock) {
            self.evict(id, "it does not take its messages");
        }
    }

    fn fail(&mut self, reason: String) {
        tracing::error!(stream = self.parts.stream, reason, "the stream has failed");
        let packet = text(Kind::Failed, text_code::RECORD, &reason);
        let ids: Vec<_> = self.consumers.keys().copied().collect();
        ids.into_iter().for_each(|id| self.send(id, &packet));
        self.failure.get_or_insert(reason);
    }

    // What the exchange decided.

    fn act(&mut self) {
        loop {
            let actions: Vec<Action> = self.exchange.drain().collect();
            if actions.is_empty() {
                return self.advance();
            }
            for action in actions {
                self.do_one(action);
            }
        }
    }

    fn do_one(&mut self, action: Action) {
        match action {
            Action::Offer { consumer, slot, batch, generation, redelivered } => {
                let Some(known) = self.claims.get(batch.seq) else { return };
                self.parts.counters.redelivered.fetch_add(u64::from(redelivered > 0), Ordering::Relaxed);
                let offer = Offer {
                    kind: Kind::Offer as u32,
                    ring: slot.ring,
                    seq: batch.seq,
                    generation,
                    epoch: batch.epoch,
                    slot: slot.slot,
                    shown: known.shown,
                    valid: known.valid,
                    claims: known.len(),
                    redelivered,
                    reserved: 0,
                    deadline: u64::MAX,
                };
                self.send(consumer, &packet(&offer, &[]));
            }
            Action::Acked { consumer, batch } => {
                let items = self.claims.acked(consumer, batch);
                let records = items.iter().map(|item| item.count).sum();
                self.parts.counters.delivered.fetch_add(records, Ordering::Relaxed);
                let urgent = self.claims.undelivered(batch.epoch) == 0;
                self.tell(Fate::Acked { items, urgent });
            }
            Action::Dropped(batch) => {
                let ranges = self.claims.dropped(batch.seq);
                self.give_back(ranges);
            }
            Action::Orphaned(Adopted { consumer, batch }) => {
                let ranges = self.claims.orphaned(consumer, batch);
                self.give_back(ranges);
            }
            Action::Free(_) => self.claim_free(),
            Action::EpochEnd { consumer, epoch } => self.send(consumer, &number(Kind::EpochEnd, epoch)),
            Action::Gone(consumer) => {
                self.consumers.remove(&consumer);
            }
            Action::RingEmpty(ring) => {
                self.regions.remove(&ring);
            }
        }
    }

    /// Opens the next epoch when the current one is over, and says when the last one is.
    fn advance(&mut self) {
        let open = self.exchange.open();
        if self.claims.undelivered(open) == 0 && self.end.is_over(open) {
            self.exchange.open_epoch(open + 1);
            self.act();
            if let Some(epochs) = self.end.just_done() {
                let ids: Vec<_> = self.consumers.keys().copied().collect();
                ids.into_iter().for_each(|id| self.send(id, &number(Kind::Done, epochs)));
            }
        }
    }

    /// What time brings: an epoch that waits for a holder, a ring whose slots are stuck.
    fn look(&mut self) {
        let open = self.exchange.open();
        let holders = self.exchange.holders(open);
        let waiting: Vec<ConsumerId> = if self.end.only_held_left(open) && self.claims.ready(open) == 0 {
            let holds = |id: &ConsumerId| holders.iter().any(|holder| holder.consumer == *id);
            self.consumers.iter().filter(|(id, each)| each.is_open() && !holds(id)).map(|(id, _)| *id).collect()
        } else {
            Vec::new()
        };
        let waits = !waiting.is_empty() && !holders.is_empty();
        if let Some((for_how_long, expired)) = self.end.waits(waits, Instant::now())
            && let Some(holder) = holders.first()
        {
            let pid = self.consumers.get(&holder.consumer).map_or(0, Consumer::pid);
            tracing::warn!(
                stream = self.parts.stream,
                epoch = open,
                pid,
                batch = holder.seq,
                seconds = for_how_long.as_secs(),
                "the epoch's end waits for a batch that a trainer holds"
            );
            let held = Held {
                kind: Kind::Held as u32,
                pid,
                epoch: open,
                seq: holder.seq,
                for_ms: u64::try_from(for_how_long.as_millis()).unwrap_or(u64::MAX),
                expired: u32::from(expired),
                reserved: 0,
            };
            waiting.into_iter().for_each(|id| self.send(id, &packet(&held, &[])));
        }
        if self.failure.is_none() && self.exchange.counts().unpopulated == 0 && self.exchange.usable() < 2 {
            let ring = self.regions.last_key_value().map_or(0, |(ring, _)| ring + 1);
            match (self.parts.further)(ring) {
                Ok(region) => {
                    tracing::warn!(
                        stream = self.parts.stream,
                        ring,
                        "slots are held for ever; a further ring is opened"
                    );
                    let older: Vec<u32> = self.regions.keys().copied().collect();
                    self.add_ring(ring, region);
                    older.into_iter().for_each(|ring| self.exchange.retire_ring(ring));
                }
                Err(reason) => self.fail(reason),
            }
        }
    }

    fn give_back(&self, ranges: Vec<LeasedRange>) {
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

fn number(kind: Kind, value: u64) -> Vec<u8> {
    packet(&Number { kind: kind as u32, reserved: 0, value }, &[])
}

/// Reads a call's protobuf, from the packet or beside it.
fn request(body: Body<'_>) -> Result<CallRequest, String> {
    match body {
        Body::Inline(bytes) => CallRequest::decode(bytes).map_err(|error| error.to_string()),
        Body::Bulk(fd) => {
            let bytes = Bulk::accept(fd).and_then(|bulk| bulk.read(CALL_LIMIT)).map_err(|error| error.to_string())?;
            CallRequest::decode(&bytes[..]).map_err(|error| error.to_string())
        }
    }
}

/// A thread that takes the slots' memory from the kernel, one by one: the first batch need not wait for the last slot.
fn populate(outbox: Outbox) -> std::io::Result<channel::Sender<(SlotId, Region)>> {
    let (sender, work) = channel::unbounded::<(SlotId, Region)>();
    std::thread::Builder::new().name("forebay-populate".into()).spawn(move || {
        for (slot, region) in work {
            let populated = region.populate(slot.slot);
            outbox.post(Note::Populated(slot, populated));
        }
    })?;
    Ok(sender)
}
