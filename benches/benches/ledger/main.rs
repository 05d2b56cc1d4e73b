//! What a coordinator takes and gives over gRPC: `cargo bench -p forebay-benches --bench ledger -- [FOLDER] [FIGURE...]`. It prints
//! each figure with its goal beside it, or only those that are named (see `FIGURES`).
//! `target/release/forebay` is the coordinator: build it first. Its ledgers are in a new folder below FOLDER, or below the system's
//! folder for temporary files. The disk matters: each reply comes after a sync. `scripts/etcd.sh` gets an etcd.
#![allow(clippy::print_stdout, reason = "it prints its figures")]

mod coordinator;
mod daemons;
mod etcd;
mod figures;
mod outages;
mod worker;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use coordinator::{Launch, Running};
use figures::{Bare, Lateness, syncs};
use forebay_coordinator::suite::Random;
use tokio::sync::Barrier;
use tokio::task::JoinSet;
use tokio::time::{interval, timeout};
use worker::{Ledger, Worker};

/// What is measured, unless some of it are named.
const FIGURES: [&str; 8] = ["memory", "acquires", "receipts", "bytes", "updates", "killed", "daemons", "etcd"];
/// Of a dataset that no list of records fits into memory for.
const BILLIONS: u64 = 6_000_000_000;
/// How long a follower may take, before the figure is given up.
const PATIENCE: Duration = Duration::from_secs(30);
/// Receipts of one request.
const AT_ONCE: u32 = 64;
/// Workers that send receipts.
const SENDERS: u64 = 64;

#[tokio::main]
async fn main() -> Result<(), Bare> {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    if args.iter().all(|argument| argument != "--bench") {
        // `cargo test` builds benches and runs them without this argument.
        println!("skipped: figures are taken by `cargo bench`");
        return Ok(());
    }
    args.retain(|argument| argument != "--bench");
    let (figures, folders): (Vec<_>, Vec<_>) = args.into_iter().partition(|argument| FIGURES.contains(&&**argument));
    if folders.len() > 1 {
        return Err(format!("{} is no figure; there are {}", folders.join(" or "), FIGURES.join(", ")).into());
    }
    let folder = folders.first().map_or_else(std::env::temp_dir, PathBuf::from);
    let folder = tempfile::Builder::new().prefix("forebay-ledger").tempdir_in(folder)?;
    let folder = folder.path();
    let is_wanted = |figure: &str| figures.is_empty() || figures.iter().any(|named| named == figure);
    if is_wanted("memory") {
        memory(&Running::start(&folder.join("memory")).await?).await?;
    }
    if is_wanted("acquires") {
        acquires(&Running::start(&folder.join("acquires")).await?, folder).await?;
    }
    if is_wanted("receipts") {
        receipts(&Running::start(&folder.join("receipts")).await?).await?;
    }
    if is_wanted("bytes") {
        bytes(folder).await?;
    }
    if is_wanted("updates") {
        updates(&Running::start(&folder.join("updates")).await?).await?;
    }
    if is_wanted("killed") {
        outages::killed(&folder.join("killed")).await?;
    }
    if is_wanted("daemons") {
        let launch = Launch::in_folder(&folder.join("daemons"))?;
        let _coordinator = launch.spawn()?.ready().await?;
        let (folder, address) = (folder.to_owned(), launch.address());
        tokio::task::spawn_blocking(move || daemons::shares(&folder, &address)).await??;
    }
    if is_wanted("etcd") {
        etcd::receipts(1).await?;
        etcd::receipts(3).await?;
        etcd::killed().await?;
    }
    Ok(())
}

/// What the process keeps of 6 billion records after leases and receipts in random order.
async fn memory(coordinator: &Running) -> Result<(), Bare> {
    const WORKERS: u64 = 50;
    const ROUNDS: u64 = 200;
    let ledger = Ledger::of(BILLIONS, 4096);
    let before = coordinator.resident()?;
    let mut workers = JoinSet::new();
    for number in 0..WORKERS {
        let mut worker = Worker::open(coordinator.handle()?, &ledger, number).await?;
        workers.spawn(async move {
            let mut random = Random::new(number);
            for _ in 0..ROUNDS {
                worker.acquire(1).await?;
                // A part from anywhere in any of its leases, which may be complete already.
                let lease = worker.leases[usize::try_from(random.below(worker.leases.len() as u64))?];
                let start = random.below(64) * 64;
                let item = worker.receipt(&lease, start..start + 64);
                worker.acknowledge(vec![item]).await?;
            }
            Ok::<_, Bare>(())
        });
    }
    while let Some(ended) = workers.join_next().await {
        ended??;
    }
    let now = coordinator.resident()?;
    println!(
        "{BILLIONS} records, {} random leases and receipts: {now:.1} MB resident, {before:.1} MB before (goal: below 50 MB)",
        WORKERS * ROUNDS
    );
    Ok(())
}

