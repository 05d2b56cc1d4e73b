//! A child process that runs a reader: what it is asked, and what its answers are.

use std::io;
use std::time::Duration;

use forebay_children::{
    Channel, ChildCommand, ChildProcess, FrameHead, LentMemory, Patience, PythonModule, Refill, Silence,
};
use forebay_printable::printable;
use forebay_sources::RecordParts;
use serde_json::{Value, json};

use super::cells::GivenColumns;
use super::frames::{FrameKind, SHORT};
use super::settings::ReaderSettings;
use super::shards::TaskSpan;
use crate::grain_cache::Grain;

/// The child's program, and the part of it that knows columns.
const PROGRAM: [PythonModule; 2] = [
    PythonModule { name: "forebay_cells", code: include_str!("cells.py") },
    PythonModule { name: "forebay_program", code: include_str!("reader.py") },
];
/// How long a child may take to import the reader's file and make the reader, and to say what the dataset has.
pub(super) const STARTING: Duration = Duration::from_secs(600);
/// How long a request may take to be sent. It always fits in the socket, unless the child has stopped reading.
const SENDING: Duration = Duration::from_secs(60);
/// Most bytes of a span. One with more is read record by record.
const MOST_BYTES: u64 = 256 << 20;
/// Most bytes of the JSON with all shards.
const MOST_SHARDS: u64 = 1 << 30;

