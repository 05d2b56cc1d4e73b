//! Collects records into batches. It gives each record a place in a free slot, has the record decoded there, and passes
//! on batches that are settled.
//!
//! [`batcher`] decides; this thread owns the slots and executes the decisions. It waits only if no slot is free or no
//! record is available. The rights to write return with the outcomes. A batch is passed on when all of its rights have
//! returned.

pub(crate) mod batcher;
mod beside;
pub(crate) mod draft;
pub(crate) mod finish;
mod form;
mod last_leases;
mod look;
pub(crate) mod order;
pub(crate) mod outlet;
mod parts;
mod returned_steps;
pub(crate) mod slots;
pub(crate) mod stage_slots;
mod suspects;
#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use crossbeam_channel::{self as channel, select};
use forebay_delivery::{DeliveryOutcome, Handover, StageWait, Way, receipt};
use forebay_proto::{RecordSum, Turn};
use forebay_ring::Claim;
use forebay_sources::Locator;

use crate::decode::Done;
use crate::place::At;
use crate::prefetch::readahead::TakenRead;
use crate::prefetch::{Buffer, Read};
use crate::reason::Reason;
use crate::record::{BadRecord, EpochTurn, Position};
use crate::worked_batch::WorkedBatch;
use batcher::{Action, Batcher};
use last_leases::LastLeases;
use look::ToldWait;
pub(crate) use parts::BatchParts;
use suspects::StageSuspects;

/// The stage, run by one thread.
#[derive(Debug)]
pub(crate) struct BatchStage {
    parts: BatchParts,
    batcher: Batcher,
    failed: bool,
    /// A taken position that has no place because the stream failed.
    unplaced: Option<Position>,
    last_leases: LastLeases,
    suspects: StageSuspects,
    told: ToldWait,
}

/// How often the stage looks for reads that may have taken too long.
const LOOK: Duration = Duration::from_secs(1);

impl BatchStage {
    /// A stage without batches.
    pub(crate) fn new(parts: BatchParts, batcher: Batcher) -> Self {
        let (last_leases, suspects) = (LastLeases::default(), StageSuspects::default());
        Self { parts, batcher, failed: false, unplaced: None, last_leases, suspects, told: ToldWait::default() }
    }

    /// Runs until `stop` closes. Then it gives back every claim and slot that was not handed on. Returns the number of
    /// the next batch.
    pub(crate) fn run(mut self, stop: &channel::Receiver<()>) -> u64 {
        let (mut looked, mut done) = (Instant::now(), Vec::new());
        let worked = self.parts.finish.worked();
        loop {
            self.parts.decoding.take(&mut done);
            done.drain(..).for_each(|done| self.outcome(done));
            self.parts.slots.hear();
            let blocked = self.fill();
            let began = Instant::now();
            let (changed, free) = (self.parts.decoding.changed(), self.parts.slots.slots.free());
            select! {
                recv(changed) -> _ => {}
                recv(free) -> slot => match slot {
                    Ok(slot) => self.parts.slots.keep(slot),
                    Err(channel::RecvError) => break,
                },
                recv(worked) -> batch => if let Ok(batch) = batch { self.worked(batch) },
                recv(self.parts.prefetch.ready()) -> token => if token.is_err() { break },
                recv(stop) -> _ => break,
                default(LOOK) => {}
            }
            if blocked {
                self.parts.finish.meter.writer_waited(began.elapsed());
            } else {
                self.parts.finish.meter.reader_waited(began.elapsed());
            }
            if looked.elapsed() >= LOOK {
                looked = Instant::now();
                self.look(looked);
            }
        }
        self.close()
    }

    /// Works until nothing more can be done now. Returns whether the reason is that no slot is free.
    fn fill(&mut self) -> bool {
        self.parts.slots.begin();
        loop {
            self.perform();
            if self.failed {
                return false;
            }
            match self.take() {
                TakenRead::Record(position, read) => self.record(position, read),
                TakenRead::Bare(position) => self.bare(position),
                TakenRead::Fetched { tag, turn, read } => self.fetched(tag, turn, read),
                TakenRead::Drained(epoch) if self.parts.shares_tails && !self.parts.prefetch.is_the_last_of(epoch) => {
                    self.batcher.end_at_whole_batches(epoch);
                }
                TakenRead::Drained(epoch) => self.batcher.end(epoch),
                TakenRead::NoRoom(position) => {
                    self.batcher.pass(&position);
                    self.perform();
                    if !self.make_way(&position) {
                        return true;
                    }
                }
                TakenRead::Wait if self.leave_out() => {}
                TakenRead::Wait => return false,
            }
        }
    }

    /// Takes what the readers have.
    fn take(&mut self) -> TakenRead<Read> {
        let floor = self.parts.floor();
        let Self { batcher, parts: BatchParts { slots, prefetch, outlet, .. }, .. } = self;
        slots.completed(floor);
        prefetch.take(floor + 1, |position| {
            !batcher.needs_slot(position) || slots.can_take(position.in_epoch(), floor) || outlet.returns(position)
        })
    }

