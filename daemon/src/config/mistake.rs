//! The mistakes of a configuration: all of them, not only the first.

use std::path::PathBuf;
use std::{fmt, io};

use forebay_printable::printable;

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Path of the key, such as `streams.train.batch_size`. Empty if the document itself is wrong.
    pub key: String,
    /// What is wrong and what is allowed, as the rest of a sentence about the key.
    pub problem: String,
    /// Line of the key, counted from 1, if the document is a file.
    pub line: Option<usize>,
}

/// All mistakes of one document; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistakes {
    /// The document, for people: a file name, or "the Loader's settings".
    pub document: String,
    /// In the order of their lines, or of the sections.
    pub list: Vec<Mistake>,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        if self.key.is_empty() { f.write_str(&self.problem) } else { write!(f, "{}: {}", self.key, self.problem) }
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.list.len() {
            1 => write!(f, "There is a mistake in {}:", self.document)?,
            count => write!(f, "There are {count} mistakes in {}:", self.document)?,
        }
        self.list.iter().try_for_each(|mistake| write!(f, "\n  {mistake}"))
    }
}

impl std::error::Error for Mistakes {}

/// A configuration's file that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("The configuration \"{file}\" cannot be read: {source}.", file = printable(file))]
pub struct UnreadableConfig {
    /// The file.
    pub file: PathBuf,
    /// The system's error.
    pub source: io::Error,
}
