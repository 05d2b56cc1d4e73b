//! Records that are ranges of larger files. A format finds them once, and this source reads them.

mod fingerprint;
mod grains;
mod head;
mod index;
mod masks;
pub(crate) mod open_files;
mod packing;
mod spans;

use std::path::Path;
use std::sync::Arc;

use forebay_columns::Table;
use forebay_sources::{
    Grains, Locator, MaskColumn, Options, Oversight, PointFiles, ReadError, ReadErrorKind, Reading, Request, Sizes,
    Source, SourceError,
};

use crate::address::{Address, Sight};
use crate::basis::{self, Basis};
use crate::beside::Oversights;
use crate::contents::{SplitRange, take_head};
use crate::finishers;
use crate::grain_cache::GrainCache;
use crate::index_blocks::IndexBlocks;
use crate::index_columns::BadIndex;
use crate::provenance::Provenance;
use crate::stamp::Stamp;
use crate::stores;
use crate::unpacked::Unpacked;
use crate::values::Values;
pub(crate) use fingerprint::fingerprint;
use head::with_head;
pub(crate) use index::{LENGTH, ReadPacking, add_to_index, from_index, is_indexed};
pub(crate) use masks::PackedMasks;
use open_files::{OpenFile, OpenFiles};
pub(crate) use packing::{Packing, Plain};
pub(crate) use spans::{Span, Spans};

/// A dataset of ranges of files.
#[derive(Debug)]
pub(crate) struct Packed {
    parts: PackedParts,
    /// The names of the files, as the shards that they are.
    shards: Vec<String>,
    open: OpenFiles,
    /// The grains that were decoded last, if records are read in grains.
    cache: Option<Box<GrainCache>>,
    pub(crate) provenance: Provenance,
    byte_limit: u64,
    /// The index that it was opened from.
    index: Option<Arc<IndexBlocks>>,
}

/// What a format found.
#[derive(Debug)]
pub(crate) struct PackedParts {
    /// The files, as they were when their records were looked for.
    pub files: Vec<ContainerFile>,
    /// Where each record's bytes are.
    pub spans: Spans,
    /// One per record, or empty.
    pub labels: Values<i64>,
    pub classes: Vec<String>,
    pub targets: Table,
    /// The first record of each grain; empty where each record is read by itself.
    pub grains: Vec<u64>,
    pub masks: PackedMasks,
    pub packing: Arc<dyn Packing>,
}

/// A file that holds records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ContainerFile {
    pub address: Address,
    /// What it was when its records were looked for.
    pub stamp: Stamp,
    /// What it holds, if it is compressed as a whole. Its records are ranges of that.
    pub unpacked: Option<Arc<Unpacked>>,
}

impl ContainerFile {
    /// The file as it is now.
    ///
    /// # Errors
    /// It is not there, or cannot be looked at.
    pub(crate) fn look(address: &Address) -> Result<Self, SourceError> {
        match address.look()? {
            Sight::File(stamp) => Ok(Self { address: address.clone(), stamp, unpacked: None }),
            Sight::Folder => Err(SourceError::malformed_at(address.path(), 0, NO_FILE)),
        }
    }

    /// What an index compares it with.
    ///
    /// # Errors
    /// It is an object, and the store fails.
    pub(crate) fn basis(&self) -> Result<Basis, SourceError> {
        let (address, stamp) = (self.address.clone(), Some(self.stamp));
        Ok(Basis { version: basis::version(&address)?, address, stamp })
    }

    /// Whether each read of a record is a request to a store.
    fn is_remote(&self) -> bool {
        self.address.tree().is_some() && self.unpacked.is_none()
    }

    /// Its name, for messages and as part of the dataset's fingerprint.
    pub(crate) fn path(&self) -> &Path {
        self.address.path()
    }
}

/// What is said of a folder, pipe, socket or device.
pub(crate) const NO_FILE: &str = "this is not a regular file. Give a file with records.";

impl Packed {
    /// Reads what the format found. `name` is the dataset as the user named it.
    ///
    /// # Errors
    /// It has no record.
    pub(crate) fn new(name: &Address, parts: PackedParts, options: &Options) -> Result<Self, SourceError> {
        if parts.spans.is_empty() {
            return Err(SourceError::NoRecords { path: name.path().to_owned() });
        }
        debug_assert!(parts.labels.is_empty() || parts.labels.len() == parts.spans.len(), "a label per record");
        let shards = shard_names(&parts.files);
        let (open, cache) = (OpenFiles::new(parts.files.len()), grains::cache(&parts));
        let fingerprint = fingerprint(name, &parts);
        Ok(Self {
            parts,
            shards,
            open,
            cache,
            provenance: Provenance::of(fingerprint),
            byte_limit: options.byte_limit,
            index: None,
        })
    }

