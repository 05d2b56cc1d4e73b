//! A stream's trainers and their packets: they attach, send receipts, call, and leave. A trainer that violates the
//! protocol is evicted.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use forebay_proto::v1::{ConsumerStatus, GroupStatus, MissedBatches, ReturnedRange};
use forebay_ring::{
    Ack, ClaimSum, ConsumerId, ConsumerState, Granted, GroupState, HeldBatch, Message, MessageKind, Missed, Number,
    Received, Sent, packet, text, text_code,
};
use rustix::event::{PollFd, PollFlags, poll};

use super::asked::Asked;
use super::attached::{Arrival, Consumer};
use super::claims::Receipts;
use super::condition::{self, Condition};
use super::deliveries::Deliveries;
use super::parts::{Counters, TrainerHooks};
use super::rings::{RingSet, pass};
use crate::clock::nanos;
use crate::stream_ring::StreamRing;

/// Packets taken from one consumer before the next has its turn.
const TURN: usize = 64;
/// Turns that take all that can wait in a socket: the kernel's buffer holds fewer than 300 packets.
const WAITING_TURNS: usize = 8;

/// A call that is still to be handed on.
type Call = (ConsumerId, u64, Asked);

/// The attached trainers, and the evicted ones whose processes still live.
pub(super) struct Readers {
    /// Names of the stream and of its run, for messages.
    stream: String,
    run: String,
    by_id: BTreeMap<ConsumerId, Consumer>,
    calls: Vec<Call>,
    hooks: TrainerHooks,
    counters: Arc<Counters>,
}

impl Readers {
    /// None yet.
    pub(super) fn new(stream: String, run: String, hooks: TrainerHooks, counters: Arc<Counters>) -> Self {
        Self { stream, run, by_id: BTreeMap::new(), calls: Vec::new(), hooks, counters }
    }

    /// Name of the stream, for messages.
    pub(super) fn stream(&self) -> &str {
        &self.stream
    }

    /// A trainer has come. If it is not let in, returns what it brought, to be given back.
    pub(super) fn attach(
        &mut self,
        mut arrival: Arrival,
        rings: &RingSet,
        condition: &Condition,
        deliveries: &mut Deliveries,
    ) -> Vec<ReturnedRange> {
        let (id, adopted) = (arrival.id, std::mem::take(&mut arrival.adopted));
        let notice = arrival.notice.take();
        let Some((consumer, told)) = self.let_in(arrival, rings, deliveries) else {
            (self.hooks.left)(id, self.open().count());
            // The daemon took the trainer's batches back from the ledger. No trainer holds them now.
            return deliveries.refuse(adopted.into_iter().flat_map(|resumed| resumed.claims));
        };
        tracing::info!(stream = self.stream, consumer = id.0, pid = consumer.pid(), "a trainer attached");
        self.by_id.insert(id, consumer);
        for resumed in adopted {
            deliveries.adopt(id, resumed);
        }
        // Unlike this trainer, those that were here already know of the epochs that ended after its welcome.
        for ended in told..deliveries.exchange().open() {
            self.send(id, &number(MessageKind::EpochEnd, ended), deliveries);
        }
        let finished = deliveries.done().map(|epochs| condition::finished(&self.run, epochs));
        for packet in notice.iter().chain(&finished).map(|words| condition::notice(words)).chain(condition.packets()) {
            self.send(id, &packet, deliveries);
        }
        if condition.failure().is_none() {
            self.tell_if_done(id, deliveries);
        }
        Vec::new()
    }

    /// Welcomes a trainer, and says in which epoch it begins; or sends it away with the reason.
    fn let_in(&self, mut arrival: Arrival, rings: &RingSet, deliveries: &mut Deliveries) -> Option<(Consumer, u64)> {
        let id = arrival.id;
        if let Some(reason) = self.looks_back(&arrival, deliveries) {
            arrival.refuse(text_code::BUSY, &reason);
            return None;
        }
        let (newest, ring) = rings.newest()?;
        let granted = match deliveries.attach(id, arrival.credits, arrival.membership.clone()) {
            Ok(Granted { credits, epoch }) => {
                // A late group may begin with the next epoch.
                arrival.info.epoch = arrival.info.epoch.max(epoch);
                deliveries.belongs_to(id, arrival.key.take());
                credits
            }
            Err(taken) => {
                arrival.refuse(text_code::BUSY, &taken.to_string());
                return None;
            }
        };
        let epoch = arrival.info.epoch;
        match arrival.welcome(granted, newest, ring) {
            Ok(consumer) => {
                // Batches may be left in older rings.
                for (number, ring) in rings.before(newest) {
                    pass(&consumer, number, ring);
                }
                Some((consumer, epoch))
            }
            Err(error) => {
                tracing::info!(%error, "a trainer left before it was welcomed");
                deliveries.gone(id);
                None
            }
        }
    }

