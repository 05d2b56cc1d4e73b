//! Datasets of the Hugging Face Hub. The revision is turned into a commit once, and all that is listed and read is of that
//! commit. Files come from the hub's file servers: it redirects there, with URLs that are signed and hold for a while.

mod refusal;
mod shortcuts;
mod token;
mod tree;

use std::fmt;
use std::net::IpAddr;
use std::ops::Range;

use futures_util::StreamExt as _;
use reqwest::header::{
    ACCEPT_ENCODING, AUTHORIZATION, ETAG, HeaderMap, HeaderName, HeaderValue, LINK, LOCATION, RANGE,
};
use reqwest::{Client, Method, Response, StatusCode, Url};
use serde::Deserialize;
use tokio::sync::OnceCell;

use super::ranged::{self, header, length};
use super::{Body, Page};
use crate::client::{ANSWER_LIMIT, Connector, REDIRECT_LIMIT, is_local};
use crate::fault::{Fault, FaultKind};
use crate::object::version_of_etag;
use crate::repository::{Repository, is_commit, is_digest};
use crate::{Address, Object, Secret, Settings};
use shortcuts::{Shortcut, Shortcuts};

/// The hub's URL, unless the settings have another one.
const ENDPOINT: &str = "https://huggingface.co";
/// Headers in which the hub describes the file of a redirect.
const LINKED_SIZE: HeaderName = HeaderName::from_static("x-linked-size");
const LINKED_ETAG: HeaderName = HeaderName::from_static("x-linked-etag");

/// A dataset of the hub.
pub(crate) struct Hub {
    client: Client,
    /// Without a slash at its end.
    endpoint: Url,
    repository: Repository,
    token: Option<Secret>,
    /// What the revision meant when it was first asked for.
    commit: OnceCell<String>,
    shortcuts: Shortcuts,
}

/// The last answer of a call, and what the hub itself told on the way to it.
struct Answer {
    response: Response,
    /// Where it came from.
    url: Url,
    size: Option<u64>,
    digest: Option<String>,
}

#[derive(Deserialize)]
struct Revision {
    sha: String,
}

impl Hub {
    /// The error completes "The store cannot be used:".
    pub(super) fn open(address: &Address, settings: &Settings) -> Result<Self, String> {
        let (_, rest) = address.root.split_once("://").unwrap_or_default();
        let (repository, _) = Repository::split(rest)?;
        let endpoint = settings.endpoint.as_deref().or_else(|| settings.variable(&["HF_ENDPOINT"])).unwrap_or(ENDPOINT);
        let endpoint = endpoint.trim_end_matches('/');
        let wrong =
            || "its endpoint must be a URL such as https://huggingface.co, without a name and a password".to_owned();
        let parsed = Url::parse(endpoint).map_err(|_| wrong())?;
        let plain = parsed.username().is_empty() && parsed.password().is_none() && parsed.query().is_none();
        if !plain || !matches!(parsed.scheme(), "http" | "https") || !parsed.has_host() {
            return Err(wrong());
        }
        let token = if settings.anonymous { None } else { token::token(settings) };
        if token.is_some() && parsed.scheme() != "https" && !is_local(&parsed) {
            return Err("a token is sent only over https; write the endpoint with https://".to_owned());
        }
        let client = Connector::new(settings, Some(endpoint))?.direct()?;
        let (commit, shortcuts) = (OnceCell::new(), Shortcuts::default());
        Ok(Self { client, endpoint: parsed, repository, token, commit, shortcuts })
    }

    /// Where the hub is.
    pub(super) fn server(&self) -> &str {
        self.endpoint.as_str()
    }

