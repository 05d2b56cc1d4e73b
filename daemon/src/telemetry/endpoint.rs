//! The endpoint for Prometheus and for supervisors: `GET` of `/metrics`, `/healthz` and `/readyz` over a Unix socket or TCP.

use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::{fs, io};

use forebay_printable::printable;
use forebay_printable::system_error;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::CONTENT_TYPE;
use hyper::{Method, Request, Response, StatusCode};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};

use crate::accepting::Accepting;
use crate::config::Metrics;
use crate::connection_limits::ConnectionPlace;
use crate::descriptors::Shares;
use crate::http::{self, NO_USER};
use crate::telemetry::Observed;

/// A bound socket that is not served yet: binding can fail before anything else has started. A Unix socket's name is removed
/// when it is dropped.
#[derive(Debug)]
pub(crate) struct MetricsEndpoint {
    listener: Listener,
    /// Removed with the endpoint.
    socket: Option<PathBuf>,
}

/// The socket cannot be bound.
#[derive(Debug, Error)]
pub enum EndpointError {
    /// The address is taken, or not this machine's.
    #[error(
        "metrics cannot be served at {address}: {}. Give another metrics.address, or metrics.socket.",
        system_error(source)
    )]
    Address {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// The socket cannot be made.
    #[error("metrics cannot be served at \"{path}\": {source}. Give another metrics.socket.", path = printable(path))]
    Socket {
        /// The socket.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A living daemon has the socket.
    #[error("another daemon answers at \"{path}\". Stop it, or give another metrics.socket.", path = printable(path))]
    Taken {
        /// The socket.
        path: PathBuf,
    },
}

#[derive(Debug)]
enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

/// The type of metrics.
const METRICS: &str = "text/plain; version=0.0.4; charset=utf-8";
/// The type of answers for people and supervisors.
const PLAIN: &str = "text/plain; charset=utf-8";

impl MetricsEndpoint {
    /// Binds the socket that the configuration names. Needs a tokio runtime around it.
    pub(crate) fn bind(place: &Metrics, control_dir: &Path) -> Result<Self, EndpointError> {
        match place {
            Metrics::Address(address) => bind_tcp(*address),
            Metrics::Socket(path) => bind_unix(path.clone()),
            Metrics::BesideControl => bind_unix(control_dir.join("metrics.sock")),
        }
    }

    /// The address, if it is TCP. Instead of port 0, it has the port that the system gave.
    #[cfg(test)]
    fn address(&self) -> Option<SocketAddr> {
        match &self.listener {
            Listener::Tcp(listener) => listener.local_addr().ok(),
            Listener::Unix(_) => None,
        }
    }

    /// Answers for this process until it is dropped.
    pub(crate) async fn serve(self, process: Arc<impl Observed>) {
        let limits = Shares::of_process().metrics();
        let mut accepting = Accepting::new("metrics");
        loop {
            let room = limits.room().await;
            match &self.listener {
                Listener::Tcp(listener) => {
                    let (stream, _) = accepting.next(|| listener.accept()).await;
                    answer(stream, room.enter(NO_USER), Arc::downgrade(&process));
                }
                Listener::Unix(listener) => {
                    let (stream, _) = accepting.next(|| listener.accept()).await;
                    let user = stream.peer_cred().map_or(NO_USER, |peer| peer.uid());
                    answer(stream, room.enter(user), Arc::downgrade(&process));
                }
            }
        }
    }
}

impl Drop for MetricsEndpoint {
    fn drop(&mut self) {
        if let Some(path) = &self.socket
            && let Err(error) = fs::remove_file(path)
        {
            tracing::debug!(path = %printable(path), %error, "the socket for metrics was not removed");
        }
    }
}

fn bind_tcp(address: SocketAddr) -> Result<MetricsEndpoint, EndpointError> {
    let bound = std::net::TcpListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        tracing::info!(metrics = %listener.local_addr()?, "metrics are served");
        Ok(MetricsEndpoint { listener: Listener::Tcp(TcpListener::from_std(listener)?), socket: None })
    });
    bound.map_err(|source| EndpointError::Address { address, source })
}

fn bind_unix(path: PathBuf) -> Result<MetricsEndpoint, EndpointError> {
    if UnixStream::connect(&path).is_ok() {
        return Err(EndpointError::Taken { path });
    }
    // A killed daemon leaves the name of its socket behind, without a listener. Any other file there is kept.
    let left_behind = fs::symlink_metadata(&path).is_ok_and(|found| found.file_type().is_socket());
    let removed = if left_behind { fs::remove_file(&path) } else { Ok(()) };
    let bound = removed.and_then(|()| UnixListener::bind(&path));
    match bound.and_then(|listener| fs::set_permissions(&path, fs::Permissions::from_mode(0o660)).map(|()| listener)) {
        Ok(listener) => Ok(MetricsEndpoint { listener: Listener::Unix(listener), socket: Some(path) }),
        Err(source) => Err(EndpointError::Socket { path, source }),
    }
}

/// Serves one connection. It keeps nothing of a process that ends.
fn answer<S>(stream: S, place: ConnectionPlace, process: Weak<impl Observed>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    http::answer(stream, place, "metrics", move |request| {
        let process = process.upgrade();
        async move { respond(&request, process.as_deref()).await }
    });
}

