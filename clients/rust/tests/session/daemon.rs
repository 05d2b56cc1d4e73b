//! A daemon for tests: it plays the daemon's part of the protocol on the ring crate's own memory, sockets and
//! exchange, over records that are numbers. It dies and misbehaves on command.
//!
//! A lease is one batch: its id says epoch and first record, so that a later incarnation understands the hand-in of
//! an earlier one without a ledger on disk.

mod attach;
mod calls;
mod plan;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::JoinHandle;

use forebay_proto::{RecordSum, v1};
use forebay_ring::{
    Action, BatchId, Claim, ConsumerId, Dtype, Exchange, Geometry, HeldBatch, Layout, Listener, Message, MessageKind,
    Number, Offer, PACKET_LEN, PictureSize, Received, Region, ResumedClaim, Sent, Shape, SlotId, Socket, packet,
};
use parking_lot::Mutex;

pub(crate) use plan::Plan;

/// What it saw, over all its incarnations.
#[derive(Debug, Default)]
pub(crate) struct Log {
    /// Records by epoch, in the order of their receipts.
    pub(crate) delivered: BTreeMap<u64, Vec<u64>>,
    /// Receipts whose sum was not that of the claim's records.
    pub(crate) wrong_sums: usize,
    pub(crate) releases: Vec<(u64, bool)>,
    /// Deadlines beyond which trainers have asked for a later one.
    pub(crate) asked_beyond: Vec<u64>,
    pub(crate) resumed: Vec<ResumedClaim>,
    pub(crate) state_calls: Vec<v1::StateCall>,
    /// Epochs that trainers have ended.
    pub(crate) resets: Vec<u64>,
    pub(crate) byes: usize,
    pub(crate) attached: usize,
    pub(crate) settings: Vec<Vec<u8>>,
}

pub(crate) enum Command {
    /// Ends as by SIGKILL: without a word, sockets and all.
    Die,
    /// Ends after everything that was sent to it is taken.
    Stop,
    /// Sends these bytes to every trainer.
    Say(Vec<u8>),
}

/// A running daemon.
pub(crate) struct Daemon {
    commands: Sender<Command>,
    thread: JoinHandle<()>,
}

struct Trainer {
    id: ConsumerId,
    socket: Socket,
    attached: bool,
}

struct Server {
    plan: Plan,
    incarnation: u64,
    log: Arc<Mutex<Log>>,
    region: Region,
    exchange: Exchange,
    trainers: Vec<Trainer>,
    consumers: u64,
    /// First records of the batches that are still to be published, by epoch.
    todo: BTreeSet<(u64, u64)>,
    /// Epoch and first record of each batch in the ring.
    published: HashMap<u64, (u64, u64)>,
    /// The same of batches that were handed in, by whom and as what.
    adopted: HashMap<(ConsumerId, u64), (u64, u64)>,
    done: BTreeMap<u64, BTreeSet<u64>>,
    seq: u64,
}

impl Daemon {
    /// Listens on `path` until it is told to die.
    pub(crate) fn start(path: &Path, plan: Plan, log: &Arc<Mutex<Log>>) -> Self {
        Self::serve(Listener::bind(path, 0o600).unwrap(), plan, log)
    }

    /// As [`start`](Self::start), at a socket where trainers may have come already.
    pub(crate) fn serve(listener: Listener, plan: Plan, log: &Arc<Mutex<Log>>) -> Self {
        let (commands, inbox) = channel();
        let incarnation = 1000 + log.lock().attached as u64;
        let log = Arc::clone(log);
        let serve = move || Server::new(plan, incarnation, log).serve(&inbox, || listener.accept().unwrap());
        Self { commands, thread: std::thread::spawn(serve) }
    }

    pub(crate) fn say(&self, message: Vec<u8>) {
        self.commands.send(Command::Say(message)).unwrap();
    }

    pub(crate) fn number(&self, kind: MessageKind, value: u64) {
        self.say(packet(&Number { kind: kind as u32, reserved: 0, value }, &[]));
    }

    pub(crate) fn die(self) {
        self.end(Command::Die);
    }

    pub(crate) fn stop(self) {
        self.end(Command::Stop);
    }

    fn end(self, how: Command) {
        self.commands.send(how).unwrap();
        self.thread.join().unwrap();
    }
}

/// The private daemon's part: trainers come as descriptors on the parent's socket, whose end is the end.
pub(crate) fn serve_parent(parent: &Socket, plan: Plan) {
    let (end, commands) = channel();
    let mut buffer = vec![0; PACKET_LEN];
    let accept = || match parent.recv(&mut buffer).unwrap() {
        Received::Packet { len, fds } => match Message::parse(&buffer[..len], fds).unwrap() {
            Message::Connect { socket, .. } => Some(Socket::from_fd(socket).unwrap()),
            other => panic!("{other:?}"),
        },
        Received::WouldBlock => None,
        Received::Closed => {
            end.send(Command::Die).unwrap();
            None
        }
    };
    Server::new(plan, u64::from(std::process::id()), Arc::default()).serve(&commands, accept);
}

