//! The HTTP client of a store: its TLS, proxies, redirects and limits.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use forebay_sources::ObjectRoots;
use http_body_util::{BodyExt as _, Limited};
use object_store::ClientOptions;
use object_store::client::{
    ClientConfigKey, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody,
    HttpService,
};
use reqwest::header::{HeaderMap, RANGE};
use reqwest::redirect::Policy;
use reqwest::{StatusCode, Url};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};

use crate::Settings;
use crate::fault::{Fault, code_of};
use crate::fault_slot::FaultSlot;
use crate::retry_after::retry_after;

/// Bytes of a list, of a token, or of anything else that is not a range of an object.
pub(crate) const ANSWER_LIMIT: usize = 64 << 20;
/// Bytes of the body of an answer that says what is wrong.
pub(crate) const COMPLAINT_LIMIT: usize = 64 << 10;
/// Redirects that one request follows.
pub(crate) const REDIRECT_LIMIT: usize = 5;
/// How long an unused connection is kept.
const IDLE: Duration = Duration::from_secs(60);
/// How long connecting to a server may take.
const CONNECT: Duration = Duration::from_secs(10);

/// Makes clients for the library of the stores.
#[derive(Clone, Debug)]
pub(crate) struct Connector {
    tls: Arc<ClientConfig>,
    /// Whether the store is on this machine, for which no proxy is used.
    local: bool,
    /// What the last request for credentials met. Such requests carry no note of their own.
    credentials: FaultSlot,
}

/// A client that notes faults and limits bodies.
#[derive(Debug)]
struct Noting {
    client: reqwest::Client,
    credentials: FaultSlot,
}

impl Connector {
    /// For the store at this endpoint. The error completes "The store cannot be reached:".
    pub(crate) fn new(settings: &Settings, endpoint: Option<&str>) -> Result<Self, String> {
        let local = endpoint.and_then(|endpoint| Url::parse(endpoint).ok()).is_some_and(|url| is_local(&url));
        Ok(Self { tls: Arc::new(tls(settings)?), local, credentials: FaultSlot::default() })
    }

    /// Where faults of requests for credentials are noted.
    pub(crate) fn credentials(&self) -> FaultSlot {
        self.credentials.clone()
    }

    /// A client that follows redirects only to its own host, as far as `roots` has the URL, and to the given hosts, and never
    /// from TLS to plain text.
    pub(crate) fn web(&self, hosts: Vec<String>, roots: ObjectRoots) -> Result<reqwest::Client, String> {
        let policy = Policy::custom(move |attempt| {
            let from = attempt.previous().last();
            let allowed = from.is_some_and(|from| may_follow(from, attempt.url(), &hosts, &roots));
            if !allowed {
                attempt.stop()
            } else if attempt.previous().len() > REDIRECT_LIMIT {
                attempt.error("the server redirects in circles")
            } else {
                attempt.follow()
            }
        });
        self.client(policy, CONNECT, false)
    }

    /// A client that follows no redirects.
    pub(crate) fn direct(&self) -> Result<reqwest::Client, String> {
        self.client(Policy::none(), CONNECT, false)
    }

    fn client(&self, redirects: Policy, connect: Duration, only_tls: bool) -> Result<reqwest::Client, String> {
        let builder = reqwest::Client::builder()
            .tls_backend_preconfigured(ClientConfig::clone(&self.tls))
            .user_agent(concat!("forebay/", env!("CARGO_PKG_VERSION")))
            .redirect(redirects)
            .referer(false)
            .https_only(only_tls)
            // Many connections are faster than many requests in one, and stores are made for it.
            .http1_only()
            .connect_timeout(connect)
            .pool_idle_timeout(IDLE)
            .tcp_nodelay(true);
        let builder = if self.local { builder.no_proxy() } else { builder };
        builder.build().map_err(|error| error.to_string())
    }
}

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let plain = options.get_config_value(&ClientConfigKey::AllowHttp).is_some_and(|allowed| allowed == "true");
        // A signature holds for one host, so no redirect of a store can be followed.
        let client = self.client(Policy::none(), CONNECT, !plain);
        client
            .map(|client| HttpClient::new(Noting { client, credentials: self.credentials() }))
            .map_err(|error| object_store::Error::Generic { store: "HTTP", source: error.into() })
    }
}

#[async_trait::async_trait]
impl HttpService for Noting {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let slot = request.extensions().get::<FaultSlot>().unwrap_or(&self.credentials).clone();
        let ranged = request.headers().contains_key(RANGE);
        let response = HttpService::call(&self.client, request).await.inspect_err(|error| {
            slot.write(Fault::of_transport(error));
        })?;
        let (parts, body) = response.into_parts();
        if parts.status.is_success() {
            let limit = if ranged { usize::MAX } else { ANSWER_LIMIT };
            return Ok(HttpResponse::from_parts(parts, limited(body, limit)));
        }
        let complaint = limited(body, COMPLAINT_LIMIT).collect().await;
        let complaint = complaint.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        slot.write(refusal(parts.status, &parts.headers, &complaint));
        Ok(HttpResponse::from_parts(parts, HttpResponseBody::from(complaint)))
    }
}

