//! The directory at the end of a zip: where each member is. Numbers are little-endian, and every one is compared with the
//! file's length before it is used.

use std::path::Path;

use forebay_sources::SourceError;

use crate::window::Window;

/// The directory of a zip.
#[derive(Debug)]
pub(super) struct ZipDirectory {
    /// Where it begins: what it names lies before that.
    pub start: u64,
    pub entries: Vec<ZipEntry>,
}

/// What the directory says of a member.
#[derive(Debug)]
pub(super) struct ZipEntry {
    pub name: Vec<u8>,
    pub method: ZipMethod,
    pub is_encrypted: bool,
    pub is_link: bool,
    pub crc: u32,
    /// Bytes in the file, and bytes of the content.
    pub stored: u64,
    pub len: u64,
    /// Where the member's own header is.
    pub header: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ZipMethod {
    Stored,
    Deflated,
    Other,
}

/// Where the directory is, as the end of the file says.
#[derive(Debug)]
struct ZipEnd {
    entries: u64,
    /// The number of entries was written with 16 bits. It may be the low bits of a larger one.
    is_short: bool,
    start: u64,
    /// Where the directory ends.
    behind: u64,
    /// Bytes before the zip, such as a program that unpacks it. Places in the zip are counted from the end of these
    /// bytes.
    before: u64,
}

/// Bytes of the last record without its comment, of the longest comment, and of the records that ZIP64 adds.
const END: usize = 22;
const MOST_COMMENT: u64 = 0xffff;
const LOCATOR: usize = 20;
const END_64: usize = 56;
const ENTRY: usize = 46;
const HEADER: usize = 30;
/// This value means that the number is in the ZIP64 part.
const LONG: u64 = 0xffff_ffff;

/// Reads the directory.
///
/// # Errors
/// There is none, or it is not what it must be.
pub(super) fn read(path: &Path, window: &mut Window<'_>) -> Result<ZipDirectory, SourceError> {
    let end = find_end(path, window)?;
    let mut entries = Vec::new();
    let mut at = end.start;
    while at < end.behind {
        let wrong = || {
            let problem = "the directory of the zip is damaged here. Copy the file again, or pack it again.";
            SourceError::malformed_at(path, at, problem)
        };
        let head = window.array::<ENTRY>(at).map_err(SourceError::Outage)?.ok_or_else(wrong)?;
        let [name, extra, comment] = [28, 30, 32].map(|place| u64::from(short(&head, place)));
        let next = at + ENTRY as u64 + name + extra + comment;
        if !head.starts_with(b"PK\x01\x02") || next > end.behind {
            return Err(wrong());
        }
        let lens = [name, extra].map(|len| usize::try_from(len).unwrap_or(usize::MAX));
        let rest = window.get(at + ENTRY as u64, lens[0] + lens[1]).map_err(SourceError::Outage)?;
        let (name, extra) = rest.and_then(|rest| rest.split_at_checked(lens[0])).ok_or_else(wrong)?;
        let entry = ZipEntry::new(&head, name, extra).ok_or_else(wrong)?;
        let header = entry.header.checked_add(end.before).ok_or_else(wrong)?;
        entries.push(ZipEntry { header, ..entry });
        at = next;
    }
    let found = entries.len() as u64;
    if found != end.entries && !(end.is_short && found % 0x1_0000 == end.entries) {
        let problem = format!(
            "the directory of the zip has {found} members, but its end says {}. Copy the file again, or pack it again.",
            end.entries
        );
        return Err(SourceError::malformed_at(path, end.behind, problem));
    }
    // Bytes before a zip move its members. Otherwise the end is damaged.
    if let Some(first) = entries.first().filter(|_| end.before > 0) {
        let head = window.array::<4>(first.header).map_err(SourceError::Outage)?;
        if head != Some(*b"PK\x03\x04") {
            let problem = "the directory of the zip is not where its end says. Pack the zip again as one file.";
            return Err(SourceError::malformed_at(path, end.behind, problem));
        }
    }
    Ok(ZipDirectory { start: end.start, entries })
}

impl ZipEntry {
    /// Nothing if a number that ZIP64 has elsewhere is not there.
    fn new(head: &[u8; ENTRY], name: &[u8], extra: &[u8]) -> Option<Self> {
        const ENCRYPTED: u16 = 1;
        /// In the upper half of the attributes, if the zip was made on Unix.
        const UNIX: u8 = 3;
        let mut longs = zip64(extra).chunks_exact(8).map(|number| long(number, 0));
        let mut number = |place: usize| match u64::from(int(head, place)) {
            LONG => longs.next(),
            number => Some(number),
        };
        let (len, stored, header) = (number(24)?, number(20)?, number(42)?);
        let method = match short(head, 10) {
            0 => ZipMethod::Stored,
            8 => ZipMethod::Deflated,
            _ => ZipMethod::Other,
        };
        Some(Self {
            name: name.to_vec(),
            method,
            is_encrypted: short(head, 8) & ENCRYPTED != 0,
            is_link: head[5] == UNIX && int(head, 38) >> 28 == 0o12,
            crc: int(head, 16),
            stored,
            len,
            header,
        })
    }
}

/// Where the bytes of a member begin. Nothing if its own header does not say the same as the directory.
pub(super) fn behind_header(entry: &ZipEntry, window: &mut Window<'_>) -> Result<Option<u64>, SourceError> {
    let Some(head) = window.array::<HEADER>(entry.header).map_err(SourceError::Outage)? else { return Ok(None) };
    let method = match short(&head, 8) {
        0 => ZipMethod::Stored,
        8 => ZipMethod::Deflated,
        _ => ZipMethod::Other,
    };
    let (name, extra) = (short(&head, 26), short(&head, 28));
    let behind = entry.header + HEADER as u64;
    let named = window.get(behind, usize::from(name)).map_err(SourceError::Outage)?;
    let agrees = head.starts_with(b"PK\x03\x04") && method == entry.method && named == Some(&entry.name);
    Ok(agrees.then(|| behind + u64::from(name) + u64::from(extra)))
}

/// The last record of the file. A comment may follow it. The record has the comment's length.
fn find_end(path: &Path, window: &mut Window<'_>) -> Result<ZipEnd, SourceError> {
    let len = window.len();
    let first = len.saturating_sub(END as u64 + MOST_COMMENT);
    let tail = usize::try_from(len - first).unwrap_or(END);
    let tail = window.get(first, tail).map_err(SourceError::Outage)?.unwrap_or_default();
    let is_end = |place: &usize| {
        let record = tail.get(*place..*place + END);
        record.is_some_and(|record| {
            record.starts_with(b"PK\x05\x06") && *place + END + usize::from(short(record, 20)) == tail.len()
        })
    };
    let Some(place) = (0..tail.len().saturating_sub(END - 1)).rev().find(is_end) else {
        let head = window.array::<2>(0).map_err(SourceError::Outage)?;
        return Err(if head == Some(*b"PK") {
            let problem = "the file does not end as a zip does, so it may be cut. Copy it again.";
            SourceError::malformed_at(path, len, problem)
        } else {
            let problem = "this is not a zip file: it neither begins nor ends as one. Check that it is the right file.";
            SourceError::malformed_at(path, 0, problem)
        });
    };
    let record = tail.get(place..place + END).unwrap_or_default().to_vec();
    let at = first + place as u64;
    let wrong =
        |problem: &str| SourceError::malformed_at(path, at, format!("{problem} Pack the zip again as one file."));
    let (end, [disk, entries, size, start]) = match end_64(window, at)? {
        Some((end, record)) => (end, [long(&record, 16), long(&record, 32), long(&record, 40), long(&record, 48)]),
        None => (
            at,
            [4, 10, 12, 16].map(|place| {
                if place == 10 { u64::from(short(&record, place)) } else { u64::from(int(&record, place)) }
            }),
        ),
    };
    if disk != 0 {
        return Err(wrong("the zip is one of several parts."));
    }
    let Some(before) = start.checked_add(size).and_then(|behind| end.checked_sub(behind)) else {
        return Err(wrong("the directory of the zip is not where its end says."));
    };
    Ok(ZipEnd { entries, is_short: end == at, start: start + before, behind: end, before })
}

/// The last record of a ZIP64, and where it is. The locator, which says where, is right before the common last record.
fn end_64(window: &mut Window<'_>, at: u64) -> Result<Option<(u64, [u8; END_64])>, SourceError> {
    let Some(locator) = at.checked_sub(LOCATOR as u64) else { return Ok(None) };
    let locator = window.array::<LOCATOR>(locator).map_err(SourceError::Outage)?;
    let Some(locator) = locator.filter(|locator| locator.starts_with(b"PK\x06\x07")) else { return Ok(None) };
    // If other bytes are before the zip, the record is not where the locator says, but right before it.
    for place in [Some(long(&locator, 8)), at.checked_sub((LOCATOR + END_64) as u64)].into_iter().flatten() {
        let record = window.array::<END_64>(place).map_err(SourceError::Outage)?;
        if let Some(record) = record.filter(|record| record.starts_with(b"PK\x06\x06")) {
            return Ok(Some((place, record)));
        }
    }
    Ok(None)
}

/// The numbers that ZIP64 adds to an entry.
fn zip64(mut extra: &[u8]) -> &[u8] {
    while let Some((head, rest)) = extra.split_at_checked(4) {
        let Some((field, behind)) = rest.split_at_checked(usize::from(short(head, 2))) else { break };
        if short(head, 0) == 1 {
            return field;
        }
        extra = behind;
    }
    &[]
}

fn short(bytes: &[u8], place: usize) -> u16 {
    u16::from_le_bytes(array(bytes, place))
}

fn int(bytes: &[u8], place: usize) -> u32 {
    u32::from_le_bytes(array(bytes, place))
}

fn long(bytes: &[u8], place: usize) -> u64 {
    u64::from_le_bytes(array(bytes, place))
}

/// The callers ask for places in blocks whose length they know.
fn array<const N: usize>(bytes: &[u8], place: usize) -> [u8; N] {
    bytes.get(place..place + N).and_then(|bytes| bytes.try_into().ok()).unwrap_or([0; N])
}
