//! How many durable receipts per second the embedded store takes, beside a bare write-and-sync loop on the same
//! file system: `cargo run --release -p forebay-coordinator --example acks [FOLDER]`.
#![allow(clippy::print_stdout, reason = "the numbers are what this program is for")]

use std::{error::Error, fs::File, io::Write, path::PathBuf, time::Instant};

use forebay_coordinator::{Coordinator, CoordinatorSettings, EmbeddedStore, Handle, Plan, monotonic_clock};
use forebay_proto::{
    RecordSum,
    v1::{AckItem, AckRequest, AcquireRequest, Caller, LedgerSpec, OpenRequest, Range, ack_item::Kind},
};

const WORKERS: usize = 64;
const LEASES: u64 = 20;
const LEASE: u64 = 1024;
/// Positions of one receipt: a batch.
const BATCH: u64 = 64;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let folder = std::env::args_os().nth(1).map_or_else(std::env::temp_dir, PathBuf::from);
    let path = folder.join(format!("forebay-acks-{}.redb", std::process::id()));
    let spec = LedgerSpec {
        fingerprint: vec![0; 32],
        records: 6_000_000_000,
        shuffle: true,
        permutation: 1,
        ..LedgerSpec::default()
    };
    let handle = Coordinator::start(EmbeddedStore::open(&path)?, monotonic_clock(), CoordinatorSettings::default())?;
    let start = Instant::now();
    let workers: Vec<_> = (0..WORKERS).map(|n| tokio::spawn(work(handle.clone(), spec.clone(), n))).collect();
    let mut receipts = 0;
    for worker in workers {
        receipts += worker.await??;
    }
    let taken = start.elapsed().as_secs_f64();
    println!("{WORKERS} workers, one receipt per batch of {BATCH} and per call, replies after the sync:");
    println!("{receipts} receipts in {taken:.2} s: {:.0} durable receipts/s", f64::from(receipts) / taken);
    println!("the ledger's file: {} KiB", std::fs::metadata(&path)?.len() / 1024);
    std::fs::remove_file(&path)?;

    let bare = folder.join(format!("forebay-sync-{}", std::process::id()));
    let mut file = File::create(&bare)?;
    let start = Instant::now();
    for _ in 0..200 {
        file.write_all(&[0; 4096])?;
        file.sync_data()?;
    }
    println!("a bare loop of 4 KiB writes: {:.0} syncs/s", 200.0 / start.elapsed().as_secs_f64());
    std::fs::remove_file(&bare)?;
    Ok(())
}

/// One daemon: leases, and a receipt per batch.
async fn work(handle: Handle, spec: LedgerSpec, number: usize) -> Result<u32, Box<dyn Error + Send + Sync>> {
    let plan = Plan::new(&spec)?;
    let worker = format!("node-{number}");
    let open = OpenRequest {
        run: "run".to_owned(),
        stream: "train".to_owned(),
        spec: Some(spec),
        shard_size: LEASE,
        worker: worker.clone(),
        incarnation: 1,
        ..OpenRequest::default()
    };
    let mut caller = Caller { ledger: handle.call(open).await?.ledger, worker, incarnation: 1, sequence: 0, unseen: 0 };
    let mut next = || {
        caller.sequence += 1;
        Some(caller.clone())
    };
    let mut receipts = 0;
    for _ in 0..LEASES {
        let reply = handle.call(AcquireRequest { caller: next(), leases: 1, ..AcquireRequest::default() }).await?;
        for lease in reply.leases {
            let order = plan.epoch(lease.epoch);
            for start in (0..lease.end - lease.start).step_by(usize::try_from(BATCH)?) {
                let records = (start..start + BATCH).map(|position| order.record(lease.start + position));
                let sum: RecordSum = records.collect();
                let (sum_high, sum_low) = sum.halves();
                let range = Some(Range { start, end: start + BATCH });
                let kind = Kind::Delivered.into();
                let item = AckItem { lease: lease.id, range, kind, count: sum.count, sum_high, sum_low };
                handle.call(AckRequest { caller: next(), items: vec![item], ..AckRequest::default() }).await?;
                receipts += 1;
            }
        }
    }
    Ok(receipts)
}
