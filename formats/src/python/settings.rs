//! What a source gives to its reader: the reader's code, its parameters, and how it is run.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use forebay_printable::printable;
use forebay_sources::{ColumnMap, Container, Labels, Options, ReaderFolders, RecordParts, SourceError};
use serde_json::{Map, Value, json};

use super::{CLASS, PER_TASK, PYTHON, READ_TIMEOUT, SCAN, WORKERS};

/// A reader and how it is run.
#[derive(Clone, Debug)]
pub(super) struct ReaderSettings {
    pub code: ReaderCode,
    pub call: ReaderCall,
    pub processes: ReaderProcesses,
    /// Which keys of a record become which columns.
    pub columns: ColumnMap,
    /// Which keys of a record have its masks.
    pub masks: ColumnMap,
    /// Records that are read at once.
    pub per_task: u64,
    /// Labels and columns are found by reading all records.
    pub scan: bool,
    pub labels: Labels,
    pub byte_limit: u64,
}

/// What makes the reader, and what it is called with.
#[derive(Clone, Debug, Default)]
pub(super) struct ReaderCall {
    /// The class, or the function that makes a reader. Empty for the names that `ElasticDL` knows.
    pub class: String,
    /// What the class is called with, by name.
    pub parameters: Map<String, Value>,
    /// Like the parameters, but not part of the dataset: how the data are reached.
    pub access: Map<String, Value>,
    /// Only what the reader's file itself defines may be its class.
    pub is_strict: bool,
}

/// The processes that read.
#[derive(Clone, Debug)]
pub(super) struct ReaderProcesses {
    pub interpreter: PathBuf,
    /// Most processes.
    pub workers: usize,
    /// How long a record may take.
    pub read_timeout: Duration,
}

/// Whose code reads.
#[derive(Clone, Debug)]
pub(super) enum ReaderCode {
    /// A user's.
    File {
        /// Without links in its path.
        path: PathBuf,
        /// What the file was when the dataset was opened.
        stamp: (u64, Option<SystemTime>),
    },
    /// Our own, which travels in the binary.
    Own {
        program: &'static str,
        /// What it reads, for people.
        url: String,
    },
}

const OWN: [&str; 6] = [CLASS.name, PYTHON.name, PER_TASK.name, WORKERS.name, READ_TIMEOUT.name, SCAN.name];
const MOST_WORKERS: u64 = 64;
const MOST_PER_TASK: u64 = 1 << 20;
/// Processes, unless the user says otherwise.
const WORKERS_BY_DEFAULT: usize = 8;
const LONGEST: f64 = 86_400.0;
/// How long a record may take, unless the user says otherwise.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The same for a reader of our own. Its silence is an outage, which must be known before a stream gives the record up.
const OWN_TIMEOUT: Duration = Duration::from_secs(40);

impl ReaderCode {
    /// Whether it is ours. Then the service that it reads from is to blame for its failures, and not the reader.
    pub(super) fn is_own(&self) -> bool {
        matches!(self, Self::Own { .. })
    }
}

impl ReaderSettings {
    /// Checks what the user gave.
    ///
    /// # Errors
    /// There is no such file, it may not be run here, or an option has a value that it cannot have.
    pub(super) fn new(path: &Path, options: &Options) -> Result<Self, SourceError> {
        let of_path = |error| SourceError::of_path(path, error);
        // Links are resolved before the check, so that exactly the file that was checked is run.
        let file = path.canonicalize().map_err(of_path)?;
        allowed(path, &file, &options.readers)?;
        let stamp = stamp(&file).map_err(of_path)?;
        if !file.is_file() || file.to_str().is_none() {
            let problem = "is not a Python file with a name in UTF-8. Give the file with the reader's class".to_owned();
            return Err(SourceError::Reader { path: path.to_owned(), problem });
        }
        let own = &options.own;
        let parameters = own.keys().filter(|key| !OWN.contains(key));
        let code = ReaderCode::File { path: file, stamp };
        let mut settings = Self::of(code, options)?;
        own.get(CLASS.name).unwrap_or_default().clone_into(&mut settings.call.class);
        settings.call.parameters = parameters.map(|key| (key.to_owned(), json!(own.get(key)))).collect();
        (settings.columns, settings.masks) = (options.columns.clone(), options.masks.clone());
        // The table of the masks is no part of the record that the user limits.
        let table = RecordParts::table_len(options.masks.targets().count());
        settings.byte_limit = options.byte_limit.saturating_add(table);
        Ok(settings)
    }

    /// How any reader is run.
    ///
    /// # Errors
    /// An option has a value that it cannot have.
    pub(super) fn of(code: ReaderCode, options: &Options) -> Result<Self, SourceError> {
        let own = &options.own;
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let timeout = if code.is_own() { OWN_TIMEOUT } else { TIMEOUT };
        let workers = whole(options, WORKERS.name, MOST_WORKERS)?.and_then(|count| usize::try_from(count).ok());
        Ok(Self {
            code,
            call: ReaderCall { is_strict: matches!(options.readers, ReaderFolders::Below(_)), ..ReaderCall::default() },
            processes: ReaderProcesses {
                interpreter: interpreter(options)?,
                workers: workers.unwrap_or_else(|| cores.min(WORKERS_BY_DEFAULT)),
                read_timeout: seconds(options)?.unwrap_or(timeout),
            },
            columns: ColumnMap::default(),
            masks: ColumnMap::default(),
            per_task: whole(options, PER_TASK.name, MOST_PER_TASK)?.unwrap_or(64),
            scan: own.flag(SCAN.name, false)?,
            labels: options.labels,
            byte_limit: options.byte_limit,
        })
    }

