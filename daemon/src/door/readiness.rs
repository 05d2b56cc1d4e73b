//! Waits until a socket can be read. The socket itself is passed on to the ring's thread.

use std::os::fd::AsFd;

use tokio::io::Interest;
use tokio::net::UnixStream;

/// Waits until something can be received or accepted at a socket. The socket itself is then passed on to the ring's thread.
///
/// tokio has no type for packet sockets, and a watch over any descriptor needs unsafe code. A stream socket's type
/// does as well: nothing is read or written through it.
pub(super) struct Readiness(UnixStream);

impl Readiness {
    pub(super) fn of(socket: impl AsFd) -> std::io::Result<Self> {
        let duplicate = std::os::unix::net::UnixStream::from(socket.as_fd().try_clone_to_owned()?);
        duplicate.set_nonblocking(true)?;
        UnixStream::from_std(duplicate).map(Self)
    }

    /// Completes when the other end has hung up, unless it has sent something before.
    pub(super) async fn hung_up(&self) {
        match self.0.ready(Interest::READABLE).await {
            Ok(ready) if !ready.is_read_closed() => std::future::pending().await,
            Ok(_) | Err(_) => {}
        }
    }

    /// Tries until there is something. `attempt` answers nothing when it would have to wait.
    pub(super) async fn until<T>(&self, mut attempt: impl FnMut() -> std::io::Result<Option<T>>) -> std::io::Result<T> {
        let nothing = || std::io::Error::from(std::io::ErrorKind::WouldBlock);
        loop {
            // Inside of `try_io`, so that what comes between the attempt and the wait is not missed.
            match self.0.try_io(Interest::READABLE, || attempt()?.ok_or_else(nothing)) {
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => self.0.readable().await?,
                done => return done,
            }
        }
    }
}
