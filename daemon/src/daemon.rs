//! The process's streams: which there are, who may attach to them, and how they begin and end.

mod admission;
mod attempt;
mod closed;
mod dataset;
mod endings;
mod gates;
mod lanes;
pub(crate) mod ledgers;
mod open_error;
mod openings;
mod reload;
mod served;

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use forebay_coordinator::Outage;
use forebay_road::{Caches, Gpus, Pools, PoolsError, Promises, RingMemory, Stream, cores, cuda_driver, incarnation};
use parking_lot::Mutex;
use thiserror::Error;
use tokio::sync::watch;

use crate::config::{Config, Surroundings, default_threads};
pub(crate) use admission::{AdmissionRefusal, Request};
use gates::Gates;
use ledgers::{LedgerFiles, LedgersError};
pub use open_error::OpenError;

/// The streams of this process, with what they share.
#[derive(Debug)]
pub struct Daemon {
    config: Mutex<Arc<Config>>,
    kind: DaemonKind,
    incarnation: u64,
    uid: u32,
    started: Instant,
    pools: Pools,
    ledgers: LedgerFiles,
    gates: Mutex<Gates>,
    ready: watch::Sender<bool>,
    /// Held by whoever reads the configuration again.
    reloading: tokio::sync::Mutex<()>,
    ring_memory: Arc<RingMemory>,
    caches: Arc<Caches>,
    gpus: Arc<Gpus>,
}

/// Whose daemon it is.
#[derive(Clone, Debug)]
pub enum DaemonKind {
    /// It serves configured streams to whoever may attach.
    Service {
        /// The file of the ledgers.
        ledgers: PathBuf,
        /// The file of the configuration, to read it again; nothing for what the command line says.
        configuration: Option<PathBuf>,
    },
    /// It serves the Loaders of the process that started it.
    Private {
        /// Folder for the ledgers of named runs, where there is one.
        runs: Option<PathBuf>,
    },
}

/// Why a daemon cannot start.
#[derive(Debug, Error)]
pub enum DaemonError {
    /// The decode threads, or a lane that is named in the configuration.
    #[error(transparent)]
    Pools(#[from] PoolsError),
    /// Threads or descriptors.
    #[error("the daemon cannot start: {0}")]
    System(#[from] std::io::Error),
    /// No configured stream could be opened.
    #[error("{}", told(.0))]
    NoStream(Vec<(String, Arc<OpenError>)>),
}

/// Run that a service's streams have unless they name one.
pub const DEFAULT_RUN: &str = "default";

impl Daemon {
    /// Starts what the streams share.
    ///
    /// # Errors
    /// The system has no more threads.
    pub fn new(config: Config, kind: DaemonKind, surroundings: &Surroundings) -> Result<Arc<Self>, DaemonError> {
        let threads = config.decode.threads;
        let threads =
            threads.unwrap_or_else(|| default_threads(cores::usable(), surroundings.local_world_size.as_deref()));
        let promises = Arc::new(Promises::default());
        let pools = Pools::start(&config.decode, threads, &promises)?;
        Ok(Arc::new(Self {
            ring_memory: Arc::new(RingMemory::new(config.ring.memory.map(|size| size.0), Arc::clone(&promises))),
            caches: Arc::new(Caches::new(promises)),
            config: Mutex::new(Arc::new(config)),
            kind,
            incarnation: incarnation::fresh()?,
            uid: surroundings.uid,
            started: Instant::now(),
            pools,
            gpus: Arc::new(Gpus::new(surroundings.uid, cuda_driver())),
            ledgers: LedgerFiles::default(),
            gates: Mutex::default(),
            ready: watch::Sender::new(false),
            reloading: tokio::sync::Mutex::default(),
        }))
    }

    /// The configuration, as it is by now.
    pub fn config(&self) -> Arc<Config> {
        Arc::clone(&self.config.lock())
    }

    /// How long it has been running.
    pub fn uptime(&self) -> Duration {
        self.started.elapsed()
    }

    /// Notes that all configured streams are open, as far as they are waited for.
    pub fn say_ready(&self) {
        self.ready.send_replace(true);
    }

    /// Whether it is ready.
    pub fn is_ready(&self) -> bool {
        *self.ready.borrow()
    }

    /// Waits until it is ready.
    pub async fn ready(&self) {
        let mut ready = self.ready.subscribe();
        // The other end is here: it is not dropped meanwhile.
        drop(ready.wait_for(|ready| *ready).await);
    }

    /// The streams that run.
    pub fn streams(&self) -> Vec<Arc<Stream>> {
        self.gates.lock().open().iter().map(|served| Arc::clone(&served.stream)).collect()
    }

    /// Since when a ledger cannot be written, and why, if that is so.
    pub fn outage(&self) -> Option<Outage> {
        self.ledgers.outage()
    }

    /// How many pictures each decoder has made so far.
    pub fn decoded(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.pools.decoded()
    }

    /// Keeps private ledgers in this memory, which the trainer's process holds as well: they outlive this daemon and
    /// vanish with the process.
    ///
    /// # Errors
    /// It does not hold ledgers.
    pub async fn keep_ledgers_in(&self, memory: OwnedFd) -> Result<(), LedgersError> {
        self.ledgers.keep_in(memory).await
    }

    fn no_stream(&self, name: &str) -> String {
        let config = self.config();
        let known: Vec<&str> = config.streams.keys().map(String::as_str).collect();
        format!("there is no stream \"{name}\"; this daemon has {}", known.join(", "))
    }
}

/// One sentence, or a line for each stream.
fn told(failed: &[(String, Arc<OpenError>)]) -> String {
    let one = |(name, error): &(String, Arc<OpenError>)| format!("stream \"{name}\": {error}");
    match failed {
        [only] => one(only),
        all => {
            let lines: Vec<_> = all.iter().map(|each| format!("\n  {}", one(each))).collect();
            format!("none of the {} streams can be opened:{}", all.len(), lines.concat())
        }
    }
}
