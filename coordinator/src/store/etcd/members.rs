//! The members of an etcd cluster: one of them is asked, and the next one if it does not answer.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;
use tonic::{Code, Status};

use super::EtcdSettings;
use super::way::Way;
use forebay_ledger_client::Address;
use forebay_ledger_client::ClientTls;
use forebay_ledger_client::channel;
use forebay_ledger_client::{SecretError, check_closed, read};

/// See the module. Each has connections of its own.
pub(super) struct Members {
    addresses: Vec<Address>,
    tls: Option<Arc<ClientTls>>,
    /// A name, and the file of the password.
    user: Option<(String, PathBuf)>,
    deadline: Duration,
    /// The one that is asked now.
    current: usize,
    way: Option<Way>,
}

/// A call that gave nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CallFault {
    /// etcd has refused it: it changed nothing.
    Refused(String),
    /// It may have changed something.
    Lost(String),
}

impl CallFault {
    pub(super) fn words(self) -> String {
        let (Self::Refused(words) | Self::Lost(words)) = self;
        words
    }
}

impl Members {
    /// Nothing is sent yet.
    ///
    /// # Errors
    /// A file of the settings cannot be used.
    pub(super) fn new(settings: &EtcdSettings) -> Result<Self, SecretError> {
        let tls = settings.authority.as_deref();
        let tls = tls.map(|authority| ClientTls::open(authority, settings.certificate.as_ref())).transpose()?;
        if let Some((_, file)) = &settings.user {
            password(file)?;
        }
        Ok(Self {
            addresses: settings.endpoints.clone(),
            tls: tls.map(Arc::new),
            user: settings.user.clone(),
            deadline: settings.deadline,
            current: 0,
            way: None,
        })
    }

    /// Makes a call, at one member. If it does not answer, the next call goes to the next one. If the user's token has expired,
    /// the call has changed nothing, and is made again with a new one.
    pub(super) async fn call<T>(&mut self, work: impl AsyncFn(&mut Way) -> Result<T, Status>) -> Result<T, CallFault> {
        let deadline = self.deadline;
        let asked = timeout(deadline, async {
            let mut answer = work(self.way().await?).await;
            if answer.as_ref().is_err_and(|status| status.code() == Code::Unauthenticated) {
                self.way = None;
                answer = work(self.way().await?).await;
            }
            answer.map_err(|status| fault(&status))
        });
        let answer = asked
            .await
            .unwrap_or_else(|_elapsed| Err(CallFault::Lost(format!("no answer within {} s", deadline.as_secs_f32()))));
        answer.map_err(|fault| {
            let address = &self.addresses[self.current];
            // Its connection may be dead without an end.
            self.way = None;
            match fault {
                CallFault::Refused(why) => CallFault::Refused(format!("etcd at {address}: {why}")),
                CallFault::Lost(why) => {
                    let why = format!("etcd at {address}: {why}");
                    self.current = (self.current + 1) % self.addresses.len();
                    CallFault::Lost(why)
                }
            }
        })
    }

    async fn way(&mut self) -> Result<&mut Way, CallFault> {
        if self.way.is_none() {
            let mut way = Way::new(channel(&self.addresses[self.current], self.tls.clone(), self.deadline));
            if let Some((name, file)) = &self.user {
                // It may have been replaced.
                let secret = password(file).map_err(|error| CallFault::Refused(error.to_string()))?;
                way.authenticate(name, secret).await.map_err(|status| fault(&status))?;
            }
            self.way = Some(way);
        }
        Ok(self.way.as_mut().expect("it has just been made"))
    }
}

/// The first line of a file that other users cannot read.
fn password(file: &Path) -> Result<String, SecretError> {
    check_closed(file)?;
    let text = String::from_utf8(read(file)?).map_err(|_| SecretError::new(file, "it is not UTF-8"))?;
    match text.lines().next() {
        Some(line) if !line.is_empty() => Ok(line.to_owned()),
        _ => Err(SecretError::new(file, "its first line must be the password")),
    }
}

fn fault(status: &Status) -> CallFault {
    let why = innermost(status);
    match status.code() {
        Code::InvalidArgument
        | Code::NotFound
        | Code::AlreadyExists
        | Code::PermissionDenied
        | Code::ResourceExhausted
        | Code::FailedPrecondition
        | Code::OutOfRange
        | Code::Unimplemented
        | Code::Unauthenticated => CallFault::Refused(why),
        _ => CallFault::Lost(why),
    }
}

/// The system's text if a connection failed. The errors around it say only that a transport failed.
fn innermost(status: &Status) -> String {
    let mut cause = std::error::Error::source(status);
    let mut words = status.message().to_owned();
    while let Some(error) = cause {
        words = error.to_string();
        cause = error.source();
    }
    words
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn only_what_etcd_has_refused_is_known_to_have_changed_nothing() {
        let known = [
            Status::resource_exhausted("full"),
            Status::invalid_argument("too large"),
            Status::unauthenticated("no token"),
        ];
        assert!(known.iter().all(|status| matches!(fault(status), CallFault::Refused(_))));
        let unknown = [Status::unavailable("leader changed"), Status::deadline_exceeded("late"), Status::unknown("?")];
        assert!(unknown.iter().all(|status| matches!(fault(status), CallFault::Lost(_))));
    }

    #[test]
    fn rule_25_a_password_is_the_first_line_of_a_file_that_others_cannot_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("password");
        let with = |text: &str, mode| {
            fs::write(&file, text).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            password(&file).map_err(|error| error.to_string())
        };
        assert_eq!(with("secret word\n", 0o600), Ok("secret word".to_owned()));
        assert!(with("secret word\n", 0o644).unwrap_err().contains("chmod o="));
        assert!(with("\n", 0o600).unwrap_err().contains("first line"));
    }
}
