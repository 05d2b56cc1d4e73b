//! Connects to a coordinator, or to etcd: over TCP, over TCP with TLS, or over a Unix socket.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsConnector;
use tonic::transport::{Channel, Endpoint, Uri};

use crate::address::Address;
use crate::tls::ClientTls;

/// How often a silent connection is asked for a sign of life, and how soon that must come. A machine that is gone sends
/// nothing, not even an end.
const SIGN_OF_LIFE: Duration = Duration::from_secs(5);

/// Bytes in both directions.
trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Wire for T {}

/// A way there that connects when it is used, and again after a failure.
pub fn channel(address: &Address, tls: Option<Arc<ClientTls>>, within: Duration) -> Channel {
    connect(&Endpoint::from_static("http://coordinator").connect_timeout(within), address, tls)
}

/// As [`channel`]. A connection on which the other end gives no sign of life is ended.
pub(crate) fn asked_for_life(address: &Address, tls: Option<Arc<ClientTls>>, within: Duration) -> Channel {
    let endpoint = Endpoint::from_static("http://coordinator")
        .connect_timeout(within)
        .http2_keep_alive_interval(SIGN_OF_LIFE)
        .keep_alive_timeout(SIGN_OF_LIFE)
        .keep_alive_while_idle(true);
    connect(&endpoint, address, tls)
}

/// Whatever the scheme of the endpoint, TLS is spoken here and not by tonic.
fn connect(endpoint: &Endpoint, address: &Address, tls: Option<Arc<ClientTls>>) -> Channel {
    let address = Arc::new(address.clone());
    endpoint.connect_with_connector_lazy(tower::service_fn(move |_: Uri| {
        let (address, tls) = (Arc::clone(&address), tls.clone());
        async move { dial(&address, tls.as_deref()).await.map(TokioIo::new) }
    }))
}

async fn dial(address: &Address, tls: Option<&ClientTls>) -> io::Result<Box<dyn Wire>> {
    let (host, port, speaks_tls) = match address {
        Address::Socket(path) => return Ok(Box::new(UnixStream::connect(path).await?)),
        Address::Network { tls, host, port } => (host, *port, *tls),
    };
    let stream = TcpStream::connect((host.as_str(), port)).await?;
    // Commands are small, and each waits for its answer.
    stream.set_nodelay(true)?;
    if !speaks_tls {
        return Ok(Box::new(stream));
    }
    let tls = tls.ok_or_else(|| io::Error::other("TLS is not configured"))?;
    let name = ServerName::try_from(host.clone()).map_err(io::Error::other)?;
    Ok(Box::new(TlsConnector::from(tls.now()).connect(name, stream).await?))
}