    fn record(&mut self, position: Position, read: Read) {
        if !self.admits(&position) {
            return;
        }
        self.last_leases.note(position.epoch, position.lease, || self.parts.floor());
        self.suspects.note(&position, || self.parts.floor());
        if !self.has_batch(&position) {
            self.batcher.drop_position(position);
            return;
        }
        let label = self.parts.order.label(position.record);
        if self.has_failed() {
            self.unplaced = Some(position);
            return;
        }
        match read {
            Ok(content) => {
                self.make_room(&position);
                let at = self.batcher.place(position, label);
                self.decode(at, content, position.of_epoch(), position.suspect);
            }
            Err(reason) => {
                if self.batcher.keeps_places() {
                    self.make_room(&position);
                }
                let (locator, reason) = self.bad(position.record, reason);
                self.batcher.unreadable(BadRecord { position, locator, reason }, label);
            }
        }
    }

    /// Handles a position without a record. The batch with its place answers for it, if the policy has such a batch.
    fn bare(&mut self, position: Position) {
        if !self.admits(&position) {
            return;
        }
        self.suspects.note(&position, || self.parts.floor());
        if self.has_batch(&position) {
            self.make_room(&position);
            self.batcher.bare(position);
        } else {
            let receipt = receipt::receipt(&Claim::bare(position.lease, position.offset, 1), RecordSum::default());
            self.parts.outlet.tell(DeliveryOutcome::receipts(vec![receipt]));
        }
    }

    fn make_room(&mut self, position: &Position) {
        // There was room when the record was taken, so there is a slot.
        if self.batcher.needs_slot(position) && self.parts.slots.slots.spare() > 0 {
            let progress = &self.parts.progress;
            let (batch, sized) = match self.parts.order.form_of(position, || progress.borrow().floor) {
                Some((form, sized)) => (self.batcher.begin_fixed(position, &form), sized),
                None => (self.batcher.begin(position.epoch), None),
            };
            self.parts.slots.open(batch, position.in_epoch(), sized);
        }
    }

    /// Whether a position is part of a batch. The policy for last batches may leave it out.
    fn has_batch(&mut self, position: &Position) -> bool {
        let progress = &self.parts.progress;
        self.parts.order.has_batch(position, || progress.borrow().floor)
    }

    fn fetched(&mut self, at: At, turn: Turn, read: Read) {
        match read {
            Ok(content) => {
                let label = self.parts.order.label(turn.record());
                if self.has_failed() {
                    return;
                }
                self.batcher.copying(at, turn, label);
                if let Some(epoch) = self.batcher.epoch(at.0) {
                    self.decode(at, content, EpochTurn { epoch, turn }, self.suspects.has_some(epoch));
                }
            }
            Err(_) if self.has_failed() => {}
            Err(reason) => self.batcher.outcome(at, Err(self.bad(turn.record(), reason))),
        }
    }

    /// Whether the dataset as a whole cannot be used any more. Then the stream fails, and no record is to blame.
    fn has_failed(&mut self) -> bool {
        let Some(failure) = self.parts.order.failure() else { return false };
        self.act(Action::Fail(failure));
        true
    }

    fn decode(&mut self, at: At, content: Buffer, of: EpochTurn, suspect: bool) {
        let Some(place) = self.parts.slots.slots.lend(at) else { return };
        let class = self.parts.slots.slots.step(at.0).map_or(0, |step| step.class);
        self.parts.decoding.decode((at, class), place, content, of, suspect);
    }

    fn outcome(&mut self, done: Done) {
        let (at, outcome) = self.parts.slots.back(done);
        if let Err(Reason::Stream { words }) = outcome {
            return self.act(Action::Fail(words.into()));
        }
        let outcome = match (outcome, self.batcher.record(at)) {
            (Ok(origin), Some(record)) => match self.parts.order.check(record, origin) {
                Ok(origin) => Ok(origin),
                Err(reason) => Err(self.bad(record, reason)),
            },
            (Ok(origin), None) => Ok(origin),
            (Err(reason), Some(record)) => Err(self.bad(record, reason)),
            // Its batch is gone.
            (Err(_), None) => return,
        };
        self.batcher.outcome(at, outcome);
    }

