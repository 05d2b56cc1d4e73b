//! A dataset of files. Folders, CSVs, annotations and file lists all become such a list. This file also reads one of its
//! files.

mod fingerprint;
mod index;
mod listed_files;
mod looks;
mod objects;

use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;
use std::sync::Arc;

use forebay_columns::Table;
use forebay_sources::{
    Locator, Options, Oversight, PointFiles, ReadError, ReadErrorKind, Reading, Request, Sizes, Source, SourceError,
};

use crate::address::Address;
use crate::basis::Basis;
use crate::beside::Oversights;
use crate::faults::Faults;
use crate::paths::Paths;
use crate::provenance::Provenance;
use crate::regular_file::open_regular;
use crate::stores;
use crate::values::Values;
use fingerprint::fingerprint;
pub(crate) use index::{add_to_index, from_index};
use listed_files::ListedFiles;
pub(crate) use looks::{Looks, NO_SIZE, absent, time};
use looks::{look, time_of};

/// Files below a root, in order, with their labels.
#[derive(Debug)]
pub(crate) struct Listing {
    files: Arc<ListedFiles>,
    /// When each file was last changed, if its read compares that.
    times: Values<i64>,
    annotations: ListedAnnotations,
    pub(crate) provenance: Provenance,
    shard_name: String,
    byte_limit: u64,
}

/// What the records have beside their pictures.
#[derive(Debug)]
struct ListedAnnotations {
    /// Empty: no labels.
    labels: Values<i64>,
    classes: Vec<String>,
    targets: Table,
    /// Records whose annotations cannot be read, and why.
    damaged: Faults,
}

/// What a source found, before the files were looked at.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The folder that relative paths start from.
    pub root: Address,
    pub paths: Paths,
    /// One per path, or empty.
    pub labels: Vec<i64>,
    pub classes: Vec<String>,
    /// The columns beside pictures and labels.
    pub targets: Table,
    /// Records whose targets cannot be read, and why. The read of such a record fails.
    pub damaged: Faults,
    pub shard_name: String,
    /// The files and folders that decided which records there are. Without one, no index can tell whether it still fits.
    pub bases: Vec<Basis>,
    /// The sizes and times of the files, if the format has looked at them.
    pub looks: Option<Looks>,
    /// What is beside the files and is not used.
    pub oversights: Vec<Oversight>,
}

/// Bytes of a file without a size that are read before any room is made for them, and those that are read at all.
const UNSIZED: u64 = 64 << 10;
const UNSIZED_MOST: u64 = 16 << 20;

impl Listing {
    /// Looks at the size of every file and makes the fingerprint. The second value says how many files are there.
    ///
    /// # Errors
    /// The storage fails, or the system lacks what looking takes.
    pub(super) fn new(found: Found, options: &Options) -> Result<(Self, u64), SourceError> {
        let mut found = found;
        let looks = match (found.looks.take(), objects::looks(&found.root, &found.paths)?) {
            (Some(looks), _) | (None, Some(looks)) => looks,
            (None, None) => look(&found.root, &found.paths)?,
        };
        let present = looks.sizes.iter().filter(|&&size| size != NO_SIZE).count() as u64;
        let fingerprint = fingerprint(&found, &looks.sizes);
        let Found { root, paths, labels, classes, targets, damaged, shard_name, bases, looks: _, oversights } = found;
        debug_assert!(labels.is_empty() || labels.len() == paths.len(), "a label per path");
        let listing = Self {
            files: Arc::new(ListedFiles::new(root, paths.into(), looks.sizes.into())),
            times: looks.times.into(),
            annotations: ListedAnnotations { labels: labels.into(), classes, targets, damaged },
            provenance: Provenance {
                bases,
                oversights: Oversights::new(oversights, options),
                ..Provenance::of(fingerprint)
            },
            shard_name,
            byte_limit: options.byte_limit,
        };
        Ok((listing, present))
    }

    /// Forgets what only an index needs. A file that has changed since the scan is then read as it is.
    pub(crate) fn without_times(mut self) -> Self {
        self.times = Values::default();
        self.provenance.bases = Vec::new();
        self
    }

