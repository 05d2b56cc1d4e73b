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

    /// Ends it at once, and waits for that. Says how it ended.
    pub(super) fn bury(self) -> Result<String, Errno> {
        let Some(pidfd) = self.pidfd else { return Ok(unknown()) };
        match pidfd_send_signal(&pidfd, Signal::KILL) {
            Ok(()) | Err(Errno::SRCH) => {}
            Err(error) => return Err(error),
        }
        match retry_on_intr(|| waitid(WaitId::PidFd(pidfd.as_fd()), WaitIdOptions::EXITED)) {
            Ok(status) => Ok(status.and_then(|status| cause(&status)).unwrap_or_else(unknown)),
            Err(Errno::CHILD) => Ok(unknown()),
            Err(error) => Err(error),
        }
    }
}

fn cause(status: &WaitIdStatus) -> Option<String> {
    let signal = || status.terminating_signal().map(|signal| format!("signal: {signal}"));
    status.exit_status().map(|code| format!("exit status: {code}")).or_else(signal)
}

fn unknown() -> String {
    "an unknown status, since this process ignores SIGCHLD or waits for its children elsewhere".to_owned()
}
