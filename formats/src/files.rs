//! `files:`: a list of paths. The client sends it, or it is a text file with one path per line. Only a list of a client may
//! have labels: it then has a path and a label in turn.

use std::path::{Path, PathBuf};

use forebay_printable::printable;
use forebay_sources::{Labels, LineProblem, Options, Source as _, SourceError};

use crate::address::Address;
use crate::basis::Basis;
use crate::containers::is_named;
use crate::label_column::Column;
use crate::listing::{Found, Listing};
use crate::opened::DatasetResult;
use crate::paths::{Paths, below_root, escapes, foreign_url};
use crate::root::{ROOT, root};
use crate::scheme::{Indexing, Scheme};

pub(super) const SCHEME: Scheme = Scheme {
    name: "files",
    takes: "a .txt file with one path per line",
    options: &[ROOT],
    has_columns: false,
    recognises: |address| is_named(address.path(), &["txt"]) && address.is_file(),
    open: |address, options, _| open_text(address, options),
    indexing: Indexing::Files,
};

/// What messages call a list that came from a client.
const GIVEN: &str = "the given list";
/// How a label begins: as what it was given.
const INTEGER: u8 = b'i';
const TEXT: u8 = b't';

/// A list that came from a client; relative paths start at the root, or where the daemon was started. No path is empty, so
/// an empty first one says that the list has labels.
pub(super) fn from_list(list: &[u8], options: &Options) -> DatasetResult {
    let list = list.strip_suffix(b"\0").unwrap_or(list);
    if let Some(samples) = list.strip_prefix(b"\0") {
        return labelled(samples, options);
    }
    let paths = (1..).zip(list.split(|&byte| byte == 0)).filter(|_| !list.is_empty());
    listing(Path::new(GIVEN), &Address::default(), paths, Vec::new(), options)
}

/// A path and its label in turn.
fn labelled(list: &[u8], options: &Options) -> DatasetResult {
    let at = |line, problem| SourceError::Line { file: GIVEN.into(), line, problem };
    let (mut paths, mut first) = (Paths::default(), None);
    let mut column = Column::new(options.labels);
    let root = root(options, &Address::default())?;
    let mut parts = list.split(|&byte| byte == 0).filter(|_| !list.is_empty());
    let mut line = 0;
    while let Some(path) = parts.next() {
        line += 1;
        if path.is_empty() {
            return Err(at(line, LineProblem::NoPath));
        }
        let from_root = below_root(path, Some(root.path())).ok_or_else(|| at(line, foreign_url(path, root.path())))?;
        paths.push(from_root);
        let label = parts.next().unwrap_or_default();
        let (kind, label) = match label.split_first() {
            Some((&kind @ (INTEGER | TEXT), label)) if !label.is_empty() => (kind, label),
            _ => return Err(at(line, LineProblem::Malformed("the path has no label. Give each path one".into()))),
        };
        let &mut (expected, other) = first.get_or_insert_with(|| {
            // A text is one even if it looks like a number.
            if kind == TEXT && options.labels == Labels::Auto {
                column = Column::of_texts();
            }
            (kind, line)
        });
        if options.labels == Labels::Auto && kind != expected {
            let label = String::from_utf8_lossy(label).into_owned();
            let words = |kind| if kind == INTEGER { "an integer" } else { "a text" };
            return Err(at(line, LineProblem::MixedLabels { label, is: words(kind), was: words(expected), other }));
        }
        if options.labels != Labels::None {
            column.push(label, line).map_err(|problem| at(line, problem))?;
        }
    }
    let (labels, classes) = column.finish();
    let found = Found { root, paths, labels, classes, shard_name: GIVEN.into(), ..Found::default() };
    existing(Path::new(GIVEN), found, options)
}

/// Most bytes of a list: enough for fifty million paths.
const MOST_LIST: u64 = 4 << 30;

/// Relative paths start at the root, or at the list's folder. Empty lines are passed over.
fn open_text(file: &Address, options: &Options) -> DatasetResult {
    let basis = Basis::look(file)?;
    let text = file.text(MOST_LIST)?;
    let lines = text.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let lines = (1..).zip(lines).filter(|(_, line)| !line.is_empty());
    listing(file.path(), &file.parent(), lines, vec![basis], options)
}

fn listing<'a>(
    file: &Path,
    folder: &Address,
    lines: impl Iterator<Item = (u64, &'a [u8])>,
    bases: Vec<Basis>,
    options: &Options,
) -> DatasetResult {
    let (mut paths, mut numbers) = (Paths::default(), Vec::new());
    let root = root(options, folder)?;
    for (line, path) in lines {
        let at_line = |problem| SourceError::Line { file: file.to_owned(), line, problem };
        if path.is_empty() || path.contains(&0) {
            return Err(at_line(LineProblem::NoPath));
        }
        let from_root = below_root(path, Some(root.path()));
        paths.push(from_root.ok_or_else(|| at_line(foreign_url(path, root.path())))?);
        numbers.push(line);
    }
    // Objects have no folders to go up to, and a list in a store must not name files of this machine.
    if let Some(index) = (0..paths.len()).find(|&index| root.tree().is_some() && escapes(paths.bytes(index), None)) {
        let path = root.shown_name(paths.bytes(index));
        let problem = LineProblem::Escapes { path, root: printable(&root.shown()).to_string() };
        return Err(SourceError::Line { file: file.to_owned(), line: numbers[index], problem });
    }
    let shard_name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    existing(file, Found { root, paths, shard_name, bases, ..Found::default() }, options)
}

/// A list, unless it is empty or names nothing that exists: then the root is wrong, not a record.
pub(super) fn existing(file: &Path, found: Found, options: &Options) -> DatasetResult {
    if found.paths.is_empty() {
        return Err(SourceError::EmptyList { file: file.to_owned() });
    }
    let root: PathBuf = found.root.path().to_owned();
    let (listing, present) = Listing::new(found, options)?;
    if present == 0 {
        return Err(SourceError::NoneExists {
            list: file.to_owned(),
            count: listing.len(),
            first: listing.address(0).shown(),
            root: if root.as_os_str().is_empty() { PathBuf::from(".") } else { root },
        });
    }
    Ok(listing.into())
}

#[cfg(test)]
mod tests;
