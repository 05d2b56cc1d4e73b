//! Files of a plain HTTP server. It has ranges if we are lucky, `ETag`s if we are luckier, and no list.

mod whole;

use std::ops::Range;

use reqwest::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CONTENT_RANGE, ETAG, HeaderMap, HeaderValue, IF_MATCH, IF_UNMODIFIED_SINCE,
    LAST_MODIFIED, RANGE,
};
use reqwest::{Client, Method, Response, StatusCode, Url};

use self::whole::WholeFiles;
use super::Body;
use super::ranged::{self, complaint, content_range, header, length};
use crate::client::{Connector, is_local, refusal};
use crate::fault::{Fault, FaultKind};
use crate::object::{Pin, version_of_etag};
use crate::{Address, Object, Secret, Settings};

/// A server of files.
#[derive(Debug)]
pub(crate) struct Web {
    client: Client,
    root: String,
    bearer: Option<Secret>,
    whole: WholeFiles,
}

impl Web {
    pub(super) fn open(address: &Address, settings: &Settings) -> Result<Self, String> {
        let root = Url::parse(&address.root).map_err(|error| error.to_string())?;
        let client = Connector::new(settings, Some(&address.root))?
            .web(settings.web.redirect_hosts.clone(), settings.web.roots.clone())?;
        let bearer = root.host_str().and_then(|host| settings.web.bearers.get(host)).cloned();
        if bearer.is_some() && root.scheme() != "https" && !is_local(&root) {
            return Err("a token is sent only over https; write the URL with https://".to_owned());
        }
        let whole = WholeFiles::new(settings.web.whole_files);
        Ok(Self { client, root: address.root.clone(), bearer, whole })
    }

    pub(super) async fn head(&self, key: &str) -> Result<Object, Fault> {
        let answer = self.send(Method::HEAD, key, HeaderMap::new()).await?;
        let size = length(answer.headers());
        if let (true, Some(size)) = (answer.status().is_success(), size) {
            return Ok(Object { key: key.to_owned(), size, version: version(answer.headers()) });
        }
        if !answer.status().is_success() && answer.status() == StatusCode::NOT_FOUND {
            return Err(refused(answer).await);
        }
        // Signed URLs hold for GET alone, and some servers tell no size here: the first byte tells it too.
        let mut headers = HeaderMap::new();
        headers.insert(RANGE, HeaderValue::from_static("bytes=0-0"));
        let answer = self.send(Method::GET, key, headers).await?;
        let headers = answer.headers();
        let size = match answer.status() {
            StatusCode::PARTIAL_CONTENT => content_range(headers)?.size,
            StatusCode::RANGE_NOT_SATISFIABLE => empty(headers),
            status if status.is_success() => length(headers),
            _ => return Err(refused(answer).await),
        };
        let size = size.ok_or_else(|| Fault::new(FaultKind::Unreadable, "the server does not tell the file's size"))?;
        Ok(Object { key: key.to_owned(), size, version: version(headers) })
    }

    pub(super) async fn get(&self, object: &Object, range: Range<u64>) -> Result<Body, Fault> {
        if range == (0..object.size) {
            let answer = self.ask(object, &range).await?;
            let version = version(answer.headers());
            return ranged::body(answer, object, &range, version.as_deref());
        }
        let known = self.whole.known(object).await;
        if let Some(file) = &known {
            if file.is_refused(object) {
                return Err(self.whole.refusal(object));
            }
            if let Some(bytes) = file.of(object) {
                return whole::body(bytes, &range);
            }
        }
        let answer = self.ask(object, &range).await?;
        let version = version(answer.headers());
        if answer.status() == StatusCode::PARTIAL_CONTENT {
            return ranged::body(answer, object, &range, version.as_deref());
        }
        let place = match known {
            Some(place) => place,
            None => self.whole.place(object).await,
        };
        if let Some(bytes) = place.of(object) {
            return whole::body(bytes, &range);
        }
        let bytes = self.whole.read(answer, object, version.as_deref(), place).await?;
        whole::body(&bytes, &range)
    }

    /// An answer with a range of an object, or with all of it.
    async fn ask(&self, object: &Object, range: &Range<u64>) -> Result<Response, Fault> {
        let mut headers = HeaderMap::new();
        let condition = match object.pin() {
            Pin::Strong(etag) => Some((IF_MATCH, format!("\"{etag}\""))),
            Pin::Time(time) => Some((IF_UNMODIFIED_SINCE, time.to_owned())),
            Pin::Weak | Pin::Nothing => None,
        };
        let bytes = (RANGE, format!("bytes={}-{}", range.start, range.end.saturating_sub(1)));
        for (name, value) in condition.into_iter().chain([bytes]) {
            let value = HeaderValue::from_str(&value);
            headers.insert(name, value.map_err(|error| Fault::new(FaultKind::Unreadable, error))?);
        }
        let answer = self.send(Method::GET, &object.key, headers).await?;
        match answer.status() {
            StatusCode::PARTIAL_CONTENT | StatusCode::OK => Ok(answer),
            _ => Err(refused(answer).await),
        }
    }

    async fn send(&self, method: Method, key: &str, headers: HeaderMap) -> Result<Response, Fault> {
        let url = format!("{}{key}", self.root);
        let url = Url::parse(&url).map_err(|error| Fault::new(FaultKind::Unreadable, error))?;
        let mut request = self.client.request(method, url).headers(headers);
        // Ranges of a compressed answer would be ranges of other bytes.
        request = request.header(ACCEPT_ENCODING, "identity");
        if let Some(bearer) = &self.bearer {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", bearer.expose())).map_err(|_| {
                Fault::new(
                    FaultKind::Settings,
                    "the token has characters that are not allowed in a header; copy it again",
                )
            })?;
            value.set_sensitive(true);
            request = request.header(AUTHORIZATION, value);
        }
        request.send().await.map_err(|error| Fault::of_transport(&error.without_url()))
    }
}

/// What an answer other than success says.
async fn refused(answer: Response) -> Fault {
    let (status, headers) = (answer.status(), answer.headers().clone());
    let complaint = complaint(answer).await;
    refusal(status, &headers, &complaint)
}

/// The size in the answer that there is no first byte: `bytes */0`.
fn empty(headers: &HeaderMap) -> Option<u64> {
    (header(headers, &CONTENT_RANGE)?.trim() == "bytes */0").then_some(0)
}

fn version(headers: &HeaderMap) -> Option<String> {
    let etag = header(headers, &ETAG).and_then(version_of_etag);
    etag.or_else(|| header(headers, &LAST_MODIFIED).map(|time| format!("@{time}")))
}
