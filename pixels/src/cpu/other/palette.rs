//! TIFF pictures of palette colours (TIFF 6.0, section 5), which the `image` crate leaves alone: they are read as gray, each
//! value an index into the palette.

/// Tags of TIFF 6.0, section 8.
const BITS_PER_SAMPLE: u16 = 258;
const PHOTOMETRIC_INTERPRETATION: u16 = 262;
const COLOR_MAP: u16 = 320;

/// Values of the photometric interpretation.
const BLACK_IS_ZERO: u16 = 1;
const PALETTE_COLOR: u16 = 3;

/// Values of a field that has 16 bits.
const SHORT: u16 = 3;

/// The colours of a picture with 8 bits per pixel.
pub(super) type Palette = [[u8; 3]; 256];

/// Numbers in the order of bytes that a file has.
#[derive(Clone, Copy)]
struct File<'a> {
    bytes: &'a [u8],
    is_little: bool,
}

/// A field of a directory.
#[derive(Clone, Copy)]
struct Field {
    tag: u16,
    kind: u16,
    count: u32,
    /// Where its value is, or the offset of its values.
    at: usize,
}

/// The file with its first picture called gray, and the palette that its values are indices into. None where that is not a
/// picture of palette colours with 8 bits per pixel.
pub(super) fn as_gray(bytes: &[u8]) -> Option<(Vec<u8>, Box<Palette>)> {
    let file = File { bytes, is_little: bytes.starts_with(b"II") };
    let directory = file.long(4)?;
    let fields = file.short(directory)?;
    let field = |tag: u16| {
        (0..usize::from(fields)).filter_map(|i| file.field(directory + 2 + 12 * i)).find(|field| field.tag == tag)
    };
    let interpretation = field(PHOTOMETRIC_INTERPRETATION)?;
    let bits = field(BITS_PER_SAMPLE)?;
    let map = field(COLOR_MAP)?;
    let is_one = |field: Field, value: u16| field.count == 1 && file.short(field.at) == Some(value);
    if !is_one(interpretation, PALETTE_COLOR) || !is_one(bits, 8) || (map.kind, map.count) != (SHORT, 3 * 256) {
        return None;
    }
    let colors = file.long(map.at)?;
    let mut palette = Box::new([[0; 3]; 256]);
    for (index, color) in palette.iter_mut().enumerate() {
        for (channel, value) in color.iter_mut().enumerate() {
            // First all the reds, then the greens, then the blues; their upper bytes, as Pillow takes them.
            *value = file.short(colors + 2 * (256 * channel + index))?.to_be_bytes()[0];
        }
    }
    let mut gray = bytes.to_vec();
    let value = if file.is_little { BLACK_IS_ZERO.to_le_bytes() } else { BLACK_IS_ZERO.to_be_bytes() };
    gray.get_mut(interpretation.at..interpretation.at + 2)?.copy_from_slice(&value);
    Some((gray, palette))
}

impl File<'_> {
    fn short(self, at: usize) -> Option<u16> {
        let bytes = *self.bytes.get(at..)?.first_chunk()?;
        Some(if self.is_little { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) })
    }

    /// A number of 32 bits, which is an offset or a count.
    fn long(self, at: usize) -> Option<usize> {
        let bytes = *self.bytes.get(at..)?.first_chunk()?;
        let value = if self.is_little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) };
        usize::try_from(value).ok()
    }

    fn field(self, at: usize) -> Option<Field> {
        let (tag, kind) = (self.short(at)?, self.short(at + 2)?);
        Some(Field { tag, kind, count: u32::try_from(self.long(at + 4)?).ok()?, at: at + 8 })
    }
}
