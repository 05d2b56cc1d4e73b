//! Where a coordinator keeps its ledgers: in a file of its own, or in etcd with others that stand in for it.

use std::path::PathBuf;
use std::time::Duration;

use forebay_coordinator::{EtcdSettings, EtcdStore, Store};

use super::{CoordinateError, snapshots};
use crate::config::Surroundings;
use crate::daemon::ledgers::{LEDGERS, ledgers_folder};

/// See the module.
#[derive(Clone, Debug)]
pub enum KeptIn {
    /// A file.
    File {
        /// Folder of the ledgers; by default [`Surroundings::state_dir`].
        folder: Option<PathBuf>,
        /// A snapshot that new ledgers are made from, because the former ones are lost.
        recover_from: Option<PathBuf>,
        /// Time between two snapshots of the ledgers.
        snapshot_every: Duration,
    },
    /// A cluster of etcd.
    Etcd(EtcdSettings),
}

/// A store that was opened.
pub(super) struct Opened {
    pub store: Box<dyn Store>,
    /// Its place, for the log.
    pub place: String,
    /// The file of snapshots, and how often one is written.
    pub snapshots: Option<(PathBuf, Duration)>,
}

impl KeptIn {
    pub(super) fn open(&self, surroundings: &Surroundings) -> Result<Opened, CoordinateError> {
        match self {
            Self::File { folder, recover_from, snapshot_every } => {
                let folder = ledgers_folder(folder.as_deref(), surroundings)?;
                let (file, snapshot) = (folder.join(LEDGERS), folder.join(snapshots::SNAPSHOT));
                let store = match recover_from {
                    Some(snapshot) => snapshots::recover(snapshot, &file)?,
                    None => snapshots::open(&file, &snapshot)?,
                };
                let snapshots = Some((snapshot, *snapshot_every));
                Ok(Opened { store: Box::new(store), place: folder.display().to_string(), snapshots })
            }
            Self::Etcd(settings) => {
                let store = Box::new(EtcdStore::open(settings)?);
                Ok(Opened { store, place: format!("etcd, below {}", settings.prefix), snapshots: None })
            }
        }
    }
}