    pub(super) async fn head(&self, key: &str) -> Result<Object, Fault> {
        let url = self.file(key).await?;
        let answer = self.call(Method::HEAD, url, None).await?;
        let status = answer.response.status();
        let size = match answer.size {
            Some(size) if status.is_redirection() || status.is_success() => Some(size),
            _ if status.is_success() => length(answer.response.headers()),
            _ if status.is_redirection() => None,
            _ => return Err(self.refused(&answer)),
        };
        let size = size.ok_or_else(|| Fault::new(FaultKind::Unreadable, "the hub does not tell the file's size"))?;
        Ok(Object { key: key.to_owned(), size, version: answer.digest })
    }

    pub(super) async fn get(&self, object: &Object, range: Range<u64>) -> Result<Body, Fault> {
        let key = object.key.as_str();
        if let Some(Shortcut { url, digest }) = self.shortcuts.find(key) {
            let response =
                self.send(Method::GET, url, Some(&range)).await.inspect_err(|_| self.shortcuts.forget(key))?;
            let body = has_bytes(response.status()).then(|| body(response, object, &range, digest.as_deref()));
            match body {
                Some(Ok(body)) => return Ok(body),
                // The next attempt asks the hub for the redirect again.
                Some(Err(fault)) => {
                    self.shortcuts.forget(key);
                    return Err(fault);
                }
                None => self.shortcuts.forget(key),
            }
        }
        let url = self.file(key).await?;
        let answer = self.call(Method::GET, url, Some(&range)).await?;
        if !has_bytes(answer.response.status()) {
            return Err(self.refused(&answer));
        }
        let body = body(answer.response, object, &range, answer.digest.as_deref())?;
        if !self.is_home(&answer.url) {
            self.shortcuts.keep(key, Shortcut { url: answer.url, digest: answer.digest });
        }
        Ok(body)
    }

    /// A page of the files whose path begins with `prefix`: of all of them or, if not `deep`, down to the next slash.
    pub(super) async fn page(&self, prefix: &str, deep: bool, from: Option<&str>) -> Result<Page, Fault> {
        let folder = prefix.rsplit_once('/').map_or("", |(folder, _)| folder);
        let Some(path) = self.repository.tree_path(self.commit().await?, folder) else { return Ok(Page::default()) };
        let mut url = self.url(&path)?;
        let first = format!("recursive={deep}&expand=false");
        url.set_query(Some(from.unwrap_or(&first)));
        let answer = self.call(Method::GET, url, None).await?;
        if !answer.response.status().is_success() {
            let fault = self.refused(&answer);
            // A commit without this folder.
            return if fault.kind == FaultKind::Missing { Ok(Page::default()) } else { Err(fault) };
        }
        let next = header(answer.response.headers(), &LINK).and_then(tree::next);
        let bytes = collected(answer.response).await?;
        let (objects, prefixes) = tree::entries(&bytes, prefix, deep).map_err(senseless)?;
        Ok(Page { objects, prefixes, next })
    }

    /// The commit that all is read of.
    async fn commit(&self) -> Result<&str, Fault> {
        let Repository { name, revision } = &self.repository;
        let pinned = self.commit.get_or_try_init(|| async {
            if is_commit(revision) {
                return Ok(revision.clone());
            }
            let answer = self.call(Method::GET, self.url(&self.repository.revision_path())?, None).await?;
            if !answer.response.status().is_success() {
                let fault = self.refused(&answer);
                return Err(if fault.kind == FaultKind::Missing { self.refusals().unknown() } else { fault });
            }
            let bytes = collected(answer.response).await?;
            let Revision { sha } = serde_json::from_slice(&bytes).map_err(senseless)?;
            if !is_commit(&sha) {
                return Err(senseless("the revision has no commit"));
            }
            tracing::info!(dataset = name, revision, commit = sha, "a revision of the hub is pinned to its commit");
            Ok(sha)
        });
        pinned.await.map(String::as_str)
    }

    /// Where a file of the commit is.
    async fn file(&self, key: &str) -> Result<Url, Fault> {
        let path = self.repository.file_path(self.commit().await?, key);
        let odd = || Fault::new(FaultKind::Unreadable, "the hub has no file whose path has empty parts or dots alone");
        self.url(&path.ok_or_else(odd)?)
    }

