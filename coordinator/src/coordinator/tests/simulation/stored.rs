//! What the store of a simulation holds, read without the ledger's own code.

use std::collections::{BTreeMap, BTreeSet};

use forebay_proto::v1::{Lease, QuarantinedRecord, StoredHead, StoredReturned, StoredWorker};
use prost::Message as _;

use crate::suite::{Invariant, Place, Violation};

/// Most bytes of the head and of a worker beside what is out, and most for each range that is out or came back.
const HEAD: usize = 1 << 10;
const WORKER: usize = 4 << 10;
const RANGE: usize = 128;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Stored {
    pub(super) head: StoredHead,
    /// Which worker has a lease.
    pub(super) leases: BTreeMap<u64, (Lease, usize)>,
    /// Positions that leases have: the lease, and its worker.
    pub(super) held: BTreeMap<Place, (u64, usize)>,
    /// Positions below the cursor that are not complete.
    pub(super) open: BTreeSet<Place>,
    /// Incarnations of workers.
    pub(super) incarnations: BTreeMap<usize, u64>,
    /// Epochs and records.
    pub(super) quarantine: BTreeSet<(u64, u64)>,
}

/// The name of a worker.
pub(super) fn name_of(worker: usize) -> String {
    format!("w{worker}")
}

/// The number of a worker with this name.
pub(super) fn number_of(name: &str) -> usize {
    name.trim_start_matches('w').parse().expect("a worker's name")
}

impl Stored {
    /// # Errors
    /// A position is in two leases, or in a lease and returned; or more is stored than what is out explains.
    pub(super) fn read(documents: &[(String, Vec<u8>)]) -> Result<Self, Violation> {
        let (mut stored, mut bytes, mut ranges) = (Self::default(), 0, 0);
        for (key, value) in documents {
            let (_, document) = key.split_once("all/").expect("a key of the ledger");
            if let Some(name) = document.strip_prefix("worker/") {
                let worker = StoredWorker::decode(value.as_slice()).expect("a worker's document");
                bytes += value.len();
                ranges += worker.leases.iter().map(|held| held.open.len()).sum::<usize>();
                stored.add_worker(number_of(name), &worker)?;
            } else if document == "head" {
                stored.head = StoredHead::decode(value.as_slice()).expect("a head");
                bytes += value.len();
            } else if document.starts_with("quarantine/") {
                let bad = QuarantinedRecord::decode(value.as_slice()).expect("an entry");
                stored.quarantine.insert((bad.epoch, bad.record));
            }
        }
        let unleased = [&stored.head.returned[..], &stored.head.tails[..]].concat();
        ranges += unleased.len();
        for StoredReturned { epoch, start, end, .. } in unleased {
            (start..end).try_for_each(|position| stored.add_open((epoch, position)))?;
        }
        let most = HEAD + WORKER * stored.incarnations.len() + RANGE * ranges;
        Invariant::Size.check(bytes <= most, || format!("{bytes} bytes for {ranges} ranges: at most {most}"))?;
        Ok(stored)
    }

    fn add_worker(&mut self, number: usize, worker: &StoredWorker) -> Result<(), Violation> {
        self.incarnations.insert(number, worker.incarnation);
        for held in &worker.leases {
            let lease = held.lease.expect("a lease");
            let other = self.leases.insert(lease.id, (lease, number));
            Invariant::Exclusive.check(other.is_none(), || format!("{other:?} has the id of {lease:?}"))?;
            for position in held.open.iter().flat_map(|range| range.start..range.end) {
                self.add_open((lease.epoch, position))?;
                self.held.insert((lease.epoch, position), (lease.id, number));
            }
        }
        Ok(())
    }

    fn add_open(&mut self, place: Place) -> Result<(), Violation> {
        let is_new = self.open.insert(place);
        Invariant::Exclusive.check(is_new, || format!("{place:?} is open twice"))
    }

    /// Whether it was leased, and is out no more.
    pub(super) fn is_complete(&self, place: Place) -> bool {
        place < (self.head.cursor_epoch, self.head.cursor) && !self.open.contains(&place)
    }
}
