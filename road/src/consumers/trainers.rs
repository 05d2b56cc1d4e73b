//! What trainers say and are told: they attach, hand receipts in, call, and leave.

use forebay_proto::v1::Cause;
use forebay_ring::{BatchId, ConsumerId, HeldBatch, Message, MessageKind, Received, Sent, text, text_code};

use super::RingThread;
use super::act::number;
use super::asked::Asked;
use super::attached::{Arrival, Consumer};
use super::claims::ranges;
use super::rings::pass;

/// Packets taken from one consumer before the next has its turn.
const TURN: usize = 64;
/// Turns that take all that can wait in a socket: the kernel's buffer holds fewer than 300 packets.
const WAITING_TURNS: usize = 8;

impl RingThread {
    pub(super) fn attach(&mut self, mut arrival: Arrival) {
        let (id, told, adopted) = (arrival.id, arrival.epoch, std::mem::take(&mut arrival.adopted));
        let Some(consumer) = self.let_in(arrival) else {
            // What it holds was taken back for it, and is nobody's now.
            let held = adopted.into_iter().flat_map(|(_, _, claims)| claims);
            self.give_back(ranges(held, Cause::TrainerEnded));
            return (self.parts.left)(id, self.open());
        };
        tracing::info!(stream = self.parts.stream, consumer = id.0, pid = consumer.pid(), "a trainer attached");
        self.consumers.insert(id, consumer);
        for (seq, epoch, claims) in adopted {
            self.deliveries.adopt(id, BatchId { seq, epoch }, claims);
        }
        // Ends since it was said which epoch the stream is in were told to those who were here.
        for ended in told..self.deliveries.exchange().open() {
            self.send(id, &number(MessageKind::EpochEnd, ended));
        }
        let waits = self.storage.iter().chain(&self.ledger);
        let waits: Vec<_> = waits.map(|words| text(MessageKind::Notice, text_code::OTHER, words)).collect();
        for packet in waits {
            self.send(id, &packet);
        }
        if let Some((code, reason)) = &self.failure {
            let packet = text(MessageKind::Failed, *code, reason);
            self.send(id, &packet);
        } else {
            self.tell_if_done(id);
        }
    }

    /// Welcomes a trainer, or sends it away with the reason.
    fn let_in(&mut self, arrival: Arrival) -> Option<Consumer> {
        let id = arrival.id;
        if let Some(reason) = self.looks_back(&arrival) {
            arrival.refuse(text_code::BUSY, &reason);
            return None;
        }
        let (newest, newest_ring) = self.rings.last_key_value()?;
        let granted = match self.deliveries.attach(id, arrival.credits) {
            Ok(granted) => granted,
            Err(taken) => {
                arrival.refuse(text_code::BUSY, &taken.to_string());
                return None;
            }
        };
        match arrival.welcome(granted, *newest, newest_ring) {
            Ok(consumer) => {
                // Batches may be left in older rings.
                for (number, ring) in self.rings.range(..newest) {
                    pass(&consumer, *number, ring);
                }
                Some(consumer)
            }
            Err(error) => {
                tracing::info!(%error, "a trainer left before it was welcomed");
                self.deliveries.gone(id);
                None
            }
        }
    }

    /// Why a process may not come again yet: it would take the ring away slot by slot, Loader by Loader.
    fn looks_back(&self, arrival: &Arrival) -> Option<String> {
        let pid = arrival.peer.pid();
        // A process of another PID namespace has no number here that tells it from others.
        let earlier = self.consumers.iter().filter(|(_, each)| !each.is_open() && pid != 0 && each.pid() == pid);
        let watched: u32 = earlier.map(|(id, _)| self.deliveries.exchange().watched_by(*id)).sum();
        (watched > arrival.credits.max(1).saturating_mul(2)).then(|| {
            format!(
                "process {pid} still looks at {watched} batches of Loaders of this stream that it closed; their slots \
                 are kept until it ends. Start it anew, and drop a Loader's arrays before the Loader"
            )
        })
    }

    pub(super) fn tell_if_done(&mut self, id: ConsumerId) {
        if let Some(epochs) = self.deliveries.done() {
            self.send(id, &number(MessageKind::Done, epochs));
        }
    }

