//! Serves a website, such as that of `forebay page`, over HTTP: at a loopback address or a Unix socket. What it says is up to its
//! [`Site`]. Here is only what any site needs: connections that are bounded in number, size and time.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{HOST, HeaderName, HeaderValue, ORIGIN};
use hyper::{Request, Response, StatusCode};
use thiserror::Error;

use crate::accepting::Accepting;
use crate::coordinate::{Door, Place, PlaceError};
use crate::descriptors::Shares;
use crate::http::{self, NO_USER};
use crate::signals::{EndedBy, Signals};

/// A bound socket that is not served yet. A Unix socket's name is removed when it is dropped.
#[derive(Debug)]
pub struct WebsiteDoor(Door);

/// Why a site cannot be served.
#[derive(Debug, Error)]
pub enum WebsiteError {
    /// Other machines reach the address.
    #[error(
        "the page is not served at {0}: other machines can reach that address, and it has no TLS. Listen at 127.0.0.1, and reach \
         it from elsewhere with \"ssh -L {port}:127.0.0.1:{port} HOST\"",
        port = .0.port()
    )]
    Open(SocketAddr),
    /// The system refuses it, or another process has it.
    #[error("the page cannot be served at {place}: {source}. Give another --listen")]
    System {
        /// The place.
        place: Place,
        /// What the system said.
        source: io::Error,
    },
}

/// The head of a request. Bodies are not read.
#[derive(Clone, Debug, Default)]
pub struct WebRequest {
    /// Such as `GET`.
    pub method: String,
    /// The path with its query, from its first slash on. Empty if the request names something else, such as another server.
    pub target: String,
    /// All values of the header `Host`. What is no ASCII is empty.
    pub hosts: Vec<String>,
    /// All values of the header `Origin`.
    pub origins: Vec<String>,
}

/// What is answered.
#[derive(Clone, Debug)]
pub struct WebAnswer {
    /// Such as 200.
    pub status: u16,
    /// Names, in lower case, and values.
    pub headers: Vec<(&'static str, &'static str)>,
    /// Shared by all who get the same.
    pub body: Arc<[u8]>,
}

/// What answers requests.
pub trait Site: Send + Sync + 'static {
    /// Answers one. The request is not served any more once this is dropped: its connection took too long, or is gone.
    fn answer(&self, request: WebRequest) -> impl Future<Output = WebAnswer> + Send;
}

/// A body that several answers share.
struct SharedBytes(Arc<[u8]>);

impl AsRef<[u8]> for SharedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl WebsiteDoor {
    /// Binds the socket, for this machine alone. Needs a tokio runtime around it.
    ///
    /// # Errors
    /// Other machines reach the address, or it cannot be listened on.
    pub async fn bind(place: &Place) -> Result<Self, WebsiteError> {
        match place {
            Place::Network(address) if !address.ip().is_loopback() => return Err(WebsiteError::Open(*address)),
            Place::Network(_) | Place::Socket(_) => {}
        }
        place.bind().await.map(Self).map_err(|error| match error {
            PlaceError::System { place, source } => WebsiteError::System { place, source },
            other => WebsiteError::System { place: place.clone(), source: io::Error::other(other) },
        })
    }

    /// The address, if it is TCP. Instead of port 0, it has the port that the system gave.
    pub fn address(&self) -> Option<SocketAddr> {
        match &self.0 {
            Door::Network(listener) => listener.local_addr().ok(),
            Door::Socket(..) => None,
        }
    }

    /// Answers until SIGTERM or SIGINT comes.
    ///
    /// # Errors
    /// The system does not tell this process of signals.
    pub async fn serve(self, site: Arc<impl Site>) -> io::Result<()> {
        let mut signals = Signals::new(EndedBy::Signals)?;
        tokio::select! {
            never = self.accept(site) => match never {},
            _signal = signals.come() => Ok(()),
        }
    }

