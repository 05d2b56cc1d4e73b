//! Where a table's columns are: by the names in its header, or by their order.

use std::path::Path;

use csv::ByteRecord;
use forebay_printable::printable;
use forebay_sources::{Labels, LineProblem, Options, SourceError};

use super::PATTERN;
use super::row::{Compound, NamedColumn, Row};
use crate::label_column::is_written_list;

const PATH_NAMES: [&str; 7] = ["path", "file", "filename", "file_name", "filepath", "image", "image_path"];
const LABEL_NAMES: [&str; 5] = ["label", "class", "labels", "target", "class_name"];
/// Columns that an error names.
const NAMED: usize = 20;

/// Which column is what.
#[derive(Debug)]
pub(super) struct Places {
    pub path: PathPlace,
    pub label: LabelPlace,
    /// The targets, each with its columns. Those with several columns are rows of numbers.
    pub targets: Vec<(String, Vec<NamedColumn>)>,
    /// A header named them, so that further columns have a meaning of their own.
    pub named: bool,
}

#[derive(Debug)]
pub(super) enum PathPlace {
    Column(NamedColumn),
    /// Texts and columns in turn.
    Pattern(Vec<Piece>),
}

#[derive(Debug)]
pub(super) enum Piece {
    Text(String),
    Cell(NamedColumn),
}

#[derive(Debug)]
pub(super) enum LabelPlace {
    None,
    Column(NamedColumn),
    /// The label is the place of the column that is 1.
    OneHot(Vec<NamedColumn>),
}

/// The first column with the name of a path column.
pub(super) fn path_column(header: &ByteRecord) -> Option<NamedColumn> {
    named_like(header, &PATH_NAMES)
}

fn named_like(header: &ByteRecord, names: &[&str]) -> Option<NamedColumn> {
    let is_one = |cell: &[u8]| names.iter().any(|name| cell.eq_ignore_ascii_case(name.as_bytes()));
    let (place, cell) = header.iter().map(<[u8]>::trim_ascii).enumerate().find(|(_, cell)| is_one(cell))?;
    Some((place, String::from_utf8_lossy(cell).into_owned()))
}

impl Places {
    /// A path, and perhaps a label.
    pub(super) fn unnamed() -> Self {
        let (path, label) = ((0, "path".to_owned()), (1, "label".to_owned()));
        Self { path: PathPlace::Column(path), label: LabelPlace::Column(label), targets: Vec::new(), named: false }
    }

    /// By the header and the column map. A table whose lines are grouped has labels only if the map names them: they are
    /// those of objects.
    ///
    /// # Errors
    /// The header lacks a column that the options name, or that has the paths.
    pub(super) fn named(file: &Path, header: &ByteRecord, options: &Options, group: bool) -> Result<Self, SourceError> {
        let header = &Header(header);
        let path = match options.own.get(PATTERN.name) {
            Some(pattern) => header.pattern(pattern)?,
            None => PathPlace::Column(header.path(file, options)?),
        };
        let mut targets = Vec::new();
        for (name, parts) in options.columns.targets() {
            targets.push((name.to_owned(), header.find(name, &parts)?));
        }
        let label = if let Some(parts) = options.columns.parts("labels") {
            match &header.find("labels", &parts)?[..] {
                [column] => LabelPlace::Column(column.clone()),
                columns => LabelPlace::OneHot(columns.to_vec()),
            }
        } else {
            let is_taken = |place| targets.iter().flat_map(|(_, columns)| columns).any(|(other, _)| *other == place);
            let found = named_like(header.0, &LABEL_NAMES).filter(|(place, _)| !group && !is_taken(*place));
            found.map_or(LabelPlace::None, LabelPlace::Column)
        };
        Ok(Self { path, label, targets, named: true })
    }
}

impl PathPlace {
    /// The path that a line has.
    ///
    /// # Errors
    /// A cell that it is made of is a list or something deeper.
    pub(super) fn of(&self, row: &Row) -> Result<Vec<u8>, LineProblem> {
        let needs =
            || "a line has the path of one picture. Name a column of paths: columns = {images = \"NAME\"}".to_owned();
        match self {
            Self::Column(column) => row.one(column, needs).map(<[u8]>::to_vec),
            Self::Pattern(pieces) => {
                let of_pattern = || "pattern makes a path of single values. Leave it out of pattern".to_owned();
                let mut path = Vec::new();
                for piece in pieces {
                    match piece {
                        Piece::Text(text) => path.extend_from_slice(text.as_bytes()),
                        Piece::Cell(column) => match row.one(column, of_pattern)?.trim_ascii() {
                            // Without the cell there is no path.
                            [] => return Ok(Vec::new()),
                            cell => path.extend_from_slice(cell),
                        },
                    }
                }
                Ok(path)
            }
        }
    }
}

