//! Where a coordinator or a decoder listens: an address and a port, or a Unix socket.

use std::fmt;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use forebay_printable::printable;
use thiserror::Error;
use tokio::net::{TcpListener, UnixListener};

use crate::socket_name::SocketName;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// TCP. With port 0, the system chooses one.
    Network(SocketAddr),
    /// A Unix socket, for this user's processes only.
    Socket(PathBuf),
}

/// A text that is no place.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("give an address and a port, such as 127.0.0.1:7171, or a socket, such as unix:/run/forebay/coordinator.sock")]
pub struct NoPlace;

/// A place that cannot be used.
#[derive(Debug, Error)]
pub enum PlaceError {
    /// Other machines could use the ledgers.
    #[error(
        "this process does not listen on {0} without protection: other machines can reach that address. Give a token with \
         --token-file, or certificates with --tls-certificate, --tls-key and --tls-client-ca"
    )]
    Open(SocketAddr),
    /// Other machines could take shards and report them.
    #[error(
        "the coordinator does not serve clients of ElasticDL on {0}: other machines can reach that address, and these clients \
         prove nothing. If you trust the network, add --elasticdl-insecure"
    )]
    Unproved(Place),
    /// The system refuses it, or another process has it.
    #[error("this process cannot listen on {place}: {source}")]
    System {
        /// The place.
        place: Place,
        /// What the system said.
        source: io::Error,
    },
}

/// A bound socket. The name of a Unix socket is removed when it is dropped.
#[derive(Debug)]
pub(crate) enum Door {
    Network(TcpListener),
    Socket(UnixListener, SocketName),
}

impl Place {
    /// Checks whether it may be listened on. `proved` says that callers must prove who they are.
    ///
    /// # Errors
    /// Other machines reach it, and their callers would not have to prove anything (semantics rule 25).
    pub(crate) fn check(&self, proved: bool) -> Result<(), PlaceError> {
        match self {
            Self::Network(address) if !proved && !address.ip().is_loopback() => Err(PlaceError::Open(*address)),
            _ => Ok(()),
        }
    }

    /// Binds it. Needs a tokio runtime around it.
    pub(crate) async fn bind(&self) -> Result<Door, PlaceError> {
        let failed = |source| PlaceError::System { place: self.clone(), source };
        match self {
            Self::Network(address) => {
                let listener = TcpListener::bind(address).await.map_err(failed)?;
                tracing::info!(address = %listener.local_addr().map_err(failed)?, "listening");
                Ok(Door::Network(listener))
            }
            Self::Socket(path) => {
                make_room(path).map_err(failed)?;
                let listener = UnixListener::bind(path).map_err(failed)?;
                let name = SocketName(path.clone());
                fs::set_permissions(path, fs::Permissions::from_mode(0o600)).map_err(failed)?;
                tracing::info!(socket = %path.display(), "listening");
                Ok(Door::Socket(listener, name))
            }
        }
    }
}

/// Removes the socket of a dead coordinator, and nothing else.
fn make_room(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(found) if !found.file_type().is_socket() => Err(io::Error::other("something else is there; move it away")),
        Ok(_) if UnixStream::connect(path).is_ok() => Err(io::Error::other("another process answers there; stop it")),
        Ok(_) => fs::remove_file(path),
    }
}

impl FromStr for Place {
    type Err = NoPlace;

    fn from_str(text: &str) -> Result<Self, NoPlace> {
        match text.strip_prefix("unix:") {
            Some(path) if path.starts_with('/') && !path.contains('\0') => Ok(Self::Socket(path.into())),
            Some(_) => Err(NoPlace),
            None => text.parse().map(Self::Network).map_err(|_| NoPlace),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Network(address) => address.fmt(f),
            Self::Socket(path) => write!(f, "unix:{}", printable(path)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_25_an_address_that_other_machines_reach_needs_a_proof() {
        for text in ["127.0.0.1:7171", "[::1]:0", "unix:/run/a.sock"] {
            let place: Place = text.parse().unwrap();
            place.check(false).unwrap();
            assert_eq!(place.to_string(), text);
        }
        for text in ["0.0.0.0:7171", "[::]:7171", "10.0.0.1:7171"] {
            let place: Place = text.parse().unwrap();
            place.check(true).unwrap();
            let refused = place.check(false).unwrap_err().to_string();
            assert!(refused.contains("--token-file") && refused.contains("--tls-client-ca"), "{refused}");
        }
        for text in ["", "7171", "localhost:7171", "unix:", "unix:a.sock", "127.0.0.1"] {
            assert_eq!(text.parse::<Place>(), Err(NoPlace), "{text}");
        }
    }

    #[tokio::test]
    async fn the_socket_of_a_dead_coordinator_is_replaced_and_that_of_a_living_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("coordinator.sock");
        let place = Place::Socket(path.clone());
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        let door = place.bind().await.unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(place.bind().await.unwrap_err().to_string().contains("another process answers"));
        drop(door);
        assert!(!path.exists());
        fs::write(&path, "mine").unwrap();
        assert!(place.bind().await.unwrap_err().to_string().contains("something else is there"));
        assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    }
}
