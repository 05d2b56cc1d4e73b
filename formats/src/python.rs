//! `python:`: records that a user's Python class reads, as those of `ElasticDL` do (semantics rule 55).
//!
//! Nothing of a reader runs in this process. Children run it (`child.rs`, with `reader.py` as their program), which a pool lends
//! to the threads that read. A record's span is read by one task, and kept.

mod cells;
mod child;
mod frames;
mod labels;
mod masks;
mod pool;
mod rows;
mod settings;
mod shards;
#[cfg(test)]
pub(crate) mod tests;

use std::path::Path;

use forebay_printable::printable;
use forebay_sources::{Labels, Options, Source as _, SourceError};
use serde_json::{Map, Value};

use self::child::StartFailure;
use self::pool::ReaderPool;
use self::rows::{ReaderAbout, ReaderRows};
use self::settings::{ReaderCall, ReaderCode, ReaderSettings, interpreter};
use self::shards::{ReaderShard, ReaderShards};
use crate::dataset::Opened;
use crate::progress::Progress;
use crate::scheme::{ANY_OTHER, Indexing, OptionKey, Scheme};

pub(super) const SCHEME: Scheme = Scheme {
    name: "python",
    takes: "a .py file with a class that reads records",
    options: &[CLASS, PYTHON, PER_TASK, WORKERS, READ_TIMEOUT, SCAN, PARAMETERS],
    has_columns: true,
    // Running a file is nothing that a path alone should do.
    recognises: |_| false,
    open: |address, options, _| Ok(Box::new(open(address.path(), options)?).into()),
    indexing: Indexing::Never("Only its reader knows its records."),
};

/// A reader of our own: what an option of the dataset becomes for it.
pub(super) struct OwnReader {
    /// Its code.
    pub program: &'static str,
    pub class: &'static str,
    /// What it reads, for people.
    pub url: String,
    /// What it is called with.
    pub parameters: Map<String, Value>,
    /// The same, but no part of the dataset.
    pub access: Map<String, Value>,
}

/// Opens a dataset by a reader of our own. Its scheme has the options that say how a reader is run.
pub(super) fn open_own(reader: OwnReader, path: &Path, options: &Options) -> Opened {
    let OwnReader { program, class, url, parameters, access } = reader;
    let mut settings = ReaderSettings::of(ReaderCode::Own { program, url }, options)?;
    settings.call = ReaderCall { class: class.to_owned(), parameters, access, ..settings.call };
    Ok(Box::new(open_with(path, settings)?))
}

const CLASS: OptionKey =
    OptionKey { name: "class", help: "the reader's class, or a function that makes a reader; CustomDataReader" };
pub(super) const PYTHON: OptionKey = OptionKey { name: "python", help: "the interpreter that runs it; python3" };
pub(super) const PER_TASK: OptionKey =
    OptionKey { name: "records_per_task", help: "records that one read_records() gives; 64" };
pub(super) const WORKERS: OptionKey =
    OptionKey { name: "workers", help: "most processes; the number of cores, at most 8" };
pub(super) const READ_TIMEOUT: OptionKey =
    OptionKey { name: "read_timeout", help: "seconds that one record may take; 60" };
const SCAN: OptionKey =
    OptionKey { name: "scan", help: "\"true\" reads all records once to find their labels and columns" };
const PARAMETERS: OptionKey = OptionKey { name: ANY_OTHER, help: "goes to the class as an argument" };

/// Whether the reader may be run here, and its options are right. Nothing is run.
pub(super) fn check(path: &Path, options: &Options) -> Result<(), SourceError> {
    ReaderSettings::new(path, options).map(drop)
}

/// Whether a reader of our own may be run as the options say. Nothing is run.
pub(super) fn check_own(options: &Options) -> Result<(), SourceError> {
    interpreter(options).map(drop)
}

fn open(path: &Path, options: &Options) -> Result<ReaderRows, SourceError> {
    open_with(path, ReaderSettings::new(path, options)?)
}

