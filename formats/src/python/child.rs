//! A child process that runs a reader: how it is started, asked, ended and reaped.

use std::io::{self, PipeWriter};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, SendError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use forebay_printable::printable;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use serde_json::{Value, json};

use super::cells::GivenColumns;
use super::channel::{Channel, FrameHead, FrameKind, Silence};
use super::lines::follow;
use super::memory::RecordMemory;
use super::settings::ReaderSettings;
use super::shards::TaskSpan;
use crate::grain_cache::Grain;
use crate::refill::Refill;

/// The child's program. It travels in the binary, so that a wheel and a service have the one that fits.
const PROGRAM: &str = include_str!("child.py");
/// The part of it that knows columns.
const CELLS: &str = include_str!("cells.py");
/// How long a child may take to import the reader's file and make the reader, and to say what the dataset has.
pub(super) const STARTING: Duration = Duration::from_secs(600);
/// Most bytes of a span. One with more is read record by record.
const MOST_BYTES: u64 = 256 << 20;
/// Most bytes of the JSON with all shards.
const MOST_SHARDS: u64 = 1 << 30;

/// A child with a reader of its own.
#[derive(Debug)]
pub(super) struct ReaderChild {
    channel: Channel,
    /// Large records come through it.
    memory: RecordMemory,
    group: Pid,
    /// The child lives while this is open.
    life: Option<PipeWriter>,
    /// Goes to the thread that reaps it.
    process: Option<(Child, Sender<Child>)>,
}

/// What a reader said of its dataset.
#[derive(Debug, Default)]
pub(super) struct ReaderReply {
    /// JSON with shards, classes and the version.
    pub json: Vec<u8>,
    /// The labels of all records, if there are any.
    pub labels: Option<Vec<i64>>,
    /// The further columns of all records.
    pub columns: GivenColumns,
}

/// The label that came with a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GivenLabel(pub Value);

/// The records of a span.
#[derive(Debug, Default)]
pub(super) struct TaskAnswer {
    pub grain: Grain,
    /// One per record.
    pub labels: Vec<Option<GivenLabel>>,
    /// What a record has beside its bytes and its label.
    pub others: Vec<String>,
}

/// Why a span was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TaskFailure {
    /// What our own reader reads from is not reached. The child can be asked again.
    Outage(String),
    /// The reader raised, or gave another number of records. The child can be asked again.
    Raised(String),
    /// The child ended, or sent something that is not an answer.
    Lost(String),
    /// No record came in time.
    Hung(String),
    /// A record is larger than the limit.
    TooLarge(u64),
    /// The records of the span are too many bytes together.
    Bulky,
}

impl TaskFailure {
    /// Whether the child can be asked again.
    pub(super) fn keeps_child(&self) -> bool {
        matches!(self, Self::Outage(_) | Self::Raised(_) | Self::TooLarge(_))
    }

    /// What a person is told.
    pub(super) fn words(&self) -> &str {
        match self {
            Self::Outage(words) | Self::Raised(words) | Self::Lost(words) | Self::Hung(words) => words,
            Self::TooLarge(_) | Self::Bulky => "too many bytes",
        }
    }
}

/// Why there is no child.
#[derive(Debug)]
pub(super) enum StartFailure {
    /// The system did not start the interpreter.
    Spawn(io::Error),
    /// The reader's file cannot be imported, or its class not be called.
    Reader(TaskFailure),
}

impl ReaderChild {
    /// Starts a child, and waits for this time until it has a reader.
    pub(super) fn start(settings: &ReaderSettings, time: Duration) -> Result<Self, StartFailure> {
        let mut begun =
            Self::spawn(settings, |pid| Ok(pidfd_open(pid, PidfdFlags::empty())?)).map_err(StartFailure::Spawn)?;
        let answer = begun.request(&settings.begin(), time, |_, _, head, _| Err(unexpected(head)));
        answer.map_err(StartFailure::Reader)?;
        Ok(begun)
    }

