//! The edge to the daemon: dial, shake hands, and read whole messages.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use forebay_printable::printable;
use forebay_proto::v1::StreamInfo;
use forebay_ring::{
    Attach, Body, Bulk, Join, Message, NAME_LEN, PACKET_LEN, Received, ResumedClaim, Sent, Socket, SocketError, View,
    Welcome, attach_flags, attach_join, is_own_socket_dir, packet, socket_dir,
};
use prost::Message as _;
use rustix::rand::{GetRandomFlags, getrandom};

use crate::error::{AttachError, Broken, CallError, Refusal};
use crate::mapped::Ring;
use crate::permission;
use crate::target::{Options, Target};
use crate::vigil::{Vigil, VigilStep};
use crate::watch::{Notice, SLICE, Watch};

/// Longest `StreamInfo` or `CallReply`: class names and pages of lists fit, a mistake does not fill the memory.
const BODY_LIMIT: u64 = 1 << 30;
/// Socket of a daemon that serves the whole machine.
const SERVICE_SOCKET: &str = "/run/forebay/forebay.sock";

/// A daemon that has accepted this trainer.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) socket: Arc<Socket>,
    pub(crate) welcome: Welcome,
    pub(crate) info: StreamInfo,
}

/// A daemon that was asked to accept this trainer and has not answered yet.
#[derive(Debug)]
pub(crate) struct Asked {
    socket: Arc<Socket>,
}

/// What a look at the socket found.
pub(crate) enum Arrival<'a> {
    Message(Message<'a>),
    Nothing,
    HungUp,
}

/// The end of one wait, which has slices and a caller that may give up.
pub(crate) struct Patience<'a> {
    watch: &'a mut dyn Watch,
    began: Instant,
    timeout: Option<Duration>,
}

/// Why a wait ends early.
pub(crate) enum Impatience {
    Interrupted,
    TimedOut(Duration),
}

/// Why a packet was not sent.
pub(crate) enum Unsent {
    /// The daemon's queue was full for as long as the caller waits.
    Impatient(Impatience),
    Broken(Broken),
}

/// What a resuming trainer tells: the incarnation that it knew, and what it has of it.
pub(crate) struct Resume {
    pub(crate) incarnation: u64,
    pub(crate) list: Vec<ResumedClaim>,
}

impl<'a> Patience<'a> {
    pub(crate) fn new(watch: &'a mut dyn Watch, timeout: Option<Duration>) -> Self {
        Self { watch, began: Instant::now(), timeout }
    }

    pub(crate) fn watch(&mut self) -> &mut dyn Watch {
        self.watch
    }

    pub(crate) fn waited(&self) -> Duration {
        self.began.elapsed()
    }

    /// Time that is left; None without a timeout.
    pub(crate) fn left(&self) -> Option<Duration> {
        self.timeout.map(|timeout| timeout.saturating_sub(self.waited()))
    }

    /// How long the next slice may be, or that it is enough.
    pub(crate) fn slice(&mut self) -> Result<Duration, Impatience> {
        if !self.watch.keep_waiting() {
            return Err(Impatience::Interrupted);
        }
        let waited = self.waited();
        match self.timeout {
            Some(timeout) if waited >= timeout => Err(Impatience::TimedOut(timeout)),
            Some(timeout) => Ok(SLICE.min(timeout.saturating_sub(waited))),
            None => Ok(SLICE),
        }
    }
}

impl From<Impatience> for AttachError {
    fn from(impatience: Impatience) -> Self {
        match impatience {
            Impatience::Interrupted => Self::Broken(Broken::Interrupted),
            Impatience::TimedOut(waited) => Self::Timeout { waited },
        }
    }
}

impl From<Impatience> for Unsent {
    fn from(impatience: Impatience) -> Self {
        Self::Impatient(impatience)
    }
}

impl From<SocketError> for Unsent {
    fn from(error: SocketError) -> Self {
        Self::Broken(error.into())
    }
}

