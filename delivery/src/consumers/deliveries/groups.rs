//! The groups of trainers as the ledger knows them: who is in which, what the ledger is to hear of them, and what each may have
//! missed (semantics rules 43 and 44). Pure.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use forebay_proto::v1::{GroupKey, GroupShare, MissedBatches};
use forebay_ring::{ConsumerId, Exchange, GroupState, HeldBatch};

use super::absence::Absence;
use super::eviction::Eviction;
use super::lag::Lag;
use super::missing::Missing;
use crate::consumers::claims::Claims;
use crate::outcomes::DeliveryOutcome;
use crate::settings::Slow;

/// The groups of a stream's trainers.
#[derive(Debug)]
pub(in crate::consumers) struct Groups {
    /// The group of each trainer, as the ledger knows it; none in `split`.
    keys: HashMap<ConsumerId, GroupKey>,
    /// Reports for the ledger: which groups are there, and what they have consumed that others wait for.
    reports: Vec<DeliveryOutcome>,
    /// Named groups without a trainer.
    pub(super) absence: Absence,
    /// Groups that may have missed batches of a daemon that ended, or of leases that did.
    pub(super) missing: Missing,
    /// How long a group has held up the others.
    pub(super) lag: Lag,
    /// How long it may, if it is ended then.
    pub(super) eviction: Eviction,
}

impl Groups {
    /// None yet.
    pub(super) fn new(timeout: Duration, slow: Slow) -> Self {
        Self {
            keys: HashMap::new(),
            reports: Vec::new(),
            absence: Absence::new(timeout),
            missing: Missing::default(),
            lag: Lag::default(),
            eviction: Eviction::new(slow),
        }
    }

    /// What the ledger is to hear, oldest first.
    pub(super) fn reports(&mut self) -> impl Iterator<Item = DeliveryOutcome> + '_ {
        self.reports.drain(..)
    }

    // Who is in which.

    /// How the ledger knows an attached trainer's group.
    pub(super) fn joined(&mut self, consumer: ConsumerId, key: GroupKey) {
        // The ledger has heard so already. But the group may have ended since, without a trainer.
        self.reports.extend((!key.name.is_empty()).then(|| DeliveryOutcome::GroupBegan(key.name.clone())));
        self.keys.insert(consumer, key);
    }

    /// A trainer has left.
    pub(super) fn left(&mut self, consumer: ConsumerId) {
        self.keys.remove(&consumer);
    }

    /// The group of a trainer.
    pub(super) fn key(&self, consumer: ConsumerId) -> Option<&GroupKey> {
        self.keys.get(&consumer)
    }

    /// A trainer has acked a batch that other groups wait for: if the daemon dies, its group has consumed it nevertheless
    /// (semantics rule 44).
    pub(super) fn share(&mut self, consumer: ConsumerId, held: HeldBatch, exchange: &Exchange, claims: &Claims) {
        let Some(key) = self.keys.get(&consumer).filter(|_| !held.is_resumed()) else { return };
        let Some(waiting) = exchange.waiting_for(held.seq) else { return };
        let receipts = claims.consumed_by(key, held.seq);
        let share = |receipt| GroupShare { receipt: Some(receipt), waiting: waiting.clone() };
        self.reports.push(DeliveryOutcome::Shared(receipts.into_iter().map(share).collect()));
    }

    /// The ledger is told that a group that was there before has ended.
    pub(super) fn has_ended(&mut self, name: String) {
        self.reports.push(DeliveryOutcome::GroupEnded(name));
    }

    // What they have missed.

    /// A group was there when the last daemon ended. Its trainers have time to hand in.
    pub(super) fn may_have_missed(&mut self, name: String, now: Instant) {
        self.missing.may_have_missed(name, now);
    }

    /// Any of the groups may have missed something.
    pub(super) fn all_may_have_missed(&mut self, exchange: &Exchange) {
        self.missing.add(exchange.groups().filter_map(|group| group.name));
    }

    /// Trainers may have handed out these batches of lost leases. The batches do not count as missed before that is
    /// known.
    pub(super) fn were_voided(&mut self, offered: &[(ConsumerId, u64)], exchange: &Exchange) {
        self.missing.were_voided(offered);
        self.all_may_have_missed(exchange);
    }

    /// The groups to ask the ledger about, each once. Some of their trainers are here, and none of these has a batch in
    /// its hands that would still change the answer.
    pub(super) fn ask_what_is_missed(&mut self, exchange: &Exchange, claims: &Claims, now: Instant) -> Vec<String> {
        if !self.missing.is_time_to_ask(now) {
            return Vec::new();
        }
        self.missing.keep_void(|consumer, seq| holds(consumer, seq, exchange, claims));
        let names = self.missing.unasked().filter(|name| self.may_ask(name, claims)).map(str::to_owned);
        let names: Vec<String> = names.collect();
        self.missing.ask(&names);
        names
    }

    /// The ledger has answered.
    pub(in crate::consumers) fn answered(&mut self, asked: &[String], missed: Vec<MissedBatches>) {
        self.missing.answered(asked, missed);
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

    /// Whether trainers here still have to be told what they have missed. An epoch does not end before that.
    pub(super) fn is_missing_untold(&self) -> bool {
        self.missing.open().any(|name| self.members(name).next().is_some())
    }

    /// The group has ended, so its trainers need not be told any more.
    pub(super) fn forget(&mut self, group: &GroupState) {
        if let Some(name) = &group.name {
            self.missing.forget(name);
        }
    }

    fn may_ask(&self, name: &str, claims: &Claims) -> bool {
        let is_in_hand = |id| claims.has_shared(id) || self.missing.has_void(id);
        let mut members = self.members(name).peekable();
        members.peek().is_some() && !members.any(is_in_hand)
    }

    /// Trainers of a named group that can be talked to.
    fn members(&self, name: &str) -> impl Iterator<Item = ConsumerId> {
        self.keys.iter().filter(move |(_, key)| key.name == name).map(|(id, _)| *id)
    }
}

/// Whether a trainer has this published batch in its hands.
fn holds(consumer: ConsumerId, seq: u64, exchange: &Exchange, claims: &Claims) -> bool {
    let Some(epoch) = claims.get(seq).map(|batch| batch.epoch) else { return false };
    exchange.holders(epoch).iter().any(|holder| (holder.consumer, holder.seq) == (consumer, seq))
}
