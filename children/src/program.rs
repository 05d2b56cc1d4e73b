//! What a program in Rust does first in a child.

use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;

use rustix::process::{Signal, set_parent_process_death_signal};

/// How its own system sees a process that should end before its daemon if memory is short.
const FIRST_TO_GO: &str = "1000";

/// The child's end of the socket. From now on, the child ends with the thread that has started it.
///
/// # Errors
/// Standard input cannot be used as a socket.
pub fn socket_to_daemon() -> io::Result<UnixStream> {
    // A daemon that has ended before this has closed the socket.
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // Where this may not be set, the system chooses by itself.
    let _refused = std::fs::write("/proc/self/oom_score_adj", FIRST_TO_GO);
    Ok(UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?))
}
