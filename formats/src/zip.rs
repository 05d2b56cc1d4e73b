//! `zip:`: pictures in zip files. Their folders are classes.

mod directory;

use std::sync::Arc;

use arrow_array::types::{UInt8Type, UInt32Type, UInt64Type};
use flate2::{Decompress, FlushDecompress, Status};
use forebay_columns::Table;
use forebay_sources::{Options, Part, SourceError};

use crate::address::Address;
use crate::archived::{Archived, ArchivedPictures, FOLDER, MEMBER, member_name};
use crate::checksum::crc32;
use crate::containers;
use crate::faults::Faults;
use crate::index_columns::{BadIndex, IndexColumns, NewColumns};
use crate::opened::DatasetResult;
use crate::packed::{Packed, PackedMasks, PackedParts, Packing, Span};
use crate::paths::RecordPaths;
use crate::progress::Progress;
use crate::scan::Scan;
use crate::scheme::{Indexing, Scheme};
use crate::values::Values;
use crate::window::Window;
use directory::{ZipEntry, ZipMethod};

pub(super) const SCHEME: Scheme = Scheme {
    name: "zip",
    takes: "a .zip file of pictures or of class folders",
    options: &[FOLDER],
    has_columns: false,
    recognises,
    open,
    indexing: Indexing::Ranges(ZipMembers::from_index),
};

