//! Ledgers in a real etcd, beside bare transactions of the same etcd. It syncs what it writes.

#[path = "../../../coordinator/tests/etcd/cluster.rs"]
#[allow(clippy::unwrap_used, reason = "it is made for tests, and an etcd that does not start gives no figure either")]
mod cluster;

use std::time::{Duration, Instant};

use forebay_proto::etcd::kv_client::KvClient;
use forebay_proto::etcd::request_op::Request;
use forebay_proto::etcd::{PutRequest, RequestOp, TxnRequest};

use self::cluster::EtcdCluster;
use crate::coordinator::{Launch, remote};
use crate::figures::{Bare, Lateness};
use crate::outages::Outages;
use crate::worker::{Ledger, Worker};
use crate::{BILLIONS, receipts_of};

/// An election takes longer than a busy machine, so that none begins by itself.
const ELECTIONS: [&str; 4] = ["--heartbeat-interval", "500", "--election-timeout", "5000"];
/// For how long a coordinator leads that etcd does not hear, in seconds.
const LEASE: u64 = 10;
/// Transactions of one client, and commits of one worker.
const ONE_BY_ONE: u32 = 300;
/// Leaders that are killed.
const KILLED: usize = 3;

/// Receipts and single commits, with this many members.
pub(crate) async fn receipts(members: usize) -> Result<(), Bare> {
    let Some(etcd) = EtcdCluster::start(members, &ELECTIONS) else { return Ok(()) };
    let coordinator = Launch::on_etcd(&etcd.endpoints(), LEASE)?.spawn()?.ready().await?;
    let mut bare = transactions(&etcd.endpoint(etcd.leader())).await?;
    let rate = receipts_of(&coordinator).await?;
    let mut worker = Worker::open(coordinator.handle()?, &Ledger::of(BILLIONS, 64), 1 << 20).await?;
    let mut commits = Lateness::default();
    for _ in 0..ONE_BY_ONE {
        worker.leases.clear();
        let start = Instant::now();
        worker.acquire(1).await?;
        commits.push(start.elapsed());
        let lease = worker.leases[0];
        let item = worker.receipt(&lease, 0..lease.end - lease.start);
        worker.acknowledge(vec![item]).await?;
    }
    bare.extend(transactions(&etcd.endpoint(etcd.leader())).await?);
    println!(
        "etcd, members: {members}: {rate:.0} durable receipts/s; an Acquire alone: {commits}; a bare transaction: {bare}"
    );
    Ok(())
}

/// How long it takes from the death of the leader, which another coordinator replaces, until a worker gets a lease.
pub(crate) async fn killed() -> Result<(), Bare> {
    let Some(etcd) = EtcdCluster::start(3, &ELECTIONS) else { return Ok(()) };
    let launches = [Launch::on_etcd(&etcd.endpoints(), LEASE)?, Launch::on_etcd(&etcd.endpoints(), LEASE)?];
    let mut leader = launches[0].spawn()?.ready().await?;
    let addresses = [launches[0].address(), launches[1].address()].join(",");
    let mut outages = Outages::begin(remote(&addresses)?.connect()?).await?;
    for number in 0..KILLED {
        let other = &launches[(number + 1) % 2];
        // It follows while the other one leads.
        let follower = other.spawn()?;
        tokio::time::sleep(Duration::from_secs(1)).await;
        let died = Instant::now();
        drop(leader);
        outages.end(died).await?;
        leader = follower;
    }
    outages.print("a leader on etcd was killed: the next Acquire after its death", Duration::from_secs(LEASE + 2));
    Ok(())
}

/// How long transactions of 4 KiB take, one after the other.
async fn transactions(endpoint: &str) -> Result<Lateness, Bare> {
    let mut client = KvClient::connect(endpoint.to_owned()).await?;
    let mut taken = Lateness::default();
    for _ in 0..ONE_BY_ONE {
        let put = PutRequest { key: b"/bare".to_vec(), value: vec![0; 4096], ..PutRequest::default() };
        let success = vec![RequestOp { request: Some(Request::RequestPut(put)) }];
        let start = Instant::now();
        client.txn(TxnRequest { success, ..TxnRequest::default() }).await?;
        taken.push(start.elapsed());
    }
    Ok(taken)
}
