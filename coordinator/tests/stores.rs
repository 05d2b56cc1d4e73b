//! The conformance suite of `Store` against every implementation, and what is particular to each.
#![allow(clippy::unwrap_used, reason = "a test that cannot set its scene has failed")]

use std::os::unix::fs::PermissionsExt;

use forebay_coordinator::{EmbeddedStore, MemoryStore, suite::check_store};

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
fn the_file_is_for_its_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.redb");
    std::fs::write(&path, "").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let _store = EmbeddedStore::open(&path).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
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
