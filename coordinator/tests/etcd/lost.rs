//! Answers that are lost, transactions that come late, and large commits that are cut off in the middle.

use std::thread;
use std::time::Duration;

use forebay_coordinator::suite::check_unknown;
use forebay_coordinator::{EtcdSettings, EtcdStore, Store, StoreError};
use forebay_ledger::Change;
use forebay_proto::etcd::compare::{CompareResult, CompareTarget, TargetUnion};
use forebay_proto::etcd::request_op::Request;
use forebay_proto::etcd::{Compare, DeleteRangeRequest, PutRequest, RequestOp, TxnRequest};

use crate::cluster::EtcdCluster;
use crate::proxy::{Gate, Proxy};
use crate::{PATIENCE, alone, find, leads, open, settings, transact, until};

/// How the answer to a commit gets lost.
#[derive(Clone, Copy)]
enum Loss {
    /// The reply waits.
    Reply,
    /// The request never arrives.
    Request,
    /// The request arrives when nobody waits for its reply any more.
    Late,
}

/// A store behind a proxy.
struct Behind {
    store: EtcdStore,
    proxy: Proxy,
    etcd: EtcdCluster,
    next: Option<Loss>,
}

impl Store for Behind {
    fn term(&mut self) -> Result<u64, StoreError> {
        self.store.term()
    }

    fn commands_at_once(&self) -> usize {
        self.store.commands_at_once()
    }

    fn load(&mut self, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        self.store.load(prefix)
    }

    fn commit(&mut self, changes: &[Change]) -> Result<(), StoreError> {
        let Some(loss) = self.next.take() else { return self.store.commit(changes) };
        let Self { store, proxy, etcd, .. } = self;
        let revision = || find(etcd, "/suite/head").map(|head| head.mod_revision);
        let before = revision();
        match loss {
            Loss::Reply => proxy.replies(Gate::Held),
            Loss::Request => proxy.requests(Gate::CutAfter(0)),
            Loss::Late => proxy.requests(Gate::Held),
        }
        let outcome = thread::scope(|scope| {
            // The store would wait for its answer until the deadline.
            scope.spawn(|| match loss {
                Loss::Reply => {
                    until("it is applied", || (revision() != before).then_some(()));
                    proxy.hang_up();
                }
                Loss::Request => {}
                Loss::Late => {
                    proxy.holds();
                    proxy.hang_up();
                }
            });
            store.commit(changes)
        });
        proxy.open();
        outcome
    }
}

#[test]
fn a_transaction_whose_answer_is_lost_is_looked_up_and_never_sent_twice() {
    let Some(etcd) = alone() else { return };
    let proxy = Proxy::to(etcd.port(0));
    let settings = EtcdSettings {
        // As long as the rounds of this test, however slow the machine is: the lease is not what is tested here.
        lease: Duration::from_secs(600),
        deadline: PATIENCE,
        ..settings(&format!("http://127.0.0.1:{}", proxy.port), "/suite")
    };
    let store = Behind { store: open(&settings), proxy, etcd, next: None };
    check_unknown(store, |store, round| {
        store.next = Some([Loss::Reply, Loss::Request, Loss::Late][usize::from(round % 3)]);
    });
}

/// Two documents of each of 400 commits' worth of keys, and one that takes several values.
fn large(number: u8) -> Vec<Change> {
    let put = |key: String, value| Change::Put { key, value };
    let small = (0..300).map(|key| put(format!("many/{key:03}"), vec![number; 10]));
    small.chain([put("large".to_owned(), vec![number; 700 << 10])]).collect()
}

#[test]
fn a_large_commit_that_is_cut_off_anywhere_is_there_as_a_whole_or_not_at_all() {
    let Some(etcd) = alone() else { return };
    let mut before = 0;
    for (number, kilobytes) in (1..).zip([0, 100, 400, 700, 720, 730, 740, 800, 1000, 1300, 1450, 1470, 3000]) {
        let proxy = Proxy::to(etcd.port(0));
        let settings =
            EtcdSettings { deadline: PATIENCE, ..settings(&format!("http://127.0.0.1:{}", proxy.port), "/suite") };
        let mut store = EtcdStore::open(&settings).unwrap();
        leads(&mut store);
        proxy.requests(Gate::CutAfter(kilobytes << 10));
        let outcome = store.commit(&large(number));
        // Whatever it does on its way out is lost as well, but for its lease, which another way ends.
        proxy.requests(Gate::Open);
        drop(store);
        let mut fresh = open(&crate::settings(&etcd.endpoints(), "/suite"));
        let found = fresh.load("").unwrap();
        let numbers: std::collections::BTreeSet<u8> =
            found.iter().flat_map(|(_, value)| value.iter().copied()).collect();
        let whole = found.is_empty() || (found.len() == 301 && numbers.len() == 1);
        assert!(whole, "{kilobytes} KB: {} documents, of the commits {numbers:?}", found.len());
        let now = numbers.first().copied().unwrap_or(0);
        assert!(now == before || now == number, "{kilobytes} KB: commit {now} after {before}");
        assert!(outcome.is_err() || now == number, "{kilobytes} KB: it said that it was made");
        before = now;
    }
    assert_eq!(before, 13, "the last one was not cut off");
}

/// A piece of a journal of which nothing else is there.
const PIECE: &str = "/suite/journal/0000000000000001-0000000000000001/00000000";

#[test]
fn what_deletes_the_pieces_of_unmade_commits_deletes_none_of_a_later_commit_if_it_comes_again() {
    let Some(etcd) = alone() else { return };
    let settings = settings(&etcd.endpoints(), "/suite");
    open(&settings).commit(&[]).unwrap();
    let put_piece = || {
        let put = PutRequest { key: PIECE.into(), value: b"of a commit".to_vec(), lease: 0 };
        let success = vec![RequestOp { request: Some(Request::RequestPut(put)) }];
        transact(&etcd, TxnRequest { success, ..TxnRequest::default() })
    };
    put_piece();
    let mut store = open(&settings);
    // As the store guards what it deletes.
    let guard = |key: &str, target: CompareTarget, revision| Compare {
        result: CompareResult::Equal.into(),
        target: target.into(),
        key: key.into(),
        target_union: Some(revision),
    };
    let leader = TargetUnion::CreateRevision(find(&etcd, "/suite/leader").unwrap().create_revision);
    let head = TargetUnion::ModRevision(find(&etcd, "/suite/head").unwrap().mod_revision);
    let all = DeleteRangeRequest { key: b"/suite/journal/".to_vec(), range_end: b"/suite/journal0".to_vec() };
    let late = TxnRequest {
        compare: vec![
            guard("/suite/leader", CompareTarget::Create, leader),
            guard("/suite/head", CompareTarget::Mod, head),
        ],
        success: vec![RequestOp { request: Some(Request::RequestDeleteRange(all)) }],
        failure: Vec::new(),
    };
    store.load("").unwrap();
    assert_eq!(find(&etcd, PIECE), None, "nobody made that commit");
    put_piece();
    assert!(!transact(&etcd, late).succeeded);
    assert!(find(&etcd, PIECE).is_some());
}
