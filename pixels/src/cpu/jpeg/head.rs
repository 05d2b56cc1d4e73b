//! What a JPEG's markers say, read without a decoder: kind, size, orientation, and whether its end is there.
//!
//! Rule 29: a JPEG is truncated if no end marker follows its first scan; bytes after the end marker do no harm. This cheap look is
//! the same for every lane and crop. Everything else that is wrong with a file is left to the decoder.

use crate::fault::Fault;
use crate::probe::Orientation;

/// How an APP1 segment with EXIF begins.
const EXIF_HEAD: &[u8] = b"Exif\0\0";

/// What a JPEG's markers say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct JpegHead {
    /// Stored width.
    pub(crate) width: u32,
    /// Stored height.
    pub(crate) height: u32,
    /// How the pixels are turned.
    pub(crate) orientation: Orientation,
    /// Colour components, 1 to 255.
    pub(crate) components: u8,
    /// Whether it takes several scans: it is progressive, or its first scan leaves components to others. It is decoded
    /// whole, and its coefficients are kept meanwhile.
    pub(crate) several_scans: bool,
    /// Whether parts can be decoded: sequential with Huffman coding, all components in one scan.
    pub(crate) parts: bool,
    /// Whether it can be decoded at a part of its size: a lossless one has no transform that would do it.
    pub(crate) scales: bool,
}

/// A frame header.
struct Frame {
    code: u8,
    precision: u8,
    width: u32,
    height: u32,
    components: u8,
}

/// Markers one after the other, up to the first scan.
struct Segments<'a> {
    rest: &'a [u8],
}

impl JpegHead {
    /// Reads the markers up to the first scan and looks for the end marker behind it.
    ///
    /// # Errors
    /// [`Fault::Truncated`], [`Fault::Unsupported`] for kinds that libjpeg-turbo does not take, [`Fault::Corrupt`].
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, Fault> {
        let mut segments = Segments { rest: bytes.get(2..).unwrap_or_default() };
        let mut orientation = None;
        let mut frame: Option<Frame> = None;
        let scan = loop {
            let (code, body) = segments.next()?;
            match code {
                0xC0..=0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF => frame = Some(Frame::read(code, body)?),
                0xE1 if orientation.is_none() => orientation = exif_orientation(body),
                0xDA => break body,
                _ => {}
            }
        };
        let Some(frame) = frame else {
            return Err(Fault::Corrupt { reason: "the scan begins before any frame header".into() });
        };
        frame.check()?;
        if !has_end(segments.rest) {
            return Err(Fault::Truncated);
        }
        let all_at_once = scan.first() == Some(&frame.components);
        Ok(Self {
            width: frame.width,
            height: frame.height,
            orientation: orientation.unwrap_or_default(),
            components: frame.components,
            several_scans: matches!(frame.code, 0xC2 | 0xCA) || !all_at_once,
            parts: matches!(frame.code, 0xC0 | 0xC1) && all_at_once,
            scales: frame.code != 0xC3,
        })
    }
}

impl<'a> Segments<'a> {
    /// The next segment's code and body. After the header of a scan, `rest` holds the scan's data.
    fn next(&mut self) -> Result<(u8, &'a [u8]), Fault> {
        loop {
            // Bytes between segments are skipped, as libjpeg does, and so are fill bytes.
            let start = self.rest.iter().position(|byte| *byte == 0xFF).ok_or(Fault::Truncated)?;
            let after = self.rest[start..].iter().position(|byte| *byte != 0xFF).ok_or(Fault::Truncated)?;
            let code = self.rest[start + after];
            self.rest = &self.rest[start + after + 1..];
            match code {
                // Stand alone, without a length.
                0x00 | 0x01 | 0xD0..=0xD8 => {}
                0xD9 => return Err(Fault::Corrupt { reason: "the end marker comes before any scan".into() }),
                _ => {
                    let (length, tail) = self.rest.split_first_chunk().ok_or(Fault::Truncated)?;
                    let length = usize::from(u16::from_be_bytes(*length)).saturating_sub(2);
                    let (body, tail) = tail.split_at_checked(length).ok_or(Fault::Truncated)?;
                    self.rest = tail;
                    return Ok((code, body));
                }
            }
        }
    }
}

impl Frame {
    fn read(code: u8, body: &[u8]) -> Result<Self, Fault> {
        let [precision, h1, h0, w1, w0, components, ..] = *body else {
            return Err(Fault::Corrupt { reason: "the frame header is too short".into() });
        };
        let side = |high, low| u32::from(u16::from_be_bytes([high, low]));
        Ok(Self { code, precision, width: side(w1, w0), height: side(h1, h0), components })
    }

    fn check(&self) -> Result<(), Fault> {
        let kind = match (self.code, self.precision) {
            (0xC5..=0xC7 | 0xCD..=0xCF, _) => "hierarchical JPEG".to_owned(),
            (0xCB, _) => "lossless JPEG with arithmetic coding".to_owned(),
            (_, 8) => String::new(),
            (0xC3, bits @ 2..=16) => format!("lossless JPEG of {bits} bits"),
            (_, bits @ (12 | 16)) => format!("{bits}-bit JPEG"),
            (_, bits) => return Err(Fault::Corrupt { reason: format!("its values have {bits} bits") }),
        };
        if !kind.is_empty() {
            return Err(Fault::Unsupported { kind });
        }
        if self.width == 0 || self.height == 0 {
            return Err(Fault::Corrupt { reason: "the frame header declares no pixels".into() });
        }
        Ok(())
    }
}

/// Whether an end marker stands in the data of the scans. The look begins at the end, where it usually is.
fn has_end(scans: &[u8]) -> bool {
    scans.windows(2).rev().any(|pair| pair == [0xFF, 0xD9])
}

/// Tag 0x0112 of the first directory of an APP1 segment, if that is EXIF and well formed up to there.
fn exif_orientation(body: &[u8]) -> Option<Orientation> {
    let tiff = body.strip_prefix(EXIF_HEAD)?;
    let little = match tiff.get(..4)? {
        b"II*\0" => true,
        b"MM\0*" => false,
        _ => return None,
    };
    let u16_at = |at: usize| {
        let bytes = *tiff.get(at..)?.first_chunk()?;
        Some(if little { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) })
    };
    let first = *tiff.get(4..)?.first_chunk()?;
    let first = if little { u32::from_le_bytes(first) } else { u32::from_be_bytes(first) };
    let first = usize::try_from(first).ok()?;
    let count = usize::from(u16_at(first)?);
    (0..count)
        .map(|entry| first.saturating_add(2 + entry * 12))
        .find(|at| u16_at(*at) == Some(0x0112))
        .and_then(|at| u16_at(at.saturating_add(8)))
        .map(Orientation::from_exif)
}
