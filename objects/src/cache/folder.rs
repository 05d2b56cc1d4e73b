//! The folder of a cache: files that belong to this user alone. All names are opened relative to the folder's own
//! descriptor, so no other user can replace the folder.

use std::fs::{DirBuilder, File};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use forebay_printable::printable;
use rustix::fs::{
    AtFlags, CWD, Dir, FileType, FlockOperation, Mode, OFlags, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT,
};
use rustix::io::Errno;
use thiserror::Error;

use super::entry::Header;
use super::eviction::Stored;
use super::key::CacheKey;

/// A cache that cannot be opened.
#[derive(Debug, Error)]
pub enum CacheError {
    /// The limit is too low to be of use.
    #[error("A cache of {size} bytes is of no use. Give it at least {least} bytes.")]
    TooSmall {
        /// The limit.
        size: u64,
        /// The lowest limit.
        least: u64,
    },
    /// The folder belongs to another user.
    #[error("The cache's folder \"{path}\" belongs to the user {owner}, and this is the user {user}. Give each user a folder of its own.", path = printable(path))]
    NotOurs {
        /// The folder.
        path: PathBuf,
        /// The user that owns it.
        owner: u32,
        /// The user of this process.
        user: u32,
    },
    /// Others may write to the folder.
    #[error("Other users may write to the cache's folder \"{path}\". Take that right away: chmod go-w.", path = printable(path))]
    Open {
        /// The folder.
        path: PathBuf,
    },
    /// The folder cannot be made or opened.
    #[error("The cache's folder \"{path}\" cannot be used: {source}. Give a folder on a local disk.", path = printable(path))]
    Io {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// The folder, and the folders in it: one for what is being written, and 256 for entries.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    root: File,
    /// Makes names of temporary files unique: processes of several containers may have the same process id.
    nonce: u64,
    number: AtomicU64,
}

/// An entry that is open.
#[derive(Debug)]
pub(super) struct Entry {
    file: File,
    len: u64,
    used: SystemTime,
}

/// The subfolder of files that are being written.
const TEMPORARY: &str = "tmp";
/// The process that scans the folder holds the lock of this file.
const LOCK: &str = "lock";
/// The prefix of names for foreign files that were in the cache's way.
const FOREIGN: &str = "foreign";
/// An entry that was used is marked so again only after this time: a mark is a write.
const MARK: Duration = Duration::from_secs(60);
/// Later than any use: a time for entries that are retained.
const LATEST: Duration = Duration::from_secs(1 << 40);
/// New files that are tried before a write fails.
const ATTEMPTS: usize = 10;
/// What disks allocate at least.
const DISK_BLOCK: u64 = 4096;

impl Folder {
    /// Opens the folder, and makes it if it is absent.
    pub(super) fn open(path: &Path) -> Result<Self, CacheError> {
        let failed = |source: io::Error| CacheError::Io { path: path.to_owned(), source };
        if let Some(parent) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(parent).map_err(failed)?;
        }
        match DirBuilder::new().mode(0o700).create(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
            _ => {}
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let root = rustix::fs::openat(CWD, path, flags, Mode::empty()).map_err(|errno| failed(errno.into()))?;
        let root = File::from(root);
        let metadata = root.metadata().map_err(failed)?;
        let user = rustix::process::geteuid().as_raw();
        if metadata.uid() != user {
            return Err(CacheError::NotOurs { path: path.to_owned(), owner: metadata.uid(), user });
        }
        if metadata.mode() & 0o022 != 0 {
            return Err(CacheError::Open { path: path.to_owned() });
        }
        let folder =
            Self { path: path.to_owned(), root, nonce: RandomState::new().hash_one(()), number: AtomicU64::new(0) };
        folder.make(TEMPORARY).map_err(|errno| failed(errno.into()))?;
        Ok(folder)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The entry of this key, if there is one that may be trusted.
    pub(super) fn entry(&self, key: &CacheKey) -> Option<Entry> {
        let file = self.open_ours(&name(key))?;
        let metadata = file.metadata().ok()?;
        Some(Entry { file, len: metadata.len(), used: metadata.modified().ok()? })
    }

    /// Stores an entry, in place of one that is there.
    pub(super) fn write(&self, key: &CacheKey, header: &Header, value: &[u8]) -> io::Result<()> {
        let (file, temporary) = self.temporary()?;
        let written = self.fill(file, &temporary, key, header, value);
        if written.is_err() {
            self.remove_file(&temporary);
        }
        written
    }

    /// A new file with its name. It is locked, which tells it from one that a dead process left.
    fn temporary(&self) -> io::Result<(File, String)> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for _ in 0..ATTEMPTS {
            let number = self.number.fetch_add(1, Ordering::Relaxed);
            let name = format!("{TEMPORARY}/{:x}-{number}", self.nonce);
            let file = File::from(rustix::fs::openat(&self.root, &*name, flags, Mode::RUSR | Mode::WUSR)?);
            match is_ours(&file) {
                Ok(true) => return Ok((file, name)),
                Ok(false) => {}
                Err(error) => {
                    self.remove_file(&name);
                    return Err(error);
                }
            }
        }
        Err(io::Error::new(io::ErrorKind::ResourceBusy, "other processes delete each file that is begun"))
    }

