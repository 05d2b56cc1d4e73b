//! `forebay coordinate`: a coordinator as a process of its own, for daemons on several nodes (semantics rules 25 and 33).

mod accept;
mod kept;
mod master;
mod observed;
mod place;
mod reflection;
mod refusals;
mod snapshots;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use forebay_coordinator::{
    Coordinator, CoordinatorSettings, LedgerService, SnapshotError, StartError, StoreError, monotonic_clock,
};
use forebay_ledger_client::{CertificateEnds, CertificateFiles, Handle, SecretError, ServerTls, TokenFile};
use forebay_printable::printable;
use forebay_proto::v1::ledger_server::LedgerServer;
use sd_notify::NotifyState;
use thiserror::Error;
use tokio_stream::wrappers::ReceiverStream;
use tonic::server::NamedService as _;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Server;
use tonic_health::ServingStatus;
use tonic_health::server::HealthReporter;

pub use kept::KeptIn;
pub use master::MasterSettings;
pub(crate) use place::Door;
pub use place::{NoPlace, Place, PlaceError};

use crate::config::{Environment, Metrics};
use crate::connection::SIGN_OF_LIFE;
use crate::daemon::ledgers::NoFolder;
use crate::descriptors;
use crate::service_manager::{notify, watch};
use crate::signals::{EndedBy, Signals};
use crate::telemetry::{EndpointError, MetricsEndpoint};
use observed::CoordinatorObserved;

/// What a coordinator is started with.
#[derive(Clone, Debug)]
pub struct CoordinateSettings {
    /// Where daemons reach it.
    pub listen: Vec<Place>,
    /// Where the ledgers are kept.
    pub kept: KeptIn,
    /// A file with the token that each call must have.
    pub token: Option<PathBuf>,
    /// The certificate that it shows on TCP. Without one it speaks no TLS.
    pub certificate: Option<CertificateFiles>,
    /// The certificates of those who sign the daemons' certificates: then each daemon must show one.
    pub clients: Option<PathBuf>,
    /// How long a silent daemon keeps its leases.
    pub lease_ttl: Duration,
    /// Where metrics are served.
    pub metrics: Option<Metrics>,
    /// How the clients of `ElasticDL` are served.
    pub master: MasterSettings,
    /// Tells tools such as `grpcurl` which calls and messages there are.
    pub reflection: bool,
}

impl CoordinateSettings {
    /// When the certificates end that it shows daemons and etcd, and those of the authorities that it trusts.
    fn certificate_ends(&self) -> CertificateEnds {
        let etcd = self.kept.etcd.as_ref();
        let own = self.certificate.iter().chain(etcd.and_then(|etcd| etcd.certificate.as_ref()));
        let authorities = self.clients.as_deref().into_iter().chain(etcd.and_then(|etcd| etcd.authority.as_deref()));
        CertificateEnds::of(own, authorities)
    }
}

