//! Batches that some groups of trainers have had and others have not (semantics rule 44).
//!
//! ```text
//! shared: a group has consumed it -> ends with the batch's own receipt
//!   | its lease ends, with the worker's incarnation or before
//!   v
//! owed: delivered, and the groups that it names have not had it -> ends when they have handed it in, are told, or have ended
//! ```
//! What a trainer has consumed of a dead daemon's batches is owed to the other groups too, where no share told of it. What a
//! trainer goes on holding is *held*: it is not delivered yet, and all groups wait for it that have not consumed it, also the
//! trainer's own. What groups consume of it counts when it is delivered; nobody is told before that they missed it. A trainer
//! that only has in its hands what another one holds, or what is delivered, changes nothing until it has consumed it.

use std::collections::BTreeSet;
use std::sync::Arc;

use forebay_proto::v1::{
    AckItem, GroupReceipt, GroupShare, MissedBatches, Range, StoredShare, StoredShares, ack_item::Kind,
};

use super::groups::{extend, has_name};
use super::receipts::receipt_range;
use super::returned::TakenPositions;
use super::tallies::{NAME_LEN, PositionFate};
use super::{LeaseOut, Ledger, Tallies};

/// Shares that are kept. The batches of a ring have far fewer claims.
const MOST: usize = 1 << 16;
/// Groups that a stream may have. One batch has no more receipts of groups, and no more of them wait for it.
const GROUPS: usize = 64;

/// All of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Shares {
    list: Vec<StoredShare>,
    /// Names of groups that are there.
    present: BTreeSet<String>,
    /// Those that were there when the last incarnation ended, and have not ended.
    former: BTreeSet<String>,
    /// The epoch in which the last incarnation ended, if no group was counted in it then. Not stored.
    renumbered: Option<u64>,
}

impl Shares {
    pub(super) fn stored(&self) -> Option<StoredShares> {
        let Self { list, present, former, renumbered: _ } = self;
        let names = |names: &BTreeSet<String>| names.iter().cloned().collect();
        let stored = StoredShares { shares: list.clone(), present: names(present), former: names(former) };
        (stored != StoredShares::default()).then_some(stored)
    }

    pub(super) fn of(stored: StoredShares) -> Self {
        let StoredShares { shares, present, former } = stored;
        let names = |names: Vec<String>| names.into_iter().take(GROUPS).collect();
        Self { list: shares, present: names(present), former: names(former), renumbered: None }
    }

    /// Whether all are of epochs up to this one.
    pub(super) fn are_possible(&self, last: u64) -> bool {
        self.list.len() <= MOST && self.list.iter().all(|share| share.epoch <= last)
    }

    fn find(&self, at: LeasePart, which: impl Fn(&StoredShare) -> bool) -> Option<usize> {
        self.list.iter().position(|share| part(share) == at && which(share))
    }
}

/// A lease, and where in it a range begins.
type LeasePart = (u64, u64);

fn part(share: &StoredShare) -> LeasePart {
    share.item.as_ref().map_or((0, 0), part_of)
}

fn part_of(item: &AckItem) -> LeasePart {
    (item.lease, item.range.unwrap_or_default().start)
}

/// A trainer has held it since its daemon ended: it is not delivered yet.
fn is_held(share: &StoredShare) -> bool {
    share.owed && share.item.is_some_and(|item| item.kind() != Kind::Delivered)
}

/// Takes in that a group has consumed it, once. It waits no more.
fn consume(share: &mut StoredShare, receipt: &GroupReceipt) {
    share.waiting.retain(|name| !is_of(receipt, name));
    if share.had.len() < GROUPS && share.had.iter().all(|had| had.group != receipt.group) {
        share.had.push(receipt.clone());
    }
}

fn is_of(receipt: &GroupReceipt, name: &str) -> bool {
    receipt.group.as_ref().is_some_and(|group| group.name == name)
}

/// The name of a receipt's group, if it has one.
fn name_of(receipt: &GroupReceipt) -> Option<String> {
    receipt.group.as_ref().map(|group| group.name.clone()).filter(|name| !name.is_empty())
}

/// Whether a group tells with it that it has consumed something.
fn is_consumed(receipt: &GroupReceipt) -> bool {
    receipt.item.is_some_and(|item| item.kind() == Kind::Delivered)
}

