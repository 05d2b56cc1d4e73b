//! The frames of `MXNet`'s `RecordIO`, and the header of a picture.
//!
//! A record is a magic number, a word with its length (29 bits) and the kind of part that it is (3 bits), the content, and
//! zeros up to a multiple of four bytes. Where the content has the magic number at a multiple of four bytes, the writer
//! leaves it out and begins another part.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use forebay_sources::{Options, ReadError, SourceError};

use super::MxPayload;
use crate::faults::Faults;
use crate::index_columns::{BadIndex, IndexColumns};
use crate::packed::{Packing, Span};
use crate::window::Window;
use crate::wrong_file::{LFS_POINTER, cut};

const MAGIC: [u8; 4] = 0xced7_230a_u32.to_le_bytes();
/// Bytes before the content of a part.
const PART_HEAD: usize = 8;
const HEAD: u64 = PART_HEAD as u64;
/// Bytes of an image header, without its further labels.
const HEADER: usize = 24;
/// Most labels of one record.
const MOST_LABELS: u64 = 1 << 22;

/// What is before the content of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PartHead {
    kind: PartKind,
    len: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PartKind {
    Whole,
    First,
    Middle,
    Last,
}

/// Where the parts of a record are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MxRecord {
    /// The content of the first part.
    first: Range<u64>,
    others: Vec<Range<u64>>,
}

/// The header of a picture.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ImageHeader {
    /// One label, or several.
    pub labels: Vec<f32>,
    pub id: u64,
    /// There is no picture behind it.
    pub is_empty: bool,
}

/// How records are unpacked.
#[derive(Debug)]
pub(super) struct MxPacking {
    pub is_image: bool,
    /// Records whose image header is wrong, and why.
    pub damaged: Faults,
}

/// The head of a part; nothing if the bytes are none.
pub(super) fn head(bytes: &[u8]) -> Option<PartHead> {
    let (magic, rest) = bytes.split_first_chunk::<4>()?;
    let (word, _) = rest.split_first_chunk::<4>()?;
    let word = u32::from_le_bytes(*word);
    let kind = match word >> 29 {
        0 => PartKind::Whole,
        1 => PartKind::First,
        2 => PartKind::Middle,
        3 => PartKind::Last,
        _ => return None,
    };
    (*magic == MAGIC).then_some(PartHead { kind, len: word & 0x1fff_ffff })
}

impl PartHead {
    /// Whether a record begins here.
    pub(super) fn is_first(self) -> bool {
        matches!(self.kind, PartKind::Whole | PartKind::First)
    }

    /// Whether the part is a whole record of so many bytes, with this head.
    fn is_whole(self, len: usize) -> bool {
        self.kind == PartKind::Whole && PART_HEAD + self.len as usize == len
    }

    fn is_last(self) -> bool {
        matches!(self.kind, PartKind::Whole | PartKind::Last)
    }
}

/// The record that begins here, and where the next one does.
pub(super) fn record(window: &mut Window<'_>, path: &Path, start: u64) -> Result<(MxRecord, u64), SourceError> {
    let mut record: Option<MxRecord> = None;
    let mut at = start;
    loop {
        let bytes = window.array::<8>(at).map_err(SourceError::Outage)?.ok_or_else(|| cut(path, start, "record"))?;
        let head = head(&bytes).filter(|head| head.is_first() == record.is_none());
        let Some(head) = head else { return Err(SourceError::malformed_at(path, at, no_head(at, &bytes))) };
        let (content, end) = (at + HEAD, at + HEAD + u64::from(head.len));
        let next = end.next_multiple_of(4);
        if next > window.len() {
            return Err(cut(path, start, "record"));
        }
        match &mut record {
            None => record = Some(MxRecord { first: content..end, others: Vec::new() }),
            Some(record) => record.others.push(content..end),
        }
        at = next;
        if head.is_last() {
            break;
        }
    }
    Ok((record.expect("the first part made it"), at))
}

fn no_head(at: u64, bytes: &[u8]) -> &'static str {
    if at == 0 && bytes.starts_with(b"version ") {
        LFS_POINTER
    } else if at == 0 {
        "this is not an MXNet RecordIO file: it does not begin with a record. Check that it is the right file."
    } else {
        "no record begins here, so what follows cannot be found: the file is damaged. Write or copy it again."
    }
}

impl MxRecord {
    /// Where its head begins.
    pub(super) fn start(&self) -> u64 {
        self.first.start - HEAD
    }

    /// All of it but the zeros at its end.
    pub(super) fn span(&self, file: u32) -> Span {
        let end = self.others.last().unwrap_or(&self.first).end;
        Span { file, offset: self.start(), len: end - self.start() }
    }

    fn parts(&self) -> impl Iterator<Item = &Range<u64>> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// Bytes of the content, with the magic numbers that belong between the parts.
    fn len(&self) -> u64 {
        let parts: u64 = self.parts().map(|part| part.end - part.start).sum();
        parts + 4 * self.others.len() as u64
    }

