//! Files beside the records that no record is read from.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::hash::{BuildHasher as _, RandomState};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use forebay_sources::{Container, Source};
use serde::Serialize;

use super::names::path_of;
use crate::json;

/// What no record is read from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Strays {
    /// Files, sorted by their path.
    #[serde(serialize_with = "json::paths")]
    pub files: Vec<PathBuf>,
    /// Files and folders whose name begins with a dot. They are not looked into.
    pub hidden: u64,
    /// Folders that could not be read.
    #[serde(rename = "unread_folders", serialize_with = "json::paths")]
    pub unread: Vec<PathBuf>,
}

/// Looks below the datasets that are folders, and else in each folder that holds a record. None if no record is in a file.
pub(super) fn strays(names: &[String], source: &dyn Source) -> Option<Strays> {
    // Eight bytes for each record: two paths with the same ones would hide a file, and do not happen by chance.
    let state = RandomState::new();
    let (mut known, mut parents) = (HashSet::new(), HashSet::new());
    let named: Vec<&Path> = names.iter().map(|name| path_of(name)).collect();
    let folders: Vec<&Path> = named.iter().copied().filter(|path| path.is_dir()).collect();
    let has_others = folders.len() < named.len();
    let mut last = None;
    for record in 0..source.len() {
        let Container::File(path) = source.locator(record).container else { continue };
        if last.as_ref() != Some(&path) {
            known.insert(state.hash_one(&path));
            let parent = path.parent().filter(|parent| has_others && !parents.contains(*parent));
            let outside = parent.filter(|parent| !folders.iter().any(|folder| parent.starts_with(folder)));
            parents.extend(outside.map(Path::to_owned));
            last = Some(path);
        }
    }
    if known.is_empty() {
        return None;
    }
    let mut found = Strays::default();
    let is_known = |path: &Path| named.contains(&path) || known.contains(&state.hash_one(path));
    for folder in folders {
        found.look(folder, true, is_known);
    }
    for parent in parents {
        found.look(&parent, false, is_known);
    }
    // One folder may be inside another.
    found.files.sort_unstable();
    found.files.dedup();
    found.unread.sort_unstable();
    found.unread.dedup();
    Some(found)
}

impl Strays {
    /// How many files there are with each extension, the most frequent first.
    pub(super) fn extensions(&self) -> Vec<(String, u64)> {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for file in &self.files {
            let extension = file.extension().map(|found| format!(".{}", found.to_string_lossy()));
            *counts.entry(extension.unwrap_or_else(|| "without an extension".to_owned())).or_default() += 1;
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        counts
    }

    fn look(&mut self, folder: &Path, below: bool, known: impl Fn(&Path) -> bool) {
        // Symbolic links may lead in circles.
        let mut seen = HashSet::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            let identity = folder.metadata().map(|metadata| (metadata.dev(), metadata.ino()));
            if identity.is_ok_and(|identity| !seen.insert(identity)) {
                continue;
            }
            // A list with plain names is beside its files.
            let place = if folder.as_os_str().is_empty() { Path::new(".") } else { &folder };
            let Ok(entries) = fs::read_dir(place) else {
                self.unread.push(folder);
                continue;
            };
            for entry in entries.flatten() {
                let name = entry.file_name();
                let path = folder.join(&name);
                match path.is_dir() {
                    _ if is_hidden(&name) => self.hidden += 1,
                    true if below => folders.push(path),
                    false if !known(&path) => self.files.push(path),
                    _ => {}
                }
            }
        }
    }
}

fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use forebay_formats::open;
    use forebay_sources::Options;

    use super::*;

    #[test]
    fn files_that_no_record_is_read_from_are_found_and_circles_end() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for folder in ["cats", "cats/deep", "notes"] {
            fs::create_dir(at(folder)).unwrap();
        }
        for file in ["cats/1.jpg", "cats/deep/2.png", "cats/read.me", ".hidden", "notes/todo", "list.txt", "cats/0.jpg"]
        {
            fs::write(at(file), "cats/1.jpg\ncats/deep/2.png\n").unwrap();
        }
        let names = |found: &Strays| -> Vec<String> {
            let name = |path: &PathBuf| path.strip_prefix(dir.path()).unwrap().to_str().unwrap().to_owned();
            found.files.iter().map(name).collect()
        };
        let list = at("list.txt");
        let source = open(list.to_str().unwrap(), &Options::default()).unwrap();
        let found = strays(&[list.to_str().unwrap().to_owned()], &*source).unwrap();
        assert_eq!(names(&found), ["cats/0.jpg", "cats/read.me"]);
        assert_eq!(found.extensions(), [(".jpg".to_owned(), 1), (".me".to_owned(), 1)]);

        fs::remove_dir_all(at("notes")).unwrap();
        let cats = at("cats");
        let source =
            open(cats.to_str().unwrap(), &Options { labels: forebay_sources::Labels::None, ..Options::default() });
        let source = source.unwrap();
        // A circle that appears later does not keep the command for ever.
        symlink(&cats, at("cats/circle")).unwrap();
        for name in [cats.to_str().unwrap().to_owned(), format!("folder:{}", cats.display())] {
            assert_eq!(names(&strays(&[name], &*source).unwrap()), ["cats/read.me"]);
        }
    }
}
