//! EXIF and XMP of every format but JPEG. The bytes of the file are looked at where they are: no decoder copies them.

mod png;
mod webp;

use crate::directory::Directory;
use crate::format::Format;
use crate::orientation::metadata::Metadata;

/// The tag of XMP in a TIFF.
const XMP: u16 = 700;

/// What a file has.
pub(in crate::cpu) fn of(bytes: &[u8], format: Format) -> Metadata<'_> {
    match format {
        Format::Png => png::metadata(bytes),
        Format::WebP => webp::metadata(bytes),
        Format::Tiff => {
            let xmp = Directory::first(bytes).and_then(|directory| directory.field(XMP));
            Metadata { exif: Some(bytes.into()), xmp: xmp.map(|field| field.data.into()) }
        }
        // Those of Pillow say nothing of it either.
        _ => Metadata::default(),
    }
}
