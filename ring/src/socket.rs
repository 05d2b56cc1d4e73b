//! One end of the connection between daemon and trainer: packets that arrive whole or not at all, with descriptors.
//!
//! Nothing here blocks but [`Socket::wait`]. The kernel keeps packets that were sent before the sender died, and
//! then reports the end: the last receipt always comes before the hang-up.

use std::{
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::Path,
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec},
    io::Errno,
    net::{
        AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
        SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType,
    },
};

/// Most descriptors that a packet may carry: settings, files, resume list and columns of an ATTACH, and one to spare, so
/// that a fifth is seen and refused instead of being lost.
const MAX_FDS: usize = 5;

/// A connected socket. It may be shared between threads: each packet is sent and received whole.
#[derive(Debug)]
pub struct Socket {
    fd: OwnedFd,
}

/// What became of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a packet that would block was not sent"]
pub enum Sent {
    /// It is in the peer's queue.
    Done,
    /// The peer's queue is full; nothing was sent.
    WouldBlock,
    /// The peer is gone.
    Closed,
}

/// What came.
#[derive(Debug)]
pub enum Received {
    /// A packet of `len` bytes and its descriptors, which close when they are dropped.
    Packet {
        /// Bytes of the buffer that are filled.
        len: usize,
        /// In the order in which they were sent, closed on exec.
        fds: Vec<OwnedFd>,
    },
    /// Nothing is there now.
    WouldBlock,
    /// The peer has hung up, and everything that it had sent was received.
    Closed,
}

/// What a socket is ready for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Events {
    /// A packet, or the end, can be received.
    pub readable: bool,
    /// The peer has hung up; packets may still be queued.
    pub hung_up: bool,
}

/// What went wrong with a socket.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// The packet was longer than the buffer: the peer does not keep to the protocol.
    #[error("a packet longer than {0} bytes came; no message is that long")]
    PacketCut(usize),
    /// The kernel withheld descriptors.
    #[error(
        "descriptors of a packet were lost (MSG_CTRUNC): more than {MAX_FDS} were sent, this process may open no more files (ulimit -n), or a security module (SELinux) refused them"
    )]
    DescriptorsLost,
    /// It is no socket of this kind.
    #[error("the descriptor is not a Unix socket of type SOCK_SEQPACKET")]
    WrongKind,
    /// The kernel refused.
    #[error("the socket failed: {0}")]
    Io(#[from] io::Error),
}

impl Socket {
    /// Two connected ends.
    pub fn pair() -> Result<(Self, Self), SocketError> {
        let flags = SocketFlags::CLOEXEC;
        let (one, other) = rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
        Ok((Self { fd: one }, Self { fd: other }))
    }

    /// Connects to the [`Listener`](crate::Listener) at `path`.
    pub fn connect(path: &Path) -> Result<Self, SocketError> {
        let address = SocketAddrUnix::new(path)?;
        let fd = rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        rustix::net::connect(&fd, &address)?;
        Ok(Self { fd })
    }

    /// Takes a descriptor that came with a packet or from a parent (see [`inherited`](crate::inherited)).
    pub fn from_fd(fd: OwnedFd) -> Result<Self, SocketError> {
        check_kind(fd.as_fd())?;
        if rustix::net::sockopt::socket_acceptconn(&fd)? {
            return Err(SocketError::WrongKind);
        }
        Ok(Self { fd })
    }

    /// Sends one packet, or nothing, without waiting. The descriptors, at most five, are duplicated
    /// into it.
    pub fn send(&self, packet: &[u8], fds: &[BorrowedFd<'_>]) -> Result<Sent, SocketError> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !fds.is_empty() && !control.push(SendAncillaryMessage::ScmRights(fds)) {
            return Err(SocketError::Io(io::ErrorKind::InvalidInput.into()));
        }
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        match rustix::net::sendmsg(&self.fd, &[IoSlice::new(packet)], &mut control, flags) {
            Ok(_) => Ok(Sent::Done),
            Err(Errno::AGAIN | Errno::NOBUFS | Errno::INTR) => Ok(Sent::WouldBlock),
            Err(Errno::PIPE | Errno::CONNRESET | Errno::NOTCONN) => Ok(Sent::Closed),
            Err(error) => Err(SocketError::Io(error.into())),
        }
    }

