//! The process around the ledgers, and the stores that keep them.
//!
//! `forebay-plan` says which record is at which position of an epoch, as a pure function. `forebay-ledger` is the pure state
//! machine of leases and receipts, [`Store`] keeps it, and [`Coordinator`] starts the one thread that owns both and
//! answers through [`Handle`] after each durable commit. [`Remote`] gives a [`Handle`] on a coordinator in another
//! process: who has a handle does not know the difference. `docs/ledger.md` is the long form.
//!
//! The guarantee: where nothing dies, is cut off or outlives its lease, each record of an epoch is delivered exactly
//! once; otherwise at least once, and only records that were delivered but not yet acknowledged may come again.
#![forbid(unsafe_code)]

mod address;
mod call;
mod call_error;
mod coordinator;
mod copying;
mod dial;
mod line;
mod news;
mod news_board;
mod opening;
mod outage;
mod pauses;
mod procedures;
mod recovery;
mod remote;
mod request;
mod secret;
mod served;
mod store;
pub mod suite;
mod task_worker;
mod tls;
mod token;
mod visitor;

pub use address::{Address, NoAddress};
pub use call_error::CallError;
pub use coordinator::{Clock, Coordinator, CoordinatorSettings, Handle, StartError, monotonic_clock};
pub use news::NewsFeed;
pub use outage::Outage;
pub use pauses::Pauses;
pub use procedures::LedgerService;
pub use recovery::RecoveredStore;
pub use remote::{Remote, RemoteError};
pub use request::Request;
pub use secret::SecretError;
pub use store::{
    EmbeddedStore, EtcdSettings, EtcdStore, MemoryStore, SnapshotError, Store, StoreError, StoreFault, StoreSnapshot,
};
pub use task_worker::{GivenTask, Pending, TaskWorker};
pub use tls::{CertificateFiles, ServerTls};
pub use token::TokenFile;
pub use visitor::Visitor;
