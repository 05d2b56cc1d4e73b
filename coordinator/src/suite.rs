//! The conformance suite of [`Store`]: what every implementation must pass. It also has the tools that tests of the ledger
//! share: a store that fails on demand, and the checkers of runs.

mod ledger_observer;
mod random;
mod shared_store;
mod violation;
mod visits;

use std::thread;
use std::time::{Duration, Instant};

use forebay_ledger::Change;

use crate::store::{Store, StoreError, StoreFault};

pub use ledger_observer::{LedgerObserver, Place};
pub use random::Random;
pub use shared_store::{CommitFailure, Replica, SharedStore};
pub use violation::{Invariant, Violation};
pub use visits::Visits;

/// How long a store may take until it leads.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs every check. `reopen` closes the store that it is given and opens what was kept; for a store without
/// durability it gives the same store back.
///
/// # Panics
///
/// If the store breaks its contract.
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

/// Checks that a store recovers by itself. `fail(true)` makes its next writes fail, and `fail(false)` removes the cause.
///
/// # Panics
///
/// If commits keep failing, or if a failed commit changes something in part.
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

/// Checks commits whose outcome is not known. `lose` makes the answer to the next commit get lost. Often, the commit
/// itself gets lost too, or comes late.
///
/// # Panics
///
/// If such a commit is applied in part, or after a later one that succeeded.
pub fn check_unknown<S: Store>(mut store: S, mut lose: impl FnMut(&mut S, u8)) {
    let mut sure = put_number(&mut store, 0);
    for round in 1..=30 {
        lose(&mut store, round);
        let lost = [put("a", &[round; 50]), put("b", &[round])];
        let error = store.commit(&lost).expect_err("a commit whose answer is lost");
        assert_eq!(*error.fault(), StoreFault::Unknown, "{error}");
        let was_sure = sure;
        let mut found = number(&mut store);
        assert!(found == was_sure || found == round, "{found} is neither what was sure nor what was lost");
        sure = match store.commit(&[put("a", &[100 + round; 50]), put("b", &[100 + round])]) {
            Ok(()) => 100 + round,
            Err(error) => {
                assert_eq!(
                    (error.fault(), found),
                    (&StoreFault::Failed, was_sure),
                    "only what came late is in the way"
                );
                found = number(&mut store);
                assert_eq!(found, round, "it came late, and is there now");
                put_number(&mut store, 100 + round)
            }
        };
        assert_eq!(number(&mut store), sure, "what was lost does not come after what succeeded");
    }
}

/// Checks that one process leads at a time. `replica` opens the store like another process that is reached at this
/// address. `depose` ends the leadership of a store, and returns the store unless it has ended too.
///
/// # Panics
///
/// If a store that does not lead can be written, or if a write of the leader is lost.
pub fn check_leadership<S: Store>(
    mut replica: impl FnMut(&str) -> Result<S, StoreError>,
    mut depose: impl FnMut(S) -> Option<S>,
) {
    let mut first = replica("http://first:1").expect("a store that nobody leads");
    let term = begins_to_lead(&mut first);
    commit(&mut first, &[put("a", b"of the first")]);
    let refused = |error: &StoreError| matches!(error.fault(), StoreFault::NotLeader { .. });
    let second = match replica("http://second:1") {
        Err(error) => {
            assert!(refused(&error), "{error}");
            None
        }
        Ok(mut second) => {
            let error = second.term().expect_err("another one leads");
            let known = StoreFault::NotLeader { leader: Some("http://first:1".to_owned()) };
            assert!(*error.fault() == known || refused(&error), "{error}");
            assert!(refused(&second.load("").expect_err("another one leads")));
            assert!(refused(&second.commit(&[put("a", b"of the second")]).expect_err("another one leads")));
            Some(second)
        }
    };
    assert_eq!((first.term().expect("it leads"), load(&mut first, "")), (term, owned(&[("a", b"of the first")])));
    let deposed = depose(first);
    let mut second = second.unwrap_or_else(|| replica("http://second:1").expect("a store that nobody leads"));
    let next = begins_to_lead(&mut second);
    assert!(deposed.is_none() || next > term, "term {next} follows on term {term}");
    assert_eq!(load(&mut second, ""), owned(&[("a", b"of the first")]), "what the first one wrote is there");
    commit(&mut second, &[put("a", b"of the second")]);
    if let Some(mut first) = deposed {
        let error = first.commit(&[put("a", b"too late")]).expect_err("it does not lead any more");
        assert!(refused(&error), "{error}");
        assert!(first.term().is_err_and(|error| refused(&error)));
        assert_eq!(load(&mut second, ""), owned(&[("a", b"of the second")]), "nothing of it came");
    }
}

fn begins_to_lead(store: &mut impl Store) -> u64 {
    let until = Instant::now() + PATIENCE;
    loop {
        match store.term() {
            Ok(term) => return term,
            Err(error) => assert!(Instant::now() < until, "it never leads: {error}"),
        }
        // Nothing unparks this thread: it only waits between two attempts.
        thread::park_timeout(Duration::from_millis(10));
    }
}

/// Both documents of [`check_unknown`] have the number.
fn put_number(store: &mut impl Store, number: u8) -> u8 {
    commit(store, &[put("a", &[number; 50]), put("b", &[number])]);
    number
}

fn number(store: &mut impl Store) -> u8 {
    let found = load(store, "");
    let number = found.last().map_or(0, |(_, value)| value[0]);
    assert_eq!(found, owned(&[("a", &[number; 50]), ("b", &[number])]), "both documents are of one commit");
    number
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
