//! A worker's current incarnation, as the ledger knows it. What it has of the data, the leases say.

use std::collections::BTreeSet;
use std::ops::Range;

use forebay_proto::v1::{StoredLease, StoredWorker, WorkerProcess};

use super::expired::ExpiredPositions;
use super::replies::Replies;
use crate::ledger::version;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(in crate::ledger) struct Worker {
    pub(in crate::ledger) incarnation: u64,
    pub(in crate::ledger) replies: Replies,
    /// Where it runs, if it has said so.
    pub(in crate::ledger) process: Option<WorkerProcess>,
    /// Trainers read the stream there.
    pub(in crate::ledger) attended: bool,
    /// It has said that it ends itself: its end is no death of rule 9.
    pub(in crate::ledger) ends_itself: bool,
    /// What expired of its leases since it was heard last.
    pub(super) expired: ExpiredPositions,
    /// The numbers of its trainers. `None`: it does not name them.
    pub(in crate::ledger) trainers: Option<BTreeSet<u64>>,
    /// The newest version of ledgers that it understands.
    pub(in crate::ledger) reads: u32,
    /// It has seen the replies below this number: an earlier command is not applied any more (semantics rule 34).
    pub(in crate::ledger) unseen: u64,
    /// Its trainers wait for the end of an epoch of which others have the last positions. Not stored.
    pub(in crate::ledger) waits: bool,
    /// When it was heard last. Not stored: after a restart it counts as heard just then.
    pub(in crate::ledger) heard: u64,
}

impl Worker {
    /// A fresh incarnation.
    pub(in crate::ledger) fn new(
        incarnation: u64,
        process: Option<WorkerProcess>,
        trainers: Option<BTreeSet<u64>>,
        now: u64,
    ) -> Self {
        Self { incarnation, process, trainers, heard: now, ..Self::default() }
    }

    /// Its document, with its leases.
    pub(super) fn stored(&self, leases: Vec<StoredLease>) -> StoredWorker {
        StoredWorker {
            incarnation: self.incarnation,
            leases,
            replies: self.replies.stored(),
            process: self.process.clone(),
            unseen: self.unseen,
            attended: self.attended,
            ends_itself: self.ends_itself,
            expired: self.expired.stored(),
            names_trainers: self.trainers.is_some(),
            trainers: self.trainers.iter().flatten().copied().collect(),
            ledger_version: self.reads,
        }
    }

    /// From its document.
    pub(super) fn load(stored: StoredWorker, now: u64) -> Self {
        Self {
            incarnation: stored.incarnation,
            replies: Replies::of(stored.replies),
            process: stored.process,
            unseen: stored.unseen,
            attended: stored.attended,
            ends_itself: stored.ends_itself,
            expired: ExpiredPositions::of(&stored.expired),
            trainers: stored.names_trainers.then(|| stored.trainers.into_iter().collect()),
            reads: version::said(stored.ledger_version),
            waits: false,
            heard: now,
        }
    }

    /// What expired of its leases since it was heard last, each range with its epoch.
    pub(in crate::ledger) fn expired(&self) -> &[(u64, Range<u64>)] {
        self.expired.ranges()
    }

    /// How long nothing came from it, in milliseconds.
    pub(in crate::ledger) const fn silent(&self, now: u64) -> u64 {
        now.saturating_sub(self.heard)
    }

    /// Which process it is, in words.
    pub(in crate::ledger) fn whereabouts(&self) -> String {
        match &self.process {
            Some(process) => format!("process {} on host {:?}", process.pid, process.host),
            None => "a process that did not say where it runs".to_owned(),
        }
    }

    /// All its trainers have left, and it has told what they had.
    pub(super) fn was_left(&self) -> bool {
        self.trainers.as_ref().is_some_and(BTreeSet::is_empty)
    }
}
