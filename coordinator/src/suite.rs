//! The conformance suite of [`Store`]: what every implementation must pass.

use crate::store::{Change, Store};

/// Runs every check. `reopen` closes the store that it is given and opens what was kept; for a store without
/// durability it gives the same store back.
///
/// # Panics
///
/// Where the store does not keep its contract.
pub fn check_store<S: Store>(store: S, mut reopen: impl FnMut(S) -> S) {
    let mut store = store;
    assert_eq!(load(&mut store, ""), [], "a new store is empty");
    commit(&mut store, &[put("b/2", b"two"), put("a", b""), put("b/1", b"one"), put("c", &[0, 255])]);
    let all = [("a", &b""[..]), ("b/1", b"one"), ("b/2", b"two"), ("c", &[0, 255])];
    assert_eq!(load(&mut store, ""), owned(&all), "all documents come in the order of their keys, the empty one too");
    assert_eq!(load(&mut store, "b/"), owned(&all[1..3]), "a prefix chooses");
    assert_eq!(load(&mut store, "b/12"), [], "a prefix that no key has");

    commit(&mut store, &[put("a", b"1"), delete("a"), put("c", b"new"), delete("never was"), put("c", b"newer")]);
    let rest = [("b/1", &b"one"[..]), ("b/2", b"two"), ("c", b"newer")];
    assert_eq!(load(&mut store, ""), owned(&rest), "changes of one commit are applied in order");

    commit(&mut store, &[]);
    store = reopen(store);
    assert_eq!(load(&mut store, ""), owned(&rest), "what was committed is there after opening again");

    let large = vec![7; 3 << 20];
    let many: Vec<Change> = (0..2000).map(|i| put(&format!("many/{i:04}"), &[1; 100])).collect();
    commit(&mut store, &many);
    commit(&mut store, &[put("large", &large)]);
    store = reopen(store);
    assert_eq!(load(&mut store, "many/").len(), 2000, "many documents in one commit");
    assert_eq!(load(&mut store, "large"), [("large".to_owned(), large)], "a document of some megabytes");
}

/// Checks that a store mends itself. `fail` makes its next writes fail (true), and takes the cause away (false).
///
/// # Panics
///
/// Where a commit that fails does so for ever, or changes something in part.
pub fn check_mending<S: Store>(mut store: S, mut fail: impl FnMut(bool)) {
    commit(&mut store, &[put("a", b"kept"), put("b", b"kept")]);
    for round in 0..3 {
        fail(true);
        let changes = [put("a", &[round; 9000]), delete("b"), put("c", &[round])];
        for _ in 0..3 {
            store.commit(&changes).expect_err("a commit that cannot be written");
        }
        fail(false);
        let found = load(&mut store, "");
        let before = if round == 0 { owned(&[("a", b"kept"), ("b", b"kept")]) } else { after(round - 1) };
        assert!(found == before || found == after(round), "all of a commit or nothing, after it failed");
        commit(&mut store, &changes);
        assert_eq!(load(&mut store, ""), after(round), "a commit succeeds when the cause is gone");
    }
    fail(true);
    store.commit(&[delete("a")]).expect_err("a commit that cannot be written");
    fail(false);
    commit(&mut store, &[put("d", b"at once")]);
    assert_eq!(load(&mut store, "d"), owned(&[("d", b"at once")]), "a commit needs no read before it");
}

/// What [`check_mending`] leaves after a round.
fn after(round: u8) -> Vec<(String, Vec<u8>)> {
    owned(&[("a", &[round; 9000]), ("c", &[round])])
}

fn put(key: &str, value: &[u8]) -> Change {
    Change::Put { key: key.to_owned(), value: value.to_vec() }
}

fn delete(key: &str) -> Change {
    Change::Delete { key: key.to_owned() }
}

fn commit(store: &mut impl Store, changes: &[Change]) {
    store.commit(changes).expect("a commit");
}

fn load(store: &mut impl Store, prefix: &str) -> Vec<(String, Vec<u8>)> {
    store.load(prefix).expect("a read")
}

fn owned(documents: &[(&str, &[u8])]) -> Vec<(String, Vec<u8>)> {
    documents.iter().map(|&(key, value)| (key.to_owned(), value.to_vec())).collect()
}
