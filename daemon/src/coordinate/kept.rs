//! Where a coordinator keeps its ledgers: in a file of its own, or in etcd, where others can take over.

use std::path::PathBuf;
use std::time::Duration;

use forebay_coordinator::{EtcdSettings, EtcdStore, Store};

use super::{CoordinateError, snapshots};
use crate::config::Environment;
use crate::daemon::ledgers::{LEDGERS, ledgers_folder};

/// See the module.
#[derive(Clone, Debug)]
pub struct KeptIn {
    /// Folder of the ledgers; by default [`Environment::state_dir`]. With etcd it has the snapshots only, and without one none
    /// are written.
    pub folder: Option<PathBuf>,
    /// A snapshot that new ledgers are made from, because the former ones are lost.
    pub recover_from: Option<PathBuf>,
    /// Time between two snapshots of the ledgers.
    pub snapshot_every: Duration,
    /// A cluster of etcd that has the ledgers, in place of a file.
    pub etcd: Option<EtcdSettings>,
}

/// A store that was opened.
pub(super) struct Opened {
    pub store: Box<dyn Store>,
    /// Its place, for the log.
    pub place: String,
    /// The file of snapshots, and how often one is written.
    pub snapshots: Option<(PathBuf, Duration)>,
}

/// How long a coordinator that recovers ledgers waits until it leads.
const ELECTION: Duration = Duration::from_secs(60);

impl KeptIn {
    pub(super) async fn open(&self, environment: &Environment) -> Result<Opened, CoordinateError> {
        let Self { folder, recover_from, snapshot_every, etcd } = self;
        let Some(settings) = etcd else {
            let folder = ledgers_folder(folder.as_deref(), environment)?;
            let (file, snapshot) = (folder.join(LEDGERS), folder.join(snapshots::SNAPSHOT));
            let store = match recover_from {
                Some(snapshot) => snapshots::recover(snapshot, &file)?,
                None => snapshots::open(&file, &snapshot)?,
            };
            let snapshots = Some((snapshot, *snapshot_every));
            return Ok(Opened { store: Box::new(store), place: folder.display().to_string(), snapshots });
        };
        let folder = folder.as_deref().map(|folder| ledgers_folder(Some(folder), environment)).transpose()?;
        let mut store = EtcdStore::open(settings)?;
        let place = format!("etcd, below {}", settings.prefix);
        if let Some(snapshot) = recover_from {
            snapshots::recover_into(&mut store, &place, snapshot, ELECTION).await?;
        }
        let snapshots = folder.map(|folder| (folder.join(snapshots::SNAPSHOT), *snapshot_every));
        Ok(Opened { store: Box::new(store), place, snapshots })
    }
}
