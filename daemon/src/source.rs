//! Where records come from: the trait [`Source`], and the table of schemes that opens one from a path or URL.
//!
//! A new source is its file under `source/`, a line in `SCHEMES` and a line in `suite.rs`.

mod csv;
mod error;
mod files;
mod folder;
mod listing;
mod paths;
mod progress;
mod read_error;
mod witnesses;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use error::{LineProblem, SourceError};
pub use listing::Listing;
pub use read_error::{Outage, ReadError};

/// An ordered, fingerprinted list of records, numbered `0..len()`.
///
/// The contract, which `suite.rs` checks on every implementation:
///
/// * A source is read by many threads at once; nothing but [`read`](Self::read) blocks or touches a disk.
/// * The order, labels and classes never change while it is open, and are the same each time the same dataset is
///   opened, on whatever machine.
/// * Record numbers come from the plan, which knows `len()`: a number beyond it is a mistake of the caller and panics.
/// * What is wrong with one record is an error of `read`, never of opening.
/// * What is wrong with more than the record (the system, the storage, the whole dataset) is an [`Outage`].
pub trait Source: fmt::Debug + Send + Sync {
    /// Number of records; never 0.
    fn len(&self) -> u64;

    /// Always false: a dataset without records is not opened.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Names of the classes, where labels are places in this list; empty where they are plain numbers or absent.
    fn classes(&self) -> &[String];

    /// The record's label; -1 where the dataset has none.
    fn label(&self, record: u64) -> i64;

    /// Where the record is read from, as an error or the quarantine names it.
    fn path(&self, record: u64) -> PathBuf;

    /// The record's bytes, as far as known without looking at it: the budget of reading ahead is granted by it.
    fn size(&self, record: u64) -> u64;

    /// Replaces what is in `buf` by the record's bytes, as stored: at most `room` of them. A record that has more now is
    /// [`ReadError::Larger`], before any memory is taken for it. Blocks; called from prefetch threads. After an error
    /// `buf` is empty.
    fn read(&self, record: u64, room: u64, buf: &mut Vec<u8>) -> Result<(), ReadError>;

    /// 32 bytes over the paths, sizes and labels of all records, in order (semantics rule 2).
    fn fingerprint(&self) -> [u8; 32];

    /// The shard that the record belongs to, by the name that the user knows: the CSV file or the folder.
    fn shard_name(&self, record: u64) -> &str;
}

/// How a dataset is to be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// What becomes a label.
    pub labels: Labels,
    /// Folder that relative paths of a CSV or a list start from, and that a CSV's paths must stay inside.
    pub root: Option<PathBuf>,
    /// A list of paths, separated by NUL bytes; then the source's path is not looked at.
    pub files: Option<Arc<Vec<u8>>>,
    /// A record with more bytes is refused, unread.
    pub byte_limit: u64,
}

/// What becomes a label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Labels {
    /// Class folders, or a CSV's second column, as numbers or as text by what stands in it.
    #[default]
    Auto,
    /// As `Auto`, but a CSV's labels are text even where they look like numbers.
    Text,
    /// No labels: all are -1.
    None,
}

/// A dataset, or why it cannot be opened.
pub type Opened = Result<Box<dyn Source>, SourceError>;

/// One way to name a dataset.
struct Scheme {
    /// What stands before the colon.
    name: &'static str,
    /// What it is, for messages.
    takes: &'static str,
    /// Whether a path that exists, and has no scheme, is this.
    recognises: fn(&Path) -> bool,
    open: fn(&Path, &Options) -> Opened,
}

const SCHEMES: &[Scheme] = &[folder::SCHEME, csv::SCHEME, files::SCHEME];

/// Largest record that is read unless the options say otherwise.
pub const BYTE_LIMIT: u64 = 1 << 30;

impl Default for Options {
    fn default() -> Self {
        Self { labels: Labels::Auto, root: None, files: None, byte_limit: BYTE_LIMIT }
    }
}

/// Opens a dataset by its path or URL: `/data/train`, `folder:/data/train`, `csv:/data/train.csv`, `files:list.txt`.
///
/// A path without a scheme is recognised by looking at it; if something of exactly that name exists, it is a path.
pub fn open(name: &str, options: &Options) -> Opened {
    if let Some(list) = &options.files {
        return files::from_list(list, options);
    }
    let as_path = Path::new(name);
    if !as_path.exists()
        && let Some((scheme, rest)) = split_scheme(name)
    {
        let scheme = SCHEMES.iter().find(|known| known.name == scheme).ok_or_else(|| SourceError::UnknownScheme {
            name: name.to_owned(),
            known: SCHEMES
                .iter()
                .map(|known| format!("\"{}:\" ({})", known.name, known.takes))
                .collect::<Vec<_>>()
                .join(", "),
        })?;
        return (scheme.open)(Path::new(rest), options);
    }
    if let Err(error) = as_path.metadata() {
        return Err(SourceError::of_path(as_path, error));
    }
    match SCHEMES.iter().find(|known| (known.recognises)(as_path)) {
        Some(scheme) => (scheme.open)(as_path, options),
        None => Err(SourceError::Unrecognised {
            path: as_path.to_owned(),
            known: SCHEMES.iter().map(|known| known.takes).collect::<Vec<_>>().join(", "),
        }),
    }
}

/// Splits `csv:/a/b` and `csv:///a/b` into the scheme and the path.
fn split_scheme(name: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = name.split_once(':')?;
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'+' || byte == b'-';
    let named = scheme.len() > 1 && scheme.as_bytes()[0].is_ascii_lowercase() && scheme.bytes().all(plain);
    named.then(|| (scheme, rest.strip_prefix("//").unwrap_or(rest)))
}

#[cfg(test)]
mod tests;
