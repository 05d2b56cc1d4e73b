//! Where ledgers are kept, and how a file of them is opened.

use std::path::{Path, PathBuf};

use forebay_coordinator::{Coordinator, EmbeddedStore, Handle, Settings, StartError, StoreError, monotonic_clock};
use forebay_proto::v1::NewRunRequest;
use thiserror::Error;

/// File of a service's ledgers, in their folder.
pub const LEDGERS: &str = "ledger.redb";

/// Where a ledger is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Ledgers {
    /// In memory that the trainer's process keeps.
    Kept,
    /// In a file.
    File(PathBuf),
}

/// Why ledgers cannot be opened.
#[derive(Debug, Error)]
pub enum LedgersError {
    /// Their file.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The ledgers in it.
    #[error("{0}")]
    Start(#[from] StartError),
    /// A folder.
    #[error("the folder {folder} for ledgers cannot be made: {source}")]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Threads.
    #[error("the ledgers cannot be opened: {0}")]
    System(#[from] std::io::Error),
}

/// Forgets the run of a stream in a file of ledgers that no daemon has open. Answers how many ledgers it had.
///
/// # Errors
/// The file is open elsewhere, or no file of ledgers.
pub fn forget_run(file: &Path, run: &str, stream: &str) -> Result<u32, LedgersError> {
    let request = NewRunRequest { run: run.into(), stream: stream.into() };
    let reply = open(file)?.wait(request).map_err(std::io::Error::other)?;
    Ok(reply.forgotten)
}

pub(super) fn open(file: &Path) -> Result<Handle, LedgersError> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(|source| LedgersError::Folder { folder: folder.into(), source })?;
    }
    start(EmbeddedStore::open(file)?)
}

pub(super) fn start(store: EmbeddedStore) -> Result<Handle, LedgersError> {
    Ok(Coordinator::start(store, monotonic_clock(), Settings::default())?)
}