impl Server {
    fn new(plan: Plan, incarnation: u64, log: Arc<Mutex<Log>>) -> Self {
        let shape =
            Shape { batch: plan.batch, height: 2, width: 2, channels: 3, dtype: Dtype::U8, layout: Layout::Nhwc };
        let region = Region::create(Geometry::try_new(shape, plan.slots).unwrap(), incarnation, 0).unwrap();
        let mut exchange = Exchange::new(0);
        exchange.add_ring(0, plan.slots);
        for slot in 0..plan.slots {
            region.populate(slot).unwrap();
            exchange.populated(SlotId { ring: 0, slot });
        }
        let todo = plan.todo();
        Self {
            plan,
            incarnation,
            log,
            region,
            exchange,
            trainers: Vec::new(),
            consumers: 0,
            todo,
            published: HashMap::new(),
            adopted: HashMap::new(),
            done: BTreeMap::new(),
            seq: 0,
        }
    }

    fn serve(&mut self, commands: &Receiver<Command>, mut accept: impl FnMut() -> Option<Socket>) {
        loop {
            match commands.try_recv() {
                Ok(Command::Die) | Err(TryRecvError::Disconnected) => return,
                Ok(Command::Stop) => return self.hear(),
                Ok(Command::Say(message)) => {
                    self.trainers.iter().for_each(|trainer| send(&trainer.socket, &message, &[]));
                }
                Err(TryRecvError::Empty) => {}
            }
            while let Some(socket) = accept() {
                self.consumers += 1;
                self.trainers.push(Trainer { id: ConsumerId(self.consumers), socket, attached: false });
            }
            self.hear();
            self.fill();
            self.act();
            std::thread::park_timeout(std::time::Duration::from_micros(200));
        }
    }

    fn hear(&mut self) {
        let mut buffer = vec![0; PACKET_LEN];
        for place in (0..self.trainers.len()).rev() {
            // A trainer that was refused is gone.
            while let Some(trainer) = self.trainers.get(place) {
                match trainer.socket.recv(&mut buffer).unwrap() {
                    Received::Packet { len, fds } => self.take(place, Message::parse(&buffer[..len], fds).unwrap()),
                    Received::WouldBlock => break,
                    Received::Closed => {
                        let trainer = self.trainers.swap_remove(place);
                        if trainer.attached {
                            self.exchange.evict(trainer.id);
                            self.exchange.gone(trainer.id);
                        }
                        break;
                    }
                }
            }
        }
    }

    fn take(&mut self, place: usize, message: Message<'_>) {
        let id = self.trainers[place].id;
        match message {
            Message::Attach { head, settings, files: _, resume, columns: _ } => {
                self.attach(place, &head, settings, resume);
            }
            Message::Ack { head, sums } => {
                let receipt = HeldBatch::from(&head);
                let adopted = receipt.hold().map(|hold| self.adopted.get(&(id, hold)));
                let batch = adopted.unwrap_or_else(|| self.published.get(&head.seq));
                if let Some((_, first)) = batch {
                    let sum: RecordSum = self.plan.span(*first).collect();
                    let seen = RecordSum::from_halves(sum.count, sums[0].high, sums[0].low);
                    self.log.lock().wrong_sums += usize::from(seen != sum);
                }
                assert_eq!(head.last, 1);
                self.exchange.ack(id, receipt);
                if head.freed == 1 {
                    self.log.lock().releases.push((head.seq, false));
                    self.exchange.release(id, receipt, false);
                }
                self.exchange.credit(id, head.more.into());
            }
            Message::Release(release) => {
                self.log.lock().releases.push((release.seq, release.returned == 1));
                self.exchange.release(id, HeldBatch::from(&release), release.returned == 1);
            }
            Message::Credit(more) => self.exchange.credit(id, more),
            Message::Deadline(passed) => self.log.lock().asked_beyond.push(passed),
            Message::Bye => self.log.lock().byes += 1,
            Message::Waited(_) => {}
            Message::Call(call, body) => self.call(place, call, &body),
            other => panic!("{other:?}"),
        }
        self.act();
    }