    /// Why a process may not come again yet: it would take the ring away slot by slot, Loader by Loader.
    fn looks_back(&self, arrival: &Arrival, deliveries: &Deliveries) -> Option<String> {
        let pid = arrival.peer.pid();
        // A process of another PID namespace has no number here that tells it from others.
        let earlier = self.by_id.iter().filter(|(_, each)| !each.is_open() && !each.is_foreign() && each.pid() == pid);
        let watched: u32 = earlier.map(|(id, _)| deliveries.exchange().watched_by(*id)).sum();
        (watched > arrival.credits.max(1).saturating_mul(2)).then(|| {
            format!(
                "process {pid} still looks at {watched} batches of trainers of this stream that it closed; their slots \
                 are kept until it ends. Start it anew, and drop batches before their trainer (in Python: the Loader)"
            )
        })
    }

    /// Gives all of them a further ring.
    pub(super) fn pass(&self, number: u32, ring: &StreamRing) {
        for consumer in self.by_id.values() {
            pass(consumer, number, ring);
        }
    }

    /// Tells a trainer that the last epoch is over, if it is.
    pub(super) fn tell_if_done(&mut self, id: ConsumerId, deliveries: &mut Deliveries) {
        if let Some(epochs) = deliveries.done() {
            self.send(id, &number(MessageKind::Done, epochs), deliveries);
        }
    }

    // What they say.

    /// Waits for something to do, also for the bell, and no longer than so long: (those with a packet or that hung up,
    /// those whose process has ended).
    pub(super) fn wait(&self, bell: &OwnedFd, longest: Duration) -> (Vec<ConsumerId>, Vec<ConsumerId>) {
        let mut fds = vec![PollFd::new(bell, PollFlags::IN)];
        let mut of: Vec<(ConsumerId, bool)> = Vec::new();
        for (id, consumer) in &self.by_id {
            fds.push(PollFd::from_borrowed_fd(consumer.pidfd(), PollFlags::IN));
            of.push((*id, true));
            if let Some(socket) = consumer.socket() {
                fds.push(PollFd::from_borrowed_fd(socket.as_fd(), PollFlags::IN));
                of.push((*id, false));
            }
        }
        let timeout = rustix::time::Timespec { tv_sec: longest.as_secs().cast_signed(), tv_nsec: 0 };
        // EINTR and the like: the loop comes round again.
        let _woken = poll(&mut fds, Some(&timeout));
        let ready = fds[1..].iter().zip(of).filter(|(fd, _)| !fd.revents().is_empty());
        let (dead, readable): (Vec<_>, Vec<_>) = ready.map(|(_, who)| who).partition(|(_, is_pidfd)| *is_pidfd);
        let ids = |list: Vec<(ConsumerId, bool)>| list.into_iter().map(|(id, _)| id).collect();
        (ids(readable), ids(dead))
    }

    /// Takes what a consumer sent. True when there may be more.
    pub(super) fn receive(&mut self, id: ConsumerId, buffer: &mut [u8], deliveries: &mut Deliveries) -> bool {
        for _ in 0..TURN {
            let Some(consumer) = self.by_id.get(&id) else { return false };
            match consumer.receive(buffer) {
                Ok(Received::Packet { len, fds }) => {
                    let parsed = Message::from_trainer(&buffer[..len], fds);
                    match parsed {
                        Ok(message) => self.message(id, message, deliveries),
                        Err(error) => self.evict(id, &error.to_string(), deliveries),
                    }
                }
                Ok(Received::WouldBlock) => return false,
                Ok(Received::Closed) => {
                    self.hang_up(id, deliveries);
                    return false;
                }
                Err(error) => {
                    self.evict(id, &error.to_string(), deliveries);
                    return false;
                }
            }
        }
        true
    }

