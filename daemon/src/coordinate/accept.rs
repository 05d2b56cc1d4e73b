//! Accepts the connections of daemons to a coordinator, with TLS if it has a certificate.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use forebay_coordinator::ClientIdentity;
use forebay_ledger_client::ServerTls;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::place::{Door, Place, PlaceError};
use super::refusals::Refusals;
use crate::accepting::Accepting;
use crate::connection::Connection;
use crate::connection_limits::{ConnectionLimits, ConnectionPlace};
use crate::descriptors::Shares;

/// Bytes in both directions.
pub(super) trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Wire for T {}

/// A connection that gRPC may be spoken on.
pub(super) type DaemonConnection = Connection<Box<dyn Wire>, ClientIdentity>;

/// How long the beginning of TLS may take.
const HANDSHAKE: Duration = Duration::from_secs(5);
/// Connections that wait for gRPC to take them.
const WAITING: usize = 64;

type ConnectionSender = mpsc::Sender<io::Result<DaemonConnection>>;

/// Listens at all of these places. Connections are accepted until the second value is dropped.
///
/// # Errors
/// One of them cannot be used.
pub(super) async fn listen(
    places: &[Place],
    tls: Option<Arc<ServerTls>>,
) -> Result<(mpsc::Receiver<io::Result<DaemonConnection>>, JoinSet<()>), PlaceError> {
    let (connections, accepted) = mpsc::channel(WAITING);
    let mut accepting = JoinSet::new();
    let limits = Shares::daemons();
    for place in places {
        match place.bind().await? {
            Door::Network(listener) => {
                accepting.spawn(of_network(listener, tls.clone(), limits.clone(), connections.clone()));
            }
            Door::Socket(listener, name) => {
                let accept = of_socket(listener, limits.clone(), connections.clone());
                accepting.spawn(async move {
                    accept.await;
                    drop(name);
                });
            }
        }
    }
    Ok((accepted, accepting))
}

async fn of_network(
    listener: TcpListener,
    tls: Option<Arc<ServerTls>>,
    limits: ConnectionLimits,
    connections: ConnectionSender,
) {
    let mut accepting = Accepting::new("the coordinator's address");
    let refusals = Arc::new(Mutex::new(Refusals::default()));
    loop {
        let room = limits.room().await;
        let (stream, from) = accepting.next(|| listener.accept()).await;
        let place = room.enter(number(from.ip()));
        let (tls, connections, refusals) = (tls.clone(), connections.clone(), Arc::clone(&refusals));
        // A connection that begins slowly holds up no other.
        tokio::spawn(async move {
            match timeout(HANDSHAKE, begin(stream, tls, place)).await.map_err(io::Error::from).flatten() {
                // If the coordinator ends, the connection is dropped.
                Ok(connection) => drop(connections.send(Ok(connection)).await),
                Err(error) => {
                    let times = refusals.lock().worth_a_line(from.ip(), &error.to_string(), Instant::now());
                    if let Some(times) = times {
                        tracing::info!(%from, %error, times, "a connection was refused");
                    }
                }
            }
        });
    }
}

async fn begin(stream: TcpStream, tls: Option<Arc<ServerTls>>, place: ConnectionPlace) -> io::Result<DaemonConnection> {
    stream.set_nodelay(true)?;
    let Some(tls) = tls else { return Ok(Connection::new(Box::new(stream), ClientIdentity::default(), place)) };
    let stream = TlsAcceptor::from(tls.now()).accept(stream).await?;
    let shown = stream.get_ref().1.peer_certificates().and_then(|chain| chain.first());
    let identity =
        shown.map_or_else(ClientIdentity::default, |own| ClientIdentity::certified(own.clone().into_owned()));
    Ok(Connection::new(Box::new(stream), identity, place))
}

async fn of_socket(listener: UnixListener, limits: ConnectionLimits, connections: ConnectionSender) {
    let mut accepting = Accepting::new("the coordinator's socket");
    loop {
        let room = limits.room().await;
        let accept = || async {
            let (stream, _) = listener.accept().await?;
            let user = stream.peer_cred()?.uid();
            Ok::<(UnixStream, u32), io::Error>((stream, user))
        };
        let (stream, user) = accepting.next(accept).await;
        let connection =
            Connection::new(Box::new(stream) as Box<dyn Wire>, ClientIdentity::default(), room.enter(user));
        if connections.send(Ok(connection)).await.is_err() {
            return;
        }
    }
}

/// Tells one machine's connections from another's, to limit them.
fn number(address: IpAddr) -> u32 {
    match address {
        IpAddr::V4(address) => address.to_bits(),
        IpAddr::V6(address) => {
            let mut hasher = DefaultHasher::new();
            // One machine has a whole network of 64 bits.
            address.segments()[..4].hash(&mut hasher);
            u32::try_from(hasher.finish() >> 32).unwrap_or(u32::MAX)
        }
    }
}
