//! The store on a real etcd: the contract of stores, answers that are lost, large commits that are cut off, users and TLS.
#![allow(clippy::unwrap_used, reason = "a test that cannot set its scene has failed")]

mod access;
mod cluster;
mod lost;
mod proxy;

use std::time::Duration;

use forebay_coordinator::suite::{check_leadership, check_store};
use forebay_coordinator::{Address, EtcdSettings, EtcdStore, Store as _};
use forebay_proto::etcd::kv_client::KvClient;
use forebay_proto::etcd::request_op::Request;
use forebay_proto::etcd::{DeleteRangeRequest, RequestOp, TxnRequest};

use cluster::EtcdCluster;

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
    while store.term().is_err() {
        // Nobody unparks this thread: it rests between two looks.
        std::thread::park_timeout(Duration::from_millis(10));
    }
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
        let endpoint = etcd.endpoint(0);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut client = KvClient::connect(endpoint).await.unwrap();
            client.txn(TxnRequest { success, ..TxnRequest::default() }).await.unwrap();
        });
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
    loop {
        let error = store.term().unwrap_err().to_string();
        if error.contains(&etcd.endpoint(0)) {
            break assert!(error.contains("refused"), "{error}");
        }
        std::thread::park_timeout(Duration::from_millis(10));
    }
    etcd.restart(0);
    leads(&mut store);
    store.commit(&[]).unwrap();
}
