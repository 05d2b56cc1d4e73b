//! The coordinator's thread without the thread: its turns, one by one.

mod simulation;

use std::sync::atomic::{AtomicU64, Ordering};

use forebay_ledger_client::{Request, call};
use forebay_proto::LEDGER_VERSION;
use forebay_proto::v1::{AcquireRequest, Caller, HeartbeatRequest, LedgerSpec, OpenRequest};

use super::*;
use crate::store::MemoryStore;

/// The owner of a store, with a clock in the test's hands. It has read nothing yet.
fn keeper<S: Store>(store: S, now: &Arc<AtomicU64>, times: Times, ledger_version: u32) -> Keeper<S> {
    let clock: Clock = {
        let now = Arc::clone(now);
        Arc::new(move || now.load(Ordering::SeqCst))
    };
    let served = Served::new(clock());
    let (outages, _watched) = Outages::new();
    Keeper {
        store,
        clock,
        served,
        times,
        ledger_version,
        term: None,
        ledgers: None,
        updates: UpdateChannels::default(),
        end: Arc::default(),
        outages,
    }
}

/// Requests that come at once.
fn ask<R: Request>(keeper: &mut Keeper<MemoryStore>, requests: Vec<R>) -> Vec<R::Reply> {
    let (group, replies): (Vec<_>, Vec<_>) = requests.into_iter().map(call).unzip();
    keeper.answer(group);
    replies.into_iter().map(|mut reply| reply.try_recv().unwrap().unwrap()).collect()
}

fn open(worker: &str) -> OpenRequest {
    let spec = LedgerSpec { fingerprint: vec![0; 32], records: 20, permutation: 1, ..LedgerSpec::default() };
    let (run, stream, worker) = ("run".to_owned(), "train".to_owned(), worker.to_owned());
    let request = OpenRequest { run, stream, worker, spec: Some(spec), lease_size: 10, ..OpenRequest::default() };
    OpenRequest { incarnation: 1, epochs: 1, ..request }
}

fn caller(worker: &str, sequence: u64) -> Caller {
    let (ledger, worker) = ("run/train/all".to_owned(), worker.to_owned());
    Caller { ledger, worker, incarnation: 1, sequence, unseen: 0 }
}

fn acquire(worker: &str, sequence: u64) -> AcquireRequest {
    AcquireRequest { caller: Some(caller(worker, sequence)), leases: 1, ..AcquireRequest::default() }
}

#[test]
fn rule_4_what_waits_in_the_queue_is_heard_before_leases_expire() {
    let now = Arc::new(AtomicU64::new(0));
    let mut keeper =
        keeper(MemoryStore::new(), &now, Times { lease_ttl: 1000, grace: 800, task: 1000 }, LEDGER_VERSION);
    ask(&mut keeper, vec![open("one"), open("two")]);
    let granted = ask(&mut keeper, vec![acquire("one", 1), acquire("two", 1)]);
    let leases: Vec<u64> = granted.iter().map(|reply| reply.leases[0].id).collect();
    let beat = |worker| HeartbeatRequest {
        caller: Some(caller(worker, 0)),
        leases: leases.clone(),
        ..HeartbeatRequest::default()
    };
    for _ in 0..3 {
        // Both are late by now, and have spoken.
        now.fetch_add(1000, Ordering::SeqCst);
        let replies = ask(&mut keeper, vec![beat("one"), beat("two")]);
        assert!(replies.iter().all(|reply| reply.leases.len() == 1), "{replies:?}");
    }
    now.fetch_add(1000, Ordering::SeqCst);
    ask(&mut keeper, vec![beat("one")]);
    let replies = ask(&mut keeper, vec![acquire("one", 2)]);
    assert_eq!(replies[0].leases.len(), 1, "two said nothing: {replies:?}");
}
