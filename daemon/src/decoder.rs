//! `forebay decode`: a decoder for daemons on other machines (semantics rule 60). It makes pictures of records, and knows nothing of
//! leases, epochs or trainers.

mod datasets;
mod fair_queue;
mod session;
mod worker_pool;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use forebay_ledger_client::{CertificateFiles, SecretError, ServerTls, TokenFile};
use forebay_pipeline::incarnation;
use forebay_pipeline::remote::DECODE_PROTOCOL;
use sd_notify::NotifyState;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};
use tokio_rustls::TlsAcceptor;

use crate::accepting::Accepting;
use crate::config::Environment;
use crate::coordinate::{Door, Place, PlaceError};
use crate::descriptors;
use crate::service_manager::{notify, watch};
use crate::signals::{EndedBy, Signals};
use datasets::Datasets;
use worker_pool::WorkerPool;

/// What a decoder is started with.
#[derive(Clone, Debug)]
pub struct DecoderSettings {
    /// Where daemons reach it.
    pub listen: Vec<Place>,
    /// Folders of which it reads files, and URLs of which it reads objects.
    pub roots: Vec<String>,
    /// A file with the token that daemons must send.
    pub token: Option<PathBuf>,
    /// The certificate that it shows. Without one it speaks no TLS.
    pub certificate: Option<CertificateFiles>,
    /// The certificates of those who sign the daemons' certificates: then each daemon must show one.
    pub clients: Option<PathBuf>,
    /// Threads that make pictures.
    pub threads: usize,
    /// Memory for records and their answers, and as much for decoding.
    pub memory: u64,
    /// How long it answers what it has, after SIGTERM.
    pub drain_timeout: Duration,
}

/// Why a decoder ends with an error.
#[derive(Debug, Error)]
pub enum DecoderError {
    /// An address that it must not, or cannot, listen on.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The token or a certificate.
    #[error("{0}")]
    Secret(#[from] SecretError),
    /// A root.
    #[error("--root: {0}")]
    Root(std::io::Error),
    /// The system.
    #[error("the decoder cannot be started: {0}")]
    System(#[from] std::io::Error),
}

/// What all connections share.
#[derive(Debug)]
struct Decoder {
    /// Of this process, so that two addresses of it are known as one decoder.
    number: u64,
    token: Option<TokenFile>,
    datasets: Datasets,
    pool: Arc<WorkerPool>,
    connections: AtomicU64,
    /// When it ends, once it was told to.
    ending: watch::Sender<Option<Instant>>,
}

/// How long the beginning of TLS may take.
const HANDSHAKE: Duration = Duration::from_secs(5);
/// Connections at a time.
const MOST_CONNECTIONS: usize = 1024;

/// Makes pictures for daemons until SIGTERM or SIGINT.
///
/// # Errors
/// Something that the settings require is not available. Nothing has been served then.
pub async fn decode(settings: DecoderSettings, environment: Environment) -> Result<(), DecoderError> {
    let mut signals = Signals::new(EndedBy::Signals)?;
    descriptors::raise_limit();
    for place in &settings.listen {
        place.check(settings.token.is_some() || settings.clients.is_some())?;
    }
    let token = settings.token.as_deref().map(TokenFile::open).transpose()?;
    let own = settings.certificate.as_ref();
    let tls = own.map(|own| ServerTls::open(own, settings.clients.as_deref())).transpose()?.map(Arc::new);
    let (objects, folders): (Vec<String>, Vec<String>) =
        settings.roots.into_iter().partition(|root| root.contains("://"));
    let folders: Vec<PathBuf> = folders.into_iter().map(PathBuf::from).collect();
    forebay_formats::confine(&folders).map_err(DecoderError::Root)?;
    let decoder = Arc::new(Decoder {
        number: incarnation::fresh()?,
        token,
        datasets: Datasets::new(objects, environment),
        pool: WorkerPool::start(settings.threads, settings.memory)?,
        connections: AtomicU64::default(),
        ending: watch::channel(None).0,
    });
    let mut doors = JoinSet::new();
    for place in &settings.listen {
        match place.bind().await? {
            Door::Network(listener) => {
                doors.spawn(of_network(listener, tls.clone(), Arc::clone(&decoder)));
            }
            Door::Socket(listener, name) => {
                let accept = of_socket(listener, Arc::clone(&decoder));
                doors.spawn(async move {
                    accept.await;
                    drop(name);
                });
            }
        }
    }
    let watchdog = tokio::spawn(watch());
    tracing::info!(threads = settings.threads, "the decoder is ready");
    notify(NotifyState::Ready).await;
    let signal = signals.come().await;
    tracing::info!(cause = signal, "ending: what daemons have asked for is answered");
    notify(NotifyState::Stopping).await;
    let until = Instant::now() + settings.drain_timeout;
    decoder.ending.send_replace(Some(until));
    // Nothing is listened to any more, and each connection ends when its last answer was sent.
    doors.shutdown().await;
    let ended = tokio::time::timeout_at(until, decoder.ending.closed()).await;
    let (made, failed) = (&decoder.pool.made, &decoder.pool.failed);
    let [made, failed] = [made, failed].map(|count| count.load(Ordering::Relaxed));
    tracing::info!(made, failed, drained = ended.is_ok(), "the decoder has ended");
    watchdog.abort();
    Ok(())
}

async fn of_network(listener: TcpListener, tls: Option<Arc<ServerTls>>, decoder: Arc<Decoder>) {
    let (mut accepting, places) = (Accepting::new("the decoder's address"), Arc::new(Semaphore::new(MOST_CONNECTIONS)));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let (stream, from) = accepting.next(|| listener.accept()).await;
        let (tls, decoder) = (tls.clone(), Arc::clone(&decoder));
        tokio::spawn(async move {
            let _place = place;
            let from = from.to_string();
            if let Err(error) = stream.set_nodelay(true) {
                tracing::debug!(from, %error, "a connection ended at once");
                return;
            }
            let Some(tls) = tls else { return serve(decoder, stream, &from).await };
            let acceptor = TlsAcceptor::from(tls.speaking(DECODE_PROTOCOL));
            match timeout(HANDSHAKE, acceptor.accept(stream)).await.map_err(std::io::Error::from).flatten() {
                Ok(stream) => serve(decoder, stream, &from).await,
                Err(error) => tracing::info!(from, %error, "a connection was refused"),
            }
        });
    }
}

async fn of_socket(listener: UnixListener, decoder: Arc<Decoder>) {
    let (mut accepting, places) = (Accepting::new("the decoder's socket"), Arc::new(Semaphore::new(MOST_CONNECTIONS)));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let (stream, _) = accepting.next(|| listener.accept()).await;
        let decoder = Arc::clone(&decoder);
        tokio::spawn(async move {
            let _place = place;
            serve(decoder, stream, "a Unix socket").await;
        });
    }
}

async fn serve(decoder: Arc<Decoder>, wire: impl AsyncRead + AsyncWrite + Unpin, from: &str) {
    match session::serve(decoder, wire, from).await {
        Ok(()) => tracing::info!(from, "a daemon's connection ended"),
        Err(error) => tracing::info!(from, %error, "a daemon's connection ended"),
    }
}
