//! The ring's thread of one stream. It receives from sockets, notices deaths, and sends offers.
//!
//! [`Deliveries`] decides; this thread executes the decisions. Only this thread knows which slot is where. It receives
//! batches as rights to slots, and passes free slots on as rights. It waits for nothing but the kernel.

mod asked;
mod attached;
mod claims;
mod condition;
mod deliveries;
mod epoch_end;
mod heard;
mod held_claim;
mod inbox;
mod ledger_reports;
mod look;
mod parts;
mod readers;
mod rings;
mod skipped;
mod status;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use forebay_proto::v1::{LastHolder, Progress};
use forebay_ring::{MessageKind, PACKET_LEN, packet, text_code};

use crate::clock::{monotonic, nanos};
use crate::handover::{FinishedBatch, Handover};
use crate::outcomes::DeliveryOutcome;
pub use asked::{Asked, NoCall};
pub(crate) use attached::Arrival;
pub(crate) use claims::ranges;
use condition::Condition;
use deliveries::{Deliveries, Effect};
use forebay_threads as threads;
use heard::hear;
pub(crate) use held_claim::{HeldClaim, ResumedBatch};
pub(crate) use inbox::{Inbox, InboxMessage, Outbox, inbox};
pub(crate) use ledger_reports::LedgerReports;
use look::{evict_group, tell_of, tell_of_lag};
pub use parts::Counters;
pub(crate) use parts::{DeliveryRules, EpochTerms, RingParts, RingSupply, TrainerHooks};
use readers::{Readers, number};
use rings::RingSet;
pub use status::RingStatus;

/// The thread, and what it knows.
pub(crate) struct RingThread {
    /// This daemon, for trainers that wait for it.
    node: LastHolder,
    inbox: Inbox,
    ledger: LedgerReports,
    counters: Arc<Counters>,
    deliveries: Deliveries,
    readers: Readers,
    rings: RingSet,
    condition: Condition,
    /// How long a batch that other daemons wait for may stay untaken.
    untaken: Duration,
    /// The stream is about to end.
    draining: bool,
}

impl std::fmt::Debug for RingThread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RingThread")
            .field("stream", &self.readers.stream())
            .field("deliveries", &self.deliveries)
            .finish_non_exhaustive()
    }
}

/// How often the end of an epoch is looked at.
const LOOK: Duration = Duration::from_secs(1);

impl RingThread {
    /// Starts the thread with the first ring; it ends when the inbox says so or is dropped.
    pub(crate) fn start(parts: RingParts, inbox: Inbox, outbox: &Outbox) -> std::io::Result<()> {
        let RingParts { stream, run, node, rings, ledger, hooks, untaken, counters, .. } = parts;
        let RingSupply { first, further, vacancies } = rings;
        let mut state = Self {
            deliveries: Deliveries::new(parts.epochs, parts.rules),
            rings: RingSet::start(stream.clone(), vacancies, further, outbox.clone())?,
            readers: Readers::new(stream, run, hooks, Arc::clone(&counters)),
            node,
            inbox,
            ledger,
            counters,
            condition: Condition::default(),
            untaken,
            draining: false,
        };
        for name in parts.groups {
            state.deliveries.expect_group(name, Instant::now());
        }
        threads::start("forebay-ring", move || {
            state.rings.add(0, first, &mut state.deliveries);
            state.run();
        })?;
        Ok(())
    }

    fn run(&mut self) {
        let mut buffer = vec![0; PACKET_LEN];
        let mut looked = Instant::now();
        loop {
            match self.inbox.messages() {
                Some(messages) => {
                    for message in messages {
                        if let InboxMessage::Close(done) = message {
                            self.end(&mut buffer);
                            done.send(()).ok();
                            return;
                        }
                        self.message(message);
                    }
                }
                None => return,
            }
            self.act();
            let (readable, dead) = self.readers.wait(self.inbox.bell(), LOOK);
            let heard = Instant::now();
            for id in readable {
                self.readers.receive(id, &mut buffer, &mut self.deliveries);
                self.act();
            }
            for id in dead {
                // What it sent before it died counts: everything is received first.
                self.readers.last_words(id, &mut buffer, &mut self.deliveries);
                self.readers.gone(id, &mut self.deliveries);
                self.act();
            }
            self.hand_on_calls(&mut buffer);
            // A process that has just been stopped and resumed must hear its trainers before it judges them.
            if looked.elapsed() >= LOOK && heard.elapsed() < LOOK {
                looked = Instant::now();
                self.look();
                self.act();
            }
        }
    }

