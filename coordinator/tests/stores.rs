//! The conformance suite of `Store` against every implementation, and what is particular to each.
#![allow(clippy::unwrap_used, reason = "a test that cannot set its scene has failed")]

use std::{os::unix::fs::PermissionsExt, path::Path};

use forebay_coordinator::{
    Coordinator, CoordinatorSettings, EmbeddedStore, MemoryStore, Store, monotonic_clock,
    suite::{check_leadership, check_store},
};
use forebay_ledger::Change;
use forebay_ledger_client::Handle;
use forebay_proto::v1::{AcquireRequest, Caller, LedgerSpec, ListLedgersRequest, OpenReply, OpenRequest};

#[test]
fn the_memory_store_keeps_the_contract() {
    check_store(MemoryStore::new(), |store| store);
}

#[test]
fn the_embedded_store_keeps_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.redb");
    check_store(EmbeddedStore::open(&path).unwrap(), |store| {
        drop(store);
        EmbeddedStore::open(&path).unwrap()
    });
}

#[test]
fn one_process_at_a_time_has_an_embedded_store() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.redb");
    check_leadership(
        |_| EmbeddedStore::open(&path),
        |first| {
            drop(first);
            None
        },
    );
}

#[test]
fn a_coordinator_that_is_told_to_end_closes_its_store_also_if_somebody_could_still_ask_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.redb");
    let store = EmbeddedStore::open(&path).unwrap();
    let handle = Coordinator::start(store, monotonic_clock(), CoordinatorSettings::default()).unwrap();
    handle.wait(ListLedgersRequest::default()).unwrap();
    EmbeddedStore::open(&path).unwrap_err();
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(handle.end());
    EmbeddedStore::open(&path).unwrap();
    handle.wait(ListLedgersRequest::default()).unwrap_err();
}

#[test]
fn a_store_is_made_with_documents_where_there_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.redb");
    let documents = [Change::Put { key: "a".into(), value: vec![1] }];
    let mut store = EmbeddedStore::create(&path, &documents).unwrap();
    assert_eq!(store.load("").unwrap(), [("a".to_owned(), vec![1])]);
    drop(store);
    let error = EmbeddedStore::create(&path, &documents).unwrap_err().to_string();
    assert!(error.contains("ledger.redb") && error.contains("move it away first"), "{error}");
}

#[test]
fn the_file_is_for_its_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.redb");
    let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    drop(EmbeddedStore::open(&path).unwrap());
    assert_eq!(mode(), 0o600);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let _store = EmbeddedStore::open(&path).unwrap();
    assert_eq!(mode(), 0o600);
}

#[test]
fn a_file_that_is_open_is_not_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.redb");
    let _first = EmbeddedStore::open(&path).unwrap();
    let error = EmbeddedStore::open(&path).unwrap_err().to_string();
    assert!(error.contains("ledger.redb"), "{error}");
}

#[test]
fn a_file_that_is_no_ledger_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.redb");
    std::fs::write(&path, [7; 9000]).unwrap();
    let error = EmbeddedStore::open(&path).unwrap_err().to_string();
    assert!(error.contains("ledger.redb"), "{error}");
    let missing = EmbeddedStore::open(&folder.path().join("no/such/folder")).unwrap_err().to_string();
    assert!(missing.contains("no/such/folder"), "{missing}");
}

/// What a crash of the machine can leave of a file that was synced: its length, or not even that.
#[test]
fn a_ledger_that_was_blanked_is_refused_and_not_begun_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.redb");
    drop(EmbeddedStore::open(&path).unwrap());
    let used = std::fs::read(&path).unwrap();
    let mut headless = vec![0; used.len()];
    headless[9..320].copy_from_slice(&used[9..320]);
    for blank in [vec![], vec![0; 5], vec![0; used.len()], headless] {
        std::fs::write(&path, &blank).unwrap();
        let error = EmbeddedStore::open(&path).unwrap_err().to_string();
        assert!(error.contains("ledger.redb") && error.contains("backup"), "{error}");
        assert!(std::fs::read(&path).unwrap() == blank, "nobody has written to it");
    }
    std::fs::remove_file(&path).unwrap();
    EmbeddedStore::open(&path).unwrap();
}

