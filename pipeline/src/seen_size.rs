//! The size of a record's picture as its file says it. Of most files, only the beginning is read.

use forebay_pixels::SeenSize;
use forebay_sources::{PictureSize, ReadError, RecordParts, Retry, Source};

/// Bytes that are read of a file at first. Most JPEGs have their header in them.
const HEAD: usize = 32 << 10;
/// How often a read that fails by an outage is tried.
const TRIES: u32 = 3;

/// The size of a record's picture. A bad record has none. `bytes` is memory to read into.
///
/// # Errors
/// The storage does not give the record.
pub fn of_record(source: &dyn Source, record: u64, bytes: &mut Vec<u8>) -> Result<Option<PictureSize>, ReadError> {
    let masks = source.masks().len();
    let Some(()) = read(source, record, HEAD, bytes)? else { return Ok(None) };
    let found = match SeenSize::of_start(RecordParts::of(bytes, masks).picture()) {
        Some(size) => Some(size),
        None => match read(source, record, usize::MAX, bytes)? {
            Some(()) => SeenSize::of_file(RecordParts::of(bytes, masks).picture()).ok(),
            None => None,
        },
    };
    let found = found.filter(|size| size.height > 0 && size.width > 0);
    Ok(found.map(|SeenSize { width, height, orientation }| PictureSize {
        height,
        width,
        orientation: orientation as u8,
    }))
}

/// Reads the beginning of a record. Nothing if the record is bad.
fn read(source: &dyn Source, record: u64, most: usize, bytes: &mut Vec<u8>) -> Result<Option<()>, ReadError> {
    let mut tries = 1;
    loop {
        match source.read_head(record, most, bytes) {
            Ok(()) => return Ok(Some(())),
            Err(error) if error.retry() == Retry::Never => return Ok(None),
            Err(error) if tries == TRIES => return Err(error),
            Err(_) => tries += 1,
        }
    }
}
