//! Batches that some groups of trainers have had and others have not (semantics rule 44).
//!
//! ```text
//! shared: a group has consumed it -> ends with the batch's own receipt
//!   | its lease ends, with the worker's incarnation or before
//!   v
//! owed: delivered, and the groups that it names have not had it -> ends when they have handed it in, are told, or have ended
//! ```
//! Batches of a dead daemon that a trainer has consumed are owed to the other groups too, even if no share reported them. A
//! batch that a trainer still holds is *held*: it is not delivered yet, and every group that has not consumed it waits for
//! it, including the trainer's own. What groups consume of it counts when it is delivered, and no group is told earlier that
//! it missed it. A trainer may also hold a batch that another one holds, or that is delivered. That changes nothing until it
//! has consumed the batch.

use std::collections::BTreeSet;

use forebay_proto::v1::{AckItem, GroupReceipt, MissedBatches, Range, StoredShare, StoredShares, ack_item::Kind};

use super::account::{Account, NAME_LEN, Tallies, extend};
use super::documents::{DocumentWriter, Revision};

/// The key of the document of shares.
pub(super) const SHARES: &str = "shares";

/// Shares that are kept. The batches of a ring have far fewer claims.
const MOST: usize = 1 << 16;
/// Groups that a stream may have. One batch has no more receipts of groups, and no more of them wait for it.
const GROUPS: usize = 64;

/// All shares of a ledger.
#[derive(Clone, Debug, Default)]
pub(super) struct Shares {
    list: Vec<StoredShare>,
    /// Names of groups that are there.
    present: BTreeSet<String>,
    /// The groups that were there when the last incarnation ended, and have not ended since.
    former: BTreeSet<String>,
    /// The epoch in which the last incarnation ended, if no group was counted in it then. Not stored.
    renumbered: Option<u64>,
    /// The document is to be written with the next commit.
    is_dirty: bool,
    pub(super) revision: Revision,
}

impl Shares {
    /// From what is stored. Nothing if a share is of an epoch behind the last one.
    pub(super) fn load(stored: StoredShares, last: u64) -> Option<Self> {
        let StoredShares { shares, present, former } = stored;
        let names = |names: Vec<String>| names.into_iter().take(GROUPS).collect();
        let is_possible = shares.len() <= MOST && shares.iter().all(|share| share.epoch <= last);
        let (present, former) = (names(present), names(former));
        is_possible.then_some(Self { list: shares, present, former, ..Self::default() })
    }

    pub(super) fn write_changes(&mut self, documents: &mut DocumentWriter<'_>) {
        if std::mem::take(&mut self.is_dirty) {
            documents.put(SHARES, self.stored().as_ref());
        }
    }

    pub(super) fn write_all(&self, documents: &mut DocumentWriter<'_>) {
        if let Some(stored) = self.stored() {
            documents.put(SHARES, Some(&stored));
        }
    }

    fn stored(&self) -> Option<StoredShares> {
        let Self { list, present, former, .. } = self;
        let names = |names: &BTreeSet<String>| names.iter().cloned().collect();
        let stored = StoredShares { shares: list.clone(), present: names(present), former: names(former) };
        (stored != StoredShares::default()).then_some(stored)
    }

    fn find(&self, at: LeasePart, which: impl Fn(&StoredShare) -> bool) -> Option<usize> {
        self.list.iter().position(|share| part(share) == at && which(share))
    }

    const fn change(&mut self) {
        self.is_dirty = true;
        self.revision.rise();
    }

    /// Notes which groups are there, and which have ended. The ledger no longer reports what ended groups were owed.
    pub(super) fn note_groups(&mut self, account: &mut Account, began: &[String], ended: &[String]) {
        if !ended.is_empty() {
            self.write_off(account, ended, |_| true);
            for share in &mut self.list {
                share.waiting.retain(|name| !ended.contains(name));
            }
            self.present.retain(|name| !ended.contains(name));
            self.former.retain(|name| !ended.contains(name));
            self.change();
        }
        for name in began.iter().filter(|name| !name.is_empty() && name.len() <= NAME_LEN) {
            if self.present.len() < GROUPS && self.present.insert(name.clone()) {
                self.change();
            }
        }
    }

    /// The groups that were there when the last incarnation ended.
    pub(super) const fn former(&self) -> &BTreeSet<String> {
        &self.former
    }

