//! Coordinators that are killed, and how long workers wait for the next one.

use std::path::Path;
use std::time::{Duration, Instant};

use forebay_ledger_client::Handle;

use crate::BILLIONS;
use crate::coordinator::{Launch, remote};
use crate::figures::{Bare, Lateness};
use crate::worker::{Ledger, Worker};

/// Workers whose leases the next coordinator reads from its store.
const WORKERS: u64 = 1000;
const EACH: u32 = 4;
/// Deaths of a coordinator that is started again.
const KILLED: usize = 10;

/// A worker that asks for a lease in each outage, and how long it waited.
#[derive(Debug)]
pub(crate) struct Outages {
    worker: Worker,
    waited: Lateness,
}

impl Outages {
    /// Makes a ledger with many leases.
    pub(crate) async fn begin(handle: Handle) -> Result<Self, Bare> {
        let ledger = Ledger::of(BILLIONS, 1024);
        for number in 1..WORKERS {
            Worker::open(handle.clone(), &ledger, number).await?.acquire(EACH).await?;
        }
        Ok(Self { worker: Worker::open(handle, &ledger, 0).await?, waited: Lateness::default() })
    }

    /// Waits for a lease. The outage began then, or the part of it that counts.
    pub(crate) async fn end(&mut self, began: Instant) -> Result<(), Bare> {
        self.worker.acquire_in_outage().await?;
        self.waited.push(began.elapsed());
        Ok(())
    }

    pub(crate) fn print(&self, what: &str, goal: Duration) {
        println!("{what}: {} (goal: below {} s)", self.waited, goal.as_secs());
    }
}

/// How long it takes until a worker gets a lease, from the start of a coordinator on whose predecessor was killed.
pub(crate) async fn killed(folder: &Path) -> Result<(), Bare> {
    let launch = Launch::in_folder(folder)?;
    let mut running = launch.spawn()?.ready().await?;
    let mut outages = Outages::begin(remote(&launch.address())?.connect()?).await?;
    for _ in 0..KILLED {
        drop(running);
        let started = Instant::now();
        running = launch.spawn()?;
        outages.end(started).await?;
    }
    outages.print("a coordinator was killed: the next Acquire after its restart", Duration::from_secs(2));
    Ok(())
}
