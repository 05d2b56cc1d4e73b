//! A thread of another process, one instruction at a time, by ptrace. Only the thread that has stopped it may step it.
#![allow(
    unsafe_code,
    reason = "rustix has no ptrace, and the crates that have it change what libc is built with for all"
)]

use std::io;
use std::ptr::null_mut;

use libc::{c_int, c_uint};
use rustix::process::{Pid, Signal, kill_process};

/// A thread that does not run. It goes on when this is dropped.
#[derive(Debug)]
pub(super) struct Stepper {
    process: Pid,
    thread: Pid,
    /// To be delivered with the next step; 0 for none.
    signal: c_int,
}

/// In the status of a thread that was interrupted, in place of a signal.
const INTERRUPTED: c_int = libc::PTRACE_EVENT_STOP;

impl Stepper {
    /// Stops a thread where it is. None where this is not permitted, with the reason on the standard error.
    pub(super) fn stop(process: Pid, thread: Pid) -> Option<Self> {
        match ptrace(libc::PTRACE_SEIZE, thread, 0) {
            Ok(()) => {}
            Err(error) if matches!(error.raw_os_error(), Some(libc::EPERM | libc::ENOSYS)) => {
                eprintln!("skipped: a process may not trace another one here: {error}");
                return None;
            }
            Err(error) => panic!("thread {thread:?} cannot be traced: {error}"),
        }
        ptrace(libc::PTRACE_INTERRUPT, thread, 0).expect("it is traced");
        let mut stopped = Self { process, thread, signal: 0 };
        stopped.stopped(wait(thread).expect("it is stopped"));
        Some(stopped)
    }

    /// Lets it run one instruction, or the whole of a call of the system.
    pub(super) fn step(&mut self) {
        ptrace(libc::PTRACE_SINGLESTEP, self.thread, self.signal).expect("it is stopped");
        self.signal = 0;
        let status = wait(self.thread).expect("it stops after one instruction");
        self.stopped(status);
    }

    fn stopped(&mut self, status: c_int) {
        assert!(libc::WIFSTOPPED(status), "thread {:?} has ended by itself: status {status:#x}", self.thread);
        let signal = libc::WSTOPSIG(status);
        let is_own = signal == libc::SIGTRAP || status >> 16 == INTERRUPTED;
        self.signal = if is_own { 0 } else { signal };
    }

    /// Kills its process, wherever it is.
    pub(super) fn kill(self) {
        kill_process(self.process, Signal::KILL).expect("it lives");
        // The kernel keeps the process until its tracer has heard of this thread's end.
        while wait(self.thread).is_ok_and(|status| libc::WIFSTOPPED(status)) {}
        std::mem::forget(self);
    }
}

impl Drop for Stepper {
    fn drop(&mut self) {
        // It may have been killed by somebody else.
        let _detached = ptrace(libc::PTRACE_DETACH, self.thread, self.signal);
    }
}

/// A request that takes no address.
fn ptrace(request: c_uint, thread: Pid, data: c_int) -> io::Result<()> {
    // SAFETY: These requests read and write no memory of this process: `data` is the number of a signal, or no options.
    let done = unsafe { libc::ptrace(request, thread.as_raw_pid(), null_mut::<()>(), i64::from(data)) };
    if done == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The next status of a traced thread.
fn wait(thread: Pid) -> io::Result<c_int> {
    let mut status = 0;
    // SAFETY: The pointer is to a local value that outlives the call.
    let waited = unsafe { libc::waitpid(thread.as_raw_pid(), &raw mut status, libc::__WALL) };
    if waited == -1 { Err(io::Error::last_os_error()) } else { Ok(status) }
}