/// Deflate makes 1032 bytes of one at most, and hardly ever more bytes than there were.
const MOST_RATIO: u64 = 1040;
/// The columns of an index beside the names.
const CONTENT_LENGTH: &str = "content_length";
const CRC: &str = "crc32";
const DEFLATED: &str = "deflated";
const EXTENSIONS: [&str; 1] = ["zip"];
/// How a zip with members begins, and one without.
const MAGICS: [&[u8; 4]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

/// What is known of the records beside their places.
#[derive(Debug, Default)]
struct ZipContents {
    /// Bytes of the pictures.
    lens: Values<u64>,
    /// The checksums over them.
    crcs: Values<u32>,
    /// 1 for those that are compressed.
    deflated: Values<u8>,
}

/// The members of zips that are records.
#[derive(Debug)]
struct ZipMembers {
    names: RecordPaths,
    contents: ZipContents,
    faults: Faults,
}

impl ZipContents {
    fn push(&mut self, len: u64, crc: u32, is_deflated: bool) {
        self.lens.push(len);
        self.crcs.push(crc);
        self.deflated.push(is_deflated.into());
    }
}

impl ZipMembers {
    fn from_index(columns: &IndexColumns, _options: &Options) -> Result<Arc<dyn Packing>, BadIndex> {
        let contents = ZipContents {
            lens: columns.numbers::<UInt64Type>(CONTENT_LENGTH)?,
            crcs: columns.numbers::<UInt32Type>(CRC)?,
            deflated: columns.numbers::<UInt8Type>(DEFLATED)?,
        };
        Ok(Arc::new(Self { names: columns.paths(MEMBER)?, contents, faults: columns.faults()? }))
    }
}

fn place_of(record: u64) -> usize {
    usize::try_from(record).expect("a list in memory is no longer than usize::MAX")
}

impl Packing for ZipMembers {
    fn fault(&self, record: u64) -> Option<&str> {
        self.faults.get(record)
    }

    fn can_be(&self, record: u64, span: &Span) -> bool {
        let (place, len) = (place_of(record), self.content_len(record, span));
        if self.contents.deflated.at(place) == 0 { span.len == len } else { len / MOST_RATIO <= span.len }
    }

    fn content_len(&self, record: u64, _span: &Span) -> u64 {
        self.contents.lens.at(place_of(record))
    }

    fn unpack(&self, record: u64, _head: &[u8], stored: &mut Vec<u8>) -> Result<(), String> {
        let place = place_of(record);
        if self.contents.deflated.at(place) != 0 {
            *stored = inflated(stored, self.contents.lens.at(place))?;
        }
        if crc32(stored) == self.contents.crcs.at(place) {
            Ok(())
        } else {
            Err("its bytes do not have the checksum of the zip".into())
        }
    }

    fn add_to_index(&mut self, columns: &mut NewColumns) {
        columns.paths(MEMBER, self.names.memory());
        columns.numbers::<UInt64Type>(CONTENT_LENGTH, &mut self.contents.lens);
        columns.numbers::<UInt32Type>(CRC, &mut self.contents.crcs);
        columns.numbers::<UInt8Type>(DEFLATED, &mut self.contents.deflated);
    }

    fn part(&self, record: u64, _span: &Span) -> Part {
        Part::Member(member_name(&self.names, record))
    }
}

/// Never makes more bytes than the zip says. The caller has compared that number with its limits.
fn inflated(stored: &[u8], len: u64) -> Result<Vec<u8>, String> {
    let wrong = || format!("it cannot be decompressed to the {len} bytes that the zip says");
    let expected = usize::try_from(len).map_err(|_| wrong())?;
    // One byte more, by which a longer content is known.
    let mut content = Vec::new();
    content.try_reserve_exact(expected.checked_add(1).ok_or_else(wrong)?).map_err(|_| wrong())?;
    let mut inflate = Decompress::new(false);
    let status = inflate.decompress_vec(stored, &mut content, FlushDecompress::Finish);
    let is_whole = matches!(status, Ok(Status::StreamEnd)) && inflate.total_in() == stored.len() as u64;
    if is_whole && content.len() == expected { Ok(content) } else { Err(wrong()) }
}

fn recognises(address: &Address) -> bool {
    let begins = || MAGICS.iter().any(|magic| address.beginning(4) == **magic);
    address.is_file() && (containers::is_named(address.path(), &EXTENSIONS) || begins())
}

fn open(address: &Address, options: &Options, scan: &Scan) -> DatasetResult {
    let progress = Progress::new("looking for members of zips");
    let mut archived = Archived::new(options);
    let (mut files, mut contents) = (Vec::new(), ZipContents::default());
    for (number, file) in (0..).zip(containers::find(address, &EXTENSIONS)?) {
        let (mut window, container) = scan.open(&file)?;
        let directory = directory::read(file.path(), &mut window)?;
        for entry in &directory.entries {
            progress.step();
            if entry.name.ends_with(b"/") {
                continue;
            }
            if !archived.takes(&entry.name) {
                archived.leave_out(&entry.name);
                continue;
            }
            let (span, fault) = match place(entry, directory.start, &mut window)? {
                Ok(offset) => (Span { file: number, offset, len: entry.stored }, None),
                Err(fault) => (Span { file: number, offset: entry.header, len: 0 }, Some(fault)),
            };
            archived.add(&entry.name, &entry.name, span, fault);
            let is_deflated = entry.method == ZipMethod::Deflated;
            contents.push(entry.len, entry.crc, is_deflated);
        }
        scan.done(window, &container);
        files.push(container);
    }
    let ArchivedPictures { names, spans, labels, classes, faults, oversights } =
        archived.finish(address.path(), options.labels)?;
    let packing = Arc::new(ZipMembers { names: names.into(), contents, faults });
    let (targets, grains, masks) = (Table::EMPTY, Vec::new(), PackedMasks::default());
    let parts = PackedParts { files, spans, labels: labels.into(), classes, targets, grains, masks, packing };
    Ok(Packed::new(address, parts, options)?.with_oversights(oversights, options).into())
}

/// Where a member's bytes are: behind its own header, which must agree with the directory and end before it. The inner
/// error is what is wrong with this member.
fn place(entry: &ZipEntry, end: u64, window: &mut Window<'_>) -> Result<Result<u64, &'static str>, SourceError> {
    match entry.method {
        _ if entry.is_link => return Ok(Err("it is a symbolic link. Pack the zip again without --symlinks")),
        _ if entry.is_encrypted => {
            return Ok(Err("it is encrypted. Unpack the zip, and pack it again without a password"));
        }
        ZipMethod::Other => return Ok(Err("it is compressed by another method than deflate. Pack the zip again")),
        ZipMethod::Stored if entry.stored != entry.len => {
            return Ok(Err("it is stored, but the zip says two different sizes"));
        }
        ZipMethod::Deflated
            if entry.len / MOST_RATIO > entry.stored
                || entry.stored > entry.len.saturating_mul(2).saturating_add(1024) =>
        {
            return Ok(Err("the zip says two sizes of it that cannot be"));
        }
        ZipMethod::Stored | ZipMethod::Deflated => {}
    }
    let found = directory::behind_header(entry, window)?;
    let fits = |offset: &u64| offset.checked_add(entry.stored).is_some_and(|behind| behind <= end);
    Ok(found.filter(fits).ok_or("its own header does not agree with the directory of the zip"))
}

#[cfg(test)]
pub(crate) mod tests;
