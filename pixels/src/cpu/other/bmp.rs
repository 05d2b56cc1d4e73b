//! BMP pictures that the `image` crate shows in another way than Pillow: run lengths with pixels left out, and 16 bits per pixel.

use std::borrow::Cow;

use image::error::{DecodingError, ImageFormatHint};
use image::{ColorType, ImageDecoder, ImageError, ImageFormat, ImageResult};

use super::colours::{Colours, Palette};

/// Bytes of the file's own head, before the one of the picture.
const FILE_HEAD: usize = 14;
/// The shortest head of a picture that has a compression.
const INFO_HEAD: usize = 40;

/// Values of the compression.
const RLE8: u32 = 1;
const RLE4: u32 = 2;
const BIT_FIELDS: u32 = 3;

/// A picture of run lengths: indices into a palette.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunLengths<'a> {
    width: u32,
    height: u32,
    /// Whether the first row is the upper one.
    is_top_down: bool,
    /// Whether an index has 4 bits.
    is_half: bool,
    data: &'a [u8],
}

/// The fields of a head.
struct Head<'a> {
    bytes: &'a [u8],
    len: usize,
}

impl Head<'_> {
    fn long(&self, at: usize) -> Option<u32> {
        Some(u32::from_le_bytes(*self.bytes.get(FILE_HEAD + at..)?.first_chunk()?))
    }

    fn short(&self, at: usize) -> Option<u16> {
        Some(u16::from_le_bytes(*self.bytes.get(FILE_HEAD + at..)?.first_chunk()?))
    }
}

fn head(bytes: &[u8]) -> Option<Head<'_>> {
    let len = u32::from_le_bytes(*bytes.get(FILE_HEAD..)?.first_chunk()?);
    let len = usize::try_from(len).ok().filter(|len| *len >= INFO_HEAD)?;
    Some(Head { bytes, len })
}

/// A picture of run lengths, with its palette. None if it is none, or if its head is damaged.
pub(super) fn run_lengths(bytes: &[u8]) -> Option<(RunLengths<'_>, Colours)> {
    let head = head(bytes)?;
    let is_half = match (head.short(14)?, head.long(16)?) {
        (8, RLE8) => false,
        (4, RLE4) => true,
        _ => return None,
    };
    let (width, height) = (head.long(4)?.cast_signed(), head.long(8)?.cast_signed());
    if width <= 0 || height == 0 {
        return None;
    }
    let most = if is_half { 16 } else { 256 };
    let colors = usize::try_from(head.long(32)?).ok().filter(|colors| (1..=most).contains(colors)).unwrap_or(most);
    let mut palette: Box<Palette> = Box::new([[0; 3]; 256]);
    let table = bytes.get(FILE_HEAD + head.len..)?.get(..4 * colors)?;
    for (colour, [b, g, r, _]) in palette.iter_mut().zip(table.as_chunks::<4>().0) {
        *colour = [*r, *g, *b];
    }
    let data = bytes.get(usize::try_from(u32::from_le_bytes(*bytes.get(10..)?.first_chunk()?)).ok()?..)?;
    let (width, is_top_down) = (width.unsigned_abs(), height < 0);
    Some((RunLengths { width, height: height.unsigned_abs(), is_top_down, is_half, data }, Colours::Palette(palette)))
}

/// The file in the form for the `image` crate, and the number of bits of each channel if it has 16 bits per pixel. Pillow
/// knows two such forms, and none with alpha.
pub(super) fn prepared(bytes: &[u8]) -> (Cow<'_, [u8]>, Colours) {
    let bits = head(bytes).and_then(|head| {
        let masks = [head.long(40), head.long(44), head.long(48)];
        match (head.short(14)?, head.long(16)?) {
            (16, 0) => Some([5, 5, 5]),
            (16, BIT_FIELDS) if masks == [Some(0xF800), Some(0x7E0), Some(0x1F)] => Some([5, 6, 5]),
            (16, BIT_FIELDS) if masks == [Some(0x7C00), Some(0x3E0), Some(0x1F)] => Some([5, 5, 5]),
            _ => None,
        }
    });
    let Some(bits) = bits else { return (bytes.into(), Colours::AsDecoded) };
    let mut file = Cow::Borrowed(bytes);
    let has_alpha = head(bytes).is_some_and(|head| head.len >= 56 && head.long(52).is_some_and(|mask| mask != 0));
    if has_alpha {
        file.to_mut()[FILE_HEAD + 52..FILE_HEAD + 56].fill(0);
    }
    (file, Colours::Bits(bits))
}

impl ImageDecoder for RunLengths<'_> {
    fn dimensions(&self) -> (u32, u32) {
        (self.width, self.height)
    }

    fn color_type(&self) -> ColorType {
        ColorType::L8
    }

    fn read_image(self, indices: &mut [u8]) -> ImageResult<()> {
        // Pixels that the data leave out have the first colour.
        indices.fill(0);
        if !self.unpack(indices) {
            let cut = std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
            let error = DecodingError::new(ImageFormatHint::Exact(ImageFormat::Bmp), cut);
            return Err(ImageError::Decoding(error));
        }
        if !self.is_top_down {
            let width = self.width as usize;
            let mut rows = indices.chunks_exact_mut(width);
            while let (Some(above), Some(below)) = (rows.next(), rows.next_back()) {
                above.swap_with_slice(below);
            }
        }
        Ok(())
    }

    fn read_image_boxed(self: Box<Self>, indices: &mut [u8]) -> ImageResult<()> {
        (*self).read_image(indices)
    }
}

impl RunLengths<'_> {
    /// Unpacks the rows as they are stored, as Pillow does it. False if the data end before the picture does.
    fn unpack(&self, indices: &mut [u8]) -> bool {
        let width = self.width as usize;
        let mut data = self.data;
        // The place of the next index. A row without an end mark continues in the next row.
        let (mut at, mut column) = (0, 0);
        while at < indices.len() {
            let [count, byte, rest @ ..] = data else { return false };
            data = rest;
            match (usize::from(*count), usize::from(*byte)) {
                (0, 0) => (at, column) = (at.next_multiple_of(width), 0),
                (0, 1) => return true,
                (0, 2) => {
                    let [right, up, rest @ ..] = data else { return false };
                    data = rest;
                    at += usize::from(*right) + usize::from(*up) * width;
                    column = at % width;
                }
                (0, count) => {
                    let wanted = count.min(indices.len() - at);
                    let len = if self.is_half { wanted.div_ceil(2) } else { wanted };
                    let Some(values) = data.get(..len) else { return false };
                    for (i, index) in indices[at..at + wanted].iter_mut().enumerate() {
                        *index = if self.is_half { half(values[i / 2], i) } else { values[i] };
                    }
                    (at, column) = (at + wanted, column + count);
                    // An odd number of bytes has one more behind it.
                    data = data.get(len.next_multiple_of(2)..).unwrap_or_default();
                }
                (count, value) => {
                    let count = count.min(width.saturating_sub(column)).min(indices.len() - at);
                    let value = u8::try_from(value).expect("it was a byte");
                    for (i, index) in indices[at..at + count].iter_mut().enumerate() {
                        *index = if self.is_half { half(value, i) } else { value };
                    }
                    (at, column) = (at + count, column + count);
                }
            }
        }
        true
    }
}

/// The upper or the lower half of a byte.
fn half(byte: u8, number: usize) -> u8 {
    if number.is_multiple_of(2) { byte >> 4 } else { byte & 15 }
}
