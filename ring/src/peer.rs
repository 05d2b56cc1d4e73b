//! The process at the other end of a socket, with a handle that can never refer to another process.
#![allow(unsafe_code, reason = "SO_PEERPIDFD, SO_PEERGROUPS and a peer of pid 0 are not in rustix")]

use std::{
    fs, io,
    os::{
        fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd},
        unix::fs::MetadataExt,
    },
};

use rustix::{
    event::{PollFd, PollFlags, Timespec},
    process::{Pid, PidfdFlags},
};

use crate::proc_files::proc_error;
use crate::socket::Socket;

/// The process that connected a socket (or made the pair).
#[derive(Debug)]
pub struct Peer {
    pid: u32,
    uid: u32,
    gid: u32,
    groups: Vec<u32>,
    /// What it calls itself.
    named: u32,
    pidfd: OwnedFd,
}

/// Why a peer is refused: without a verified handle its death could not be told from its life, and its slots would
/// be refilled under its eyes.
#[derive(Debug, thiserror::Error)]
pub enum PeerError {
    /// The process is of another PID namespace.
    #[error(
        "the process at the other end cannot be seen from here (pid 0): daemon and trainer must share a PID namespace (in Kubernetes shareProcessNamespace or hostPID), or run Linux 6.5 or later"
    )]
    Invisible,
    /// It is gone.
    #[error("process {pid}, which opened the connection, has ended")]
    Gone {
        /// Its pid.
        pid: u32,
    },
    /// The pid means another process by now.
    #[error(
        "process {pid} cannot be verified: it belongs to user {found}, the connection to user {uid}; Linux 6.5 or later verifies it without a doubt"
    )]
    Changed {
        /// The pid.
        pid: u32,
        /// User of the connection.
        uid: u32,
        /// User of the process.
        found: u32,
    },
    /// The kernel refused.
    #[error("cannot find out who is at the other end of the connection: {step} failed: {source}")]
    Io {
        /// What was tried.
        step: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
}

impl Peer {
    /// Asks the kernel. Linux 6.5 and later give the handle themselves; before, it is opened by pid and the process
    /// compared with the connection's user.
    pub fn of(socket: &Socket) -> Result<Self, PeerError> {
        let (pid, uid, gid) = credentials(socket.as_fd())?;
        let pidfd = match peer_pidfd(socket.as_fd()) {
            Ok(pidfd) => pidfd,
            Err(error) if error.raw_os_error() == Some(libc::ENOPROTOOPT) => opened_pidfd(pid, uid)?,
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) && pid == 0 => return Err(PeerError::Invisible),
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => return Err(PeerError::Gone { pid }),
            Err(source) => return Err(PeerError::Io { step: "SO_PEERPIDFD", source }),
        };
        let groups = peer_groups(socket.as_fd()).map_err(|source| PeerError::Io { step: "SO_PEERGROUPS", source })?;
        let peer = Self { pid, uid, gid, groups, named: 0, pidfd };
        if peer.exited() { Err(PeerError::Gone { pid }) } else { Ok(peer) }
    }

    /// Process number, as the kernel gives it; 0 when it is of another PID namespace.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The same peer, which says that its process has this number in its own PID namespace.
    #[must_use]
    pub fn named(self, pid: u32) -> Self {
        Self { named: pid, ..self }
    }

    /// Process number, for people: its own, if it is of another PID namespace. It names no process here then.
    pub fn shown_pid(&self) -> u32 {
        if self.pid == 0 { self.named } else { self.pid }
    }

    /// User.
    pub fn uid(&self) -> u32 {
        self.uid
    }

    /// Primary group.
    pub fn gid(&self) -> u32 {
        self.gid
    }

    /// Its other groups, as they were when it opened the connection. The kernel knows them, whatever `/etc/group` lists: a
    /// container's or a login's may come from elsewhere.
    pub fn groups(&self) -> &[u32] {
        &self.groups
    }

    /// Becomes readable when the process has ended: all its threads and mappings are gone by then.
    pub fn pidfd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }

    /// True when the process has ended, even if another process still has its socket open.
    pub fn exited(&self) -> bool {
        let mut polled = [PollFd::new(&self.pidfd, PollFlags::IN)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        // A poll that fails says nothing; the process counts as alive and its slots stay as they are.
        matches!(rustix::event::poll(&mut polled, Some(&now)), Ok(ready) if ready > 0)
    }
}

fn credentials(socket: BorrowedFd<'_>) -> Result<(u32, u32, u32), PeerError> {
    let none = libc::ucred { pid: 0, uid: u32::MAX, gid: u32::MAX };
    let found = option(socket, libc::SO_PEERCRED, none);
    let found = found.map_err(|source| PeerError::Io { step: "SO_PEERCRED", source })?;
    Ok((u32::try_from(found.pid).unwrap_or(0), found.uid, found.gid))
}

