//! `files:`: a list of paths. The client sends it, or it is a text file with one path per line. It has no labels.

use std::fs;
use std::path::{Path, PathBuf};

use forebay_sources::{LineProblem, Options, Source as _, SourceError};

use crate::listing::{Found, Listing};
use crate::paths::Paths;
use crate::scheme::Scheme;
use crate::{Opened, ROOT};

pub(super) const SCHEME: Scheme = Scheme {
    name: "files",
    takes: "a .txt file with one path per line",
    options: &[ROOT],
    has_columns: false,
    recognises: |path| path.is_file() && path.extension().is_some_and(|found| found.eq_ignore_ascii_case("txt")),
    open: open_text,
};

/// A list that came from a client; relative paths start at the root, or where the daemon was started.
pub(super) fn from_list(list: &[u8], options: &Options) -> Opened {
    let paths = list.strip_suffix(b"\0").unwrap_or(list).split(|&byte| byte == 0);
    let paths = (1..).zip(paths).filter(|_| !list.is_empty());
    listing(Path::new("the given list"), Path::new(""), paths, options)
}

/// Relative paths start at the root, or at the list's folder. Empty lines are passed over.
fn open_text(file: &Path, options: &Options) -> Opened {
    let text = fs::read(file).map_err(|error| SourceError::of_path(file, error))?;
    let lines = text.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let lines = (1..).zip(lines).filter(|(_, line)| !line.is_empty());
    listing(file, file.parent().unwrap_or_else(|| Path::new("")), lines, options)
}

fn listing<'a>(file: &Path, folder: &Path, lines: impl Iterator<Item = (u64, &'a [u8])>, options: &Options) -> Opened {
    let mut paths = Paths::default();
    for (line, path) in lines {
        if path.is_empty() || path.contains(&0) {
            return Err(SourceError::Line { file: file.to_owned(), line, problem: LineProblem::NoPath });
        }
        paths.push(path);
    }
    let root = crate::root(options, folder);
    let shard_name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    existing(file, Found { root, paths, shard_name, ..Found::default() }, options)
}

/// A list, unless it is empty or names nothing that exists: then the root is wrong, not a record.
pub(super) fn existing(file: &Path, found: Found, options: &Options) -> Opened {
    if found.paths.is_empty() {
        return Err(SourceError::EmptyList { file: file.to_owned() });
    }
    let root: PathBuf = found.root.clone();
    let (listing, present) = Listing::new(found, options)?;
    if present == 0 {
        return Err(SourceError::NoneExists {
            list: file.to_owned(),
            count: listing.len(),
            first: listing.path(0),
            root: if root.as_os_str().is_empty() { PathBuf::from(".") } else { root },
        });
    }
    Ok(Box::new(listing))
}
