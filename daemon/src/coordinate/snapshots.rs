//! The snapshot of a coordinator's ledgers: written to a folder every minute, and what a new store is made from.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use forebay_coordinator::{EmbeddedStore, Handle, RecoveredStore, RecoveryAudit, Store, StoreSnapshot};
use forebay_road::threads;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};

use super::CoordinateError;

/// File of the snapshot, in the folder of the ledgers.
pub(super) const SNAPSHOT: &str = "ledger.snapshot";
/// How often is looked whether this process leads.
const LOOK: Duration = Duration::from_millis(100);

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
    let (taken, recovered) = read(snapshot)?;
    let store = EmbeddedStore::create(ledgers, &recovered.documents)?;
    tell(taken, &recovered);
    Ok(store)
}

/// Puts the ledgers of a snapshot into a store that has none. It waits for so long until this process leads.
///
/// # Errors
/// The snapshot cannot be used, there are ledgers, or another process leads.
pub(super) async fn recover_into(
    store: &mut impl Store,
    place: &str,
    snapshot: &Path,
    patience: Duration,
) -> Result<(), CoordinateError> {
    let (taken, recovered) = read(snapshot)?;
    let end = Instant::now() + patience;
    while let Err(error) = store.term() {
        if Instant::now() >= end {
            return Err(error.into());
        }
        sleep(LOOK).await;
    }
    if !store.load("")?.is_empty() {
        return Err(CoordinateError::Occupied { place: place.to_owned(), snapshot: snapshot.into() });
    }
    store.commit(&recovered.documents)?;
    tell(taken, &recovered);
    Ok(())
}

/// The documents that ledgers go on from, and when they were as in the snapshot.
fn read(snapshot: &Path) -> Result<(u64, RecoveredStore), CoordinateError> {
    let found = StoreSnapshot::read(snapshot)?;
    let origin = forebay_road::incarnation::fresh()?.to_le_bytes();
    let recovered = RecoveredStore::of(&found, &origin)
        .map_err(|cause| CoordinateError::Recovery { snapshot: snapshot.into(), cause: cause.to_string() })?;
    Ok((found.taken, recovered))
}

fn tell(taken: u64, recovered: &RecoveredStore) {
    for (ledger, generation) in &recovered.generations {
        let meaning = RecoveryAudit { generation: *generation, taken };
        tracing::warn!(ledger, "{meaning}. Leases of earlier generations are void");
    }
}

#[cfg(test)]
mod tests {
    use forebay_coordinator::suite::SharedStore;
    use forebay_coordinator::{Coordinator, CoordinatorSettings, MemoryStore, monotonic_clock};
    use forebay_proto::v1::RegisterTasksRequest;

    use super::*;

    /// A snapshot of a coordinator with one ledger.
    async fn snapshot(file: &Path) -> StoreSnapshot {
        let handle = Coordinator::start(MemoryStore::new(), monotonic_clock(), CoordinatorSettings::default()).unwrap();
        let request = RegisterTasksRequest {
            dataset: "mnist".to_owned(),
            records: 60,
            batch_size: 4,
            epochs: 1,
            origin: 7,
            ..RegisterTasksRequest::default()
        };
        handle.call(request).await.unwrap();
        let snapshot = handle.take_store_snapshot().await.unwrap();
        snapshot.write(file).unwrap();
        snapshot
    }

    #[tokio::test]
    async fn ledgers_are_recovered_into_a_store_without_ledgers_by_the_process_that_leads() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(SNAPSHOT);
        let keys = |documents: &[(String, Vec<u8>)]| documents.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>();
        let wanted = keys(&snapshot(&file).await.documents);
        let (shared, place) = (SharedStore::default(), "etcd, below /test");
        let mut follower = shared.replica(1);
        let refused = recover_into(&mut follower, place, &file, Duration::ZERO).await.unwrap_err();
        assert!(refused.to_string().contains("another process leads"), "{refused}");
        assert_eq!(shared.documents(), []);
        // The election comes a moment later.
        let waiting = async { recover_into(&mut follower, place, &file, Duration::from_secs(60)).await };
        let (recovered, ()) = tokio::join!(waiting, async { shared.elect(1) });
        recovered.unwrap();
        assert_eq!(keys(&shared.documents()), wanted);
        // Ledgers that are there are never written over.
        let kept = shared.documents();
        let refused = recover_into(&mut follower, place, &file, Duration::ZERO).await.unwrap_err();
        assert!(refused.to_string().contains("there are ledgers in etcd, below /test already"), "{refused}");
        assert_eq!(shared.documents(), kept);
    }
}
