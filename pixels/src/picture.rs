//! Decoded pictures: what a decode tells about the one it has written, and a whole one for those who look at it.

use crate::cpu::jpeg::DecodedBy;
use crate::probe::Format;

/// What was decoded into a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// Format of the file.
    pub format: Format,
    /// Width of the picture as seen, after its EXIF orientation.
    pub width: u32,
    /// Height of the picture as seen, after its EXIF orientation.
    pub height: u32,
    /// Which decoder did it; none for a picture that was kept decoded.
    pub by: Option<DecodedBy>,
}

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

impl std::fmt::Debug for Picture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Picture")
            .field("format", &self.format)
            .field("width", &self.width)
            .field("height", &self.height)
            .finish_non_exhaustive()
    }
}
