//! What is wrong with a ledger's documents, if they cannot be those of a ledger that this build wrote.

use prost::DecodeError;
use thiserror::Error;

use forebay_plan::SpecError;

/// A stored ledger that is none.
#[derive(Debug, Error)]
pub(crate) enum Damage {
    /// A newer build wrote it. It is sound.
    #[error(
        "was written by a newer build: it has version {found}, and this build reads versions 1 to {newest}. Run the newer \
         build; nothing is lost"
    )]
    Version {
        /// The documents' version.
        found: u32,
        /// The last one that this build reads.
        newest: u32,
    },
    /// A document that each ledger has.
    #[error("the document head is missing")]
    NoHead,
    /// The head does not say of what it is.
    #[error("the document head has no spec")]
    NoSpec,
    /// The spec is none of a dataset that can be planned.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// A document is no protobuf.
    #[error("the document {key} cannot be read: {error}")]
    Undecodable {
        /// Its key.
        key: String,
        /// What prost said.
        error: DecodeError,
    },
    /// A worker's document has leases outside of their bounds.
    #[error("the document {0} has impossible leases")]
    Leases(String),
    /// A document that no build writes.
    #[error("a ledger has no document {0}")]
    Unknown(String),
    /// A summary of another dataset.
    #[error("the document outline does not belong to this dataset")]
    Summary,
    /// Shares of groups of trainers in future epochs.
    #[error("the document shares has impossible shares")]
    Shares,
    /// A number in the head is out of its range.
    #[error("a number in the document head is impossible")]
    Number,
    /// Lease ids are never used twice.
    #[error("a lease id is there twice, or is still to come")]
    LeaseIds,
    /// A range beyond the cursor.
    #[error("a range is outside of what was leased")]
    Outside,
    /// A part of a step is open without the rest.
    #[error("a range is not one of whole steps")]
    Steps,
    /// A position is in two leases, or leased and returned.
    #[error("a position is in two places at once")]
    Twice,
}

impl Damage {
    /// Whether the ledger is sound, and only this build is too old for it.
    pub(crate) fn is_newer(&self) -> bool {
        matches!(self, Self::Version { .. })
    }
}