    /// `watch` opens what tells that a process has ended.
    pub(super) fn spawn(settings: &ReaderSettings, watch: impl FnOnce(Pid) -> io::Result<OwnedFd>) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        let memory = RecordMemory::new()?;
        memory.lend(&ours)?;
        let (lives, life) = io::pipe()?;
        let mut child = Command::new(&settings.interpreter)
            .args(["-c", PROGRAM, CELLS])
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            // The child has its end of this pipe where others have their output: it only sees that the pipe closes.
            .stdout(Stdio::from(lives))
            .stderr(Stdio::piped())
            // Its own children are in the group too, and end with it.
            .process_group(0)
            .spawn()?;
        let group = Pid::from_child(&child);
        let (reaper, reaped) = mpsc::channel();
        let stderr = child.stderr.take().expect("it was asked to be piped");
        let name = settings.name().to_owned();
        let (channel, process) = (Channel::new(ours), Some((child, reaper)));
        let begun = Self { channel, memory, group, life: Some(life), process };
        let process = match watch(group) {
            Ok(process) => process,
            Err(error) => {
                // Without the thread, the end of `begun` waits for the child.
                drop(reaped);
                return Err(error);
            }
        };
        let log = move || {
            follow(stderr, process, &printable(&name).to_string(), group);
            reap(&reaped, group);
        };
        thread::Builder::new().name("forebay-reader".into()).spawn(log)?;
        Ok(begun)
    }

    /// The child's process id.
    #[cfg(test)]
    pub(super) fn pid(&self) -> Pid {
        self.group
    }

    /// Bytes of records that it has in memory.
    #[cfg(test)]
    pub(super) fn in_memory(&self) -> u64 {
        self.memory.len().unwrap()
    }

    /// Lets go of the child, as the end of the daemon does.
    #[cfg(test)]
    pub(super) fn let_go(&mut self) {
        self.life.take();
    }

    /// What the dataset has. `progress` is called for each task that is read for its labels.
    pub(super) fn describe(&mut self, scan: bool, progress: &dyn Fn()) -> Result<ReaderReply, TaskFailure> {
        let mut about = ReaderReply::default();
        self.request(&json!({ "do": "describe", "scan": scan }), STARTING, |channel, _, head, deadline| {
            match head.kind {
                FrameKind::Shards => {
                    about.json = channel.whole(head, MOST_SHARDS, deadline)?;
                    Ok(())
                }
                FrameKind::Integers => {
                    let bytes = channel.whole(head, MOST_SHARDS * 32, deadline)?;
                    let integers = bytes.chunks_exact(8).filter_map(|bytes| bytes.try_into().ok());
                    about.labels = Some(integers.map(i64::from_le_bytes).collect());
                    Ok(())
                }
                FrameKind::Type => {
                    let json = channel.short(head, deadline)?;
                    Ok(about.columns.begin(&json)?)
                }
                FrameKind::Values => {
                    let cells = channel.whole(head, MOST_BYTES, deadline)?;
                    Ok(about.columns.push(&cells)?)
                }
                FrameKind::Progress if head.len == 0 => {
                    progress();
                    Ok(())
                }
                _ => Err(unexpected(head)),
            }
        })?;
        Ok(about)
    }

    /// Reads the records of a span, into memory that was used before.
    pub(super) fn read(
        &mut self,
        span: &TaskSpan<'_>,
        settings: &ReaderSettings,
        used: Vec<u8>,
    ) -> Result<TaskAnswer, TaskFailure> {
        let (name, start, end) = (span.shard, span.start, span.end);
        let request = json!({ "do": "read", "name": name, "start": start, "end": end });
        let (mut answer, mut bytes) = (TaskAnswer::default(), Refill::new(used));
        let (mut label, mut has_others, mut too_large) = (None, false, None);
        self.memory.begin()?;
        self.request(&request, settings.read_timeout, |channel, memory, head, deadline| {
            let surplus = answer.grain.ends.len() as u64 >= span.len();
            match head.kind {
                // One of each before a record, or they would never end.
                FrameKind::Label if label.is_none() => {
                    let json = channel.short(head, deadline)?;
                    label = Some(GivenLabel(serde_json::from_slice(&json).map_err(|_| Silence::Garbage)?));
                    return Ok(());
                }
                FrameKind::Others if !has_others => {
                    has_others = true;
                    let json = channel.short(head, deadline)?;
                    answer.others = serde_json::from_slice(&json).map_err(|_| Silence::Garbage)?;
                    return Ok(());
                }
                FrameKind::Record | FrameKind::Stored if head.len <= settings.byte_limit && !surplus => {
                    if span.len() > 1 && head.len.saturating_add(bytes.len() as u64) > MOST_BYTES {
                        return Err(TaskFailure::Bulky);
                    }
                    match head.kind {
                        FrameKind::Stored => memory.take(head.len, &mut bytes)?,
                        _ => channel.body(head, settings.byte_limit, deadline, &mut bytes)?,
                    }
                }
                FrameKind::Big if !surplus => {
                    let size = channel.short(head, deadline)?;
                    let size = <[u8; 8]>::try_from(size.as_slice()).map_err(|_| Silence::Garbage)?;
                    too_large = Some(u64::from_le_bytes(size));
                }
                _ => return Err(unexpected(head)),
            }
            has_others = false;
            answer.grain.ends.push(bytes.len());
            answer.labels.push(label.take());
            Ok(())
        })?;
        if let Some(size) = too_large {
            return Err(TaskFailure::TooLarge(size));
        }
        if answer.grain.ends.len() as u64 != span.len() {
            return Err(Silence::Garbage.into());
        }
        answer.grain.bytes = bytes.finish();
        Ok(answer)
    }

    /// Sends a request and takes its answer. `time` is what each frame may take.
    fn request(
        &mut self,
        request: &Value,
        time: Duration,
        mut take: impl FnMut(&mut Channel, &mut RecordMemory, FrameHead, Instant) -> Result<(), TaskFailure>,
    ) -> Result<(), TaskFailure> {
        let mut answer = || {
            self.channel.ask(request)?;
            loop {
                let deadline = Instant::now() + time;
                let head = self.channel.head(deadline)?;
                match head.kind {
                    FrameKind::Done if head.len == 0 => return Ok(()),
                    FrameKind::Error | FrameKind::Outage => {
                        let words = self.channel.short(head, deadline)?;
                        let words = printable(&*String::from_utf8_lossy(&words)).to_string();
                        let is_error = head.kind == FrameKind::Error;
                        return Err(if is_error { TaskFailure::Raised(words) } else { TaskFailure::Outage(words) });
                    }
                    _ => take(&mut self.channel, &mut self.memory, head, deadline)?,
                }
            }
        };
        answer().map_err(|failure| match failure {
            TaskFailure::Hung(_) => TaskFailure::Hung(format!("it gave no answer within {time:?}")),
            other => other,
        })
    }
}