    fn message(&mut self, message: InboxMessage) {
        let Self { deliveries, readers, rings, condition, .. } = self;
        match message {
            InboxMessage::Batch(output) => self.batch(output),
            InboxMessage::Failed(reason) => self.fail(text_code::OTHER, reason),
            // Its own bad record has failed it already.
            InboxMessage::RunFailed(_) if condition.failure().is_some() => {}
            InboxMessage::RunFailed(reason) => self.fail(text_code::RECORD, reason),
            InboxMessage::Tell { words, lasting } => {
                readers.send_all(&condition.ledger_says(words, lasting), deliveries);
            }
            InboxMessage::Populated(slot, Ok(())) => deliveries.populated(slot),
            InboxMessage::Populated(_, Err(error)) => self.fail(text_code::MEMORY, error.to_string()),
            InboxMessage::Ring(ring, made) => {
                if let Ok(made) = &made {
                    readers.pass(ring, made);
                }
                rings.take_over(ring, made, deliveries);
            }
            InboxMessage::Attach(arrival) => {
                let back = readers.attach(*arrival, rings, condition, deliveries);
                self.ledger.give_back(back);
            }
            InboxMessage::Progress(progress) => {
                for words in condition.skipped.ended(progress.floor) {
                    tracing::warn!(target: crate::TOLD, stream = readers.stream(), "{words}");
                    readers.send_all(&condition::notice(&words), deliveries);
                }
                deliveries.heard(progress);
            }
            InboxMessage::Answer { consumer, id, reply } => readers.answer(consumer, id, &reply, deliveries),
            InboxMessage::Evict { consumer, reason } => readers.evict(consumer, &reason, deliveries),
            InboxMessage::DropReady { progress, fenced, done } => {
                self.begin_again(progress, fenced);
                done.send(()).ok();
            }
            InboxMessage::Drain(done) => {
                self.draining = true;
                self.deliveries.drop_unread();
                self.act();
                done.send(()).ok();
            }
            InboxMessage::Ledger(word) => hear(word, readers, deliveries),
            InboxMessage::Restored(consumer) => readers.tell_if_done(consumer, deliveries),
            // The loop ends at it.
            InboxMessage::Close(_) => {}
            InboxMessage::Status(reply) => {
                reply.send(self.status()).ok();
            }
        }
    }

    fn batch(&mut self, output: Handover) {
        let Self { deliveries, readers, condition, .. } = self;
        match output {
            Handover::Ready(ready) => self.publish(ready),
            Handover::Lost(ready, reason) => {
                self.drop_batch(ready);
                self.fail(text_code::OTHER, reason);
            }
            Handover::Unused(slot) => self.rings.hand_out(slot),
            Handover::NeedsSlot { epoch } => self.rings.make_way(epoch, deliveries),
            Handover::Waits(wait) => deliveries.waits.stage_waits(wait),
            Handover::Stalled { words, expired } => {
                readers.send_all(&condition.storage_stalls(words, expired), deliveries);
            }
            Handover::Resumed => readers.send_all(&condition.storage_continues(), deliveries),
            Handover::Failed(reason) => self.fail(text_code::RECORD, reason),
            // A failed stream has told which record it was.
            Handover::Bad { epoch, turn, reason, place } if condition.failure().is_none() => {
                if let Some(words) = condition.skipped.bad(epoch, turn, &reason, place) {
                    tracing::warn!(target: crate::TOLD, stream = readers.stream(), "{words}");
                    readers.send_all(&condition::notice(&words), deliveries);
                }
            }
            Handover::Bad { .. } => {}
        }
    }

    fn status(&self) -> RingStatus {
        let exchange = self.deliveries.exchange();
        RingStatus {
            slots: exchange.counts(),
            bytes: self.rings.bytes(),
            consumers: exchange.consumers().map(|state| self.readers.status(&state)).collect(),
            groups: exchange.groups().map(|state| self.readers.group_status(state)).collect(),
            epoch: exchange.open(),
            unfinished: exchange.holders(exchange.open()).len(),
            failure: self.condition.failure().map(str::to_owned),
        }
    }

    /// Drops the batches that no trainer holds, and continues from the ledger's progress.
    fn begin_again(&mut self, progress: Progress, fenced: bool) {
        if fenced {
            self.deliveries.drop_fenced(progress);
        } else {
            self.deliveries.drop_ready();
        }
        self.act();
        let left = self.deliveries.restart(progress);
        self.ledger.give_back(left);
        self.condition.begins_again();
        self.readers.send_all(&number(MessageKind::Fenced, progress.floor), &mut self.deliveries);
    }

    /// Ends the thread. What trainers sent before still counts. Batches that they hold after that are given back, so that
    /// the end does not count as a death (semantics rule 21).
    fn end(&mut self, buffer: &mut [u8]) {
        self.deliveries.drop_unread();
        self.act();
        self.deliveries.end();
        let ids = self.readers.ids();
        for id in &ids {
            self.readers.last_words(*id, buffer, &mut self.deliveries);
        }
        self.deliveries.drop_unacked();
        for id in ids {
            // Its process lives, and may still read its slots: the batch thread, which ends later, is not to fill them.
            self.deliveries.evict(id);
        }
        self.act();
    }

    fn publish(&mut self, ready: FinishedBatch) {
        self.counters.published.fetch_add(1, Ordering::Relaxed);
        if self.draining || self.deliveries.is_lost(&ready) {
            return self.drop_batch(ready);
        }
        self.ledger.finished(&ready.claims);
        self.deliveries.publish(ready);
    }

