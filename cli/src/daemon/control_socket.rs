//! A control socket, and who may listen at it.

use std::io;
use std::path::{Path, PathBuf};

use rustix::process::geteuid;
use tokio::net::UnixStream;

/// Where a daemon is asked.
#[derive(Clone, Debug)]
pub(super) struct ControlSocket {
    path: PathBuf,
    /// A private daemon is of the user who asks. A service may be of another one.
    is_private: bool,
}

impl ControlSocket {
    pub(super) fn of_service(path: PathBuf) -> Self {
        Self { path, is_private: false }
    }

    pub(super) fn of_private(path: &Path) -> Self {
        Self { path: path.to_owned(), is_private: true }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// # Errors
    /// No process listens, or one of another user does where a private daemon of this user was.
    pub(super) async fn connect(&self) -> io::Result<UnixStream> {
        let stream = UnixStream::connect(&self.path).await?;
        let user = stream.peer_cred()?.uid();
        if self.is_private && user != geteuid().as_raw() {
            return Err(io::Error::other(format!("user {user} listens there, who does not run your private daemons")));
        }
        Ok(stream)
    }
}