    fn perform(&mut self) {
        while let Some(action) = self.batcher.action() {
            self.act(action);
        }
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::Fetch { at, turn, .. } => {
                let epoch = self.batcher.epoch(at.0).unwrap_or_default();
                self.parts.prefetch.fetch(at, EpochTurn { epoch, turn });
            }
            Action::Copy { from, to } => {
                if let Err(error) = self.parts.slots.copy(from, to) {
                    self.act(Action::Fail(format!(
                        "The copy of a replacement picture cannot be read from the GPU: {error}."
                    )));
                }
            }
            Action::Clear { at } => self.parts.slots.slots.clear(at),
            Action::Publish(metadata) => {
                if let Some(batch) = self.parts.slots.close(metadata) {
                    self.parts.finish.begin(batch, &self.parts.outlet);
                }
            }
            Action::Discard { batch } => self.parts.slots.discard(batch),
            Action::Dropped(positions) => {
                let dropped = positions.iter().map(|position| (position.lease, position.offset, position.turn()));
                self.parts.outlet.tell(DeliveryOutcome::receipts(receipt::dropped(dropped)));
            }
            Action::Settled { epoch, tail } => {
                // An epoch that this daemon has nothing of is settled anyway.
                if let Some(last_lease) = self.last_leases.take(epoch) {
                    self.parts.outlet.settled(epoch, last_lease, &tail);
                }
            }
            Action::Nack(bad) => self.parts.outlet.tell_bad(bad),
            Action::Fail(_) if self.failed => {}
            Action::Fail(text) => {
                self.failed = true;
                self.parts.outlet.hand_over(Handover::Failed(text));
            }
        }
    }

    /// Hands on batches that others have worked on, in the order of their numbers.
    fn worked(&mut self, done: WorkedBatch) {
        self.failed |= !self.parts.finish.hand_on(done, &self.parts.outlet);
    }

    /// Where a bad record is, and what is wrong with it.
    fn bad(&self, record: u64, reason: Reason) -> (Locator, Reason) {
        let (stream, locator) = (&self.parts.outlet.stream, self.parts.order.locator(record));
        tracing::debug!(stream, record, %locator, %reason, may_pass = reason.may_pass(), "a record is bad");
        (locator, reason)
    }

    /// Leaves out what cannot fill a batch any more, read or not: what `drop` leaves out at the end of an epoch is not waited
    /// for. Answers whether there was something.
    fn leave_out(&mut self) -> bool {
        let left_out = self.parts.prefetch.leave_rest(self.parts.floor() + 1, |epoch| self.batcher.spare(epoch));
        let is_some = !left_out.is_empty();
        for position in left_out {
            self.last_leases.note(position.epoch, position.lease, || self.parts.floor());
            self.batcher.drop_position(position);
        }
        is_some
    }

    /// No slot is free for this position. If it is of the current epoch, a later batch gives way (semantics rule 11). True if
    /// there is a slot now.
    fn make_way(&mut self, position: &Position) -> bool {
        if position.epoch > self.parts.floor() {
            return false;
        }
        if self.parts.slots.slots.spare() > 0 {
            return true;
        }
        let drafts = self.batcher.youngest_after(position.epoch);
        let is_busy = self.parts.finish.is_busy();
        match (self.parts.slots.way(position.epoch, drafts, is_busy), drafts) {
            (Way::Withdraw, Some(batch)) => self.withdraw(batch),
            // Behind every batch that was handed on: the ring knows them when it hears this.
            (Way::Ask, _) => self.parts.outlet.hand_over(Handover::NeedsSlot { epoch: position.epoch }),
            _ => {}
        }
        self.parts.slots.slots.spare() > 0
    }

    /// A batch in the making gives way.
    fn withdraw(&mut self, batch: u64) {
        // Positions of a stream of one daemon come back to it, so the epoch's end waits for them.
        let positions = self.batcher.withdraw(batch, !self.parts.shares_tails);
        tracing::debug!(stream = self.parts.outlet.stream, batch, "a batch of a later epoch gives way");
        self.parts.slots.gave_way(batch);
        self.parts.outlet.give_back(positions);
        self.perform();
    }

    /// Whether a position may be in a batch now. If not, it is given back.
    fn admits(&mut self, position: &Position) -> bool {
        let BatchParts { slots, outlet, .. } = &mut self.parts;
        let admitted = !outlet.returns(position) && slots.admits(position.in_epoch());
        if !admitted {
            outlet.give_back([*position]);
        }
        admitted
    }

    /// What time brings: reads that take too long, a storage that gives nothing, and what the current epoch waits for.
    fn look(&mut self, now: Instant) {
        let Self { parts: BatchParts { prefetch, patience, outlet, decoding, .. }, suspects, told, .. } = self;
        let current = self.parts.progress.borrow().floor;
        let wait = match () {
            () if self.parts.slots.lacks_one() => StageWait::Slot,
            () if self.batcher.is_busy_with(current) || self.parts.finish.is_busy() => StageWait::Decoding,
            () if prefetch.has(current) => StageWait::Reading,
            () => StageWait::Nothing,
        };
        told.tell(wait, outlet);
        prefetch.expire(now);
        suspects.look(now, decoding, outlet);
        look::tell_storage(now, prefetch, patience, outlet);
    }

    fn close(mut self) -> u64 {
        self.parts.decoding.withdraw_suspects();
        let mut done = Vec::new();
        loop {
            self.parts.decoding.take(&mut done);
            done.drain(..).for_each(|Done { at, place, .. }| self.parts.slots.slots.back(at, place));
            if self.parts.slots.slots.lent() == 0 || self.parts.decoding.changed().recv().is_err() {
                break;
            }
        }
        let withdrawn = self.parts.finish.close(&self.parts.outlet);
        let made = self.batcher.close().into_iter().chain(self.unplaced).map(|position| position.part());
        self.parts.outlet.close(made.chain(withdrawn).chain(self.parts.prefetch.close()));
        for slot in self.parts.slots.slots.close_all() {
            self.parts.outlet.hand_over(Handover::Unused(slot));
        }
        self.batcher.next_number()
    }
}
