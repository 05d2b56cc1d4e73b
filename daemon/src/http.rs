//! One connection of HTTP: it sends a request, gets an answer, and is closed. A connection that is slow, or whose place is needed,
//! ends without one.

use std::convert::Infallible;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::connection_limits::ConnectionPlace;

/// The user of TCP connections, for which the system does not say who it is.
pub(crate) const NO_USER: u32 = u32::MAX;
/// A connection that sends no request is closed.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
/// So is one that does not take its answer.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Most bytes of a request's head. A longer one is refused.
const HEAD: usize = 16 << 10;

/// Serves one connection in a task of its own. `what` is for the log.
pub(crate) fn answer<S, F>(
    stream: S,
    mut place: ConnectionPlace,
    what: &'static str,
    respond: impl Fn(Request<Incoming>) -> F + Send + 'static,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    F: Future<Output = Response<Full<Bytes>>> + Send + 'static,
{
    tokio::spawn(async move {
        let service = service_fn(move |request| {
            let response = respond(request);
            async move { Ok::<_, Infallible>(response.await) }
        });
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT).keep_alive(false).max_buf_size(HEAD);
        tokio::select! {
            ended = http.serve_connection(TokioIo::new(stream), service) => if let Err(error) = ended {
                tracing::debug!(of = what, %error, "a connection ended early");
            },
            () = place.lost() => tracing::debug!(of = what, "a connection made place for a later one"),
            () = tokio::time::sleep(TIMEOUT) => tracing::debug!(of = what, "a connection took too long"),
        }
    });
}
