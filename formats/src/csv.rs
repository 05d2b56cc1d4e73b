//! `csv:`: a table with a path in each line, and optionally a label and further columns.
//!
//! The first line is a header if one of its columns has the name of a path column (`path file filename image`, in any
//! case) and there is no file of that name. It is always one if the user names columns or gives a pattern of paths. A header
//! may name further columns, which are ignored unless the column map asks for them. Without a header, the first column is
//! the path. The second column, if there is one, is the label.

mod boxes;
mod places;
mod quotes;
mod row;
mod rows;
mod separator;
mod target;
mod targets;

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use csv::ByteRecord;
use forebay_printable::printable;
use forebay_sources::{Labels, LineProblem, Options, SourceError};

use self::boxes::BOXES;
use self::places::{LabelPlace, Places};
use self::row::Row;
use self::rows::RowReader;
use self::separator::SEPARATOR;
use self::targets::{RecordRows, Targets};
use crate::address::Address;
use crate::basis::Basis;
use crate::containers::is_named;
use crate::faults::Faults;
use crate::files::existing;
use crate::label_column::Column;
use crate::listing::Found;
use crate::opened::DatasetResult;
use crate::paths::{Paths, below_root, escapes, foreign_url};
use crate::root::{ROOT, given_root, root};
use crate::scheme::{Indexing, OptionKey, Scheme};

pub(super) const SCHEME: Scheme = Scheme {
    name: "csv",
    takes: "a .csv or .tsv file with a path and a label per line",
    options: &[ROOT, PATTERN, GROUP, SPLIT, BOXES, SEPARATOR],
    has_columns: true,
    recognises: |address| is_named(address.path(), &["csv", "tsv"]) && address.is_file(),
    open: |address, options, _| open_table(address, options),
    indexing: Indexing::Files,
};

const PATTERN: OptionKey =
    OptionKey { name: "pattern", help: "how a path is made from cells, such as \"train/{id}.jpg\"" };
const GROUP: OptionKey = OptionKey {
    name: "group",
    help: "whether lines with the same path are one record with lists: \"true\" or \"false\"",
};
pub(super) const SPLIT: OptionKey = OptionKey {
    name: "split",
    help: "the columns whose cells hold several values, separated by spaces or \"|\"; their names separated by commas",
};

/// Opens a table: a CSV, or a file with a JSON object in each line.
pub(super) fn open_table(file: &Address, options: &Options) -> DatasetResult {
    CsvTable::new(file, options)?.open()
}

/// A table that is being read.
struct CsvTable<'a> {
    file: &'a Address,
    options: &'a Options,
    /// Where its paths start, and what they must stay inside.
    root: Address,
    /// The same, if the user gave it.
    given_root: Option<Address>,
    /// Lines with the same path are one record.
    group: bool,
    paths: Paths,
    /// Of a table whose lines are grouped, the record of each path.
    record_of: HashMap<Vec<u8>, usize>,
    /// Of such a table, the record of each line.
    records: Vec<usize>,
    /// The number of each line.
    lines: Vec<u64>,
}

impl<'a> CsvTable<'a> {
    fn new(file: &'a Address, options: &'a Options) -> Result<Self, SourceError> {
        Ok(Self {
            file,
            options,
            root: root(options, &file.parent())?,
            given_root: given_root(options, &file.parent())?,
            group: options.own.flag(GROUP.name, false)?,
            paths: Paths::default(),
            record_of: HashMap::new(),
            records: Vec::new(),
            lines: Vec::new(),
        })
    }

