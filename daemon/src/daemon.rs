//! The streams of the process: which streams exist, who may attach to them, and how they begin and end.

mod admission;
mod attempt;
mod closed;
mod configuration;
mod dataset;
mod gates;
pub(crate) mod ledgers;
mod node;
mod open_error;
mod private_ledger;
mod served;
mod shared;
mod streams;
mod wanted;

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use forebay_formats::check_cache;
use forebay_ledger_client::Outage;
use forebay_pipeline::{AttachRequest, ByteSize, PoolsError, Samples, Stream, incarnation};
use forebay_pixels::Limits;
use forebay_printable::printable;
use forebay_proto::v1::{ClosedStream, ReloadReply};
use forebay_ring::{PROTOCOL, Peer, Socket, Versions};
use forebay_sources::SourceError;
use thiserror::Error;
use tokio::sync::watch;

use crate::config::{CacheSettingError, Change, Config, Environment, NodeNameError};
use admission::Admitted;
pub(crate) use admission::{AdmissionRefusal, Request};
use configuration::{Configuration, ReloadError};
pub use dataset::open_dataset;
pub(crate) use dataset::open_section;
use ledgers::{Ledgers, LedgersError};
use open_error::NewRunError;
pub use open_error::OpenError;
pub(crate) use shared::Shared;
use streams::Streams;

/// The process: its streams, and whether it is ready.
#[derive(Debug)]
pub(crate) struct Daemon {
    started: Instant,
    ready: watch::Sender<bool>,
    streams: Arc<Streams>,
}

/// Whose daemon it is.
#[derive(Clone, Debug)]
pub(crate) enum DaemonKind {
    /// It serves configured streams to all trainers that may attach.
    Service {
        /// Where its ledgers are.
        ledgers: Ledgers,
        /// The file of the configuration, to read it again; nothing for what the command line says.
        configuration: Option<PathBuf>,
    },
    /// It serves the Loaders of the process that started it.
    Private {
        /// Folder for the ledgers of named runs, if there is one.
        runs: Option<PathBuf>,
    },
}

