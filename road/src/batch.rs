//! Collects records into batches. It gives each record a place in a free slot, has the record decoded there, and passes
//! on batches that are settled.
//!
//! [`batcher`] decides; this thread owns the slots and executes the decisions. It waits only if no slot is free or no
//! record is available. The rights to write return with the outcomes. A batch is passed on when all of its rights have
//! returned.

pub(crate) mod batcher;
pub(crate) mod draft;
mod form;
mod last_leases;
mod left_out;
mod look;
pub(crate) mod order;
mod parts;
mod returns;
pub(crate) mod slots;
mod suspects;
#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use crossbeam_channel::{self as channel, select};
use forebay_delivery::{Fate, Handover, LaterBatches, SettledEpoch, StageWait, receipt};
use forebay_proto::v1::{LeasedRange, Range};
use forebay_proto::{RecordSum, Turn};
use forebay_ring::{Claim, SlotMut};
use forebay_sources::Locator;

use crate::decode::Done;
use crate::decode::mixing::{MixedBatch, Mixer};
use crate::mosaic::PlacePartners;
use crate::place::At;
use crate::prefetch::readahead::TakenRead;
use crate::prefetch::{Buffer, Patience, Read};
use crate::publish::publish;
use crate::reason::Reason;
use crate::record::{BadRecord, EpochTurn, Position};
use crate::sheet::{MixedLabels, SettledBatch, Sheet};
use batcher::{Action, Batcher};
use form::Form;
use last_leases::LastLeases;
pub(crate) use parts::BatchParts;
use returns::ranges;
use suspects::StageSuspects;

/// The stage, run by one thread.
#[derive(Debug)]
pub(crate) struct BatchStage {
    parts: BatchParts,
    batcher: Batcher,
    patience: Patience,
    failed: bool,
    /// A taken position that has no place because the stream failed.
    unplaced: Option<Position>,
    last_leases: LastLeases,
    suspects: StageSuspects,
    partners: PlacePartners,
    later: LaterBatches,
    /// A position of the current epoch has no slot.
    lacks_slot: bool,
    /// What the ring knows that the stage waits for.
    told: StageWait,
}

/// How often the stage looks for reads that may have taken too long.
const LOOK: Duration = Duration::from_secs(1);

impl BatchStage {
    /// A stage without batches.
    pub(crate) fn new(parts: BatchParts, batcher: Batcher) -> Self {
        let patience = Patience::new(parts.storage_timeout);
        let (last_leases, suspects, partners) =
            (LastLeases::default(), StageSuspects::default(), PlacePartners::default());
        let later = LaterBatches::new(parts.order.is_fixed());
        let (failed, unplaced, lacks_slot, told) = (false, None, false, StageWait::default());
        Self { parts, batcher, patience, failed, unplaced, last_leases, suspects, partners, later, lacks_slot, told }
    }

