//! Where trainers come in: a listening socket, or the socket of a private daemon's parent. Whoever connects has a
//! little time to say what it wants; nothing is believed before.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use forebay_ring::{Listener, Message, PACKET_LEN, Received, Socket, text, text_code};
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::sync::Semaphore;

use crate::daemon::{Daemon, Request};

/// How long a connection may take to ask for a stream.
const PATIENCE: Duration = Duration::from_secs(10);
/// Connections that have not asked yet; more wait in the kernel's queue.
const ASKING: usize = 64;
/// How long accepting rests after it failed.
const PAUSE: Duration = Duration::from_millis(100);

/// Lets trainers in at a listening socket, until it is cancelled.
///
/// # Errors
/// The socket is broken.
pub async fn listen(daemon: Arc<Daemon>, listener: Listener) -> std::io::Result<()> {
    let ready = Readiness::of(&listener)?;
    let asking = Arc::new(Semaphore::new(ASKING));
    loop {
        let Ok(permit) = Arc::clone(&asking).acquire_owned().await else { return Ok(()) };
        let socket = match ready.until(|| listener.accept().map_err(std::io::Error::other)).await {
            Ok(socket) => socket,
            Err(error) => {
                // Out of descriptors, most likely: some will be closed.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let daemon = Arc::clone(&daemon);
        tokio::spawn(async move {
            admit(&daemon, socket).await;
            drop(permit);
        });
    }
}

/// Lets the parent's Loaders in, until the parent hangs up.
///
/// # Errors
/// The socket is broken.
pub async fn serve_parent(daemon: Arc<Daemon>, parent: Socket) -> std::io::Result<()> {
    let ready = Readiness::of(&parent)?;
    loop {
        let Some((packet, fds)) = next_packet(&parent, &ready).await? else { return Ok(()) };
        match Message::parse(&packet, fds) {
            Ok(Message::Connect { socket, ledgers }) => match Socket::from_fd(socket) {
                Ok(socket) => {
                    if let Err(error) = daemon.keep_ledgers_in(ledgers).await {
                        tracing::error!(%error, "the trainer's ledgers cannot be kept");
                    }
                    let daemon = Arc::clone(&daemon);
                    tokio::spawn(async move { admit(&daemon, socket).await });
                }
                Err(error) => tracing::warn!(%error, "the parent passed something that is no socket"),
            },
            Ok(_) => tracing::warn!("the parent sent a message that is not for its socket"),
            Err(error) => tracing::warn!(%error, "the parent sent something else"),
        }
    }
}

async fn admit(daemon: &Arc<Daemon>, socket: Socket) {
    let asked = async {
        let ready = Readiness::of(&socket)?;
        next_packet(&socket, &ready).await
    };
    let (packet, fds) = match tokio::time::timeout(PATIENCE, asked).await {
        Ok(Ok(Some(asked))) => asked,
        Ok(Ok(None)) => return,
        Ok(Err(error)) => return tracing::info!(%error, "a connection broke before it asked for a stream"),
        Err(_elapsed) => return tracing::info!("a connection did not ask for a stream in time"),
    };
    let refusal = match Message::parse(&packet, fds) {
        Ok(Message::Attach { head, settings, files, resume }) => {
            daemon.attach(socket, Request { head, settings, files, resume }).await;
            return;
        }
        Ok(_) => "the first message must ask for a stream".to_owned(),
        Err(error) => error.to_string(),
    };
    // It may be gone already.
    let _sent = socket.send(&text(forebay_ring::Kind::Refused, text_code::PROTOCOL, &refusal), &[]);
}

/// The next packet with its descriptors; nothing when the peer has hung up.
async fn next_packet(socket: &Socket, ready: &Readiness) -> std::io::Result<Option<(Vec<u8>, Vec<OwnedFd>)>> {
    let mut buffer = vec![0; PACKET_LEN];
    let received = ready.until(|| match socket.recv(&mut buffer).map_err(std::io::Error::other)? {
        Received::WouldBlock => Ok(None),
        received => Ok(Some(received)),
    });
    match received.await? {
        Received::Packet { len, fds } => {
            buffer.truncate(len);
            Ok(Some((buffer, fds)))
        }
        Received::Closed | Received::WouldBlock => Ok(None),
    }
}

/// Waits until something can be received, or accepted, at a socket that itself goes on to the ring's thread.
///
/// tokio has no type for packet sockets, and a watch over any descriptor needs unsafe code. A stream socket's type
/// does as well: nothing is read or written through it.
struct Readiness(UnixStream);

impl Readiness {
    fn of(socket: impl AsFd) -> std::io::Result<Self> {
        let duplicate = std::os::unix::net::UnixStream::from(socket.as_fd().try_clone_to_owned()?);
        duplicate.set_nonblocking(true)?;
        UnixStream::from_std(duplicate).map(Self)
    }

    /// Tries until there is something. `attempt` answers nothing when it would have to wait.
    async fn until<T>(&self, mut attempt: impl FnMut() -> std::io::Result<Option<T>>) -> std::io::Result<T> {
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
