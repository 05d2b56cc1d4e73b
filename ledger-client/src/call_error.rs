//! How a call to a coordinator is refused, here and over gRPC.

use forebay_ledger::LedgerError;
use tonic::{Code, Status};

/// The header of a refusal that says who leads.
const LEADER: &str = "forebay-leader";

/// Why a call was refused. Each kind has a gRPC code of its own, so that it survives the way there and back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The store or the coordinator is out of reach, and whether the command was applied is not known. Repeat it
    /// with the same sequence number; an outage is never the end of the data.
    #[error("The coordinator cannot be reached or cannot store its ledgers: {0} You may retry the call.")]
    Unavailable(String),
    /// Another coordinator leads, or none does. As with `Unavailable`, whether the command was applied is not known: this one
    /// may have led when it came.
    #[error("This coordinator does not lead: {why} You may retry the call.")]
    NotLeader {
        /// Where the one that leads is reached, if it is known.
        leader: Option<String>,
        /// Why.
        why: String,
    },
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
    /// has been silent for long enough (semantics rule 33). This is no outage.
    #[error("{0}")]
    NameTaken(String),
    /// The caller is not the worker's current incarnation, or it never opened the ledger.
    #[error("{0}")]
    Fenced(String),
    /// The sequence number is older than the replies that are kept.
    #[error("{0}")]
    SequenceTooOld(String),
    /// What the store holds is not a ledger.
    #[error("{0}")]
    Corrupt(String),
}

impl From<LedgerError> for CallError {
    fn from(error: LedgerError) -> Self {
        match error {
            LedgerError::Invalid(text) => Self::Invalid(text),
            LedgerError::NotFound(text) => Self::NotFound(text),
            LedgerError::SpecMismatch(text) => Self::SpecMismatch(text),
            LedgerError::NameTaken(text) => Self::NameTaken(text),
            LedgerError::Fenced(text) => Self::Fenced(text),
            LedgerError::SequenceTooOld(text) => Self::SequenceTooOld(text),
            LedgerError::Newer(text) | LedgerError::Corrupt(text) => Self::Corrupt(text),
        }
    }
}

impl From<CallError> for Status {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Unavailable(text) => Self::unavailable(text),
            CallError::NotLeader { leader, why } => {
                let mut status = Self::unavailable(why);
                if let Some(leader) = leader.and_then(|leader| leader.parse().ok()) {
                    status.metadata_mut().insert(LEADER, leader);
                }
                status
            }
            CallError::Invalid(text) => Self::invalid_argument(text),
            CallError::NotFound(text) => Self::not_found(text),
            CallError::SpecMismatch(text) => Self::already_exists(text),
            CallError::NameTaken(text) => Self::aborted(text),
            CallError::Fenced(text) => Self::failed_precondition(text),
            CallError::SequenceTooOld(text) => Self::out_of_range(text),
            CallError::Corrupt(text) => Self::data_loss(text),
        }
    }
}

impl From<Status> for CallError {
    fn from(status: Status) -> Self {
        let text = status.message().to_owned();
        match status.code() {
            Code::InvalidArgument => Self::Invalid(text),
            Code::NotFound => Self::NotFound(text),
            Code::AlreadyExists => Self::SpecMismatch(text),
            Code::Aborted => Self::NameTaken(text),
            Code::FailedPrecondition => Self::Fenced(text),
            Code::OutOfRange => Self::SequenceTooOld(text),
            Code::DataLoss => Self::Corrupt(text),
            _ => match leader(&status) {
                Some(leader) => Self::NotLeader { leader: Some(leader), why: text },
                None => Self::Unavailable(text),
            },
        }
    }
}

/// The address of the coordinator that leads, if the one that refused the call is not the leader and knows this address.
fn leader(status: &Status) -> Option<String> {
    status.metadata().get(LEADER)?.to_str().ok().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_survives_the_way_over_grpc() {
        let text = || "Why.".to_owned();
        for error in [
            CallError::Unavailable(text()),
            CallError::NotLeader { leader: Some("http://b:7171".to_owned()), why: text() },
            CallError::Invalid(text()),
            CallError::NotFound(text()),
            CallError::SpecMismatch(text()),
            CallError::NameTaken(text()),
            CallError::Fenced(text()),
            CallError::SequenceTooOld(text()),
            CallError::Corrupt(text()),
        ] {
            assert_eq!(CallError::from(Status::from(error.clone())), error);
        }
    }
}
