//! The client at the other end of a connection, and the workers for which it may speak (semantics rule 25).

use std::sync::Arc;

use rustls::client::verify_server_name;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::server::ParsedCertificate;
use tonic::Status;

use forebay_ledger_client::Request;

/// The other end of a connection. A server's connections give it as tonic's `ConnectInfo`.
#[derive(Clone, Debug, Default)]
pub struct ClientIdentity {
    certificate: Option<Arc<CertificateDer<'static>>>,
}

impl ClientIdentity {
    /// One that has proved by TLS that this certificate is its own.
    pub fn certified(certificate: CertificateDer<'static>) -> Self {
        Self { certificate: Some(Arc::new(certificate)) }
    }

    /// Whether it may speak for this worker: its certificate has the worker's name, or it was asked for none.
    fn may_speak_for(&self, worker: &str) -> bool {
        let Some(certificate) = &self.certificate else { return true };
        let (Ok(certificate), Ok(name)) = (ParsedCertificate::try_from(&**certificate), ServerName::try_from(worker))
        else {
            return false;
        };
        verify_server_name(&certificate, &name).is_ok()
    }

    /// Refuses a request in the name of a worker that the connection's certificate does not name.
    pub(crate) fn check<R: Request>(request: &tonic::Request<R>) -> Result<(), Status> {
        Self::check_name(request, request.get_ref().worker())
    }

    /// As [`check`](Self::check), of a request that speaks for this worker.
    pub(crate) fn check_name<R>(request: &tonic::Request<R>, worker: Option<&str>) -> Result<(), Status> {
        let Some(worker) = worker else { return Ok(()) };
        let identity = request.extensions().get::<Self>();
        if identity.is_none_or(|identity| identity.may_speak_for(worker)) {
            return Ok(());
        }
        Err(Status::permission_denied(format!(
            "The certificate of this daemon is not for worker {worker:?}. Add that name to the certificate as a DNS name, or \
             set node in [coordinator] to a name that the certificate has."
        )))
    }
}