    /// Takes what a consumer sent. True when there may be more.
    pub(super) fn receive(&mut self, id: ConsumerId, buffer: &mut [u8]) -> bool {
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
                if !self.deliveries.ack(id, &head, &sums) {
                    self.evict(id, "an ACK's sums do not fit the batch's claims");
                }
            }
            Message::Release(release) => {
                self.deliveries.release(id, HeldBatch::from(&release), release.returned != 0);
            }
            Message::Credit(more) => self.deliveries.credit(id, more),
            Message::Call(call, body) => {
                let may = self.consumers.get_mut(&id).is_some_and(Consumer::calls);
                match Asked::take(body) {
                    Ok(asked) if may => self.calls.push((id, call, asked)),
                    Ok(_) => self.evict(id, "it asks on and on without waiting for answers, which come one by one"),
                    Err(reason) => self.evict(id, &reason),
                }
            }
            Message::Bye => {
                self.leave(id);
                self.deliveries.bye(id);
            }
            _ => self.evict(id, "a trainer does not send this kind of message"),
        }
    }

    /// Hands on what consumers asked. What any consumer sent before a call counts in its answer, whichever of the sockets
    /// was looked at first: it is taken, and its receipts go to the ledger, before the call does.
    pub(super) fn hand_on_calls(&mut self, buffer: &mut [u8]) {
        while !self.calls.is_empty() {
            let calls = std::mem::take(&mut self.calls);
            let ids: Vec<_> = self.consumers.keys().copied().collect();
            for id in ids {
                // One that sends without end keeps nobody waiting.
                let mut turns = 0..WAITING_TURNS;
                while turns.next().is_some() && self.receive(id, buffer) {}
            }
            self.act();
            for (id, call, asked) in calls {
                (self.parts.calls)(id, call, asked);
            }
        }
    }

    /// Takes everything that a consumer sent up to now, when nothing more of it counts.
    pub(super) fn last_words(&mut self, id: ConsumerId, buffer: &mut [u8]) {
        if let Some(consumer) = self.consumers.get(&id) {
            // Nothing comes after this, also not of a forked child: there is an end to what is to be taken.
            consumer.shut_down();
        }
        while self.receive(id, buffer) {}
    }

    /// The consumer has hung up, or has to; its process may live on and look at its slots.
    pub(super) fn put_out(&mut self, id: ConsumerId) {
        self.leave(id);
        self.deliveries.put_out(id);
    }

    /// The consumer looks at nothing any more: its process has ended.
    pub(super) fn gone(&mut self, id: ConsumerId) {
        self.leave(id);
        self.deliveries.gone(id);
    }

    fn leave(&mut self, id: ConsumerId) {
        if let Some(consumer) = self.consumers.get_mut(&id).filter(|consumer| consumer.is_open()) {
            consumer.close();
            tracing::info!(stream = self.parts.stream, consumer = id.0, pid = consumer.pid(), "a trainer left");
            (self.parts.left)(id, self.open());
        }
    }

    fn open(&self) -> usize {
        self.consumers.values().filter(|consumer| consumer.is_open()).count()
    }

    pub(super) fn evict(&mut self, id: ConsumerId, reason: &str) {
        if let Some(consumer) = self.consumers.get_mut(&id) {
            tracing::warn!(stream = self.parts.stream, consumer = id.0, pid = consumer.pid(), reason, "evicted");
            // A full queue is one of the reasons why it is put out.
            let _sent = consumer.send(&text(MessageKind::Evict, text_code::OTHER, reason), &[]);
            self.put_out(id);
        }
    }

    pub(super) fn send(&mut self, id: ConsumerId, packet: &[u8]) {
        let sent = self.consumers.get_mut(&id).map(|consumer| consumer.send(packet, &[]));
        if sent == Some(Sent::WouldBlock) {
            // Hundreds of packets fit: who does not take them is stuck or hostile.
            self.evict(id, "it does not take its messages");
        }
    }

    pub(super) fn send_answer(&mut self, id: ConsumerId, call: u64, reply: &[u8]) {
        if self.consumers.get_mut(&id).map(|each| each.answer(call, reply)) == Some(Sent::WouldBlock) {
            self.evict(id, "it does not take its messages");
        }
    }

    pub(super) fn send_all(&mut self, packet: &[u8]) {
        let ids: Vec<_> = self.consumers.keys().copied().collect();
        for id in ids {
            self.send(id, packet);
        }
    }

    /// Nothing more comes before a restore or a reset mends it.
    pub(super) fn fail(&mut self, code: u32, reason: String) {
        tracing::error!(stream = self.parts.stream, reason, "the stream has failed");
        self.send_all(&text(MessageKind::Failed, code, &reason));
        self.failure.get_or_insert((code, reason));
    }
}