    /// Names what decided which records there are, beside the files.
    pub(crate) fn with_bases(mut self, bases: Vec<Basis>) -> Self {
        self.provenance.bases = bases;
        self
    }

    /// Says what lies beside the records and is not used.
    pub(crate) fn with_oversights(mut self, found: Vec<Oversight>, options: &Options) -> Self {
        self.provenance.oversights = Oversights::new(found, options);
        self
    }

    /// The files, as they were when they were scanned.
    pub(crate) fn files(&self) -> &[ContainerFile] {
        &self.parts.files
    }

    fn place(&self, record: u64) -> usize {
        let index = usize::try_from(record).expect("a list in memory is no longer than usize::MAX");
        assert!(index < self.parts.spans.len(), "record {record} of {}", self.parts.spans.len());
        index
    }

    fn file(&self, span: Span) -> &ContainerFile {
        &self.parts.files[span.file as usize]
    }

    /// The stored bytes of a record. Those of an index are in its file, or the index has failed.
    fn span(&self, record: u64) -> Span {
        let (place, PackedParts { files, spans, packing, masks, .. }) = (self.place(record), &self.parts);
        let span = spans.at(place);
        let Some(index) = &self.index else { return span };
        let fits = |file: &ContainerFile, offset: u64, len: u64| {
            offset.checked_add(len).is_some_and(|end| end <= file.stamp.len)
        };
        let is_inside = files.get(span.file as usize).is_some_and(|file| {
            fits(file, span.offset, span.len) && masks.of(place).all(|(offset, len)| fits(file, offset, len))
        });
        let problem = match is_inside {
            true if packing.can_be(record, &span) || packing.fault(record).is_some() => return span,
            true => format!("record {record} cannot have so many bytes"),
            false => format!("record {record} would be outside of its file"),
        };
        index.fail(&BadIndex(problem));
        Span { file: 0, offset: 0, len: 0 }
    }

    /// What a read is worth: nothing, if the index may have said something wrong of the record.
    fn believed(&self, record: u64, read: Result<(), ReadError>) -> Result<(), ReadError> {
        index::believed(self.index.as_deref(), read, || self.locator(record))
    }

    /// The stored bytes of a record that is to be read.
    fn wanted(&self, record: u64, room: u64) -> Result<Span, ReadError> {
        // The label is looked up too, so that an index that cannot be read any more is known with the record.
        let (span, _label) = (self.span(record), self.label(record));
        self.believed(record, Ok(()))?;
        if let Some(fault) = self.parts.packing.fault(record) {
            return Err(ReadError::damaged(self.locator(record), fault));
        }
        let limit = self.byte_limit.saturating_add(self.parts.masks.table_len());
        if let Some(kind) = ReadErrorKind::of_size(self.size(record), limit, room) {
            return Err(ReadError::new(kind, self.locator(record)));
        }
        Ok(span)
    }

    /// Its file, and the range of its stored bytes there.
    fn stored(&self, record: u64, room: u64) -> Result<(Arc<OpenFile>, u64, usize), ReadError> {
        let span = self.wanted(record, room)?;
        let located = |error: ReadError| ReadError { locator: self.locator(record), ..error };
        let file = self.open.get(span.file, self.file(span)).map_err(located)?;
        Ok((file, span.offset, usize::try_from(span.len).unwrap_or(usize::MAX)))
    }

    fn read_span(&self, record: u64, room: u64, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        let (file, offset, len) = self.stored(record, room)?;
        let packing = &*self.parts.packing;
        with_head(packing.head_len(record).min(len), |head| {
            let rest = len - head.len();
            let read = file.read_split(SplitRange { offset, head: &mut *head, rest }, buf);
            unpacked(packing, record, read, head, buf, || self.locator(record))
        })?;
        let masks = &self.parts.masks;
        if masks.columns.is_empty() {
            return Ok(());
        }
        let read = masks.read(&file, self.place(record), buf);
        read.map_err(|error| ReadError { locator: self.locator(record), ..error })
    }
}

/// What comes of a record whose stored bytes were read.
fn unpacked(
    packing: &dyn Packing,
    record: u64,
    read: Result<(), ReadError>,
    head: &[u8],
    buf: &mut Vec<u8>,
    locator: impl Fn() -> Locator,
) -> Result<(), ReadError> {
    read.map_err(|error| ReadError { locator: locator(), ..error })?;
    packing.unpack(record, head, buf).map_err(|cause| ReadError::damaged(locator(), cause))?;
    if buf.is_empty() { Err(ReadError::new(ReadErrorKind::Empty, locator())) } else { Ok(()) }
}

