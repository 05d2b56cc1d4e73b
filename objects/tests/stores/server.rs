//! An HTTP server on the loopback, for one test.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use hyper::body::Incoming;
use hyper::header::RANGE;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio_rustls::TlsAcceptor;

use crate::faults::{Fault, Faults};

/// A body that is complete before it is sent.
pub(crate) type Whole = Bytes;
/// A body as it is sent.
pub(crate) type Body = BoxBody<Bytes, std::io::Error>;
/// What answers requests.
pub(crate) type Handler =
    Arc<dyn Fn(Request<Incoming>) -> Pin<Box<dyn Future<Output = Response<Whole>> + Send>> + Send + Sync>;

/// Ends with its value.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) faults: Faults,
    /// Method, path and query, and range of all requests.
    log: Arc<Mutex<Vec<String>>>,
    _runtime: Runtime,
}

impl Server {
    pub(crate) fn start(handler: Handler) -> Self {
        Self::with_tls(handler, None)
    }

    /// A server whose answers do not depend on the bodies of its requests.
    pub(crate) fn answering(answer: impl Fn(&Request<()>) -> Response<Whole> + Send + Sync + 'static) -> Self {
        Self::start(Arc::new(move |request| Box::pin(std::future::ready(answer(&request.map(|_| ()))))))
    }

    /// With TLS, if there is an acceptor for it.
    pub(crate) fn with_tls(handler: Handler, tls: Option<TlsAcceptor>) -> Self {
        let runtime = Runtime::new().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let (faults, log) = (Faults::default(), Arc::default());
        let serving = Serving { handler, faults: faults.clone(), log: Arc::clone(&log) };
        runtime.spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let serving = serving.clone();
                let service = service_fn(move |request| serving.clone().answer(request));
                let http = http1::Builder::new();
                let Some(tls) = tls.clone() else {
                    tokio::spawn(http.serve_connection(TokioIo::new(socket), service));
                    continue;
                };
                tokio::spawn(async move {
                    // A client that does not trust the certificate ends here.
                    let Ok(socket) = tls.accept(socket).await else { return };
                    drop(http.serve_connection(TokioIo::new(socket), service).await);
                });
            }
        });
        Self { address, faults, log, _runtime: runtime }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What was asked for since the last call.
    pub(crate) fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.log.lock())
    }
}

#[derive(Clone)]
struct Serving {
    handler: Handler,
    faults: Faults,
    log: Arc<Mutex<Vec<String>>>,
}

impl Serving {
    async fn answer(self, request: Request<Incoming>) -> Result<Response<Body>, std::io::Error> {
        let range = request.headers().get(RANGE).map_or("", |range| range.to_str().unwrap()).to_owned();
        self.log.lock().push(format!("{} {} {range}", request.method(), request.uri()).trim().to_owned());
        let fault = if request.method() == Method::GET { self.faults.take() } else { None };
        let request = match fault {
            Some(Fault::Whole) => without_range(request),
            _ => request,
        };
        let answer = (self.handler)(request).await;
        match fault {
            None => Ok(answer.map(body::whole)),
            Some(fault) => match fault.apply(answer) {
                Some(answer) => Ok(answer),
                None => std::future::pending().await,
            },
        }
    }
}

fn without_range(mut request: Request<Incoming>) -> Request<Incoming> {
    request.headers_mut().remove(RANGE);
    request
}

/// Bodies that are right, and bodies that are not.
pub(crate) mod body {
    use std::io;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    use bytes::Bytes;
    use futures_util::stream::{self, Stream, StreamExt as _};
    use http_body_util::{BodyExt, Full, StreamBody};
    use hyper::body::Frame;

    use super::Body;

    pub(crate) fn whole(bytes: impl Into<Bytes>) -> Body {
        Full::new(bytes.into()).map_err(|never| match never {}).boxed()
    }

    /// Ends after these bytes, whatever the header says.
    pub(crate) fn short(bytes: Bytes) -> Body {
        BodyExt::boxed(StreamBody::new(first(bytes)))
    }

    /// Breaks off.
    pub(crate) fn broken(bytes: Bytes) -> Body {
        let reset = Err(io::Error::from(io::ErrorKind::ConnectionReset));
        BodyExt::boxed(StreamBody::new(first(bytes).chain(stream::iter([reset]))))
    }

    /// Never ends.
    pub(crate) fn stuck(bytes: Bytes) -> Body {
        BodyExt::boxed(StreamBody::new(first(bytes).chain(stream::pending())))
    }

    /// Comes byte by byte, with a wait after each one.
    pub(crate) fn dripping(bytes: Bytes, sent: Arc<AtomicU64>) -> Body {
        let drip = move |at: usize| {
            let (byte, sent) = (bytes.slice(at..=at), Arc::clone(&sent));
            async move {
                tokio::time::sleep(Duration::from_millis(20)).await;
                sent.fetch_add(1, Ordering::Relaxed);
                Ok(Frame::data(byte))
            }
        };
        BodyExt::boxed(StreamBody::new(stream::iter(0..).then(drip)))
    }

    /// Comes in pieces.
    pub(crate) fn pieces(bytes: &Bytes, size: usize) -> Body {
        let piece = |start| bytes.slice(start..bytes.len().min(start + size));
        let pieces: Vec<_> = (0..bytes.len()).step_by(size).map(piece).collect();
        BodyExt::boxed(StreamBody::new(stream::iter(pieces).flat_map(first)))
    }

    /// These bytes, which are sent before anything else happens: the server sends what it has when it must wait.
    fn first(bytes: Bytes) -> impl Stream<Item = io::Result<Frame<Bytes>>> + Send + Sync {
        let wait = stream::once(tokio::task::yield_now()).filter_map(|()| std::future::ready(None));
        stream::iter([Ok(Frame::data(bytes))]).chain(wait)
    }
}
