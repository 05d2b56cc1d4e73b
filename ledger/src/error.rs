//! Why a ledger refuses a command.

/// Why a ledger refuses a command. The ledger is as it was before.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LedgerError {
    /// The request itself is wrong.
    #[error("{0}")]
    Invalid(String),
    /// No such ledger: it must be opened first.
    #[error("{0}")]
    NotFound(String),
    /// The ledger exists with another spec or shard size (semantics rules 1 and 20).
    #[error("{0}")]
    SpecMismatch(String),
    /// The worker's name belongs to a process that was heard a moment ago, maybe on another machine. It is free when that one
    /// has been silent for long enough (semantics rule 33).
    #[error("{0}")]
    NameTaken(String),
    /// The caller is not the worker's current incarnation, or it never opened the ledger.
    #[error("{0}")]
    Fenced(String),
    /// The sequence number is older than the replies that are kept.
    #[error("{0}")]
    SequenceTooOld(String),
    /// What the store holds is a ledger of a newer build.
    #[error("{0}")]
    Newer(String),
    /// What the store holds is not a ledger.
    #[error("{0}")]
    Corrupt(String),
}
