//! Where a coordinator keeps its ledgers: a small map of documents with atomic, durable commits.

mod embedded;
mod memory;

pub use embedded::EmbeddedStore;
pub use memory::MemoryStore;

/// One change of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Sets the document.
    Put {
        /// Its key.
        key: String,
        /// Its new bytes.
        value: Vec<u8>,
    },
    /// Removes the document; nothing happens if there is none.
    Delete {
        /// Its key.
        key: String,
    },
}

/// A store that could not do what it was asked to.
#[derive(Debug, thiserror::Error)]
#[error("{what}: {source}")]
pub struct StoreError {
    what: String,
    source: Box<dyn std::error::Error + Send + Sync>,
}

impl StoreError {
    /// `what` says what the store was doing and where, as the start of a sentence.
    pub fn new(what: impl Into<String>, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self { what: what.into(), source: source.into() }
    }
}

/// Documents under keys. A new store is a file below `store/`, its names in `store.rs` and `lib.rs`, and a test in
/// `tests/stores.rs`, where [`crate::suite`] runs against each.
///
/// What an implementation promises:
/// * `commit` applies all changes in order or none, and returns `Ok` only when they are durable.
/// * After `Err` from `commit` the changes may have been applied or not, but never in part; `load` tells which.
/// * No error is for ever: as soon as its cause is gone (a disk has room again), `load` and `commit` work again.
/// * `load` sees every commit that returned `Ok`.
/// * One writer: opening what another process has open is an error.
/// * Keys are compared as bytes; key and value are kept as given, empty values included.
pub trait Store: Send + 'static {
    /// All documents whose key starts with `prefix`, rising by key.
    fn load(&mut self, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, StoreError>;

    /// Applies all changes at once.
    fn commit(&mut self, changes: &[Change]) -> Result<(), StoreError>;
}

impl<S: Store + ?Sized> Store for Box<S> {
    fn load(&mut self, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        (**self).load(prefix)
    }

    fn commit(&mut self, changes: &[Change]) -> Result<(), StoreError> {
        (**self).commit(changes)
    }
}
