//! EXIF and XMP of a WebP: a chunk each, if the header says that it is there.

use crate::orientation::metadata::Metadata;

/// Bits of the flags.
const HAS_XMP: u8 = 4;
const HAS_EXIF: u8 = 8;

/// What a file has.
pub(super) fn metadata(bytes: &[u8]) -> Metadata<'_> {
    let mut found = Metadata::default();
    let Some(mut rest) = bytes.get(12..) else { return found };
    let mut flags = 0;
    while let Some((head, body)) = rest.split_first_chunk::<8>() {
        let [a, b, c, d, length @ ..] = *head;
        let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
        let Some(chunk) = body.get(..length) else { break };
        match &[a, b, c, d] {
            b"VP8X" => flags = chunk.first().copied().unwrap_or(0),
            b"EXIF" if flags & HAS_EXIF != 0 && found.exif.is_none() => found.exif = Some(chunk.into()),
            b"XMP " if flags & HAS_XMP != 0 && found.xmp.is_none() => found.xmp = Some(chunk.into()),
            _ => {}
        }
        // A chunk of an odd length has a byte behind it.
        rest = body.get(length + length % 2..).unwrap_or_default();
    }
    found
}
