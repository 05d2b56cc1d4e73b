//! The path at which trainers find their daemon, and the lock that keeps a second daemon away from it.

use std::{
    fs::{File, OpenOptions, Permissions},
    io::{self, Read, Write},
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    },
    path::{Path, PathBuf},
};

use rustix::{
    fs::{FlockOperation, Mode},
    io::Errno,
    net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType},
};

use crate::socket::{Socket, SocketError, check_kind};

/// Trainers that may wait to be accepted.
const BACKLOG: i32 = 128;

/// A listening socket. One with a path of its own removes it when it is dropped.
#[derive(Debug)]
pub struct Listener {
    fd: OwnedFd,
    place: Option<SocketFiles>,
}

/// Why a daemon cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Another daemon has the path.
    #[error("another daemon{} already listens at {path}; stop it, or give this one another socket", of_pid(*pid))]
    InUse {
        /// The socket's path.
        path: PathBuf,
        /// The other daemon's process, where its lock file says so.
        pid: Option<u32>,
    },
    /// The path exists, and is not a socket. A daemon does not remove it.
    #[error("{0} exists and is not a socket; move it away, or give the daemon another socket")]
    NotASocket(PathBuf),
    /// The kernel refused.
    #[error("cannot listen at {path}: {step} failed: {source}")]
    Io {
        /// The socket's path.
        path: PathBuf,
        /// What was tried.
        step: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// An inherited descriptor is something else.
    #[error(
        "the inherited descriptor is not a listening Unix socket of type SOCK_SEQPACKET (ListenSequentialPacket= in a systemd socket unit)"
    )]
    WrongKind,
}

/// What this process put into the file system.
#[derive(Debug)]
struct SocketFiles {
    path: PathBuf,
    lock_path: PathBuf,
    /// Locked for as long as it is open.
    _lock: File,
}

impl Listener {
    /// Listens at `path`, whose folder must exist. `mode` is 0o600, or 0o660 for a group. The file of a daemon that
    /// died is replaced; a living one keeps its path.
    pub fn bind(path: &Path, mode: u32) -> Result<Self, BindError> {
        let at = |step| move |source: io::Error| BindError::Io { path: path.to_owned(), step, source };
        let (lock, lock_path) = lock(path)?;
        match std::fs::symlink_metadata(path) {
            Ok(found) if !found.file_type().is_socket() => return Err(BindError::NotASocket(path.to_owned())),
            Ok(_) if let Some(in_use) = in_use(path) => {
                // Its lock file was removed, so this lock file is ours.
                let _removed = std::fs::remove_file(&lock_path);
                return Err(in_use);
            }
            Ok(_) => std::fs::remove_file(path).map_err(at("removing the socket of an earlier daemon"))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(at("looking at the path")(error)),
        }
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let fd = rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)
            .map_err(|error| at("socket")(error.into()))?;
        // The file gets its mode from the socket: at no moment can others connect.
        rustix::fs::fchmod(&fd, Mode::RUSR | Mode::WUSR).map_err(|error| at("fchmod")(error.into()))?;
        let address = SocketAddrUnix::new(path).map_err(|error| at("making an address of it")(error.into()))?;
        rustix::net::bind(&fd, &address).map_err(|error| at("bind")(error.into()))?;
        let place = SocketFiles { path: path.to_owned(), lock_path, _lock: lock };
        let listener = Self { fd, place: Some(place) };
        std::fs::set_permissions(path, Permissions::from_mode(mode)).map_err(at("chmod"))?;
        rustix::net::listen(&listener.fd, BACKLOG).map_err(|error| at("listen")(error.into()))?;
        Ok(listener)
    }

    /// Takes a listening socket from the service manager (see [`inherited`](crate::inherited)). Its path is the
    /// manager's: it outlives this process.
    pub fn from_fd(fd: OwnedFd) -> Result<Self, BindError> {
        check_kind(fd.as_fd()).map_err(|_| BindError::WrongKind)?;
        if !rustix::net::sockopt::socket_acceptconn(&fd).unwrap_or(false) {
            return Err(BindError::WrongKind);
        }
        let nonblocking = rustix::fs::fcntl_getfl(&fd).map(|flags| flags | rustix::fs::OFlags::NONBLOCK);
        nonblocking.and_then(|flags| rustix::fs::fcntl_setfl(&fd, flags)).map_err(|_| BindError::WrongKind)?;
        Ok(Self { fd, place: None })
    }

    /// The next trainer that waits, if any, without waiting.
    pub fn accept(&self) -> Result<Option<Socket>, SocketError> {
        match rustix::net::accept_with(&self.fd, SocketFlags::CLOEXEC) {
            Ok(fd) => Ok(Some(Socket::accepted(fd))),
            Err(Errno::AGAIN | Errno::INTR | Errno::CONNABORTED) => Ok(None),
            Err(error) => Err(SocketError::Io(error.into())),
        }
    }

    /// Where it listens, unless it was inherited.
    pub fn path(&self) -> Option<&Path> {
        self.place.as_ref().map(|place| place.path.as_path())
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Drop for SocketFiles {
    fn drop(&mut self) {
        // The lock is still held, so both files are ours. A failure at the process's end needs no report, since the next
        // daemon replaces files that are left.
        let _removed = std::fs::remove_file(&self.path);
        let _removed = std::fs::remove_file(&self.lock_path);
    }
}

/// The lock beside a socket, held until it is closed, with our pid in it.
fn lock(path: &Path) -> Result<(File, PathBuf), BindError> {
    let at = |step| move |source: io::Error| BindError::Io { path: path.to_owned(), step, source };
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let lock_path = PathBuf::from(name);
    loop {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(libc::O_NOFOLLOW);
        let mut file = options.open(&lock_path).map_err(at("opening its lock file"))?;
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Err(BindError::InUse { path: path.to_owned(), pid: pid_in(&mut file) }),
            Err(error) => return Err(at("locking its lock file")(error.into())),
        }
        // A daemon that ends removes its lock file: we may have locked one that is gone already.
        let opened = file.metadata().map_err(at("looking at its lock file"))?;
        match std::fs::symlink_metadata(&lock_path) {
            Ok(found) if (found.dev(), found.ino()) == (opened.dev(), opened.ino()) => {
                file.set_len(0).map_err(at("writing its lock file"))?;
                file.write_all(std::process::id().to_string().as_bytes()).map_err(at("writing its lock file"))?;
                return Ok((file, lock_path));
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(at("looking at its lock file")(error)),
        }
    }
}

/// The process that listens at a socket, if there is one.
fn in_use(path: &Path) -> Option<BindError> {
    let address = SocketAddrUnix::new(path).ok()?;
    // One whose queue is full would keep a connection waiting.
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let fd = rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).ok()?;
    let pid = match rustix::net::connect(&fd, &address) {
        Ok(()) => {
            let peer = rustix::net::sockopt::socket_peercred(&fd).ok();
            peer.map(|peer| peer.pid.as_raw_nonzero().get().cast_unsigned())
        }
        Err(Errno::AGAIN) => None,
        Err(_) => return None,
    };
    Some(BindError::InUse { path: path.to_owned(), pid })
}