    /// Gives back the claims and the slot of a batch that no trainer gets.
    fn drop_batch(&mut self, ready: FinishedBatch) {
        let ranges = self.deliveries.give_up(ready);
        self.ledger.give_back(ranges);
    }

    /// The stream has failed: no batch comes before a restore or a reset.
    fn fail(&mut self, code: u32, reason: String) {
        tracing::error!(target: crate::TOLD, stream = self.readers.stream(), reason, "the stream has failed");
        self.deliveries.fails();
        self.readers.send_all(&self.condition.fails(code, reason), &mut self.deliveries);
    }

    /// Hands on the calls of consumers. Everything that any consumer sent before a call counts in its answer, whichever
    /// socket was read first. So these packets are received, and their receipts go to the ledger, before the call is
    /// handed on.
    fn hand_on_calls(&mut self, buffer: &mut [u8]) {
        loop {
            let calls = self.readers.called(buffer, &mut self.deliveries);
            if calls.is_empty() {
                return;
            }
            self.act();
            self.readers.hand_on(calls);
        }
    }

    /// What time brings: an epoch that waits for a holder, batches that others wait for, a ring whose slots are stuck.
    fn look(&mut self) {
        let Self { deliveries, readers, ledger, .. } = self;
        let now = Instant::now();
        let has_failed = self.condition.failure().is_some();
        // A failure has its own words.
        if let Some(overdue) = deliveries.overdue(readers.open(), self.condition.is_outage() || has_failed, now) {
            tell_of(overdue, &self.node, readers, deliveries);
        }
        let delivers = !self.draining && !has_failed;
        ledger.set_waiting(delivers && deliveries.waits.is_idle(now, self.untaken / 2));
        for (id, seq) in deliveries.recall(monotonic().saturating_sub(nanos(self.untaken))) {
            readers.send(id, &number(MessageKind::Void, seq), deliveries);
        }
        for group in deliveries.end_absent(now) {
            let (name, batches) = (group.name.unwrap_or_default(), group.behind);
            ledger.tell(DeliveryOutcome::GroupEnded(name.clone()));
            let words = "a group has had no trainer for group_timeout, so its batches are no longer kept";
            tracing::warn!(stream = readers.stream(), group = name, batches, "{words}");
        }
        if let Some((group, waiting)) = deliveries.lagging(now) {
            tell_of_lag(&group, waiting, readers, deliveries);
        }
        if let Some((group, waited)) = deliveries.overstaying(now).filter(|_| delivers) {
            evict_group(&group, waited, readers, deliveries);
            group.name.into_iter().for_each(|name| ledger.tell(DeliveryOutcome::GroupEnded(name)));
        }
        self.rings.look(deliveries);
    }

    /// Does what is to be done with batches.
    fn act(&mut self) {
        loop {
            let effects = self.deliveries.effects();
            if effects.is_empty() {
                self.tell_missed();
                return self.advance();
            }
            for effect in effects {
                self.do_one(effect);
            }
        }
    }

    fn do_one(&mut self, effect: Effect) {
        let Self { deliveries, readers, rings, counters, .. } = self;
        match effect {
            Effect::Offer(consumer, offer) => {
                counters.redelivered.fetch_add(u64::from(offer.redelivered > 0), Ordering::Relaxed);
                readers.send(consumer, &packet(&offer, &[]), deliveries);
            }
            Effect::Tell(outcome) => {
                counters.delivered.fetch_add(outcome.consumed(), Ordering::Relaxed);
                self.ledger.tell(outcome);
            }
            Effect::Claim => rings.claim_free(deliveries),
            Effect::EpochEnd(consumer, epoch) => {
                readers.send(consumer, &number(MessageKind::EpochEnd, epoch), deliveries);
            }
            Effect::Gone(consumer) => readers.forget(consumer),
            Effect::RingEmpty(ring) => {
                rings.remove(ring);
                // This message follows every offer from the ring, so trainers hold no batch in it.
                readers.send_all(&number(MessageKind::Retired, ring.into()), deliveries);
            }
        }
    }

    /// Asks the ledger what groups have missed, and passes its answer to their trainers.
    fn tell_missed(&mut self) {
        let names = self.deliveries.ask_what_is_missed(Instant::now());
        if !names.is_empty() {
            self.ledger.tell(DeliveryOutcome::Missing(names));
        }
        for (missed, trainers) in self.deliveries.groups.take_untold() {
            self.readers.tell_missed(&missed, &trainers, &mut self.deliveries);
        }
    }

    /// Opens the next epoch when the current one is over, and tells all trainers when the last one is over.
    fn advance(&mut self) {
        if let Some(epoch) = self.deliveries.advance() {
            tracing::info!(stream = self.readers.stream(), epoch, "the epoch is complete");
            self.act();
        }
        if let Some(epochs) = self.deliveries.just_done() {
            self.readers.send_all(&number(MessageKind::Done, epochs), &mut self.deliveries);
        }
    }
}

#[cfg(test)]
mod tests;
