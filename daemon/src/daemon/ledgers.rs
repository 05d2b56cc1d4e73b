//! Where ledgers are stored, and how a ledger file is opened.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use forebay_coordinator::{Coordinator, CoordinatorSettings, EmbeddedStore, StartError, StoreError, monotonic_clock};
use forebay_ledger_client::{Handle, Outage, Remote, RemoteError};
use forebay_pipeline::threads;
use forebay_printable::printable;
use forebay_proto::v1::NewRunRequest;
use parking_lot::Mutex;
use thiserror::Error;
use tokio::sync::OnceCell;

use crate::config::Environment;
use crate::folder::{self, FolderError, Whose};

/// File of a service's ledgers, in their folder.
pub const LEDGERS: &str = "ledger.redb";

/// Where a ledger is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Ledgers {
    /// In memory that the trainer's process keeps.
    Kept,
    /// In a file.
    File(PathBuf),
    /// With a coordinator in another process, which other daemons may have too.
    Remote(Remote),
}

/// There is no folder that ledgers may be in.
#[derive(Debug, Error)]
pub enum NoFolder {
    /// No setting or variable names one.
    #[error("there is no folder for ledgers: set HOME or XDG_STATE_HOME, or coordinator.path in the configuration")]
    Unknown,
    /// It cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
}

/// The files of ledgers that are open, and the coordinators elsewhere. One that takes long to open holds up no other.
#[derive(Debug, Default)]
pub(super) struct LedgerFiles(Mutex<HashMap<Ledgers, Arc<OnceCell<Handle>>>>);

/// Why ledgers cannot be opened.
#[derive(Debug, Error)]
pub enum LedgersError {
    /// Their file.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The ledgers in it.
    #[error("{0}")]
    Start(#[from] StartError),
    /// The coordinator in another process.
    #[error("{0}")]
    Remote(#[from] RemoteError),
    /// A folder.
    #[error("the folder \"{folder}\" for ledgers cannot be made: {source}", folder = printable(folder))]
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

impl LedgerFiles {
    /// The ledgers that are kept there. Opens their file if need be.
    ///
    /// # Errors
    /// The file is open elsewhere, or no file of ledgers; or the trainer passed no memory for its ledgers.
    pub(super) async fn at(&self, place: &Ledgers) -> Result<Handle, LedgersError> {
        let file = match place {
            Ledgers::File(file) => file,
            Ledgers::Kept => {
                let none = || std::io::Error::other("the trainer passed no memory for its ledgers");
                return Ok(self.kept().ok_or_else(none)?);
            }
            Ledgers::Remote(remote) => {
                let cell = self.cell(place);
                return Ok(cell.get_or_try_init(|| async { remote.connect() }).await?.clone());
            }
        };
        let (file, cell) = (file.clone(), self.cell(place));
        // In a task of its own: if the first caller gives up, the file is not left half open for the others.
        let opened = tokio::spawn(async move {
            // Opening may have to mend the file after a crash.
            let opening = || async { threads::beside("forebay-open", move || open(&file)).await? };
            cell.get_or_try_init(opening).await.cloned()
        });
        opened.await.map_err(std::io::Error::other)?
    }

    /// The ledgers in the trainer's memory, once it has passed it.
    pub(super) fn kept(&self) -> Option<Handle> {
        self.cell(&Ledgers::Kept).get().cloned()
    }

    /// Keeps ledgers in this memory. Only the first that comes is taken.
    ///
    /// # Errors
    /// It does not hold ledgers.
    pub(super) async fn keep_in(&self, memory: OwnedFd) -> Result<(), LedgersError> {
        let opening = || async { start(EmbeddedStore::in_file(memory.into(), "the trainer's memory")?) };
        self.cell(&Ledgers::Kept).get_or_try_init(opening).await.map(drop)
    }

    /// Since when one of them cannot be written, and why, if that is so.
    pub(super) fn outage(&self) -> Option<Outage> {
        self.0.lock().values().find_map(|cell| cell.get()?.outage().borrow().clone())
    }

    fn cell(&self, place: &Ledgers) -> Arc<OnceCell<Handle>> {
        Arc::clone(self.0.lock().entry(place.clone()).or_default())
    }
}

/// Deletes a stream's run from a file of ledgers that no daemon has open. Returns how many ledgers the run had.
///
/// # Errors
/// The file is open elsewhere, or is not a file of ledgers.
pub fn forget_run(file: &Path, run: &str, stream: &str) -> Result<u32, LedgersError> {
    let request = NewRunRequest { run: run.into(), stream: stream.into() };
    let reply = open(file)?.wait(request).map_err(std::io::Error::other)?;
    Ok(reply.forgotten)
}

/// The folder of a service's ledgers, which it owns: `chosen`, or the one that its environment names.
///
/// # Errors
/// Neither is there, or others may enter it.
pub(crate) fn ledgers_folder(chosen: Option<&Path>, environment: &Environment) -> Result<PathBuf, NoFolder> {
    let folder = chosen.map(Path::to_owned).or_else(|| environment.state_dir()).ok_or(NoFolder::Unknown)?;
    let managed = environment.state_directory.as_deref() == Some(&*folder);
    folder::own(&folder, None, if managed { Whose::Managed } else { Whose::Chosen })?;
    Ok(folder)
}

fn open(file: &Path) -> Result<Handle, LedgersError> {
    if let Some(folder) = file.parent() {
        // A daemon of this user may keep its own ledgers there later, and takes no folder that is open to others.
        folder::make(folder, 0o700).map_err(|source| LedgersError::Folder { folder: folder.into(), source })?;
    }
    start(EmbeddedStore::open(file)?)
}

fn start(store: EmbeddedStore) -> Result<Handle, LedgersError> {
    Ok(Coordinator::start(store, monotonic_clock(), CoordinatorSettings::default())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_takes_the_folder_that_a_named_run_of_the_same_user_has_made() {
        let home = tempfile::tempdir().unwrap();
        let state = home.path().join("state/forebay");
        let _run = open(&state.join("runs/august.redb")).unwrap();
        folder::own(&state, None, Whose::Chosen).unwrap();
    }
}
