//! Faults that the checkers must find. Each wraps the ledger's machine, its store or its messages: the code itself has none.

use std::collections::BTreeMap;

use forebay_ledger::Change;
use forebay_plan::Permutation;
use forebay_proto::v1::{StoredHead, StoredWorker};
use prost::Message as _;

use super::wire::Ask;
use crate::store::{Store, StoreError};
use crate::suite::Replica;

/// What is wrong with a simulated coordinator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Fault {
    /// Nothing.
    #[default]
    None,
    /// The id of a lease that has ended is given to the next one.
    ReusedLeaseId,
    /// Replies are sent before what they say is in the store.
    ReplyBeforeCommit,
    /// What three workers have failed with is given to nobody any more.
    DropAfterThreeFailures,
    /// The order of N records is made with blocks of ceil(log2(N - 1)) bits.
    NarrowBlocks,
    /// A repeated Acquire is a new one.
    UnnumberedAcquire,
    /// A copy of an Acquire that comes late is applied.
    DelayedCopyApplied,
    /// What a worker had is forgotten when its leases expire.
    ForgetsExpired,
    /// A coordinator writes the newest version of ledgers that it reads, although another one does not read it.
    WritesNewestVersion,
}

/// Number of the command Acquire in stored replies.
const ACQUIRE: u32 = 1;

impl Fault {
    /// Changes a question as it arrives.
    pub(super) fn mishear(self, ask: &mut Ask) {
        // Without this number, nobody can tell that a copy comes late.
        if let (Self::DelayedCopyApplied, Some(caller)) = (self, ask.caller_mut()) {
            caller.unseen = 0;
        }
    }
}

/// The order of `n` positions from blocks of ceil(log2(n - 1)) bits. They are too short where n - 1 is a power of two.
pub(super) fn narrow_order(n: u64) -> impl Fn(u64) -> u64 {
    let block = (n - 1).next_power_of_two();
    let order = Permutation::new(block, 7, 0, &[1; 32], "records");
    move |position| order.forward(position % block)
}

/// A store with a fault.
#[derive(Debug)]
pub(super) struct SpoiledStore {
    inner: Replica,
    fault: Fault,
    /// A commit that was answered and not made.
    owed: Vec<Change>,
    /// The highest id among the leases of each worker.
    highest: BTreeMap<String, u64>,
    /// It has changed what was committed. The coordinator has to read it anew, for the fault to be one.
    pub(super) is_spoiled: bool,
}

impl SpoiledStore {
    pub(super) fn new(inner: Replica, fault: Fault) -> Self {
        Self { inner, fault, owed: Vec::new(), highest: BTreeMap::new(), is_spoiled: false }
    }

    fn spoil(&mut self, key: &str, value: &mut Vec<u8>) {
        let before = value.clone();
        if key.contains("/worker/") {
            let mut worker = StoredWorker::decode(value.as_slice()).expect("a worker's document");
            let ids = worker.leases.iter().filter_map(|held| held.lease.map(|lease| lease.id));
            self.highest.insert(key.to_owned(), ids.max().unwrap_or(0));
            if self.fault == Fault::ForgetsExpired && !worker.expired.is_empty() {
                worker.expired.clear();
                *value = worker.encode_to_vec();
            }
            if self.fault == Fault::UnnumberedAcquire {
                worker.replies.retain(|reply| reply.command != ACQUIRE);
                *value = worker.encode_to_vec();
            }
        } else if key.ends_with("/head") {
            let mut head = StoredHead::decode(value.as_slice()).expect("a head");
            match self.fault {
                Fault::ReusedLeaseId => {
                    let highest = self.highest.values().copied().max().unwrap_or(0);
                    head.next_lease = if highest == 0 { head.next_lease } else { highest + 1 };
                }
                Fault::DropAfterThreeFailures => head.returned.retain(|back| back.deaths < 3),
                _ => {}
            }
            *value = head.encode_to_vec();
        }
        self.is_spoiled |= before != *value;
    }
}

impl Store for SpoiledStore {
    fn term(&mut self) -> Result<u64, StoreError> {
        self.inner.term()
    }

    fn commands_at_once(&self) -> usize {
        self.inner.commands_at_once()
    }

    fn load(&mut self, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        self.inner.load(prefix)
    }

    fn commit(&mut self, changes: &[Change]) -> Result<(), StoreError> {
        let mut changes = changes.to_vec();
        for change in &mut changes {
            if let Change::Put { key, value } = change {
                self.spoil(key, value);
            }
        }
        if self.fault == Fault::ReplyBeforeCommit {
            std::mem::swap(&mut self.owed, &mut changes);
        }
        self.inner.commit(&changes)
    }

    fn read_by_replicas(&self) -> u32 {
        if self.fault == Fault::WritesNewestVersion { u32::MAX } else { self.inner.read_by_replicas() }
    }
}
