//! The private daemon of this process. It is started when needed, shared by all sessions of the process, and ends with it.
//!
//! It runs as a child with one end of a socket pair as its standard input. Each session sends it one end of a
//! further pair. It ends when that socket hangs up or when its parent has died. A daemon that died is started again,
//! at most three times without a batch in between (semantics rule 16). One that refused its settings is not started again:
//! it would refuse them each time.

use std::collections::{BTreeMap, VecDeque};
use std::env;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{ChildStderr, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use forebay_ring::{MessageKind, Number, Sent, Socket, text_code};
use parking_lot::Mutex;
use rustix::fs::{MemfdFlags, memfd_create};

use crate::error::{AttachError, Broken, Refusal};
use crate::owner::Owner;

mod process;
#[cfg(test)]
mod tests;

use process::Process;

/// Times that a private daemon is started again without a batch in between.
const RESTARTS: u32 = 3;
/// Lines of its standard error that an error message shows.
const WORDS: usize = 20;
/// How a command begins what it writes about its failure.
const SPEAKER: &str = "forebay: ";
/// Tells a daemon of folders of Python packages.
const PACKAGES: &str = "FOREBAY_PYTHON_PACKAGES";
/// How long it may take to end when this process lets go of it.
const FAREWELL: Duration = Duration::from_secs(5);

/// A daemon that belongs to this process.
///
/// ```no_run
/// use std::sync::Arc;
/// use forebay_client::PrivateDaemon;
///
/// let daemon = Arc::new(PrivateDaemon::new("/usr/bin/forebay"));
/// // Every session of this process with `Target::Private { daemon: daemon.clone(), .. }` shares it.
/// ```
#[derive(Debug)]
pub struct PrivateDaemon {
    owner: Owner,
    setup: DaemonSetup,
    sessions: AtomicU64,
    /// A session has handed out a batch since the last death.
    has_delivered: AtomicBool,
    state: Mutex<DaemonState>,
}

/// What it is started with.
#[derive(Debug)]
struct DaemonSetup {
    binary: PathBuf,
    /// Names of long options, with their values.
    options: BTreeMap<String, String>,
    packages: Vec<PathBuf>,
}

#[derive(Debug, Default)]
struct DaemonState {
    running: Option<Running>,
    /// The memory of the daemon's ledgers. A restarted daemon continues with them, and they vanish with this process.
    ledgers: Option<Arc<OwnedFd>>,
    /// In a row, without a batch in between.
    deaths: u32,
    /// How the last one ended.
    cause: String,
    words: ErrorLines,
}

#[derive(Debug)]
struct Running {
    process: Process,
    socket: Socket,
    ledgers: Arc<OwnedFd>,
    reader: JoinHandle<()>,
}

/// Last lines of the daemon's standard error.
#[derive(Clone, Debug, Default)]
struct ErrorLines {
    lines: Arc<Mutex<VecDeque<String>>>,
}

impl PrivateDaemon {
    /// Names the binary; it is run when the first session attaches.
    pub fn new(binary: impl Into<PathBuf>) -> Self {
        Self {
            owner: Owner::this_process(),
            setup: DaemonSetup { binary: binary.into(), options: BTreeMap::new(), packages: Vec::new() },
            sessions: AtomicU64::new(0),
            has_delivered: AtomicBool::new(false),
            state: Mutex::default(),
        }
    }

    /// The same with an option of `forebay serve`, such as `lanes` or `pixel-limit`.
    #[must_use]
    pub fn with_option(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.setup.options.insert(name.into(), value.into());
        self
    }

    /// The same with folders of Python packages in which the daemon looks for nvJPEG before the machine's. They are passed
    /// in `FOREBAY_PYTHON_PACKAGES`, unless this process has that variable already.
    #[must_use]
    pub fn with_packages(mut self, folders: impl IntoIterator<Item = PathBuf>) -> Self {
        self.setup.packages.extend(folders);
        self
    }

    /// What it was given for an option.
    pub fn option(&self, name: &str) -> Option<&String> {
        self.setup.options.get(name)
    }

    /// A number for the next session of this process.
    pub fn number(&self) -> u64 {
        self.sessions.fetch_add(1, Ordering::Relaxed)
    }

    /// True in the process that made it, false in its forked children.
    pub fn is_of_this_process(&self) -> bool {
        self.owner.is_here()
    }

    /// A socket to the daemon, which is started, or started again, where it does not run.
    pub(crate) fn connect(&self) -> Result<Socket, AttachError> {
        self.owner.check()?;
        let mut state = self.state.lock();
        loop {
            state.bury_if_dead(&self.has_delivered)?;
            let running = state.start(&self.setup)?;
            let (ours, theirs) = Socket::pair().map_err(Broken::from)?;
            let connect = Number { kind: MessageKind::Connect as u32, reserved: 0, value: 0 };
            let fds = [theirs.as_fd(), running.ledgers.as_fd()];
            let sent = running.socket.send(bytemuck::bytes_of(&connect), &fds);
            match sent.map_err(Broken::from)? {
                Sent::Done => return Ok(ours),
                Sent::WouldBlock => {
                    return Err(Broken::Protocol("it does not read its parent's socket".to_owned()).into());
                }
                Sent::Closed => state.bury(&self.has_delivered)?,
            }
        }
    }

    /// A session has handed out a batch.
    pub(crate) fn has_delivered(&self) {
        self.has_delivered.store(true, Ordering::Relaxed);
    }

    /// Last lines that the daemon wrote, for messages; empty or begun by a line break.
    pub(crate) fn last_words(&self) -> String {
        let words = self.state.lock().words.text();
        if words.is_empty() { words } else { format!("; its last words were:\n{words}") }
    }

    /// Process number of the running daemon.
    pub fn pid(&self) -> Option<u32> {
        self.state.lock().running.as_ref().map(|running| running.process.pid())
    }
}

impl DaemonSetup {
    fn command(&self) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .args(["serve", "--private", "--socket-fd", "0"])
            .args(self.options.iter().map(|(name, value)| format!("--{name}={value}")))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            // A Ctrl-C is for the trainer, which ends its daemon itself.
            .process_group(0);
        // A folder whose name has the separator in it cannot be told.
        if let (None, Ok(packages)) = (env::var_os(PACKAGES), env::join_paths(&self.packages)) {
            command.env(PACKAGES, packages);
        }
        command
    }
}