impl Ledger {
    /// Notes groups that are there, and those that have ended. What was owed to these, nobody is told of any more.
    pub(super) fn note_groups(&mut self, began: &[String], ended: &[String]) {
        if !ended.is_empty() {
            self.write_off(ended, |_| true);
            let Shares { list, present, former, .. } = &mut self.shares;
            for share in list {
                share.waiting.retain(|name| !ended.contains(name));
            }
            present.retain(|name| !ended.contains(name));
            former.retain(|name| !ended.contains(name));
            self.touch_shares();
        }
        for name in began.iter().filter(|name| !name.is_empty() && name.len() <= NAME_LEN) {
            if self.shares.present.len() < GROUPS && self.shares.present.insert(name.clone()) {
                self.touch_shares();
            }
        }
    }

    /// The groups that were there when the last incarnation ended.
    pub(crate) fn former_groups(&self) -> Vec<String> {
        self.shares.former.iter().cloned().collect()
    }

    /// The sums of an epoch, for the receipt of a group.
    pub(super) fn tally_of_groups(&mut self, epoch: u64) -> &mut Tallies {
        let renumbered = self.shares.renumbered == Some(epoch);
        let tallies = self.tally(epoch);
        tallies.renumbered |= renumbered;
        tallies
    }

    /// An incarnation has ended. Its groups may come back to the next one, which waits for them until it says that they have ended.
    pub(super) fn groups_may_come_back(&mut self) {
        // The next one numbers its batches anew, and is handed in receipts for batches of this one.
        let floor = self.progress().floor;
        if self.tallies.get(floor).is_some_and(|tallies| !tallies.groups.is_empty()) {
            self.tally(floor).renumbered = true;
        } else if !self.workers.is_empty() {
            self.shares.renumbered = Some(floor);
        }
        let Shares { present, former, .. } = &mut self.shares;
        if present != former {
            former.clone_from(present);
            self.touch_shares();
        }
    }

    /// A group has consumed what others still wait for. A batch without records is shared by nobody.
    pub(super) fn share(&mut self, worker: &str, share: &GroupShare) {
        let Some(receipt) = share.receipt.as_ref().filter(|receipt| is_consumed(receipt) && has_name(receipt)) else {
            return;
        };
        let Some(item) = receipt.item else { return };
        let range = receipt_range(&item).filter(|range| self.has_records(worker, item.lease, range));
        let (Some(_), Some((epoch, _))) = (range, self.locate(worker, item.lease)) else { return };
        let at = match self.shares.find(part_of(&item), |share| !share.owed) {
            Some(at) => at,
            None if self.shares.list.len() >= MOST => return,
            None => {
                let new = StoredShare { epoch, batch: receipt.batch, item: Some(item), ..StoredShare::default() };
                self.shares.list.push(new);
                self.shares.list.len() - 1
            }
        };
        let known = &mut self.shares.list[at];
        known.waiting = self.shares.present.iter().filter(|name| share.waiting.contains(name)).cloned().collect();
        consume(known, receipt);
        self.touch_shares();
    }

    /// The batch's own receipt has come, with those that are `told` beside it. Groups that consumed it in another way have it too.
    /// Those that still wait have missed it.
    pub(super) fn end_share(&mut self, epoch: u64, item: &AckItem, told: &[&GroupReceipt]) {
        let Some(at) = self.shares.find(part_of(item), |_| true) else { return };
        let mut share = self.shares.list.remove(at);
        for receipt in share.had.iter().filter(|had| !told.iter().any(|told| told.group == had.group)) {
            self.tally_of_groups(epoch).count_for_group(receipt, item);
        }
        share.waiting.retain(|name| !told.iter().any(|told| is_of(told, name)));
        self.owe(StoredShare { item: Some(*item), had: Vec::new(), ..share });
        self.touch_shares();
    }