    async fn accept(&self, site: Arc<impl Site>) -> std::convert::Infallible {
        let limits = Shares::viewers();
        let mut accepting = Accepting::new("the page");
        loop {
            let room = limits.room().await;
            let site = Arc::clone(&site);
            let respond = move |request: Request<Incoming>| {
                let site = Arc::clone(&site);
                async move { response(site.answer(head(&request)).await) }
            };
            match &self.0 {
                Door::Network(listener) => {
                    let (stream, _) = accepting.next(|| listener.accept()).await;
                    http::answer(stream, room.enter(NO_USER), "the page", respond);
                }
                Door::Socket(listener, _) => {
                    let (stream, _) = accepting.next(|| listener.accept()).await;
                    http::answer(stream, room.enter(NO_USER), "the page", respond);
                }
            }
        }
    }
}

fn head(request: &Request<Incoming>) -> WebRequest {
    let all = |name| {
        let values = request.headers().get_all(name).iter();
        values.map(|value| value.to_str().unwrap_or_default().to_owned()).collect()
    };
    let uri = request.uri();
    let path = uri.path_and_query().filter(|_| uri.authority().is_none());
    WebRequest {
        method: request.method().as_str().to_owned(),
        target: path.map_or_else(String::new, ToString::to_string),
        hosts: all(HOST),
        origins: all(ORIGIN),
    }
}

fn response(WebAnswer { status, headers, body }: WebAnswer) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from_owner(SharedBytes(body))));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in headers {
        response.headers_mut().append(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpStream;

    use super::*;

    /// Answers with what it was asked.
    struct Echo;

    impl Site for Echo {
        async fn answer(&self, request: WebRequest) -> WebAnswer {
            let WebRequest { method, target, hosts, origins } = request;
            let body = format!("{method} {target} {} {}", hosts.join("+"), origins.join("+"));
            WebAnswer { status: 200, headers: vec![("x-frame-options", "DENY")], body: body.into_bytes().into() }
        }
    }

    async fn said(address: SocketAddr, request: &str) -> String {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn a_site_sees_the_heads_of_requests_and_no_other_server_s_targets() {
        let door = WebsiteDoor::bind(&"127.0.0.1:0".parse().unwrap()).await.unwrap();
        let address = door.address().unwrap();
        let served = tokio::spawn(async move { door.accept(Arc::new(Echo)).await });
        let answer = said(address, "GET /a?b=c HTTP/1.1\r\nHost: one\r\nHost: two\r\nOrigin: http://x\r\n\r\n").await;
        assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("x-frame-options: DENY"), "{answer}");
        assert!(answer.ends_with("GET /a?b=c one+two http://x"), "{answer}");
        let elsewhere = said(address, "GET http://evil/a HTTP/1.1\r\nHost: one\r\n\r\n").await;
        assert!(elsewhere.ends_with("GET  one "), "{elsewhere}");
        let head = said(address, "HEAD / HTTP/1.1\r\nHost: one\r\n\r\n").await;
        assert!(head.starts_with("HTTP/1.1 200") && head.ends_with("\r\n\r\n"), "{head}");
        let long = format!("GET / HTTP/1.1\r\nHost: one\r\nCookie: {}\r\n\r\n", "x".repeat(32 << 10));
        let mut stream = TcpStream::connect(address).await.unwrap();
        // It may be closed before all of this was sent.
        let _sent = stream.write_all(long.as_bytes()).await;
        let mut answer = Vec::new();
        let _read = stream.read_to_end(&mut answer).await;
        assert!(!answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
        served.abort();
    }

    #[tokio::test]
    async fn an_address_that_other_machines_reach_is_refused_with_the_way_to_tunnel() {
        for text in ["0.0.0.0:7180", "[::]:7180", "10.1.2.3:7180"] {
            let refused = WebsiteDoor::bind(&text.parse().unwrap()).await.unwrap_err().to_string();
            assert!(refused.contains("ssh -L 7180:127.0.0.1:7180"), "{refused}");
        }
        let door = WebsiteDoor::bind(&"127.0.0.1:0".parse().unwrap()).await.unwrap();
        let taken = WebsiteDoor::bind(&Place::Network(door.address().unwrap())).await.unwrap_err().to_string();
        assert!(taken.contains("Give another --listen"), "{taken}");
    }
}
