//! TLS between a coordinator and its daemons. Both ends are ours: version 1.3 and HTTP/2 only, and no certificates of the
//! system.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::version::TLS13;
use rustls::{ClientConfig, RootCertStore, ServerConfig};

use crate::secret::{Reread, SecretError, check_closed, read};

/// What both ends agree on: gRPC is HTTP/2.
const PROTOCOL: &[u8] = b"h2";

/// A certificate with its key, both as PEM files.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CertificateFiles {
    /// The certificate, followed by those between it and the authority's.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// A coordinator's side. The files are read again when they change, for connections from then on.
#[derive(Debug)]
pub struct ServerTls(Reread<Arc<ServerConfig>>);

/// A daemon's side. As [`ServerTls`].
#[derive(Debug)]
pub struct ClientTls(Reread<Arc<ClientConfig>>);

impl ServerTls {
    /// Shows this certificate. With `clients`, each daemon must show one that an authority in that file has signed.
    ///
    /// # Errors
    /// A file cannot be used.
    pub fn open(own: &CertificateFiles, clients: Option<&Path>) -> Result<Self, SecretError> {
        let (own, clients) = (own.clone(), clients.map(Path::to_owned));
        let files = own.all().chain(clients.clone()).collect();
        Ok(Self(Reread::new(files, move || server(&own, clients.as_deref()))?))
    }

    /// For the next connection.
    pub fn now(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.0.now())
    }
}

impl ClientTls {
    /// Trusts a coordinator whose certificate an authority in this file has signed, and shows it this certificate.
    ///
    /// # Errors
    /// A file cannot be used.
    pub fn open(authority: &Path, own: Option<&CertificateFiles>) -> Result<Self, SecretError> {
        let (authority, own) = (authority.to_owned(), own.cloned());
        let files = own.iter().flat_map(CertificateFiles::all).chain([authority.clone()]).collect();
        Ok(Self(Reread::new(files, move || client(&authority, own.as_ref()))?))
    }

    /// For the next connection.
    pub fn now(&self) -> Arc<ClientConfig> {
        Arc::clone(&self.0.now())
    }
}

impl ServerTls {
    /// For the next connection, on which another protocol than gRPC is spoken: both ends must name it.
    pub fn speaking(&self, protocol: &[u8]) -> Arc<ServerConfig> {
        let mut config = (*self.now()).clone();
        config.alpn_protocols = vec![protocol.to_vec()];
        Arc::new(config)
    }
}

impl ClientTls {
    /// For the next connection, on which another protocol than gRPC is spoken: both ends must name it.
    pub fn speaking(&self, protocol: &[u8]) -> Arc<ClientConfig> {
        let mut config = (*self.now()).clone();
        config.alpn_protocols = vec![protocol.to_vec()];
        Arc::new(config)
    }
}

impl CertificateFiles {
    fn all(&self) -> impl Iterator<Item = PathBuf> + use<> {
        [self.certificate.clone(), self.key.clone()].into_iter()
    }

    fn load(&self) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), SecretError> {
        check_closed(&self.key)?;
        let key = PrivateKeyDer::from_pem_slice(&read(&self.key)?)
            .map_err(|error| SecretError::new(&self.key, format!("it has no private key in PEM: {error}")))?;
        Ok((certificates(&self.certificate)?, key))
    }
}

fn server(own: &CertificateFiles, clients: Option<&Path>) -> Result<Arc<ServerConfig>, SecretError> {
    let (chain, key) = own.load()?;
    let wrong = |error: rustls::Error| SecretError::new(&own.certificate, error.to_string());
    let versions = ServerConfig::builder_with_provider(provider()).with_protocol_versions(&[&TLS13]).map_err(wrong)?;
    let builder = match clients {
        None => versions.with_no_client_auth(),
        Some(file) => {
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots(file)?), provider()).build();
            let wrong = |error: rustls::server::VerifierBuilderError| SecretError::new(file, error.to_string());
            versions.with_client_cert_verifier(verifier.map_err(wrong)?)
        }
    };
    let mut config = builder.with_single_cert(chain, key).map_err(wrong)?;
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    Ok(Arc::new(config))
}

fn client(authority: &Path, own: Option<&CertificateFiles>) -> Result<Arc<ClientConfig>, SecretError> {
    let shown = own.map_or(authority, |own| &own.certificate);
    let wrong = |error: rustls::Error| SecretError::new(shown, error.to_string());
    let versions = ClientConfig::builder_with_provider(provider()).with_protocol_versions(&[&TLS13]).map_err(wrong)?;
    let builder = versions.with_root_certificates(roots(authority)?);
    let mut config = match own {
        None => builder.with_no_client_auth(),
        Some(own) => {
            let (chain, key) = own.load()?;
            builder.with_client_auth_cert(chain, key).map_err(wrong)?
        }
    };
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    Ok(Arc::new(config))
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

fn roots(file: &Path) -> Result<RootCertStore, SecretError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(file)? {
        roots.add(certificate).map_err(|error| SecretError::new(file, error.to_string()))?;
    }
    Ok(roots)
}

/// The certificates of a PEM file: at least one.
pub(crate) fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, SecretError> {
    let wrong = |reason: String| SecretError::new(file, reason);
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&read(file)?).collect();
    let found = found.map_err(|error| wrong(format!("it is not PEM: {error}")))?;
    if found.is_empty() {
        return Err(wrong("it has no certificate in PEM".to_owned()));
    }
    Ok(found)
}