    fn message(&mut self, id: ConsumerId, message: Message<'_>, deliveries: &mut Deliveries) {
        match message {
            Message::Ack { head, sums } => self.ack(id, &head, &sums, deliveries),
            Message::Release(release) => {
                deliveries.release(id, HeldBatch::from(&release), release.returned != 0);
            }
            Message::Credit(more) => deliveries.credit(id, more),
            Message::Deadline(known) => {
                if let Some(later) = deliveries.deadline.beyond(id, known) {
                    self.send(id, &number(MessageKind::Deadline, later), deliveries);
                }
            }
            Message::Call(call, body) => {
                let may = self.by_id.get_mut(&id).is_some_and(Consumer::calls);
                match Asked::take(body) {
                    Ok(asked) if may => self.calls.push((id, call, asked)),
                    Ok(_) => self.evict(id, "it sends calls without waiting for their answers", deliveries),
                    Err(error) => self.evict(id, &error.to_string(), deliveries),
                }
            }
            Message::Waited(time) => {
                let counted = self.by_id.get_mut(&id).map(|consumer| consumer.waits(Duration::from_nanos(time)));
                self.counters.waited.fetch_add(counted.map_or(0, nanos), Ordering::Relaxed);
            }
            Message::Bye => {
                self.leave(id);
                deliveries.bye(id);
            }
            _ => self.evict(id, "a trainer does not send this kind of message", deliveries),
        }
    }

    /// An ACK, and the RELEASE and the CREDIT that it may have with it.
    fn ack(&mut self, id: ConsumerId, head: &Ack, sums: &[ClaimSum], deliveries: &mut Deliveries) {
        match deliveries.ack(id, head, sums) {
            Receipts::Partial | Receipts::Whole => {}
            Receipts::Differ => {
                let (batch, pid, words) = (head.seq, self.pid(id), "groups have seen different records of a batch");
                tracing::error!(stream = self.stream, batch, pid, "{words}; the audit will not add up");
            }
            Receipts::Wrong => return self.evict(id, "an ACK's sums do not fit the batch's claims", deliveries),
        }
        if head.freed != 0 {
            deliveries.release(id, HeldBatch::from(head), false);
        }
        if head.more > 0 {
            deliveries.credit(id, head.more.into());
        }
    }

    /// Takes the packets that wait in the sockets, and returns the calls that were made by then, if there are any.
    pub(super) fn called(&mut self, buffer: &mut [u8], deliveries: &mut Deliveries) -> Vec<Call> {
        let calls = std::mem::take(&mut self.calls);
        if !calls.is_empty() {
            for id in self.ids() {
                // A consumer that sends without end must not keep the others waiting.
                let mut turns = 0..WAITING_TURNS;
                while turns.next().is_some() && self.receive(id, buffer, deliveries) {}
            }
        }
        calls
    }

    /// Has calls answered.
    pub(super) fn hand_on(&self, calls: Vec<Call>) {
        for (id, call, asked) in calls {
            (self.hooks.calls)(id, call, asked);
        }
    }

    /// Takes everything that a consumer sent up to now. Nothing that it sends later counts.
    pub(super) fn last_words(&mut self, id: ConsumerId, buffer: &mut [u8], deliveries: &mut Deliveries) {
        if let Some(consumer) = self.by_id.get(&id) {
            // After this, not even a forked child can send, so the loop below ends.
            consumer.shut_down();
        }
        while self.receive(id, buffer, deliveries) {}
    }

    // How they leave.

    /// The consumer has hung up, or has to; its process may live on and look at its slots.
    fn hang_up(&mut self, id: ConsumerId, deliveries: &mut Deliveries) {
        self.leave(id);
        deliveries.evict(id);
    }

    /// The consumer looks at nothing any more: its process has ended.
    pub(super) fn gone(&mut self, id: ConsumerId, deliveries: &mut Deliveries) {
        self.leave(id);
        deliveries.gone(id);
    }

    /// Nothing is known of the consumer any more.
    pub(super) fn forget(&mut self, id: ConsumerId) {
        self.by_id.remove(&id);
    }

