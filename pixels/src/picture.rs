//! Decoded pictures: a whole one to look at, and a whole one that is kept for later transforms.

use crate::buffer::SLACK;
use crate::format::Format;
use crate::origin::Origin;
use crate::output::Mode;

/// A whole picture as seen: rows of red, green, blue, 8 bits each, without padding.
#[derive(Clone, PartialEq, Eq)]
pub struct Picture {
    /// Format of the file.
    pub format: Format,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// `height * width * 3` bytes.
    pub rgb: Vec<u8>,
}

/// A whole picture for later recipes. Unlike in [`Picture`], a few more bytes follow its pixels, so that transforms can read
/// it without a copy.
#[derive(Clone, PartialEq, Eq)]
pub struct KeptPicture {
    /// Format of the file.
    pub format: Format,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// What it was made of. Its size is that of this picture.
    pub origin: Origin,
    /// What a pixel has.
    pub mode: Mode,
    /// The pixels, and [`SLACK`] zeros.
    padded: Vec<u8>,
}

impl KeptPicture {
    /// A copy of `pixels`, which has the bytes of a picture of this size. `origin` tells what the picture was before.
    pub(crate) fn new(
        format: Format,
        (width, height): (u32, u32),
        origin: Origin,
        (mode, pixels): (Mode, &[u8]),
    ) -> Self {
        let origin = Origin { size: (width, height), ..origin };
        let mut padded = Vec::with_capacity(pixels.len() + SLACK);
        padded.extend_from_slice(pixels);
        padded.resize(pixels.len() + SLACK, 0);
        Self { format, width, height, origin, mode, padded }
    }

    /// A picture of these pixels, packed RGB of `size` (width, height), that is of no file. Nothing is copied if the vector has a few
    /// bytes of room behind them.
    ///
    /// # Panics
    /// If `rgb` has another length than such a picture.
    pub fn of_pixels(size: (u32, u32), rgb: Vec<u8>) -> Self {
        let (width, height) = size;
        assert_eq!(Self::bytes_of(width, height, Mode::Rgb), (rgb.len() + SLACK) as u64, "each pixel has three values");
        let mut padded = rgb;
        padded.resize(padded.len() + SLACK, 0);
        Self { format: Format::Pnm, width, height, origin: Origin::plain(size), mode: Mode::Rgb, padded }
    }

    /// The pixels, as a vector whose memory can be used again.
    pub fn into_pixels(self) -> Vec<u8> {
        let mut pixels = self.padded;
        pixels.truncate(pixels.len() - SLACK);
        pixels
    }

    /// Rows of pixels without padding. Each has a byte for every channel of the mode, but that a gray one has three equal bytes.
    pub fn pixels(&self) -> &[u8] {
        &self.padded[..self.padded.len() - SLACK]
    }

    /// The same, with [`SLACK`] bytes behind.
    pub(crate) fn padded(&self) -> &[u8] {
        &self.padded
    }

    /// Bytes of memory that its pixels take.
    pub fn bytes(&self) -> usize {
        self.padded.capacity()
    }

    /// Bytes of memory that the pixels of a picture of this size and mode take.
    pub fn bytes_of(width: u32, height: u32, mode: Mode) -> u64 {
        u64::from(width) * u64::from(height) * mode.pixel_len() as u64 + SLACK as u64
    }
}

impl std::fmt::Debug for KeptPicture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeptPicture")
            .field("format", &self.format)
            .field("width", &self.width)
            .field("height", &self.height)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Picture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Picture")
            .field("format", &self.format)
            .field("width", &self.width)
            .field("height", &self.height)
            .finish_non_exhaustive()
    }
}
