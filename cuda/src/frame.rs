//! What a GPU lane has to know of a JPEG before it takes it: size, sampling and kind, from its markers alone.

use std::ops::Range;

use crate::lane::Refusal;

/// How much smaller the planes of the colour differences are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sampling {
    /// One plane.
    Gray,
    /// 4:4:4: as large as the luminance.
    S444,
    /// 4:2:2: half as wide.
    S422,
    /// 4:2:0: half as wide and half as high.
    S420,
    /// 4:4:0: half as high.
    S440,
}

/// A JPEG that a GPU lane may take: 8 bits, Huffman coding, gray or luminance with two colour differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Stored width in pixels.
    pub width: u32,
    /// Stored height in pixels.
    pub height: u32,
    /// Its planes' sizes.
    pub sampling: Sampling,
    /// Baseline, with all components in the first scan: what the engines decode.
    pub baseline: bool,
}

/// A plane's place in the bytes of its surface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plane {
    /// Where it begins.
    pub offset: usize,
    /// Bytes from row to row.
    pub pitch: usize,
    /// Samples of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

/// Where a picture's planes stand in a piece of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surface {
    frame: Frame,
    planes: [Plane; 3],
    count: usize,
    bytes: usize,
}

/// A picture with its place among the surfaces of a batch.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'a> {
    /// The file.
    pub bytes: &'a [u8],
    /// Its planes.
    pub surface: Surface,
    /// Where they begin, in the memory of all surfaces.
    pub at: usize,
}

/// Rows begin at multiples of this.
const PITCH: usize = 32;
/// Planes begin at multiples of this.
pub(crate) const ALIGN: usize = 256;

impl Sampling {
    /// How many pixels share a sample of the colour differences, across and down.
    pub fn factors(self) -> (usize, usize) {
        match self {
            Self::Gray | Self::S444 => (1, 1),
            Self::S422 => (2, 1),
            Self::S420 => (2, 2),
            Self::S440 => (1, 2),
        }
    }
}

impl Placed<'_> {
    /// Its bytes in the memory of all surfaces.
    pub fn range(&self) -> Range<usize> {
        self.at..self.at + self.surface.bytes()
    }
}

impl Frame {
    /// Reads the markers up to the first scan.
    ///
    /// # Errors
    /// Why no GPU lane takes it. What is wrong with a damaged file is for the CPU lane to say.
    pub fn read(bytes: &[u8]) -> Result<Self, Refusal> {
        if !bytes.starts_with(&[0xFF, 0xD8]) {
            return Err(Refusal::NotJpeg);
        }
        let mut rest = &bytes[2..];
        let (mut header, mut jfif, mut adobe) = (None, false, None);
        loop {
            let (code, body) = segment(&mut rest).ok_or(Refusal::Damaged)?;
            match code {
                0xC0..=0xC2 => header = Some((code, body)),
                0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF => return Err(Refusal::Kind),
                0xE0 if body.starts_with(b"JFIF\0") => jfif = true,
                0xEE if body.starts_with(b"Adobe") => adobe = body.get(11).copied(),
                0xDA => {
                    let (code, header) = header.ok_or(Refusal::Damaged)?;
                    return Self::of(code, header, body, jfif, adobe);
                }
                _ => {}
            }
        }
    }

    fn of(code: u8, header: &[u8], scan: &[u8], jfif: bool, adobe: Option<u8>) -> Result<Self, Refusal> {
        let &[precision, h1, h0, w1, w0, count, ref components @ ..] = header else { return Err(Refusal::Damaged) };
        if precision != 8 {
            return Err(Refusal::Kind);
        }
        let component = |number: usize| {
            let [id, factors, _] = *components.get(number * 3..)?.first_chunk()?;
            Some((id, factors >> 4, factors & 15))
        };
        let sampling = match count {
            1 => Sampling::Gray,
            3 => {
                let (Some(y), Some(cb), Some(cr)) = (component(0), component(1), component(2)) else {
                    return Err(Refusal::Damaged);
                };
                // As libjpeg guesses the colours.
                let rgb = !jfif && adobe.map_or((y.0, cb.0, cr.0) == (b'R', b'G', b'B'), |transform| transform == 0);
                if rgb {
                    return Err(Refusal::Colours);
                }
                if (cb.1, cb.2) != (cr.1, cr.2) {
                    return Err(Refusal::Sampling);
                }
                let shares = |factors| (y.1, y.2) == factors;
                match (cb.1, cb.2) {
                    (0, _) | (_, 0) => return Err(Refusal::Damaged),
                    (across, down) if shares((across, down)) => Sampling::S444,
                    (across, down) if shares((across * 2, down)) => Sampling::S422,
                    (across, down) if shares((across * 2, down * 2)) => Sampling::S420,
                    (across, down) if shares((across, down * 2)) => Sampling::S440,
                    _ => return Err(Refusal::Sampling),
                }
            }
            _ => return Err(Refusal::Colours),
        };
        let side = |high, low| u32::from(u16::from_be_bytes([high, low]));
        let (width, height) = (side(w1, w0), side(h1, h0));
        if width == 0 || height == 0 {
            return Err(Refusal::Damaged);
        }
        Ok(Self { width, height, sampling, baseline: code == 0xC0 && scan.first() == Some(&count) })
    }
}

/// The next segment's code and body.
fn segment<'a>(rest: &mut &'a [u8]) -> Option<(u8, &'a [u8])> {
    loop {
        let start = rest.iter().position(|byte| *byte == 0xFF)?;
        let code = start + rest[start..].iter().position(|byte| *byte != 0xFF)?;
        let code_byte = rest[code];
        *rest = &rest[code + 1..];
        // These stand alone.
        if matches!(code_byte, 0x00 | 0x01 | 0xD0..=0xD8) {
            continue;
        }
        let (length, tail) = rest.split_first_chunk()?;
        let (body, tail) = tail.split_at_checked(usize::from(u16::from_be_bytes(*length)).checked_sub(2)?)?;
        *rest = tail;
        return Some((code_byte, body));
    }
}

impl Surface {
    /// Where the planes of such a picture stand.
    pub fn of(frame: Frame) -> Self {
        let (width, height) = (frame.width as usize, frame.height as usize);
        let (across, down) = frame.sampling.factors();
        let count = if frame.sampling == Sampling::Gray { 1 } else { 3 };
        let mut surface = Self { frame, planes: [Plane::default(); 3], count, bytes: 0 };
        for number in 0..count {
            let (width, height) =
                if number == 0 { (width, height) } else { (width.div_ceil(across), height.div_ceil(down)) };
            let pitch = width.next_multiple_of(PITCH);
            surface.planes[number] = Plane { offset: surface.bytes, pitch, width, height };
            surface.bytes += (pitch * height).next_multiple_of(ALIGN);
        }
        surface
    }

    /// The picture.
    pub fn frame(&self) -> Frame {
        self.frame
    }

    /// One plane, or three.
    pub fn planes(&self) -> &[Plane] {
        &self.planes[..self.count]
    }

    /// Bytes of all planes, a multiple of the alignment.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}
