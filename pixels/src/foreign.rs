//! Names of formats that no decoder here takes, recognised by a file's first bytes. A user who reads "HEIC" knows what to
//! do. AVIF is among them, as its container is that of others.

/// First bytes, and what begins so.
const BEGINNINGS: &[(&[u8], &str)] = &[
    (b"\0\0\0\x0cjP  \r\n\x87\n", "JPEG 2000"),
    (b"\xff\x4f\xff\x51", "JPEG 2000"),
    (b"II\xbc", "JPEG XR"),
    (b"II+\0", "BigTIFF"),
    (b"MM\0+", "BigTIFF"),
    (b"8BPS", "Photoshop document"),
    (b"%PDF-", "PDF"),
    (b"%!PS", "PostScript"),
    (b"\xc5\xd0\xd3\xc6", "PostScript"),
    (b"<svg", "SVG"),
    (b"IIU\0", "raw photograph, RW2"),
    (b"IIRO", "raw photograph, ORF"),
    (b"IIRS", "raw photograph, ORF"),
    (b"MMOR", "raw photograph, ORF"),
    (b"FUJIFILMCCD-RAW", "raw photograph, RAF"),
    (b"FOVb", "raw photograph, X3F"),
    (b"\0MRM", "raw photograph, MRW"),
    (b"II\x1a\0\0\0HEAPCCDR", "raw photograph, CRW"),
    (b"\x76\x2f\x31\x01", "OpenEXR"),
    (b"#?RADIANCE", "Radiance HDR"),
    (b"#?RGBE", "Radiance HDR"),
    (b"DDS ", "DDS"),
    (b"icns", "icon of macOS"),
    (b"qoif", "QOI"),
    (b"farbfeld", "farbfeld"),
    (b"SIMPLE  =", "FITS"),
    (b"gimp xcf", "GIMP's XCF"),
    (b"\x8aMNG\r\n\x1a\n", "MNG"),
    (b"\x8bJNG\r\n\x1a\n", "JNG"),
    (b"FLIF", "FLIF"),
    (b"BPG\xfb", "BPG"),
    (b"AT&TFORM", "DjVu"),
    (b"\x97JB2\r\n\x1a\n", "JBIG2"),
    (b"\x01\xda", "SGI"),
    (b"\x59\xa6\x6a\x95", "Sun raster"),
    (b"\xd7\xcd\xc6\x9a", "Windows metafile"),
    (b"/* XPM */", "XPM"),
    (b"PF\n", "PFM"),
    (b"Pf\n", "PFM"),
    (b"\xabKTX ", "KTX"),
    (b"\x13\xab\xa1\x5c", "ASTC"),
    (b"\x1a\x45\xdf\xa3", "video, Matroska or WebM"),
    (b"\0\0\x01\xba", "video, MPEG"),
    (b"\x93NUMPY", "array of NumPy"),
    (b"\x89HDF\r\n\x1a\n", "HDF5"),
    (b"PK\x03\x04", "zip archive"),
    (b"\x1f\x8b\x08", "file compressed with gzip"),
    (b"version https://git-lfs", "pointer of Git LFS, in the place of the file itself"),
];

/// The name of the format that one does take.
pub(crate) const AVIF: &str = "AVIF";

/// Brands of the container that HEIF, AVIF and MP4 share, and what has them.
const BRANDS: &[(&[u8], &str)] = &[
    (b"avif", AVIF),
    (b"avis", AVIF),
    (b"heic", "HEIC"),
    (b"heix", "HEIC"),
    (b"heim", "HEIC"),
    (b"heis", "HEIC"),
    (b"hevc", "HEIC"),
    (b"hevx", "HEIC"),
    (b"crx ", "raw photograph, CR3"),
    (b"jxl ", "JPEG XL"),
    (b"mif1", "HEIF"),
    (b"msf1", "HEIF"),
    (b"mif2", "HEIF"),
    (b"qt  ", "video, QuickTime"),
];
/// What has other brands.
const OTHER_BRANDS: &str = "video, MP4";
/// Bytes in which a text says what it is.
const TEXT: usize = 1024;

/// What these bytes are, if they are known and their first bytes alone do not say so.
pub(crate) fn name_of(bytes: &[u8]) -> Option<&'static str> {
    if let Some((_, name)) = BEGINNINGS.iter().find(|(beginning, _)| bytes.starts_with(beginning)) {
        return Some(name);
    }
    if bytes.get(4..8) == Some(b"ftyp") {
        return Some(of_brands(bytes));
    }
    match () {
        () if bytes.get(128..132) == Some(b"DICM") => Some("DICOM"),
        () if bytes.get(344..348) == Some(b"n+1\0") => Some("NIfTI"),
        () if bytes.get(40..44) == Some(b" EMF") && bytes.starts_with(b"\x01\0\0\0") => Some("Windows metafile"),
        () if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"AVI ") => Some("video, AVI"),
        () if bytes.starts_with(b"\x0a")
            && bytes.get(2) == Some(&1)
            && bytes.get(1).is_some_and(|version| *version <= 5) =>
        {
            Some("PCX")
        }
        () if has_icons(bytes, 1) => Some("icon"),
        () if has_icons(bytes, 2) => Some("cursor"),
        () if is_tga(bytes) => Some("TGA"),
        () => of_text(bytes),
    }
}

/// Whether a file of icons (1) or cursors (2) has some. Without the count, a TGA looks like cursors.
fn has_icons(bytes: &[u8], kind: u8) -> bool {
    bytes.starts_with(&[0, 0, kind, 0]) && bytes.get(4..6).is_some_and(|count| count != [0, 0])
}

