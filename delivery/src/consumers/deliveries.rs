//! The only owner of published batches. It knows the state and the holder of each batch, the claims that it answers
//! for, and whether its epoch may end. These three change together, and only here. The ring's thread calls it and
//! executes the results. It does no I/O, and gets the time as an argument.

mod absence;
mod deeds;
mod eviction;
mod lag;
mod missing;
#[cfg(test)]
mod model;
mod waits;

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

use forebay_proto::v1::{Cause, GroupKey, Progress, ReturnedRange};
use forebay_ring::{
    Ack, BatchId, ClaimSum, ConsumerId, Exchange, Granted, HeldBatch, Membership, NoPlace, SlotId, Voided,
};

use super::claims::{BatchClaims, Claims, Receipts};
use super::epoch_end::EpochEnd;
use super::held_claim::{HandedIn, HeldClaim};
use crate::ack::Fate;
use crate::handover::{FinishedBatch, StageWait};
use crate::settings::{DeliverySettings, Mode};
use crate::worker::Others;
use absence::Absence;
pub(super) use deeds::Deed;
use eviction::Eviction;
use lag::Lag;
use missing::Missing;
use waits::Asking;
pub(super) use waits::{Doing, Holding, Overdue};

/// The published batches of a stream, and those of an earlier incarnation in trainers' hands.
#[derive(Debug)]
pub(super) struct Deliveries {
    /// Which slot each is in, and who has it.
    exchange: Exchange,
    /// The claims of each batch, until it is acked.
    claims: Claims,
    end: EpochEnd,
    /// The groups of trainers, as the ledger knows them; none in `split`.
    keys: HashMap<ConsumerId, GroupKey>,
    /// Reports on groups for the ledger: which are there, and what they have consumed that others wait for.
    told: Vec<Fate>,
    /// Named groups without a trainer.
    absence: Absence,
    /// Groups that may have missed batches of a daemon that ended, or of leases that did.
    missing: Missing,
    /// How long a group has held up the others.
    lag: Lag,
    /// How long it may, if it is ended then.
    eviction: Eviction,
    /// The stream ends, and that is why trainers give back what they hold.
    ending: bool,
    /// `CLOCK_BOOTTIME` nanosecond until which batches may be handed out.
    deadline: u64,
    /// Trainers that have batches whose deadline has passed.
    expired: BTreeSet<ConsumerId>,
    /// Leases that are not this daemon's any more. Records of them may still be on their way through the stages.
    lost: BTreeSet<u64>,
    /// What other daemons have and want.
    others: Others,
    /// What the batch stage waits for.
    stage: StageWait,
    /// Since when trainers have waited for a batch.
    asking: Asking,
    /// Since when trainers have had nothing to do here, because only other daemons have positions of the epoch left.
    idle: Option<Instant>,
}

/// How many lost leases are remembered; a daemon has far fewer at a time.
const REMEMBERED: usize = 4096;

impl Deliveries {
    /// None yet; the stream starts at `epoch`. `in_order`: no batch passes one that waits for the ledger.
    pub(super) fn new(
        epoch: u64,
        epochs: Option<u64>,
        end_timeout: Duration,
        in_order: bool,
        delivery: DeliverySettings,
    ) -> Self {
        let (end, absence) = (EpochEnd::new(epoch, epochs, end_timeout), Absence::new(delivery.group_timeout));
        let exchange = if in_order { Exchange::new(epoch).in_order() } else { Exchange::new(epoch) };
        let exchange = if delivery.mode == Mode::Each { exchange.each() } else { exchange };
        let claims = Claims::default();
        let (expired, lost) = (BTreeSet::new(), BTreeSet::new());
        let (others, idle) = (Others::default(), None);
        Self {
            exchange,
            claims,
            end,
            keys: HashMap::new(),
            told: Vec::new(),
            absence,
            missing: Missing::default(),
            lag: Lag::default(),
            eviction: Eviction::new(delivery.slow),
            ending: false,
            deadline: u64::MAX,
            expired,
            lost,
            others,
            stage: StageWait::default(),
            asking: Asking::default(),
            idle,
        }
    }

    /// The slots, batches and trainers, to look at.
    pub(super) fn exchange(&self) -> &Exchange {
        &self.exchange
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
        entry.back(Cause::Unseen)
    }

    /// A trainer came with a batch of an earlier incarnation, or with a part of one.
    pub(super) fn adopt(&mut self, consumer: ConsumerId, handed_in: HandedIn) {
        self.exchange.adopt(consumer, handed_in.hold, handed_in.batch);
        self.claims.adopted(consumer, handed_in);
    }

