//! The only owner of published batches. It knows the state and the holder of each batch, the claims that it answers
//! for, and whether its epoch may end. These three change together, and only here. The ring's thread calls it and
//! executes the results. It does no I/O, and gets the time as an argument.

mod absence;
mod deadline;
mod effects;
mod eviction;
mod groups;
mod lag;
mod lost;
mod missing;
#[cfg(test)]
mod model;
mod waits;

use std::time::{Duration, Instant};

use forebay_proto::v1::{Cause, GroupKey, Progress, ReturnedRange};
use forebay_ring::{
    Ack, Action, BatchId, ClaimSum, ConsumerId, Exchange, Granted, GroupState, HeldBatch, Membership, NoPlace, SlotId,
    Voided,
};

use super::claims::{BatchClaims, Claims, Receipts};
use super::epoch_end::EpochEnd;
use super::held_claim::{HeldClaim, ResumedBatch};
use super::parts::{DeliveryRules, EpochTerms};
use crate::handover::FinishedBatch;
use crate::settings::GroupPolicy;
use deadline::OfferDeadline;
pub(super) use effects::Effect;
use groups::Groups;
use lost::LostLeases;
use waits::Waits;
pub(super) use waits::{Doing, Holding, Overdue};

/// The published batches of a stream, and those of an earlier incarnation in trainers' hands.
#[derive(Debug)]
pub(super) struct Deliveries {
    /// Which slot each is in, and who has it.
    exchange: Exchange,
    /// The claims of each batch, until it is acked.
    claims: Claims,
    end: EpochEnd,
    /// The groups of trainers, and what each has missed or holds up.
    pub(super) groups: Groups,
    /// What trainers without a batch wait for.
    pub(super) waits: Waits,
    /// Until when trainers may hand out their batches.
    pub(super) deadline: OfferDeadline,
    /// Leases that are not this daemon's any more.
    lost: LostLeases,
    /// The stream ends, and that is why trainers give back what they hold.
    ending: bool,
}

impl Deliveries {
    /// None yet; the stream starts at the first of these epochs.
    pub(super) fn new(epochs: EpochTerms, rules: DeliveryRules) -> Self {
        let DeliveryRules { settings, in_order, steps } = rules;
        let exchange = Exchange::new(epochs.first);
        let exchange = if in_order { exchange.in_order() } else { exchange };
        let exchange = if settings.groups == GroupPolicy::Each { exchange.each() } else { exchange };
        Self {
            exchange,
            claims: Claims::of_steps(steps),
            end: EpochEnd::new(epochs.first, epochs.count, epochs.end_timeout),
            groups: Groups::new(settings.group_timeout, settings.slow),
            waits: Waits::default(),
            deadline: OfferDeadline::default(),
            lost: LostLeases::default(),
            ending: false,
        }
    }

    /// The slots, batches and trainers, to look at.
    pub(super) fn exchange(&self) -> &Exchange {
        &self.exchange
    }

    /// What is to be done, oldest first. Call it after every event.
    pub(super) fn effects(&mut self) -> Vec<Effect> {
        let Self { exchange, claims, groups, deadline, ending, .. } = self;
        let mut is_decided = false;
        let actions = exchange.drain().inspect(|action| {
            is_decided |= matches!(action, Action::AdoptedAcked(_) | Action::Orphaned { .. });
        });
        let decided = actions.filter_map(|action| effects::effect(action, claims, *ending, deadline.at()));
        // A group's receipt goes before the batch's own.
        let effects = groups.reports().map(Effect::Tell).chain(decided).collect();
        if is_decided {
            groups.all_may_have_missed(exchange);
        }
        effects
    }

    // Batches.

    /// Publishes a batch, which goes to the trainers that are next.
    pub(super) fn publish(&mut self, ready: FinishedBatch) {
        let (place, batch, entry) = split(ready);
        self.claims.published(batch.seq, entry);
        self.exchange.publish(place, batch);
    }

    /// No trainer gets this batch, so its slot is free again. Returns the ranges to give back.
    pub(super) fn give_up(&mut self, ready: FinishedBatch) -> Vec<ReturnedRange> {
        let (place, _, entry) = split(ready);
        self.exchange.give_up(place);
        self.claims.back(entry, Cause::Unseen)
    }

    /// A trainer came with a batch of an earlier incarnation, or with a part of one.
    pub(super) fn adopt(&mut self, consumer: ConsumerId, resumed_batch: ResumedBatch) {
        self.exchange.adopt(consumer, resumed_batch.hold, resumed_batch.batch);
        self.claims.adopted(consumer, resumed_batch);
    }

    /// A trainer that came with claims of an earlier incarnation is not let in. Gives what is to go back.
    pub(super) fn refuse(&mut self, claims: impl Iterator<Item = HeldClaim>) -> Vec<ReturnedRange> {
        self.groups.all_may_have_missed(&self.exchange);
        self.claims.let_go(claims, Cause::TrainerEnded)
    }