    fn fill(&self, mut file: File, temporary: &str, key: &CacheKey, header: &Header, value: &[u8]) -> io::Result<()> {
        file.write_all(header.bytes())?;
        file.write_all(value)?;
        let name = name(key);
        let rename = || rustix::fs::renameat(&self.root, temporary, &self.root, &*name);
        let renamed = match rename() {
            Err(Errno::NOENT | Errno::NOTDIR) => self.make(&name[..2]).and_then(|()| rename()),
            renamed => renamed,
        };
        let renamed = match renamed {
            Err(Errno::ISDIR) => self.move_away(&name).and_then(|()| rename()),
            renamed => renamed,
        };
        Ok(renamed?)
    }

    /// Deletes an entry.
    pub(super) fn remove(&self, key: &CacheKey) {
        self.remove_file(&name(key));
    }

    /// Deletes a file by its name in the folder. Another process may have been first.
    pub(super) fn remove_file(&self, name: &str) {
        match rustix::fs::unlinkat(&self.root, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => tracing::debug!(name, %error, "a file of the cache cannot be deleted"),
        }
    }

    /// Does something that only one process may do at a time. If another one does it, nothing is done.
    pub(super) fn exclusively(&self, work: impl FnOnce(&Self)) -> io::Result<()> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let open = || rustix::fs::openat(&self.root, LOCK, flags, Mode::RUSR | Mode::WUSR);
        let lock = match open() {
            Err(Errno::ISDIR) => self.move_away(LOCK).and_then(|()| open()),
            opened => opened,
        }?;
        match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => work(self),
            Err(Errno::WOULDBLOCK) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Deletes what processes were writing when they died.
    pub(super) fn remove_leftovers(&self) {
        for name in self.names(TEMPORARY) {
            let left = self
                .open_ours(&name)
                .is_some_and(|file| rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok());
            if left {
                self.remove_file(&name);
            }
        }
    }

    /// All entries. Those that are retained are the last that go.
    pub(super) fn entries(&self, is_retained: impl Fn(&CacheKey) -> bool) -> Vec<Stored<String>> {
        let mut entries = Vec::new();
        for first in 0..=u8::MAX {
            for name in self.names(&format!("{first:02x}")) {
                let Ok(stat) = rustix::fs::statat(&self.root, &*name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
                let seconds = u64::try_from(stat.st_mtime).unwrap_or(0);
                let since = Duration::new(seconds, u32::try_from(stat.st_mtime_nsec).unwrap_or(0));
                let is_last = key_of(&name).is_some_and(|key| is_retained(&key));
                let used = SystemTime::UNIX_EPOCH + if is_last { LATEST } else { since };
                let size = u64::try_from(stat.st_size).unwrap_or(0).next_multiple_of(DISK_BLOCK);
                entries.push(Stored { name, size, used });
            }
        }
        entries
    }

    /// The names of the files in one of the folders, with the name of the folder.
    fn names(&self, folder: &str) -> Vec<String> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Ok(opened) = rustix::fs::openat(&self.root, folder, flags, Mode::empty()) else { return Vec::new() };
        let Ok(dir) = Dir::read_from(opened) else { return Vec::new() };
        let files = dir.flatten().filter_map(|entry| {
            let name = entry.file_name().to_str().ok()?.to_owned();
            (!name.starts_with('.')).then(|| format!("{folder}/{name}"))
        });
        files.collect()
    }