    /// A trainer that came with claims of an earlier incarnation is not let in. Gives what is to go back.
    pub(super) fn refuse(&mut self, claims: impl Iterator<Item = HeldClaim>) -> Vec<ReturnedRange> {
        self.all_may_have_missed();
        self.claims.let_go(claims, Cause::TrainerEnded)
    }

    /// Takes one ACK packet. A receipt that fits no batch changes nothing.
    pub(super) fn ack(&mut self, consumer: ConsumerId, ack: &Ack, sums: &[ClaimSum]) -> Receipts {
        let receipt = HeldBatch::from(ack);
        let receipts = if self.exchange.awaits(consumer, receipt) {
            self.claims.sums(consumer, self.keys.get(&consumer), ack, sums)
        } else {
            Receipts::Whole
        };
        if matches!(receipts, Receipts::Whole | Receipts::Differ) && self.exchange.ack(consumer, receipt) {
            self.share(consumer, receipt);
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
        self.lost.extend(leases);
        while self.lost.len() > REMEMBERED {
            self.lost.pop_first();
        }
        let mut offered = Vec::new();
        for seq in self.claims.of_leases(leases) {
            match self.exchange.void(seq) {
                Voided::Dropped => self.claims.lose(seq, leases),
                Voided::Held(holders) => offered.extend(holders.into_iter().map(|consumer| (consumer, seq))),
                Voided::Unknown => {}
            }
        }
        self.were_voided(&offered);
        offered
    }

    /// Whether some of the batch's records are no longer this daemon's: no trainer may get it.
    pub(super) fn is_lost(&self, ready: &FinishedBatch) -> bool {
        !self.lost.is_empty() && ready.claims.iter().any(|claim| self.lost.contains(&claim.lease))
    }

    /// Sets the moment until which trainers may hand out what is offered to them. Returns the trainers that wait for a
    /// later deadline. The others learn it from their next offer: one that does not read must not be sent a message every
    /// second.
    pub(super) fn renew(&mut self, deadline: u64) -> BTreeSet<ConsumerId> {
        self.deadline = deadline;
        std::mem::take(&mut self.expired)
    }

    /// A later deadline than the one that this trainer knows. If there is none yet, the trainer is told when there is.
    pub(super) fn deadline_beyond(&mut self, consumer: ConsumerId, known: u64) -> Option<u64> {
        let later = self.deadline > known;
        if !later {
            self.expired.insert(consumer);
        }
        later.then_some(self.deadline)
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
        if self.claims.undelivered(open) > 0 || !self.end.is_over(open) || self.is_missing_untold() {
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
            self.may_have_missed(name, now);
        } else {
            self.told.push(Fate::GroupEnded(name));
        }
    }

    /// Notes how the ledger knows an attached trainer's group.
    pub(super) fn belongs_to(&mut self, consumer: ConsumerId, key: Option<GroupKey>) {
        let Some(key) = key else { return };
        // The ledger has heard so already. But the group may have ended since, without a trainer.
        self.told.extend((!key.name.is_empty()).then(|| Fate::GroupBegan(key.name.clone())));
        self.keys.insert(consumer, key);
    }

    /// A trainer allows more offers.
    pub(super) fn credit(&mut self, consumer: ConsumerId, more: u64) {
        self.exchange.credit(consumer, more);
    }

    /// A trainer has said that it leaves.
    pub(super) fn bye(&mut self, consumer: ConsumerId) {
        self.keys.remove(&consumer);
        self.claims.left(consumer);
        self.exchange.bye(consumer);
    }

    /// A trainer has hung up, or has to; its process may live on and look at its slots.
    pub(super) fn put_out(&mut self, consumer: ConsumerId) {
        self.keys.remove(&consumer);
        self.claims.left(consumer);
        self.exchange.put_out(consumer);
    }

    /// A trainer's process has ended.
    pub(super) fn gone(&mut self, consumer: ConsumerId) {
        self.expired.remove(&consumer);
        self.keys.remove(&consumer);
        self.claims.left(consumer);
        self.exchange.gone(consumer);
    }
}

/// Splits a batch into its slot's place, its number and its claims. From here on, the slot is only read.
fn split(mut ready: FinishedBatch) -> (SlotId, BatchId, BatchClaims) {
    let place = SlotId { ring: ready.slot.ring(), slot: ready.slot.index() };
    let batch = BatchId { seq: ready.seq, epoch: ready.epoch };
    (place, batch, BatchClaims::new(&mut ready))
}