    fn open(mut self) -> DatasetResult {
        let basis = Basis::look(self.file)?;
        let mut reader = RowReader::open(self.file, separator::given(self.options)?, &self.options.columns)?;
        let own = &self.options.own;
        let has_header = !self.options.columns.is_empty()
            || self.group
            || [PATTERN, SPLIT].iter().any(|key| own.get(key.name).is_some());
        let mut row = Row::default();
        let mut waiting = reader.next(&mut row)?;
        let header = has_header || reader.always_has_header() || (waiting.is_some() && self.is_header(row.cells()));
        let places = if header && waiting.is_some() {
            let places = Places::named(self.file.path(), row.cells(), self.options, self.group)?;
            waiting = reader.next(&mut row)?;
            places
        } else {
            Places::unnamed()
        };
        let mut column = Column::new(self.options.labels);
        let mut one_hot = Vec::new();
        let mut targets = Targets::new(&places, self.options, self.group)?;
        while let Some(line) = waiting {
            let at_line = |problem| SourceError::Line { file: self.file.path().to_owned(), line, problem };
            let path = self.path(&places, &row).map_err(at_line)?;
            if self.options.labels != Labels::None {
                match &places.label {
                    LabelPlace::None => column.push(b"", line).map_err(at_line)?,
                    LabelPlace::Column(place) => {
                        let label = places::label(place, &row, self.options.labels).map_err(at_line)?;
                        column.push(label, line).map_err(at_line)?;
                    }
                    LabelPlace::OneHot(columns) => one_hot.push(places::hot(columns, &row).map_err(at_line)?),
                }
            }
            targets.push(&row, line).map_err(at_line)?;
            self.lines.push(line);
            self.add(path);
            waiting = reader.next(&mut row)?;
        }
        let (mut labels, mut classes) = column.finish();
        if let LabelPlace::OneHot(columns) = &places.label
            && !one_hot.is_empty()
        {
            labels = one_hot;
            classes = columns.iter().map(|(_, name)| name.clone()).collect();
        }
        let rows = if self.group { RecordRows::grouped(&self.records, self.paths.len()) } else { RecordRows::Lines };
        let labels = self.labels_of_records(labels, &rows)?;
        let mut damaged = Faults::default();
        let records = self.paths.len();
        let (table, class_names) = targets.finish(self.file.path(), records, &rows, &self.lines, &mut damaged)?;
        if !classes.is_empty() && !class_names.is_empty() {
            let problem =
                "both the labels and a column of classes are texts, and a dataset has one list of class names. \
                           Give labels=\"none\", or leave out one of the two."
                    .to_owned();
            return Err(SourceError::Columns { path: self.file.path().to_owned(), problem });
        }
        classes.extend(class_names);
        let shard_name = self.file.last_name();
        let Self { root, paths, .. } = self;
        let bases = vec![basis];
        let found =
            Found { root, paths, labels, classes, targets: table, damaged, shard_name, bases, ..Found::default() };
        existing(self.file.path(), found, self.options)
    }

    /// Whether the first line of a table that may have a header is one.
    fn is_header(&self, row: &ByteRecord) -> bool {
        places::path_column(row).is_some_and(|(path, _)| !self.root.join(OsStr::from_bytes(&row[path])).exists())
    }

    fn path(&self, places: &Places, row: &Row) -> Result<Vec<u8>, LineProblem> {
        if !places.named && row.cells().len() > 2 {
            return Err(LineProblem::TooManyColumns { columns: row.cells().len() });
        }
        let path = places.path.of(row)?;
        if path.trim_ascii().is_empty() || path.contains(&0) {
            return Err(LineProblem::NoPath);
        }
        let given_root = self.given_root.as_ref().map(Address::path);
        let Some(path) = below_root(&path, given_root) else { return Err(foreign_url(&path, self.root.path())) };
        if escapes(path, given_root) {
            let root = self.root.path();
            let root = if root.as_os_str().is_empty() { ".".into() } else { printable(root).to_string() };
            return Err(LineProblem::Escapes { path: self.root.shown_name(path), root });
        }
        Ok(path.to_vec())
    }

    /// Adds a line's path, unless its record is there already.
    fn add(&mut self, path: Vec<u8>) {
        if !self.group {
            self.paths.push(&path);
            return;
        }
        let next = self.paths.len();
        let paths = &mut self.paths;
        let record = *self.record_of.entry(path).or_insert_with_key(|path| {
            paths.push(path);
            next
        });
        self.records.push(record);
    }

    /// The label of each record. Lines of one record must agree.
    fn labels_of_records(&self, labels: Vec<i64>, rows: &RecordRows) -> Result<Vec<i64>, SourceError> {
        if labels.is_empty() || !self.group {
            return Ok(labels);
        }
        let mut of_records = Vec::with_capacity(self.paths.len());
        for record in 0..self.paths.len() {
            let mut places = rows.of(record);
            let first = places.next().expect("a record has a line");
            if let Some(other) = places.find(|&row| labels[row] != labels[first]) {
                let problem = format!(
                    "the label differs from that of line {}, which has the same path. Ask for the column as one of the \
                     objects, such as columns = {{classes = \"NAME\"}}, or give labels=\"none\"",
                    self.lines[first]
                );
                let (file, line) = (self.file.path().to_owned(), self.lines[other]);
                return Err(SourceError::Line { file, line, problem: LineProblem::Malformed(problem) });
            }
            of_records.push(labels[first]);
        }
        Ok(of_records)
    }
}

#[cfg(test)]
mod tests;
