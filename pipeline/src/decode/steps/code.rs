//! What the children of a stream run, and where it may be.

use std::path::{Path, PathBuf};

use forebay_printable::printable;
use forebay_sources::ReaderFolders;
use serde_json::{Value, json};
use thiserror::Error;

use crate::settings::StepSettings;
use crate::step_lists::{StepList, StepLists};
use forebay_pixels::{Dtype, Layout, Mode, PythonStep, Recipe, Size};

/// Why a stream has no functions in Python.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StepError {
    /// Its pixels are in a GPU.
    #[error(
        "transform: the function {function} runs on the CPU, but the pixels of the stream are in a GPU. Set placement = \"host\""
    )]
    Gpu {
        /// The function.
        function: String,
    },
    /// A service starts no such program.
    #[error(
        "python is \"{program}\", but must be left out, or be the absolute path of a program below a folder of `python` in \
         [sources] of the configuration: a service starts no other",
        program = printable(.program)
    )]
    Interpreter {
        /// The program.
        program: PathBuf,
    },
    /// Its functions are to run in the process of a Loader, and there is none.
    #[error(
        "python_workers is 0, which only a Loader of its own daemon may have: functions are called in the Loader's process then. \
         Give at least 1"
    )]
    NoLoader,
    /// A service has no folders with modules.
    #[error(
        "transform: the function {function} cannot run: the configuration names no folders of `python` in [sources]. Add the \
         folder of its module there, or use a Loader of your own process"
    )]
    NoFolder {
        /// The function.
        function: String,
    },
    /// A service searches modules only in its own folders.
    #[error(
        "python_path has \"{folder}\", which is below none of the folders of `python` in [sources] of the configuration. Add it \
         there, or leave it out",
        folder = printable(.folder)
    )]
    Path {
        /// The folder.
        folder: PathBuf,
    },
    /// Its stream has a column that it could not tell from the label.
    #[error(
        "transform: the dataset has a column \"label\", and what the function {function} returned for \"label\" would be the label of the \
         record. Leave this column out with `columns`, or give it another name in the dataset"
    )]
    Label {
        /// The function.
        function: String,
    },
    /// A column that it declares cannot be one.
    #[error("transform: the function {function} declares the column \"{column}\": {problem}", column = printable(.column))]
    Column {
        /// The function.
        function: String,
        /// The column.
        column: String,
        /// What is wrong.
        problem: String,
    },
    /// A child was not started.
    #[error("transform: a process for the functions in Python cannot be started: {0}. Check `python`")]
    Start(String),
    /// A module or function cannot be imported.
    #[error("transform: a function in Python cannot be used. {}", printable(.0).lines())]
    Import(String),
}

/// What each child of a stream runs.
#[derive(Clone, Debug)]
pub(super) struct StepCode {
    pub interpreter: PathBuf,
    /// Where modules are searched first.
    path: Vec<PathBuf>,
    /// Below these folders the functions' modules must be. `None`: anywhere.
    folders: Option<Vec<PathBuf>>,
    /// Where a Loader listens that calls the functions itself.
    loader: Option<PathBuf>,
}

impl StepCode {
    /// Checks what may be run, of which `function` is the first one. A service runs only what is below its folders.
    ///
    /// # Errors
    /// The settings name something else.
    pub(super) fn new(function: &str, settings: &StepSettings, readers: &ReaderFolders) -> Result<Self, StepError> {
        let StepSettings { workers, interpreter, path, .. } = settings;
        if *workers == Some(0) {
            let loader = interpreter.clone().filter(|_| matches!(readers, ReaderFolders::Anywhere));
            let loader = Some(loader.ok_or(StepError::NoLoader)?);
            return Ok(Self { interpreter: PathBuf::new(), path: Vec::new(), folders: None, loader });
        }
        let program = interpreter.clone().unwrap_or_else(|| "python3".into());
        let ReaderFolders::Below(folders) = readers else {
            return Ok(Self { interpreter: program, path: path.clone(), folders: None, loader: None });
        };
        let interpreter = match interpreter {
            Some(named) => readers.program(named).ok_or(StepError::Interpreter { program })?,
            None => program,
        };
        if let Some(folder) = path.iter().find(|folder| !readers.has(folder)) {
            return Err(StepError::Path { folder: folder.clone() });
        }
        if folders.is_empty() {
            return Err(StepError::NoFolder { function: function.to_owned() });
        }
        let path = path.iter().chain(folders).cloned().collect();
        Ok(Self { interpreter, path, folders: Some(folders.clone()), loader: None })
    }

    /// Where a Loader listens that calls the functions itself. Nothing if children do.
    pub(super) fn loader(&self) -> Option<&Path> {
        self.loader.as_deref()
    }

    /// The first request to a child, whose pictures have so much room each.
    pub(super) fn begin(&self, lists: &StepLists, room: u64) -> Value {
        let all = lists.each().flat_map(|list| list.split.steps().iter().map(move |step| (list, step)));
        let each = all.map(|(list, step)| {
            let form = floats(list, step).map(Recipe::output);
            let form = form.map(|output| [output.dtype.name(), layout_name(output.layout)]);
            json!({
                "function": step.python.function,
                "seeded": step.python.seeded,
                "gives": step.python.output.map(Size::square),
                "floats": form,
            })
        });
        let texts = |folders: &[PathBuf]| folders.iter().map(|folder| text(folder)).collect::<Vec<_>>();
        json!({
            "do": "begin",
            "steps": each.collect::<Vec<_>>(),
            "path": texts(&self.path),
            "folders": self.folders.as_deref().map(texts),
            "room": room,
        })
    }
}

/// What is behind a function and has the form of the batch's values, if it may return floats: it is the last transform, and they are
/// floats.
pub(super) fn floats<'a>(list: &'a StepList, step: &PythonStep) -> Option<&'a Recipe> {
    let whole = list.split.part(list.split.steps().len(), None);
    let output = whole.output();
    (step.is_last && output.dtype != Dtype::Uint8 && output.mode == Mode::Rgb).then_some(whole)
}

/// The name that settings use.
fn layout_name(layout: Layout) -> &'static str {
    match layout {
        Layout::Nhwc => "NHWC",
        Layout::Nchw => "NCHW",
    }
}

/// A path as Python has it. Paths of settings are UTF-8.
fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
