//! Errors of a dataset as a whole.

use std::io;
use std::path::{Path, PathBuf};

use forebay_printable::printable;
use thiserror::Error;

use crate::{Container, Locator, Part, ReadError, ReadErrorKind, Retry};

/// A dataset that cannot be opened.
#[derive(Debug, Error)]
pub enum SourceError {
    /// Nothing exists at the path.
    #[error("\"{path}\" does not exist. Check the path; it must exist on the machine that reads the dataset.", path = printable(path))]
    Missing {
        /// The path as given.
        path: PathBuf,
    },
    /// The path may not be read.
    #[error("\"{path}\" may not be read by the user that reads the dataset. Give that user permission (chmod, or its group).", path = printable(path))]
    Denied {
        /// File or folder.
        path: PathBuf,
    },
    /// A folder was expected.
    #[error("\"{path}\" is not a folder. Give the folder that holds the pictures.", path = printable(path))]
    NotAFolder {
        /// The path as given.
        path: PathBuf,
    },
    /// Reading a folder or list failed.
    #[error("\"{path}\" cannot be read: {source}.", path = printable(path))]
    Io {
        /// File or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The storage fails, or the system lacks descriptors or memory, while the files are scanned.
    #[error("{}: {_0}. The dataset itself may be fine: try again once this is fixed.", _0.locator)]
    Outage(ReadError),
    /// `name` begins with a scheme that is not in the table.
    #[error("\"{name}\" is not a source that this version knows. Give a path, or one of: {known}.", name = printable(name))]
    UnknownScheme {
        /// The source as given.
        name: String,
        /// The table of schemes.
        known: String,
    },
    /// The path exists, but no scheme accepts it.
    #[error("\"{path}\" is not a dataset that Forebay recognises. A source is one of: {known}. For a single picture, give its folder.", path = printable(path))]
    Unrecognised {
        /// The path as given.
        path: PathBuf,
        /// What the schemes take.
        known: String,
    },
    /// A folder with nothing in it.
    #[error("The folder \"{path}\" is empty. Give the folder that holds the pictures.", path = printable(path))]
    EmptyFolder {
        /// The folder.
        path: PathBuf,
    },
    /// A folder with files, but without one picture.
    #[error("The folder \"{path}\" holds no picture, only {others} other files and {hidden} hidden ones. Pictures are recognised by their extension: {extensions}.{beside}", path = printable(path))]
    NoPictures {
        /// The folder.
        path: PathBuf,
        /// Files that are no pictures.
        others: u64,
        /// Files and folders whose name begins with a dot.
        hidden: u64,
        /// The known extensions.
        extensions: String,
        /// What the other files are, as sentences with a space before each; empty if that is not known.
        beside: String,
    },
    /// A class folder without a picture.
    #[error("The class folder \"{path}\" holds no picture. Move it away, or give labels=\"none\" if folders are not classes.{beside}", path = printable(path))]
    EmptyClass {
        /// The class folder.
        path: PathBuf,
        /// What lies in it and elsewhere beside pictures, as sentences with a space before each.
        beside: String,
    },
    /// Pictures and class folders side by side.
    #[error("The picture \"{picture}\" is beside the class folder \"{class}\". Move it into a class folder, or give labels=\"none\" to take all pictures without labels.", picture = printable(picture), class = printable(class))]
    MixedFolder {
        /// A picture outside of the class folders.
        picture: PathBuf,
        /// A class folder.
        class: PathBuf,
    },
    /// Folders that contain themselves through a symbolic link.
    #[error("The folder \"{path}\" can be reached again through a symbolic link inside it. Remove the link.", path = printable(path))]
    Loop {
        /// The folder.
        path: PathBuf,
    },
    /// A CSV or a list without a record.
    #[error("\"{file}\" names no file. Write one path per line.", file = printable(file))]
    EmptyList {
        /// The CSV, or the list.
        file: PathBuf,
    },
    /// Not one of the files exists.
    #[error("None of the {count} files that \"{list}\" names exists; the first would be \"{first}\". Relative paths start at \"{root}\"; give root= for another folder.", list = printable(list), first = printable(first), root = printable(root))]
    NoneExists {
        /// The CSV, or the list.
        list: PathBuf,
        /// How many it names.
        count: u64,
        /// Where the first was looked for.
        first: PathBuf,
        /// Where relative paths start.
        root: PathBuf,
    },
    /// Files without a record.
    #[error("\"{path}\" holds no record. Check that it is the right file, and complete.", path = printable(path))]
    NoRecords {
        /// The dataset.
        path: PathBuf,
    },
    /// A folder without a file of the format.
    #[error("The folder \"{path}\" holds no file of this format. Such files are recognised by their extension: {extensions}.", path = printable(path))]
    NoContainers {
        /// The folder.
        path: PathBuf,
        /// The known extensions.
        extensions: String,
    },
    /// A pattern of files that cannot be followed.
    #[error("The pattern \"{pattern}\" cannot be used: {problem}. Examples are \"train-{{000..999}}.tar\" and \"train/*.tar\".", pattern = printable(pattern))]
    Pattern {
        /// As given.
        pattern: String,
        /// What is wrong.
        problem: String,
    },
    /// An option that the scheme does not have.
    #[error("The source \"{scheme}:\" has no option \"{key}\". {known}")]
    UnknownOption {
        /// The scheme.
        scheme: &'static str,
        /// The option.
        key: String,
        /// A sentence that says which options it has.
        known: String,
    },
    /// An option with a value that it cannot have.
    #[error("{key} = \"{value}\" must be {expected}.", value = printable(value))]
    BadOption {
        /// The option.
        key: String,
        /// Its value.
        value: String,
        /// What it must be.
        expected: String,
    },
    /// A file that does not have the form of its format.
    #[error("{locator}: {problem}")]
    Malformed {
        /// The file and the place in it.
        locator: Locator,
        /// What is wrong and what to do, as sentences.
        problem: String,
    },
    /// A store of objects that cannot be used, or whose list cannot be read.
    #[error("\"{url}\" cannot be read. {problem}", url = printable(url))]
    Store {
        /// The store, or the prefix of keys, without what may be secret.
        url: String,
        /// What is wrong and what to do, as sentences.
        problem: String,
    },
    /// The cache on a local disk that cannot be used.
    #[error("The cache on a local disk cannot be used. {problem}")]
    Cache {
        /// What is wrong and what to do, as sentences.
        problem: String,
    },
    /// A custom reader that cannot be used.
    #[error("The reader \"{path}\" {problem}.", path = printable(path))]
    Reader {
        /// The file with the reader's class, as given.
        path: PathBuf,
        /// What is wrong and what to do, as the rest of a sentence.
        problem: String,
    },
    /// An index that cannot be made, or that is not the dataset's.
    #[error("The index \"{path}\" cannot be used: {problem}.", path = printable(path))]
    Index {
        /// The index, or the dataset without one.
        path: PathBuf,
        /// What is wrong and what to do, as the rest of a sentence.
        problem: String,
    },
    /// The columns that the dataset would have cannot be.
    #[error("The columns of \"{path}\" cannot be used: {problem}", path = printable(path))]
    Columns {
        /// The dataset.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// Records that cannot be selected.
    #[error("{problem}")]
    Selection {
        /// What is wrong and what to do, as sentences.
        problem: String,
    },
    /// Several sources that cannot be one dataset.
    #[error("\"{first}\" and \"{second}\" cannot be one dataset: {problem}", first = printable(first), second = printable(second))]
    Apart {
        /// A source, as given.
        first: String,
        /// The one that does not go with it.
        second: String,
        /// What is wrong and what to do, as sentences.
        problem: String,
    },
    /// Something is wrong with a line.
    #[error("{file}, line {line}: {problem}", file = printable(file))]
    Line {
        /// The CSV, or the list.
        file: PathBuf,
        /// Counted from 1.
        line: u64,
        /// What is wrong and what to do.
        problem: LineProblem,
    },
}

/// What is wrong with a line of a CSV or a list.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LineProblem {
    /// The path column is empty.
    #[error("the line has no path. Write the picture's path in it, or delete it.")]
    NoPath,
    /// The label column is empty or absent.
    #[error("the line has no label, but line {other} has one. Write it, or give labels=\"none\".")]
    NoLabel {
        /// A line with a label.
        other: u64,
    },
    /// The line has a label and an earlier line has none.
    #[error("the line has a label, but line {other} has none. Write it there, or give labels=\"none\".")]
    SurplusLabel {
        /// A line without a label.
        other: u64,
    },
    /// Numbers and texts in one label column.
    #[error(
        "the label \"{label}\" is {is}, but line {other} has {was}. Write either all labels as integers or none, or give labels=\"text\" to read all as text.",
        label = printable(label)
    )]
    MixedLabels {
        /// The label.
        label: String,
        /// What it is.
        is: &'static str,
        /// What the earlier ones are.
        was: &'static str,
        /// The first line with a label.
        other: u64,
    },
    /// More columns than a path and a label.
    #[error(
        "the line has {columns} columns. Write a path and a label, or a first line that names the columns (path, label)."
    )]
    TooManyColumns {
        /// How many it has.
        columns: usize,
    },
    /// The path leads out of the root.
    #[error(
        "the path \"{path}\" leads out of \"{root}\". Move the file, or give root= with a folder that holds all of them.",
        path = printable(path)
    )]
    Escapes {
        /// As it is in the line.
        path: String,
        /// The folder that it must stay inside.
        root: String,
    },
    /// The path is a URL that is not below the root.
    #[error(
        "the path \"{url}\" is a URL, and is not below \"{root}\". Set root to a URL that is above all of them, such as root=\"{store}\". If they are in several stores, write a table for each of these and give a list of sources.",
        url = printable(url)
    )]
    ForeignUrl {
        /// As it is in the line.
        url: String,
        /// Where paths start.
        root: String,
        /// The store that the URL is in.
        store: String,
    },
    /// The file is not a CSV.
    #[error("{0}.")]
    Malformed(String),
}