    /// The folder where the paths start.
    pub(crate) fn root(&self) -> &Address {
        &self.files.root
    }

    /// What a file must still be when it is read, if that is compared.
    fn expected(&self, record: u64) -> Option<(u64, i64)> {
        let index = self.files.index(record);
        Some((self.files.sizes.at(index), self.times.get(index)?))
    }

    /// Whether the record's file was there when the dataset was opened.
    pub(super) fn is_there(&self, record: u64) -> bool {
        self.files.is_there(record)
    }

    /// Whether it is unknown if the record's file exists, because the file may not be looked at.
    pub(super) fn is_hidden(&self, record: u64) -> bool {
        let address = self.address(record);
        if address.tree().is_some() {
            return address.stored().is_err();
        }
        let looked = address.look();
        looked.is_err_and(|error| !matches!(error, SourceError::Missing { .. } | SourceError::NotAFolder { .. }))
    }

    /// Adds the record's stored bytes to `buf`, at most `room` of them. Otherwise this is like [`read`](Source::read):
    /// after an error, `buf` is as before.
    pub(super) fn read_behind(&self, record: u64, room: u64, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        self.read_first(record, u64::MAX, room, buf)
    }

    /// The same for the first `most` bytes.
    fn read_first(&self, record: u64, most: u64, room: u64, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        self.look_up(record);
        if let Some(cause) = self.annotations.damaged.get(record) {
            return self.files.believed(record, Err(ReadError::damaged(self.locator(record), cause)));
        }
        let (address, before) = (self.address(record), buf.len());
        let read = match address.tree() {
            None => {
                let wanted = WantedBytes { most, room, limit: self.byte_limit };
                read_file(address.path().to_owned(), self.expected(record), &wanted, buf)
            }
            Some(tree) => self.files.wanted(record, room, self.byte_limit).and_then(|object| {
                let read = tree.store().read_behind(&object, 0..object.size.min(most), room, buf);
                read.map_err(|error| objects::of_index(error, self.files.is_pinned()))
            }),
        };
        let read = self.files.judged(record, read);
        if read.is_err() {
            buf.truncate(before);
        }
        read
    }

    /// Reads what an index has beside the file, so that an index that cannot be read any more is known with the record.
    fn look_up(&self, record: u64) {
        let _label = self.label(record);
    }

    /// Where the record's file is.
    pub(super) fn address(&self, record: u64) -> Address {
        self.files.address(record)
    }
}

impl Source for Listing {
    fn len(&self) -> u64 {
        self.files.paths.len() as u64
    }

    fn failure(&self) -> Option<String> {
        Some(self.files.index.as_ref()?.blocks.failure()?.to_owned())
    }

    fn classes(&self) -> &[String] {
        &self.annotations.classes
    }

    fn label(&self, record: u64) -> i64 {
        let index = self.files.index(record);
        self.annotations.labels.get(index).unwrap_or(-1)
    }

    fn locator(&self, record: u64) -> Locator {
        self.files.locator(record)
    }

    fn size(&self, record: u64) -> u64 {
        match self.files.sizes.at(self.files.index(record)) {
            NO_SIZE => 0,
            size => size,
        }
    }

    fn read(&self, record: u64, room: u64, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        buf.clear();
        self.read_behind(record, room, buf)
    }

    fn read_head(&self, record: u64, most: usize, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        buf.clear();
        self.read_first(record, most as u64, u64::MAX, buf)
    }

    fn reading(&self) -> Reading {
        if self.files.root.tree().is_some() { Reading::Requests { most: stores::REQUESTS } } else { Reading::Threads }
    }

    fn request(&self, mut request: Request) {
        let address = self.address(request.record);
        let Some(tree) = address.tree().filter(|_| !self.annotations.damaged.has(request.record)) else {
            let read = self.read(request.record, request.room, &mut request.buf);
            return request.answer(read);
        };
        self.look_up(request.record);
        match self.files.wanted(request.record, request.room, self.byte_limit) {
            Ok(object) => {
                let (is_pinned, files) = (self.files.is_pinned(), Arc::clone(&self.files));
                let (buf, withdrawal) = (std::mem::take(&mut request.buf), request.withdrawal().clone());
                let pending = tree.store().request(&object, 0..object.size, buf, move |buf, read| {
                    request.buf = buf;
                    files.answer(request, read.map_err(|error| objects::of_index(error, is_pinned)));
                });
                withdrawal.on_withdrawal(move || pending.cancel());
            }
            Err(error) => self.files.answer(request, Err(error)),
        }
    }

