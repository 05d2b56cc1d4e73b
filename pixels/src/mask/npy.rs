//! Masks as arrays of `NumPy` (`.npy`): a whole number for each pixel. The numbers stay in the bytes of the file.

use super::{MaskDepth, MaskFault};

/// The numbers of an array, as its header describes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NpyMask<'a> {
    pub width: u32,
    pub height: u32,
    of: NumberType,
    /// The first dimension is the fastest.
    is_fortran: bool,
    data: &'a [u8],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NumberType {
    /// As `NumPy` writes it: `b`, `u` or `i`.
    kind: u8,
    /// Bytes of a number.
    size: usize,
    is_big_endian: bool,
}

const MAGIC: &[u8] = b"\x93NUMPY";
/// Most bytes of a header. `NumPy` itself refuses longer ones.
const MOST_HEADER: usize = 10_000;

impl<'a> NpyMask<'a> {
    /// Whether these are the bytes of an array.
    pub(super) fn is_array(file: &[u8]) -> bool {
        file.starts_with(MAGIC)
    }

    /// The array of a file.
    ///
    /// # Errors
    /// It is damaged, or its values are not one whole number for each pixel.
    pub(super) fn read(file: &'a [u8]) -> Result<Self, MaskFault> {
        let wrong = |problem: &str| MaskFault::Array(problem.into());
        let (header, data) = split(file).ok_or_else(|| wrong("its header is damaged"))?;
        let of = value(header, "descr").ok_or_else(|| wrong("its header lacks the type"))?;
        let of = NumberType::of(of).ok_or_else(|| wrong("its values are not whole numbers of at most 64 bits"))?;
        let is_fortran = match value(header, "fortran_order") {
            Some(order) if order.starts_with("True") => true,
            Some(order) if order.starts_with("False") => false,
            _ => return Err(wrong("its header lacks the order of the values")),
        };
        let shape = value(header, "shape").and_then(shape).ok_or_else(|| wrong("its header lacks the shape"))?;
        let ([height, width] | [1, height, width] | [height, width, 1]) = shape[..] else {
            return Err(wrong(&format!("it has the shape {shape:?}, and a mask has [height, width]")));
        };
        let expected = usize::try_from(u64::from(width) * u64::from(height)).ok();
        if expected.and_then(|numbers| numbers.checked_mul(of.size)) != Some(data.len()) {
            let found = data.len();
            return Err(wrong(&format!("it has the shape {shape:?}, and {found} bytes are behind its header")));
        }
        Ok(Self { width, height, of, is_fortran, data })
    }

    /// Whether a column of this type can have its numbers.
    ///
    /// # Errors
    /// It cannot.
    pub(super) fn fits(&self, depth: MaskDepth) -> Result<(), MaskFault> {
        let NumberType { kind, size, .. } = self.of;
        let is_narrow = match depth {
            MaskDepth::U8 => kind != b'i' && size == 1,
            MaskDepth::U16 => kind != b'i' && size <= 2,
            MaskDepth::I32 => true,
        };
        if !is_narrow {
            let found = format!("an array of {}{}", char::from(kind), 8 * size);
            return Err(MaskFault::Depth { found: found.into(), column: depth.name() });
        }
        if size < 4 || (kind, size) == (b'i', 4) {
            return Ok(());
        }
        let mut numbers = self.data.chunks_exact(size).map(|bytes| self.of.number(bytes));
        match numbers.find(|number| i32::try_from(*number).is_err()) {
            Some(number) => {
                Err(MaskFault::Array(format!("the number {number} does not fit into the column's type i32").into()))
            }
            None => Ok(()),
        }
    }

    /// The number of a pixel, little-endian. It fits into so many bytes.
    pub(super) fn number<const N: usize>(&self, x: usize, y: usize) -> [u8; N] {
        let place = if self.is_fortran { x * self.height as usize + y } else { y * self.width as usize + x };
        let bytes = &self.data[place * self.of.size..][..self.of.size];
        let number = self.of.number(bytes).to_le_bytes();
        std::array::from_fn(|byte| number[byte])
    }
}

impl NumberType {
    /// Reads `'<u2'`.
    fn of(text: &str) -> Option<Self> {
        let of = text.strip_prefix(['\'', '"'])?;
        let of = &of[..of.find(['\'', '"'])?];
        let (order, of) = match of.as_bytes() {
            [order @ (b'<' | b'>' | b'|' | b'='), of @ ..] => (*order, of),
            of => (b'|', of),
        };
        let (kind, size) = match of {
            b"?" | b"b1" => (b'b', 1),
            [kind @ (b'u' | b'i'), size @ (b'1' | b'2' | b'4' | b'8')] => (*kind, usize::from(size - b'0')),
            _ => return None,
        };
        Some(Self { kind, size, is_big_endian: order == b'>' })
    }

    /// A number. One that does not fit into 64 bits with a sign is the largest that does.
    fn number(self, bytes: &[u8]) -> i64 {
        let is_negative = self.kind == b'i' && if self.is_big_endian { bytes[0] } else { bytes[self.size - 1] } >= 0x80;
        let mut number = [if is_negative { 0xff } else { 0 }; 8];
        for (place, to) in number[..self.size].iter_mut().enumerate() {
            *to = bytes[if self.is_big_endian { self.size - 1 - place } else { place }];
        }
        match self.kind {
            b'b' => i64::from(number[0] != 0),
            b'i' => i64::from_le_bytes(number),
            _ => i64::try_from(u64::from_le_bytes(number)).unwrap_or(i64::MAX),
        }
    }
}

/// The header, and the values behind it.
fn split(file: &[u8]) -> Option<(&str, &[u8])> {
    let (&[major, _], rest) = file.strip_prefix(MAGIC)?.split_first_chunk()?;
    let (len, rest) = match major {
        1 => rest.split_first_chunk().map(|(len, rest)| (usize::from(u16::from_le_bytes(*len)), rest))?,
        2 | 3 => rest.split_first_chunk().map(|(len, rest)| (u32::from_le_bytes(*len) as usize, rest))?,
        _ => return None,
    };
    let (header, data) = rest.split_at_checked(Some(len).filter(|len| *len <= MOST_HEADER)?)?;
    Some((str::from_utf8(header).ok()?, data))
}

/// What is behind a key of the header, which is a dict of Python without dicts in it.
fn value<'h>(header: &'h str, key: &str) -> Option<&'h str> {
    let found = ['\'', '"'].iter().find_map(|quote| header.split_once(&format!("{quote}{key}{quote}")));
    Some(found?.1.trim_start().strip_prefix(':')?.trim_start())
}

/// Reads `(3, 4)`.
fn shape(text: &str) -> Option<Vec<u32>> {
    let (dims, _) = text.strip_prefix('(')?.split_once(')')?;
    dims.split(',').map(str::trim).filter(|dim| !dim.is_empty()).map(|dim| dim.parse().ok()).collect()
}
