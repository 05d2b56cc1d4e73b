//! The snapshot of a coordinator's ledgers: written beside their file every minute, and what a new file is made from.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use forebay_coordinator::{EmbeddedStore, Handle, RecoveredStore, RecoveryAudit, StoreSnapshot};
use forebay_road::threads;
use tokio::time::{MissedTickBehavior, interval};

use super::CoordinateError;

/// File of the snapshot, in the folder of the ledgers.
pub(super) const SNAPSHOT: &str = "ledger.snapshot";

/// Writes a snapshot at each tick at which the ledgers are not as they were in the last one. Runs until it is aborted.
///
/// A snapshot that cannot be written is tried again at the next tick. The ledgers go on: their own file is what counts.
pub(super) async fn keep(handle: Handle, file: PathBuf, every: Duration) {
    let mut tick = interval(every);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut written = None;
    let mut fails = false;
    loop {
        tick.tick().await;
        // In an outage there is nothing to keep that was answered.
        let Ok(snapshot) = handle.take_store_snapshot().await else { continue };
        let snapshot = Arc::new(snapshot);
        if written.is_none() && snapshot.documents.is_empty() {
            continue;
        }
        if written.as_ref().is_some_and(|last: &Arc<StoreSnapshot>| last.documents == snapshot.documents) {
            continue;
        }
        let (path, new) = (file.clone(), Arc::clone(&snapshot));
        let outcome = threads::beside("forebay-snapshot", move || new.write(&path)).await;
        match outcome.map_err(|error| error.to_string()).and_then(|done| done.map_err(|error| error.to_string())) {
            Ok(()) => {
                tracing::debug!(file = %file.display(), "the snapshot of the ledgers was written");
                if std::mem::take(&mut fails) {
                    tracing::info!(file = %file.display(), "the snapshot of the ledgers is written again");
                }
                written = Some(snapshot);
            }
            Err(cause) if !std::mem::replace(&mut fails, true) => {
                tracing::error!(cause, "the snapshot of the ledgers is not written; the ledgers themselves go on");
            }
            Err(_told) => {}
        }
    }
}

/// Opens the file of the ledgers, or begins it.
///
/// # Errors
/// It cannot be used; or there is none, and the snapshot says that there was one.
pub(super) fn open(ledgers: &Path, snapshot: &Path) -> Result<EmbeddedStore, CoordinateError> {
    if !ledgers.try_exists()? && snapshot.try_exists()? {
        return Err(CoordinateError::Lost { ledgers: ledgers.into(), snapshot: snapshot.into() });
    }
    Ok(EmbeddedStore::open(ledgers)?)
}

/// Makes the file of the ledgers from a snapshot.
///
/// # Errors
/// The snapshot cannot be used, or there is a file of ledgers already.
pub(super) fn recover(snapshot: &Path, ledgers: &Path) -> Result<EmbeddedStore, CoordinateError> {
    let found = StoreSnapshot::read(snapshot)?;
    let origin = forebay_road::incarnation::fresh()?.to_le_bytes();
    let recovered = RecoveredStore::of(&found, &origin)
        .map_err(|cause| CoordinateError::Recovery { snapshot: snapshot.into(), cause: cause.to_string() })?;
    let store = EmbeddedStore::create(ledgers, &recovered.documents)?;
    for (ledger, generation) in &recovered.generations {
        let meaning = RecoveryAudit { generation: *generation, taken: found.taken };
        tracing::warn!(ledger, "{meaning}. Leases of earlier generations are void");
    }
    Ok(store)
}