fn open_with(path: &Path, settings: ReaderSettings) -> Result<ReaderRows, SourceError> {
    let refused = |problem: String| SourceError::Reader { path: path.to_owned(), problem };
    let scan = settings.scan;
    let pool = ReaderPool::new(settings);
    let failed = |failure| match failure {
        StartFailure::Spawn(error) => {
            let python = printable(&pool.settings().processes.interpreter).to_string();
            refused(format!("needs \"{python}\", which cannot be started: {error}. Give python= with an interpreter"))
        }
        StartFailure::Reader(failure) => refused(format!("cannot be used: {}", failure.words())),
    };
    let mut lent = pool.lend(false).map_err(failed)?;
    let progress = Progress::new("reading labels and columns");
    let said = lent.child().describe(scan, &|| progress.step());
    drop(progress);
    let said = said.map_err(|failure| refused(format!("does not say what it has: {}", failure.words())))?;
    lent.give_back();
    let (shards, mut about) = parse(&said.json).ok_or_else(|| {
        refused(
            "gives shards that cannot be used. create_shards() must return a dict of name: (start, count), or a list of \
             (name, start, count)"
                .to_owned(),
        )
    })?;
    let shards = ReaderShards::new(shards, pool.settings().per_task).map_err(refused)?;
    if shards.records() == 0 {
        return Err(refused("has no record: all shards of create_shards() are empty".to_owned()));
    }
    if let Some(labels) = &said.labels {
        let (found, records, classes) = (labels.len() as u64, shards.records(), about.classes.len());
        if found != records {
            return Err(refused(format!("has {found} labels and {records} records; labels() must give one for each")));
        }
        let known = |label: &i64| *label == -1 || usize::try_from(*label).is_ok_and(|place| place < classes);
        if classes > 0 && !labels.iter().all(known) {
            return Err(refused("gives labels without a class".to_owned()));
        }
    }
    let records = usize::try_from(shards.records()).map_err(|_| refused("has too many records".to_owned()))?;
    (about.targets, about.wrong) = said
        .columns
        .finish(records)
        .map_err(|problem| SourceError::Columns { path: path.to_owned(), problem: format!("{problem}.") })?;
    let unlabelled = said.labels.is_none() && pool.settings().labels != Labels::None;
    let rows = ReaderRows::new(pool, shards, said.labels, about);
    let first = rows.look(0).ok().flatten();
    let masks = masks::columns(&rows, first.as_ref(), path)?;
    let rows = rows.with_masks(masks);
    let Some(first) = first else { return Ok(rows) };
    if unlabelled && first.labels.iter().any(Option::is_some) {
        return Err(refused(
            "yields labels with its records, and labels must be known beforehand. Give the class a method labels() that \
             returns all of them, or give scan=true to read all records once, or labels=\"none\""
                .to_owned(),
        ));
    }
    let targets = rows.targets().schema();
    let others: Vec<&str> =
        first.others.iter().map(String::as_str).filter(|name| targets.find(name).is_none()).collect();
    if !others.is_empty() {
        let others = others.join(", ");
        let remedy = if scan {
            "Their values make no column. A method column_types() says the types of empty lists. FOREBAY_LOG=info shows why"
        } else {
            "Give scan=true, or a method columns()"
        };
        tracing::warn!("{} yields {}, which are left out. {remedy}", printable(path), printable(&others));
    }
    Ok(rows)
}

/// Shards, classes and the version from what a child said.
fn parse(json: &[u8]) -> Option<(Vec<ReaderShard>, ReaderAbout)> {
    let said: Value = serde_json::from_slice(json).ok()?;
    let shard = |shard: &Value| {
        let (name, start, count) =
            (shard.get(0)?.as_str()?.to_owned(), shard.get(1)?.as_u64()?, shard.get(2)?.as_u64()?);
        Some(ReaderShard { name, start, count })
    };
    let shards = said.get("shards")?.as_array()?.iter().map(shard).collect::<Option<Vec<_>>>()?;
    let class = |class: &Value| Some(class.as_str()?.to_owned());
    let classes = said.get("classes")?.as_array()?.iter().map(class).collect::<Option<Vec<_>>>()?;
    let version = said.get("version")?.as_str()?.to_owned();
    Some((shards, ReaderAbout { classes, version, ..ReaderAbout::default() }))
}
