//! `tfrecord:`: files of TensorFlow's record format. A record is a `tf.train.Example` or a picture.
//!
//! A record is a length (8 bytes), a checksum of the length (4), the data, and a checksum of the data (4). There is no
//! magic number, no padding, and no end mark.

mod packing;

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use forebay_columns::Table;
use forebay_sources::{Options, SourceError};

use self::packing::TfPacking;
use crate::address::Address;
use crate::checksum::{Crc32c, crc32c};
use crate::containers;
use crate::example::gather::{ExamplePictures, Gathered, Gatherer};
use crate::faults::Faults;
use crate::folder::is_picture;
use crate::masks::{MASK_HEAD, MaskElements};
use crate::packed::{Packed, PackedMasks, PackedParts, Span, Spans};
use crate::progress::Progress;
use crate::scan::Scan;
use crate::scheme::{Indexing, OptionKey, Scheme};
use crate::unpacked::Compression;
use crate::window::Window;
use crate::wrong_file::{LFS_POINTER, cut};

pub(super) const SCHEME: Scheme = Scheme {
    name: "tfrecord",
    takes: "a TFRecord file, a folder of .tfrecord files, or a pattern",
    options: &[
        OptionKey { name: "payload", help: "what a record is: \"example\" (tf.train.Example) or \"picture\"" },
        OptionKey { name: "check", help: "\"false\" reads pictures without comparing the checksum of their record" },
    ],
    has_columns: true,
    recognises,
    open: |path, options, scan| Ok(open(path, options, scan)?.into()),
    indexing: Indexing::Ranges(TfPacking::from_index),
};

const EXTENSIONS: [&str; 3] = ["tfrecord", "tfrecords", "record"];
/// Those of files that are compressed as a whole. Many have the extension of others.
const COMPRESSED: [&str; 3] = ["tfrecord.gz", "tfrecords.gz", "record.gz"];
/// Bytes before the data: the length and its checksum.
const HEAD: u64 = 12;
/// Bytes behind the data: its checksum.
const TAIL: u64 = 4;

/// A damaged record that was found while the file was scanned. Its read says which checksums differ.
const OTHER_SUM: &str = "the checksum of the data is another one";

/// What a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TfPayload {
    Example,
    Picture,
}

/// What is found while the files are scanned.
struct TfScan {
    /// The Examples, unless records are pictures.
    gatherer: Option<Gatherer>,
    is_checked: bool,
    spans: Spans,
    packing: TfPacking,
    masks: PackedMasks,
    elements: MaskElements,
    progress: Progress,
}

fn open(name: &Address, options: &Options, scan: &Scan) -> Result<Packed, SourceError> {
    let (payload, is_checked) = (payload(options)?, is_checked(options)?);
    if payload == TfPayload::Picture && !options.columns.is_empty() {
        return Err(SourceError::bad_option("payload", "picture", "\"example\" if the stream names columns"));
    }
    let mut found = TfScan {
        gatherer: if payload == TfPayload::Example { Some(Gatherer::new(options)?) } else { None },
        is_checked,
        spans: Spans::default(),
        packing: TfPacking::new(is_checked, payload == TfPayload::Example),
        masks: PackedMasks::new(options.masks.targets().count()),
        elements: MaskElements::new(&options.masks),
        progress: Progress::new("looking for records"),
    };
    let mut files = Vec::new();
    for (number, path) in (0..).zip(containers::find_compressed(name, &EXTENSIONS, &COMPRESSED)?) {
        let (mut window, container) = scan.open_unpacked(&path, options, is_compressed)?;
        found.file(&mut window, path.path(), number)?;
        scan.done(window, &container);
        files.push(container);
    }
    let TfScan { gatherer, spans, mut packing, mut masks, elements, .. } = found;
    let has_masks = gatherer.is_some() && !options.masks.is_empty();
    let none =
        || Gathered { labels: Vec::new(), classes: Vec::new(), targets: Table::default(), damaged: Faults::default() };
    let gathered = gatherer.map_or_else(|| Ok(none()), |mut gatherer| gatherer.finish(name.path()))?;
    let Gathered { labels, classes, targets, damaged } = gathered;
    if has_masks {
        masks.columns = elements.finish(targets.schema(), name.path())?;
    }
    damaged.warn(&name.shown());
    packing.damaged = damaged;
    let packing = Arc::new(packing);
    let labels = labels.into();
    let parts = PackedParts {
        files,
        spans,
        labels,
        classes,
        targets,
        grains: Vec::new(),
        masks: if has_masks { masks } else { PackedMasks::default() },
        packing,
    };
    Packed::new(name, parts, options)
}

fn payload(options: &Options) -> Result<TfPayload, SourceError> {
    options.own.choice("payload", &[("example", TfPayload::Example), ("picture", TfPayload::Picture)])
}

fn is_checked(options: &Options) -> Result<bool, SourceError> {
    options.own.flag("check", true)
}

