//! A child process: how it is asked, and how it ends.

use std::fmt;
use std::io::PipeWriter;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use rustix::event::PollFlags;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::channel::Channel;
use crate::patience::Patience;
use crate::watcher::ChildWatch;

/// The bit of a status that says that there is a core file.
const CORE: i32 = 0x80;

/// A child. Dropping it ends the child and all processes of its group, and does not wait for that.
pub struct ChildProcess {
    pub(crate) channel: Channel,
    /// Its process, and its group.
    pub(crate) pid: Pid,
    pub(crate) process: Arc<OwnedFd>,
    /// The child lives while this is open.
    pub(crate) life: Option<PipeWriter>,
    pub(crate) _watch: ChildWatch,
}

impl ChildProcess {
    /// The socket to it.
    pub fn channel(&mut self) -> &mut Channel {
        &mut self.channel
    }

    /// Its process id.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// How it has ended, if it ends within this time.
    pub fn ending(&self, within: Duration) -> Option<ExitStatus> {
        Patience::lasting(within).wait([(self.process.as_fd(), PollFlags::IN)]).ok()?;
        // The thread that watches it reaps it, but not before this is dropped.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = waitid(WaitId::PidFd(self.process.as_fd()), options).ok()??;
        let core = if status.dumped() { CORE } else { 0 };
        let raw = status.exit_status().map(|code| code << 8);
        raw.or_else(|| status.terminating_signal().map(|signal| signal | core)).map(ExitStatus::from_raw)
    }

    /// Closes the daemon's end of the pipe that the child lives with, as the end of the daemon does.
    pub fn close_life(&mut self) {
        self.life.take();
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        self.close_life();
        // The child is not reaped yet, so the number is still its own. A group that is gone already needs no signal.
        let _gone = kill_process_group(self.pid, Signal::KILL);
    }
}

impl fmt::Debug for ChildProcess {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ChildProcess").field("pid", &self.pid).finish_non_exhaustive()
    }
}
