//! The process around the ledgers, and the stores that keep them.
//!
//! `forebay-plan` says which record is at which position of an epoch, as a pure function. `forebay-ledger` is the pure state
//! machine of leases and receipts, [`Store`] keeps it, and [`Coordinator`] starts the one thread that owns both and
//! answers through a `Handle` of `forebay-ledger-client` after each durable commit. `docs/ledger.md` is the long form.
//!
//! The guarantee: if nothing dies, is cut off or outlives its lease, each record of an epoch is delivered exactly once;
//! otherwise at least once, and only records that were delivered but not yet acknowledged may come again.
#![forbid(unsafe_code)]

mod client_identity;
mod coordinator;
mod copying;
mod recovery;
mod served;
mod service;
mod store;
pub mod suite;

pub use client_identity::ClientIdentity;
pub use coordinator::{Clock, Coordinator, CoordinatorSettings, StartError, monotonic_clock};
pub use copying::take_store_snapshot;
pub use recovery::RecoveredStore;
pub use service::LedgerService;
pub use store::{
    EmbeddedStore, EtcdSettings, EtcdStore, MemoryStore, SnapshotError, Store, StoreError, StoreFault, StoreSnapshot,
};
