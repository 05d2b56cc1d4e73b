//! Where a file says how it is turned: in EXIF, and where that does not, in XMP, as Pillow's `exif_transpose` looks for it.

use std::borrow::Cow;

use crate::directory::{BYTE, Directory};
use crate::orientation::Orientation;

/// How EXIF begins in a JPEG, and often elsewhere.
pub(crate) const EXIF_HEAD: &[u8] = b"Exif\0\0";

/// The tag of the orientation in EXIF and TIFF.
const ORIENTATION: u16 = 0x0112;

/// What says it in XMP: `tiff:Orientation="6"`, or `<tiff:Orientation>6`.
const IN_XMP: &[u8] = b"tiff:Orientation";

/// The most that is kept of EXIF in several segments. Its first directory, which has the orientation, is at its beginning.
const MOST_EXIF: usize = 128 << 10;

/// EXIF and XMP of a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Metadata<'a> {
    /// EXIF, with or without its head. Of a TIFF, the file.
    pub(crate) exif: Option<Cow<'a, [u8]>>,
    /// XMP.
    pub(crate) xmp: Option<Cow<'a, [u8]>>,
}

impl<'a> Metadata<'a> {
    /// A further part of EXIF, as a JPEG has it that is too long for one segment: with its head.
    pub(crate) fn add_exif(&mut self, part: &'a [u8]) {
        match &mut self.exif {
            Some(exif) if exif.len() < MOST_EXIF => {
                exif.to_mut().extend(part.strip_prefix(EXIF_HEAD).unwrap_or(part));
            }
            Some(_) => {}
            None => self.exif = Some(Cow::Borrowed(part)),
        }
    }

    /// How the picture is turned. What EXIF says counts, even if that is no orientation.
    pub(crate) fn orientation(&self) -> Orientation {
        let exif = self.exif.as_deref().and_then(in_exif);
        exif.or_else(|| self.xmp.as_deref().and_then(in_xmp)).unwrap_or_default()
    }
}

/// The orientation that EXIF has; none if it has no field for it.
fn in_exif(exif: &[u8]) -> Option<Orientation> {
    let once = exif.strip_prefix(EXIF_HEAD).unwrap_or(exif);
    let directory = Directory::first(once.strip_prefix(EXIF_HEAD).unwrap_or(once))?;
    let field = directory.field(ORIENTATION)?;
    // Bytes are no number for Pillow.
    let number = field.number(0).filter(|_| field.kind != BYTE);
    Some((2..=8).find(|known| number == Some(f64::from(*known))).map_or(Orientation::AsStored, Orientation::from_exif))
}

/// The orientation that XMP has; none if it has none.
fn in_xmp(xmp: &[u8]) -> Option<Orientation> {
    let mut rest = xmp;
    loop {
        // Of all letters of the name, this one is the rarest.
        let at = rest.iter().position(|byte| *byte == b'O')?;
        let named = rest[..at].ends_with(&IN_XMP[..5]);
        rest = &rest[at + 1..];
        let value = rest.strip_prefix(&IN_XMP[6..]).filter(|_| named);
        let value = value.and_then(|value| value.strip_prefix(b"=\"").or_else(|| value.strip_prefix(b">")));
        if let Some([digit @ b'0'..=b'9', ..]) = value {
            return Some(Orientation::from_exif((digit - b'0').into()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exif(kind: u16, is_little: bool, value: [u8; 4]) -> Vec<u8> {
        let short = |number: u16| if is_little { number.to_le_bytes() } else { number.to_be_bytes() };
        let long = |number: u32| if is_little { number.to_le_bytes() } else { number.to_be_bytes() };
        let head = if is_little { b"II*\0" } else { b"MM\0*" };
        [&head[..], &long(8), &short(1), &short(ORIENTATION), &short(kind), &long(1), &value, &long(0)].concat()
    }

    fn orientation(exif: &[u8], xmp: &str) -> u8 {
        let metadata = Metadata { exif: Some(exif.into()), xmp: Some(xmp.as_bytes().into()) };
        metadata.orientation() as u8
    }

    #[test]
    fn exif_counts_in_both_orders_of_bytes_as_short_and_long_with_and_without_its_head() {
        for number in 2..=8_u8 {
            let forms = [
                exif(3, true, [number, 0, 0, 0]),
                exif(3, false, [0, number, 0, 0]),
                exif(4, true, [number, 0, 0, 0]),
                exif(4, false, [0, 0, 0, number]),
                exif(9, true, [number, 0, 0, 0]),
                exif(9, false, [0, 0, 0, number]),
                exif(8, false, [0, number, 0, 0]),
            ];
            for form in forms {
                assert_eq!(orientation(&form, ""), number, "{form:?}");
                assert_eq!(orientation(&[EXIF_HEAD, &form].concat(), ""), number);
                assert_eq!(orientation(&[EXIF_HEAD, EXIF_HEAD, &form].concat(), ""), number);
            }
        }
        assert_eq!(
            orientation(&exif(1, true, [6, 0, 0, 0]), "tiff:Orientation=\"3\""),
            1,
            "a byte is no number, but is there"
        );
        assert_eq!(orientation(&exif(9, false, [0xFF; 4]), "tiff:Orientation=\"3\""), 1);
        assert_eq!(orientation(&exif(3, true, [9, 0, 0, 0]), "tiff:Orientation=\"3\""), 1);
    }

    #[test]
    fn xmp_counts_only_where_exif_has_no_field_for_it() {
        let xmp = "<O tiff:Orientation='7' xmp:Orientation=\"2\" tiff:OrientationX tiff:Orientation=\"8\"/>";
        assert_eq!(orientation(b"", xmp), 8);
        assert_eq!(orientation(b"Exif\0\0nothing", "<tiff:Orientation>5</tiff:Orientation>"), 5);
        assert_eq!(orientation(&exif(3, true, [6, 0, 0, 0]), xmp), 6);
        assert_eq!(orientation(&exif(3, true, [1, 0, 0, 0]), xmp), 1);
        for none in
            ["", "tiff:Orientation", "tiff:Orientation=\"", "tiff:Orientation=\"x\"", "tiff:Orientation=\"0\"", "O"]
        {
            assert_eq!(orientation(b"", none), 1, "{none}");
        }
    }

    #[test]
    fn exif_of_several_segments_is_put_together() {
        let whole = [EXIF_HEAD, &exif(4, false, [0, 0, 0, 5])].concat();
        for cut in EXIF_HEAD.len()..whole.len() {
            let second = [EXIF_HEAD, &whole[cut..]].concat();
            let mut metadata = Metadata::default();
            metadata.add_exif(&whole[..cut]);
            metadata.add_exif(&second);
            assert_eq!(metadata.orientation(), Orientation::Transposed, "{cut}");
        }
    }
}
