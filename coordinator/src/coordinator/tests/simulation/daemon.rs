//! A simulated daemon, as far as the ledger knows it: it asks as `pipeline` does, and hands to trainers what it has leased.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use forebay_proto::RecordSum;
use forebay_proto::v1::{
    AckItem, AckRequest, AcquireRequest, AttendRequest, BadRecord, Caller, HeartbeatRequest, Lease, LeasedRange,
    NackRequest, OpenRequest, Progress, Range as Offsets, ReturnRequest, ReturnedRange, SettleRequest, Verdict,
    ack_item::Kind, acquire_reply::Answer as Granting, attend_request::Attendance,
};

use super::server::TIMES;
use super::stored::name_of;
use super::trainer::AttachedTrainers;
use super::wire::{Answer, Ask, Message, Told};
use crate::suite::{Invariant, Random, Violation};
use forebay_ledger_client::CallError;

/// Time between two heartbeats.
const BEAT: u64 = 1_500;
/// Time after which a question is asked again.
const REPEAT: u64 = 900;
/// Places of its batches.
const BATCH: u64 = 4;

/// What daemons of a simulation ask for.
pub(super) struct Shape {
    pub(super) open: OpenRequest,
    /// Most positions that a trainer gets at once.
    pub(super) portion: u64,
    /// The sum of the records at these positions of an epoch.
    pub(super) sum: Box<dyn Fn(u64, Range<u64>) -> RecordSum>,
    /// The record at a position of an epoch, if it ends each process that makes it.
    pub(super) killer: Box<dyn Fn(u64, u64) -> Option<u64>>,
}

/// See the module.
#[derive(Debug)]
pub(super) struct SimulatedDaemon {
    pub(super) worker: usize,
    pub(super) incarnation: u64,
    has_ended: bool,
    /// It was stopped, and does nothing before.
    pub(super) stopped_until: u64,
    ledger: Option<String>,
    replaces: u64,
    sequence: u64,
    pending: Option<Pending>,
    /// Heartbeats that were sent, and when the last one was.
    beats: u64,
    beat_at: u64,
    known: BTreeMap<u64, KnownLease>,
    /// All leases that it was ever told of.
    told: BTreeSet<u64>,
    /// Until when its leases are its own, whatever happens.
    deadline: u64,
    /// Which coordinator it asks.
    aim: usize,
    pub(super) is_done: bool,
    /// All epochs below this one are complete.
    floor: u64,
    pub(super) trainers: AttachedTrainers,
}

/// A command that waits for its answer.
#[derive(Debug)]
struct Pending {
    ask: Ask,
    sent: u64,
    is_refused: bool,
    beats: u64,
}

#[derive(Debug)]
struct KnownLease {
    lease: Lease,
    /// Positions that trainers have, and that were acked, counted from the lease's start; and where it ends for this process.
    seen: u64,
    acked: u64,
    end: u64,
    /// A heartbeat that was sent after the grant has named it, or none was under way.
    is_sure: bool,
}

/// What a daemon does in a moment.
#[derive(Default)]
pub(super) struct Effects {
    /// Messages, each to one of the coordinators.
    pub(super) sent: Vec<(usize, Message)>,
    /// What a trainer gets: its number, the lease, positions.
    pub(super) delivered: Option<(u64, Lease, Range<u64>)>,
    /// It ends, by a record that it makes.
    pub(super) ends: bool,
}

impl SimulatedDaemon {
    pub(super) fn new(worker: usize, incarnation: u64) -> Self {
        Self {
            worker,
            incarnation,
            has_ended: false,
            stopped_until: 0,
            ledger: None,
            replaces: 0,
            sequence: 0,
            pending: None,
            beats: 0,
            beat_at: 0,
            known: BTreeMap::new(),
            told: BTreeSet::new(),
            deadline: 0,
            aim: 0,
            is_done: false,
            floor: 0,
            trainers: AttachedTrainers::default(),
        }
    }

    pub(super) fn is_up(&self) -> bool {
        !self.has_ended
    }