/// Why a daemon cannot start.
#[derive(Debug, Error)]
pub enum DaemonError {
    /// The decode threads, or a lane that is named in the configuration.
    #[error(transparent)]
    Pools(#[from] PoolsError),
    /// The settings of the cache on a local disk.
    #[error(transparent)]
    CacheSetting(#[from] CacheSettingError),
    /// The name of the daemon.
    #[error(transparent)]
    NodeName(#[from] NodeNameError),
    /// The cache on a local disk.
    #[error(transparent)]
    Cache(#[from] SourceError),
    /// Threads or descriptors.
    #[error("the daemon cannot start: {0}")]
    System(#[from] std::io::Error),
    /// No configured stream could be opened.
    #[error("{}", told(.0))]
    NoStream(Vec<(String, Arc<OpenError>)>),
}

/// How long a reload waits for streams that take long to open.
const PATIENCE: Duration = Duration::from_secs(10);

/// The run of a service's streams that do not name one.
pub const DEFAULT_RUN: &str = "default";

impl Daemon {
    /// Starts the resources that the streams share.
    ///
    /// # Errors
    /// The system has no more threads, or the cache on a local disk cannot be used.
    pub(crate) fn new(config: Config, kind: DaemonKind, environment: &Environment) -> Result<Arc<Self>, DaemonError> {
        if config.coordinator.remote.is_some() {
            config.coordinator.name(environment)?;
        }
        if let Some(cache) = config.sources.disk_cache(environment)? {
            check_cache(&cache)?;
            tracing::info!(folder = %printable(&cache.folder), size = %ByteSize(cache.size), "what is read from stores is cached");
        }
        let shared = Shared::start(&config, environment)?;
        let configuration = Configuration::new(config, kind);
        let streams = Streams::new(incarnation::fresh()?, environment.uid, configuration, shared);
        Ok(Arc::new(Self { started: Instant::now(), ready: watch::Sender::new(false), streams: Arc::new(streams) }))
    }

    /// The current configuration.
    pub(crate) fn config(&self) -> Arc<Config> {
        self.streams.configuration().now()
    }

    /// How long it has been running.
    pub(crate) fn uptime(&self) -> Duration {
        self.started.elapsed()
    }

    /// Admits a trainer, or refuses it with the reason. `gives_up` completes when the trainer must not wait any longer.
    /// It gives the reason if the trainer is still connected.
    pub(crate) async fn attach(
        self: &Arc<Self>,
        socket: Socket,
        peer: Peer,
        request: Request,
        gives_up: impl Future<Output = Option<AdmissionRefusal>>,
    ) {
        let (number, credits) = (request.head.trainer, request.head.credits);
        // One that shares none is not parsed.
        let protocol = Versions::OURS.shared_with(request.head.versions()).unwrap_or(PROTOCOL);
        let peer = peer.named(request.head.pid);
        let admitted = tokio::select! {
            admitted = admission::admit(&self.streams, &peer, request) => admitted,
            reason = gives_up => match reason {
                Some(reason) => Err(reason),
                None => return tracing::debug!(pid = peer.shown_pid(), "a trainer hung up before its stream was open"),
            },
        };
        match admitted {
            Ok(Admitted { entered: (served, _stays), membership, resumed_claims }) => {
                served
                    .stream
                    .attach(socket, peer, AttachRequest { number, protocol, credits, membership, resumed_claims })
                    .await;
            }
            Err(refusal) => {
                tracing::info!(pid = peer.shown_pid(), uid = peer.uid(), reason = refusal.1, "a trainer was refused");
                admission::refuse(&socket, &refusal);
            }
        }
    }

    /// Marks the daemon as ready: all configured streams that it waits for are open.
    pub(crate) fn say_ready(&self) {
        self.ready.send_replace(true);
    }

    /// Whether it serves the Loaders of one process.
    pub(crate) fn is_private(&self) -> bool {
        self.streams.configuration().is_private()
    }

    /// Whether it is ready.
    pub(crate) fn is_ready(&self) -> bool {
        *self.ready.borrow()
    }

    /// Waits until it is ready.
    pub(crate) async fn ready(&self) {
        let mut ready = self.ready.subscribe();
        // The other end is here: it is not dropped meanwhile.
        drop(ready.wait_for(|ready| *ready).await);
    }

    /// Opens all configured streams concurrently. If trainers must name a shard, only the stream's dataset is opened.
    /// Returns when each stream is open or has failed. Once one stream is open, slow ones are not waited for.
    ///
    /// # Errors
    /// There are streams, and none of them can be opened.
    pub(crate) async fn open_streams(&self) -> Result<(), DaemonError> {
        self.streams.open_all().await
    }

    /// Begins a new run of a configured stream. Its ledgers are deleted, and its trainers reconnect.
    ///
    /// # Errors
    /// There is no such stream, or the ledgers cannot be changed.
    pub(crate) async fn new_run(&self, name: &str) -> Result<String, NewRunError> {
        self.streams.new_run(name).await
    }

    /// Ends every stream when the daemon ends. No stream is opened any more. Streams that are being opened are not
    /// waited for.
    pub(crate) async fn close(&self, drain: Duration) {
        streams::close(&self.streams, drain).await;
    }

    /// The streams that run.
    pub(crate) fn streams(&self) -> Vec<Arc<Stream>> {
        self.streams.gates().lock().open().iter().map(|served| Arc::clone(&served.stream)).collect()
    }

    /// If a ledger cannot be written: since when, and why.
    pub(crate) fn outage(&self) -> Option<Outage> {
        self.streams.ledgers().outage()
    }

    /// What a picture may take to be decoded.
    pub(crate) fn decode_limits(&self) -> Limits {
        self.streams.configuration().now().decode.limits
    }

    /// What its streams share.
    pub(crate) fn shared(&self) -> &Shared {
        self.streams.shared()
    }

    /// The configured streams, and shards of them, that are not open, for the status.
    pub(crate) fn closed(&self) -> Vec<ClosedStream> {
        closed::closed(self.streams.configuration(), self.streams.gates())
    }

    /// Brings the metric of streams that are open, or wait for their first trainer, up to date.
    pub(crate) fn show_streams(&self, samples: &mut Samples) {
        closed::show(self.streams.configuration(), self.streams.gates(), samples);
    }

    /// Stores private ledgers in this memory, which the trainer's process holds too. They outlive this daemon, and are
    /// lost when that process ends.
    ///
    /// # Errors
    /// The memory does not contain ledgers.
    pub(crate) async fn keep_ledgers_in(&self, memory: OwnedFd) -> Result<(), LedgersError> {
        self.streams.ledgers().keep_in(memory).await
    }

    // The configuration, read again while streams run.

    /// Reads the configuration again, adopts the changes that are possible, and opens the streams that are not open.
    /// Without a configuration file, it only opens streams.
    ///
    /// # Errors
    /// The configuration cannot be read, or has mistakes: nothing has changed then.
    pub(crate) async fn reload(self: &Arc<Self>) -> Result<ReloadReply, ReloadError> {
        let daemon = Arc::clone(self);
        // In a task of its own: the caller may hang up in the middle.
        tokio::spawn(async move { daemon.reload_alone().await }).await?
    }

    async fn reload_alone(self: Arc<Self>) -> Result<ReloadReply, ReloadError> {
        let _alone = self.streams.configuration().alone().await;
        let mut reply = ReloadReply::default();
        if let Some(next) = self.streams.configuration().read_again().await? {
            let change = Change::between(&self.config(), &next, |name| self.streams.is_open(name));
            self.streams.replace(&change).await;
            (reply.taken, reply.refused) = (change.taken, change.refused);
        }
        let config = self.config();
        let opening = config.streams.keys().map(|name| self.streams.prepare(name));
        // Openings that take longer are reported in the state that they have by then.
        let _all = tokio::time::timeout(PATIENCE, futures_util::future::join_all(opening)).await;
        reply.closed = self.closed();
        for key in &reply.taken {
            tracing::info!(key, "reload: applied");
        }
        for key in &reply.refused {
            tracing::warn!(key, "reload: refused");
        }
        Ok(reply)
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
