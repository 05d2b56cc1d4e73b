//! What a decode returns about the picture that it has written.

use crate::format::Format;
use crate::origin::Origin;

/// What was decoded into a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// Format of the file.
    pub format: Format,
    /// Width of the picture as seen, after its EXIF orientation.
    pub width: u32,
    /// Height of the picture as seen, after its EXIF orientation.
    pub height: u32,
    /// What the result was made of.
    pub origin: Origin,
    /// Which decoder did it; none for a picture that was kept decoded.
    pub by: Option<DecodedBy>,
}

/// Which decoder has made a picture's pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DecodedBy {
    /// Our own decoder for baseline and progressive JPEG.
    ForebayJpeg,
    /// libjpeg-turbo.
    LibjpegTurbo,
    /// libwebp.
    Libwebp,
    /// The `image` crate.
    Image,
    /// The `jxl` crate.
    Jxl,
    /// dav1d, and our own colours.
    Dav1d,
}

impl DecodedBy {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::ForebayJpeg, Self::LibjpegTurbo, Self::Libwebp, Self::Image, Self::Jxl, Self::Dav1d];

    /// The decoder's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::ForebayJpeg => "forebay-jpeg",
            Self::LibjpegTurbo => "libjpeg-turbo",
            Self::Libwebp => "libwebp",
            Self::Image => "image",
            Self::Jxl => "jxl",
            Self::Dav1d => "dav1d",
        }
    }
}