    /// Takes one ACK packet. A receipt that fits no batch changes nothing.
    pub(super) fn ack(&mut self, consumer: ConsumerId, ack: &Ack, sums: &[ClaimSum]) -> Receipts {
        let receipt = HeldBatch::from(ack);
        let receipts = if self.exchange.awaits(consumer, receipt) {
            self.claims.sums(consumer, self.groups.key(consumer), ack, sums)
        } else {
            Receipts::Whole
        };
        if matches!(receipts, Receipts::Whole | Receipts::Differ) && self.exchange.ack(consumer, receipt) {
            self.groups.share(consumer, receipt, &self.exchange, &self.claims);
        }
        receipts
    }

    /// A trainer has no view of a slot any more, or gives its batch back.
    pub(super) fn release(&mut self, consumer: ConsumerId, receipt: HeldBatch, returned: bool) {
        self.exchange.release(consumer, receipt, returned);
    }

    /// The ledger knows which trainer may have seen the batch, so it may be offered again.
    pub(super) fn noted(&mut self, seq: u64) {
        self.exchange.noted(seq);
    }

    /// This daemon has lost these leases. Batches of them that no trainer holds are void (semantics rule 5). Returns
    /// those that were offered, with their trainers. Before a trainer gets a later deadline, the caller must tell it not
    /// to hand them out.
    pub(super) fn lose(&mut self, leases: &[u64]) -> Vec<(ConsumerId, u64)> {
        self.lost.add(leases);
        let mut offered = Vec::new();
        for seq in self.claims.of_leases(leases) {
            match self.exchange.void(seq) {
                Voided::Dropped => self.claims.lose(seq, leases),
                Voided::Held(holders) => offered.extend(holders.into_iter().map(|consumer| (consumer, seq))),
                Voided::Unknown => {}
            }
        }
        self.groups.were_voided(&offered, &self.exchange);
        offered
    }

    /// Whether some of the batch's records are no longer this daemon's: no trainer may get it.
    pub(super) fn is_lost(&self, ready: &FinishedBatch) -> bool {
        self.lost.has_any(&ready.claims)
    }

    /// Drops the batches that no trainer holds.
    pub(super) fn drop_ready(&mut self) {
        self.exchange.drop_ready();
    }

    /// Like [`drop_ready`](Self::drop_ready), because the stream ends. Batches that one group holds, or has acked, are
    /// kept for the other groups.
    pub(super) fn drop_unread(&mut self) {
        self.exchange.drop_unread();
    }

    /// Gives back batches that no group has acked. The ledger knows of those that some groups have acked and others have
    /// not.
    pub(super) fn drop_unacked(&mut self) {
        self.exchange.drop_unacked();
    }

    /// Like [`drop_ready`](Self::drop_ready), after every lease was fenced: no position of these leases can be given
    /// back.
    pub(super) fn drop_fenced(&mut self, progress: Progress) {
        let _void = self.claims.clear(progress.floor);
        self.drop_ready();
    }

    /// Continues from the ledger's progress, once the dropped batches are dealt with. Returns the ranges of this and
    /// later epochs that must be given back: a reset has fenced only the leases of its own epoch, and trainers may have
    /// offers of the next one.
    pub(super) fn restart(&mut self, progress: Progress) -> Vec<ReturnedRange> {
        let left = self.claims.clear(progress.floor);
        self.exchange.restart_at(progress.floor);
        self.end.reopen(progress);
        left
    }

    /// From now on, trainers give back what they hold because the stream ends, which is no death (semantics rule 21).
    pub(super) fn end(&mut self) {
        self.ending = true;
    }

    // Epochs.

    /// An update from the coordinator.
    pub(super) fn heard(&mut self, progress: Progress) {
        self.end.heard(progress);
    }

    /// The stream has failed: no epoch ends before it continues.
    pub(super) fn fails(&mut self) {
        self.end.fails();
    }

    /// Opens the next epoch if the current one is over, and returns the number of the one that ended.
    pub(super) fn advance(&mut self) -> Option<u64> {
        let open = self.exchange.open();
        if self.claims.undelivered(open) > 0 || !self.end.is_over(open) || self.groups.is_missing_untold() {
            return None;
        }
        self.exchange.open_epoch(open + 1);
        Some(open)
    }

    /// The number of epochs, once all are over.
    pub(super) fn done(&self) -> Option<u64> {
        self.end.done()
    }

    /// Like [`done`](Self::done), but only once, and only after the end of the last epoch. A reset or a restore may have
    /// ended that epoch too.
    pub(super) fn just_done(&mut self) -> Option<u64> {
        let open = self.exchange.open();
        self.end.done().filter(|epochs| open >= *epochs)?;
        self.end.just_done()
    }

    // Slots.

    /// A ring has come.
    pub(super) fn add_ring(&mut self, ring: u32, slots: u32) {
        self.exchange.add_ring(ring, slots);
    }

    /// A slot has its memory.
    pub(super) fn populated(&mut self, slot: SlotId) {
        self.exchange.populated(slot);
    }

    /// No slot of this ring is filled any more.
    pub(super) fn retire_ring(&mut self, ring: u32) {
        self.exchange.retire_ring(ring);
    }