    fn make(&self, folder: &str) -> Result<(), Errno> {
        match rustix::fs::mkdirat(&self.root, folder, Mode::RWXU) {
            Err(Errno::EXIST) if !self.has_folder(folder) => {
                self.move_away(folder)?;
                self.make(folder)
            }
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn has_folder(&self, name: &str) -> bool {
        let stat = rustix::fs::statat(&self.root, name, AtFlags::SYMLINK_NOFOLLOW);
        // Gone meanwhile, it is not in the way either.
        stat.map_or(true, |stat| FileType::from_raw_mode(stat.st_mode).is_dir())
    }

    /// Gives another name to what is where the cache puts something of its own, such as a folder in the place of an entry. It
    /// is not deleted, for the cache has not made it.
    fn move_away(&self, name: &str) -> Result<(), Errno> {
        let aside = format!("{FOREIGN}-{:x}-{}", self.nonce, self.number.fetch_add(1, Ordering::Relaxed));
        match rustix::fs::renameat(&self.root, name, &self.root, &*aside) {
            Ok(()) => {
                let folder = printable(&self.path).to_string();
                tracing::warn!(
                    folder,
                    name,
                    aside,
                    "what was there does not belong to the cache, and has another name now"
                );
                Ok(())
            }
            // Another process was first.
            Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Opens a regular file that belongs to this user.
    fn open_ours(&self, name: &str) -> Option<File> {
        // A pipe in the place of an entry would hold the thread without NONBLOCK.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = File::from(rustix::fs::openat(&self.root, name, flags, Mode::empty()).ok()?);
        let metadata = file.metadata().ok()?;
        let ours = metadata.is_file() && metadata.uid() == rustix::process::geteuid().as_raw();
        ours.then_some(file)
    }
}

impl Entry {
    /// Bytes of the file.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Fills `bytes` from this place of the file. False if the file is shorter.
    pub(super) fn read(&self, offset: u64, bytes: &mut [u8]) -> io::Result<bool> {
        match self.file.read_exact_at(bytes, offset) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Marks the entry as used now, unless it was marked a moment ago.
    pub(super) fn used(&self) {
        if self.used.elapsed().is_ok_and(|age| age < MARK) {
            return;
        }
        let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        let omit = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
        let marked = rustix::fs::futimens(&self.file, &Timestamps { last_access: omit, last_modification: now });
        if let Err(error) = marked {
            tracing::debug!(%error, "an entry of the cache cannot be marked as used");
        }
    }
}

/// Locks a file that was just made, and says whether it is still there. Before the lock, another thread or process may take
/// it for a leftover: then that one holds the lock and is about to delete the file, or has deleted it already.
fn is_ours(file: &File) -> io::Result<bool> {
    match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file.metadata()?.nlink() > 0),
        Err(Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// The name of a key's file. The first two digits are its folder.
fn name(key: &CacheKey) -> String {
    let key = key.to_string();
    format!("{}/{}", &key[..2], &key[2..])
}

/// The key that a file has its name from.
fn key_of(name: &str) -> Option<CacheKey> {
    let (folder, rest) = name.split_once('/')?;
    CacheKey::parse(&format!("{folder}{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn temporary(folder: &Folder, name: &str) -> File {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        File::from(rustix::fs::openat(&folder.root, name, flags, Mode::RUSR | Mode::WUSR).unwrap())
    }

    #[test]
    fn a_file_that_is_taken_for_a_leftover_before_it_is_locked_is_not_written() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(&dir.path().join("cache")).unwrap();

        let deleted = temporary(&folder, "tmp/a");
        folder.remove_leftovers();
        assert!(!is_ours(&deleted).unwrap(), "it has no name any more");

        let about_to_be = temporary(&folder, "tmp/b");
        let remover = folder.open_ours("tmp/b").unwrap();
        rustix::fs::flock(&remover, FlockOperation::NonBlockingLockExclusive).unwrap();
        assert!(!is_ours(&about_to_be).unwrap(), "another one has the lock");

        let kept = temporary(&folder, "tmp/c");
        assert!(is_ours(&kept).unwrap());
        folder.remove_leftovers();
        assert_eq!(kept.metadata().unwrap().nlink(), 1, "it is locked, and stays");
    }
}
