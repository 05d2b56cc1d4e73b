//! Where trainers come in: a listening socket, or the socket of a private daemon's parent. Whoever connects has a
//! little time to say what it wants; nothing is believed before.

mod askers;

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use askers::Askers;
use forebay_ring::{
    Kind, Listener, Message, PACKET_LEN, PROTOCOL, PacketError, Peer, Received, Socket, text, text_code,
};
use tokio::io::Interest;
use tokio::net::UnixStream;

use crate::daemon::{Daemon, Request};

/// How long a connection may take to ask for a stream.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long accepting rests after it failed.
const PAUSE: Duration = Duration::from_millis(100);

/// Lets trainers in at a listening socket, until it is cancelled.
///
/// # Errors
/// The socket is broken.
pub async fn listen(daemon: Arc<Daemon>, listener: Listener) -> std::io::Result<()> {
    let ready = Readiness::of(&listener)?;
    let askers = Askers::default();
    loop {
        let socket = match ready.until(|| listener.accept().map_err(std::io::Error::other)).await {
            Ok(socket) => socket,
            Err(error) => {
                // Out of descriptors, most likely: some will be closed.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let Some(peer) = peer(&socket) else { continue };
        let (daemon, mut place) = (Arc::clone(&daemon), askers.enter(peer.uid()));
        tokio::spawn(async move {
            let asked = tokio::select! {
                biased;
                asked = request(&socket) => asked,
                () = place.lost() => {
                    let reason = "too many connections of this user have not asked for a stream";
                    return refuse(&socket, text_code::BUSY, reason);
                }
            };
            // Opening a stream may take long: others may ask meanwhile.
            drop(place);
            if let Some(asked) = asked {
                daemon.attach(socket, peer, asked).await;
            }
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
                    tokio::spawn(async move {
                        if let (Some(peer), Some(asked)) = (peer(&socket), request(&socket).await) {
                            daemon.attach(socket, peer, asked).await;
                        }
                    });
                }
                Err(error) => tracing::warn!(%error, "the parent passed something that is no socket"),
            },
            Ok(_) => tracing::warn!("the parent sent a message that is not for its socket"),
            Err(error) => tracing::warn!(%error, "the parent sent something else"),
        }
    }
}

/// Who it is; nothing for one that was refused.
fn peer(socket: &Socket) -> Option<Peer> {
    Peer::of(socket).inspect_err(|error| refuse(socket, text_code::PERMISSION, &error.to_string())).ok()
}

/// What a connection asks for; nothing for one that has gone, that took too long, or that was refused.
async fn request(socket: &Socket) -> Option<Request> {
    let asked = async {
        let ready = Readiness::of(socket)?;
        next_packet(socket, &ready).await
    };
    let (packet, fds) = match tokio::time::timeout(PATIENCE, asked).await {
        Ok(Ok(asked)) => asked?,
        Ok(Err(error)) => {
            tracing::info!(%error, "a connection broke before it asked for a stream");
            return None;
        }
        Err(_elapsed) => {
            tracing::info!("a connection did not ask for a stream in time");
            return None;
        }
    };
    let refusal = match Message::parse(&packet, fds) {
        Ok(Message::Attach { head, settings, files, resume }) => {
            return Some(Request { head, settings, files, resume });
        }
        Ok(_) => "the first message must ask for a stream".to_owned(),
        // The trainer reads it, for which the other side is this one.
        Err(PacketError::Protocol { theirs }) => format!(
            "this daemon speaks protocol version {PROTOCOL}, the trainer {theirs}; install the same version of Forebay on both sides"
        ),
        Err(error) => error.to_string(),
    };
    refuse(socket, text_code::PROTOCOL, &refusal);
    None
}

fn refuse(socket: &Socket, code: u32, reason: &str) {
    // It may be gone already.
    let _sent = socket.send(&text(Kind::Refused, code, reason), &[]);
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