impl DaemonState {
    fn start(&mut self, setup: &DaemonSetup) -> Result<&Running, AttachError> {
        if self.running.is_none() {
            if self.deaths > RESTARTS {
                let (deaths, cause, words) = (self.deaths, self.cause.clone(), self.words.text());
                return Err(AttachError::PrivateDied { deaths, cause, words });
            }
            self.words = ErrorLines::default();
            let ledgers = match &self.ledgers {
                Some(ledgers) => Arc::clone(ledgers),
                None => Arc::clone(self.ledgers.insert(Arc::new(memory().map_err(Broken::from)?))),
            };
            self.running = Some(Running::spawn(setup, ledgers, self.words.clone())?);
        }
        Ok(self.running.as_ref().expect("it was started just above"))
    }

    fn bury_if_dead(&mut self, has_delivered: &AtomicBool) -> Result<(), AttachError> {
        let exited = match &mut self.running {
            Some(running) => running.process.has_ended().map_err(io::Error::from).map_err(Broken::from)?,
            None => false,
        };
        if exited { self.bury(has_delivered) } else { Ok(()) }
    }

    /// Makes sure that the daemon is gone and notes how it ended.
    ///
    /// # Errors
    /// [`AttachError::Refused`] with the daemon's text if it refused its settings.
    fn bury(&mut self, has_delivered: &AtomicBool) -> Result<(), AttachError> {
        let Some(Running { process, socket, ledgers: _, reader }) = self.running.take() else { return Ok(()) };
        drop(socket);
        // It has hung up, so even if it still runs, it serves no trainer.
        let ending = process.bury().map_err(io::Error::from).map_err(Broken::from)?;
        // The thread ends with the pipe that it reads, and has all that the daemon wrote then.
        let _ended = reader.join();
        if ending.is_refusal() {
            return Err(Refusal { code: text_code::SETTINGS, message: self.words.refusal() }.into());
        }
        self.cause = ending.cause;
        // Batches show that the daemon can be used: only deaths without one are counted together.
        self.deaths = if has_delivered.swap(false, Ordering::Relaxed) { 1 } else { self.deaths + 1 };
        Ok(())
    }
}

impl Running {
    fn spawn(setup: &DaemonSetup, ledgers: Arc<OwnedFd>, words: ErrorLines) -> Result<Self, AttachError> {
        let at = |source| AttachError::Spawn { binary: setup.binary.clone(), source };
        let (ours, theirs) = Socket::pair().map_err(Broken::from)?;
        let mut child = setup.command().stdin(theirs.into_fd()).spawn().map_err(at)?;
        let stderr = child.stderr.take().expect("its standard error was asked for as a pipe");
        let process = Process::watch(child).map_err(|error| at(error.into()))?;
        let reader = std::thread::Builder::new().name("forebay-stderr".to_owned()).spawn(move || words.read(stderr));
        match reader {
            Ok(reader) => Ok(Self { process, socket: ours, ledgers, reader }),
            Err(error) => {
                process.bury().map_err(|error| at(error.into()))?;
                Err(at(error))
            }
        }
    }

    /// Lets go of the daemon and waits for its end.
    fn end(self) -> io::Result<()> {
        let Self { process, socket, ledgers: _, reader } = self;
        // A forked child may keep the socket open, so tell the daemon that this process is done with it.
        socket.shut_down();
        // Reap it even if it is late: an unreaped child would stay as a zombie.
        process.ends_within(FAREWELL)?;
        process.bury()?;
        let _ended = reader.join();
        Ok(())
    }
}

/// Anonymous memory.
fn memory() -> io::Result<OwnedFd> {
    Ok(memfd_create("forebay-ledgers", MemfdFlags::CLOEXEC)?)
}

impl ErrorLines {
    /// Passes every line on to this process's standard error and remembers the last ones.
    fn read(&self, from: ChildStderr) {
        for line in BufReader::new(from).split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line).into_owned();
            // If this process has no standard error, the line is not shown.
            let _written = writeln!(io::stderr(), "{line}");
            let mut lines = self.lines.lock();
            if lines.len() == WORDS {
                lines.pop_front();
            }
            lines.push_back(line);
        }
    }

    /// What a daemon wrote that refused its settings.
    fn refusal(&self) -> String {
        let text = self.text();
        match text.strip_prefix(SPEAKER).unwrap_or(&text) {
            "" => "the private daemon refused its settings without a reason".to_owned(),
            reason => reason.to_owned(),
        }
    }

    fn text(&self) -> String {
        let lines: Vec<String> = self.lines.lock().iter().cloned().collect();
        lines.join("\n")
    }
}

impl Drop for PrivateDaemon {
    fn drop(&mut self) {
        if !self.owner.is_here() {
            return;
        }
        if let Some(running) = self.state.get_mut().running.take() {
            // Nothing is left to do about a child that cannot be waited for.
            let _ended = running.end();
        }
    }
}