    /// Publishes what there are slots for.
    fn fill(&mut self) {
        while let Some((epoch, first)) = self.todo.first().copied().filter(|(epoch, _)| *epoch <= self.exchange.open())
        {
            let Some(id) = self.exchange.claim() else { return };
            let span = self.plan.span(first);
            let mut slot = self.region.slot(id.slot).unwrap();
            let (height, width) = self.plan.size(first);
            let mut places = self.plan.batch;
            if let Some(size) = PictureSize::of_offer(height, width).unwrap() {
                places = u32::try_from(span.end - span.start).unwrap();
                slot.set_size(size, places).unwrap();
            }
            for place in 0..places {
                let record = (first + u64::from(place)).min(self.plan.records - 1);
                slot.place_mut(place).fill(record.to_le_bytes()[0]);
                let own = span.contains(&(first + u64::from(place)));
                let frame = slot.frame();
                frame.labels()[place as usize] = i64::try_from(record % 7).unwrap();
                frame.records()[place as usize] = i64::try_from(record).unwrap();
                frame.mask()[place as usize] = u8::from(own);
            }
            slot.frame().claims()[0] =
                Claim::new(epoch << 32 | first, 0, u32::try_from(span.end - span.start).unwrap());
            drop(slot);
            self.seq += 1;
            self.todo.remove(&(epoch, first));
            self.published.insert(self.seq, (epoch, first));
            self.exchange.publish(id, BatchId { seq: self.seq, epoch });
        }
    }

    fn act(&mut self) {
        loop {
            let actions: Vec<Action> = self.exchange.drain().collect();
            if actions.is_empty() {
                return;
            }
            for action in actions {
                self.do_one(action);
            }
        }
    }

    fn do_one(&mut self, action: Action) {
        match action {
            Action::Offer { consumer, slot, batch, generation, redelivered } => {
                let (_, first) = self.published[&batch.seq];
                let span = self.plan.span(first);
                let valid = u32::try_from(span.end - span.start).unwrap();
                let (height, width) = self.plan.lie.unwrap_or_else(|| self.plan.size(first));
                let offer = Offer {
                    kind: MessageKind::Offer as u32,
                    ring: slot.ring,
                    seq: batch.seq,
                    generation,
                    epoch: batch.epoch,
                    slot: slot.slot,
                    shown: valid,
                    valid,
                    claims: 1,
                    redelivered,
                    height,
                    width,
                    deadline: self.plan.deadline,
                    ready: 0,
                };
                self.tell(consumer, &packet(&offer, &[]));
            }
            Action::Acked { batch, .. } => {
                let (epoch, first) = self.published.remove(&batch.seq).unwrap();
                self.finish(epoch, first);
            }
            Action::AdoptedAcked(adopted) => {
                let (epoch, first) = self.adopted.remove(&(adopted.consumer, adopted.hold)).unwrap();
                self.finish(epoch, first);
            }
            Action::Orphaned { adopted, .. } => {
                let (epoch, first) = self.adopted.remove(&(adopted.consumer, adopted.hold)).unwrap();
                self.todo.insert((epoch, first));
            }
            Action::Dropped { batch, .. } => {
                self.published.remove(&batch.seq);
            }
            Action::EpochEnd { consumer, epoch } => {
                self.tell(
                    consumer,
                    &packet(&Number { kind: MessageKind::EpochEnd as u32, reserved: 0, value: epoch }, &[]),
                );
            }
            // Its ledger is always in time.
            Action::Seen(batch) => self.exchange.noted(batch.seq),
            Action::Free(_) | Action::Gone(_) | Action::RingEmpty(_) => {}
        }
    }

    fn finish(&mut self, epoch: u64, first: u64) {
        let done = self.done.entry(epoch).or_default();
        if done.insert(first) {
            self.log.lock().delivered.entry(epoch).or_default().extend(self.plan.span(first));
        }
        if done.len() == self.plan.firsts().count() {
            self.end_epoch(epoch);
        }
    }

    fn end_epoch(&mut self, epoch: u64) {
        self.exchange.open_epoch(epoch + 1);
        self.act();
        if epoch + 1 == self.plan.epochs {
            self.tell_done();
        }
    }

    fn tell_done(&self) {
        let done = packet(&Number { kind: MessageKind::Done as u32, reserved: 0, value: self.plan.epochs }, &[]);
        self.trainers.iter().filter(|trainer| trainer.attached).for_each(|trainer| send(&trainer.socket, &done, &[]));
    }

    fn tell(&self, consumer: ConsumerId, message: &[u8]) {
        if let Some(trainer) = self.trainers.iter().find(|trainer| trainer.id == consumer) {
            send(&trainer.socket, message, &[]);
        }
    }
}

fn send(socket: &Socket, message: &[u8], fds: &[OwnedFd]) {
    let fds: Vec<_> = fds.iter().map(AsFd::as_fd).collect();
    assert_ne!(socket.send(message, &fds).unwrap(), Sent::WouldBlock);
}
