//! The store on a real etcd: the contract of stores, answers that are lost, large commits that are cut off, users and TLS.
#![allow(clippy::unwrap_used, reason = "a test that cannot set its scene has failed")]

mod access;
mod cluster;
mod lost;
mod proxy;
mod versions;

use std::time::{Duration, Instant};

use forebay_coordinator::suite::{check_leadership, check_mending, check_store};
use forebay_coordinator::{EtcdSettings, EtcdStore, Store as _, StoreFault};
use forebay_ledger::Change;
use forebay_ledger_client::Address;
use forebay_proto::LEDGER_VERSION;
use forebay_proto::etcd::kv_client::KvClient;
use forebay_proto::etcd::request_op::Request;
use forebay_proto::etcd::{DeleteRangeRequest, KeyValue, RangeRequest, RequestOp, TxnRequest, TxnResponse};

use cluster::EtcdCluster;
use proxy::{Gate, Proxy};

/// How long anything may take before the test has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// One member, which need not survive the machine.
fn alone() -> Option<EtcdCluster> {
    EtcdCluster::start(1, &["--unsafe-no-fsync"])
}

fn settings(endpoints: &str, prefix: &str) -> EtcdSettings {
    EtcdSettings {
        endpoints: Address::list(endpoints).unwrap(),
        prefix: prefix.to_owned(),
        advertise: "http://first:1".to_owned(),
        authority: None,
        certificate: None,
        user: None,
        ledger_version: LEDGER_VERSION,
        lease: Duration::from_secs(10),
        deadline: Duration::from_secs(2),
    }
}

/// Opens the store, and waits until it leads.
fn open(settings: &EtcdSettings) -> EtcdStore {
    let mut store = EtcdStore::open(settings).unwrap();
    leads(&mut store);
    store
}

fn leads(store: &mut EtcdStore) {
    until("it leads", || store.term().ok());
}

/// What one of many looks gives first.
fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(Instant::now() < end, "it never came to be that {what}");
        // Nobody unparks this thread: it rests between two looks.
        std::thread::park_timeout(Duration::from_millis(10));
    }
}

/// A transaction of somebody else.
fn transact(etcd: &EtcdCluster, transaction: TxnRequest) -> TxnResponse {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut client = KvClient::connect(etcd.endpoint(0)).await.unwrap();
        client.txn(transaction).await.unwrap().into_inner()
    })
}

/// What is under a key.
fn find(etcd: &EtcdCluster, key: &str) -> Option<KeyValue> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut client = KvClient::connect(etcd.endpoint(0)).await.unwrap();
        let request = RangeRequest { key: key.into(), ..RangeRequest::default() };
        client.range(request).await.unwrap().into_inner().kvs.pop()
    })
}

#[test]
fn the_store_on_etcd_keeps_the_contract() {
    let Some(etcd) = alone() else { return };
    let settings = settings(&etcd.endpoints(), "/suite/");
    check_store(open(&settings), |store| {
        drop(store);
        open(&settings)
    });
    // Others in the same etcd have documents of their own.
    let other = EtcdSettings { prefix: "/suite/other".to_owned(), ..settings };
    assert_eq!(open(&other).load("").unwrap(), []);
}

#[test]
fn one_coordinator_leads_and_one_whose_key_is_gone_writes_nothing() {
    let Some(etcd) = alone() else { return };
    let replica = |advertise: &str| {
        let settings = settings(&etcd.endpoints(), "/suite");
        EtcdStore::open(&EtcdSettings { advertise: advertise.to_owned(), ..settings })
    };
    check_leadership(replica, |first| {
        let delete = DeleteRangeRequest { key: b"/suite/leader".to_vec(), range_end: Vec::new() };
        let success = vec![RequestOp { request: Some(Request::RequestDeleteRange(delete)) }];
        transact(&etcd, TxnRequest { success, ..TxnRequest::default() });
        Some(first)
    });
}

#[test]
fn a_leader_that_ends_makes_room_for_the_next_one() {
    let Some(etcd) = alone() else { return };
    let settings = EtcdSettings { lease: Duration::from_secs(3600), ..settings(&etcd.endpoints(), "/suite") };
    for _ in 0..3 {
        // The lease would last for an hour.
        drop(open(&settings));
    }
}

#[test]
fn an_etcd_that_is_not_there_is_named_and_waited_for() {
    let Some(mut etcd) = alone() else { return };
    etcd.kill(0);
    let mut store = EtcdStore::open(&settings(&etcd.endpoints(), "/suite")).unwrap();
    let error =
        until("etcd is named", || store.term().err().filter(|error| error.to_string().contains(&etcd.endpoint(0))));
    assert!(error.to_string().contains("refused") && *error.fault() == StoreFault::Failed, "{error}");
    etcd.restart(0);
    leads(&mut store);
    store.commit(&[]).unwrap();
}

#[test]
fn nothing_is_committed_while_etcd_has_no_room_and_everything_is_when_it_has_some() {
    let Some(etcd) = alone() else { return };
    let store = open(&settings(&etcd.endpoints(), "/suite"));
    check_mending(store, |is_full| {
        let action = if is_full { "ACTIVATE" } else { "DEACTIVATE" };
        let alarm = format!(r#"{{"action": "{action}", "alarm": "NOSPACE", "memberID": "1"}}"#);
        let answer = etcd.post(0, "/v3/maintenance/alarm", &alarm);
        assert!(answer.contains("200 OK"), "{answer}");
    });
}

#[test]
fn a_leader_that_is_cut_off_from_etcd_makes_room_for_the_next_one_and_follows_it() {
    let Some(etcd) = alone() else { return };
    let short = |endpoints: &str, advertise: &str| {
        let (advertise, lease) = (advertise.to_owned(), Duration::from_secs(3));
        EtcdSettings { advertise, lease, ..settings(endpoints, "/suite") }
    };
    let proxy = Proxy::to(etcd.port(0));
    let mut first = open(&short(&format!("http://127.0.0.1:{}", proxy.port), "http://first:1"));
    let put = |value: &str| [Change::Put { key: "a".to_owned(), value: value.into() }];
    first.commit(&put("of the first")).unwrap();
    proxy.requests(Gate::Held);
    let mut second = open(&short(&etcd.endpoints(), "http://second:1"));
    assert_eq!(*first.commit(&put("too late")).unwrap_err().fault(), StoreFault::Failed, "it knows nothing");
    proxy.requests(Gate::Open);
    let known = StoreFault::NotLeader { leader: Some("http://second:1".to_owned()) };
    until("it follows", || first.term().err().filter(|error| *error.fault() == known));
    assert_eq!(*first.commit(&put("too late")).unwrap_err().fault(), known);
    assert_eq!(second.load("").unwrap(), [("a".to_owned(), b"of the first".to_vec())]);
}