    fn url(&self, path: &str) -> Result<Url, Fault> {
        let url = Url::parse(&format!("{}{path}", self.endpoint.as_str().trim_end_matches('/')));
        url.map_err(|error| Fault::new(FaultKind::Unreadable, error))
    }

    /// Asks, and follows redirects. The token is sent to the hub alone. A HEAD request does not follow a redirect away from
    /// the hub, which itself knows the answer.
    async fn call(&self, method: Method, mut url: Url, range: Option<&Range<u64>>) -> Result<Answer, Fault> {
        let (mut size, mut digest) = (None, None);
        for _ in 0..=REDIRECT_LIMIT {
            let response = self.send(method.clone(), url.clone(), range).await?;
            let headers = response.headers();
            if self.is_home(&url) {
                size = size.or_else(|| header(headers, &LINKED_SIZE)?.parse().ok());
                let of_answer = || header(headers, &ETAG).filter(|_| response.status().is_success());
                let etag = header(headers, &LINKED_ETAG).or_else(of_answer).and_then(version_of_etag);
                digest = digest.or(etag).filter(|etag| is_digest(etag));
            }
            let Some(next) = self.target(&url, &response)? else { return Ok(Answer { response, url, size, digest }) };
            if method == Method::HEAD && !self.is_home(&next) {
                return Ok(Answer { response, url, size, digest });
            }
            url = next;
        }
        Err(Fault::new(FaultKind::Unavailable, "the hub redirects in circles"))
    }

    /// Where the answer redirects to, if it does.
    fn target(&self, from: &Url, answer: &Response) -> Result<Option<Url>, Fault> {
        let redirects = matches!(answer.status().as_u16(), 301 | 302 | 303 | 307 | 308);
        let Some(location) = header(answer.headers(), &LOCATION).filter(|_| redirects) else { return Ok(None) };
        let to = from.join(location).map_err(|_| Fault::new(FaultKind::Settings, "the hub redirects to no URL"))?;
        if self.may_follow(from, &to) {
            return Ok(Some(to));
        }
        let host = to.host_str().unwrap_or_default();
        Err(Fault::new(
            FaultKind::Settings,
            format!(
                "the hub redirects to \"{host}\", which is not followed because it is not https or is an address; check HF_ENDPOINT"
            ),
        ))
    }

    /// Never from TLS to plain text, and to addresses only from a hub on this machine: others have names.
    fn may_follow(&self, from: &Url, to: &Url) -> bool {
        let safe = to.scheme() == "https" || from.scheme() == "http" && to.scheme() == "http";
        let host = to.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
        let named = !host.is_empty() && host.parse::<IpAddr>().is_err() && !is_local(to);
        safe && (named || self.is_home(to) || is_local(&self.endpoint))
    }

    fn is_home(&self, url: &Url) -> bool {
        url.origin() == self.endpoint.origin()
    }

    async fn send(&self, method: Method, url: Url, range: Option<&Range<u64>>) -> Result<Response, Fault> {
        let mut headers = HeaderMap::new();
        // Ranges of a compressed answer would be ranges of other bytes.
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        if let Some(token) = self.token.as_ref().filter(|_| self.is_home(&url)) {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", token.expose())).map_err(|_| {
                Fault::new(
                    FaultKind::Settings,
                    "the token has characters that are not allowed in a header; copy it again",
                )
            })?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        if let Some(range) = range {
            let value = format!("bytes={}-{}", range.start, range.end.saturating_sub(1));
            let value = HeaderValue::from_str(&value).map_err(|error| Fault::new(FaultKind::Unreadable, error))?;
            headers.insert(RANGE, value);
        }
        let sent = self.client.request(method, url).headers(headers).send().await;
        sent.map_err(|error| Fault::of_transport(&error.without_url()))
    }

    /// What an answer other than success says.
    fn refused(&self, answer: &Answer) -> Fault {
        let (status, headers) = (answer.response.status(), answer.response.headers());
        if self.is_home(&answer.url) {
            return self.refusals().of(status, headers);
        }
        refusal::of_file_server(answer.url.host_str().unwrap_or_default(), status, headers)
    }

    fn refusals(&self) -> refusal::Refusals<'_> {
        let endpoint = self.endpoint.as_str().trim_end_matches('/');
        refusal::Refusals { endpoint, repository: &self.repository, has_token: self.token.is_some() }
    }
}

