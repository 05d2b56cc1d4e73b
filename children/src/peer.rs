//! A process that is no child of the daemon, and answers as one: it listens on a socket of its own.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;

use rustix::net::sockopt::socket_peercred;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::channel::Channel;

/// A connection to such a process. Dropping it closes the connection, and the process continues.
#[derive(Debug)]
pub struct PeerProcess {
    channel: Channel,
    pid: Pid,
}

impl PeerProcess {
    /// Connects to the process that listens there.
    ///
    /// # Errors
    /// None does, or it has ended, or the system lacks descriptors.
    pub fn connect(socket: &Path) -> io::Result<Self> {
        let stream = UnixStream::connect(socket)?;
        let pid = socket_peercred(&stream)?.pid;
        let process: OwnedFd = pidfd_open(pid, PidfdFlags::empty())?;
        Ok(Self { channel: Channel::new(stream, Arc::new(process))?, pid })
    }

    /// The socket to it.
    pub fn channel(&mut self) -> &mut Channel {
        &mut self.channel
    }

    /// Its process id.
    pub fn pid(&self) -> Pid {
        self.pid
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Read as _;
    use std::os::unix::net::UnixListener;
    use std::time::Duration;

    use super::*;
    use crate::{Patience, Silence};

    #[test]
    fn a_process_that_listens_is_asked_as_a_child_is_and_one_that_hangs_up_has_ended() {
        let folder = std::env::temp_dir().join(format!("forebay-peer-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("steps");
        PeerProcess::connect(&path).unwrap_err();
        let listener = UnixListener::bind(&path).unwrap();
        let mut peer = PeerProcess::connect(&path).unwrap();
        let (mut theirs, _) = listener.accept().unwrap();
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(peer.pid(), rustix::process::getpid());
        let soon = Patience::lasting(Duration::from_secs(60));
        peer.channel().send(b"question\n", &soon).unwrap();
        let mut asked = [0; 9];
        theirs.read_exact(&mut asked).unwrap();
        assert_eq!(&asked, b"question\n");
        drop(theirs);
        assert_eq!(peer.channel().head(&soon), Err(Silence::Ended));
    }
}
