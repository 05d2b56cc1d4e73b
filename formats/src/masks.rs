//! Masks beside the pictures of a dataset of files: a file for each picture, in a folder of the same shape or under a name
//! that a column of the dataset has. Their bytes are read with those of the picture. Sources that have masks within their
//! own files find them by themselves.

mod elements;
mod names;
mod refusal;
mod requested;
#[cfg(test)]
pub(crate) mod tests;

use std::iter;
use std::sync::Arc;

use forebay_columns::{ElementType, Table};
use forebay_sources::{
    Grains, Locator, MaskColumn, Options, Oversight, Part, PointFiles, ReadError, ReadErrorKind, Reading, RecordParts,
    Request, Retry, Sizes, Source, SourceError,
};

use self::elements::{LOOKED_AT, check_names, element_of_mask, no_element};
pub(crate) use self::elements::{MASK_HEAD, MaskElements};
use self::names::MaskNames;
use self::requested::PartRequests;
use crate::address::Address;
use crate::dataset::Opened;
use crate::listing::{Found, Listing};

/// A dataset whose records have masks.
#[derive(Debug)]
struct Masked {
    inner: Box<dyn Source>,
    columns: Vec<MaskColumn>,
    parts: Arc<MaskParts>,
    fingerprint: [u8; 32],
}

/// Where the masks are.
#[derive(Debug)]
struct MaskParts {
    /// Column by column.
    files: Vec<MaskFiles>,
    byte_limit: u64,
}

/// The files of one column.
#[derive(Debug)]
struct MaskFiles {
    listing: Listing,
    /// Whether each record has a mask, also one that cannot be read: such a record is bad.
    present: Vec<bool>,
}

/// Adds the masks that the options name to a dataset, unless it has found them within its own files.
///
/// # Errors
/// Its records are no files, it has no such masks, or their columns cannot be.
pub(super) fn with_masks(inner: Box<dyn Source>, address: &Address, scheme: &str, options: &Options) -> Opened {
    if options.masks.is_empty() || !inner.masks().is_empty() {
        return Ok(inner);
    }
    if inner.locator(0).part != Part::Whole {
        return Err(refusal::of(scheme, options));
    }
    let folder = if address.is_folder() { address.clone() } else { address.parent() };
    // Where relative paths start: the folder of the dataset, or the root of the paths in it.
    let root = crate::root::given_root(options, &folder)?;
    let bases: Vec<Address> = iter::once(folder).chain(root).collect();
    let masked = beside(inner, address, &bases, options);
    // The root may be in a store of its own, whose faults must not be taken for answers.
    bases.iter().fold(masked, |masked, base| base.settled(masked))
}

/// The same, with the folders that paths may start from.
fn beside(inner: Box<dyn Source>, address: &Address, bases: &[Address], options: &Options) -> Opened {
    let (mut columns, mut files) = (Vec::new(), Vec::new());
    for (name, parts) in options.masks.targets() {
        let names = MaskNames::find(&*inner, name, &parts, bases)?;
        let column_files = MaskFiles::new(names, options)?;
        columns.push(MaskColumn { name: name.to_owned(), element: column_files.element(name)? });
        files.push(column_files);
    }
    check_names(inner.targets().schema(), &columns, address.path())?;
    let fingerprint = fingerprint(&*inner, &columns, &files);
    let parts = Arc::new(MaskParts { files, byte_limit: options.byte_limit });
    Ok(Box::new(Masked { inner, columns, parts, fingerprint }))
}

fn fingerprint(inner: &dyn Source, columns: &[MaskColumn], files: &[MaskFiles]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"forebay masks 1\0");
    hasher.update(&inner.fingerprint());
    for (column, files) in columns.iter().zip(files) {
        hasher.update(&(column.name.len() as u64).to_le_bytes());
        hasher.update(column.name.as_bytes());
        hasher.update(column.element.name().as_bytes());
        hasher.update(&files.listing.fingerprint());
        for present in &files.present {
            hasher.update(&[u8::from(*present)]);
        }
    }
    *hasher.finalize().as_bytes()
}

impl MaskFiles {
    fn new(names: MaskNames, options: &Options) -> Result<Self, SourceError> {
        let MaskNames { root, paths, named, must_be } = names;
        let (listing, _) = Listing::new(Found { root, paths, ..Found::default() }, options)?;
        let has = |record| must_be || listing.is_there(record) || listing.is_hidden(record);
        let present = (0..).zip(named).map(|(record, named)| named && has(record)).collect();
        Ok(Self { listing: listing.without_times(), present })
    }