    /// Leases of a worker end: what some of its groups have consumed of them is delivered, and owed to the others. What trainers only
    /// hold, they hand in again, or all groups get it again.
    pub(super) fn deliver_shares(&mut self, worker: &str, ends: impl Fn(&LeaseOut) -> bool) {
        let Self { shares, workers, index, .. } = self;
        if shares.list.is_empty() {
            return;
        }
        let goes_on = |share: &StoredShare| {
            let (lease, _) = part(share);
            let holder = index.holder(lease);
            let out = holder.and_then(|name| Some((name, workers.get(&**name)?.leases.get(&lease)?)));
            (share.owed && !is_held(share)) || out.is_some_and(|(name, held)| **name != *worker || !ends(held))
        };
        let (kept, ended): (Vec<_>, Vec<_>) = std::mem::take(&mut shares.list).into_iter().partition(goes_on);
        shares.list = kept;
        for share in ended {
            self.deliver(worker, share);
        }
    }

    /// The same for all leases that end at this moment because no heartbeat has named them.
    pub(super) fn deliver_late_shares(&mut self, now: u64) {
        if !self.shares.list.is_empty() {
            // What is in no lease any more ends with the first worker.
            let first = self.workers.first_key_value().map(|(name, _)| Arc::from(&**name));
            let workers: BTreeSet<Arc<str>> = self.index.late(now).into_iter().chain(first).collect();
            for worker in workers {
                self.deliver_shares(&worker, |held| held.deadline <= now);
            }
        }
    }

    /// A trainer gives back what it held. Where another group has consumed it, it is delivered, and those that wait for it have missed
    /// it: true then. Else all groups get it again.
    pub(super) fn deliver_given_back(&mut self, worker: &str, lease: u64, range: Option<Range>) -> bool {
        let Some(at) = self.shares.find((lease, range.unwrap_or_default().start), is_held) else { return false };
        let share = self.shares.list.remove(at);
        self.deliver(worker, share)
    }

    /// Counts a share as delivered. False if nobody has consumed it, or a position of it has ended otherwise: then all groups get it
    /// again.
    fn deliver(&mut self, worker: &str, share: StoredShare) -> bool {
        self.touch_shares();
        let Some(item) = share.had.iter().find_map(|receipt| receipt.item) else { return false };
        let taken = self.take(worker, item.lease, &item.range.unwrap_or_default());
        let Ok(TakenPositions { grant, .. }) = taken else { return false };
        self.dirty.workers.insert(worker.to_owned());
        self.account(grant.epoch, &grant.range, |tallies, plan| {
            tallies.add(&item);
            tallies.count(plan, grant.epoch, &grant.range, PositionFate::Delivered);
        });
        for receipt in &share.had {
            self.tally_of_groups(grant.epoch).count_for_group(receipt, &item);
        }
        self.acks = self.acks.saturating_add(1);
        self.owe(StoredShare { item: Some(item), had: Vec::new(), ..share });
        true
    }

    /// Keeps what groups have missed until they are told, and what a trainer holds until that is decided.
    fn owe(&mut self, share: StoredShare) {
        let share = StoredShare { owed: true, ..share };
        if share.waiting.is_empty() && !is_held(&share) {
            return;
        }
        self.touch_shares();
        if self.shares.list.len() >= MOST {
            let oldest = self.shares.list.iter().position(|share| share.owed && !is_held(share));
            let Some(oldest) = oldest.map(|at| self.shares.list.remove(at)) else { return };
            // They are not told any more, but the audit has it.
            oldest.waiting.iter().for_each(|name| self.tally(oldest.epoch).count_missed(&missed_of(&oldest, name)));
        }
        self.shares.list.push(share);
    }

    /// A group's trainer has consumed what is known already: a former incarnation had it, or its lease has ended. True if it was owed
    /// to the group, or another trainer holds it.
    pub(super) fn settle_owed(&mut self, receipt: &GroupReceipt) -> bool {
        let Some(item) = receipt.item.filter(|_| is_consumed(receipt)) else { return false };
        let Some(at) = self.shares.find(part_of(&item), |share| share.owed) else { return false };
        let share = &mut self.shares.list[at];
        let is_owed = share.waiting.iter().any(|name| is_of(receipt, name));
        if is_held(share) {
            // It counts when the one who holds it has consumed it, or gives it back.
            consume(share, receipt);
        } else if is_owed {
            share.waiting.retain(|name| !is_of(receipt, name));
            let (epoch, known) = (share.epoch, share.item.unwrap_or(item));
            if share.waiting.is_empty() {
                self.shares.list.remove(at);
            }
            self.tally_of_groups(epoch).count_for_group(receipt, &known);
        } else {
            return false;
        }
        self.touch_shares();
        true
    }

