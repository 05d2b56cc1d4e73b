//! Records that are decoded together: the first that is read of a grain decodes all of them.

use forebay_sources::{ReadError, ReadErrorKind, Source as _};

use super::{ContainerFile, Packed, PackedParts};
use crate::grain_cache::GrainCache;

/// Bytes of decoded grains that are kept.
const KEPT: usize = 256 << 20;

/// A cache for the grains of a dataset. None, if records are read one by one.
pub(super) fn cache(parts: &PackedParts) -> Option<Box<GrainCache>> {
    let cache =
        || GrainCache::new(KEPT).reading_ahead(parts.grains.len(), parts.files.iter().any(ContainerFile::is_remote));
    (!parts.grains.is_empty()).then(|| Box::new(cache()))
}

/// Reads a record of a grain.
pub(super) fn read(
    packed: &Packed,
    cache: &GrainCache,
    record: u64,
    room: u64,
    buf: &mut Vec<u8>,
) -> Result<(), ReadError> {
    buf.clear();
    let at = |kind| ReadError::new(kind, packed.locator(record));
    if packed.wanted(record, room)?.len == 0 {
        return Err(at(ReadErrorKind::Empty));
    }
    let place = |number| usize::try_from(number).expect("a place in the list");
    let read = |number, _used| {
        let span = packed.span(packed.parts.grains[place(number)]);
        let container = packed.file(span);
        let file = packed.open.get(span.file, container)?;
        packed.parts.packing.read_grain(place(number), file, container.stamp.len)
    };
    let number = packed.grains().of(record);
    let grain = cache.get(number, read).map_err(|error| ReadError { locator: packed.locator(record), ..error })?;
    let content = grain.record(place(record - packed.parts.grains[place(number)]));
    let content = content.ok_or_else(|| {
        ReadError::damaged(
            packed.locator(record),
            "its batch cannot be decompressed, or repeats its pictures too often",
        )
    })?;
    let reserved = buf.try_reserve_exact(content.len());
    reserved.map_err(|error| ReadError { cause: error.to_string(), ..at(ReadErrorKind::Resources) })?;
    buf.extend_from_slice(content);
    Ok(())
}
