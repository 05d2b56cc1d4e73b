//! A dataset of files: the list that folder, CSV and file list come down to, and how one of its files is read.

use std::fs::OpenOptions;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::thread;

use super::paths::Paths;
use super::progress::Progress;
use super::{Options, ReadError, Source};

/// Files below a root, in order, with their labels.
#[derive(Debug)]
pub struct Listing {
    root: PathBuf,
    paths: Paths,
    /// One per path, in bytes; [`NO_SIZE`] where there is no file.
    sizes: Vec<u64>,
    /// Empty: no labels.
    labels: Vec<i64>,
    classes: Vec<String>,
    shard_name: String,
    fingerprint: [u8; 32],
    byte_limit: u64,
}

/// What a source found, before the files were looked at.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// What relative paths start from.
    pub root: PathBuf,
    pub paths: Paths,
    /// One per path, or empty.
    pub labels: Vec<i64>,
    pub classes: Vec<String>,
    pub shard_name: String,
}

/// Size of a file that is not there, or that cannot be looked at, in the fingerprint.
const NO_SIZE: u64 = u64::MAX;
/// A thread's share of the looking; below it one thread is as quick.
const STATS_PER_THREAD: usize = 4096;
const STAT_THREADS: usize = 8;

impl Listing {
    /// Looks at the size of every file and makes the fingerprint. The second value says how many files are there.
    pub(super) fn new(found: Found, options: &Options) -> (Self, u64) {
        let sizes = sizes(&found.root, &found.paths);
        let present = sizes.iter().filter(|&&size| size != NO_SIZE).count() as u64;
        let fingerprint = fingerprint(&found, &sizes);
        let Found { root, paths, labels, classes, shard_name } = found;
        debug_assert!(labels.is_empty() || labels.len() == paths.len(), "a label per path");
        (Self { root, paths, sizes, labels, classes, shard_name, fingerprint, byte_limit: options.byte_limit }, present)
    }

    /// The place in the list; the plan never asks beyond the end.
    fn index(&self, record: u64) -> usize {
        let index = usize::try_from(record).expect("a list in memory is no longer than usize::MAX");
        assert!(index < self.paths.len(), "record {record} of {}", self.paths.len());
        index
    }
}

impl Source for Listing {
    fn len(&self) -> u64 {
        self.paths.len() as u64
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn label(&self, record: u64) -> i64 {
        let index = self.index(record);
        self.labels.get(index).copied().unwrap_or(-1)
    }

    fn path(&self, record: u64) -> PathBuf {
        self.root.join(self.paths.get(self.index(record)))
    }

    fn size(&self, record: u64) -> u64 {
        match self.sizes[self.index(record)] {
            NO_SIZE => 0,
            size => size,
        }
    }

    fn read(&self, record: u64, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        buf.clear();
        let path = self.path(record);
        let result = read_file(path, self.byte_limit, buf);
        if result.is_err() {
            buf.clear();
        }
        result
    }

    fn fingerprint(&self) -> [u8; 32] {
        self.fingerprint
    }

    fn shard_name(&self, record: u64) -> &str {
        self.index(record);
        &self.shard_name
    }
}

fn read_file(path: PathBuf, limit: u64, buf: &mut Vec<u8>) -> Result<(), ReadError> {
    // Without O_NONBLOCK a pipe in the dataset would hold the thread for ever; for regular files it means nothing.
    let nonblock = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let (file, metadata) = match OpenOptions::new()
        .read(true)
        .custom_flags(nonblock)
        .open(&path)
        .and_then(|file| file.metadata().map(|metadata| (file, metadata)))
    {
        Ok(opened) => opened,
        Err(error) => return Err(ReadError::of_file(path, error)),
    };
    if !metadata.is_file() {
        return Err(ReadError::NotAFile { path });
    }
    let size = metadata.len();
    if size > limit {
        return Err(ReadError::TooLarge { path, size, limit });
    }
    // By one call as a rule; what the file grows by meanwhile is not read.
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    buf.reserve(size);
    while buf.len() < size {
        match rustix::io::read(&file, rustix::buffer::spare_capacity(buf)) {
            Ok(0) => break,
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(ReadError::of_file(path, error.into())),
        }
    }
    // The buffer may have had room for more than the file had.
    buf.truncate(size);
    if size == 0 {
        // There are file systems that do not know sizes beforehand.
        file.take(limit).read_to_end(buf).map_err(|error| ReadError::of_file(path.clone(), error))?;
    }
    if buf.is_empty() { Err(ReadError::Empty { path }) } else { Ok(()) }
}

/// The size of every file, by a few threads: on a network file system each look is a round trip.
fn sizes(root: &Path, paths: &Paths) -> Vec<u64> {
    let progress = &Progress::new("looking at sizes");
    let mut sizes = vec![NO_SIZE; paths.len()];
    let wanted = paths.len().div_ceil(STATS_PER_THREAD).clamp(1, STAT_THREADS);
    let per_thread = paths.len().div_ceil(wanted).max(1);
    thread::scope(|scope| {
        for (part, sizes) in sizes.chunks_mut(per_thread).enumerate() {
            scope.spawn(move || {
                for (offset, size) in sizes.iter_mut().enumerate() {
                    let path = root.join(paths.get(part * per_thread + offset));
                    progress.step();
                    *size = path.metadata().map_or(NO_SIZE, |metadata| metadata.len());
                }
            });
        }
    });
    sizes
}

/// Each part is preceded by its length, so that no two datasets give the same bytes.
fn fingerprint(found: &Found, sizes: &[u64]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"forebay dataset 1\0");
    let number = |hasher: &mut blake3::Hasher, value: u64| {
        hasher.update(&value.to_le_bytes());
    };
    number(&mut hasher, found.paths.len() as u64);
    for (path, size) in found.paths.iter().zip(sizes) {
        number(&mut hasher, path.len() as u64);
        hasher.update(path);
        number(&mut hasher, *size);
    }
    number(&mut hasher, found.labels.len() as u64);
    for label in &found.labels {
        hasher.update(&label.to_le_bytes());
    }
    number(&mut hasher, found.classes.len() as u64);
    for class in &found.classes {
        number(&mut hasher, class.len() as u64);
        hasher.update(class.as_bytes());
    }
    *hasher.finalize().as_bytes()
}