impl From<Unsent> for AttachError {
    fn from(unsent: Unsent) -> Self {
        match unsent {
            Unsent::Impatient(impatience) => impatience.into(),
            Unsent::Broken(broken) => broken.into(),
        }
    }
}

impl From<Unsent> for CallError {
    fn from(unsent: Unsent) -> Self {
        match unsent {
            Unsent::Impatient(impatience) => impatience.into(),
            Unsent::Broken(broken) => broken.into(),
        }
    }
}

/// Sockets of daemons that this user may mean: its own, then the machine's.
pub fn default_sockets() -> Vec<PathBuf> {
    let own =
        Some(socket_dir(std::env::var_os("XDG_RUNTIME_DIR").as_deref())).filter(|folder| is_own_socket_dir(folder));
    let service = PathBuf::from(SERVICE_SOCKET);
    own.map(|folder| folder.join("forebay.sock")).into_iter().chain([service]).collect()
}

/// Takes one message, if there is one.
pub(crate) fn receive<'b>(socket: &Socket, buffer: &'b mut [u8]) -> Result<Arrival<'b>, Broken> {
    match socket.recv(buffer)? {
        Received::Packet { len, fds } => Ok(Arrival::Message(Message::parse(&buffer[..len], fds)?)),
        Received::WouldBlock => Ok(Arrival::Nothing),
        Received::Closed => Ok(Arrival::HungUp),
    }
}

/// Protobuf bytes of an answer, from the packet or from bulk memory.
pub(crate) fn body(body: Body<'_>) -> Result<Vec<u8>, Broken> {
    match body {
        Body::Inline(bytes) => Ok(bytes.to_vec()),
        Body::Bulk(fd) => read_bulk(fd),
    }
}

/// Attaches, and gets a ring. A private daemon that dies meanwhile is restarted, until it has died too often. If the options
/// say so, it waits for a daemon that does not run yet.
pub(crate) fn attach(
    target: &Target,
    options: &Options,
    trainer: u64,
    patience: &mut Patience<'_>,
) -> Result<(Link, Arc<Ring>), AttachError> {
    let mut vigil = Vigil::new(options.told_after);
    loop {
        let attached = ask(target, options, trainer, None, patience)
            .and_then(|asked| asked.answer(target, options.told_after, patience));
        match (attached, target) {
            (Err(AttachError::HungUp { .. }), Target::Private { .. }) => {}
            (Err(error), Target::Stream { .. }) if is_to_come(&error) && patience.waited() < options.daemon_wait => {
                let slice = patience.slice()?.min(options.daemon_wait.saturating_sub(patience.waited()));
                if let Some(VigilStep::Tell { waited, .. }) = vigil.look(patience.waited()) {
                    let what = "a daemon that answers on its socket";
                    patience.watch().notice(&Notice::Waiting { what, waited, pid: None, answers: None });
                }
                std::thread::park_timeout(slice);
            }
            (attached, Target::Stream { .. }) => return attached.map_err(|error| error.after(options.daemon_wait)),
            (attached, Target::Private { .. }) => return attached,
        }
    }
}

/// Whether a daemon may still come: it is not there, it ended at this moment, or it has not opened its folder to the group yet.
fn is_to_come(error: &AttachError) -> bool {
    matches!(error, AttachError::Connect { .. } | AttachError::HungUp { .. } | AttachError::Denied { .. })
}

fn dial(target: &Target) -> Result<Socket, AttachError> {
    let sockets = match target {
        Target::Private { daemon, .. } => return daemon.connect(),
        Target::Stream { socket: Some(socket), .. } => vec![socket.clone()],
        Target::Stream { socket: None, .. } => default_sockets(),
    };
    let (mut denied, mut absent) = (None, None);
    for socket in sockets {
        match Socket::connect(&socket) {
            Ok(connected) => return Ok(connected),
            Err(SocketError::Io(error)) if error.kind() == io::ErrorKind::PermissionDenied => {
                let allowed = permission::who_may_use(&socket);
                denied = denied.or(Some(AttachError::Denied { socket, allowed }));
            }
            Err(source) => absent = absent.or(Some(AttachError::Connect { socket, waited: Duration::ZERO, source })),
        }
    }
    // A daemon that is there and refuses says more than one that is not.
    Err(denied.or(absent).expect("there is always a socket to try"))
}