    fn leave(&mut self, id: ConsumerId) {
        if let Some(consumer) = self.by_id.get_mut(&id).filter(|consumer| consumer.is_open()) {
            consumer.close();
            tracing::info!(stream = self.stream, consumer = id.0, pid = consumer.pid(), "a trainer left");
            (self.hooks.left)(id, self.open().count());
        }
    }

    /// Evicts a consumer that violates the protocol.
    pub(super) fn evict(&mut self, id: ConsumerId, reason: &str, deliveries: &mut Deliveries) {
        if let Some(consumer) = self.by_id.get_mut(&id) {
            tracing::warn!(stream = self.stream, consumer = id.0, pid = consumer.pid(), reason, "evicted");
            // A full queue is one of the reasons for an eviction.
            let _sent = consumer.send(&text(MessageKind::Evict, text_code::OTHER, reason), &[]);
            self.hang_up(id, deliveries);
        }
    }

    // What they are told.

    /// Sends one a packet.
    pub(super) fn send(&mut self, id: ConsumerId, packet: &[u8], deliveries: &mut Deliveries) {
        let sent = self.by_id.get_mut(&id).map(|consumer| consumer.send(packet, &[]));
        if sent == Some(Sent::WouldBlock) {
            // Hundreds of packets fit. A trainer that does not take them is stuck or hostile.
            self.evict(id, "it does not take its messages", deliveries);
        }
    }

    /// Answers a call.
    pub(super) fn answer(&mut self, id: ConsumerId, call: u64, reply: &[u8], deliveries: &mut Deliveries) {
        if self.by_id.get_mut(&id).map(|each| each.answer(call, reply)) == Some(Sent::WouldBlock) {
            self.evict(id, "it does not take its messages", deliveries);
        }
    }

    /// Sends all of them a packet.
    pub(super) fn send_all(&mut self, packet: &[u8], deliveries: &mut Deliveries) {
        for id in self.ids() {
            self.send(id, packet, deliveries);
        }
    }

    /// Tells the trainers of a group, and the log, what the group has missed.
    pub(super) fn tell_missed(&mut self, missed: &MissedBatches, trainers: &[ConsumerId], deliveries: &mut Deliveries) {
        let MissedBatches { group, epoch, from, to, records } = missed;
        let words = "a group has missed batches that others consumed before the daemon ended";
        tracing::warn!(stream = self.stream, group, epoch, from, to, records, "{words}");
        let (epoch, from, to, records) = (*epoch, *from, *to, *records);
        let packet = packet(&Missed { kind: MessageKind::Missed as u32, reserved: 0, epoch, from, to, records }, &[]);
        for id in trainers {
            self.send(*id, &packet, deliveries);
        }
    }

    // Who they are.

    /// All of them.
    pub(super) fn ids(&self) -> Vec<ConsumerId> {
        self.by_id.keys().copied().collect()
    }

    /// Those that can be talked to.
    pub(super) fn open(&self) -> impl Iterator<Item = ConsumerId> + '_ {
        self.by_id.iter().filter(|(_, consumer)| consumer.is_open()).map(|(id, _)| *id)
    }

    /// The process of one, for people.
    pub(super) fn pid(&self, id: ConsumerId) -> u32 {
        self.by_id.get(&id).map_or(0, Consumer::pid)
    }

    /// How one is, for the status page.
    pub(super) fn status(&self, state: &ConsumerState) -> ConsumerStatus {
        ConsumerStatus {
            id: state.id.0,
            pid: self.pid(state.id),
            uid: self.by_id.get(&state.id).map_or(0, Consumer::uid),
            held: state.held,
            delivered: state.delivered,
            group: self.by_id.get(&state.id).and_then(Consumer::group).unwrap_or_default().to_owned(),
            foreign: self.by_id.get(&state.id).is_some_and(Consumer::is_foreign),
        }
    }

    /// How a group is, for the status page.
    pub(super) fn group_status(&self, state: GroupState) -> GroupStatus {
        let GroupState { name, members, delivered, behind, .. } = state;
        let pids = members.into_iter().map(|id| self.pid(id)).collect();
        GroupStatus { name: name.unwrap_or_default(), pids, delivered, behind }
    }
}

/// A message that is one number.
pub(super) fn number(kind: MessageKind, value: u64) -> Vec<u8> {
    packet(&Number { kind: kind as u32, reserved: 0, value }, &[])
}
