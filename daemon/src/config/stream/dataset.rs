//! The keys of `[streams.NAME]` that say which dataset a stream reads, and how it is opened.

use std::path::PathBuf;

use forebay_sources::{ColumnMap, Condition, Labels, Options, OwnOptions};

use super::super::table::Table;
use super::super::value::{choice, flag, path, text};
use super::{Writer, columns, mixture};

/// The dataset of a stream.
#[derive(Clone, Debug, PartialEq)]
pub struct DatasetSection {
    /// Path or URL of the dataset, or of each source that it is made of. `None` if a Loader sends a list of files.
    pub source: Option<Vec<String>>,
    /// Folder that relative paths of a CSV or list start from.
    pub root: Option<PathBuf>,
    /// What becomes a label.
    pub labels: Labels,
    /// Which parts of a record become columns.
    pub columns: ColumnMap,
    /// Which masks become columns.
    pub masks: ColumnMap,
    /// What belongs to the dataset's scheme alone.
    pub source_options: OwnOptions,
    /// The dataset's index, or "none". `None`: the one in the folder of indexes.
    pub index: Option<PathBuf>,
    /// The file with the records that are read. `None`: all of them.
    pub select: Option<String>,
    /// The condition of the records that are read.
    pub condition: Option<String>,
}

impl DatasetSection {
    /// Reads the keys beside `source` and `columns`.
    pub(super) fn read(table: &mut Table<'_, '_>, source: Option<Vec<String>>, columns: ColumnMap) -> Self {
        Self {
            source,
            columns,
            masks: table.take("masks", columns::masks).unwrap_or_default(),
            source_options: table.take("source_options", columns::options).unwrap_or_default(),
            index: table.take("index", path),
            select: table.take("select", text),
            condition: condition(table),
            root: table.take("root", path),
            labels: table.take_or(
                "labels",
                Labels::Auto,
                choice(&[("auto", Labels::Auto), ("text", Labels::Text), ("none", Labels::None)]),
            ),
        }
    }

    /// How it is opened.
    pub fn options(&self) -> Options {
        let (columns, own) = (self.columns.clone(), self.source_options.clone());
        let masks = self.masks.clone();
        let (select, condition) = (self.select.clone(), self.condition.clone());
        let mut options = Options { labels: self.labels, columns, masks, own, select, condition, ..Options::default() };
        if let Some(root) = &self.root {
            options.own.set("root", root.to_string_lossy());
        }
        options
    }

    /// Its name for people.
    pub fn name(&self) -> String {
        self.source.as_ref().map_or_else(|| "a list of files".into(), |sources| sources.join(", "))
    }
}

/// Reads `where`. What it says of columns is compared with the dataset when that is opened.
fn condition(table: &mut Table<'_, '_>) -> Option<String> {
    let condition = table.take("where", text)?;
    if let Err(error) = Condition::parse(&condition) {
        table.mistake("where", format!("cannot be read: {error}"));
    }
    Some(condition)
}

/// The dataset: `source`, or from a Loader `files = true`, whose list comes beside the settings. The outer `None` is a
/// mistake.
#[expect(clippy::option_option, reason = "absent and wrong are two things here, and only this file sees both")]
pub(super) fn source(table: &mut Table<'_, '_>, writer: Writer) -> Option<Option<Vec<String>>> {
    let files = match writer {
        Writer::Loader => table.take_or("files", false, flag),
        Writer::Configuration => false,
    };
    let source = table.take("source", mixture::sources);
    let stream = source.as_ref().and_then(|sources| sources.iter().find(|source| source.starts_with("stream:")));
    match (&source, files) {
        (Some(_), false) if let Some(stream) = stream => {
            table.mistake(
                "source",
                format!("is \"{stream}\", but a stream cannot be the source of another; give a path."),
            );
            None
        }
        (Some(_), true) => {
            table.mistake("source", "cannot be combined with files; give one of the two.");
            None
        }
        (Some(_), false) => Some(source),
        (None, true) => Some(None),
        (None, false) if table.has("source") => None,
        (None, false) => {
            table.mistake("source", "is missing; give the path of a dataset, such as a folder or a .csv file. docs/sources.md lists the formats.");
            None
        }
    }
}