    /// The first bytes of the content. The caller knows that it has so many.
    fn beginning(&self, window: &mut Window<'_>, len: usize) -> Result<Vec<u8>, ReadError> {
        let mut bytes = Vec::with_capacity(len);
        for part in self.parts() {
            if part.start != self.first.start {
                bytes.extend(MAGIC);
            }
            let missing = len.saturating_sub(bytes.len());
            let take = usize::try_from(part.end - part.start).map_or(missing, |part| part.min(missing));
            bytes.extend(window.get(part.start, take)?.unwrap_or_default());
            if bytes.len() >= len {
                break;
            }
        }
        bytes.truncate(len);
        Ok(bytes)
    }
}

impl ImageHeader {
    /// The header at the beginning of a record; or what is wrong with it.
    pub(super) fn read(window: &mut Window<'_>, record: &MxRecord) -> Result<Result<Self, String>, ReadError> {
        let len = record.len();
        let before = match Self::labels_of(&record.beginning(window, HEADER)?, len) {
            Ok(labels) => HEADER + 4 * labels,
            Err(cause) => return Ok(Err(cause)),
        };
        let bytes = record.beginning(window, before)?;
        let (fixed, labels) = bytes.split_at(HEADER.min(bytes.len()));
        let word =
            |at: usize| fixed.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes);
        let mut labels: Vec<f32> = labels.as_chunks::<4>().0.iter().map(|label| f32::from_le_bytes(*label)).collect();
        if labels.is_empty() {
            labels.extend(fixed.get(4..8).and_then(|bytes| bytes.try_into().ok()).map(f32::from_le_bytes));
        }
        Ok(Ok(Self { labels, id: word(8), is_empty: before as u64 == len }))
    }

    /// How many labels are between the header and the picture.
    fn labels_of(bytes: &[u8], len: u64) -> Result<usize, String> {
        let Some(flag) = bytes.first_chunk::<4>().filter(|_| len >= HEADER as u64) else {
            return Err(format!("it has {len} bytes, and an image header has {HEADER}"));
        };
        let labels = u64::from(u32::from_le_bytes(*flag));
        if labels > MOST_LABELS || HEADER as u64 + 4 * labels > len {
            return Err(format!("its image header says that {labels} labels follow, but the record has {len} bytes"));
        }
        usize::try_from(labels).map_err(|error| error.to_string())
    }

    /// Whether the record is no picture, but says which records are (InsightFace): two numbers, and nothing behind them.
    pub(super) fn is_header_of_a_file(&self) -> bool {
        self.is_empty && self.labels.len() == 2
    }
}

impl MxPacking {
    /// Reads it from an index.
    pub(super) fn from_index(columns: &IndexColumns, options: &Options) -> Result<Arc<dyn Packing>, BadIndex> {
        let payload = super::payload(options).map_err(|error| BadIndex(error.to_string()))?;
        Ok(Arc::new(Self { is_image: payload == MxPayload::Image, damaged: columns.faults()? }))
    }
}

impl Packing for MxPacking {
    fn known_fault(&self, record: u64) -> Option<&str> {
        self.damaged.get(record)
    }

    /// The head of the first part, and the image header without further labels.
    fn head_len(&self, _record: u64) -> usize {
        if self.is_image { PART_HEAD + HEADER } else { PART_HEAD }
    }

    fn unpack(&self, record: u64, head: &[u8], stored: &mut Vec<u8>) -> Result<(), String> {
        let is_whole = self::head(head).is_some_and(|part| part.is_whole(head.len() + stored.len()));
        if !is_whole {
            stored.splice(..0, head.iter().copied());
            join(stored)?;
        }
        if let Some(cause) = self.damaged.get(record) {
            return Err(cause.to_owned());
        }
        if self.is_image {
            let (header, taken) =
                if is_whole { (&head[PART_HEAD..], head.len() - PART_HEAD) } else { (stored.as_slice(), 0) };
            let labels = ImageHeader::labels_of(header, (taken + stored.len()) as u64)?;
            stored.drain(..(HEADER + 4 * labels - taken).min(stored.len()));
        }
        Ok(())
    }

    fn digest(&self, part: &mut dyn FnMut(&[u8])) {
        if self.is_image {
            part(b"behind image headers");
        }
    }
}

/// Puts the parts of a record together, in place: what is between two of them becomes the magic number.
pub(super) fn join(stored: &mut Vec<u8>) -> Result<(), String> {
    let (mut from, mut to) = (0, 0);
    loop {
        let head = stored.get(from..).and_then(head).filter(|head| head.is_first() == (from == 0));
        let Some(head) = head else { return Err("the head of one of its parts is not what it was".into()) };
        if from > 0 {
            stored[to..to + 4].copy_from_slice(&MAGIC);
            to += 4;
        }
        let content = from + 8;
        let end = content + head.len as usize;
        if end > stored.len() {
            return Err("one of its parts is longer than it was".into());
        }
        stored.copy_within(content..end, to);
        to += head.len as usize;
        from = end.next_multiple_of(4);
        if head.is_last() {
            if end != stored.len() {
                return Err("it is shorter than it was".into());
            }
            stored.truncate(to);
            return Ok(());
        }
    }
}
