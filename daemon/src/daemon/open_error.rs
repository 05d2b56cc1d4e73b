//! Why a requested stream is not open. The cause is its dataset, its ledger, the stream itself, or a change while it
//! was being opened.

use std::sync::Arc;

use forebay_ledger_client::CallError;
use forebay_pipeline::StreamError;
use forebay_ring::text_code;
use forebay_sources::SourceError;
use thiserror::Error;
use tokio::task::JoinError;

use super::ledgers::LedgersError;
use crate::config::CacheSettingError;

/// Why a requested stream is not open.
#[derive(Debug, Error)]
pub enum OpenError {
    /// The dataset.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The cache on a local disk.
    #[error(transparent)]
    Cache(#[from] CacheSettingError),
    /// The ledgers' file.
    #[error("{0}")]
    Ledgers(#[from] LedgersError),
    /// The stream itself.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// The system has no more threads or descriptors.
    #[error("the stream cannot be opened: {0}")]
    System(#[from] std::io::Error),
    /// The Unix group whose members may attach.
    #[error("there is no group \"{0}\" on this machine; {remedy}. Or leave unix_group out", remedy = crate::group::REMEDY)]
    Group(String),
    /// By a reload, while it was waited for.
    #[error("the configuration no longer has it")]
    Removed,
    /// By a reload, while it was waited for.
    #[error("its shards have changed in the configuration; attach with the new ones")]
    Resharded,
    /// The daemon ends.
    #[error("the daemon is shutting down")]
    Ending,
}

impl OpenError {
    /// The code for the program of a refused trainer.
    pub(super) fn code(&self) -> u32 {
        match self {
            Self::Source(_) | Self::Cache(_) => text_code::DATASET,
            Self::Stream(error) => error.code(),
            Self::Group(_) | Self::Resharded => text_code::SETTINGS,
            Self::Removed => text_code::NOT_FOUND,
            // The disk may have room a moment later, and the system threads and descriptors.
            Self::Ending | Self::Ledgers(_) | Self::System(_) => text_code::BUSY,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn a_trainer_tries_again_where_the_ledgers_file_or_the_system_has_no_room() {
        let full = || io::Error::other("no room");
        for error in [OpenError::Ledgers(LedgersError::System(full())), OpenError::System(full()), OpenError::Ending] {
            assert_eq!(error.code(), text_code::BUSY, "{error}");
        }
        assert_eq!(OpenError::Group("trainers".into()).code(), text_code::SETTINGS);
    }
}

/// A new run that was not begun, or whose stream is not open.
#[derive(Debug, Error)]
pub(crate) enum NewRunError {
    /// The configuration has no such stream.
    #[error("{0}")]
    NoStream(String),
    /// The ledgers cannot be changed.
    #[error(transparent)]
    Ledgers(#[from] CallError),
    /// The ledgers, or the stream in its new run, cannot be opened.
    #[error(transparent)]
    Open(#[from] Arc<OpenError>),
    /// The daemon has ended meanwhile.
    #[error(transparent)]
    Ended(#[from] JoinError),
}
