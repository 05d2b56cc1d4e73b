//! A child process that makes suspects, from the daemon's side: how it is started, asked and ended.

use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use forebay_proto::v1::{ChildReply, ChildRequest};

use super::frame;
use crate::decode::suspect_order::SuspectOrder;

/// The daemon's own program, also if its file was replaced meanwhile.
const PROGRAM: &str = "/proc/self/exe";
/// The command that it runs in a child.
pub(super) const COMMAND: &str = "make-suspects";
/// How often a wait is looked at.
pub(super) const LOOK: Duration = Duration::from_millis(100);

/// A child for one stream. Dropping it ends it.
#[derive(Debug)]
pub(super) struct ChildProcess {
    child: Child,
    socket: UnixStream,
    order: Arc<SuspectOrder>,
}

/// What a child has said.
#[derive(Debug)]
pub(super) enum Heard {
    Reply(Box<ChildReply>),
    /// Something else.
    Garbage,
    /// It ended.
    Ended(ExitStatus),
    /// It is waited for no longer.
    Nothing,
}

impl ChildProcess {
    /// Starts a child. The calling thread lives as long as it.
    ///
    /// # Errors
    /// The system starts no process.
    pub(super) fn start(order: &Arc<SuspectOrder>) -> io::Result<Self> {
        let (socket, theirs) = UnixStream::pair()?;
        socket.set_read_timeout(Some(LOOK))?;
        socket.set_write_timeout(Some(LOOK))?;
        let mut command = Command::new(PROGRAM);
        command.arg(COMMAND).stdin(Stdio::from(OwnedFd::from(theirs))).stdout(Stdio::null());
        // A signal from a terminal is for the daemon, which ends its children.
        let child = command.process_group(0).spawn()?;
        tracing::info!(child = child.id(), "a child process makes suspects");
        Ok(Self { child, socket, order: Arc::clone(order) })
    }

    /// Whether it is set up for this stream.
    pub(super) fn is_of(&self, order: &Arc<SuspectOrder>) -> bool {
        Arc::ptr_eq(&self.order, order)
    }

    /// Sends a request and waits for the answer, until `stop` says so.
    pub(super) fn ask(&mut self, request: &ChildRequest, stop: impl FnMut() -> bool) -> Heard {
        let mut socket = Patient { socket: &self.socket, stop };
        let answer = socket.write_all(&frame::framed(request)).and_then(|()| frame::read::<ChildReply>(&mut socket));
        match answer {
            Ok(Some(reply)) => Heard::Reply(Box::new(reply)),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Heard::Nothing,
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Heard::Garbage,
            // Its end of the socket is closed only when it ends.
            Ok(None) | Err(_) => self.child.wait().map_or(Heard::Garbage, Heard::Ended),
        }
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        // It may have ended, and it may have been waited for.
        let (_killed, _waited) = (self.child.kill(), self.child.wait());
    }
}

/// The socket, whose reads and writes end only when they are done or stopped.
struct Patient<'a, F> {
    socket: &'a UnixStream,
    stop: F,
}

impl<F: FnMut() -> bool> Patient<'_, F> {
    fn patiently(&mut self, mut act: impl FnMut(&mut &UnixStream) -> io::Result<usize>) -> io::Result<usize> {
        loop {
            match act(&mut &*self.socket) {
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                    if (self.stop)() {
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                }
                done => return done,
            }
        }
    }
}

impl<F: FnMut() -> bool> Read for Patient<'_, F> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.patiently(|socket| socket.read(into))
    }
}

impl<F: FnMut() -> bool> Write for Patient<'_, F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.patiently(|socket| socket.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
