//! The process's streams: which there are, who may attach to them, and how they begin and end.

mod admission;
mod endings;
mod lanes;
pub mod ledgers;
mod pools;

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use forebay_coordinator::{EmbeddedStore, Handle, Outage};
use forebay_proto::v1::{NewRunRequest, StaticShard};
use parking_lot::Mutex;
use thiserror::Error;
use tokio::sync::OnceCell;

use crate::cache::Caches;
use crate::config::stream::{Placement, Sharding};
use crate::config::{self, Config, Surroundings, default_threads};
use crate::cores;
use crate::decode::lanes::{LaneMissing, cuda_driver};
use crate::gpu_ring::Gpus;
use crate::incarnation;
use crate::memory::Promises;
use crate::placement::Claims;
use crate::stream::{Identity, Opening, RingMemory, Stream, StreamError};
pub use admission::Request;
use ledgers::{Ledgers, LedgersError};
use pools::Pools;

/// The streams of this process, with what they share.
#[derive(Debug)]
pub struct Daemon {
    config: Config,
    kind: Kind,
    incarnation: u64,
    uid: u32,
    started: Instant,
    pools: Pools,
    ledgers: tokio::sync::Mutex<HashMap<Ledgers, Handle>>,
    streams: Mutex<BTreeMap<Key, Arc<OnceCell<Arc<Stream>>>>>,
    ring_memory: Arc<RingMemory>,
    caches: Arc<Caches>,
    gpus: Arc<Gpus>,
    /// Held by whoever opens a stream or comes into it, and alone by who ends one.
    renewing: tokio::sync::RwLock<()>,
}

