//! Where a coordinator keeps its ledgers: a small map of documents with atomic, durable commits.

mod embedded;
mod etcd;
mod memory;
mod parts;
mod snapshot;

pub use embedded::EmbeddedStore;
pub use etcd::{EtcdSettings, EtcdStore};
pub use memory::MemoryStore;
pub use snapshot::{SnapshotError, StoreSnapshot};

use forebay_ledger::Change;

/// A store that could not do what it was asked to.
#[derive(Debug, thiserror::Error)]
#[error("{what}: {source}")]
pub struct StoreError {
    what: String,
    source: Box<dyn std::error::Error + Send + Sync>,
    fault: StoreFault,
}

/// What an error of a store says about a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreFault {
    /// It changed nothing, and never will.
    Failed,
    /// It may have changed everything, or do so at any time until the next commit has succeeded.
    Unknown,
    /// It changed nothing: another process leads, or this one has just ceased to. That is no failure. If it cannot be told
    /// who leads, that is one.
    NotLeader {
        /// Where the other one is reached, if it is known.
        leader: Option<String>,
    },
}

impl StoreError {
    /// `what` says what the store was doing and where, as the start of a sentence. Nothing was changed.
    pub fn new(what: impl Into<String>, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self { what: what.into(), source: source.into(), fault: StoreFault::Failed }
    }

    /// As [`new`](Self::new), of a commit that may have been applied.
    #[must_use]
    pub fn unknown(self) -> Self {
        Self { fault: StoreFault::Unknown, ..self }
    }

    /// As [`new`](Self::new), by a store that another process leads, which is reached at this address if it is known.
    #[must_use]
    pub fn not_leader(self, leader: Option<String>) -> Self {
        Self { fault: StoreFault::NotLeader { leader }, ..self }
    }

    /// What it says about a commit.
    pub const fn fault(&self) -> &StoreFault {
        &self.fault
    }
}

/// Documents under keys. A new store is a file below `store/`, its names in `store.rs` and `lib.rs`, and a test in
/// `tests/stores.rs`, where [`crate::suite`] runs against each.
///
/// What an implementation promises:
/// * `commit` applies all changes in order or none, and returns `Ok` only when they are durable.
/// * After an error of `commit` that is [`Unknown`](StoreFault::Unknown), the changes may have been applied or not, but
///   never in part. If `load` does not find them, they may still arrive, but not after a later commit has succeeded. If they
///   do, the later commit fails and changes nothing, and can be repeated after another `load`. After every other error,
///   nothing has changed.
/// * No error is for ever: as soon as its cause is gone (a disk has room again), `load` and `commit` work again.
/// * `load` sees every commit that returned `Ok`.
/// * One writer, which is the leader. If another process leads, opening the store fails, or every call does, with
///   [`NotLeader`](StoreFault::NotLeader). Each time that a process begins to lead is a *term* with a number of its own.
/// * Keys are compared as bytes; key and value are kept as given, empty values included.
///
/// Its owner asks for the term before it uses the state that it has in memory, and again before it sends an answer based on
/// it. In another term, and after each error of a commit, it reads everything again.
pub trait Store: Send + 'static {
    /// The number of the term in which this process leads: 0 for a store that only one process can have open. It does no I/O.
    fn term(&mut self) -> Result<u64, StoreError>;

    /// How many commands may share a commit at most, if the owner may choose.
    fn commands_at_once(&self) -> usize;

    /// All documents whose key starts with `prefix`, rising by key.
    fn load(&mut self, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, StoreError>;

    /// Applies all changes at once. It fails if another process may have led since the last `load`.
    fn commit(&mut self, changes: &[Change]) -> Result<(), StoreError>;

    /// The newest version of ledgers that all processes read which may lead; without a limit if this one is alone. It does no I/O.
    fn read_by_replicas(&self) -> u32 {
        u32::MAX
    }

    /// This process cannot read the ledgers: another one must lead, if there is one. `why` is for the log.
    fn stand_back(&mut self, why: &str) {
        tracing::error!(why, "this coordinator cannot read the ledgers");
    }
}

impl<S: Store + ?Sized> Store for Box<S> {
    fn term(&mut self) -> Result<u64, StoreError> {
        (**self).term()
    }

    fn commands_at_once(&self) -> usize {
        (**self).commands_at_once()
    }

    fn load(&mut self, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        (**self).load(prefix)
    }

    fn commit(&mut self, changes: &[Change]) -> Result<(), StoreError> {
        (**self).commit(changes)
    }

    fn read_by_replicas(&self) -> u32 {
        (**self).read_by_replicas()
    }

    fn stand_back(&mut self, why: &str) {
        (**self).stand_back(why);
    }
}
