//! What each group of trainers has consumed of an epoch (semantics rule 44).

use std::collections::HashMap;

use forebay_proto::RecordSum;
use forebay_proto::v1::{AckItem, GroupKey, GroupReceipt, GroupTally, MissedBatches, Range, ack_item::Kind};

use super::sums::{sum, tally};

/// Groups of an epoch that have an account. Trainers without a group may come and go without end.
const GROUPS: usize = 256;
/// Longest name of a group, in bytes.
pub(in crate::ledger) const NAME_LEN: usize = 64;

/// The receipts of groups in a request, by the lease and the first position of what they are about.
pub(in crate::ledger) struct GroupReceipts<'a>(HashMap<(u64, u64), Vec<&'a GroupReceipt>>);

impl<'a> GroupReceipts<'a> {
    pub(in crate::ledger) fn of(receipts: &'a [GroupReceipt]) -> Self {
        let mut by_item: HashMap<_, Vec<_>> = HashMap::new();
        for receipt in receipts.iter().filter(|receipt| has_name(receipt)) {
            if let Some(item) = &receipt.item {
                by_item.entry((item.lease, item.range.unwrap_or_default().start)).or_default().push(receipt);
            }
        }
        Self(by_item)
    }
}

impl GroupReceipts<'_> {
    /// The receipts that are about this part of a lease.
    pub(in crate::ledger) fn about(&self, lease: u64, range: Option<Range>) -> &[&GroupReceipt] {
        self.0.get(&(lease, range.unwrap_or_default().start)).map_or(&[], Vec::as_slice)
    }
}

/// Whether its group's name is one that is kept.
pub(in crate::ledger) fn has_name(receipt: &GroupReceipt) -> bool {
    receipt.group.as_ref().is_some_and(|group| group.name.len() <= NAME_LEN)
}

/// An epoch's accounts of groups of trainers, in the order in which they came.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::ledger) struct GroupAccounts(Vec<GroupTally>);

impl GroupAccounts {
    /// From tallies that come from outside.
    pub(super) fn from_messages(tallies: &[GroupTally]) -> Self {
        let is_short = |tally: &&GroupTally| tally.group.as_ref().is_some_and(|group| group.name.len() <= NAME_LEN);
        let nameless = |missed: &MissedBatches| MissedBatches { group: String::new(), ..missed.clone() };
        let account = |tally: &GroupTally| GroupTally { missed: tally.missed.as_ref().map(nameless), ..tally.clone() };
        Self(tallies.iter().filter(is_short).take(GROUPS).map(account).collect())
    }

    pub(super) fn messages(&self) -> Vec<GroupTally> {
        self.0.clone()
    }

    pub(in crate::ledger) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Counts what a group has consumed of a batch, by its own sum, and compares that with what is `delivered`.
    pub(in crate::ledger) fn count(&mut self, receipt: &GroupReceipt, delivered: &AckItem) {
        let GroupReceipt { group, batch, item } = receipt;
        let Some(item) = item.as_ref().filter(|item| item.kind() == Kind::Delivered) else { return };
        let Some(account) = group.as_ref().and_then(|group| self.account(group)) else { return };
        let sums = |item: &AckItem| (item.count, item.sum_high, item.sum_low);
        account.differs |= sums(item) != sums(delivered);
        let (batch, mut consumed) = (*batch, sum(account.consumed));
        if consumed.count == 0 {
            (account.first_batch, account.last_batch) = (batch, batch);
        }
        consumed += RecordSum::from_halves(item.count, item.sum_high, item.sum_low);
        account.consumed = Some(tally(consumed));
        account.first_batch = account.first_batch.min(batch);
        account.last_batch = account.last_batch.max(batch);
    }

    /// Counts what a group has missed.
    pub(in crate::ledger) fn count_missed(&mut self, missed: &MissedBatches) {
        let group = GroupKey { name: missed.group.clone(), ..GroupKey::default() };
        let Some(account) = self.account(&group) else { return };
        let more = MissedBatches { group: String::new(), ..missed.clone() };
        match &mut account.missed {
            Some(known) => extend(known, &more),
            None => account.missed = Some(more),
        }
    }

    /// The account of a group; none beyond the most that are kept.
    fn account(&mut self, group: &GroupKey) -> Option<&mut GroupTally> {
        let known = self.0.iter().position(|known| known.group.as_ref() == Some(group));
        if known.is_none() {
            if self.0.len() >= GROUPS {
                return None;
            }
            self.0.push(GroupTally { group: Some(group.clone()), ..GroupTally::default() });
        }
        let at = known.unwrap_or(self.0.len() - 1);
        self.0.get_mut(at)
    }
}

/// Adds to missed batches of one group and epoch.
pub(in crate::ledger) fn extend(known: &mut MissedBatches, more: &MissedBatches) {
    known.from = known.from.min(more.from);
    known.to = known.to.max(more.to);
    known.records = known.records.saturating_add(more.records);
}
