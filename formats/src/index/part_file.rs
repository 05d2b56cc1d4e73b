//! A file that has another name until it is complete. So the file under its own name is complete whenever it exists.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

use crate::folder_owner::{above, give_away, is_own};
use crate::part_name::{is_part_of, part_name};

/// A file that is being written, and locked meanwhile. If it is dropped before it is complete, it is removed.
#[derive(Debug)]
pub(super) struct PartFile {
    path: PathBuf,
    part: PathBuf,
    file: File,
    is_complete: bool,
}

/// How many names are tried. Another name is needed only if another process has taken the one before.
const ATTEMPTS: usize = 100;

impl PartFile {
    /// Begins the file with this path. Files that killed processes left unfinished are removed.
    ///
    /// # Errors
    /// It cannot be made.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        remove_leftovers(path);
        for _ in 0..ATTEMPTS {
            let part = part_name(path);
            // If another process has put a file or a link there, it is not opened.
            let file = match OpenOptions::new().read(true).write(true).create_new(true).mode(0o644).open(&part) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            };
            let made = Self { path: path.to_owned(), part, file, is_complete: false };
            // Until the file is locked, another process may think that it is a leftover, and lock and remove it. On file
            // systems without locks, no process removes it.
            let is_taken = flock(&made.file, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK);
            if !is_taken && made.file.metadata()?.nlink() > 0 {
                give_away(&made.file, above(&made.part));
                return Ok(made);
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// The file, for its writer.
    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Gives the complete file its name. Returns its size in bytes.
    ///
    /// # Errors
    /// The disk is full, or the folder is not writable.
    pub(super) fn finish(mut self) -> io::Result<u64> {
        self.file.sync_all()?;
        let bytes = self.file.metadata()?.len();
        fs::rename(&self.part, &self.path)?;
        self.is_complete = true;
        Ok(bytes)
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        if !self.is_complete {
            // It may be gone already; what counts is the error that led here.
            let _gone = fs::remove_file(&self.part);
        }
    }
}

/// Removes files that no process writes any more. This is housekeeping, so errors are ignored.
fn remove_leftovers(path: &Path) {
    let entries = fs::read_dir(above(path)).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| is_part_of(path, &entry.file_name().to_string_lossy())) {
        remove_leftover(&entry.path());
    }
}

/// The lock of a writer ends with its process. This function holds the lock until the file is gone, so no other process
/// can get it.
fn remove_leftover(part: &Path) {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let Ok(file) = OpenOptions::new().read(true).custom_flags(flags).open(part) else { return };
    let is_own = file.metadata().is_ok_and(|found| found.is_file() && is_own(&found, above(part)));
    if is_own && flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
        let _gone = fs::remove_file(part);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn rule_53_what_a_killed_process_left_is_removed_and_what_another_one_writes_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let names = || {
            let entries = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
            let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
            names.sort();
            names
        };
        let path = dir.path().join("x.arrow");
        let other = PartFile::create(&path).unwrap();
        let of_other = names();
        let kept = [".x.arrow.1-0.part.txt", ".y.arrow.1-0.part"];
        for name in [&[".x.arrow.1-0.part", ".x.arrow.7.part", ".x.arrow.seek.1-1.part"][..], &kept].concat() {
            fs::write(dir.path().join(name), "left").unwrap();
        }
        let one = PartFile::create(&path).unwrap();
        assert_eq!(names().len(), 4, "two that are written, and two that have other names: {:?}", names());
        one.file().write_all(b"one").unwrap();
        assert_eq!(one.finish().unwrap(), 3);
        assert_eq!(names(), [&kept[0..1], &[of_other[0].as_str()], &kept[1..], &["x.arrow"]].concat());
        drop(other);
        assert_eq!(names(), [kept[0], kept[1], "x.arrow"], "what was given up is removed");
        assert_eq!(fs::read(&path).unwrap(), b"one");
    }
}