/// Whose daemon it is.
#[derive(Clone, Debug)]
pub enum Kind {
    /// It serves configured streams to whoever may attach.
    Service {
        /// The file of the ledgers.
        ledgers: PathBuf,
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
    /// A lane that is named in the configuration.
    #[error("{0}")]
    Lane(#[from] LaneMissing),
    /// Threads or descriptors.
    #[error("the daemon cannot start: {0}")]
    System(#[from] std::io::Error),
    /// A configured stream.
    #[error("stream \"{name}\": {source}")]
    Stream {
        /// Its name.
        name: String,
        /// Why it cannot be opened.
        source: StreamError,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    run: String,
    stream: String,
    shard: Option<u32>,
}

/// A stream that runs, and that nobody ends before this is dropped.
type Open<'a> = (Arc<Stream>, tokio::sync::RwLockReadGuard<'a, ()>);

/// What a trainer asks for beside the settings.
#[derive(Debug, Default)]
struct Asked {
    shard: Option<u32>,
    /// A list of files.
    files: Option<Vec<u8>>,
    /// What it says of itself; nothing for a stream that is opened before there is a trainer.
    trainer: Option<Claims>,
}

/// Run that a service's streams have unless they name one.
pub const DEFAULT_RUN: &str = "default";

impl Key {
    fn of(identity: &Identity) -> Self {
        let shard = identity.shard.map(|shard: StaticShard| shard.shard_id);
        Self { run: identity.run.clone(), stream: identity.stream.clone(), shard }
    }
}

impl Daemon {
    /// Starts what the streams share.
    ///
    /// # Errors
    /// The system has no more threads.
    pub fn new(config: Config, kind: Kind, surroundings: &Surroundings) -> Result<Arc<Self>, DaemonError> {
        let threads = config.decode.threads;
        let threads =
            threads.unwrap_or_else(|| default_threads(cores::usable(), surroundings.local_world_size.as_deref()));
        let promises = Arc::new(Promises::default());
        let pools = Pools::start(&config.decode, threads, &promises)?;
        Ok(Arc::new(Self {
            ring_memory: Arc::new(RingMemory::new(config.ring.memory.map(|size| size.0), Arc::clone(&promises))),
            caches: Arc::new(Caches::new(promises)),
            config,
            kind,
            incarnation: incarnation::fresh()?,
            uid: surroundings.uid,
            started: Instant::now(),
            pools,
            gpus: Arc::new(Gpus::new(surroundings.uid, cuda_driver())),
            ledgers: tokio::sync::Mutex::default(),
            streams: Mutex::default(),
            renewing: tokio::sync::RwLock::default(),
        }))
    }

    /// Opens the configured streams that need no trainer to say which shard it wants.
    ///
    /// # Errors
    /// One of them cannot be opened.
    pub async fn open_streams(self: &Arc<Self>) -> Result<(), DaemonError> {
        for (name, settings) in self.config.streams.clone() {
            if opens_alone(&settings) {
                let opened = self.configured(&name, settings, None, None).await;
                opened.map(drop).map_err(|source| DaemonError::Stream { name, source })?;
            }
        }
        Ok(())
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// How long it has been running.
    pub fn uptime(&self) -> Duration {
        self.started.elapsed()
    }

    /// The streams that run.
    pub fn streams(&self) -> Vec<Arc<Stream>> {
        self.streams.lock().values().filter_map(|cell| cell.get().cloned()).collect()
    }

    /// Since when a ledger cannot be written, and why, if that is so.
    pub fn outage(&self) -> Option<Outage> {
        // While a file of ledgers is being opened, none of its streams runs.
        let ledgers = self.ledgers.try_lock().ok()?;
        ledgers.values().find_map(|handle| handle.outage().borrow().clone())
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
        if let Entry::Vacant(none) = self.ledgers.lock().await.entry(Ledgers::Kept) {
            none.insert(ledgers::start(EmbeddedStore::in_file(memory.into(), "the trainer's memory")?)?);
        }
        Ok(())
    }

    /// Begins a new run of a configured stream: its ledgers are forgotten, its trainers reconnect.
    ///
    /// # Errors
    /// There is no such stream, or the ledgers cannot be changed. In words.
    pub async fn new_run(self: &Arc<Self>, name: &str) -> Result<String, String> {
        let Some(settings) = self.config.streams.get(name).cloned() else { return Err(self.no_stream(name)) };
        let run = settings.run.clone().unwrap_or_else(|| DEFAULT_RUN.into());
        // Trainers reconnect at once: none may open the stream before its old ledgers are forgotten.
        let _alone = self.renewing.write().await;
        let cells: Vec<_> = {
            let mut streams = self.streams.lock();
            let keys: Vec<Key> = streams.keys().filter(|key| key.stream == name).cloned().collect();
            keys.into_iter().filter_map(|key| streams.remove(&key)).collect()
        };
        for stream in cells.iter().filter_map(|cell| cell.get()) {
            stream.close().await;
        }
        let handle = self.coordinator(&self.service_ledgers()).await.map_err(|error| error.to_string())?;
        let request = NewRunRequest { run: run.clone(), stream: name.into() };
        handle.call(request).await.map_err(|error| error.to_string())?;
        if opens_alone(&settings) {
            let opened = self.stream(name, run.clone(), settings, Asked::default(), self.service_ledgers()).await;
            opened.map_err(|error| error.to_string())?;
        }
        Ok(run)
    }

    /// Ends every stream, as the daemon ends.
    pub async fn close(&self, drain: Duration) {
        self.pools.shared().leave();
        let streams = self.streams();
        let closing = streams.iter().map(|stream| stream.leave(drain));
        futures_util::future::join_all(closing).await;
    }

    async fn configured(
        self: &Arc<Self>,
        name: &str,
        settings: config::Stream,
        shard: Option<u32>,
        trainer: Option<Claims>,
    ) -> Result<Open<'_>, StreamError> {
        let run = settings.run.clone().unwrap_or_else(|| DEFAULT_RUN.into());
        if let Some(trainer) = &trainer {
            self.leave_place(&Key::of(&self.identify(name, &run, &settings, shard)), trainer).await;
        }
        let stays = self.renewing.read().await;
        let asked = Asked { shard, files: None, trainer };
        Ok((self.stream(name, run, settings, asked, self.service_ledgers()).await?, stays))
    }

    /// The stream of a Loader of the process that started this one.
    async fn private(
        self: &Arc<Self>,
        name: &str,
        run: String,
        settings: config::Stream,
        asked: Asked,
        ledgers: Ledgers,
    ) -> Result<Open<'_>, StreamError> {
        // The stream of a Loader that has just left may be about to end.
        let stays = self.renewing.read().await;
        Ok((self.stream(name, run, settings, asked, ledgers).await?, stays))
    }

    fn identify(&self, name: &str, run: &str, settings: &config::Stream, shard: Option<u32>) -> Identity {
        let identity =
            Identity { run: run.to_owned(), stream: name.to_owned(), shard: None, incarnation: self.incarnation };
        identity.of_shard(settings.sharding, shard)
    }

    async fn stream(
        self: &Arc<Self>,
        name: &str,
        run: String,
        settings: config::Stream,
        Asked { shard, files, trainer }: Asked,
        ledgers: Ledgers,
    ) -> Result<Arc<Stream>, StreamError> {
        let identity = self.identify(name, &run, &settings, shard);
        let key = Key::of(&identity);
        let cell = Arc::clone(self.streams.lock().entry(key.clone()).or_default());
        let opening = async {
            let coordinator = self.coordinator(&ledgers).await?;
            let opening = Opening {
                identity,
                pool: self.pools.with(settings.num_threads)?,
                settings,
                files,
                byte_limit: self.config.decode.byte_limit.0,
                prefetch: self.config.prefetch.clone(),
                coordinator,
                memory: Arc::clone(&self.ring_memory),
                caches: Arc::clone(&self.caches),
                gpus: Arc::clone(&self.gpus),
                trainer,
            };
            Box::pin(opening.open(self.surplus(key.clone()))).await
        };
        let opened = cell.get_or_try_init(|| opening).await.cloned();
        if opened.is_err() {
            // Another trainer may have opened it meanwhile, in this cell or in a new one.
            let mut streams = self.streams.lock();
            if streams.get(&key).is_some_and(|kept| Arc::ptr_eq(kept, &cell) && kept.get().is_none()) {
                streams.remove(&key);
            }
        }
        opened
    }

    async fn coordinator(&self, place: &Ledgers) -> Result<Handle, StreamError> {
        let mut ledgers = self.ledgers.lock().await;
        if let Some(handle) = ledgers.get(place) {
            return Ok(handle.clone());
        }
        let Ledgers::File(file) = place else {
            return Err(std::io::Error::other("the trainer passed no memory for its ledgers").into());
        };
        let path = file.clone();
        // Opening may have to mend the file after a crash.
        let opened = tokio::task::spawn_blocking(move || ledgers::open(&path)).await.map_err(std::io::Error::other)?;
        let handle = opened?;
        ledgers.insert(place.clone(), handle.clone());
        Ok(handle)
    }

    fn service_ledgers(&self) -> Ledgers {
        match &self.kind {
            Kind::Service { ledgers } => Ledgers::File(ledgers.clone()),
            Kind::Private { .. } => Ledgers::Kept,
        }
    }

    fn no_stream(&self, name: &str) -> String {
        let known: Vec<&str> = self.config.streams.keys().map(String::as_str).collect();
        format!("there is no stream \"{name}\"; this daemon has {}", known.join(", "))
    }
}

/// Whether a stream can be opened before there is a trainer: one of shards, or with a place that depends on what the trainer sees,
/// cannot.
fn opens_alone(settings: &config::Stream) -> bool {
    settings.sharding == Sharding::Dynamic && settings.placement != Placement::Auto
}