    pub(super) fn end(&mut self) {
        self.has_ended = true;
    }

    /// The lowest number whose reply it has not seen.
    pub(super) fn unseen(&self) -> u64 {
        self.sequence + u64::from(self.pending.is_none() || self.ledger.is_none())
    }

    /// It was told of this lease, or may be: it waits for the answer to an Acquire.
    pub(super) fn may_know(&self, lease: u64) -> bool {
        let waits = matches!(&self.pending, Some(Pending { ask: Ask::Acquire(_), .. }));
        waits || self.told.contains(&lease)
    }

    /// Its trainers and its own clock move on.
    pub(super) fn tick(&mut self, number: usize, now: u64, random: &mut Random, shape: &Shape) -> Effects {
        let mut effects = Effects::default();
        if self.ledger.is_some() && now >= self.beat_at + BEAT {
            let leases = self.known.keys().copied().collect();
            let caller = Some(Caller { unseen: self.unseen(), ..self.caller(0) });
            self.beats += 1;
            self.beat_at = now;
            let ask = Ask::Beat(HeartbeatRequest { caller, leases, waits: false });
            effects.sent.push((self.aim, self.message(number, now, ask)));
        }
        if let Some(pending) = &mut self.pending {
            if now >= pending.sent + REPEAT {
                // The other coordinator is asked where this one is silent, and at once where it has said that it cannot help.
                self.aim = if pending.is_refused { self.aim } else { 1 - self.aim };
                (pending.sent, pending.is_refused) = (now, false);
                let ask = pending.ask.clone();
                effects.sent.push((self.aim, self.message(number, now, ask)));
            }
            return effects;
        }
        let ask = match self.ledger {
            None => {
                let replaces = Some(self.replaces);
                let (worker, incarnation) = (name_of(self.worker), self.incarnation);
                let open = OpenRequest { worker, incarnation, replaces, ..shape.open.clone() };
                Some(Ask::Open(Box::new(open)))
            }
            Some(_) => self.work(now, random, shape, &mut effects),
        };
        if let Some(ask) = ask {
            self.pending = Some(Pending { ask: ask.clone(), sent: now, is_refused: false, beats: self.beats });
            effects.sent.push((self.aim, self.message(number, now, ask)));
        }
        effects
    }

    /// The next command, if there is one to send, or a delivery.
    fn work(&mut self, now: u64, random: &mut Random, shape: &Shape, effects: &mut Effects) -> Option<Ask> {
        // What trainers bring is told before they are let in.
        if let Some(items) = self.trainers.resume() {
            let caller = Some(self.command());
            return Some(Ask::Ack(AckRequest { caller, items, resumed: true, ..AckRequest::default() }));
        }
        if let Some(trainers) = self.trainers.to_tell() {
            let (caller, attendance) = (Some(self.command()), Attendance::Attended.into());
            return Some(Ask::Attend(AttendRequest { caller, attendance, trainers }));
        }
        let mut unacked: Vec<u64> =
            self.known.iter().filter(|(_, held)| held.acked < held.seen).map(|(id, _)| *id).collect();
        // No batch of an epoch is offered before all earlier ones are complete.
        let is_open = |held: &KnownLease| held.is_ready() && held.lease.epoch <= self.floor;
        let mut ready: Vec<u64> = self.known.iter().filter(|(_, held)| is_open(held)).map(|(id, _)| *id).collect();
        if !unacked.is_empty() && (ready.is_empty() || random.once_in(2)) {
            let id = unacked.swap_remove(index(random, unacked.len()));
            return Some(self.ack(id, shape));
        }
        if ready.is_empty() || (ready.len() < 2 && random.once_in(3)) {
            let leases = 1 + u32::try_from(random.below(3)).unwrap_or(0);
            let caller = Some(self.command());
            return (!self.is_done).then_some(Ask::Acquire(AcquireRequest {
                caller,
                leases,
                batch: BATCH,
                tails: false,
            }));
        }
        let id = ready.swap_remove(index(random, ready.len()));
        if random.once_in(12) {
            return Some(self.give_up(id, random.once_in(2)));
        }
        let held = &self.known[&id];
        let killer = |offset: u64| (shape.killer)(held.lease.epoch, held.lease.start + offset);
        if let Some(record) = killer(held.seen) {
            if !held.lease.suspect {
                effects.ends = true;
                return None;
            }
            // A child process has shown that it is bad.
            return Some(if held.acked < held.seen { self.ack(id, shape) } else { self.nack(id, record) });
        }
        let before_killer = (held.seen..held.end).find(|offset| killer(*offset).is_some()).unwrap_or(held.end);
        if let Some(trainer) = self.trainers.one(random).filter(|_| now < self.deadline) {
            let held = self.known.get_mut(&id)?;
            let end = (held.seen + 1 + random.below(shape.portion)).min(before_killer);
            let positions = held.lease.start + held.seen..held.lease.start + end;
            held.seen = end;
            effects.delivered = Some((trainer, held.lease, positions));
        }
        None
    }