/// A trainer's number. Forked children of one process draw different ones.
pub(crate) fn number() -> Result<u64, Broken> {
    let mut bytes = [0; 8];
    getrandom(&mut bytes, GetRandomFlags::empty()).map_err(io::Error::from)?;
    // 0 is no number.
    Ok(u64::from_le_bytes(bytes) | 1)
}

/// Asks a daemon to accept this trainer, and does not wait for the answer.
pub(crate) fn ask(
    target: &Target,
    options: &Options,
    trainer: u64,
    resume: Option<&Resume>,
    patience: &mut Patience<'_>,
) -> Result<Asked, AttachError> {
    let socket = dial(target)?;
    let (name, settings, files) = match target {
        Target::Private { number, settings, files, .. } => {
            (format!("loader-{number}"), Some(settings.as_str()), files.as_deref())
        }
        Target::Stream { name, settings, .. } => (name.clone(), settings.as_deref(), None),
    };
    let columns = options.columns.as_ref().map(|columns| columns.join("\0"));
    let bulks = [
        (attach_flags::SETTINGS, settings.map(str::as_bytes)),
        (attach_flags::FILES, files),
        (attach_flags::RESUME, resume.map(|resume| bytemuck::cast_slice(&resume.list))),
        (attach_flags::COLUMNS, columns.as_deref().map(str::as_bytes)),
    ];
    let mut flags = 0;
    let mut fds = Vec::new();
    for (flag, bytes) in bulks {
        if let Some(bytes) = bytes {
            flags |= flag;
            fds.push(Bulk::write(bytes).map_err(Broken::from)?.into_fd());
        }
    }
    let group = options.group.as_deref().unwrap_or_default();
    let head = Attach {
        flags,
        credits: options.credits,
        name: Attach::pad_name(&name).ok_or(AttachError::Name { name, limit: NAME_LEN })?,
        shard_id: options.shard.map_or(0, |shard| shard.id),
        num_shards: options.shard.map_or(0, |shard| shard.count),
        incarnation: resume.map_or(0, |resume| resume.incarnation),
        devices: Attach::pad_gpus(&options.gpus),
        group: Attach::pad_name(group)
            .ok_or_else(|| AttachError::Group { group: group.to_owned(), limit: NAME_LEN })?,
        join: match options.join {
            Join::Epoch if resume.is_none() => attach_join::EPOCH,
            // One that comes back may be in the middle of the epoch, and the new daemon does not know that.
            Join::Next | Join::Epoch => attach_join::NEXT,
        },
        pid: std::process::id(),
        trainer,
        ..Attach::ours()
    };
    send(&socket, &packet(&head, &[]), &fds, patience)?;
    Ok(Asked { socket: Arc::new(socket) })
}

impl Asked {
    /// Gives up the wait for the answer. The daemon sees a hang-up even if a forked child keeps the connection open.
    pub(crate) fn give_up(self) {
        self.socket.shut_down();
    }