impl Source for Packed {
    fn len(&self) -> u64 {
        self.parts.spans.len() as u64
    }

    fn failure(&self) -> Option<String> {
        Some(self.index.as_ref()?.failure()?.to_owned())
    }

    fn classes(&self) -> &[String] {
        &self.parts.classes
    }

    fn label(&self, record: u64) -> i64 {
        self.parts.labels.get(self.place(record)).unwrap_or(-1)
    }

    fn locator(&self, record: u64) -> Locator {
        let span = self.span(record);
        let part = self.parts.packing.part(record, &span);
        Locator { container: self.file(span).address.container(), part }
    }

    fn size(&self, record: u64) -> u64 {
        let picture = self.parts.packing.content_len(record, &self.span(record));
        picture.saturating_add(self.parts.masks.size(self.place(record)))
    }

    fn read(&self, record: u64, room: u64, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        // What is in the buffer is not cleared before: a range of a file takes its place faster so.
        let read = match &self.cache {
            Some(cache) => grains::read(self, cache, record, room, buf),
            None => self.read_span(record, room, buf),
        };
        self.believed(record, read).inspect_err(|_| buf.clear())
    }

    fn read_head(&self, record: u64, most: usize, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        let PackedParts { packing, masks, .. } = &self.parts;
        if self.cache.is_some() || !packing.is_plain() || packing.head_len(record) > 0 || !masks.columns.is_empty() {
            return self.read(record, u64::MAX, buf);
        }
        let read = self.stored(record, u64::MAX).and_then(|(file, offset, len)| {
            let read = file.read(offset, len.min(most), buf);
            read.map_err(|error| ReadError { locator: self.locator(record), ..error })
        });
        self.believed(record, read).inspect_err(|_| buf.clear())
    }

    fn reading(&self) -> Reading {
        let is_remote = self.parts.files.iter().any(ContainerFile::is_remote);
        if is_remote && self.cache.is_none() { Reading::Requests { most: stores::REQUESTS } } else { Reading::Threads }
    }

    fn request(&self, mut request: Request) {
        if self.cache.is_some() {
            let read = self.read(request.record, request.room, &mut request.buf);
            return request.answer(read);
        }
        let record = request.record;
        match self.stored(record, request.room) {
            Ok((file, offset, len)) => {
                let (packing, locator) = (Arc::clone(&self.parts.packing), self.locator(record));
                let index = self.index.clone();
                let (buf, withdrawal) = (std::mem::take(&mut request.buf), request.withdrawal().clone());
                let masks = self.parts.masks.reads(self.place(record), &file, &withdrawal);
                let pending = file.request(offset, len, buf, move |mut buf, read| {
                    let is_work = read.is_ok() && !packing.is_plain();
                    let finish = move || {
                        let read = with_head(packing.head_len(record).min(buf.len()), |head| {
                            take_head(head, &mut buf);
                            unpacked(&*packing, record, read, head, &mut buf, || locator.clone())
                        });
                        let done: masks::ReadDone = Box::new(move |buf, read: Result<(), ReadError>| {
                            request.buf = buf;
                            let read = read.map_err(|error| ReadError { locator: locator.clone(), ..error });
                            request.answer(index::believed(index.as_deref(), read, || locator));
                        });
                        match (masks, read) {
                            (Some(masks), Ok(())) => masks.request(buf, done),
                            (_, read) => done(buf, read),
                        }
                    };
                    if is_work { finishers::finish(finish) } else { finish() }
                });
                if let Some(pending) = pending {
                    withdrawal.on_withdrawal(move || pending.cancel());
                }
            }
            Err(error) => request.answer(Err(error)),
        }
    }

    fn masks(&self) -> &[MaskColumn] {
        &self.parts.masks.columns
    }

    fn fingerprint(&self) -> [u8; 32] {
        self.provenance.fingerprint
    }

    fn targets(&self) -> &Table {
        &self.parts.targets
    }

    fn take_targets(&mut self) -> Table {
        std::mem::take(&mut self.parts.targets)
    }

    fn grains(&self) -> Grains<'_> {
        if self.parts.grains.is_empty() { Grains::Records } else { Grains::Starts(&self.parts.grains) }
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
        &self.shards[self.span(record).file as usize]
    }
}

/// The names of the files, as the shards that they are.
fn shard_names(files: &[ContainerFile]) -> Vec<String> {
    files.iter().map(|file| file.address.last_name()).collect()
}