/// How long an Acquire takes where 10,000 workers send a thousand a second, beside a bare sync of the same disk.
async fn acquires(coordinator: &Running, folder: &Path) -> Result<(), Bare> {
    const WORKERS: u64 = 10_000;
    const EACH: u32 = 4;
    let ledger = Ledger::of(BILLIONS, 1024);
    let handles: Vec<_> = (0..100).map(|_| coordinator.handle()).collect::<Result<_, _>>()?;
    let mut workers = Vec::new();
    for first in (0..WORKERS).step_by(handles.len()) {
        let mut opening = JoinSet::new();
        for (number, handle) in (first..WORKERS).zip(&handles) {
            let (handle, ledger) = (handle.clone(), ledger.clone());
            opening.spawn(async move {
                let mut worker = Worker::open(handle, &ledger, number).await?;
                worker.acquire(EACH).await?;
                Ok::<_, Bare>(worker)
            });
        }
        for opened in opening.join_all().await {
            workers.push(opened?);
        }
    }
    let mut bare = syncs(folder)?;
    let mut tick = interval(Duration::from_millis(1));
    let (start, mut asked) = (Instant::now(), JoinSet::new());
    for mut worker in workers {
        tick.tick().await;
        asked.spawn(async move {
            let sent = Instant::now();
            worker.acquire(1).await?;
            Ok::<_, Bare>(sent.elapsed())
        });
    }
    let mut taken = Lateness::default();
    while let Some(ended) = asked.join_next().await {
        taken.push(ended??);
    }
    let rate = figures::ratio(WORKERS, start.elapsed());
    bare.extend(syncs(folder)?);
    let goal = bare.share(99) + Duration::from_millis(2);
    println!(
        "{WORKERS} workers with {EACH} leases each, {rate:.0} Acquires/s: {taken} (goal: p99 below {:.1} ms, 2 ms more than that of a \
         bare sync: {bare})",
        goal.as_secs_f64() * 1e3
    );
    Ok(())
}

async fn receipts(coordinator: &Running) -> Result<(), Bare> {
    let rate = receipts_of(coordinator).await?;
    println!("{SENDERS} workers, {AT_ONCE} receipts a request: {rate:.0} durable receipts/s (goal: 50,000)");
    Ok(())
}

/// How many receipts a second are durable.
async fn receipts_of(coordinator: &Running) -> Result<f64, Bare> {
    const ROUNDS: u32 = 2;
    let ledger = Ledger::of(BILLIONS, AT_ONCE.into());
    let mut workers = Vec::new();
    for number in 0..SENDERS {
        workers.push(Worker::open(coordinator.handle()?, &ledger, number).await?);
    }
    let (start, mut working) = (Instant::now(), JoinSet::new());
    for mut worker in workers {
        working.spawn(async move {
            for _ in 0..ROUNDS {
                worker.leases.clear();
                worker.acquire(AT_ONCE).await?;
                for lease in worker.leases.clone() {
                    let of_position = |position| worker.receipt(&lease, position..position + 1);
                    let items = (0..lease.end - lease.start).map(of_position).collect();
                    worker.acknowledge(items).await?;
                }
            }
            Ok::<_, Bare>(())
        });
    }
    while let Some(ended) = working.join_next().await {
        ended??;
    }
    let count = SENDERS * u64::from(ROUNDS) * u64::from(AT_ONCE) * u64::from(AT_ONCE);
    Ok(figures::ratio(count, start.elapsed()))
}

/// What a commit writes, for datasets of several sizes.
async fn bytes(folder: &Path) -> Result<(), Bare> {
    const ROUNDS: u64 = 500;
    for records in [1_000, 1_000_000, BILLIONS] {
        let coordinator = Running::start(&folder.join(format!("bytes-{records}"))).await?;
        let mut worker = Worker::open(coordinator.handle()?, &Ledger::of(records, 64), 0).await?;
        let before = coordinator.written()?;
        for _ in 0..ROUNDS {
            worker.leases.clear();
            worker.acquire(1).await?;
            let lease = worker.leases[0];
            let item = worker.receipt(&lease, 0..lease.end - lease.start);
            worker.acknowledge(vec![item]).await?;
        }
        let each = (coordinator.written()? - before) / (2 * ROUNDS);
        println!("{records} records: {each} bytes a commit (goal: the same for each number)");
    }
    Ok(())
}

/// How long it takes until all daemons know that an epoch is complete.
async fn updates(coordinator: &Running) -> Result<(), Bare> {
    const DAEMONS: u64 = 64;
    const EPOCHS: u64 = 200;
    // An epoch is one lease.
    let ledger = Ledger::of(64, 64);
    let mut worker = Worker::open(coordinator.handle()?, &ledger, 0).await?;
    let all = Arc::new(Barrier::new(usize::try_from(DAEMONS)? + 1));
    let mut following = JoinSet::new();
    for number in 1..=DAEMONS {
        let (mut follower, all) = (Worker::open(coordinator.handle()?, &ledger, number).await?, Arc::clone(&all));
        following.spawn(async move {
            let mut updates = follower.follow().await;
            let mut heard = Vec::new();
            for epoch in 0..EPOCHS {
                all.wait().await;
                loop {
                    let now = updates.recv().await.ok_or("the updates have ended")?;
                    if now.progress.unwrap_or_default().floor > epoch {
                        break;
                    }
                }
                heard.push(Instant::now());
            }
            Ok::<_, Bare>(heard)
        });
    }
    let mut sent = Vec::new();
    for _ in 0..EPOCHS {
        worker.leases.clear();
        worker.acquire(1).await?;
        let lease = worker.leases[0];
        let item = worker.receipt(&lease, 0..lease.end - lease.start);
        timeout(PATIENCE, all.wait()).await?;
        sent.push(Instant::now());
        worker.acknowledge(vec![item]).await?;
    }
    let mut taken = Lateness::default();
    while let Some(ended) = following.join_next().await {
        for (sent, heard) in sent.iter().zip(ended??) {
            taken.push(heard.saturating_duration_since(*sent));
        }
    }
    println!(
        "{DAEMONS} daemons that follow a ledger hear of its updates, from the receipt on: {taken} (goal: p99 below 100 ms)"
    );
    Ok(())
}
