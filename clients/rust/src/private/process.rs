//! The daemon's process, by a pidfd. After the process is reaped, its PID may be reused. This module is not always the one
//! that reaps it: the kernel does if the host process ignores SIGCHLD, and a SIGCHLD handler may.

use std::os::fd::{AsFd, OwnedFd};
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitIdStatus, pidfd_open, pidfd_send_signal, waitid,
};

/// Exit status of a program that refuses its command line or its configuration, as `forebay` and clap have it.
const USAGE: i32 = 2;

/// How a process ended.
#[derive(Debug)]
pub(super) struct ProcessEnd {
    status: Option<i32>,
    /// For people.
    pub(super) cause: String,
}

/// A child that is watched, and reaped unless that has been done already.
#[derive(Debug)]
pub(super) struct Process {
    pid: u32,
    /// `None` if it had ended and was reaped before it could be watched.
    pidfd: Option<OwnedFd>,
}

impl Process {
    /// Takes over from `Child`, whose own calls go by the number.
    pub(super) fn watch(mut child: Child) -> Result<Self, Errno> {
        let pidfd = match pidfd_open(Pid::from_child(&child), PidfdFlags::empty()) {
            Ok(pidfd) => Some(pidfd),
            Err(Errno::SRCH) => None,
            Err(error) => {
                // Not watched, it would stay as a zombie.
                let _ended = child.kill().and_then(|()| child.wait());
                return Err(error);
            }
        };
        Ok(Self { pid: child.id(), pidfd })
    }

    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    pub(super) fn has_ended(&self) -> Result<bool, Errno> {
        self.ends_within(Duration::ZERO)
    }

    /// Waits for its end, whatever signals come meanwhile; false when it takes too long.
    pub(super) fn ends_within(&self, time: Duration) -> Result<bool, Errno> {
        let Some(pidfd) = &self.pidfd else { return Ok(true) };
        let until = Instant::now() + time;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let left = Timespec::try_from(left).expect("a farewell is a few seconds");
            match poll(&mut [PollFd::new(pidfd, PollFlags::IN)], Some(&left)) {
                Err(Errno::INTR) => {}
                ended => return Ok(ended? > 0),
            }
        }
    }

    /// Ends it at once, and waits for that. Says how it ended. A process that was exiting by itself keeps its own status.
    pub(super) fn bury(self) -> Result<ProcessEnd, Errno> {
        let Some(pidfd) = self.pidfd else { return Ok(ProcessEnd::unknown()) };
        match pidfd_send_signal(&pidfd, Signal::KILL) {
            Ok(()) | Err(Errno::SRCH) => {}
            Err(error) => return Err(error),
        }
        match retry_on_intr(|| waitid(WaitId::PidFd(pidfd.as_fd()), WaitIdOptions::EXITED)) {
            Ok(status) => Ok(status.and_then(|status| ProcessEnd::of(&status)).unwrap_or_else(ProcessEnd::unknown)),
            Err(Errno::CHILD) => Ok(ProcessEnd::unknown()),
            Err(error) => Err(error),
        }
    }
}

impl ProcessEnd {
    /// Whether the program refused what it was started with: it would do so again.
    pub(super) fn is_refusal(&self) -> bool {
        self.status == Some(USAGE)
    }

    fn of(status: &WaitIdStatus) -> Option<Self> {
        let code = status.exit_status();
        let signal = || status.terminating_signal().map(|signal| format!("signal: {signal}"));
        let cause = code.map(|code| format!("exit status: {code}")).or_else(signal)?;
        Some(Self { status: code, cause })
    }

    fn unknown() -> Self {
        let cause = "an unknown status, since this process ignores SIGCHLD or waits for its children elsewhere";
        Self { status: None, cause: cause.to_owned() }
    }
}