    fn fingerprint(&self) -> [u8; 32] {
        self.provenance.fingerprint
    }

    fn targets(&self) -> &Table {
        &self.annotations.targets
    }

    fn take_targets(&mut self) -> Table {
        std::mem::take(&mut self.annotations.targets)
    }

    fn point_files(&self) -> PointFiles {
        self.provenance.points.clone()
    }

    fn sizes(&self) -> Sizes {
        self.provenance.sizes.clone()
    }

    fn oversights(&self) -> Vec<Oversight> {
        self.provenance.oversights.told()
    }

    fn shard_name(&self, record: u64) -> &str {
        self.files.index(record);
        &self.shard_name
    }
}

/// Which bytes of a file are read.
struct WantedBytes {
    /// The first so many of them.
    most: u64,
    /// A larger file is not read now.
    room: u64,
    /// A larger file is never read.
    limit: u64,
}

/// Adds the file's bytes to `buf`.
fn read_file(
    path: PathBuf,
    expected: Option<(u64, i64)>,
    &WantedBytes { most, room, limit }: &WantedBytes,
    buf: &mut Vec<u8>,
) -> Result<(), ReadError> {
    let (file, metadata) = match open_regular(&path) {
        Ok(opened) => opened,
        Err(error) => return Err(ReadError::of_file(path, &error)),
    };
    if expected.is_some_and(|expected| expected != (metadata.len(), time_of(&metadata))) {
        let cause = "its size or time is not what the index has. Run \"forebay index SOURCE --rebuild\"".into();
        return Err(ReadError { cause, ..of(ReadErrorKind::Changed, path) });
    }
    match metadata.len() {
        0 => read_unsized(path, file, room, limit, buf),
        size if size > limit => Err(of(ReadErrorKind::TooLarge { size, limit }, path)),
        size if size > room => Err(of(ReadErrorKind::Larger { size }, path)),
        size => read_sized(path, &file, size.min(most), buf),
    }
}

/// Normally makes one call. Bytes that the file gains meanwhile are not read.
fn read_sized(path: PathBuf, file: &File, size: u64, buf: &mut Vec<u8>) -> Result<(), ReadError> {
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    if let Err(error) = buf.try_reserve_exact(size) {
        return Err(ReadError::of_file(path, &error.into()));
    }
    let before = buf.len();
    while buf.len() - before < size {
        match rustix::io::read(file, rustix::buffer::spare_capacity(buf)) {
            Ok(0) => break,
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(ReadError::of_file(path, &error.into())),
        }
    }
    // The buffer may have had room for more than the file had.
    buf.truncate(before + size);
    if buf.len() == before { Err(of(ReadErrorKind::Empty, path)) } else { Ok(()) }
}

/// Some file systems do not know sizes beforehand. For those, more room is requested step by step.
fn read_unsized(path: PathBuf, file: File, room: u64, limit: u64, buf: &mut Vec<u8>) -> Result<(), ReadError> {
    let (most, before) = (room.clamp(UNSIZED, UNSIZED_MOST).min(limit), buf.len());
    if let Err(source) = file.take(most + 1).read_to_end(buf) {
        // No storage has them: files of /proc say what they like.
        return Err(ReadError { cause: source.to_string(), ..of(ReadErrorKind::Unreadable, path) });
    }
    match (buf.len() - before) as u64 {
        0 => Err(of(ReadErrorKind::Empty, path)),
        size if size <= most => Ok(()),
        size if most >= limit.min(UNSIZED_MOST) => Err(of(ReadErrorKind::TooLarge { size, limit: most }, path)),
        _ => Err(of(ReadErrorKind::Larger { size: most * 16 }, path)),
    }
}

fn of(kind: ReadErrorKind, path: PathBuf) -> ReadError {
    ReadError::new(kind, Locator::file(path))
}