/// What an answer other than success says.
pub(crate) fn refusal(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Fault {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let code = header("x-ms-error-code").or_else(|| code_of(body));
    let fault = Fault::of_answer(status, code.as_deref(), header("x-amz-bucket-region").as_deref());
    fault.with_answer(status, retry_after(headers))
}

fn limited(body: HttpResponseBody, limit: usize) -> HttpResponseBody {
    if limit == usize::MAX {
        return body;
    }
    let too_long = |error: Box<dyn std::error::Error + Send + Sync>| match error.downcast::<HttpError>() {
        Ok(error) => *error,
        Err(error) => HttpError::new_boxed(HttpErrorKind::Decode, error),
    };
    HttpResponseBody::new(Limited::new(body, limit).map_err(too_long))
}

/// Whether a redirect stays with the server that the user named, or leads to a host that the user named too.
fn may_follow(from: &Url, to: &Url, hosts: &[String], roots: &ObjectRoots) -> bool {
    let safe = to.scheme() == "https" || from.scheme() == "http" && to.scheme() == "http";
    let same_host = from.host_str().is_some() && from.host_str() == to.host_str();
    let upgrade = from.scheme() == "http" && to.scheme() == "https";
    let same_port = from.port_or_known_default() == to.port_or_known_default();
    let named = to.host_str().is_some_and(|host| hosts.iter().any(|named| named == host));
    safe && (named || same_host && (same_port || upgrade) && roots.has(to.as_str()))
}

/// Whether the URL's host is this machine.
pub(crate) fn is_local(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// TLS with the certificates of the system, and those of the settings.
fn tls(settings: &Settings) -> Result<ClientConfig, String> {
    let mut roots = RootCertStore::empty();
    // Certificates of the system that cannot be read are left out: others may do.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if let Some(file) = &settings.certificates {
        let wrong = |error: &dyn std::fmt::Display| {
            format!("the certificates of \"{}\" cannot be used: {error}", file.display())
        };
        let before = roots.len();
        for certificate in CertificateDer::pem_file_iter(file).map_err(|error| wrong(&error))? {
            let certificate = certificate.map_err(|error| wrong(&error))?;
            roots.add(certificate).map_err(|error| wrong(&error))?;
        }
        if roots.len() == before {
            return Err(wrong(&"it has none (a PEM file is wanted)"));
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    Ok(versions.map_err(|error| error.to_string())?.with_root_certificates(roots).with_no_client_auth())
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;
    use crate::fault::FaultKind;

    #[test]
    fn rule_54_a_redirect_stays_with_hosts_that_the_user_named() {
        let hosts = ["cdn.example".to_owned()];
        let may = |from: &str, to: &str| {
            may_follow(&Url::parse(from).unwrap(), &Url::parse(to).unwrap(), &hosts, &ObjectRoots::Anywhere)
        };
        for (from, to) in [
            ("https://h/a", "https://h/b"),
            ("https://h/a", "https://h:443/b"),
            ("http://h/a", "http://h/b"),
            ("http://h/a", "https://h/b"),
            ("https://h/a", "https://cdn.example/b"),
            ("http://h/a", "http://cdn.example/b"),
        ] {
            assert!(may(from, to), "{from} to {to}");
        }
        for (from, to) in [
            ("https://h/a", "http://h/a"),
            ("https://h/a", "https://h:8443/a"),
            ("http://h/a", "http://h:8080/a"),
            ("https://h/a", "https://other/a"),
            ("https://h/a", "http://cdn.example/a"),
            ("https://h/a", "https://cdn.example.evil/a"),
            ("http://h/a", "http://169.254.169.254/latest/meta-data/"),
            ("http://h/a", "http://127.0.0.1/a"),
            ("http://h/a", "file:///etc/passwd"),
            ("http://h/a", "ftp://cdn.example/a"),
        ] {
            assert!(!may(from, to), "{from} to {to}");
        }
    }

    #[test]
    fn rule_54_a_redirect_stays_below_the_urls_that_may_be_read() {
        let roots = ObjectRoots::Below(vec!["https://h/public".into()]);
        let may = |to: &str| {
            let from = Url::parse("https://h/public/a").unwrap();
            may_follow(&from, &Url::parse(to).unwrap(), &["cdn.example".to_owned()], &roots)
        };
        assert!(may("https://h/public/b?signature=1") && may("https://cdn.example/b"));
        assert!(!may("https://h/private/b") && !may("https://h/public/../private/b") && !may("https://h/publicity"));
    }

    #[test]
    fn what_a_refusal_says_is_in_its_headers_or_its_body() {
        let mut headers = HeaderMap::new();
        let of = |status: u16, headers: &HeaderMap, body: &[u8]| {
            refusal(StatusCode::from_u16(status).unwrap(), headers, body)
        };
        assert_eq!(of(404, &headers, b"<Error><Code>NoSuchBucket</Code></Error>").kind, FaultKind::Gone);
        headers.insert("x-ms-error-code", HeaderValue::from_static("ContainerNotFound"));
        assert_eq!(of(404, &headers, b"").kind, FaultKind::Gone);
        headers.clear();
        headers.insert("x-amz-bucket-region", HeaderValue::from_static("eu-west-3"));
        let fault = of(301, &headers, b"");
        assert_eq!(fault.kind, FaultKind::Settings);
        assert!(fault.cause.contains("\"eu-west-3\""), "{}", fault.cause);
    }

    #[test]
    fn no_proxy_is_asked_for_this_machine() {
        let local = |url: &str| is_local(&Url::parse(url).unwrap());
        assert!(local("http://localhost:1/") && local("http://127.0.0.9/") && local("http://[::1]:9/"));
        assert!(!local("http://localhost.example/") && !local("http://10.0.0.1/") && !local("https://h/"));
    }
}