/// TGA has no mark at its beginning, and only newer files have one at their end. So the whole header must be possible.
fn is_tga(bytes: &[u8]) -> bool {
    let Some(&[_, map, kind, _, _, _, _, map_bits, _, _, _, _, w0, w1, h0, h1, bits, _]) = bytes.first_chunk::<18>()
    else {
        return false;
    };
    let has_map = match (map, kind) {
        (0, 2 | 3 | 10 | 11) => bytes[3..8] == [0; 5],
        (1, 1 | 9) => matches!(map_bits, 15 | 16 | 24 | 32),
        _ => false,
    };
    has_map && matches!(bits, 8 | 15 | 16 | 24 | 32) && [w0, w1] != [0, 0] && [h0, h1] != [0, 0]
}

/// The major brand says most. Some writers say only "HEIF" there, and what it is among the compatible brands.
fn of_brands(bytes: &[u8]) -> &'static str {
    let len = bytes.first_chunk().map_or(0, |len| u32::from_be_bytes(*len)).clamp(16, 256) as usize;
    let major = bytes.get(8..12).into_iter();
    let compatible = bytes.get(16..len.min(bytes.len())).into_iter().flat_map(|brands| brands.chunks_exact(4));
    let mut found = major.chain(compatible).filter_map(|brand| BRANDS.iter().find(|(known, _)| *known == brand));
    let first = found.next().map(|(_, name)| *name);
    match first {
        Some("HEIF") => found.map(|(_, name)| *name).find(|name| *name != "HEIF").unwrap_or("HEIF"),
        name => name.unwrap_or(OTHER_BRANDS),
    }
}

/// SVG begins with a declaration or a comment as a rule.
fn of_text(bytes: &[u8]) -> Option<&'static str> {
    let text = bytes.get(..TEXT.min(bytes.len()))?;
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text).trim_ascii_start();
    let has = |word: &[u8]| text.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word));
    if !text.starts_with(b"<") {
        return None;
    }
    if has(b"<svg") {
        Some("SVG")
    } else if has(b"<html") || has(b"<!doctype html") {
        Some("web page")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_other_formats_are_named_by_their_content() {
        let brand = |major: &[u8; 4], compatible: &[u8]| {
            let len = u32::try_from(16 + compatible.len()).unwrap();
            [&len.to_be_bytes()[..], b"ftyp", major, b"\0\0\0\0", compatible, b"\0\0\0\x08free"].concat()
        };
        let at = |place: usize, word: &[u8]| [&vec![0; place][..], word].concat();
        for (bytes, name) in [
            (brand(b"heic", b"mif1heic"), "HEIC"),
            (brand(b"mif1", b"mif1heix"), "HEIC"),
            (brand(b"mif1", b"miafavif"), "AVIF"),
            (brand(b"mif1", b"mif1"), "HEIF"),
            (brand(b"avif", b"mif1"), "AVIF"),
            (brand(b"avis", b""), "AVIF"),
            (brand(b"crx ", b"isom"), "raw photograph, CR3"),
            (brand(b"isom", b"mp41"), "video, MP4"),
            (brand(b"qt  ", b""), "video, QuickTime"),
            (b"\0\0\0\x0cjP  \r\n\x87\n rest".to_vec(), "JPEG 2000"),
            (b"MM\0+\0\x08\0\0".to_vec(), "BigTIFF"),
            (b"8BPS\0\x01".to_vec(), "Photoshop document"),
            (b"<?xml version=\"1.0\"?>\n<!-- x -->\n<svg width=\"1\">".to_vec(), "SVG"),
            (b"  <SVG>".to_vec(), "SVG"),
            (b"<!DOCTYPE html><p>".to_vec(), "web page"),
            (at(128, b"DICM"), "DICOM"),
            (at(344, b"n+1\0"), "NIfTI"),
            (b"RIFF\0\0\0\0AVI LIST".to_vec(), "video, AVI"),
            (b"\x0a\x05\x01\x08".to_vec(), "PCX"),
            (b"\0\0\x01\0\x03\0\x10\x10".to_vec(), "icon"),
            (b"\0\0\x02\0\x01\0\x20\x20".to_vec(), "cursor"),
            (b"\0\0\x02\0\0\0\0\0\0\0\0\0\x31\0\x05\x01\x18\x20".to_vec(), "TGA"),
            (b"\x09\0\x0b\0\0\0\0\0\x01\0\x02\0\x07\0\x09\0\x08\0 a comment".to_vec(), "TGA"),
            (b"\0\x01\x01\0\0\x80\0\x18\0\0\0\0\x07\0\x09\0\x08\0".to_vec(), "TGA"),
        ] {
            assert_eq!(name_of(&bytes), Some(name));
        }
        for none in [&b""[..], b"no picture", b"<xml/>", b"\xff", b"ftyp", b"RIFF\0\0\0\0WAVE", &[0; 32]] {
            assert_eq!(name_of(none), None, "{none:?}");
        }
    }

    #[test]
    fn no_bytes_cause_a_panic() {
        let brands = b"\xff\xff\xff\xffftypmif1\0\0\0\0mif1";
        for bytes in BEGINNINGS.iter().map(|(bytes, _)| *bytes).chain([&brands[..]]) {
            for end in 0..=bytes.len() {
                let _name = name_of(&bytes[..end]);
            }
        }
    }
}
