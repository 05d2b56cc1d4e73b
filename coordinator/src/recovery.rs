//! A new store from a snapshot of one that was lost (see `ledger/recover.rs`).

use forebay_ledger::Change;
use forebay_ledger::Ledgers;
use forebay_ledger::Times;

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
