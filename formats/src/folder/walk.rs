//! Walks over the folders of a dataset by several threads, and looks at the size and time of each picture by the way.
//! On a network file system each look is a round trip, so more threads than cores make it faster.

use std::ffi::{CStr, OsStr};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::thread;

use forebay_sources::SourceError;
use parking_lot::{Condvar, Mutex};
use rustix::fs::{AtFlags, FileType, OFlags, RawDir, statat};

use super::{failure, is_picture};
use crate::address::Address;
use crate::basis::Basis;
use crate::beside::Beside;
use crate::confinement::check_open;
use crate::listing::{Looks, absent, time};
use crate::paths::Paths;
use crate::progress::Progress;

const THREADS: usize = 8;
/// Bytes of directory entries that are read at once.
const ENTRIES: usize = 64 << 10;

/// What lies below a folder.
#[derive(Debug, Default)]
pub(super) struct Walk {
    /// Relative paths, in the order of their raw bytes.
    pub pictures: Paths,
    /// One per picture, unless only names were looked at.
    pub looks: Looks,
    /// Folders right below the top.
    pub top_folders: Vec<Vec<u8>>,
    /// All folders.
    pub bases: Vec<Basis>,
    /// Entries whose name begins with a dot; what hidden folders hold is not counted.
    pub hidden: u64,
    /// Files that are no pictures.
    pub others: u64,
    /// What these are; only if sizes were looked at.
    pub beside: Beside,
    /// Their paths, in the order of their raw bytes; only if names were looked at.
    pub other_names: Paths,
}

/// What is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// The names of all files.
    AtNames,
    /// The names and sizes of pictures.
    AtSizes,
}

/// What is in one folder.
#[derive(Debug)]
struct WalkedFolder {
    /// The path of what is in it, up to the name: empty, or with a slash at its end.
    prefix: Vec<u8>,
    /// Its pictures, sorted.
    names: Paths,
    looks: Looks,
    folders: Vec<Vec<u8>>,
    basis: Basis,
    hidden: u64,
    others: u64,
    beside: Beside,
    /// The other files, in no order.
    other_names: Paths,
}

/// Folders that wait for a thread. The last one that was found is the next, so that a loop of symbolic links meets the
/// system's limit at once instead of after 2^40 folders.
#[derive(Debug, Default)]
struct Waiting {
    folders: Vec<Vec<u8>>,
    /// Threads that are in a folder.
    busy: usize,
    failed: Option<SourceError>,
    done: Vec<WalkedFolder>,
}

/// Goes through all folders.
///
/// # Errors
/// One of them cannot be read, or a picture cannot be looked at because the storage fails.
pub(super) fn walk_files(root: &Path, look: Look) -> Result<Walk, SourceError> {
    let progress = &Progress::new("looking for pictures");
    let first = WalkedFolder::read(root, Vec::new(), look, progress)?;
    let top_folders = first.folders.clone();
    let waiting = Waiting { folders: first.folders.clone(), done: vec![first], ..Waiting::default() };
    let helpers = waiting.folders.len().clamp(1, THREADS) - 1;
    let (waiting, changed) = (&Mutex::new(waiting), &Condvar::new());
    let work = || {
        while let Some(folder) = next(waiting, changed) {
            let found = WalkedFolder::read(root, folder, look, progress);
            let mut waiting = waiting.lock();
            waiting.busy -= 1;
            match found {
                Ok(found) => {
                    waiting.folders.extend_from_slice(&found.folders);
                    waiting.done.push(found);
                }
                Err(error) => waiting.failed = Some(error),
            }
            changed.notify_all();
        }
    };
    thread::scope(|scope| {
        let start = |_| thread::Builder::new().name("forebay-walk".into()).spawn_scoped(scope, work).ok();
        let helpers: Vec<_> = (0..helpers).map_while(start).collect();
        work();
        for helper in helpers {
            helper.join().expect("it walks over folders");
        }
    });
    let Waiting { failed, done, .. } = std::mem::take(&mut *waiting.lock());
    match failed {
        Some(error) => Err(error),
        None => Ok(Walk { top_folders, ..joined(done) }),
    }
}

/// The next folder. Nothing once all threads have none, or one has failed.
fn next(waiting: &Mutex<Waiting>, changed: &Condvar) -> Option<Vec<u8>> {
    let mut waiting = waiting.lock();
    loop {
        if waiting.failed.is_some() {
            return None;
        }
        if let Some(folder) = waiting.folders.pop() {
            waiting.busy += 1;
            return Some(folder);
        }
        if waiting.busy == 0 {
            return None;
        }
        changed.wait(&mut waiting);
    }
}

/// Puts the folders together. Folder after folder is the order of the paths, unless a folder has pictures and folders.
fn joined(mut folders: Vec<WalkedFolder>) -> Walk {
    folders.sort_unstable_by(|a, b| a.prefix.cmp(&b.prefix));
    let count = folders.iter().map(|folder| folder.names.len()).sum();
    let bytes = folders.iter().map(|folder| folder.names.bytes.len() + folder.prefix.len() * folder.names.len()).sum();
    let mut walk = Walk { pictures: Paths::with_capacity(count, bytes), ..Walk::default() };
    for folder in folders {
        for name in folder.names.iter() {
            walk.pictures.push_parts(&[&folder.prefix, name]);
        }
        walk.looks.sizes.extend_from_slice(&folder.looks.sizes);
        walk.looks.times.extend_from_slice(&folder.looks.times);
        walk.bases.push(folder.basis);
        walk.hidden += folder.hidden;
        walk.others += folder.others;
        walk.beside.append(folder.beside);
        for name in folder.other_names.iter() {
            walk.other_names.push_parts(&[&folder.prefix, name]);
        }
    }
    if let Some(order) = walk.other_names.order() {
        walk.other_names = walk.other_names.permuted(&order);
    }
    let Some(order) = walk.pictures.order() else { return walk };
    walk.pictures = walk.pictures.permuted(&order);
    if !walk.looks.sizes.is_empty() {
        walk.looks = walk.looks.permuted(&order);
    }
    walk
}