fn pid_in(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(16).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

fn of_pid(pid: Option<u32>) -> String {
    pid.map(|pid| format!(" (process {pid})")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_daemon_on_a_socket_is_told_who_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("forebay.sock");
        let first = Listener::bind(&path, 0o600).unwrap();
        let refused = Listener::bind(&path, 0o600).unwrap_err();
        let message = refused.to_string();
        assert!(message.contains(&path.display().to_string()), "{message}");
        assert!(message.contains(&std::process::id().to_string()), "{message}");
        assert!(Socket::connect(&path).is_ok(), "the first daemon is not disturbed");
        drop(first);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
        Listener::bind(&path, 0o600).unwrap();
    }

    #[test]
    fn a_living_daemon_keeps_its_socket_though_its_lock_file_was_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("forebay.sock");
        let first = Listener::bind(&path, 0o600).unwrap();
        std::fs::remove_file(folder.path().join("forebay.sock.lock")).unwrap();
        let refused = Listener::bind(&path, 0o600).unwrap_err().to_string();
        assert!(refused.contains(&std::process::id().to_string()), "{refused}");
        assert!(Socket::connect(&path).is_ok(), "the first daemon is not disturbed");
        drop(first);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
    }

    #[test]
    fn socket_file_of_a_dead_daemon_is_replaced_but_no_other_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("forebay.sock");
        let dead = std::os::unix::net::UnixListener::bind(&path).unwrap();
        drop(dead);
        assert!(path.exists());
        let listener = Listener::bind(&path, 0o660).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o660);
        drop(listener);
        std::fs::write(&path, "precious").unwrap();
        assert!(matches!(Listener::bind(&path, 0o600), Err(BindError::NotASocket(_))));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
    }

    #[test]
    fn inherited_listener_leaves_the_path_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("forebay.sock");
        let manager = Listener::bind(&path, 0o600).unwrap();
        let inherited = Listener::from_fd(manager.fd.try_clone().unwrap()).unwrap();
        let _trainer = Socket::connect(&path).unwrap();
        assert!(inherited.accept().unwrap().is_some());
        drop(inherited);
        assert!(path.exists());
        let (one, _other) = Socket::pair().unwrap();
        assert!(matches!(Listener::from_fd(one.into_fd()), Err(BindError::WrongKind)));
    }
}