impl SourceError {
    /// An option with a value that it cannot have. `expected` completes "must be".
    pub fn bad_option(key: &str, value: &str, expected: &str) -> Self {
        Self::BadOption { key: key.to_owned(), value: value.to_owned(), expected: expected.to_owned() }
    }

    /// A file that does not have the form of its format, at this byte.
    pub fn malformed_at(path: &Path, offset: u64, problem: impl Into<String>) -> Self {
        let part = Part::At(offset);
        Self::Malformed {
            locator: Locator { container: Container::File(path.to_owned()), part },
            problem: problem.into(),
        }
    }

    /// The same error, with the paths that `shown` makes of its own. A path may be a URL with a query that is secret.
    #[must_use]
    pub fn with_paths(mut self, shown: impl Fn(&Path) -> PathBuf) -> Self {
        let show = |path: &mut PathBuf| *path = shown(path);
        match &mut self {
            Self::Missing { path }
            | Self::Denied { path }
            | Self::NotAFolder { path }
            | Self::Io { path, .. }
            | Self::Unrecognised { path, .. }
            | Self::EmptyFolder { path }
            | Self::NoPictures { path, .. }
            | Self::EmptyClass { path, .. }
            | Self::Loop { path }
            | Self::EmptyList { file: path }
            | Self::NoRecords { path }
            | Self::NoContainers { path, .. }
            | Self::Reader { path, .. }
            | Self::Index { path, .. }
            | Self::Columns { path, .. }
            | Self::Line { file: path, .. }
            | Self::Malformed { locator: Locator { container: Container::File(path), .. }, .. } => show(path),
            Self::MixedFolder { picture, class } => [picture, class].into_iter().for_each(show),
            Self::NoneExists { list, first, root, .. } => [list, first, root].into_iter().for_each(show),
            Self::Pattern { pattern, .. } => *pattern = shown(Path::new(pattern)).to_string_lossy().into_owned(),
            Self::Malformed { .. }
            | Self::Outage(_)
            | Self::UnknownScheme { .. }
            | Self::UnknownOption { .. }
            | Self::BadOption { .. }
            | Self::Store { .. }
            | Self::Cache { .. }
            | Self::Selection { .. }
            | Self::Apart { .. } => {}
        }
        self
    }

    /// The error for a path of the dataset itself.
    pub fn of_path(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        // A reader of an object wraps what its store said.
        let source = match source.downcast::<ReadError>() {
            Ok(outage) if outage.retry() == Retry::Later => return Self::Outage(outage),
            Ok(error) if error.kind == ReadErrorKind::Missing => return Self::Missing { path },
            Ok(error) if error.kind == ReadErrorKind::Denied => return Self::Denied { path },
            Ok(error) => io::Error::other(error),
            Err(source) => source,
        };
        match source.kind() {
            io::ErrorKind::NotFound => Self::Missing { path },
            io::ErrorKind::PermissionDenied => Self::Denied { path },
            io::ErrorKind::NotADirectory => Self::NotAFolder { path },
            _ => Self::Io { path, source },
        }
    }
}

#[cfg(test)]
mod tests;