    /// Where its records are.
    pub(super) fn container(&self) -> Container {
        match &self.code {
            ReaderCode::File { path, .. } => Container::File(path.clone()),
            ReaderCode::Own { url, .. } => Container::Object { url: url.clone(), version: None },
        }
    }

    /// What messages call it.
    pub(super) fn name(&self) -> &OsStr {
        match &self.code {
            ReaderCode::File { path, .. } => path.file_name().unwrap_or_default(),
            ReaderCode::Own { url, .. } => OsStr::new(url.rsplit('/').next().unwrap_or_default()),
        }
    }

    /// Whether the reader's file is unchanged.
    ///
    /// # Errors
    /// It is gone, or cannot be looked at.
    pub(super) fn is_unchanged(&self) -> std::io::Result<bool> {
        match &self.code {
            ReaderCode::File { path, stamp: known } => stamp(path).map(|stamp| stamp == *known),
            ReaderCode::Own { .. } => Ok(true),
        }
    }

    /// The first request to a child.
    pub(super) fn begin(&self) -> Value {
        let labels = match self.labels {
            Labels::Auto => "auto",
            Labels::Text => "text",
            Labels::None => "none",
        };
        let (file, code) = match &self.code {
            ReaderCode::File { path, .. } => (path.to_str(), None),
            ReaderCode::Own { program, .. } => (None, Some(program)),
        };
        let ReaderCall { class, parameters, access, is_strict } = &self.call;
        let parameters: Map<String, Value> = parameters.clone().into_iter().chain(access.clone()).collect();
        json!({ "do": "begin", "settings": {
            "file": file,
            "code": code,
            "class": class,
            "strict": is_strict,
            "parameters": parameters,
            "columns": self.keys(),
            "masks": self.masks.targets().map(|(_, keys)| keys).collect::<Vec<_>>(),
            "records_per_task": self.per_task,
            "labels": labels,
            "byte_limit": self.byte_limit,
        }})
    }

    /// The keys that become each column; nothing without a column map.
    fn keys(&self) -> Option<Value> {
        let named = ["images", "labels"].into_iter().filter_map(|name| Some((name, self.columns.parts(name)?)));
        let keys: Map<String, Value> =
            named.chain(self.columns.targets()).map(|(name, parts)| (name.to_owned(), json!(parts))).collect();
        (!keys.is_empty()).then_some(Value::Object(keys))
    }
}

fn stamp(file: &Path) -> std::io::Result<(u64, Option<SystemTime>)> {
    file.metadata().map(|metadata| (metadata.len(), metadata.modified().ok()))
}

/// The program that runs a reader. A service starts only a program in a folder that its configuration allows.
///
/// # Errors
/// The option names another program.
pub(in crate::python) fn interpreter(options: &Options) -> Result<PathBuf, SourceError> {
    let Some(named) = options.own.path(PYTHON.name) else { return Ok("python3".into()) };
    options.readers.program(&named).ok_or_else(|| {
        let expected = "left out, or be the absolute path of a program below a folder of `python` in [sources] of the \
                        configuration: a service starts no other";
        SourceError::bad_option(PYTHON.name, &printable(&named).to_string(), expected)
    })
}

/// A service runs only what its configuration allows.
fn allowed(path: &Path, file: &Path, readers: &ReaderFolders) -> Result<(), SourceError> {
    let ReaderFolders::Below(folders) = readers else { return Ok(()) };
    if readers.has(file) {
        return Ok(());
    }
    let names: Vec<String> = folders.iter().map(|folder| format!("\"{}\"", printable(folder))).collect();
    let known = if names.is_empty() { "It names none".to_owned() } else { format!("It names {}", names.join(", ")) };
    let problem = format!(
        "is \"{}\", which a service does not run: it is below none of the folders of `python` in [sources] of the \
         configuration. {known}. Add its folder there, or open it with a Loader of your own process",
        printable(file)
    );
    Err(SourceError::Reader { path: path.to_owned(), problem })
}

fn whole(options: &Options, key: &str, most: u64) -> Result<Option<u64>, SourceError> {
    let Some(text) = options.own.get(key) else { return Ok(None) };
    match text.parse() {
        Ok(number) if (1..=most).contains(&number) => Ok(Some(number)),
        _ => Err(SourceError::bad_option(key, text, &format!("a whole number from 1 to {most}"))),
    }
}

fn seconds(options: &Options) -> Result<Option<Duration>, SourceError> {
    let Some(text) = options.own.get(READ_TIMEOUT.name) else { return Ok(None) };
    let number = text.strip_suffix('s').unwrap_or(text).parse().ok();
    let number = number.filter(|seconds: &f64| *seconds > 0.0 && *seconds <= LONGEST);
    match number.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).filter(|time| !time.is_zero()) {
        Some(time) => Ok(Some(time)),
        None => Err(SourceError::bad_option(READ_TIMEOUT.name, text, "seconds, such as 60 or 0.5, and at most a day")),
    }
}