impl fmt::Debug for Hub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hub").field("repository", &self.repository).finish_non_exhaustive()
    }
}

/// The bytes of a successful answer. `digest` is what the hub says of the file.
///
/// Only the hub can say that a file is another one, and it does so by another digest. A length that does not fit is then a
/// mistake of the server that sent it, such as a page for people instead of the file.
fn body(response: Response, object: &Object, range: &Range<u64>, digest: Option<&str>) -> Result<Body, Fault> {
    ranged::body(response, object, range, digest).map_err(|fault| match fault.kind {
        FaultKind::Changed if object.is(None, digest) => {
            Fault::new(FaultKind::Unavailable, "the hub's file server sends a file of another size")
        }
        _ => fault,
    })
}

fn has_bytes(status: StatusCode) -> bool {
    matches!(status, StatusCode::OK | StatusCode::PARTIAL_CONTENT)
}

fn senseless(error: impl fmt::Display) -> Fault {
    Fault::new(FaultKind::Unavailable, format!("the hub's answer makes no sense: {error}"))
}

/// The body of an answer of the hub's own calls.
async fn collected(answer: Response) -> Result<Vec<u8>, Fault> {
    let mut bytes = Vec::new();
    let mut body = answer.bytes_stream();
    while let Some(chunk) = body.next().await {
        let chunk = chunk.map_err(|error| Fault::of_transport(&error.without_url()))?;
        if bytes.len() + chunk.len() > ANSWER_LIMIT {
            return Err(Fault::new(
                FaultKind::Unreadable,
                format!("the hub's answer has more than {ANSWER_LIMIT} bytes"),
            ));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_54_the_hub_redirects_to_named_hosts_by_tls() {
        let hub = |endpoint: &str| {
            let settings = Settings { endpoint: Some(endpoint.to_owned()), ..Settings::default() };
            Hub::open(&Address::parse("hf://datasets/o/n").unwrap(), &settings).unwrap()
        };
        let follows = |endpoint: &str, from: &str, to: &str| {
            hub(endpoint).may_follow(&Url::parse(from).unwrap(), &Url::parse(to).unwrap())
        };
        let real = |from: &str, to: &str| follows("https://hub.example", from, to);
        assert!(real("https://hub.example/a", "https://hub.example/b"));
        assert!(real("https://hub.example/a", "https://cdn.example/b?signature=x"));
        for to in [
            "http://cdn.example/b",
            "http://hub.example/b",
            "https://169.254.169.254/latest/meta-data/",
            "https://[::1]/",
            "https://localhost/",
            "file:///etc/passwd",
            "ftp://cdn.example/b",
        ] {
            assert!(!real("https://hub.example/a", to), "{to}");
        }
        assert!(follows("http://127.0.0.1:1", "http://127.0.0.1:1/a", "http://127.0.0.1:2/b"));
        assert!(follows("https://10.0.0.1", "https://10.0.0.1/a", "https://10.0.0.1/b"), "the hub itself");
    }

    #[test]
    fn an_endpoint_may_have_a_path() {
        let settings = Settings { endpoint: Some("https://mirror.example/hf/".to_owned()), ..Settings::default() };
        let hub = Hub::open(&Address::parse("hf://datasets/o/n@a%2Fb").unwrap(), &settings).unwrap();
        let url = hub.url(&hub.repository.revision_path()).unwrap();
        assert_eq!(url.as_str(), "https://mirror.example/hf/api/datasets/o/n/revision/a%2Fb");
    }
}