    fn ack(&mut self, id: u64, shape: &Shape) -> Ask {
        let held = &self.known[&id];
        let range = Offsets { start: held.acked, end: held.seen };
        let positions = held.lease.start + range.start..held.lease.start + range.end;
        let sum = (shape.sum)(held.lease.epoch, positions);
        let (sum_high, sum_low) = sum.halves();
        let kind = Kind::Delivered.into();
        let item = AckItem { lease: id, range: Some(range), kind, count: sum.count, sum_high, sum_low };
        Ask::Ack(AckRequest { caller: Some(self.command()), items: vec![item], ..AckRequest::default() })
    }

    fn nack(&mut self, id: u64, record: u64) -> Ask {
        let position = self.known[&id].seen;
        let bad = BadRecord { lease: id, position, record, poison: true, ..BadRecord::default() };
        Ask::Nack(NackRequest { caller: Some(self.command()), records: vec![bad] })
    }

    /// Lets what no trainer has of a lease go: as the tail of its epoch, or back.
    fn give_up(&mut self, id: u64, as_tail: bool) -> Ask {
        let caller = Some(self.command());
        let held = self.known.get_mut(&id).expect("a lease that it has");
        let range = Some(Offsets { start: held.seen, end: held.end });
        held.end = held.seen;
        let epoch = held.lease.epoch;
        self.known.retain(|_, held| held.acked < held.end);
        if as_tail {
            let tail = vec![LeasedRange { lease: id, range }];
            let last_lease = self.told.last().copied().unwrap_or(0);
            return Ask::Settle(SettleRequest { caller, epoch, last_lease, tail });
        }
        let items = vec![ReturnedRange { lease: id, range, ..ReturnedRange::default() }];
        Ask::Return(ReturnRequest { caller, items })
    }

    /// It is told what became of a question.
    ///
    /// # Errors
    /// A command that it waits for is refused for ever.
    pub(super) fn hear(&mut self, message: &Message, answer: Answer, now: u64) -> Result<(), Violation> {
        if let Ask::Beat(request) = &message.ask {
            match answer {
                Ok(Told::Beat(reply)) => {
                    self.learn_floor(reply.progress);
                    self.deadline = self.deadline.max(message.sent + TIMES.lease_ttl);
                    for id in &request.leases {
                        if !reply.leases.contains(id) {
                            self.known.remove(id);
                        } else if let Some(held) = self.known.get_mut(id) {
                            held.is_sure = true;
                        }
                    }
                }
                Err(CallError::Fenced(_)) => self.end(),
                _ => self.aim = 1 - self.aim,
            }
            return Ok(());
        }
        // The answer to a call that was given up is not heard: its connection has dropped it.
        let is_awaited = self.pending.as_ref().is_some_and(|pending| {
            let same = match message.ask.caller() {
                Some(caller) => pending.ask.caller().is_some_and(|own| own.sequence == caller.sequence),
                None => matches!(pending.ask, Ask::Open(_)),
            };
            same && message.sent == pending.sent
        });
        if !is_awaited {
            return Ok(());
        }
        match answer {
            Err(CallError::Fenced(_)) => self.end(),
            Err(CallError::Unavailable(_) | CallError::NotLeader { .. }) => {
                self.aim = 1 - self.aim;
                if let Some(pending) = &mut self.pending {
                    (pending.sent, pending.is_refused) = (now.saturating_sub(REPEAT - 200), true);
                }
            }
            Err(refusal) => {
                let what = format!("worker {} waits for {:?}, and is refused: {refusal}", self.worker, message.ask);
                return Invariant::Ends.check(false, || what);
            }
            Ok(told) => {
                let pending = self.pending.take().expect("it waits for this");
                self.learn(pending, told, message.sent);
            }
        }
        Ok(())
    }

