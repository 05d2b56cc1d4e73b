//! The rows of a table: the lines of a CSV, or the objects of a file that has one in each line (`.jsonl`).

use std::io::{self, BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};

use csv::{Reader, ReaderBuilder};
use forebay_sources::{ColumnMap, LineProblem, SourceError};
use serde_json::{Map, Value};

use super::quotes::Quotes;
use super::row::Row;
use super::separator;
use crate::address::Address;
use crate::containers::is_named;
use crate::loose::behind_key;
use crate::progress::Progress;

/// Reads row by row.
pub(super) struct RowReader {
    file: PathBuf,
    form: RowForm,
    progress: Progress,
}

enum RowForm {
    /// The number is that of the line in which the last row began.
    Csv(Box<Reader<Quotes<Box<dyn Read>>>>, u64),
    Json {
        lines: BufReader<Box<dyn Read>>,
        line: u64,
        keys: Vec<String>,
        /// Keys with dots that the user named. They lead into the values of others.
        named: Vec<String>,
        waiting: Option<Map<String, Value>>,
    },
}

/// More bytes than the description of one picture has.
const MOST_BYTES: u64 = 16 << 20;
const UTF_16: &str = "the table is in UTF-16. Write it in UTF-8";
/// More keys than an object of a table has. Each is looked up in each line.
const MOST_KEYS: usize = 4096;
const OPEN: &str = "a quote opens a value here and none closes it, so all lines below belong to that value. Close the quote, or double it";

impl RowReader {
    /// Opens a table, whose cells are separated by this byte if it is given. The map says which keys are wanted that lead into
    /// objects.
    pub(super) fn open(address: &Address, given: Option<u8>, map: &ColumnMap) -> Result<Self, SourceError> {
        let (file, path) = (address.reader()?, address.path());
        let form = if is_named(path, &["jsonl"]) {
            let columns = ["images", "labels"].into_iter().filter_map(|name| map.parts(name));
            let parts = columns.chain(map.targets().map(|(_, parts)| parts)).flatten();
            let named = parts.flat_map(|part| part.split(',')).map(str::trim).filter(|key| key.contains('.'));
            let named = named.map(str::to_owned).collect();
            RowForm::Json { lines: BufReader::new(file), line: 0, keys: Vec::new(), named, waiting: None }
        } else {
            let (file, found) = separator::found(file).map_err(|error| SourceError::of_path(path, error))?;
            let of_name = is_named(path, &["tsv"]).then_some(b'\t');
            let separator = given.or(of_name).unwrap_or(found);
            let mut builder = ReaderBuilder::new();
            builder.has_headers(false).flexible(true).delimiter(separator);
            RowForm::Csv(Box::new(builder.from_reader(Quotes::new(file, separator, MOST_BYTES))), 0)
        };
        Ok(Self { file: path.to_owned(), form, progress: Progress::counting("reading the table", "lines") })
    }

    /// Whether the first row is a header in any case.
    pub(super) fn always_has_header(&self) -> bool {
        matches!(self.form, RowForm::Json { .. })
    }

    /// Reads the next row. Returns the number of its line, counted from 1, or nothing at the end.
    ///
    /// The first row of objects is made of the first object's keys. Their values come next.
    pub(super) fn next(&mut self, row: &mut Row) -> Result<Option<u64>, SourceError> {
        self.progress.step();
        row.clear();
        match &mut self.form {
            RowForm::Csv(reader, line) => match reader.read_byte_record(row.cells_mut()) {
                Ok(true) if *line == 0 && is_utf16(row.cells().as_slice()) => Err(at(&self.file, 1, UTF_16.into())),
                Ok(true) => {
                    *line = row.cells().position().map_or(0, csv::Position::line);
                    Ok(Some(*line))
                }
                Ok(false) if reader.get_ref().is_open() => Err(at(&self.file, *line, OPEN.into())),
                Ok(false) => Ok(None),
                Err(error) => Err(failure(&self.file, *line, error)),
            },
            RowForm::Json { lines, line, keys, named, waiting } => {
                let is_first = keys.is_empty();
                let object = match waiting.take() {
                    Some(object) => object,
                    None => match object(&self.file, lines, line)? {
                        Some(object) => object,
                        None => return Ok(None),
                    },
                };
                if is_first && object.len() > MOST_KEYS {
                    let problem = format!("the object has more than {MOST_KEYS} keys, and each would be a column");
                    return Err(at(&self.file, *line, problem));
                }
                if is_first {
                    *keys = object.keys().cloned().collect();
                    named.retain(|key| leads_into(&object, key));
                    keys.append(named);
                    for key in &*keys {
                        row.push_text(key.as_bytes());
                    }
                    *waiting = Some(object);
                } else {
                    for key in &*keys {
                        row.push_value(behind_key(&object, key).as_deref().unwrap_or(&Value::Null));
                    }
                }
                Ok(Some(*line))
            }
        }
    }
}

/// Whether bytes begin with the mark of UTF-16, which is no UTF-8.
fn is_utf16(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff")
}

/// Whether a key leads into the value of another one. The value may be null or an empty list in this line.
fn leads_into(object: &Map<String, Value>, key: &str) -> bool {
    let mut dots = key.match_indices('.').map(|(dot, _)| dot);
    !object.contains_key(key) && dots.any(|dot| object.contains_key(&key[..dot]))
}

/// The next object; empty lines are passed over.
fn object(
    file: &Path,
    lines: &mut BufReader<Box<dyn Read>>,
    line: &mut u64,
) -> Result<Option<Map<String, Value>>, SourceError> {
    loop {
        let mut text = Vec::new();
        let read = lines.take(MOST_BYTES + 1).read_until(b'\n', &mut text);
        if read.map_err(|error| SourceError::of_path(file, error))? == 0 {
            return Ok(None);
        }
        *line += 1;
        if text.len() as u64 > MOST_BYTES {
            return Err(at(file, *line, format!("the line has more than {MOST_BYTES} bytes")));
        }
        if is_utf16(&text) {
            return Err(at(file, *line, UTF_16.into()));
        }
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
        if text.trim_ascii().is_empty() {
            continue;
        }
        return match serde_json::from_slice::<Map<String, Value>>(text) {
            Ok(object) if object.is_empty() => Err(at(file, *line, "the object is empty".into())),
            Ok(object) => Ok(Some(object)),
            Err(error) => Err(at(file, *line, format!("the line is not a JSON object: {error}"))),
        };
    }
}

fn at(file: &Path, line: u64, problem: String) -> SourceError {
    SourceError::Line { file: file.to_owned(), line, problem: LineProblem::Malformed(problem) }
}

/// `last` is the line of the row before.
fn failure(file: &Path, last: u64, error: csv::Error) -> SourceError {
    let line = error.position().map_or(0, csv::Position::line);
    let words = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            at(file, last + 1, format!("the row that begins here or soon after has more than {MOST_BYTES} bytes"))
        }
        csv::ErrorKind::Io(error) => SourceError::of_path(file, error),
        _ => at(file, line, words),
    }
}
