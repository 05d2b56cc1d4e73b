//! The words that daemon, coordinator and clients say to each other.
//!
//! The messages and services come from `forebay/v1/*.proto`; their generated Rust is checked in, and
//! `tests/generated.rs` regenerates it and compares. Behaviour is here only where both ends must agree: [`record_hash`],
//! because a trainer and a coordinator must compute the same sum over the same records, [`page`], because what one
//! of them takes apart the other puts together, and the words for repetitions.
#![forbid(unsafe_code)]

mod checksum;
mod groups;
mod pages;
mod repeats;
mod turn;

pub use checksum::{RecordSum, record_hash};
pub use generated::{elasticdl, etcd, v1};
pub use pages::page;
pub use turn::Turn;

/// What `forebay/v1/ledger.proto` defines, without its comments: a `FileDescriptorSet`, for the reflection of gRPC.
pub const LEDGER_DESCRIPTORS: &[u8] = include_bytes!("gen/ledger.binpb");

/// The newest version of stored ledgers that this build reads, and writes once all who have the ledger read it
/// ([`v1::StoredHead`]).
pub const LEDGER_VERSION: u32 = 4;

#[allow(
    missing_docs,
    missing_debug_implementations,
    unreachable_pub,
    unused_qualifications,
    clippy::all,
    clippy::pedantic,
    clippy::or_fun_call,
    clippy::clone_on_ref_ptr,
    clippy::allow_attributes_without_reason,
    reason = "generated from the .proto files, where each message is documented"
)]
mod generated {
    /// Messages and services of version 1 (`forebay/v1/*.proto`).
    pub mod v1 {
        include!("gen/forebay.v1.rs");
    }

    /// The part of etcd's API that coordinators use (`etcd.proto`).
    pub mod etcd {
        include!("gen/etcdserverpb.rs");
    }

    /// The part of ElasticDL's API that coordinators serve (`elasticdl.proto`).
    pub mod elasticdl {
        include!("gen/proto.rs");
    }
}