/// A child with a reader of its own.
#[derive(Debug)]
pub(super) struct ReaderChild {
    process: ChildProcess,
    /// Large records come through it.
    memory: LentMemory,
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
        let mut begun = Self::spawn(settings).map_err(StartFailure::Spawn)?;
        let answer = begun.request(&settings.begin(), time, |_| Err(unexpected()));
        answer.map_err(StartFailure::Reader)?;
        Ok(begun)
    }

    fn spawn(settings: &ReaderSettings) -> io::Result<Self> {
        let name = settings.name().to_string_lossy();
        let mut process = ChildCommand::python(&settings.processes.interpreter, name, &PROGRAM).start()?;
        let memory = LentMemory::new()?;
        memory.lend(process.channel())?;
        Ok(Self { process, memory })
    }

    /// The child's process id.
    #[cfg(test)]
    pub(super) fn pid(&self) -> rustix::process::Pid {
        self.process.pid()
    }

    /// Bytes of records that it has in memory.
    #[cfg(test)]
    pub(super) fn in_memory(&self) -> u64 {
        self.memory.written().unwrap()
    }

    /// Lets go of the child, as the end of the daemon does.
    #[cfg(test)]
    pub(super) fn let_go(&mut self) {
        self.process.close_life();
    }

    /// What the dataset has. `progress` is called for each task that is read for its labels.
    pub(super) fn describe(&mut self, scan: bool, progress: &dyn Fn()) -> Result<ReaderReply, TaskFailure> {
        let mut about = ReaderReply::default();
        self.request(&json!({ "do": "describe", "scan": scan }), STARTING, |mut frame| match frame.kind {
            FrameKind::Shards => {
                about.json = frame.whole(MOST_SHARDS)?;
                Ok(())
            }
            FrameKind::Integers => {
                let bytes = frame.whole(MOST_SHARDS * 32)?;
                let integers = bytes.chunks_exact(8).filter_map(|bytes| bytes.try_into().ok());
                about.labels = Some(integers.map(i64::from_le_bytes).collect());
                Ok(())
            }
            FrameKind::Type => {
                let json = frame.whole(SHORT)?;
                Ok(about.columns.begin(&json)?)
            }
            FrameKind::Values => {
                let cells = frame.whole(MOST_BYTES)?;
                Ok(about.columns.push(&cells)?)
            }
            FrameKind::Progress if frame.head.len == 0 => {
                progress();
                Ok(())
            }
            _ => Err(unexpected()),
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
        self.request(&request, settings.processes.read_timeout, |mut frame| {
            let surplus = answer.grain.ends.len() as u64 >= span.len();
            let len = frame.head.len;
            match frame.kind {
                // One of each before a record, or they would never end.
                FrameKind::Label if label.is_none() => {
                    let json = frame.whole(SHORT)?;
                    label = Some(GivenLabel(serde_json::from_slice(&json).map_err(|_| Silence::Garbage)?));
                    return Ok(());
                }
                FrameKind::Others if !has_others => {
                    has_others = true;
                    let json = frame.whole(SHORT)?;
                    answer.others = serde_json::from_slice(&json).map_err(|_| Silence::Garbage)?;
                    return Ok(());
                }
                FrameKind::Record | FrameKind::Stored if len <= settings.byte_limit && !surplus => {
                    if span.len() > 1 && len.saturating_add(bytes.filled() as u64) > MOST_BYTES {
                        return Err(TaskFailure::Bulky);
                    }
                    frame.add_to(&mut bytes)?;
                }
                FrameKind::Big if !surplus => {
                    let size = frame.whole(SHORT)?;
                    let size = <[u8; 8]>::try_from(size.as_slice()).map_err(|_| Silence::Garbage)?;
                    too_large = Some(u64::from_le_bytes(size));
                }
                _ => return Err(unexpected()),
            }
            has_others = false;
            answer.grain.ends.push(bytes.filled());
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
        let masks = settings.masks.targets().count();
        let is_whole = |record: &[u8]| record.is_empty() || RecordParts::are_well_formed(record, masks);
        if (0..answer.grain.ends.len()).filter_map(|number| answer.grain.record(number)).all(is_whole) {
            Ok(answer)
        } else {
            Err(Silence::Garbage.into())
        }
    }

    /// Sends a request and takes its answer. `time` is what each frame may take.
    fn request(
        &mut self,
        request: &Value,
        time: Duration,
        mut take: impl FnMut(AnswerFrame<'_>) -> Result<(), TaskFailure>,
    ) -> Result<(), TaskFailure> {
        let (channel, memory) = (self.process.channel(), &mut self.memory);
        let mut answer = || {
            channel.send(format!("{request}\n").as_bytes(), &Patience::lasting(SENDING))?;
            loop {
                let patience = Patience::lasting(time);
                let head = channel.head(&patience)?;
                let kind = FrameKind::of(head)?;
                let mut frame = AnswerFrame { kind, head, channel, memory, patience: &patience };
                match kind {
                    FrameKind::Done if head.len == 0 => return Ok(()),
                    FrameKind::Error | FrameKind::Outage => {
                        let words = frame.whole(SHORT)?;
                        let words = printable(&*String::from_utf8_lossy(&words)).to_string();
                        let is_error = kind == FrameKind::Error;
                        return Err(if is_error { TaskFailure::Raised(words) } else { TaskFailure::Outage(words) });
                    }
                    _ => take(frame)?,
                }
            }
        };
        answer().map_err(|failure| match failure {
            TaskFailure::Hung(_) => TaskFailure::Hung(format!("it gave no answer within {time:?}")),
            other => other,
        })
    }
}

/// A frame of an answer, whose bytes have not been taken yet.
struct AnswerFrame<'a> {
    kind: FrameKind,
    head: FrameHead,
    channel: &'a mut Channel,
    memory: &'a mut LentMemory,
    patience: &'a Patience<'a>,
}

impl AnswerFrame<'_> {
    /// Its bytes, at most so many.
    fn whole(&mut self, most: u64) -> Result<Vec<u8>, Silence> {
        self.channel.whole(self.head, most, self.patience)
    }

    /// Adds the record that it has or that it tells of. Its length is known to be allowed.
    fn add_to(&mut self, bytes: &mut Refill) -> Result<(), Silence> {
        match self.kind {
            FrameKind::Stored => self.memory.take(self.head.len, bytes),
            _ => self.channel.body(self.head, self.head.len, self.patience, bytes),
        }
    }
}

/// A frame has no place in the answer.
fn unexpected() -> TaskFailure {
    Silence::Garbage.into()
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
