//! Accepts trainers from a listening socket, or from the socket of a private daemon's parent. A new connection has a
//! short time to send its request. The daemon trusts nothing before that.

mod readiness;

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use forebay_ring::{
    Listener, Message, MessageKind, PACKET_LEN, PacketError, Peer, Received, Socket, Versions, text, text_code,
};

use crate::accepting::Accepting;
use crate::connection_limits::ConnectionPlace;
use crate::daemon::{AdmissionRefusal, Daemon, Request};
use crate::descriptors::Shares;
use readiness::Readiness;

/// How long a connection may take to ask for a stream.
const PATIENCE: Duration = Duration::from_secs(10);
/// Why one that has not asked yet made place for others.
const TOO_MANY_ASK: &str = "too many connections of this user have not asked for a stream";
/// Why one that has asked did.
const TOO_MANY_WAIT: &str = "too many trainers of this user wait for their streams to be open";

/// Lets trainers in at a listening socket, until it is cancelled.
///
/// # Errors
/// The socket is broken.
pub(crate) async fn listen(daemon: Arc<Daemon>, listener: Listener) -> std::io::Result<()> {
    let ready = Readiness::of(&listener)?;
    let shares = Shares::of_process();
    let (askers, waiting) = (shares.askers(), shares.waiting());
    let mut accepting = Accepting::new("the trainers' socket");
    loop {
        let room = askers.room().await;
        let socket = accepting.next(|| ready.until(|| listener.accept().map_err(std::io::Error::other))).await;
        let Some(peer) = peer(&socket) else { continue };
        let (daemon, mut place, waiting) = (Arc::clone(&daemon), room.enter(peer.uid()), waiting.clone());
        tokio::spawn(async move {
            let asked = tokio::select! {
                biased;
                asked = request(&socket) => asked,
                () = place.lost() => return refuse(&socket, text_code::BUSY, TOO_MANY_ASK),
            };
            let Some(asked) = asked else { return };
            // It keeps this place until it has the next one: no connection is ever without.
            let room = tokio::select! {
                biased;
                room = waiting.room() => room,
                () = place.lost() => return refuse(&socket, text_code::BUSY, TOO_MANY_WAIT),
            };
            // Opening a stream may take long: others may ask meanwhile.
            drop(place);
            let gives_up = given_up(&socket, room.enter(peer.uid()));
            daemon.attach(socket, peer, asked, gives_up).await;
        });
    }
}

/// Comes when a trainer that waits for its stream has hung up, or has to make place for others that wait as well.
fn given_up(socket: &Socket, mut place: ConnectionPlace) -> impl Future<Output = Option<AdmissionRefusal>> + use<> {
    let watch = Readiness::of(socket);
    async move {
        let hung_up = async {
            match &watch {
                Ok(watch) => watch.hung_up().await,
                // Out of descriptors: it is let in, or refused, without being watched.
                Err(_) => std::future::pending().await,
            }
        };
        tokio::select! {
            () = hung_up => None,
            () = place.lost() => Some((text_code::BUSY, TOO_MANY_WAIT.into())),
        }
    }
}

/// Lets the parent's Loaders in, until the parent hangs up.
///
/// # Errors
/// The socket is broken.
pub(crate) async fn serve_parent(daemon: Arc<Daemon>, parent: Socket) -> std::io::Result<()> {
    let ready = Readiness::of(&parent)?;
    loop {
        let Some((packet, fds)) = next_packet(&parent, &ready).await? else { return Ok(()) };
        match Message::from_trainer(&packet, fds) {
            Ok(Message::Connect { socket, ledgers }) => match Socket::from_fd(socket) {
                Ok(socket) => {
                    if let Err(error) = daemon.keep_ledgers_in(ledgers).await {
                        tracing::error!(%error, "the trainer's ledgers cannot be kept");
                    }
                    let daemon = Arc::clone(&daemon);
                    tokio::spawn(async move {
                        if let (Some(peer), Some(asked)) = (peer(&socket), request(&socket).await) {
                            daemon.attach(socket, peer, asked, std::future::pending()).await;
                        }
                    });
                }
                Err(error) => tracing::warn!(%error, "the parent passed something that is not a socket"),
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
            refuse(socket, text_code::BUSY, &format!("the daemon cannot listen to this connection: {error}"));
            return None;
        }
        Err(_elapsed) => {
            tracing::info!("a connection did not ask for a stream in time");
            return None;
        }
    };
    let refusal = match Message::from_trainer(&packet, fds) {
        Ok(Message::Attach { head, settings, files, resume, columns }) => {
            return Some(Request { head, settings, files, resume, columns });
        }
        Ok(_) => "the first message must ask for a stream".to_owned(),
        // `PacketError` speaks from the daemon's side, and the trainer shows this text.
        Err(PacketError::Protocol { theirs }) => format!(
            "this daemon speaks {ours} of the protocol, the trainer {theirs}; upgrade Forebay on the {older}'s side",
            ours = Versions::OURS,
            older = if theirs.are_before(Versions::OURS) { "trainer" } else { "daemon" },
        ),
        Err(error) => error.to_string(),
    };
    refuse(socket, text_code::PROTOCOL, &refusal);
    None
}

fn refuse(socket: &Socket, code: u32, reason: &str) {
    // It may be gone already.
    let _sent = socket.send(&text(MessageKind::Refused, code, reason), &[]);
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