    /// The type that holds the numbers of the first masks.
    fn element(&self, name: &str) -> Result<ElementType, SourceError> {
        let there = (0..).zip(&self.present).filter(|(_, present)| **present).map(|(record, _)| record);
        let there = there.filter(|&record| self.listing.is_there(record));
        let mut last = None;
        for record in there.take(LOOKED_AT) {
            let mut bytes = Vec::new();
            match self.listing.read(record, u64::MAX, &mut bytes) {
                Ok(()) => match element_of_mask(&bytes) {
                    Some(element) => return Ok(element),
                    None => last = Some(self.listing.locator(record)),
                },
                Err(outage) if outage.retry() == Retry::Later => return Err(SourceError::Outage(outage)),
                Err(error) => last = Some(error.locator),
            }
        }
        let file = last.map(|locator| locator.to_string()).unwrap_or_default();
        Err(no_element(name, &file))
    }

    fn has(&self, record: u64) -> bool {
        usize::try_from(record).ok().and_then(|record| self.present.get(record)).is_some_and(|present| *present)
    }
}

impl MaskParts {
    fn table_len(&self) -> u64 {
        RecordParts::table_len(self.files.len())
    }

    /// The room for parts, of that for a record.
    fn room(&self, room: u64) -> u64 {
        room.saturating_sub(self.table_len())
    }

    /// What is wrong with a mask, as what is wrong with a record that has so many bytes before it.
    fn in_record(&self, error: ReadError, before: u64) -> ReadError {
        match error.kind {
            ReadErrorKind::Larger { size } => {
                let size = before.saturating_add(size).saturating_add(self.table_len());
                ReadError { kind: ReadErrorKind::Larger { size }, ..error }
            }
            _ => error,
        }
    }

    /// Adds a mask to what was read of a record, where there is one, and says how long it is.
    fn read(&self, files: &MaskFiles, record: u64, room: u64, buf: &mut Vec<u8>) -> Result<u64, ReadError> {
        if !files.has(record) {
            return Ok(0);
        }
        let before = buf.len() as u64;
        let read = files.listing.read_behind(record, self.room(room).saturating_sub(before), buf);
        read.map_err(|error| self.in_record(error, before))?;
        Ok(buf.len() as u64 - before)
    }

    /// Writes the table behind a picture and its masks, unless they are too large together.
    fn close(&self, lengths: &[u64], room: u64, buf: &mut Vec<u8>) -> Result<(), ReadErrorKind> {
        let size = buf.len() as u64 + self.table_len();
        if let Some(kind) = ReadErrorKind::of_size(size, self.byte_limit.saturating_add(self.table_len()), room) {
            return Err(kind);
        }
        RecordParts::close(buf, lengths);
        Ok(())
    }
}

impl Masked {
    fn read_masks(&self, record: u64, room: u64, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        let masks = self.parts.files.iter().map(|files| self.parts.read(files, record, room, buf));
        let lengths = masks.collect::<Result<Vec<u64>, _>>()?;
        self.parts.close(&lengths, room, buf).map_err(|kind| ReadError::new(kind, self.locator(record)))
    }
}

impl Source for Masked {
    fn len(&self) -> u64 {
        self.inner.len()
    }

    fn failure(&self) -> Option<String> {
        self.inner.failure()
    }

    fn classes(&self) -> &[String] {
        self.inner.classes()
    }

    fn label(&self, record: u64) -> i64 {
        self.inner.label(record)
    }

    fn locator(&self, record: u64) -> Locator {
        self.inner.locator(record)
    }

    fn size(&self, record: u64) -> u64 {
        let masks = self.parts.files.iter().filter(|files| files.has(record)).map(|files| files.listing.size(record));
        self.inner.size(record) + masks.sum::<u64>() + self.parts.table_len()
    }

    fn read(&self, record: u64, room: u64, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        self.inner.read(record, room, buf)?;
        self.read_masks(record, room, buf).inspect_err(|_| buf.clear())
    }

    fn reading(&self) -> Reading {
        self.inner.reading()
    }

    fn request(&self, mut request: Request) {
        if self.reading() == Reading::Threads {
            let read = self.read(request.record, request.room, &mut request.buf);
            return request.answer(read);
        }
        self.inner.request(PartRequests::new(request, Arc::clone(&self.parts)).picture());
    }

    fn masks(&self) -> &[MaskColumn] {
        &self.columns
    }

    fn fingerprint(&self) -> [u8; 32] {
        self.fingerprint
    }

    fn targets(&self) -> &Table {
        self.inner.targets()
    }

    fn take_targets(&mut self) -> Table {
        self.inner.take_targets()
    }

    fn grains(&self) -> Grains<'_> {
        self.inner.grains()
    }

    fn point_files(&self) -> PointFiles {
        self.inner.point_files()
    }

    fn sizes(&self) -> Sizes {
        self.inner.sizes()
    }

    fn oversights(&self) -> Vec<Oversight> {
        self.inner.oversights()
    }

    fn shard_name(&self, record: u64) -> &str {
        self.inner.shard_name(record)
    }
}
