//! A trainer's side of Forebay: attach to a daemon, read batches from its ring, and acknowledge them.
//!
//! [`Session`] does all of this. It maps the daemon's memory read-only, hands out [`Batch`]es as views on it, sends
//! receipts, and resumes after the daemon's death. [`AsyncSession`] is a session for async code. The protocol's decisions
//! are pure (`hold`, `receipt`, `inbox`); sockets and processes are at the edges (`link`, `hands`, `private`). [`reader`]
//! has the readers of Paddle over a session.
#![forbid(unsafe_code)]

mod audit;
mod awaited;
mod batch;
mod error;
mod hands;
mod hold;
mod inbox;
mod link;
mod mapped;
mod owner;
mod permission;
mod private;
mod quarantine;
pub mod reader;
mod receipt;
mod rings;
mod session;
mod state;
mod target;
mod vigil;
mod waits;
mod watch;

pub use audit::EpochAudit;
pub use awaited::AsyncSession;
pub use batch::{Batch, Decision, Keep};
pub use error::{AttachError, Broken, CallError, NextError, Refusal, SettingNames};
pub use forebay_columns::{ColumnType, ElementType, Field, MIXED, Schema};
pub use forebay_proto::v1::{Repeats, StreamInfo};
pub use forebay_ring::{ColumnView, Dtype, Join, Layout, Pixels, Shape, text_code};
pub use link::default_sockets;
pub use mapped::{GpuPixels, Mapped};
pub use private::PrivateDaemon;
pub use quarantine::Quarantined;
pub use session::{Next, Session};
pub use state::{State, StateError};
pub use target::{Options, Shard, Target};
pub use watch::{HeldBatch, HoldingNode, Notice, Patient, Watch};
