//! How a child is started: its program, what messages call it, and what it may take.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use rustix::process::{Pid, PidfdFlags, Resource, Rlimit, Signal, getrlimit, kill_process_group, pidfd_open, prlimit};

use crate::channel::Channel;
use crate::child::ChildProcess;
use crate::lines::ChildOutput;
use crate::python::{self, PythonModule};
use crate::watcher::Watcher;

/// A child that is not started yet.
#[derive(Debug)]
pub struct ChildCommand {
    command: Command,
    name: String,
    memory: Option<MemoryLimit>,
}

/// A limit of a child's memory for data.
#[derive(Clone, Copy, Debug)]
struct MemoryLimit {
    bytes: u64,
    /// The child may raise it.
    may_rise: bool,
}

impl ChildCommand {
    /// Runs this program. Its lines are in the log under this name.
    pub fn new(program: impl AsRef<OsStr>, name: impl Into<String>) -> Self {
        Self { command: Command::new(program), name: name.into(), memory: None }
    }

    /// Runs a program by this interpreter. Its modules are imported in their order. The last one has a function `program()`, which
    /// gets the connection to the daemon and gives an object with a method for each request.
    pub fn python(interpreter: impl AsRef<OsStr>, name: impl Into<String>, modules: &[PythonModule]) -> Self {
        Self::new(interpreter, name).args(python::arguments(modules))
    }

    /// Adds arguments.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.command.args(args);
        self
    }

    /// Sets variables of its environment.
    #[must_use]
    pub fn envs(mut self, variables: impl IntoIterator<Item = (impl AsRef<OsStr>, impl AsRef<OsStr>)>) -> Self {
        self.command.envs(variables);
        self
    }

    /// Limits its memory for data to so many bytes. Address space that a library reserves is not counted.
    #[must_use]
    pub fn most_memory(self, bytes: u64) -> Self {
        Self { memory: Some(MemoryLimit { bytes, may_rise: false }), ..self }
    }

    /// As [`most_memory`](Self::most_memory), but the child may raise the limit itself.
    #[must_use]
    pub fn memory_at_first(self, bytes: u64) -> Self {
        Self { memory: Some(MemoryLimit { bytes, may_rise: true }), ..self }
    }

    /// Starts the child.
    ///
    /// # Errors
    /// The system lacks what that takes, or does not start the program. Then nothing is left of the child.
    pub fn start(self) -> io::Result<ChildProcess> {
        self.start_with(|pid| Ok(pidfd_open(pid, PidfdFlags::empty())?))
    }

    /// `watch` opens what tells that a process has ended.
    fn start_with(mut self, watch: impl FnOnce(Pid) -> io::Result<OwnedFd>) -> io::Result<ChildProcess> {
        let watcher = Watcher::shared()?;
        let (ours, theirs) = UnixStream::pair()?;
        let (lives, life) = io::pipe()?;
        let child = self
            .command
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            // The child has its end of this pipe where others have their output: it only sees that the pipe closes.
            .stdout(Stdio::from(lives))
            .stderr(Stdio::piped())
            // Its own children are in the group too, and end with it. A signal from a terminal is for the daemon.
            .process_group(0)
            .spawn()?;
        let mut begun = BegunChild(Some(child));
        let pid = begun.pid();
        let process = Arc::new(watch(pid)?);
        if let Some(MemoryLimit { bytes, may_rise }) = self.memory {
            // The child has not been asked for anything yet. It may be allowed less than the daemon would give it.
            let allowed = getrlimit(Resource::Data).maximum;
            let current = Some(allowed.map_or(bytes, |allowed| allowed.min(bytes)));
            let maximum = if may_rise { allowed } else { current };
            prlimit(Some(pid), Resource::Data, Rlimit { current, maximum })?;
        }
        let stderr = begun.0.as_mut().and_then(|child| child.stderr.take()).expect("it was asked to be piped");
        let output = ChildOutput::new(stderr.into(), self.name, pid)?;
        let channel = Channel::new(ours, Arc::clone(&process))?;
        let child = begun.0.take().expect("only the end of this function takes it");
        let watch = watcher.watch(child, Arc::clone(&process), output);
        Ok(ChildProcess { channel, pid, process, life: Some(life), _watch: watch })
    }
}

/// A child that nothing watches yet. Dropping it ends it.
struct BegunChild(Option<Child>);

impl BegunChild {
    fn pid(&self) -> Pid {
        Pid::from_child(self.0.as_ref().expect("it is there until it is watched"))
    }
}

impl Drop for BegunChild {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _gone = kill_process_group(Pid::from_child(&child), Signal::KILL);
            // It has just begun, so that this takes no time.
            let _status = child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use rustix::process::{WaitOptions, waitpid};

    use super::*;

    #[test]
    fn a_child_that_cannot_be_watched_leaves_no_zombie() {
        let mut started = None;
        let begun = ChildCommand::new("sleep", "sleeper").args(["1000"]).start_with(|pid| {
            started = Some(pid);
            Err(io::Error::other("no descriptor is left"))
        });
        assert_eq!(begun.unwrap_err().to_string(), "no descriptor is left");
        assert_eq!(waitpid(started, WaitOptions::NOHANG).unwrap_err(), rustix::io::Errno::CHILD);
    }
}