impl WalkedFolder {
    fn read(root: &Path, relative: Vec<u8>, look: Look, progress: &Progress) -> Result<Self, SourceError> {
        let path = root.join(OsStr::from_bytes(&relative));
        let failed = |error: io::Error| failure(&path, error);
        let is_folder = OFlags::DIRECTORY.bits().cast_signed();
        let folder = OpenOptions::new().read(true).custom_flags(is_folder).open(&path);
        let folder = folder.and_then(check_open).map_err(failed)?;
        let metadata = folder.metadata().map_err(failed)?;
        let mut prefix = relative;
        if !prefix.is_empty() {
            prefix.push(b'/');
        }
        let mut found = Self {
            prefix,
            names: Paths::default(),
            looks: Looks::default(),
            folders: Vec::new(),
            basis: Basis::of(Address::file(&path), &metadata),
            hidden: 0,
            others: 0,
            beside: Beside::default(),
            other_names: Paths::default(),
        };
        let mut buffer = Vec::with_capacity(ENTRIES);
        let mut entries = RawDir::new(&folder, buffer.spare_capacity_mut());
        while let Some(entry) = entries.next() {
            let entry = entry.map_err(|error| failed(error.into()))?;
            found.add(&path, &folder, entry.file_name(), entry.file_type(), look)?;
            progress.step();
        }
        if let Some(order) = found.names.order() {
            found.names = found.names.permuted(&order);
        }
        if look == Look::AtSizes {
            let names = &found.names;
            found.looks = Looks::of_each(names.len(), |picture| look_at(&path, &folder, names.get(picture)))?;
        }
        Ok(found)
    }

    fn add(&mut self, path: &Path, folder: &File, name: &CStr, kind: FileType, look: Look) -> Result<(), SourceError> {
        let bytes = name.to_bytes();
        if bytes == b"." || bytes == b".." {
            return Ok(());
        }
        if bytes.starts_with(b".") {
            self.hidden += 1;
        } else if is_folder(path, folder, name, kind)? {
            self.folders.push([&self.prefix, bytes].concat());
        } else if is_picture(Path::new(OsStr::from_bytes(bytes))) {
            self.names.push(bytes);
        } else {
            self.others += 1;
            match look {
                Look::AtNames => self.other_names.push(bytes),
                Look::AtSizes => self.beside.see(&[&self.prefix, bytes].concat()),
            }
        }
        Ok(())
    }
}

/// Symbolic links are followed. One that leads nowhere but is named like a picture is a record: reading it says so.
fn is_folder(path: &Path, folder: &File, name: &CStr, kind: FileType) -> Result<bool, SourceError> {
    let own = Path::new(OsStr::from_bytes(name.to_bytes()));
    let failed = |error: rustix::io::Errno| failure(&path.join(own), error.into());
    let kind = match kind {
        FileType::Unknown => {
            let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?;
            FileType::from_raw_mode(stat.st_mode)
        }
        known => known,
    };
    if kind != FileType::Symlink {
        return Ok(kind == FileType::Directory);
    }
    match statat(folder, name, AtFlags::empty()) {
        Ok(target) => Ok(FileType::from_raw_mode(target.st_mode) == FileType::Directory),
        Err(_) if is_picture(own) => Ok(false),
        Err(rustix::io::Errno::NOENT) => Ok(false),
        Err(error) => Err(failed(error)),
    }
}

/// The size and time of a picture.
fn look_at(path: &Path, folder: &File, name: &Path) -> Result<(u64, i64), SourceError> {
    match statat(folder, name, AtFlags::empty()) {
        Ok(stat) => {
            let nanoseconds = i64::try_from(stat.st_mtime_nsec).unwrap_or(0);
            Ok((u64::try_from(stat.st_size).unwrap_or(0), time(stat.st_mtime, nanoseconds)))
        }
        Err(error) => absent(path.join(name), &error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::folder;

    #[test]
    fn rule_2_pictures_beside_folders_are_in_the_order_of_their_whole_paths_with_their_own_sizes() {
        let sorted = ["a-b/1.jpg", "a.jpg", "a/m/1.jpg", "a/z.jpg", "a0.jpg", "b/longer name.png", "b/n.png"];
        let shuffled = [6, 0, 5, 3, 1, 4, 2].map(|place| (sorted[place], ""));
        let dir = folder(&[&shuffled[..], &[("a/.hidden.jpg", ""), ("b/notes.txt", "")]].concat());
        let walked = walk_files(dir.path(), Look::AtSizes).unwrap();
        let paths: Vec<&[u8]> = walked.pictures.iter().collect();
        assert_eq!(paths, sorted.map(str::as_bytes));
        assert_eq!(walked.looks.sizes, sorted.map(|name| name.len() as u64), "each file holds its name");
        assert_eq!((walked.bases.len(), walked.hidden, walked.others), (5, 1, 1));
        let names = walk_files(dir.path(), Look::AtNames).unwrap();
        assert!(names.pictures.iter().eq(paths) && names.looks.sizes.is_empty());
        assert!(names.other_names.iter().eq([b"b/notes.txt"]) && walked.other_names.is_empty());
    }
}
