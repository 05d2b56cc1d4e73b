//! The pixels of a mask's PNG as they are stored: a palette is not looked up, and grey is not scaled.

use std::io::Cursor;

use png::{DecodingError, Limits, Transformations};

use super::MaskFault;

/// What the head of a PNG says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PngHeader {
    pub width: u32,
    pub height: u32,
    bits: u8,
    colours: u8,
}

/// How the numbers are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Samples {
    /// Numbers of this many bits, 1 to 8, the first in the highest bits of a byte.
    Packed(u8),
    Grey16,
    Rgb,
}

/// A mask that was decoded. Its memory is used again.
#[derive(Debug, Default)]
pub(super) struct PngFrame {
    bytes: Vec<u8>,
    /// Bytes of a row.
    line: usize,
    samples: Option<Samples>,
}

const MAGIC: &[u8; 8] = b"\x89PNG\r\n\x1a\n";
const PALETTE: u8 = 3;
const GREY: u8 = 0;
const RGB: u8 = 2;
/// More memory than this is not kept from one mask to the next.
const KEPT: usize = 4 << 20;
/// What the decoder may take beside the pixels: a row and its neighbour, and chunks. Masks need no large chunks.
const DECODER: usize = 16 << 20;

impl PngHeader {
    /// The head, which is at the start of every PNG.
    pub(super) fn read(png: &[u8]) -> Option<Self> {
        let head = png.strip_prefix(MAGIC)?.first_chunk::<18>()?;
        let number = |at: usize| u32::from_be_bytes([0, 1, 2, 3].map(|byte| head[at + byte]));
        (&head[4..8] == b"IHDR").then(|| Self {
            width: number(8),
            height: number(12),
            bits: head[16],
            colours: head[17],
        })
    }

    fn samples(self) -> Result<Samples, MaskFault> {
        match (self.colours, self.bits) {
            (PALETTE | GREY, 1 | 2 | 4 | 8) => Ok(Samples::Packed(self.bits)),
            (GREY, 16) => Ok(Samples::Grey16),
            (RGB, 8) => Ok(Samples::Rgb),
            (colours, bits) => Err(MaskFault::Colours(match colours {
                RGB => "red, green and blue of 16 bits".into(),
                4 => "grey with transparency".into(),
                6 => "colours with transparency".into(),
                _ => format!("pixels of the type {colours} with {bits} bits").into(),
            })),
        }
    }

    /// Bytes of its pixels.
    pub(super) fn bytes(self) -> u64 {
        let bits = match self.samples() {
            Ok(Samples::Packed(bits)) => u64::from(bits),
            Ok(Samples::Grey16) => 16,
            Ok(Samples::Rgb) => 24,
            Err(_) => return 0,
        };
        (u64::from(self.width) * bits).div_ceil(8).saturating_mul(self.height.into())
    }
}

impl PngFrame {
    /// Decodes a PNG whose head this is.
    ///
    /// # Errors
    /// It is damaged, or its pixels are no numbers.
    pub(super) fn decode(&mut self, png: &[u8], header: PngHeader) -> Result<(), MaskFault> {
        let samples = header.samples()?;
        let mut decoder = png::Decoder::new_with_limits(Cursor::new(png), Limits { bytes: DECODER });
        decoder.set_transformations(Transformations::IDENTITY);
        decoder.set_ignore_text_chunk(true);
        decoder.set_ignore_iccp_chunk(true);
        let mut reader = decoder.read_info().map_err(|error| damaged(&error))?;
        let size = reader.output_buffer_size().ok_or_else(|| MaskFault::Damaged("it has too many pixels".into()))?;
        self.line =
            reader.output_line_size(header.width).ok_or_else(|| MaskFault::Damaged("its rows are too long".into()))?;
        self.bytes.clear();
        self.bytes.resize(size, 0);
        reader.next_frame(&mut self.bytes).map_err(|error| damaged(&error))?;
        self.samples = Some(samples);
        Ok(())
    }

    /// Keeps no memory for the next mask that few masks need.
    pub(super) fn give_back(&mut self) {
        if self.bytes.capacity() > KEPT {
            self.bytes = Vec::new();
        }
    }

    pub(super) fn samples(&self) -> Samples {
        self.samples.expect("a mask was decoded")
    }

    /// A number of `bits` bits.
    pub(super) fn packed(&self, x: usize, y: usize, bits: u8) -> [u8; 1] {
        let line = &self.bytes[y * self.line..];
        if bits == 8 {
            return [line[x]];
        }
        let at = x * usize::from(bits);
        let shift = 8 - usize::from(bits) - at % 8;
        [line[at / 8] >> shift & ((1 << bits) - 1)]
    }

    /// Little-endian; a PNG has the high byte first.
    pub(super) fn grey16(&self, x: usize, y: usize) -> [u8; 2] {
        let at = y * self.line + 2 * x;
        [self.bytes[at + 1], self.bytes[at]]
    }

    pub(super) fn rgb(&self, x: usize, y: usize) -> [u8; 3] {
        let at = y * self.line + 3 * x;
        [self.bytes[at], self.bytes[at + 1], self.bytes[at + 2]]
    }
}

fn damaged(error: &DecodingError) -> MaskFault {
    MaskFault::Damaged(error.to_string().trim_end_matches('.').into())
}
