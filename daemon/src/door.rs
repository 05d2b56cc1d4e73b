//! Where trainers come in: a listening socket, or the socket of a private daemon's parent. Whoever connects has a
//! little time to say what it wants; nothing is believed before.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use forebay_ring::{Listener, Message, PACKET_LEN, Received, Socket, SocketError, text, text_code};
use tokio::io::unix::AsyncFd;
use tokio::sync::Semaphore;

use crate::daemon::{Daemon, Request};

/// How long a connection may take to ask for a stream.
const PATIENCE: Duration = Duration::from_secs(10);
/// Connections that have not asked yet; more wait in the kernel's queue.
const ASKING: usize = 64;

/// Lets trainers in at a listening socket, until it is cancelled.
///
/// # Errors
/// The socket is broken.
pub async fn listen(daemon: Arc<Daemon>, listener: Listener) -> std::io::Result<()> {
    let ready = readiness(listener.as_fd())?;
    let asking = Arc::new(Semaphore::new(ASKING));
    loop {
        let Ok(permit) = Arc::clone(&asking).acquire_owned().await else { return Ok(()) };
        let socket = loop {
            match listener.accept() {
                Ok(Some(socket)) => break socket,
                Ok(None) => {
                    let mut guard = ready.readable().await?;
                    guard.clear_ready();
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
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
    let ready = readiness(parent.as_fd())?;
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
        let ready = readiness(socket.as_fd())?;
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
async fn next_packet(
    socket: &Socket,
    ready: &AsyncFd<OwnedFd>,
) -> std::io::Result<Option<(Vec<u8>, Vec<OwnedFd>)>> {
    let mut buffer = vec![0; PACKET_LEN];
    loop {
        match socket.recv(&mut buffer) {
            Ok(Received::Packet { len, fds }) => {
                buffer.truncate(len);
                return Ok(Some((buffer, fds)));
            }
            Ok(Received::Closed) => return Ok(None),
            Ok(Received::WouldBlock) => {
                let mut guard = ready.readable().await?;
                guard.clear_ready();
            }
            Err(SocketError::Io(error)) => return Err(error),
            Err(error) => return Err(std::io::Error::other(error)),
        }
    }
}

/// A duplicate of the descriptor that tokio watches; the socket itself goes on to the ring's thread.
fn readiness(fd: impl AsFd) -> std::io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(fd.as_fd().try_clone_to_owned()?, tokio::io::Interest::READABLE)
}
