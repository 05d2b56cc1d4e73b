//! A child process that calls functions, from the daemon's side: what it is asked, and what it answers. The process of a Loader
//! takes its place if there are to be no children.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use forebay_children::{Arena, Channel, ChildCommand, ChildProcess, Patience, PeerProcess, PythonModule, Silence};
use forebay_printable::printable;
use serde_json::{Value, json};

use super::batch_form::BatchForm;
use super::call::{Call, CallAnswer};
use super::code::StepError;
use super::plan::{FRAME_BYTES, StepPlan};
use super::step_masks::{self, StepRoom};
use crate::batch_metadata::SettledBatch;

/// The child's program.
const PROGRAM: [PythonModule; 4] = [
    PythonModule { name: "forebay_sample", code: include_str!("sample.py") },
    PythonModule { name: "forebay_masks", code: include_str!("masks.py") },
    PythonModule { name: "forebay_batch", code: include_str!("batch.py") },
    PythonModule { name: "forebay_step", code: include_str!("step.py") },
];
/// What messages call it.
const NAME: &str = "python step";
/// How long a child may take to import the functions, and the first call of a child.
pub(super) const STARTING: Duration = Duration::from_secs(600);
/// How long the end of a child may take whose end of the socket is closed.
const ENDING: Duration = Duration::from_secs(10);
/// Most bytes of what a child says in words.
const MOST: u64 = 1 << 20;
/// Most bytes of what a function returns beside a picture.
const MOST_BESIDE: u64 = 16 << 20;
/// One thread for each library of numbers, a fixed order of sets, no GPU, and no Loader.
const ENVIRONMENT: [(&str, &str); 9] = [
    ("PYTHONHASHSEED", "0"),
    ("OMP_NUM_THREADS", "1"),
    ("OPENBLAS_NUM_THREADS", "1"),
    ("MKL_NUM_THREADS", "1"),
    ("NUMEXPR_NUM_THREADS", "1"),
    ("VECLIB_MAXIMUM_THREADS", "1"),
    ("OPENCV_FOR_THREADS_NUM", "1"),
    ("CUDA_VISIBLE_DEVICES", ""),
    ("FOREBAY_CHILD", "1"),
];

/// The hash of each function's file.
pub(super) type FileHashes = BTreeMap<String, String>;

/// A child that has imported the functions. Dropping it ends it.
#[derive(Debug)]
pub(super) struct StepChild {
    process: StepProcess,
    arena: Arena,
    /// The first bytes of the arena whose memory stays when a larger picture has been there, and where the last one of a frame ends.
    kept: u64,
    written: u64,
    /// It has answered a call before.
    pub has_answered: bool,
}

/// What calls the functions.
#[derive(Debug)]
enum StepProcess {
    Child(ChildProcess),
    /// The process of the Loader whose stream it is.
    Loader(PeerProcess),
}

/// Why there is no child.
#[derive(Debug)]
pub(super) enum NotStarted {
    /// The system did not start the interpreter, or it ended by itself.
    System(String),
    /// A function cannot be imported: the end of the traceback.
    Import(String),
}

impl From<NotStarted> for StepError {
    fn from(failure: NotStarted) -> Self {
        match failure {
            NotStarted::System(words) => Self::Start(words),
            NotStarted::Import(words) => Self::Import(words),
        }
    }
}

impl StepChild {
    /// Starts a child and waits until it has imported the functions. Gives the hashes of their files. A Loader has them already.
    pub(super) fn start(plan: &StepPlan, patience: &Patience<'_>) -> Result<(Self, FileHashes), NotStarted> {
        let system = |error: io::Error| NotStarted::System(error.to_string());
        let mut request = plan.code.begin(&plan.lists, plan.room.whole);
        request["masks"] = step_masks::forms(&plan.masks, plan.room);
        request["columns"] = plan.columns.forms().into();
        request["batch"] = plan.batch.as_ref().map(BatchForm::begin).into();
        let mut process = match plan.code.loader() {
            Some(socket) => {
                // A child has the program from its command line.
                request["program"] = json!(PROGRAM.map(|module| [module.name, module.code]));
                StepProcess::connect(socket).map_err(system)?
            }
            None => StepProcess::start(plan).map_err(system)?,
        };
        let arena = Arena::new(plan.arena()).map_err(system)?;
        arena.lend(process.channel()).map_err(system)?;
        let request = format!("{request}\n");
        let kept = if plan.lists.are_open() { FRAME_BYTES } else { u64::MAX };
        let mut child = Self { process, arena, kept, written: 0, has_answered: false };
        let told = child.process.channel().send(request.as_bytes(), patience).and_then(|()| child.frame(patience));
        match told {
            Ok((b'J', json)) => {
                let hashes =
                    serde_json::from_slice(&json).map_err(|_| NotStarted::System("it sent no JSON".to_owned()))?;
                child.finish(patience).map_err(|silence| NotStarted::System(child.silence_words(silence)))?;
                tracing::info!(process = child.process.pid(), "a process calls functions in Python");
                Ok((child, hashes))
            }
            Ok((b'I', words)) => Err(NotStarted::Import(words_of(&words))),
            Ok(_) => Err(NotStarted::System("it sent something that is no answer".to_owned())),
            Err(silence) => Err(NotStarted::System(child.silence_words(silence))),
        }
    }

