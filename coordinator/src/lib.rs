//! Who reads what, and what has been delivered.
//!
//! [`Plan`] says which record stands at which position of an epoch, as a pure function. The ledger is the pure state
//! machine of leases and receipts, [`Store`] keeps it, and [`Coordinator`] starts the one thread that owns both and
//! answers through [`Handle`] after each durable commit. [`Remote`] gives a [`Handle`] on a coordinator in another
//! process: who has a handle does not know the difference. `docs/ledger.md` is the long form.
//!
//! The guarantee: where nothing dies, is cut off or outlives its lease, each record of an epoch is delivered exactly
//! once; otherwise at least once, and only records that were delivered but not yet acknowledged may come again.
#![forbid(unsafe_code)]

mod address;
mod audit;
mod batches;
mod call;
mod call_error;
mod coordinator;
mod copying;
mod dial;
mod grain_passes;
mod grains;
mod ledger;
mod ledgers;
mod line;
mod lockstep;
mod mixture;
mod news;
mod news_board;
mod opening;
mod outage;
mod outline;
mod part;
mod pauses;
mod permutation;
mod plan;
mod procedures;
mod recent;
mod recovery;
mod remote;
mod request;
mod secret;
mod segments;
mod served;
mod spec;
mod store;
pub mod suite;
mod task_worker;
mod tasks;
mod tls;
mod token;
mod visitor;

pub use address::{Address, NoAddress};
pub use audit::{
    EpochAudit, Expected, GroupAudit, GroupVerdict, RecoveryAudit, RunAudit, SourceAudit, Verdict, audit, audit_run,
    expected,
};
pub use batches::{Batching, EpochBatches, LastBatchPolicy, StaticBatch};
pub use call_error::CallError;
pub use coordinator::{Clock, Coordinator, CoordinatorSettings, Handle, StartError, monotonic_clock};
pub use grains::{GRAIN_MIXTURE_PERMUTATION, GRAIN_PERMUTATION, GrainProblem, GrainTable};
pub use lockstep::{RankPositions, RankProblem, check_rank, world_sizes};
pub use mixture::shares::{MIXTURE_PERMUTATION, MixtureProblem, shares};
pub use news::NewsFeed;
pub use outage::Outage;
pub use outline::outline_block;
pub use part::EpochPart;
pub use pauses::Pauses;
pub use plan::{EpochOrder, Plan};
pub use procedures::LedgerService;
pub use recovery::RecoveredStore;
pub use remote::{Remote, RemoteError};
pub use request::Request;
pub use secret::SecretError;
pub use spec::{PERMUTATION, SpecError, differences, spec_hash};
pub use store::{
    Change, EmbeddedStore, EtcdSettings, EtcdStore, MemoryStore, SnapshotError, Store, StoreError, StoreFault,
    StoreSnapshot,
};
pub use task_worker::{GivenTask, Pending, TaskWorker};
pub use tasks::task_ledger;
pub use tls::{CertificateFiles, ServerTls};
pub use token::TokenFile;
pub use visitor::Visitor;