    /// A trainer has what only another one may hold: its group waits for it too, unless it has consumed it.
    pub(super) fn wait_for_holder(&mut self, receipt: &GroupReceipt) {
        let (Some(item), Some(name)) = (receipt.item, name_of(receipt)) else { return };
        let Some(at) = self.shares.find(part_of(&item), is_held) else { return };
        let StoredShare { had, waiting, .. } = &mut self.shares.list[at];
        let is_there = waiting.contains(&name) || had.iter().any(|had| is_of(had, &name));
        if !is_there && waiting.len() < GROUPS {
            waiting.push(name);
            self.touch_shares();
        }
    }

    /// A trainer of this group has consumed what a former incarnation had, or holds it: the other groups that were there do not get
    /// it. While it holds it, its own group waits as well: the trainer may end without consuming it.
    pub(super) fn owe_to_others(&mut self, epoch: u64, receipt: &GroupReceipt) {
        // One of bad records alone has none.
        let Some(item) = receipt.item.filter(|item| item.count > 0) else { return };
        let mut waiting = self.shares.former.clone();
        if let Some(name) = name_of(receipt) {
            if is_consumed(receipt) {
                waiting.remove(&name)
            } else {
                waiting.insert(name)
            };
        }
        let waiting = waiting.into_iter().take(GROUPS).collect();
        self.owe(StoredShare { epoch, batch: receipt.batch, item: Some(item), waiting, ..StoredShare::default() });
    }

    /// What these groups have missed. It is owed to them no more. What trainers hold nobody has missed yet.
    pub(super) fn missed(&mut self, names: &[String]) -> Vec<MissedBatches> {
        self.write_off(names, |share| !is_held(share))
    }

    /// Counts what these groups were owed as missed.
    fn write_off(&mut self, names: &[String], which: impl Fn(&StoredShare) -> bool) -> Vec<MissedBatches> {
        let mut missed: Vec<MissedBatches> = Vec::new();
        for share in self.shares.list.iter_mut().filter(|share| share.owed && which(share)) {
            for name in share.waiting.iter().filter(|name| names.contains(name)) {
                add(&mut missed, missed_of(share, name));
            }
            share.waiting.retain(|name| !names.contains(name));
        }
        if !missed.is_empty() {
            // Of what a trainer holds, it is still to count who has had it.
            self.shares.list.retain(|share| !share.owed || is_held(share) || !share.waiting.is_empty());
            for each in &missed {
                self.tally(each.epoch).count_missed(each);
            }
            self.touch_shares();
        }
        missed
    }

    /// The run goes on elsewhere: nothing of it is shared, and nothing owed.
    pub(super) fn forget_shares(&mut self) {
        self.drop_shares(|_| true);
    }

    /// An epoch ends early: what is not delivered of it counts as abandoned.
    pub(super) fn abandon_shares(&mut self, epoch: u64) {
        self.drop_shares(|share| share.epoch == epoch && (!share.owed || is_held(share)));
    }

    fn drop_shares(&mut self, which: impl Fn(&StoredShare) -> bool) {
        let before = self.shares.list.len();
        self.shares.list.retain(|share| !which(share));
        if self.shares.list.len() < before {
            self.touch_shares();
        }
    }

    fn touch_shares(&mut self) {
        self.dirty.shares = true;
        self.touch();
    }
}

/// That this group has missed a share.
fn missed_of(share: &StoredShare, group: &str) -> MissedBatches {
    let records = share.item.map_or(0, |item| item.count);
    MissedBatches { group: group.to_owned(), epoch: share.epoch, from: share.batch, to: share.batch, records }
}

/// Adds to the batches that the same group has missed in the same epoch.
fn add(missed: &mut Vec<MissedBatches>, more: MissedBatches) {
    match missed.iter_mut().find(|known| (&known.group, known.epoch) == (&more.group, more.epoch)) {
        Some(known) => extend(known, &more),
        None => missed.push(more),
    }
}