    /// Sends calls. There are at most as many as a frame has, and each has an answer, in their order.
    ///
    /// # Errors
    /// The child does not take them.
    pub(super) fn ask(&mut self, calls: &[Call<'_>], room: StepRoom, patience: &Patience<'_>) -> Result<(), Silence> {
        let mut list: Vec<Value> = Vec::with_capacity(calls.len());
        for (place, call) in (0..).zip(calls) {
            let Call { step, label, columns, .. } = call;
            let write = |at: u64, bytes: &[u8]| self.arena.write(at, bytes).map_err(|_| Silence::Memory);
            write(place * room.whole, call.pixels)?;
            self.written = self.written.max(place * room.whole + call.pixels.len() as u64);
            let mut at = place * room.whole + room.masks;
            for mask in call.masks {
                write(at, &mask.numbers)?;
                at += mask.numbers.len() as u64;
            }
            let masks: Vec<bool> = call.masks.iter().map(|mask| mask.is_there).collect();
            let sample = json!([call.record, call.epoch, call.view, call.repeat]);
            let size = json!([call.size.0, call.size.1]);
            let seed = format!("{:x}", call.seed);
            list.push(json!({
                "step": step, "size": size, "sample": sample, "seed": seed, "label": label, "columns": columns, "masks": masks,
            }));
        }
        let request = format!("{}\n", json!({ "do": "call", "calls": list }));
        self.process.channel().send(request.as_bytes(), patience)
    }

    /// Sends a call with a whole batch.
    ///
    /// # Errors
    /// The child does not take it.
    pub(super) fn ask_batch(
        &mut self,
        form: &BatchForm,
        batch: &SettledBatch,
        patience: &Patience<'_>,
    ) -> Result<(), Silence> {
        let SettledBatch { metadata, slot, .. } = batch;
        form.write(slot, metadata.shown, &self.arena).map_err(|_| Silence::Memory)?;
        let request = format!("{}\n", form.request(metadata));
        self.process.channel().send(request.as_bytes(), patience)
    }

    /// Copies what the function has made of a batch.
    ///
    /// # Errors
    /// The system does not give it.
    pub(super) fn take_batch(&self, form: &BatchForm, batch: &mut SettledBatch) -> io::Result<()> {
        form.read(&mut batch.slot, batch.metadata.shown, &self.arena)
    }

    /// The answer to the next call.
    ///
    /// # Errors
    /// There is none in time.
    pub(super) fn answer(&mut self, patience: &Patience<'_>) -> Result<CallAnswer, Silence> {
        let channel = self.process.channel();
        let head = channel.head(patience)?;
        let is_made = matches!(head.letter, b'K' | b'F');
        let body = channel.whole(head, if is_made { MOST_BESIDE } else { MOST }, patience)?;
        let words = if is_made { String::new() } else { words_of(&body) };
        let answer = match head.letter {
            letter @ (b'K' | b'F') => CallAnswer::Made { are_floats: letter == b'F', beside: body },
            b'X' => CallAnswer::Raised(words),
            b'S' => CallAnswer::Skipped(words),
            b'W' => CallAnswer::Wrong(words),
            b'O' => CallAnswer::Lack(words),
            b'N' => CallAnswer::NoMemory,
            b'A' => CallAnswer::Again,
            _ => return Err(Silence::Garbage),
        };
        self.has_answered = true;
        Ok(answer)
    }

    /// Copies a part of a result, which begins at this byte of the arena.
    ///
    /// # Errors
    /// The system does not give it.
    pub(super) fn result(&self, at: u64, into: &mut [u8]) -> Result<(), Silence> {
        self.arena.read(at, into).map_err(|_| Silence::Garbage)
    }

    /// The end of an answer.
    ///
    /// # Errors
    /// It does not come.
    pub(super) fn finish(&mut self, patience: &Patience<'_>) -> Result<(), Silence> {
        let (b'D', _) = self.frame(patience)? else { return Err(Silence::Garbage) };
        if std::mem::take(&mut self.written) > self.kept {
            // If the system refuses, the memory is there for the next large picture.
            let _refused = self.arena.give_back(self.kept);
        }
        Ok(())
    }

    /// How it has ended, if it has.
    pub(super) fn ending(&self) -> Option<ExitStatus> {
        match &self.process {
            StepProcess::Child(child) => child.ending(ENDING),
            StepProcess::Loader(_) => None,
        }
    }

    fn frame(&mut self, patience: &Patience<'_>) -> Result<(u8, Vec<u8>), Silence> {
        let channel = self.process.channel();
        let head = channel.head(patience)?;
        Ok((head.letter, channel.whole(head, MOST, patience)?))
    }

    fn silence_words(&self, silence: Silence) -> String {
        match silence {
            Silence::Late => format!("it was silent for {STARTING:?}"),
            Silence::Ended => {
                self.ending().map_or_else(|| "it has ended".to_owned(), |status| format!("it has ended ({status})"))
            }
            Silence::Garbage => "it sent something that is no answer".to_owned(),
            Silence::Memory => "the system lacks memory".to_owned(),
        }
    }
}

impl StepProcess {
    fn start(plan: &StepPlan) -> io::Result<Self> {
        let command = ChildCommand::python(&plan.code.interpreter, NAME, &PROGRAM).envs(ENVIRONMENT);
        Ok(Self::Child(command.most_memory(plan.memory).start()?))
    }

    fn connect(socket: &Path) -> io::Result<Self> {
        PeerProcess::connect(socket).map(Self::Loader)
    }

    fn channel(&mut self) -> &mut Channel {
        match self {
            Self::Child(child) => child.channel(),
            Self::Loader(loader) => loader.channel(),
        }
    }

    fn pid(&self) -> i32 {
        match self {
            Self::Child(child) => child.pid(),
            Self::Loader(loader) => loader.pid(),
        }
        .as_raw_pid()
    }
}

/// What a child says in words, line by line as it may be shown.
fn words_of(bytes: &[u8]) -> String {
    printable(&*String::from_utf8_lossy(bytes)).lines().to_string()
}
