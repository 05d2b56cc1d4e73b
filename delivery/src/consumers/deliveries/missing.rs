//! Which groups may have missed batches because a daemon or its leases ended, until their trainers are told (semantics rule 44).
//! Pure.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use forebay_proto::v1::MissedBatches;
use forebay_ring::ConsumerId;

use super::Deliveries;

/// How long after a daemon's start its trainers may hand in batches, before any batch counts as missed.
const HANDING_IN: Duration = Duration::from_secs(2);

/// Questions to the ledger, and messages for trainers.
#[derive(Debug, Default)]
pub(super) struct Missing {
    /// Groups that may have missed something. The ledger is asked when one of their trainers is there.
    unasked: BTreeSet<String>,
    /// Groups that the ledger has been asked about.
    asked: BTreeSet<String>,
    /// Before this moment it is not asked.
    not_before: Option<Instant>,
    /// Missed batches of groups whose trainers all left before they were told.
    pub(super) untold: Vec<MissedBatches>,
    /// Batches of lost leases that trainers were offered: they may have handed them out.
    void: BTreeSet<(ConsumerId, u64)>,
}

impl Deliveries {
    /// A group was there when the last daemon ended. Its trainers have time to hand in.
    pub(super) fn may_have_missed(&mut self, name: String, now: Instant) {
        self.missing.unasked.insert(name);
        self.missing.not_before = Some(now + HANDING_IN);
    }

    /// Any of the groups may have missed something.
    pub(super) fn all_may_have_missed(&mut self) {
        self.missing.unasked.extend(self.exchange.groups().filter_map(|group| group.name));
    }

    /// Trainers may have handed out these batches of lost leases. The batches do not count as missed before that is
    /// known.
    pub(super) fn were_voided(&mut self, offered: &[(ConsumerId, u64)]) {
        self.missing.void.extend(offered);
        self.all_may_have_missed();
    }

    /// The groups to ask the ledger about, each once. Some of their trainers are here, and none of these has a batch in
    /// its hands that would still change the answer.
    pub(in crate::consumers) fn ask_what_is_missed(&mut self, now: Instant) -> Vec<String> {
        if self.missing.unasked.is_empty() || self.missing.not_before.is_some_and(|from| now < from) {
            return Vec::new();
        }
        let held = std::mem::take(&mut self.missing.void);
        self.missing.void = held.into_iter().filter(|&(consumer, seq)| self.holds(consumer, seq)).collect();
        let names: Vec<String> = self.missing.unasked.iter().filter(|name| self.may_ask(name)).cloned().collect();
        for name in &names {
            self.missing.unasked.remove(name);
            self.missing.asked.insert(name.clone());
        }
        names
    }

    /// The ledger has answered.
    pub(in crate::consumers) fn answered(&mut self, asked: &[String], missed: Vec<MissedBatches>) {
        self.missing.asked.retain(|name| !asked.contains(name));
        self.missing.untold.extend(missed);
    }

    /// Takes the missed batches of each group that has trainers here, with these trainers. Those of other groups are
    /// kept.
    pub(in crate::consumers) fn take_untold(&mut self) -> Vec<(MissedBatches, Vec<ConsumerId>)> {
        let untold = std::mem::take(&mut self.missing.untold);
        let mut heard = Vec::new();
        for missed in untold {
            let members: Vec<ConsumerId> = self.members(&missed.group).collect();
            if members.is_empty() {
                self.missing.untold.push(missed);
            } else {
                heard.push((missed, members));
            }
        }
        heard
    }

    /// The group has ended, so its trainers need not be told any more.
    pub(super) fn end_missing(&mut self, name: &str) {
        let Missing { unasked, untold, .. } = &mut self.missing;
        unasked.remove(name);
        untold.retain(|missed| missed.group != name);
    }

    /// Whether trainers here still have to be told what they have missed. An epoch does not end before that.
    pub(super) fn is_missing_untold(&self) -> bool {
        let Missing { unasked, asked, .. } = &self.missing;
        unasked.iter().chain(asked).any(|name| self.members(name).next().is_some())
    }

    fn may_ask(&self, name: &str) -> bool {
        let is_in_hand = |id| self.claims.has_shared(id) || self.missing.void.iter().any(|(holder, _)| *holder == id);
        let mut members = self.members(name).peekable();
        members.peek().is_some() && !members.any(is_in_hand)
    }

    /// Trainers of a named group that can be talked to.
    fn members(&self, name: &str) -> impl Iterator<Item = ConsumerId> {
        self.keys.iter().filter(move |(_, key)| key.name == name).map(|(id, _)| *id)
    }

    fn holds(&self, consumer: ConsumerId, seq: u64) -> bool {
        let Some(epoch) = self.claims.get(seq).map(|batch| batch.epoch) else { return false };
        self.exchange.holders(epoch).iter().any(|holder| (holder.consumer, holder.seq) == (consumer, seq))
    }
}
