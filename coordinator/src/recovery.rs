//! A new store from a snapshot of one that was lost (see `ledger/recover.rs`), and how such a loss shows.

use std::collections::BTreeMap;

use forebay_ledger::Change;
use forebay_ledger::Times;
use forebay_ledger::{Ledgers, split};
use forebay_proto::v1::StoredHead;
use prost::Message as _;

use crate::store::StoreSnapshot;
use forebay_ledger_client::CallError;

/// Documents for a new, empty store, with which a coordinator continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecoveredStore {
    /// The documents to put into it, in one commit.
    pub documents: Vec<Change>,
    /// Names of the ledgers, with the generation that begins in each.
    pub generations: Vec<(String, u64)>,
}

impl RecoveredStore {
    /// No worker has a lease in it. `origin` must differ from that of every other recovery.
    ///
    /// # Errors
    /// The documents are not those of ledgers that this build can read.
    pub fn of(snapshot: &StoreSnapshot, origin: &[u8]) -> Result<Self, CallError> {
        // No time passes in it, and no worker has a deadline that is stored.
        let mut ledgers = Ledgers::load(&snapshot.documents, Times { lease_ttl: 0, grace: 0, task: 0 }, 0)?;
        ledgers.recover(snapshot.taken, origin);
        Ok(Self { documents: ledgers.documents(), generations: ledgers.generations() })
    }
}

impl StoreSnapshot {
    /// Whether a ledger of the `earlier` snapshot is missing from this one, or has gone back. A ledger only moves forward in
    /// its generation or begins a later one. So this happens only with a new run, or with a store that lost its data.
    pub fn goes_back_from(&self, earlier: &Self) -> bool {
        let now = self.places();
        earlier.places().iter().any(|(ledger, place)| now.get(ledger).is_none_or(|now| now < place))
    }

    /// Where each ledger is: its generation, and the epoch and position up to which it has leased.
    fn places(&self) -> BTreeMap<&str, (u64, u64, u64)> {
        let heads = self.documents.iter().filter_map(|(key, value)| {
            let (ledger, document) = split(key)?;
            let head = StoredHead::decode(value.as_slice()).ok().filter(|_| document == "head")?;
            Some((ledger, (head.generation, head.cursor_epoch, head.cursor)))
        });
        heads.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A snapshot of ledgers that are at these places.
    fn snapshot(ledgers: &[(&str, u64, u64, u64)]) -> StoreSnapshot {
        let document = |&(name, generation, cursor_epoch, cursor): &(&str, u64, u64, u64)| {
            let head = StoredHead { version: 1, generation, cursor_epoch, cursor, ..StoredHead::default() };
            (format!("ledger/run/{name}/all/head"), head.encode_to_vec())
        };
        StoreSnapshot { taken: 1, documents: ledgers.iter().map(document).collect() }
    }

    #[test]
    fn ledgers_that_are_gone_or_begin_anew_are_told_from_those_that_go_on() {
        let earlier = snapshot(&[("eval", 0, 0, 7), ("train", 2, 5, 640)]);
        for on in [
            snapshot(&[("eval", 0, 0, 7), ("train", 2, 5, 640)]),
            snapshot(&[("eval", 0, 1, 0), ("new", 0, 0, 0), ("train", 2, 5, 641)]),
            // A state of the run was loaded, and began a generation.
            snapshot(&[("eval", 0, 0, 7), ("train", 3, 0, 0)]),
        ] {
            assert!(!on.goes_back_from(&earlier), "{on:?}");
        }
        for back in [
            snapshot(&[]),
            snapshot(&[("eval", 0, 0, 7)]),
            snapshot(&[("eval", 0, 0, 7), ("train", 0, 0, 64)]),
            snapshot(&[("eval", 0, 0, 6), ("train", 2, 5, 640)]),
        ] {
            assert!(back.goes_back_from(&earlier), "{back:?}");
        }
    }
}