    /// A batch of this epoch needs a slot, so later batches that no trainer has seen give way. Returns these batches.
    pub(super) fn give_way(&mut self, epoch: u64) -> Vec<BatchId> {
        self.exchange.give_way(epoch)
    }

    /// A slot to be filled, while there is one.
    pub(super) fn claim(&mut self) -> Option<SlotId> {
        self.exchange.claim()
    }

    // Trainers.

    /// A trainer comes, and asks for credits.
    pub(super) fn attach(
        &mut self,
        consumer: ConsumerId,
        asked: u32,
        membership: Membership,
    ) -> Result<Granted, NoPlace> {
        self.exchange.attach(consumer, asked, membership)
    }

    /// A group was there before the daemon was started, and may come back within `group_timeout`. If there is no such group here, the
    /// ledger is told that it has ended.
    pub(super) fn expect_group(&mut self, name: String, now: Instant) {
        if self.exchange.expect_group(&name) {
            self.groups.may_have_missed(name, now);
        } else {
            self.groups.has_ended(name);
        }
    }

    /// Notes how the ledger knows an attached trainer's group.
    pub(super) fn belongs_to(&mut self, consumer: ConsumerId, key: Option<GroupKey>) {
        if let Some(key) = key {
            self.groups.joined(consumer, key);
        }
    }

    /// A trainer allows more offers.
    pub(super) fn credit(&mut self, consumer: ConsumerId, more: u64) {
        self.exchange.credit(consumer, more);
    }

    /// A trainer has said that it leaves.
    pub(super) fn bye(&mut self, consumer: ConsumerId) {
        self.groups.left(consumer);
        self.claims.left(consumer);
        self.exchange.bye(consumer);
    }

    /// A trainer has hung up, or has to; its process may live on and look at its slots.
    pub(super) fn evict(&mut self, consumer: ConsumerId) {
        self.groups.left(consumer);
        self.claims.left(consumer);
        self.exchange.evict(consumer);
    }

    /// A trainer's process has ended.
    pub(super) fn gone(&mut self, consumer: ConsumerId) {
        self.deadline.forget(consumer);
        self.groups.left(consumer);
        self.claims.left(consumer);
        self.exchange.gone(consumer);
    }

    // Groups of trainers, and waits.

    /// Ends a group whose trainers were evicted.
    pub(super) fn end_group(&mut self, group: &GroupState) {
        self.exchange.end_group(group.id);
        self.groups.forget(group);
    }

    /// Ends the groups that have had no trainer for too long, and gives them.
    pub(super) fn end_absent(&mut self, now: Instant) -> Vec<GroupState> {
        let mut late = self.groups.absence.late(self.exchange.groups(), now);
        late.retain(|group| self.exchange.end_group(group.id));
        for group in &late {
            self.groups.forget(group);
        }
        late
    }

    /// The group that others have waited for, for long enough to be told, and who waits. Once for each wait.
    pub(super) fn lagging(&mut self, now: Instant) -> Option<(GroupState, Vec<ConsumerId>)> {
        self.groups.lag.lagging(self.exchange.held_up(), now)
    }

    /// The group that is to be ended, and how long it has made others wait.
    pub(super) fn overstaying(&mut self, now: Instant) -> Option<(GroupState, Duration)> {
        self.groups.eviction.overstaying(&self.exchange, &self.end, now)
    }

    /// The groups to ask the ledger about, each once.
    pub(super) fn ask_what_is_missed(&mut self, now: Instant) -> Vec<String> {
        self.groups.ask_what_is_missed(&self.exchange, &self.claims, now)
    }

    /// Looks whether trainers of those that are `here` have nothing to do in the open epoch, for long enough to say so. The time
    /// of an outage does not count: it has its own words.
    pub(super) fn overdue(
        &mut self,
        here: impl Iterator<Item = ConsumerId>,
        is_outage: bool,
        now: Instant,
    ) -> Option<Overdue> {
        self.waits.overdue(here, &self.exchange, &mut self.end, is_outage, now)
    }

    /// If trainers of other daemons wait for the open epoch: takes its batches back that were ready before this moment
    /// (`CLOCK_MONOTONIC` nanosecond). Gives those that were offered, each once: their trainers are to be told, and may have
    /// taken them.
    pub(super) fn recall(&mut self, ready_before: u64) -> Vec<(ConsumerId, u64)> {
        let epoch = self.exchange.open();
        if !self.waits.is_wanted_elsewhere(epoch) {
            return Vec::new();
        }
        let mut offered = Vec::new();
        for seq in self.claims.recall(epoch, ready_before) {
            if let Voided::Held(holders) = self.exchange.void(seq) {
                offered.extend(holders.into_iter().map(|consumer| (consumer, seq)));
            }
        }
        offered
    }
}

/// Splits a batch into its slot's place, its number and its claims. From here on, the slot is only read.
fn split(mut ready: FinishedBatch) -> (SlotId, BatchId, BatchClaims) {
    let place = SlotId { ring: ready.slot.ring(), slot: ready.slot.index() };
    let batch = BatchId { seq: ready.seq, epoch: ready.epoch };
    (place, batch, BatchClaims::new(&mut ready))
}