/// Why a coordinator ends with an error.
#[derive(Debug, Error)]
pub enum CoordinateError {
    /// An address that it must not, or cannot, listen on.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The token or a certificate.
    #[error("{0}")]
    Secret(#[from] SecretError),
    /// The folder of its ledgers.
    #[error("{0}")]
    Folder(#[from] NoFolder),
    /// Their file.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The ledgers in it.
    #[error("{0}")]
    Start(#[from] StartError),
    /// The file of a snapshot.
    #[error("{0}")]
    Snapshot(#[from] SnapshotError),
    /// Ledgers that are not there any more.
    #[error(
        "the ledgers \"{ledgers}\" are gone, and there is a snapshot of them: start with --recover-from \"{snapshot}\", or \
         move the snapshot away to begin every run anew",
        ledgers = printable(ledgers),
        snapshot = printable(snapshot)
    )]
    Lost {
        /// Their file.
        ledgers: PathBuf,
        /// The file of their snapshot.
        snapshot: PathBuf,
    },
    /// The ledgers in a snapshot.
    #[error("the snapshot \"{snapshot}\" cannot be used: {cause}", snapshot = printable(snapshot))]
    Recovery {
        /// The file.
        snapshot: PathBuf,
        /// What is wrong.
        cause: String,
    },
    /// A store that a snapshot may have been put into.
    #[error(
        "whether the snapshot was put into {place} is not known: start without --recover-from, and look with `forebay audit`; \
         if the ledgers are not there, recover once more: {error}"
    )]
    Unsure {
        /// Where they would be.
        place: String,
        /// What the store said.
        error: StoreError,
    },
    /// A store that a snapshot was to be put into.
    #[error(
        "there are ledgers in {place} already, so \"{snapshot}\" is not put there: start without --recover-from, or give \
         another --etcd-prefix",
        snapshot = printable(snapshot)
    )]
    Occupied {
        /// Where they are.
        place: String,
        /// The file.
        snapshot: PathBuf,
    },
    /// The metrics' socket.
    #[error("{0}")]
    Metrics(#[from] EndpointError),
    /// The system.
    #[error("the coordinator cannot be served: {0}")]
    System(#[from] std::io::Error),
    /// gRPC.
    #[error("the coordinator cannot be served: {0}")]
    Server(#[from] tonic::transport::Error),
}

/// Largest request, in bytes: a table of grains, a snapshot.
const REQUEST: usize = 64 << 20;
/// Requests of one connection at a time. A daemon has a worker for each of its streams.
const AT_ONCE: usize = 256;
/// How long calls under way may take when it ends.
const FAREWELL: Duration = Duration::from_secs(4);
/// How long its store may take to close, which includes giving up the leadership in etcd.
const CLOSING: Duration = Duration::from_secs(3);

/// The name that health checks give the ledgers' service.
const SERVICE: &str = LedgerServer::<LedgerService>::NAME;

/// Serves ledgers until SIGTERM or SIGINT.
///
/// # Errors
/// Something that the settings require is not available. Nothing has been served then.
pub async fn coordinate(settings: CoordinateSettings, environment: Environment) -> Result<(), CoordinateError> {
    let mut signals = Signals::new(EndedBy::Signals)?;
    descriptors::raise_limit();
    for place in &settings.listen {
        place.check(settings.token.is_some() || settings.clients.is_some())?;
    }
    let token = settings.token.as_deref().map(TokenFile::open).transpose()?.map(Arc::new);
    let own = settings.certificate.as_ref();
    let tls = own.map(|own| ServerTls::open(own, settings.clients.as_deref())).transpose()?.map(Arc::new);
    settings.master.check()?;
    let times = CoordinatorSettings {
        lease_ttl: settings.lease_ttl,
        task_timeout: settings.master.task_timeout,
        ..CoordinatorSettings::default()
    };
    let kept::Opened { store, place, snapshots } = tokio::select! {
        opened = settings.kept.open(&environment) => opened?,
        // It may wait long until it leads.
        _signal = signals.come() => return Ok(()),
    };
    let handle = Coordinator::start(store, monotonic_clock(), times)?;
    let metrics = settings.metrics.as_ref().map(|place| MetricsEndpoint::bind(place, Path::new("."))).transpose()?;
    let (connections, doors) = accept::listen(&settings.listen, tls).await?;
    let master = master::serve(&settings.master, handle.clone()).await?;

    let observed = Arc::new(CoordinatorObserved::new(handle.clone(), settings.certificate_ends()));
    let metrics = metrics.map(|metrics| tokio::spawn(metrics.serve(Arc::clone(&observed))));
    let gauges = tokio::spawn(async move { observed.keep().await });
    let watchdog = tokio::spawn(watch());
    let snapshots = snapshots.map(|(file, every)| tokio::spawn(snapshots::keep(handle.clone(), file, every)));
    let (reporter, health) = tonic_health::server::health_reporter();
    let reports = tokio::spawn(report_health(handle.clone(), reporter));
    let ledgers = LedgerServer::new(LedgerService(handle.clone()))
        .max_decoding_message_size(REQUEST)
        .max_encoding_message_size(REQUEST);
    let check = move |request: tonic::Request<()>| match &token {
        Some(token) => token.check(request.metadata()).map(|()| request),
        None => Ok(request),
    };
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let served = Server::builder()
        .concurrency_limit_per_connection(AT_ONCE)
        .max_concurrent_streams(u32::try_from(AT_ONCE).ok())
        .http2_keepalive_interval(Some(SIGN_OF_LIFE))
        .http2_keepalive_timeout(Some(SIGN_OF_LIFE))
        .tcp_nodelay(true)
        .add_service(health)
        .add_service(InterceptedService::new(ledgers, check.clone()))
        .add_optional_service(settings.reflection.then(|| InterceptedService::new(reflection::service(), check)))
        .serve_with_incoming_shutdown(ReceiverStream::new(connections), async {
            // It is told to end, or its owner is gone.
            ended.await.ok();
        });
    let mut served = tokio::spawn(served);
    tracing::info!(ledgers = place, "the coordinator is ready");
    notify(NotifyState::Ready).await;
    let outcome = tokio::select! {
        signal = signals.come() => {
            tracing::info!(cause = signal, "ending: calls under way are answered");
            notify(NotifyState::Stopping).await;
            end.send(()).ok();
            handle.end_updates();
            // A watcher of the health keeps its call for ever.
            match tokio::time::timeout(FAREWELL, &mut served).await {
                Ok(ended) => ended.map_err(std::io::Error::other)?,
                Err(_elapsed) => Ok(()),
            }
        }
        ended = &mut served => ended.map_err(std::io::Error::other)?,
    };
    for task in [gauges, watchdog, reports].into_iter().chain(metrics).chain(snapshots) {
        task.abort();
    }
    if let Some(master) = master {
        master.end(FAREWELL).await;
    }
    drop(doors);
    // Otherwise the coordinator that takes over has to wait until this one has been silent for long enough.
    if tokio::time::timeout(CLOSING, handle.end()).await.is_err() {
        tracing::warn!("the store of the ledgers was not closed in time; this process ends nevertheless");
    }
    Ok(outcome?)
}

/// Reports whether the ledgers can be used: not while their store cannot be written.
async fn report_health(handle: Handle, reporter: HealthReporter) {
    let mut outage = handle.outage();
    loop {
        let is_well = outage.borrow_and_update().is_none();
        let status = if is_well { ServingStatus::Serving } else { ServingStatus::NotServing };
        reporter.set_service_status("", ServingStatus::Serving).await;
        reporter.set_service_status(SERVICE, status).await;
        if outage.changed().await.is_err() {
            return;
        }
    }
}
