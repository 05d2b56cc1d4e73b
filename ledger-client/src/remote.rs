//! A coordinator in another process, behind the same [`Handle`] as one in this process.
//!
//! A thread of its own talks to it, so a handle needs no runtime around it. Each call has a deadline. If a coordinator does
//! not answer, the next of its addresses is asked from then on.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use thiserror::Error;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::address::Address;
use crate::call::Call;
use crate::dial;
use crate::handle::{CallQueue, Handle};
use crate::line::Line;
use crate::secret::SecretError;
use crate::tls::{CertificateFiles, ClientTls};
use crate::token::TokenFile;

/// Calls that may be under way at once.
const AT_ONCE: usize = 256;

/// Ledgers that may be followed at once: each takes one of the connection's streams for good.
const LASTING: usize = 64;

/// How a coordinator in another process is reached.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Remote {
    /// Its addresses; the first is asked first.
    pub addresses: Vec<Address>,
    /// A file with the token that it asks for.
    pub token: Option<PathBuf>,
    /// The certificates of those who may sign its certificate. Required by an address with `https`.
    pub authority: Option<PathBuf>,
    /// The certificate that it is shown.
    pub certificate: Option<CertificateFiles>,
    /// How long one call may take.
    pub deadline: Duration,
}

/// Why a coordinator cannot be asked at all.
#[derive(Debug, Error)]
pub enum RemoteError {
    /// The token or a certificate.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// An address with `https`, but no certificates of an authority.
    #[error("{0} needs the certificates of its authority: give tls_ca in [coordinator], or --tls-ca")]
    NoAuthority(Address),
    /// No address at all.
    #[error("no address of a coordinator is given")]
    NoAddress,
    /// No thread, or no timer for it.
    #[error("the thread that talks to the coordinator could not be started: {0}")]
    Thread(#[from] std::io::Error),
}

impl Remote {
    /// How long a call may take, if nothing else is said.
    pub const DEADLINE: Duration = Duration::from_secs(5);

    /// At these addresses, with nothing to prove.
    pub fn at(addresses: Vec<Address>) -> Self {
        Self { addresses, token: None, authority: None, certificate: None, deadline: Self::DEADLINE }
    }

    /// Starts the thread that talks to it. The coordinator need not be there yet: calls say so.
    ///
    /// # Errors
    /// A file cannot be used, or the system has no thread.
    pub fn connect(&self) -> Result<Handle, RemoteError> {
        if let Some(address) = self.addresses.iter().find(|address| address.is_tls() && self.authority.is_none()) {
            return Err(RemoteError::NoAuthority(address.clone()));
        }
        if self.addresses.is_empty() {
            return Err(RemoteError::NoAddress);
        }
        let token = self.token.as_deref().map(TokenFile::open).transpose()?;
        let tls = self.authority.as_deref().map(|authority| ClientTls::open(authority, self.certificate.as_ref()));
        let tls = tls.transpose()?.map(Arc::new);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (handle, CallQueue { calls, outages, .. }) = Handle::new(true);
        let ways = {
            // A channel keeps a task on the runtime that it is made on.
            let _on_it = runtime.enter();
            let way = |address: &Address| dial::asked_for_life(address, tls.clone(), self.deadline);
            self.addresses.iter().map(way).collect()
        };
        let line = Arc::new(Line::new(ways, token, self.deadline, outages));
        thread::Builder::new()
            .name("forebay-remote".to_owned())
            .spawn(move || runtime.block_on(forward(line, calls)))?;
        Ok(handle)
    }
}

/// Passes calls on until every handle is dropped. Then it still answers the calls under way, but ends those that follow a
/// ledger.
async fn forward(line: Arc<Line>, mut calls: mpsc::Receiver<Box<dyn Call>>) {
    let (mut under_way, mut lasting) = (JoinSet::new(), JoinSet::new());
    while let Some(call) = calls.recv().await {
        if call.is_lasting() {
            while lasting.try_join_next().is_some() {}
            // One too many is dropped, and has ended.
            if lasting.len() < LASTING {
                lasting.spawn(call.forward(Arc::clone(&line)));
            }
            continue;
        }
        while under_way.try_join_next().is_some() {}
        if under_way.len() >= AT_ONCE {
            under_way.join_next().await;
        }
        under_way.spawn(call.forward(Arc::clone(&line)));
    }
    while under_way.join_next().await.is_some() {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_25_https_without_an_authority_is_refused_before_anything_is_sent() {
        let remote = Remote::at(Address::list("http://a:1,https://b:2").unwrap());
        let refused = remote.connect().unwrap_err().to_string();
        assert!(refused.starts_with("https://b:2 needs the certificates"), "{refused}");
        assert!(matches!(Remote::at(Vec::new()).connect(), Err(RemoteError::NoAddress)));
    }
}