#[test]
fn a_ledger_whose_making_was_killed_is_made_at_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let (path, unfinished) = (folder.path().join("ledger.redb"), folder.path().join("ledger.redb.new"));
    for half in [vec![], vec![0; 4096], vec![7; 4096]] {
        std::fs::write(&unfinished, half).unwrap();
        drop(EmbeddedStore::open(&path).unwrap());
        assert!(!unfinished.exists());
        drop(EmbeddedStore::open(&path).unwrap());
        std::fs::remove_file(&path).unwrap();
    }
}

/// Memory of a trainer's, which has no second name to be made under.
#[test]
fn memory_whose_making_was_killed_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory");
    drop(EmbeddedStore::in_file(open_file(&path), "memory").unwrap());
    let mut half = std::fs::read(&path).unwrap();
    half[..9].fill(0);
    half[4096..].fill(0);
    std::fs::write(&path, half).unwrap();
    let mut store = EmbeddedStore::in_file(open_file(&path), "memory").unwrap();
    assert_eq!(store.load("").unwrap(), []);
}

fn open_file(path: &Path) -> std::fs::File {
    std::fs::File::options().read(true).write(true).create(true).truncate(false).open(path).unwrap()
}

#[test]
fn a_ledger_that_another_process_is_making_is_open_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let other = std::fs::File::create(folder.path().join("ledger.redb.new")).unwrap();
    other.lock().unwrap();
    let error = EmbeddedStore::open(&folder.path().join("ledger.redb")).unwrap_err().to_string();
    assert!(error.contains("another daemon has it open"), "{error}");
}

#[test]
fn a_damaged_ledger_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.redb");
    let mut store = EmbeddedStore::open(&path).unwrap();
    store.commit(&[Change::Put { key: "a".into(), value: vec![1] }]).unwrap();
    drop(store);
    let mut damaged = std::fs::read(&path).unwrap();
    damaged[..9].fill(0);
    std::fs::write(&path, &damaged).unwrap();
    let error = EmbeddedStore::open(&path).unwrap_err().to_string();
    assert!(error.contains("ledger.redb"), "{error}");
    assert!(std::fs::read(&path).unwrap() == damaged, "nobody has written to it");
}

#[test]
fn a_ledger_continues_from_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.redb");
    let acquire = |sequence, ledger: String| AcquireRequest {
        caller: Some(Caller { ledger, worker: "node".to_owned(), incarnation: 1, sequence, unseen: 0 }),
        leases: 1,
        ..AcquireRequest::default()
    };
    let (handle, opened) = serve(&path);
    assert!(!opened.resumed);
    let first = handle.wait(acquire(1, opened.ledger)).unwrap();
    drop(handle);

    let (handle, opened) = serve(&path);
    assert!(opened.resumed);
    assert_eq!(handle.wait(acquire(1, opened.ledger.clone())).unwrap(), first, "the stored reply");
    let second = handle.wait(acquire(2, opened.ledger)).unwrap();
    assert_eq!(second.leases[0].start, first.leases[0].end);
}

/// Waits for the thread of the coordinator before, which closes the file when its last handle is gone.
fn serve(path: &Path) -> (Handle, OpenReply) {
    let store = loop {
        match EmbeddedStore::open(path) {
            Ok(store) => break store,
            Err(error) if error.to_string().contains("has it open") => std::thread::yield_now(),
            Err(error) => panic!("{error}"),
        }
    };
    let handle = Coordinator::start(store, monotonic_clock(), CoordinatorSettings::default()).unwrap();
    let request = OpenRequest {
        run: "run".to_owned(),
        stream: "train".to_owned(),
        spec: Some(LedgerSpec { fingerprint: vec![0; 32], records: 100, permutation: 1, ..LedgerSpec::default() }),
        lease_size: 10,
        worker: "node".to_owned(),
        incarnation: 1,
        ..OpenRequest::default()
    };
    let opened = handle.wait(request).unwrap();
    (handle, opened)
}