    fn learn(&mut self, pending: Pending, told: Told, sent: u64) {
        match (pending.ask, told) {
            (Ask::Open(_), Told::Open(reply)) if reply.incumbent != 0 => self.replaces = reply.incumbent,
            (Ask::Open(_), Told::Open(reply)) => {
                self.deadline = sent + reply.lease_ttl_ms;
                self.ledger = Some(reply.ledger);
            }
            (Ask::Acquire(_), Told::Acquire(reply)) => {
                self.is_done = reply.answer() == Granting::DatasetDone;
                self.learn_floor(reply.progress);
                for lease in reply.leases {
                    let end = lease.end - lease.start;
                    let is_sure = pending.beats == self.beats;
                    self.told.insert(lease.id);
                    self.known.insert(lease.id, KnownLease { lease, seen: 0, acked: 0, end, is_sure });
                }
            }
            (Ask::Attend(request), Told::Attend) => self.trainers.are_here(&request.trainers),
            (Ask::Ack(request), Told::Verdicts(_)) if request.resumed => self.trainers.have_resumed(),
            (Ask::Nack(request), Told::Verdicts(verdicts)) => {
                for (bad, verdict) in request.records.iter().zip(verdicts) {
                    match self.known.get_mut(&bad.lease) {
                        Some(held) if verdict == Verdict::Accepted => {
                            (held.seen, held.acked) = (held.seen + 1, held.acked + 1);
                        }
                        _ => drop(self.known.remove(&bad.lease)),
                    }
                }
                self.known.retain(|_, held| held.acked < held.end);
            }
            (Ask::Ack(request), Told::Verdicts(verdicts)) => {
                for (item, verdict) in request.items.iter().zip(verdicts) {
                    match self.known.get_mut(&item.lease) {
                        Some(held) if verdict == Verdict::Accepted => {
                            held.acked = item.range.map_or(held.acked, |range| range.end);
                        }
                        _ => drop(self.known.remove(&item.lease)),
                    }
                }
                self.known.retain(|_, held| held.acked < held.end);
            }
            _ => {}
        }
    }

    fn learn_floor(&mut self, progress: Option<Progress>) {
        self.floor = self.floor.max(progress.map_or(0, |progress| progress.floor));
    }

    fn message(&self, number: usize, now: u64, ask: Ask) -> Message {
        Message { from: number, sent: now, unseen: self.unseen(), ask }
    }

    /// The caller of the next command.
    fn command(&mut self) -> Caller {
        self.sequence += 1;
        Caller { unseen: self.sequence, ..self.caller(self.sequence) }
    }

    fn caller(&self, sequence: u64) -> Caller {
        let (ledger, worker) = (self.ledger.clone().unwrap_or_default(), name_of(self.worker));
        Caller { ledger, worker, incarnation: self.incarnation, sequence, unseen: 0 }
    }
}

impl KnownLease {
    /// Trainers may have more of it.
    fn is_ready(&self) -> bool {
        self.is_sure && self.seen < self.end
    }
}

fn index(random: &mut Random, len: usize) -> usize {
    usize::try_from(random.below(len as u64)).expect("an index")
}