    /// The sums of an epoch, for the receipt of a group.
    pub(super) fn tally<'a>(&self, account: &'a mut Account, epoch: u64) -> &'a mut Tallies {
        let tallies = account.tally(epoch);
        tallies.renumbered |= self.renumbered == Some(epoch);
        tallies
    }

    /// An incarnation has ended in this epoch. Its groups may come back to the next incarnation, which waits for them
    /// until it reports that they have ended.
    pub(super) fn may_come_back(&mut self, account: &mut Account, epoch: u64, has_workers: bool) {
        // The next incarnation numbers its batches from the start again, and gets receipts for batches of this one.
        if account.get(epoch).is_some_and(|tallies| !tallies.groups.is_empty()) {
            account.tally(epoch).renumbered = true;
        } else if has_workers {
            self.renumbered = Some(epoch);
        }
        if self.present != self.former {
            self.former.clone_from(&self.present);
            self.change();
        }
    }

    /// A group has consumed a batch that others still wait for. A batch without records is never shared.
    pub(super) fn share(&mut self, epoch: u64, item: AckItem, receipt: &GroupReceipt, waiting: &[String]) {
        let at = match self.find(part_of(&item), |share| !share.owed) {
            Some(at) => at,
            None if self.list.len() >= MOST => return,
            None => {
                let new = StoredShare { epoch, batch: receipt.batch, item: Some(item), ..StoredShare::default() };
                self.list.push(new);
                self.list.len() - 1
            }
        };
        let known = &mut self.list[at];
        known.waiting = self.present.iter().filter(|name| waiting.contains(name)).cloned().collect();
        consume(known, receipt);
        self.change();
    }

    /// The batch's own receipt has come, together with the groups' receipts in `told`. Groups whose receipts came earlier
    /// have consumed the batch too. Those that still wait have missed it.
    pub(super) fn end(&mut self, account: &mut Account, epoch: u64, item: &AckItem, told: &[&GroupReceipt]) {
        let Some(at) = self.find(part_of(item), |_| true) else { return };
        let mut share = self.list.remove(at);
        for receipt in share.had.iter().filter(|had| !told.iter().any(|told| told.group == had.group)) {
            self.tally(account, epoch).groups.count(receipt, item);
        }
        share.waiting.retain(|name| !told.iter().any(|told| is_of(told, name)));
        self.owe(account, StoredShare { item: Some(*item), had: Vec::new(), ..share });
        self.change();
    }

    /// Whether there are none.
    pub(super) const fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Takes the shares that end with their leases, by the ids of these.
    pub(super) fn take_of_leases(&mut self, ends: impl Fn(u64) -> bool) -> Vec<StoredShare> {
        let is_over = |share: &mut StoredShare| (!share.owed || is_held(share)) && ends(part(share).0);
        let over: Vec<_> = self.list.extract_if(.., is_over).collect();
        if !over.is_empty() {
            self.change();
        }
        over
    }

    /// Takes the share that a trainer holds, and that begins here.
    pub(super) fn take_held(&mut self, lease: u64, range: Option<Range>) -> Option<StoredShare> {
        let at = self.find((lease, range.unwrap_or_default().start), is_held)?;
        self.change();
        Some(self.list.remove(at))
    }

    /// A share that was taken ended with its lease. It counts as delivered in this epoch to the groups that have consumed
    /// it. It is owed to the others.
    pub(super) fn deliver(&mut self, account: &mut Account, epoch: u64, item: AckItem, share: StoredShare) {
        for receipt in &share.had {
            self.tally(account, epoch).groups.count(receipt, &item);
        }
        self.owe(account, StoredShare { item: Some(item), had: Vec::new(), ..share });
        self.change();
    }

    /// Keeps what groups have missed until they are told, and what a trainer holds until that is decided.
    fn owe(&mut self, account: &mut Account, share: StoredShare) {
        let share = StoredShare { owed: true, ..share };
        if share.waiting.is_empty() && !is_held(&share) {
            return;
        }
        self.change();
        if self.list.len() >= MOST {
            let oldest = self.list.iter().position(|share| share.owed && !is_held(share));
            let Some(oldest) = oldest.map(|at| self.list.remove(at)) else { return };
            // They are not told any more, but the audit has it.
            oldest
                .waiting
                .iter()
                .for_each(|name| account.tally(oldest.epoch).groups.count_missed(&missed_of(&oldest, name)));
        }
        self.list.push(share);
    }

    /// A group's trainer has consumed a share that is known already, because a former incarnation had it or its lease has
    /// ended. Returns true if it was owed to the group, or if another trainer holds it.
    pub(super) fn settle_owed(&mut self, account: &mut Account, receipt: &GroupReceipt) -> bool {
        let Some(item) = receipt.item.filter(|_| is_consumed(receipt)) else { return false };
        let Some(at) = self.find(part_of(&item), |share| share.owed) else { return false };
        let share = &mut self.list[at];
        let is_owed = share.waiting.iter().any(|name| is_of(receipt, name));
        if is_held(share) {
            // It counts when the trainer that holds it has consumed it, or gives it back.
            consume(share, receipt);
        } else if is_owed {
            share.waiting.retain(|name| !is_of(receipt, name));
            let (epoch, known) = (share.epoch, share.item.unwrap_or(item));
            if share.waiting.is_empty() {
                self.list.remove(at);
            }
            self.tally(account, epoch).groups.count(receipt, &known);
        } else {
            return false;
        }
        self.change();
        true
    }

    /// A trainer has a batch that another trainer holds. Its group waits for the batch too, unless it has consumed it.
    pub(super) fn wait_for_holder(&mut self, receipt: &GroupReceipt) {
        let (Some(item), Some(name)) = (receipt.item, name_of(receipt)) else { return };
        let Some(at) = self.find(part_of(&item), is_held) else { return };
        let StoredShare { had, waiting, .. } = &mut self.list[at];
        let is_there = waiting.contains(&name) || had.iter().any(|had| is_of(had, &name));
        if !is_there && waiting.len() < GROUPS {
            waiting.push(name);
            self.change();
        }
    }

    /// A trainer of this group has consumed a batch of a former incarnation, or holds one. The other groups that were
    /// there do not get the batch. While the trainer only holds it, its own group waits too, because the trainer may end
    /// without consuming it.
    pub(super) fn owe_to_others(&mut self, account: &mut Account, epoch: u64, receipt: &GroupReceipt) {
        // A batch that has only bad records has no records to owe.
        let Some(item) = receipt.item.filter(|item| item.count > 0) else { return };
        let mut waiting = self.former.clone();
        if let Some(name) = name_of(receipt) {
            if is_consumed(receipt) {
                waiting.remove(&name)
            } else {
                waiting.insert(name)
            };
        }
        let waiting = waiting.into_iter().take(GROUPS).collect();
        let share = StoredShare { epoch, batch: receipt.batch, item: Some(item), waiting, ..StoredShare::default() };
        self.owe(account, share);
    }

    /// Takes what these groups have missed, so that it is no longer owed to them. No group has missed a batch yet that a
    /// trainer holds.
    pub(super) fn missed(&mut self, account: &mut Account, names: &[String]) -> Vec<MissedBatches> {
        self.write_off(account, names, |share| !is_held(share))
    }

    /// Counts what these groups were owed as missed.
    fn write_off(
        &mut self,
        account: &mut Account,
        names: &[String],
        which: impl Fn(&StoredShare) -> bool,
    ) -> Vec<MissedBatches> {
        let mut missed: Vec<MissedBatches> = Vec::new();
        for share in self.list.iter_mut().filter(|share| share.owed && which(share)) {
            for name in share.waiting.iter().filter(|name| names.contains(name)) {
                add(&mut missed, missed_of(share, name));
            }
            share.waiting.retain(|name| !names.contains(name));
        }
        if !missed.is_empty() {
            // A share that a trainer holds stays, because the groups that have had it are counted later.
            self.list.retain(|share| !share.owed || is_held(share) || !share.waiting.is_empty());
            for each in &missed {
                account.tally(each.epoch).groups.count_missed(each);
            }
            self.change();
        }
        missed
    }

    /// The run continues at another place: no batch of it is shared or owed any more.
    pub(super) fn forget(&mut self) {
        self.drop_those(|_| true);
    }

    /// An epoch ends early: what is not delivered of it counts as abandoned.
    pub(super) fn abandon(&mut self, epoch: u64) {
        self.drop_those(|share| share.epoch == epoch && (!share.owed || is_held(share)));
    }

    fn drop_those(&mut self, which: impl Fn(&StoredShare) -> bool) {
        let before = self.list.len();
        self.list.retain(|share| !which(share));
        if self.list.len() < before {
            self.change();
        }
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

/// Notes once that a group has consumed it. The group no longer waits.
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

/// Whether this receipt says that a group has consumed something.
pub(super) fn is_consumed(receipt: &GroupReceipt) -> bool {
    receipt.item.is_some_and(|item| item.kind() == Kind::Delivered)
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