/// The text of a label.
///
/// # Errors
/// It is a list or something deeper, not in UTF-8, or a text with a list where no text was asked for.
pub(super) fn label<'r>(column: &NamedColumn, row: &'r Row, option: Labels) -> Result<&'r [u8], LineProblem> {
    let (_, name) = column;
    let needs = || match row.compound(column.0) {
        Some(Compound::Deeper(_)) => {
            "a record has one label. Name a value in it (a.b), or give labels=\"none\"".to_owned()
        }
        _ => format!(
            "a record has one label. Give labels=\"none\", and take the list as a column: columns = {{classes = \"{name}\"}}, \
             source_options = {{split = \"classes\"}}"
        ),
    };
    let cell = row.one(column, needs)?.trim_ascii();
    if str::from_utf8(cell).is_err() {
        let label = String::from_utf8_lossy(cell).into_owned();
        let problem = format!("the label \"{}\" is not in UTF-8. Write the table in UTF-8", printable(&*label));
        return Err(LineProblem::Malformed(problem));
    }
    if option == Labels::Auto && is_written_list(cell) {
        let problem = format!(
            "the label \"{}\" is a list in a text, and a record has one label. Write the values with spaces between them, and take \
             them as a column: labels = \"none\", columns = {{classes = \"{name}\"}}, source_options = {{split = \"classes\"}}. If it is \
             the name of a class, give labels=\"text\"",
            printable(&*String::from_utf8_lossy(cell))
        );
        return Err(LineProblem::Malformed(problem));
    }
    Ok(cell)
}

/// The place of the only column that is 1.
pub(super) fn hot(columns: &[NamedColumn], row: &Row) -> Result<i64, LineProblem> {
    let wrong = || {
        let names: Vec<&str> = columns.iter().map(|(_, name)| name.as_str()).collect();
        LineProblem::Malformed(format!(
            "one of the columns {} must be 1, and all others 0. If several may be 1, ask for them as a column of another \
             name than labels",
            names.join(", ")
        ))
    };
    let mut found = None;
    for (label, column) in (0..).zip(columns) {
        let needs = || "each of several columns has one number. Name a list alone".to_owned();
        let cell = str::from_utf8(row.one(column, needs)?).map_err(|_| wrong())?;
        match cell.trim() {
            "1" | "1.0" | "1." if found.is_none() => found = Some(label),
            "0" | "0.0" | "0." => {}
            _ => return Err(wrong()),
        }
    }
    found.ok_or_else(wrong)
}

/// The first line.
struct Header<'a>(&'a ByteRecord);

impl Header<'_> {
    fn place(&self, name: &str) -> Option<NamedColumn> {
        let name = name.trim().as_bytes();
        let cells = || self.0.iter().map(<[u8]>::trim_ascii);
        let place = cells()
            .position(|cell| cell == name)
            .or_else(|| cells().position(|cell| cell.eq_ignore_ascii_case(name)))?;
        Some((place, String::from_utf8_lossy(name).into_owned()))
    }

    /// The columns of the first alternative that the header has: one name, or several separated by commas.
    fn find(&self, column: &str, parts: &[&str]) -> Result<Vec<NamedColumn>, SourceError> {
        let columns = |part: &&str| match self.place(part) {
            Some(place) => Some(vec![place]),
            None => part.split(',').map(|name| self.place(name)).collect(),
        };
        parts.iter().find_map(columns).ok_or_else(|| {
            let expected =
                format!("a column of the first line, or several separated by commas. It has {}", self.names());
            SourceError::bad_option(&format!("columns.{column}"), &parts.join(";"), &expected)
        })
    }

    /// The column with the paths.
    fn path(&self, file: &Path, options: &Options) -> Result<NamedColumn, SourceError> {
        if let Some(parts) = options.columns.parts("images") {
            return match &self.find("images", &parts)?[..] {
                [column] => Ok(column.clone()),
                _ => Err(SourceError::bad_option("columns.images", &parts.join(";"), "one column")),
            };
        }
        path_column(self.0).ok_or_else(|| {
            let problem = format!(
                "no column has a name of a path column ({}). Name it with columns = {{images = \"NAME\"}}, or give pattern= \
                 if paths are made from other columns. The columns are {}",
                PATH_NAMES.join(", "),
                self.names()
            );
            SourceError::Line { file: file.to_owned(), line: 1, problem: LineProblem::Malformed(problem) }
        })
    }

    fn pattern(&self, pattern: &str) -> Result<PathPlace, SourceError> {
        let wrong = || {
            let expected = format!(
                "a path with names of columns in braces, such as \"train/{{id}}.jpg\". The first line has {}",
                self.names()
            );
            SourceError::bad_option(PATTERN.name, pattern, &expected)
        };
        let (mut pieces, mut rest) = (Vec::new(), pattern);
        while let Some((before, behind)) = rest.split_once('{') {
            let (name, after) = behind.split_once('}').ok_or_else(wrong)?;
            pieces.push(Piece::Text(before.to_owned()));
            pieces.push(Piece::Cell(self.place(name).ok_or_else(wrong)?));
            rest = after;
        }
        if pieces.is_empty() || rest.contains('}') {
            return Err(wrong());
        }
        pieces.push(Piece::Text(rest.to_owned()));
        Ok(PathPlace::Pattern(pieces))
    }

    fn names(&self) -> String {
        let cells = self.0.iter().take(NAMED).map(|cell| String::from_utf8_lossy(cell.trim_ascii()));
        let names: Vec<String> = cells.map(|cell| format!("\"{}\"", printable(&*cell))).collect();
        if self.0.len() > NAMED { format!("{} and more", names.join(", ")) } else { names.join(", ") }
    }
}
