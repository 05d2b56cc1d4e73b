//! Defines a dataset: the trait [`Source`], how a dataset is opened, and the errors of a dataset or of one of its
//! records. The sources themselves are in `forebay-formats`.
#![forbid(unsafe_code)]

mod error;
mod locator;
mod read_error;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

pub use error::{LineProblem, SourceError};
pub use locator::{Container, Locator, Part};
pub use read_error::{ReadError, ReadErrorKind, Retry};

/// An ordered, fingerprinted list of records, numbered `0..len()`.
///
/// The contract, which the suite of `forebay-formats` checks on every implementation:
///
/// * A source is read by many threads at once; nothing but [`read`](Self::read) blocks or touches a disk.
/// * The order, labels and classes never change while it is open, and are the same each time the same dataset is
///   opened, on whatever machine.
/// * Record numbers come from the plan, which knows `len()`: a number beyond it is a mistake of the caller and panics.
/// * What is wrong with one record is an error of `read`, never of opening.
/// * What is wrong with more than the record (the system, the storage, the whole dataset) is an outage: its
///   error says [`Retry::Later`].
pub trait Source: fmt::Debug + Send + Sync {
    /// Number of records; never 0.
    fn len(&self) -> u64;

    /// Always false: a dataset without records is not opened.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Names of the classes, if labels are indices into this list. Empty if labels are plain numbers or absent.
    fn classes(&self) -> &[String];

    /// The record's label, or -1 if the dataset has no labels.
    fn label(&self, record: u64) -> i64;

    /// Where the record is read from, as an error or the quarantine names it.
    fn locator(&self, record: u64) -> Locator;

    /// The record's size in bytes, as far as it is known without reading the record. The prefetch budget uses it.
    fn size(&self, record: u64) -> u64;

    /// Replaces the contents of `buf` with the record's stored bytes, at most `room` of them. If the record is larger
    /// now, the error is [`ReadErrorKind::Larger`], and no memory is allocated for it. Blocks; called from prefetch
    /// threads. After an error, `buf` is empty.
    fn read(&self, record: u64, room: u64, buf: &mut Vec<u8>) -> Result<(), ReadError>;

    /// 32 bytes over the paths, sizes and labels of all records, in order (semantics rule 2).
    fn fingerprint(&self) -> [u8; 32];

    /// The shard that the record belongs to, under the name that the user knows: the CSV file or the folder.
    fn shard_name(&self, record: u64) -> &str;
}

/// How to open a dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// What becomes a label.
    pub labels: Labels,
    /// Folder that relative paths of a CSV or a list start from, and that a CSV's paths must stay inside.
    pub root: Option<PathBuf>,
    /// A list of paths, separated by NUL bytes. If it is given, the source's path is ignored.
    pub files: Option<Arc<Vec<u8>>>,
    /// A record with more bytes is refused without reading it.
    pub byte_limit: u64,
}

/// What becomes a label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Labels {
    /// Class folders, or a CSV's second column. Its values decide whether labels are numbers or text.
    #[default]
    Auto,
    /// As `Auto`, but a CSV's labels are text even if they look like numbers.
    Text,
    /// No labels: all are -1.
    None,
}

/// Largest record that is read unless the options say otherwise.
const BYTE_LIMIT: u64 = 1 << 30;

impl Default for Options {
    fn default() -> Self {
        Self { labels: Labels::Auto, root: None, files: None, byte_limit: BYTE_LIMIT }
    }
}