impl TfScan {
    fn file(&mut self, window: &mut Window<'_>, path: &Path, number: u32) -> Result<(), SourceError> {
        let mut at = 0;
        while at < window.len() {
            let len = length(window, path, at)?;
            let data = at + HEAD;
            let Some(end) =
                data.checked_add(len).and_then(|end| end.checked_add(TAIL)).filter(|&end| end <= window.len())
            else {
                return Err(cut(path, at, "record"));
            };
            let picture = match &mut self.gatherer {
                // What the first record is decides what later ones must be, so it must be what was written.
                Some(gatherer) if self.is_checked && self.spans.is_empty() && !is_intact(window, data..data + len)? => {
                    gatherer.unreadable(OTHER_SUM);
                    None
                }
                Some(gatherer) => match gatherer.record(window, data..data + len, (path, at)) {
                    // A label that does not go with the others may be damage, which is this record's alone.
                    Err(SourceError::Malformed { .. }) if self.is_checked && !is_intact(window, data..data + len)? => {
                        gatherer.unreadable(OTHER_SUM);
                        None
                    }
                    other => other?,
                },
                None => Some(ExamplePictures { picture: data..data + len, masks: Vec::new() }),
            };
            let masks = picture.as_ref().map(|pictures| &pictures.masks[..]);
            self.take_masks(window, path, masks.unwrap_or_default())?;
            let picture = picture.map(|pictures| pictures.picture);
            // A record is read from its data on. Without a check of the whole, only the picture is.
            let (span, within) = match picture {
                Some(picture) if !self.is_checked => (picture, None),
                Some(picture) => (data..end, Some(picture.start - data..picture.end - data)),
                None => (data..end, None),
            };
            self.spans.push(Span { file: number, offset: span.start, len: span.end - span.start });
            self.packing.push(within);
            self.progress.step();
            at = end;
        }
        Ok(())
    }
}

impl TfScan {
    /// Takes the masks of the next record, which may have none.
    fn take_masks(
        &mut self,
        window: &mut Window<'_>,
        path: &Path,
        found: &[Option<Range<u64>>],
    ) -> Result<(), SourceError> {
        for column in 0..self.masks.columns_count() {
            let mask = found.get(column).cloned().flatten();
            if let Some(mask) = mask.clone().filter(|_| self.elements.wants(column)) {
                let len = usize::try_from(mask.end - mask.start).unwrap_or(MASK_HEAD).min(MASK_HEAD);
                let head = window.get(mask.start, len).map_err(SourceError::Outage)?.unwrap_or_default();
                self.elements.look(column, head, || format!("{}, byte {}", path.display(), mask.start));
            }
            self.masks.push(column, mask.map(|mask| (mask.start, mask.end - mask.start)));
        }
        Ok(())
    }
}

/// The length of the record at this place, if its checksum is right: it is not believed otherwise.
fn length(window: &mut Window<'_>, path: &Path, at: u64) -> Result<u64, SourceError> {
    let head = window.array::<12>(at).map_err(SourceError::Outage)?;
    let Some(head) = head else { return Err(cut(path, at, "record")) };
    match stored_length(&head) {
        Some(len) => Ok(len),
        None if at == 0 => Err(SourceError::malformed_at(path, 0, what_else(&head))),
        None => Err(SourceError::malformed_at(
            path,
            at,
            "the length of a record does not have the right checksum, so nothing behind it can be found. Write or copy the file again.",
        )),
    }
}

/// The length in the head of a record; nothing if its checksum differs.
fn stored_length(head: &[u8]) -> Option<u64> {
    let (len, rest) = head.split_first_chunk::<8>()?;
    let (checksum, _) = rest.split_first_chunk::<4>()?;
    (masked(len) == u32::from_le_bytes(*checksum)).then(|| u64::from_le_bytes(*len))
}

/// The checksum as the format stores it.
fn masked(bytes: &[u8]) -> u32 {
    mask(crc32c(bytes))
}

fn mask(sum: u32) -> u32 {
    sum.rotate_right(15).wrapping_add(0xa282_ead8)
}

/// Whether the data have the checksum behind them.
fn is_intact(window: &mut Window<'_>, data: Range<u64>) -> Result<bool, SourceError> {
    let (mut at, mut sum) = (data.start, Crc32c::new());
    while at < data.end {
        let step = usize::try_from(data.end - at).unwrap_or(usize::MAX).min(1 << 16);
        let bytes = window.get(at, step).map_err(SourceError::Outage)?.unwrap_or_default();
        sum = sum.with(bytes);
        at += step as u64;
    }
    let stored = window.array::<4>(data.end).map_err(SourceError::Outage)?;
    Ok(stored.is_some_and(|stored| u32::from_le_bytes(stored) == mask(sum.sum())))
}

/// What a file is that has no record at its start.
fn what_else(head: &[u8]) -> &'static str {
    if head.starts_with(b"version http") {
        LFS_POINTER
    } else {
        "this is not a TFRecord file: the length of its first record does not have the right checksum. Check that it is the right file, and complete."
    }
}

/// How the file is compressed as a whole, if it has no record at its start.
fn is_compressed(head: &[u8]) -> Option<Compression> {
    if stored_length(head).is_some() { None } else { Compression::of(head) }
}

/// By the checksum of the first length. A compressed file is recognised by its name too, because many things are compressed.
fn recognises(address: &Address) -> bool {
    let named = |extensions: &[&str]| containers::is_named(address.path(), extensions);
    let may_be_compressed = address.is_folder() || named(&EXTENSIONS[..2]) || named(&COMPRESSED[..2]);
    let compressed = || {
        containers::begins(address, &COMPRESSED, |head| is_compressed(head).is_some(), is_picture)
            || containers::begins(address, &EXTENSIONS, |head| is_compressed(head).is_some(), is_picture)
    };
    containers::begins(address, &EXTENSIONS, |bytes| stored_length(bytes).is_some(), is_picture)
        || may_be_compressed && compressed()
}

#[cfg(test)]
pub(crate) mod tests;
