//! `csv:`: a table with a path in each line, and optionally a label.
//!
//! The first line is a header if one of its columns has the name of a path column (`path file filename image`, in any
//! case) and there is no file of that name. A header may name further columns, which are ignored. Without a header, the
//! first column is the path. The second column, if there is one, is the label.

mod labels;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use csv::{ByteRecord, ReaderBuilder};
use forebay_proto::printable;
use forebay_sources::{Labels, LineProblem, Options, SourceError};

use self::labels::Column;
use crate::files::existing;
use crate::listing::Found;
use crate::paths::{Paths, escapes};
use crate::scheme::Scheme;
use crate::{Opened, ROOT};

pub(super) const SCHEME: Scheme = Scheme {
    name: "csv",
    takes: "a .csv file with a path and a label per line",
    options: &[ROOT],
    has_columns: false,
    recognises: |path| path.is_file() && path.extension().is_some_and(|found| found.eq_ignore_ascii_case("csv")),
    open: |path, options| CsvTable::new(path, options).open(),
};

const PATH_NAMES: [&str; 7] = ["path", "file", "filename", "file_name", "filepath", "image", "image_path"];
const LABEL_NAMES: [&str; 5] = ["label", "class", "labels", "target", "class_name"];

/// A CSV that is being read.
struct CsvTable<'a> {
    file: &'a Path,
    options: &'a Options,
    /// Where its paths start, and what they must stay inside.
    root: PathBuf,
    /// Where the columns stand.
    columns: Columns,
}

/// Which column is what.
struct Columns {
    path: usize,
    label: Option<usize>,
    /// A header named them, so that further columns have a meaning of their own.
    named: bool,
}

impl<'a> CsvTable<'a> {
    fn new(file: &'a Path, options: &'a Options) -> Self {
        let folder = file.parent().unwrap_or_else(|| Path::new(""));
        let root = crate::root(options, folder);
        Self { file, options, root, columns: Columns { path: 0, label: Some(1), named: false } }
    }

    fn open(mut self) -> Opened {
        let mut reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .from_path(self.file)
            .map_err(|error| self.failure(error))?;
        let mut paths = Paths::default();
        let mut column = Column::new(self.options.labels);
        let mut line = ByteRecord::new();
        let mut first = true;
        while reader.read_byte_record(&mut line).map_err(|error| self.failure(error))? {
            if std::mem::take(&mut first)
                && let Some(columns) = self.header(&line)
            {
                self.columns = columns;
                continue;
            }
            let number = line.position().map_or(0, csv::Position::line);
            let at_line = |problem| SourceError::Line { file: self.file.to_owned(), line: number, problem };
            paths.push(self.path(&line).map_err(at_line)?);
            if self.options.labels != Labels::None {
                let label = self.columns.label.and_then(|index| line.get(index)).unwrap_or_default();
                column.push(label.trim_ascii(), number).map_err(at_line)?;
            }
        }
        let (labels, classes) = column.finish();
        let shard_name = self.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        existing(
            self.file,
            Found { root: self.root, paths, labels, classes, shard_name, ..Found::default() },
            self.options,
        )
    }

    /// Where the columns are, if this line is a header.
    fn header(&self, line: &ByteRecord) -> Option<Columns> {
        let place = |names: &[&str]| {
            line.iter()
                .position(|cell| names.iter().any(|name| cell.trim_ascii().eq_ignore_ascii_case(name.as_bytes())))
        };
        let path = place(&PATH_NAMES)?;
        let is_file = self.root.join(OsStr::from_bytes(&line[path])).exists();
        (!is_file).then(|| Columns { path, label: place(&LABEL_NAMES), named: true })
    }

    fn path<'l>(&self, line: &'l ByteRecord) -> Result<&'l [u8], LineProblem> {
        if !self.columns.named && line.len() > 2 {
            return Err(LineProblem::TooManyColumns { columns: line.len() });
        }
        let path = line.get(self.columns.path).unwrap_or_default();
        if path.trim_ascii().is_empty() || path.contains(&0) {
            return Err(LineProblem::NoPath);
        }
        if escapes(path, self.options.own.path(ROOT.name).as_deref()) {
            let root = if self.root.as_os_str().is_empty() { ".".into() } else { printable(&self.root).to_string() };
            return Err(LineProblem::Escapes { path: String::from_utf8_lossy(path).into_owned(), root });
        }
        Ok(path)
    }

    fn failure(&self, error: csv::Error) -> SourceError {
        let line = error.position().map_or(0, csv::Position::line);
        let words = error.to_string();
        match error.into_kind() {
            csv::ErrorKind::Io(error) => SourceError::of_path(self.file, error),
            _ => SourceError::Line { file: self.file.to_owned(), line, problem: LineProblem::Malformed(words) },
        }
    }
}