async fn respond(request: &Request<Incoming>, process: Option<&impl Observed>) -> Response<Full<Bytes>> {
    let (status, content_type, text) = match (request.method(), request.uri().path(), process) {
        (&Method::GET, "/metrics", Some(process)) => (StatusCode::OK, METRICS, process.metrics().await),
        (&Method::GET, "/healthz", Some(process)) => probed(process.health(), "ok"),
        (&Method::GET, "/readyz", Some(process)) => probed(process.readiness(), "ready"),
        (&Method::GET, "/metrics" | "/healthz" | "/readyz", None) => probed(Err("the process ends".to_owned()), ""),
        (_, "/metrics" | "/healthz" | "/readyz", _) => {
            (StatusCode::METHOD_NOT_ALLOWED, PLAIN, "only GET is answered here\n".to_owned())
        }
        _ => (StatusCode::NOT_FOUND, PLAIN, "here are /metrics, /healthz and /readyz\n".to_owned()),
    };
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static(content_type));
    response
}

/// The answer to a supervisor. A problem is one line, whatever is in it.
fn probed(outcome: Result<(), String>, good: &str) -> (StatusCode, &'static str, String) {
    match outcome {
        Ok(()) => (StatusCode::OK, PLAIN, format!("{good}\n")),
        Err(problem) => (StatusCode::SERVICE_UNAVAILABLE, PLAIN, format!("{}\n", printable(&problem))),
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{TcpStream, UnixStream};

    use super::*;

    async fn get(mut stream: impl AsyncRead + AsyncWrite + Unpin, request: &str) -> String {
        stream.write_all(format!("{request} HTTP/1.1\r\nHost: forebay\r\n\r\n").as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    /// A process whose loops turn, and which waits for something.
    struct Waits(&'static str);

    impl Observed for Waits {
        async fn metrics(&self) -> String {
            "forebay_consumers 2\n".to_owned()
        }

        fn health(&self) -> Result<(), String> {
            Ok(())
        }

        fn readiness(&self) -> Result<(), String> {
            Err(self.0.to_owned())
        }
    }

    fn serve(endpoint: MetricsEndpoint) -> tokio::task::JoinHandle<()> {
        tokio::spawn(endpoint.serve(Arc::new(Waits("no\u{1b}disk"))))
    }

    #[tokio::test]
    async fn metrics_are_served_on_a_unix_socket_whose_name_goes_with_the_endpoint() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("metrics.sock");
        let task = serve(MetricsEndpoint::bind(&Metrics::BesideControl, dir.path()).unwrap());
        let answer = get(UnixStream::connect(&path).await.unwrap(), "GET /metrics").await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert!(answer.contains("forebay_consumers 2"), "{answer}");
        let answer = get(UnixStream::connect(&path).await.unwrap(), "GET /").await;
        assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
        let answer = get(UnixStream::connect(&path).await.unwrap(), "POST /metrics").await;
        assert!(answer.starts_with("HTTP/1.1 405"), "{answer}");
        let answer = get(UnixStream::connect(&path).await.unwrap(), "GET /healthz").await;
        assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("\r\n\r\nok\n"), "{answer}");
        let answer = get(UnixStream::connect(&path).await.unwrap(), "GET /readyz").await;
        assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
        assert!(answer.ends_with(&format!("\r\n\r\n{}\n", printable("no\u{1b}disk"))), "{answer}");
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
        assert!(!path.exists());
    }

    #[tokio::test]
    async fn metrics_are_served_on_a_port_on_request() {
        let endpoint =
            MetricsEndpoint::bind(&Metrics::Address("127.0.0.1:0".parse().unwrap()), Path::new("/")).unwrap();
        let address = endpoint.address().unwrap();
        let taken = MetricsEndpoint::bind(&Metrics::Address(address), Path::new("/")).unwrap_err();
        assert!(taken.to_string().contains(&address.to_string()), "{taken}");
        let task = serve(endpoint);
        let answer = get(TcpStream::connect(address).await.unwrap(), "GET /metrics").await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        task.abort();
    }

    #[tokio::test]
    async fn a_living_daemons_socket_is_left_alone_and_a_dead_ones_taken_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("m.sock");
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        let place = Metrics::Socket(path.clone());
        let first = MetricsEndpoint::bind(&place, dir.path()).unwrap();
        let refused = MetricsEndpoint::bind(&place, dir.path()).unwrap_err();
        assert!(matches!(&refused, EndpointError::Taken { path: named } if *named == path), "{refused}");
        drop(first);
        let file = dir.path().join("notes");
        fs::write(&file, "kept").unwrap();
        let occupied = MetricsEndpoint::bind(&Metrics::Socket(file.clone()), dir.path()).unwrap_err();
        assert!(matches!(occupied, EndpointError::Socket { .. }), "{occupied}");
        assert_eq!(fs::read(file).unwrap(), b"kept");
        let missing = MetricsEndpoint::bind(&Metrics::Socket(dir.path().join("no/m.sock")), dir.path()).unwrap_err();
        assert!(missing.to_string().contains("no/m.sock"), "{missing}");
    }
}
