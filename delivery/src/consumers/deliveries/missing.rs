//! Which groups may have missed batches because a daemon or its leases ended, until their trainers are told (semantics rule 44).
//! Pure.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use forebay_proto::v1::MissedBatches;
use forebay_ring::ConsumerId;

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

impl Missing {
    /// A group was there when the last daemon ended. Its trainers have time to hand in.
    pub(super) fn may_have_missed(&mut self, name: String, now: Instant) {
        self.unasked.insert(name);
        self.not_before = Some(now + HANDING_IN);
    }

    /// These groups may have missed something.
    pub(super) fn add(&mut self, names: impl Iterator<Item = String>) {
        self.unasked.extend(names);
    }

    /// Trainers may have handed out these batches of lost leases.
    pub(super) fn were_voided(&mut self, offered: &[(ConsumerId, u64)]) {
        self.void.extend(offered);
    }

    /// Whether there is something to ask, and trainers have had time to hand in.
    pub(super) fn is_time_to_ask(&self, now: Instant) -> bool {
        !self.unasked.is_empty() && self.not_before.is_none_or(|from| now >= from)
    }

    /// Forgets the batches of lost leases that trainers do not hold any more.
    pub(super) fn keep_void(&mut self, is_held: impl Fn(ConsumerId, u64) -> bool) {
        self.void.retain(|&(consumer, seq)| is_held(consumer, seq));
    }

    /// Whether this trainer holds a batch of a lost lease.
    pub(super) fn has_void(&self, consumer: ConsumerId) -> bool {
        self.void.iter().any(|(holder, _)| *holder == consumer)
    }

    /// The groups that the ledger is still to be asked about.
    pub(super) fn unasked(&self) -> impl Iterator<Item = &str> {
        self.unasked.iter().map(String::as_str)
    }

    /// The groups whose answer is not there.
    pub(super) fn open(&self) -> impl Iterator<Item = &str> {
        self.unasked.iter().chain(&self.asked).map(String::as_str)
    }

    /// The ledger is asked about these groups.
    pub(super) fn ask(&mut self, names: &[String]) {
        for name in names {
            self.unasked.remove(name);
            self.asked.insert(name.clone());
        }
    }

    /// The ledger has answered.
    pub(super) fn answered(&mut self, asked: &[String], missed: Vec<MissedBatches>) {
        self.asked.retain(|name| !asked.contains(name));
        self.untold.extend(missed);
    }

    /// The group has ended.
    pub(super) fn forget(&mut self, name: &str) {
        self.unasked.remove(name);
        self.untold.retain(|missed| missed.group != name);
    }
}
