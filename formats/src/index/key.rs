//! Where the index of a dataset is, and how many indexes are kept.

use std::fs;
use std::path::{Path, PathBuf};

use super::points::points_path;
use super::{Choices, Indexed};
use crate::root::{self, ROOT};
use crate::stores;

/// What tells the index of one dataset from that of another.
#[derive(Debug)]
pub(super) struct IndexKey {
    name: String,
}

impl IndexKey {
    pub(super) fn new(indexed: &Indexed<'_>) -> Self {
        let (path, own) = (indexed.address.path(), &indexed.options.own);
        let (absolute, store) = match indexed.address.tree() {
            None => (std::path::absolute(path).unwrap_or_else(|_| path.to_owned()), String::new()),
            Some(tree) => (path.to_owned(), tree.store().identity().to_owned()),
        };
        let choices = serde_json::to_vec(&Choices::of(indexed.scheme, indexed.options)).unwrap_or_default();
        let root = own.get(ROOT.name).unwrap_or_default();
        let mut hasher = blake3::Hasher::new();
        let parts =
            [indexed.scheme.name.as_bytes(), absolute.as_os_str().as_encoded_bytes(), &choices, root.as_bytes()];
        // Where objects come from, if they are no files of this machine: buckets of several servers have the same names.
        let reached = own.get(stores::ENDPOINT.name).filter(|_| root::is_remote(indexed.options));
        let of_objects = [store.as_bytes(), reached.unwrap_or_default().as_bytes()];
        let of_objects = of_objects.into_iter().filter(|part| !part.is_empty());
        for part in parts.into_iter().chain(of_objects) {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        let digits = hasher.finalize().to_hex();
        let stem = absolute.file_stem().unwrap_or_default().to_string_lossy();
        let plain = stem.chars().filter(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_'));
        Self { name: format!("{}-{}.arrow", plain.take(40).collect::<String>(), &digits[..16]) }
    }

    pub(super) fn path(&self, folder: &Path) -> PathBuf {
        folder.join(&self.name)
    }
}

/// Removes the oldest files of a folder of indexes until the others have at most so many bytes. `newest` stays, with its seek
/// points.
pub(super) fn bound(folder: &Path, newest: &Path, most: u64) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let stays = [newest.to_owned(), points_path(newest)];
    let looks = entries.flatten().filter_map(|entry| {
        let metadata = entry.metadata().ok().filter(fs::Metadata::is_file)?;
        let name = entry.file_name();
        let name = name.to_str()?;
        let is_ours = [".arrow", ".arrow.scan", ".arrow.seek"].iter().any(|ending| name.ends_with(ending));
        (is_ours && !stays.contains(&entry.path())).then_some((metadata.modified().ok()?, metadata.len(), entry.path()))
    });
    let mut files: Vec<_> = looks.collect();
    files.sort_unstable();
    let own = stays.iter().filter_map(|path| path.metadata().ok()).map(|metadata| metadata.len());
    let mut total = files.iter().map(|(_, len, _)| *len).chain(own).fold(0, u64::saturating_add);
    for (_, len, path) in files {
        if total <= most {
            break;
        }
        if fs::remove_file(&path).is_ok() {
            tracing::info!(index = %path.display(), "removed an old index, to make room for new ones");
            total -= len;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::date;

    #[test]
    fn rule_53_the_oldest_indexes_give_way_and_other_files_stay() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let names = ["new.arrow", "b.arrow", ".c.arrow.scan", "d.arrow.seek", "new.arrow.seek", "other.txt"];
        for (age, name) in (0..).zip(names) {
            fs::write(at(name), [0; 10]).unwrap();
            date(&at(name), 1000 - age);
        }
        bound(dir.path(), &at("new.arrow"), 30);
        assert_eq!(names.map(|name| at(name).exists()), [true, true, false, false, true, true]);
        bound(dir.path(), &at("new.arrow"), 0);
        assert_eq!(names.map(|name| at(name).exists()), [true, false, false, false, true, true]);
    }
}