    /// Takes one packet, if there is one, without waiting. A buffer of [`PACKET_LEN`](crate::PACKET_LEN) bytes holds
    /// any message.
    ///
    /// What the peer sent before it hung up is still received.
    pub fn recv(&self, buffer: &mut [u8]) -> Result<Received, SocketError> {
        let room = buffer.len();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
        let received = rustix::net::recvmsg(&self.fd, &mut [IoSliceMut::new(buffer)], &mut control, flags);
        let message = match received {
            Ok(message) => message,
            // The kernel reports this once if the peer hung up before it had read everything. The peer's last messages come
            // after it.
            Err(Errno::CONNRESET) => return self.recv(buffer),
            Err(Errno::AGAIN | Errno::INTR) => return Ok(Received::WouldBlock),
            Err(Errno::NOTCONN) => return Ok(Received::Closed),
            Err(error) => return Err(SocketError::Io(error.into())),
        };
        // Drained before the flags are looked at: what came is closed, whatever else is wrong.
        let mut fds = Vec::new();
        for part in control.drain() {
            if let RecvAncillaryMessage::ScmRights(rights) = part {
                fds.extend(rights);
            }
        }
        if message.flags.contains(ReturnFlags::TRUNC) {
            return Err(SocketError::PacketCut(room));
        }
        if message.flags.contains(ReturnFlags::CTRUNC) {
            return Err(SocketError::DescriptorsLost);
        }
        // No message is empty, so a length of 0 is the end.
        if message.bytes == 0 { Ok(Received::Closed) } else { Ok(Received::Packet { len: message.bytes, fds }) }
    }

    /// Waits until something can be received, the peer hangs up, the time is over or a signal comes (then neither
    /// is set). `None` waits without end, zero looks without waiting.
    pub fn wait(&self, timeout: Option<Duration>) -> io::Result<Events> {
        self.wait_beside(None, timeout)
    }

    /// As [`wait`](Self::wait), but it also ends when `other` can be read.
    pub fn wait_beside(&self, other: Option<BorrowedFd<'_>>, timeout: Option<Duration>) -> io::Result<Events> {
        let own = PollFd::new(&self.fd, PollFlags::IN | PollFlags::RDHUP);
        let mut polled: Vec<PollFd<'_>> =
            [own].into_iter().chain(other.map(|other| PollFd::from_borrowed_fd(other, PollFlags::IN))).collect();
        let timeout = timeout.map(|time| Timespec::try_from(time).unwrap_or(Timespec { tv_sec: i64::MAX, tv_nsec: 0 }));
        match rustix::event::poll(&mut polled, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let seen = polled[0].revents();
        let hung_up = seen.intersects(PollFlags::HUP | PollFlags::RDHUP | PollFlags::ERR);
        Ok(Events { readable: seen.contains(PollFlags::IN) || hung_up, hung_up })
    }

    /// Ends the connection for every process that shares it, forked children included.
    pub fn shut_down(&self) {
        // The one way to fail is that the peer was first.
        let _ended = rustix::net::shutdown(&self.fd, rustix::net::Shutdown::Both);
    }

    /// The descriptor, to keep.
    pub fn into_fd(self) -> OwnedFd {
        self.fd
    }

    pub(crate) fn accepted(fd: OwnedFd) -> Self {
        Self { fd }
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl From<Errno> for SocketError {
    fn from(error: Errno) -> Self {
        Self::Io(error.into())
    }
}

/// Refuses what is not a Unix socket of packets.
pub(crate) fn check_kind(fd: BorrowedFd<'_>) -> Result<(), SocketError> {
    let kind = rustix::net::sockopt::socket_type(fd).map_err(|_| SocketError::WrongKind)?;
    let domain = rustix::net::sockopt::socket_domain(fd)?;
    if kind != SocketType::SEQPACKET || domain != AddressFamily::UNIX {
        return Err(SocketError::WrongKind);
    }
    Ok(())
}