    /// Waits for the daemon's answer. After a timeout, the caller may wait for it again.
    pub(crate) fn answer(
        &self,
        target: &Target,
        told_after: Duration,
        patience: &mut Patience<'_>,
    ) -> Result<(Link, Arc<Ring>), AttachError> {
        let mut buffer = vec![0; PACKET_LEN];
        let mut vigil = Vigil::new(told_after);
        loop {
            match receive(&self.socket, &mut buffer)? {
                Arrival::Message(Message::Welcome { head, ring, info, pixels }) => {
                    let info = read_bulk(info)?;
                    let info =
                        StreamInfo::decode(info.as_slice()).map_err(|error| Broken::Protocol(error.to_string()))?;
                    let view = View::map(ring, head.incarnation, head.ring).map_err(Broken::from)?;
                    let ring = Ring::new(view, head.pixels, pixels)?;
                    return Ok((Link { socket: Arc::clone(&self.socket), welcome: head, info }, ring));
                }
                Arrival::Message(Message::Refused(code, text)) => {
                    return Err(Refusal { code, message: told(text) }.into());
                }
                Arrival::Message(Message::Unknown(_)) => {}
                Arrival::Message(other) => {
                    return Err(Broken::Protocol(format!("the daemon answered ATTACH with {other:?}")).into());
                }
                Arrival::HungUp => return Err(hung_up(target)),
                Arrival::Nothing => {
                    let slice = patience.slice()?;
                    if let Some(VigilStep::Tell { waited, .. }) = vigil.look(patience.waited()) {
                        let pid = match target {
                            Target::Private { daemon, .. } => daemon.pid(),
                            Target::Stream { .. } => None,
                        };
                        let what = "the daemon";
                        patience.watch().notice(&Notice::Waiting { what, waited, pid, answers: None });
                    }
                    self.socket.wait(Some(slice)).map_err(Broken::from)?;
                }
            }
        }
    }
}

/// Sends a packet with descriptors, waiting for room in the daemon's queue.
pub(crate) fn send(socket: &Socket, packet: &[u8], fds: &[OwnedFd], patience: &mut Patience<'_>) -> Result<(), Unsent> {
    while !try_send(socket, packet, fds)? {
        pause_for_room(socket, patience)?;
    }
    Ok(())
}

/// Sends a packet with descriptors; false if the daemon's queue has no room for it.
pub(crate) fn try_send(socket: &Socket, packet: &[u8], fds: &[OwnedFd]) -> Result<bool, SocketError> {
    let fds: Vec<BorrowedFd<'_>> = fds.iter().map(AsFd::as_fd).collect();
    match socket.send(packet, &fds)? {
        // A hang-up is noticed when the answer is read.
        Sent::Done | Sent::Closed => Ok(true),
        Sent::WouldBlock => Ok(false),
    }
}

/// The daemon's queue empties without a word: a short wait, which also ends when the daemon says something.
pub(crate) fn pause_for_room(socket: &Socket, patience: &mut Patience<'_>) -> Result<(), Unsent> {
    let slice = patience.slice()?;
    socket.wait(Some(slice.min(Duration::from_millis(1)))).map_err(|error| Unsent::Broken(error.into()))?;
    Ok(())
}

fn hung_up(target: &Target) -> AttachError {
    let words = match target {
        Target::Private { daemon, .. } => daemon.last_words(),
        Target::Stream { .. } => String::new(),
    };
    AttachError::HungUp { words }
}

fn read_bulk(fd: OwnedFd) -> Result<Vec<u8>, Broken> {
    Ok(Bulk::accept(fd)?.read(BODY_LIMIT)?)
}

/// What the daemon said, as a caller may print it: file names are in it.
pub(crate) fn told(text: &str) -> String {
    printable(text).lines().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Patient;

    #[test]
    fn a_daemon_whose_queue_stays_full_has_not_answered_in_time() {
        let (socket, _daemon) = Socket::pair().unwrap();
        let mut watch = Patient;
        let mut paused = || pause_for_room(&socket, &mut Patience::new(&mut watch, Some(Duration::ZERO)));
        let call = paused().map_err(CallError::from);
        assert!(matches!(call, Err(CallError::Timeout { .. })), "{call:?}");
        let attach = paused().map_err(AttachError::from);
        assert!(matches!(attach, Err(AttachError::Timeout { .. })), "{attach:?}");
    }
}
