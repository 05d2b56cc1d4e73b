//! Connects to a coordinator, or to etcd: over TCP, over TCP with TLS, or over a Unix socket.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use forebay_printable::system_error;
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsConnector;
use tonic::transport::{Channel, Endpoint, Uri};

use crate::address::Address;
use crate::other_end;
use crate::tls::ClientTls;

/// How often a silent connection is asked for a sign of life, and how soon that must come. A machine that is gone sends
/// nothing, not even an end.
const SIGN_OF_LIFE: Duration = Duration::from_secs(5);

/// Bytes in both directions.
pub trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Wire for T {}

/// A way to a coordinator.
#[derive(Debug)]
pub(crate) struct WayThere {
    pub(crate) address: Address,
    pub(crate) channel: Channel,
    /// What broke its connections.
    pub(crate) faults: LineFaults,
}

/// Why a connection broke last. gRPC only says that no answer came.
#[derive(Clone, Debug, Default)]
pub(crate) struct LineFaults(Arc<Mutex<Option<String>>>);

/// A connection whose faults are noted.
struct NotedWire {
    wire: Box<dyn Wire>,
    faults: LineFaults,
    /// Whether the other end has said something.
    has_answered: bool,
}

/// A way there that connects when it is used, and again after a failure.
pub fn channel(address: &Address, tls: Option<Arc<ClientTls>>, within: Duration) -> Channel {
    connect(&Endpoint::from_static("http://coordinator").connect_timeout(within), address, tls, &LineFaults::default())
}

/// As [`channel`]. A connection on which the other end gives no sign of life is ended.
pub(crate) fn asked_for_life(address: &Address, tls: Option<Arc<ClientTls>>, within: Duration) -> WayThere {
    let endpoint = Endpoint::from_static("http://coordinator")
        .connect_timeout(within)
        .http2_keep_alive_interval(SIGN_OF_LIFE)
        .keep_alive_timeout(SIGN_OF_LIFE)
        .keep_alive_while_idle(true);
    let faults = LineFaults::default();
    WayThere { address: address.clone(), channel: connect(&endpoint, address, tls, &faults), faults }
}

/// Whatever the scheme of the endpoint, TLS is spoken here and not by tonic.
fn connect(endpoint: &Endpoint, address: &Address, tls: Option<Arc<ClientTls>>, faults: &LineFaults) -> Channel {
    let (address, faults) = (Arc::new(address.clone()), faults.clone());
    endpoint.connect_with_connector_lazy(tower::service_fn(move |_: Uri| {
        let (address, tls, faults) = (Arc::clone(&address), tls.clone(), faults.clone());
        async move {
            let dialled = dial(&address, None, tls.map(|tls| tls.now())).await;
            let wire = dialled.inspect_err(|error| faults.note(error))?;
            Ok::<_, io::Error>(TokioIo::new(NotedWire { wire, faults, has_answered: false }))
        }
    }))
}

impl LineFaults {
    fn note(&self, error: &io::Error) {
        *self.0.lock() = Some(told(error));
    }

    /// The last one, if nothing has come since.
    pub(crate) fn last(&self) -> Option<String> {
        self.0.lock().clone()
    }

    /// An answer has come.
    pub(crate) fn forget(&self) {
        *self.0.lock() = None;
    }
}

/// The text of the system or of TLS, and what to do if that is not obvious.
pub(crate) fn told(error: &io::Error) -> String {
    let hint = other_end::hint(error).map(|hint| format!(". {hint}"));
    format!("{}{}", system_error(error), hint.unwrap_or_default())
}

impl NotedWire {
    /// A write fails because the other end is gone. What it said before is waited for: it is there, and not read otherwise.
    fn read_why(&mut self, context: &mut Context<'_>, error: &io::Error) -> Poll<()> {
        let mut last_words = [0];
        match ready!(Pin::new(&mut self.wire).poll_read(context, &mut ReadBuf::new(&mut last_words))) {
            Err(why) => self.faults.note(&why),
            Ok(()) => self.faults.note(error),
        }
        Poll::Ready(())
    }
}

impl AsyncRead for NotedWire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let mut read = ready!(Pin::new(&mut self.wire).poll_read(context, buffer));
        if read.is_ok() && !self.has_answered {
            self.has_answered = true;
            read = other_end::check(&buffer.filled()[before..]);
        }
        Poll::Ready(read.inspect_err(|error| self.faults.note(error)))
    }
}

impl AsyncWrite for NotedWire {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.wire).poll_write(context, bytes));
        if let Err(error) = &written {
            ready!(self.read_why(context, error));
        }
        Poll::Ready(written)
    }

    /// Without this, each part of a message would be a write, and a packet, of its own.
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.wire).poll_write_vectored(context, parts));
        if let Err(error) = &written {
            ready!(self.read_why(context, error));
        }
        Poll::Ready(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.wire.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = ready!(Pin::new(&mut self.wire).poll_flush(context));
        if let Err(error) = &flushed {
            ready!(self.read_why(context, error));
        }
        Poll::Ready(flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.wire).poll_shutdown(context)
    }
}

/// Connects to an address, or to one of the places that its host's name leads to. TLS is spoken if the address says so.
///
/// # Errors
/// Nothing answers there, or it does not prove to be the host.
pub async fn dial(
    address: &Address,
    at: Option<SocketAddr>,
    tls: Option<Arc<ClientConfig>>,
) -> io::Result<Box<dyn Wire>> {
    let (host, port, speaks_tls) = match address {
        Address::Socket(path) => return Ok(Box::new(UnixStream::connect(path).await?)),
        Address::Network { tls, host, port } => (host, *port, *tls),
    };
    let stream = match at {
        Some(at) => TcpStream::connect(at).await?,
        None => TcpStream::connect((host.as_str(), port)).await?,
    };
    // Commands are small, and each waits for its answer.
    stream.set_nodelay(true)?;
    if !speaks_tls {
        return Ok(Box::new(stream));
    }
    let tls = tls.ok_or_else(|| io::Error::other("TLS is not configured"))?;
    let name = ServerName::try_from(host.clone()).map_err(io::Error::other)?;
    Ok(Box::new(TlsConnector::from(tls).connect(name, stream).await?))
}
