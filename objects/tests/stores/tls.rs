//! Servers with TLS: whose certificates are trusted, and where redirects may lead.

use std::path::PathBuf;
use std::sync::Arc;

use forebay_objects::{Secret, Settings, Store, WebSettings};
use forebay_sources::Retry;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::ServerConfig;
use rustls::pki_types::PrivatePkcs8KeyDer;
use tempfile::TempDir;
use tokio_rustls::TlsAcceptor;

use crate::object_map::ObjectMap;
use crate::s3::{quick, read};
use crate::server::Server;
use crate::web::{Manners, handler};

/// A server with a certificate of its own for `localhost`.
struct Trusted {
    server: Server,
    folder: TempDir,
}

impl Trusted {
    fn start(object_map: &ObjectMap) -> Self {
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let versions = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let key = PrivatePkcs8KeyDer::from(signing_key.serialize_der());
        let config = versions.with_no_client_auth().with_single_cert(vec![cert.der().clone()], key.into()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ca.pem"), cert.pem()).unwrap();
        let server = Server::with_tls(handler(object_map, Manners::Good), Some(TlsAcceptor::from(Arc::new(config))));
        Self { server, folder }
    }

    fn certificates(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    fn url(&self) -> String {
        format!("https://localhost:{}/", self.server.address.port())
    }

    fn settings(&self) -> Settings {
        Settings { certificates: Some(self.certificates()), retries: quick(), ..Settings::default() }
    }
}

#[test]
fn a_certificate_is_trusted_only_if_the_user_says_so() {
    let object_map = ObjectMap::default();
    object_map.put("private/a", "bytes");
    let trusted = Trusted::start(&object_map);
    let mut settings = trusted.settings();
    settings.web.bearers.insert("localhost".into(), Secret::new("hf_hunter2"));
    let store = Store::open(&trusted.url(), &settings).unwrap();
    let object = store.head("private/a").unwrap();
    assert_eq!(read(&store, &object, 1..4), b"yte");
    trusted.server.asked();
    let settings = Settings { retries: quick(), ..Settings::default() };
    let error = Store::open(&trusted.url(), &settings).unwrap().head("private/a").unwrap_err();
    assert_eq!(error.retry(), Retry::Later);
    assert!(error.cause.contains("certificate"), "{error}");
    assert_eq!(trusted.server.asked(), Vec::<String>::new(), "nothing was sent");
}

#[test]
fn a_redirect_leads_from_plain_text_to_tls_and_never_back() {
    let object_map = ObjectMap::default();
    object_map.put("a", "bytes");
    let (plain, trusted) = (Server::start(handler(&object_map, Manners::Good)), Trusted::start(&object_map));
    let redirect_hosts = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
    let settings = Settings { web: WebSettings { redirect_hosts, ..WebSettings::default() }, ..trusted.settings() };
    let to = |url: &str| format!("to/{}%2Fa", url.trim_end_matches('/').replace('/', "%2F"));
    let from_plain = Store::open(&plain.url(), &settings).unwrap();
    assert_eq!(from_plain.head(&to(&trusted.url())).unwrap().size, 5);
    plain.asked();
    let from_tls = Store::open(&trusted.url(), &settings).unwrap();
    let error = from_tls.head(&to(&plain.url())).unwrap_err();
    assert!(error.cause.contains("redirects to another host"), "{error}");
    assert_eq!(plain.asked(), Vec::<String>::new());
}

#[test]
fn files_that_are_no_certificates_are_refused_when_the_store_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let (empty, broken) = (folder.path().join("empty.pem"), folder.path().join("broken.pem"));
    std::fs::write(&empty, "no certificate").unwrap();
    std::fs::write(&broken, "-----BEGIN CERTIFICATE-----\nZm9v\n-----END CERTIFICATE-----\n").unwrap();
    for file in [empty, broken, folder.path().join("absent.pem")] {
        let settings = Settings { certificates: Some(file.clone()), ..Settings::default() };
        let error = Store::open("https://host/", &settings).unwrap_err().to_string();
        assert!(error.contains(&*file.to_string_lossy()), "{error}");
    }
}
