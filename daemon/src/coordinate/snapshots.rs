//! The snapshot of a coordinator's ledgers: written to a folder every minute, and what a new store is made from.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use forebay_coordinator::{EmbeddedStore, RecoveredStore, Store, StoreFault, StoreSnapshot, take_store_snapshot};
use forebay_ledger_client::Handle;
use forebay_pipeline::threads;
use forebay_plan::RecoveryAudit;
use parking_lot::Mutex;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};

use super::CoordinateError;

/// File of the snapshot, in the folder of the ledgers.
pub(super) const SNAPSHOT: &str = "ledger.snapshot";
/// The suffix of a snapshot that was set aside.
const BEFORE: &str = ".before";
/// How often is looked whether this process leads.
const LOOK: Duration = Duration::from_millis(100);

/// Writes a snapshot at each tick at which the ledgers are not as they were in the last one. Runs until it is aborted.
///
/// A snapshot that cannot be written is tried again at the next tick. The ledgers continue: only their own file must be
/// written.
pub(super) async fn keep(handle: Handle, file: PathBuf, every: Duration) {
    let mut tick = interval(every);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let shown = file.display().to_string();
    let kept = Arc::new(Mutex::new(None));
    let mut fails = false;
    loop {
        tick.tick().await;
        // In an outage there is nothing to keep that was answered.
        let Ok(snapshot) = take_store_snapshot(&handle).await else { continue };
        let (file, kept) = (file.clone(), Arc::clone(&kept));
        let take = move || kept.lock().get_or_insert_with(|| KeptSnapshot::open(file)).take(snapshot);
        let outcome = threads::beside("forebay-snapshot", take).await;
        match outcome.map_err(|error| error.to_string()).flatten() {
            Ok(false) => {}
            Ok(true) => {
                tracing::debug!(file = shown, "the snapshot of the ledgers was written");
                if std::mem::take(&mut fails) {
                    tracing::info!(file = shown, "the snapshot of the ledgers is written again");
                }
            }
            Err(cause) if !std::mem::replace(&mut fails, true) => {
                tracing::error!(
                    cause,
                    "the snapshot of the ledgers cannot be written; the ledgers themselves are not affected"
                );
            }
            Err(_told) => {}
        }
    }
}

/// The file of snapshots, and what it has.
///
/// If the store loses its data, the file has what is left of the ledgers. So nothing is written of an empty store, and a
/// snapshot of other ledgers sets the file aside.
struct KeptSnapshot {
    file: PathBuf,
    kept: Option<StoreSnapshot>,
}

impl KeptSnapshot {
    /// What cannot be read there is replaced.
    fn open(file: PathBuf) -> Self {
        let kept = StoreSnapshot::read(&file).ok();
        Self { file, kept }
    }

    /// Writes this one, if it has anything new. Says whether it did.
    fn take(&mut self, new: StoreSnapshot) -> Result<bool, String> {
        if new.documents.is_empty() || self.kept.as_ref().is_some_and(|kept| kept.documents == new.documents) {
            return Ok(false);
        }
        if self.kept.as_ref().is_some_and(|kept| new.goes_back_from(kept)) {
            self.set_aside()?;
        }
        new.write(&self.file).map_err(|error| error.to_string())?;
        self.kept = Some(new);
        Ok(true)
    }

    fn set_aside(&self) -> Result<(), String> {
        let mut aside = self.file.as_os_str().to_owned();
        aside.push(BEFORE);
        let aside = PathBuf::from(aside);
        match fs::rename(&self.file, &aside) {
            Ok(()) => {
                tracing::warn!(
                    kept = %aside.display(),
                    "ledgers are gone, or begin anew: by `forebay run new`, or because the store lost its data. The last \
                     snapshot of the earlier ones is kept"
                );
                Ok(())
            }
            // It was, and then the new one could not be written.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(format!("{} cannot become {}: {error}", self.file.display(), aside.display())),
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
    match store.commit(&recovered.documents) {
        Ok(()) => {
            tell(taken, &recovered);
            Ok(())
        }
        Err(error) if *error.fault() == StoreFault::Unknown => {
            Err(CoordinateError::Unsure { place: place.to_owned(), error })
        }
        Err(error) => Err(error.into()),
    }
}

/// The documents that ledgers go on from, and when they were as in the snapshot.
fn read(snapshot: &Path) -> Result<(u64, RecoveredStore), CoordinateError> {
    let found = StoreSnapshot::read(snapshot)?;
    let origin = forebay_pipeline::incarnation::fresh()?.to_le_bytes();
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
    async fn snapshot(file: &Path, dataset: &str) -> StoreSnapshot {
        let handle = Coordinator::start(MemoryStore::new(), monotonic_clock(), CoordinatorSettings::default()).unwrap();
        let request = RegisterTasksRequest {
            dataset: dataset.to_owned(),
            records: 60,
            batch_size: 4,
            epochs: 1,
            origin: 7,
            ..RegisterTasksRequest::default()
        };
        handle.call(request).await.unwrap();
        let snapshot = take_store_snapshot(&handle).await.unwrap();
        snapshot.write(file).unwrap();
        snapshot
    }

    #[tokio::test]
    async fn a_store_that_lost_its_ledgers_does_not_take_their_snapshot_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let (file, aside) = (folder.path().join(SNAPSHOT), folder.path().join("ledger.snapshot.before"));
        let first = snapshot(&file, "mnist").await;
        let other = snapshot(&folder.path().join("other"), "letters").await;
        let mut kept = KeptSnapshot::open(file.clone());
        assert_eq!(kept.take(first.clone()), Ok(false), "nothing is new");
        assert_eq!(kept.take(StoreSnapshot { documents: vec![], ..first.clone() }), Ok(false));
        assert_eq!(StoreSnapshot::read(&file).unwrap(), first, "an empty store has nothing to keep");
        assert_eq!(kept.take(other.clone()), Ok(true));
        assert_eq!(StoreSnapshot::read(&file).unwrap(), other);
        assert_eq!(StoreSnapshot::read(&aside).unwrap(), first, "of ledgers that are gone");
        // Ledgers that go on, and new ones, set nothing aside.
        let mut both = [first.documents, other.documents].concat();
        both.sort();
        assert_eq!(kept.take(StoreSnapshot { documents: both, ..first }), Ok(true));
        assert_eq!(StoreSnapshot::read(&aside).unwrap().documents.len(), kept.kept.unwrap().documents.len() / 2);
    }

    #[test]
    fn a_file_that_cannot_be_set_aside_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(SNAPSHOT);
        let of =
            |key: &str| StoreSnapshot { taken: 1, documents: vec![(format!("ledger/run/{key}/all/head"), vec![])] };
        let mut kept = KeptSnapshot::open(file.clone());
        assert_eq!(kept.take(of("train")), Ok(true));
        let before = folder.path().join("ledger.snapshot.before");
        fs::create_dir(&before).unwrap();
        let refused = kept.take(of("eval")).unwrap_err();
        assert!(refused.contains("cannot become"), "{refused}");
        assert_eq!(StoreSnapshot::read(&file).unwrap(), of("train"));
        fs::remove_dir(before).unwrap();
        assert_eq!(kept.take(of("eval")), Ok(true));
    }

    #[tokio::test]
    async fn ledgers_are_recovered_into_a_store_without_ledgers_by_the_process_that_leads() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(SNAPSHOT);
        let keys = |documents: &[(String, Vec<u8>)]| documents.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>();
        let wanted = keys(&snapshot(&file, "mnist").await.documents);
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
