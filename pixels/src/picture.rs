//! Decoded pictures: a whole one to look at, and a whole one that is kept for later transforms.

use crate::buffer::SLACK;
use crate::format::Format;
use crate::origin::Origin;

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
    /// The pixels, and [`SLACK`] zeros.
    padded: Vec<u8>,
}

impl KeptPicture {
    /// A copy of `rgb`, which has the bytes of a picture of this size. `origin` tells what the picture was before.
    pub(crate) fn new(format: Format, (width, height): (u32, u32), origin: Origin, rgb: &[u8]) -> Self {
        let origin = Origin { size: (width, height), ..origin };
        let mut padded = Vec::with_capacity(rgb.len() + SLACK);
        padded.extend_from_slice(rgb);
        padded.resize(rgb.len() + SLACK, 0);
        Self { format, width, height, origin, padded }
    }

    /// A picture of these pixels, packed RGB of `size` (width, height), that is of no file. Nothing is copied if the vector has a few
    /// bytes of room behind them.
    ///
    /// # Panics
    /// If `rgb` has another length than such a picture.
    pub fn of_pixels(size: (u32, u32), rgb: Vec<u8>) -> Self {
        let (width, height) = size;
        assert_eq!(Self::bytes_of(width, height), (rgb.len() + SLACK) as u64, "each pixel has three values");
        let mut padded = rgb;
        padded.resize(padded.len() + SLACK, 0);
        Self { format: Format::Pnm, width, height, origin: Origin::plain(size), padded }
    }

    /// The pixels, as a vector whose memory can be used again.
    pub fn into_rgb(self) -> Vec<u8> {
        let mut rgb = self.padded;
        rgb.truncate(rgb.len() - SLACK);
        rgb
    }

    /// Rows of red, green, blue, 8 bits each, without padding: `height * width * 3` bytes.
    pub fn rgb(&self) -> &[u8] {
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

    /// Bytes of memory that the pixels of a picture of this size take.
    pub fn bytes_of(width: u32, height: u32) -> u64 {
        u64::from(width) * u64::from(height) * 3 + SLACK as u64
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
