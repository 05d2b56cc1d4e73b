//! Who reads a stream: the attached trainers by number, each with its process.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use forebay_plan::EpochPart;
use forebay_proto::v1::GroupKey;
use forebay_ring::{ConsumerId, Membership, Peer};
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::settings::GroupPolicy;

/// The trainers of a stream.
#[derive(Debug)]
pub(crate) struct Attendance {
    /// Name of the stream, for messages.
    stream: String,
    /// The shard or rank that it is. One trainer reads it.
    part: Option<EpochPart>,
    next: AtomicU64,
    processes: Mutex<HashMap<ConsumerId, Process>>,
    count: watch::Sender<usize>,
}

/// A trainer's process, and whom the trainer shares its batches with.
#[derive(Debug, PartialEq, Eq)]
struct Process {
    /// For people.
    pid: u32,
    /// Of another PID namespace: its number does not tell it from others.
    is_foreign: bool,
    party: Party,
}

/// Whom a trainer shares its batches with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Party {
    /// All trainers of the stream.
    All,
    /// Those of its group.
    Group(String),
    /// No other trainer.
    Alone,
}

impl Party {
    /// Of a trainer that joins a stream with this policy.
    pub(crate) fn of(groups: GroupPolicy, membership: &Membership) -> Self {
        match (groups, &membership.group) {
            (GroupPolicy::Split, _) => Self::All,
            (GroupPolicy::Each, Some(group)) => Self::Group(group.clone()),
            (GroupPolicy::Each, None) => Self::Alone,
        }
    }

    /// How the ledger knows it; nothing if all trainers share each batch. No other trainer of the stream has this number.
    pub(crate) fn key(&self, pid: u32, trainer: u64) -> Option<GroupKey> {
        match self {
            Self::All => None,
            Self::Group(name) => Some(GroupKey { name: name.clone(), ..GroupKey::default() }),
            Self::Alone => Some(GroupKey { name: String::new(), pid, trainer }),
        }
    }
}

impl Attendance {
    /// Of a stream with this name, or of one part of it.
    pub(crate) fn new(stream: String, part: Option<EpochPart>) -> Self {
        Self { stream, part, next: AtomicU64::new(1), processes: Mutex::default(), count: watch::Sender::default() }
    }

    /// A number for a trainer; none is given twice.
    pub(crate) fn number(&self) -> ConsumerId {
        ConsumerId(self.next.fetch_add(1, Ordering::Relaxed))
    }

    /// Notes a trainer, or says why it cannot come in.
    pub(crate) fn enter(&self, id: ConsumerId, peer: &Peer, party: Party) -> Option<String> {
        let mut processes = self.processes.lock();
        let (pid, is_foreign) = (peer.shown_pid(), peer.pid() == 0);
        let process = Process { pid, is_foreign, party };
        if !is_foreign && process.party != Party::Alone && processes.values().any(|other| *other == process) {
            let stream = &self.stream;
            return Some(match process.party {
                Party::Group(group) => format!(
                    "process {pid} has a trainer of group \"{group}\" on stream \"{stream}\" already; two of one process \
                     would wait for each other. Use one trainer, close the first, or give the second another group"
                ),
                Party::All | Party::Alone => format!(
                    "process {pid} has a trainer on stream \"{stream}\" already; two of one process would wait for each \
                     other. Use one trainer, or close the first"
                ),
            });
        }
        if let (Some(part), Some(other)) = (&self.part, processes.values().next()) {
            return Some(format!(
                "stream \"{}\": {part} has a trainer already, process {}; use each {} once",
                self.stream,
                other.pid,
                match part {
                    EpochPart::Shard(_) => "shard_id",
                    EpochPart::Rank(_) => "rank",
                }
            ));
        }
        processes.insert(id, process);
        self.count.send_replace(processes.len());
        None
    }

    /// A trainer has left, or could not come in after all.
    pub(crate) fn leave(&self, id: ConsumerId) {
        let mut processes = self.processes.lock();
        processes.remove(&id);
        self.count.send_replace(processes.len());
    }

    /// How many are there, as it changes.
    pub(crate) fn count(&self) -> watch::Receiver<usize> {
        self.count.subscribe()
    }

    /// Whether no trainer is there.
    pub(crate) fn is_empty(&self) -> bool {
        self.processes.lock().is_empty()
    }

    /// The process of a trainer that is not this one, if there is any.
    pub(crate) fn other_than(&self, id: ConsumerId) -> Option<u32> {
        self.processes.lock().iter().find(|(other, _)| **other != id).map(|(_, process)| process.pid)
    }

    /// Whether a trainer is there.
    pub(crate) fn has(&self, id: ConsumerId) -> bool {
        self.processes.lock().contains_key(&id)
    }
}