    /// Runs until `stop` closes. Then it gives back every claim and slot that was not handed on. Returns the number of
    /// the next batch.
    pub(crate) fn run(mut self, stop: &channel::Receiver<()>) -> u64 {
        let (mut looked, mut done) = (Instant::now(), Vec::new());
        let mixed = self.parts.mixer.as_ref().map_or_else(channel::never, |mixer| mixer.done().clone());
        loop {
            self.parts.decoding.take(&mut done);
            done.drain(..).for_each(|done| self.outcome(done));
            self.parts.gave_way.try_iter().for_each(|batch| self.later.gave_way(batch));
            let blocked = self.fill();
            let began = Instant::now();
            let (news, free) = (self.parts.decoding.news(), self.parts.slots.free());
            select! {
                recv(news) -> _ => {}
                recv(free) -> slot => match slot {
                    Ok(slot) => self.keep(slot),
                    Err(channel::RecvError) => break,
                },
                recv(mixed) -> batch => if let Ok(batch) = batch { self.mixed(batch) },
                recv(self.parts.prefetch.ready()) -> token => if token.is_err() { break },
                recv(stop) -> _ => break,
                default(LOOK) => {}
            }
            if blocked {
                self.parts.meter.writer_waited(began.elapsed());
            } else {
                self.parts.meter.reader_waited(began.elapsed());
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
        self.lacks_slot = false;
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
        let floor = self.parts.progress.borrow().floor;
        self.later.completed(floor);
        let Self { batcher, later, parts: BatchParts { slots, prefetch, .. }, .. } = self;
        prefetch.take(floor + 1, |position| {
            let has_room = || LaterBatches::has_room(position.epoch, floor, slots.spare());
            !batcher.needs_slot(position) || has_room() || later.is_out_of_order(position.in_epoch())
        })
    }

    fn record(&mut self, position: Position, read: Read) {
        if !self.admits(&position) {
            return;
        }
        self.note_lease(&position);
        self.note_suspect(&position);
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
        self.note_suspect(&position);
        if self.has_batch(&position) {
            self.make_room(&position);
            self.batcher.bare(position);
        } else {
            let receipt = receipt::receipt(&Claim::bare(position.lease, position.offset, 1), RecordSum::default());
            self.tell(Fate::receipts(vec![receipt]));
        }
    }

    fn make_room(&mut self, position: &Position) {
        // There was room when the record was taken, so there is a slot.
        if self.batcher.needs_slot(position) && self.parts.slots.spare() > 0 {
            let progress = &self.parts.progress;
            let batch = match self.parts.order.batch_of(position, || progress.borrow().floor) {
                Some((batches, index)) => {
                    let form = Form::of(batches, index);
                    self.batcher.begin_fixed(position, &form)
                }
                None => self.batcher.begin(position.epoch),
            };
            self.later.begin(batch, position.in_epoch());
            self.parts.slots.open(batch);
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
        if !self.failed {
            self.act(Action::Fail(failure));
        }
        true
    }

    fn decode(&mut self, at: At, content: Buffer, of: EpochTurn, suspect: bool) {
        let Some(place) = self.parts.slots.lend(at) else { return };
        self.parts.decoding.decode(at, place, content, of, suspect);
    }

    fn outcome(&mut self, done: Done) {
        let Done { at, place, outcome, partners } = done;
        self.parts.slots.back(at, place);
        self.partners.set(at, partners);
        let outcome = match (outcome, self.batcher.record(at)) {
            (Ok(origin), _) => Ok(origin),
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
                self.partners.copy(from, to);
                if let Err(error) = self.parts.slots.copy(from, to) {
                    self.act(Action::Fail(format!(
                        "The copy of a replacement picture cannot be read from the GPU: {error}."
                    )));
                }
            }
            Action::Clear { at } => self.parts.slots.clear(at),
            Action::Publish(sheet) => self.settle(sheet),
            Action::Discard { batch } => {
                self.partners.take(batch);
                self.parts.slots.discard(batch);
            }
            Action::Dropped(positions) => {
                let dropped = positions.iter().map(|position| (position.lease, position.offset, position.turn()));
                self.tell(Fate::receipts(receipt::dropped(dropped)));
            }
            Action::Settled { epoch, tail } => self.settled(epoch, &tail),
            Action::Nack(bad) => self.tell_bad(bad),
            Action::Fail(text) => {
                self.failed = true;
                (self.parts.output)(Handover::Failed(text));
            }
        }
    }

    /// Hands a settled batch on, or has its pictures mixed first.
    fn settle(&mut self, mut sheet: Sheet) {
        sheet.partners = self.partners.take(sheet.batch);
        let Some((slot, in_gpu)) = self.parts.slots.close(sheet.batch) else { return };
        let batch = SettledBatch { sheet, slot, in_gpu };
        match &mut self.parts.mixer {
            Some(mixer) => mixer.begin(batch),
            None => self.publish(batch, None),
        }
    }

    fn publish(&mut self, batch: SettledBatch, mixed: Option<&MixedLabels>) {
        self.parts.meter.item();
        (self.parts.output)(Handover::Ready(publish(batch, mixed, &mut self.parts.targets)));
    }

    /// Hands on mixed batches, in the order of their numbers.
    fn mixed(&mut self, done: MixedBatch) {
        let Some(mixer) = &mut self.parts.mixer else { return };
        mixer.keep(done);
        while let Some(MixedBatch { batch, outcome }) = self.parts.mixer.as_mut().and_then(Mixer::next) {
            match outcome {
                Ok(mixed) => self.publish(batch, Some(&mixed)),
                Err(panic) => {
                    let reason = format!("Batch {} could not be mixed: {panic}.", batch.sheet.batch);
                    let ready = publish(batch, None, &mut self.parts.targets);
                    // If the batch's positions came back, they would be mixed in vain again.
                    self.failed = true;
                    (self.parts.output)(Handover::Lost(ready, reason));
                }
            }
        }
    }

    /// Tells the ledger that this daemon has no batch of an epoch in the making, and which positions fill no batch.
    fn settled(&mut self, epoch: u64, tail: &[Position]) {
        // An epoch that this daemon has nothing of is settled anyway.
        if let Some(last_lease) = self.last_leases.take(epoch) {
            let tail = ranges(tail.iter().map(|position| (position.lease, position.offset, position.offset + 1)));
            let range = |(lease, start, end)| LeasedRange { lease, range: Some(Range { start, end }) };
            let tail = tail.into_iter().map(range).collect();
            self.tell(Fate::Settled(SettledEpoch { epoch, last_lease, tail }));
        }
    }

    /// Where a bad record is, and what is wrong with it.
    fn bad(&self, record: u64, reason: Reason) -> (Locator, Reason) {
        let (stream, locator) = (&self.parts.stream, self.parts.order.locator(record));
        tracing::debug!(stream, record, %locator, %reason, may_pass = reason.may_pass(), "a record is bad");
        (locator, reason)
    }

    /// Keeps a free slot for the next batch.
    fn keep(&mut self, slot: SlotMut) {
        self.later.slot_came();
        self.parts.slots.keep(slot);
    }

    fn tell(&self, fate: Fate) {
        // The ledger's task outlives the stage, except in a daemon that ends at once.
        let _gone = self.parts.fates.send(fate);
    }

    fn close(mut self) -> u64 {
        self.parts.decoding.withdraw_suspects();
        let mut done = Vec::new();
        loop {
            self.parts.decoding.take(&mut done);
            done.drain(..).for_each(|Done { at, place, .. }| self.parts.slots.back(at, place));
            if self.parts.slots.lent() == 0 || self.parts.decoding.news().recv().is_err() {
                break;
            }
        }
        while let Some(done) = self.parts.mixer.as_ref().filter(|mixer| !mixer.is_idle()).map(|it| it.done().recv()) {
            // The mixer has a sender itself, so that this is never disconnected.
            if let Ok(done) = done {
                self.mixed(done);
            }
        }
        let made = self.batcher.close().into_iter().chain(self.unplaced);
        let made = made.map(|position| (position.lease, position.offset, position.offset + 1));
        self.give_back(made.chain(self.parts.prefetch.close()));
        for slot in self.parts.slots.close_all() {
            (self.parts.output)(Handover::Unused(slot));
        }
        self.batcher.next_number()
    }
}