impl Drop for ReaderChild {
    fn drop(&mut self) {
        let Some((child, reaper)) = self.process.take() else { return };
        drop(self.life.take());
        // The child is not reaped yet, so the number is still its own. A group that is gone already needs no signal.
        let _gone = kill_process_group(self.group, Signal::KILL);
        if let Err(SendError(mut child)) = reaper.send(child) {
            // The thread could not be started.
            let _status = child.wait();
        }
    }
}

impl From<Silence> for TaskFailure {
    fn from(silence: Silence) -> Self {
        match silence {
            Silence::Late => Self::Hung(String::new()),
            Silence::Ended => Self::Lost("its process ended; the log says how".into()),
            Silence::Garbage => Self::Lost("its process sent something that is not an answer".into()),
            Silence::Memory => Self::Lost("the system has no memory for the record".into()),
        }
    }
}

fn unexpected(_head: FrameHead) -> TaskFailure {
    Silence::Garbage.into()
}

/// Waits for the end of a child that nobody asks any more.
fn reap(reaped: &Receiver<Child>, pid: Pid) {
    let Ok(mut child) = reaped.recv() else { return };
    if let Ok(status) = child.wait() {
        tracing::debug!(%status, child = pid.as_raw_pid(), "a reader's process has ended");
    }
}