fn peer_pidfd(socket: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let number = option(socket, libc::SO_PEERPIDFD, -1)?;
    if number < 0 {
        return Err(io::Error::from_raw_os_error(libc::ESRCH));
    }
    // SAFETY: the kernel has just made this descriptor for us, and nothing else has its number.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// The supplementary groups of the peer.
fn peer_groups(socket: BorrowedFd<'_>) -> io::Result<Vec<u32>> {
    // Most processes have a few. If there are more, the kernel says how many bytes they take, and is asked again.
    let mut groups = vec![0_u32; 64];
    loop {
        let mut len = libc::socklen_t::try_from(size_of_val(&*groups)).map_err(io::Error::other)?;
        // SAFETY: groups has len bytes to be written, the option gives numbers of four bytes, and every bit pattern is one.
        let asked = unsafe {
            libc::getsockopt(
                socket.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_PEERGROUPS,
                groups.as_mut_ptr().cast::<libc::c_void>(),
                &raw mut len,
            )
        };
        let count = len as usize / size_of::<u32>();
        if asked == 0 {
            groups.truncate(count);
            return Ok(groups);
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::ERANGE) if count > groups.len() => groups.resize(count, 0),
            _ => return Err(error),
        }
    }
}

/// The process by its number, if it still belongs to the connection's user.
fn opened_pidfd(pid: u32, uid: u32) -> Result<OwnedFd, PeerError> {
    let number = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(PeerError::Invisible)?;
    let pidfd = match rustix::process::pidfd_open(number, PidfdFlags::empty()) {
        Ok(pidfd) => pidfd,
        Err(rustix::io::Errno::SRCH) => return Err(PeerError::Gone { pid }),
        Err(error) => return Err(PeerError::Io { step: "pidfd_open", source: error.into() }),
    };
    // Looked at after the handle is open: if the process is the same user's now, the handle is on it.
    let found = match fs::metadata(format!("/proc/{pid}")) {
        Ok(folder) => folder.uid(),
        // Without the proc file system, nothing is known of the process.
        Err(error) if error.kind() == io::ErrorKind::NotFound && fs::exists("/proc/self").unwrap_or(true) => {
            return Err(PeerError::Gone { pid });
        }
        Err(error) => {
            let source = proc_error(format!("/proc/{pid}"), &error);
            return Err(PeerError::Io { step: "looking at its /proc folder", source });
        }
    };
    if found == uid { Ok(pidfd) } else { Err(PeerError::Changed { pid, uid, found }) }
}

/// An option of a socket that is one plain struct.
fn option<T: Copy>(socket: BorrowedFd<'_>, name: libc::c_int, initial: T) -> io::Result<T> {
    let mut value = initial;
    let mut len = libc::socklen_t::try_from(size_of::<T>()).map_err(io::Error::other)?;
    // SAFETY: value has len bytes to be written, both options asked for here give plain integers, and for those
    // every bit pattern is a value.
    let asked = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            name,
            (&raw mut value).cast::<libc::c_void>(),
            &raw mut len,
        )
    };
    if asked == 0 { Ok(value) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_of_this_process_names_this_process() {
        let (one, _other) = Socket::pair().unwrap();
        let peer = Peer::of(&one).unwrap();
        assert_eq!(peer.pid(), std::process::id());
        let peer = peer.named(7);
        assert_eq!(peer.shown_pid(), std::process::id(), "the kernel's number is the one to believe");
        let foreign = Peer { pid: 0, ..Peer::of(&one).unwrap() }.named(7);
        assert_eq!((foreign.pid(), foreign.shown_pid()), (0, 7));
        assert_eq!(peer.uid(), rustix::process::getuid().as_raw());
        assert_eq!(peer.gid(), rustix::process::getgid().as_raw());
        assert!(!peer.exited());
    }

    #[test]
    fn rule_25_the_groups_of_a_peer_are_those_that_its_process_has_however_many_they_are() {
        if !rustix::process::geteuid().is_root() {
            return println!("skipped: only root may give itself groups");
        }
        // A namespace of users without a map of groups keeps even its root from that. Tests for ARM run in one.
        if fs::read_to_string("/proc/self/setgroups").is_ok_and(|setting| setting.trim() == "deny") {
            return println!("skipped: this namespace of users allows nobody to set groups");
        }
        for count in [0_u32, 1, 64, 65, 300] {
            // Groups belong to a thread, so no other test sees these.
            let thread = std::thread::spawn(move || {
                let own: Vec<_> = (0..count).map(|group| rustix::process::Gid::from_raw(900_000 + group)).collect();
                rustix::thread::set_thread_groups(&own).unwrap();
                let (one, _other) = Socket::pair().unwrap();
                Peer::of(&one).unwrap().groups().to_vec()
            });
            assert_eq!(thread.join().unwrap(), (0..count).map(|group| 900_000 + group).collect::<Vec<_>>());
        }
    }

    #[test]
    fn rule_25_without_a_verified_handle_the_peer_is_refused() {
        assert!(matches!(opened_pidfd(0, 0), Err(PeerError::Invisible)));
        let own = std::process::id();
        let uid = rustix::process::getuid().as_raw();
        assert!(opened_pidfd(own, uid).is_ok());
        let other = opened_pidfd(own, uid + 1).unwrap_err();
        assert!(matches!(other, PeerError::Changed { .. }));
        assert!(other.to_string().contains("6.5"), "says what to do: {other}");
        assert!(matches!(opened_pidfd(0x3fff_ffff, uid), Err(PeerError::Gone { .. })));
    }
}
