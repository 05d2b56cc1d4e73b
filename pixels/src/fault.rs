//! Why a picture gave no pixels, and the limits that every input is held to.

use std::time::{Duration, Instant};

use thiserror::Error;

/// Longest side of a stored picture, in pixels. JPEG and WebP have shorter ones; what works on whole rows or columns at a time
/// takes memory for each of their pixels.
pub const LONGEST_SIDE: u32 = 131_072;

/// Memory that any picture may take which the limit of pixels allows.
const LITTLE: u64 = 128 << 20;

/// What one picture may cost. Looked at before memory is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Pixels of a picture, as its header declares them, and of each step's result. Default: Pillow's error limit.
    pub pixels: u64,
    /// Encoded bytes.
    pub bytes: u64,
    /// Scans of a progressive JPEG.
    pub scans: u32,
    /// Time for one picture; none by default. libjpeg-turbo, forebay-jpeg and the decoder of JPEG XL look at it while
    /// decoding, all else before each step of a plan.
    pub time: Option<Duration>,
}

/// Why a picture gave no pixels. The text ends up in the quarantine list, beside the record and its file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// There are no bytes.
    #[error("The file is empty.")]
    Empty,
    /// The content is no known format.
    #[error("The content is no picture in a known format (JPEG, PNG, WebP, BMP, GIF, TIFF, PNM, JPEG XL, AVIF).")]
    NotAPicture,
    /// The bytes end too early.
    #[error("The picture is truncated: its data ends before the picture does.")]
    Truncated,
    /// More pixels than allowed.
    #[error(
        "The picture needs {pixels} pixels, above the limit of {limit} pixels; raise the limit or shrink the picture."
    )]
    TooLarge {
        /// Pixels that it declares or that a step would make.
        pixels: u64,
        /// [`Limits::pixels`].
        limit: u64,
    },
    /// More memory than allowed.
    #[error(
        "The picture needs {bytes} bytes to decode it, above the limit of {limit} bytes (8 for each pixel of the limit of \
         pixels); raise that limit, shrink the picture, or save it with 8 bits for each colour."
    )]
    TooMuchMemory {
        /// Bytes that its decoder takes.
        bytes: u64,
        /// 8 for each of [`Limits::pixels`].
        limit: u64,
    },
    /// A longer side than any picture may have.
    #[error("The picture has a side of {side} pixels, above the limit of {LONGEST_SIDE} pixels; cut it into parts.")]
    TooLong {
        /// Its longer side.
        side: u32,
    },
    /// Not the size that a transform expects.
    #[error(
        "The picture is {} pixels high and {} wide, but must be {} high and {} wide; resize it, or leave it out.",
        .found.1, .found.0, .expected.1, .expected.0
    )]
    WrongSize {
        /// Width and height that it has.
        found: (u32, u32),
        /// Width and height that are expected.
        expected: (u32, u32),
    },
    /// Too small for a random crop.
    #[error(
        "The picture is {} pixels high and {} wide, too small for a crop of {} x {}; set pad_if_needed, or resize it first.",
        .found.1, .found.0, .crop.1, .crop.0
    )]
    TooSmall {
        /// Width and height that it has.
        found: (u32, u32),
        /// Width and height of the crop.
        crop: (u32, u32),
    },
    /// Refused by the rule that decides how many patches pictures have.
    #[error(
        "The picture is {height} pixels high and {width} wide, which {rule} cannot resize to at most {length} patches; leave it out."
    )]
    NoPatches {
        /// As seen.
        height: u32,
        /// As seen.
        width: u32,
        /// Name of the rule.
        rule: &'static str,
        /// Most patches of a picture.
        length: u32,
    },
    /// A ragged picture that has not the pixels that its place was made for.
    #[error(
        "The picture becomes {height} pixels high and {width} wide, which are not the {pixels} pixels that were planned for it: the index \
         or the columns have another size. Make the index again, or leave the picture out."
    )]
    NotPlanned {
        /// Of the result.
        height: u32,
        /// Of the result.
        width: u32,
        /// Pixels of its place.
        pixels: u64,
    },
    /// More bytes than allowed.
    #[error("The file has {bytes} bytes, above the limit of {limit} bytes.")]
    TooManyBytes {
        /// Bytes of the file.
        bytes: u64,
        /// [`Limits::bytes`].
        limit: u64,
    },
    /// More scans than allowed.
    #[error("The progressive JPEG has more than {limit} scans.")]
    TooManyScans {
        /// [`Limits::scans`].
        limit: u32,
    },
    /// A kind of picture that no decoder here takes.
    #[error("The picture is not supported ({kind}); convert it first.")]
    Unsupported {
        /// The kind, by name.
        kind: String,
    },
    /// The page that the settings ask for is not there.
    #[error("The file has no page {page}, counted from 0: it has {pages}. Set page to one that all files have.")]
    NoPage {
        /// The page.
        page: u32,
        /// How many pages there are. A file that is no TIFF has one.
        pages: u64,
    },
    /// The recipe has a function in Python, which only a stream calls.
    #[error("The transform python ({function}) runs only in the child processes of a stream.")]
    Python {
        /// The function.
        function: String,
    },
    /// The bytes are damaged.
    #[error("The picture is damaged: {reason}.")]
    Corrupt {
        /// What the decoder said.
        reason: String,
    },
    /// More time than allowed.
    #[error("The picture took longer than the limit of {} ms.", .limit.as_millis())]
    TooSlow {
        /// [`Limits::time`].
        limit: Duration,
    },
}

impl Default for Limits {
    fn default() -> Self {
        Self { pixels: 178_956_970, bytes: 1 << 30, scans: 500, time: None }
    }
}

impl Limits {
    /// Checks the time that a picture has taken, on which work began then.
    pub(crate) fn check_time(&self, begun: Instant) -> Result<(), Fault> {
        match self.time {
            Some(limit) if begun.elapsed() > limit => Err(Fault::TooSlow { limit }),
            _ => Ok(()),
        }
    }

    /// Checks a number of encoded bytes.
    pub(crate) fn check_bytes(&self, bytes: usize) -> Result<(), Fault> {
        let bytes = bytes as u64;
        if bytes == 0 {
            return Err(Fault::Empty);
        }
        if bytes > self.bytes {
            return Err(Fault::TooManyBytes { bytes, limit: self.bytes });
        }
        Ok(())
    }

    /// Checks the size of a stored picture.
    ///
    /// # Errors
    /// [`Fault::TooLarge`] and [`Fault::TooLong`], and [`Fault::Corrupt`] if it has no pixels.
    pub fn check_picture(&self, width: u32, height: u32) -> Result<(), Fault> {
        self.check_pixels(width, height)?;
        let side = width.max(height);
        if side > LONGEST_SIDE { Err(Fault::TooLong { side }) } else { Ok(()) }
    }

    /// Checks the memory that a picture of this size takes while it is decoded: as RGB, and as many bytes of each pixel in the
    /// decoder's own form. A JPEG takes at most little more than the limit of pixels allows, and needs no such check.
    pub(crate) fn check_memory(&self, (width, height): (u32, u32), own_form: u8) -> Result<(), Fault> {
        let pixels = u64::from(width) * u64::from(height);
        let (bytes, limit) = (pixels.saturating_mul(3 + u64::from(own_form)), self.pixels.saturating_mul(8));
        // A low limit of pixels is meant to bound pixels, and not memory.
        if bytes > limit.max(LITTLE) { Err(Fault::TooMuchMemory { bytes, limit }) } else { Ok(()) }
    }

    /// Checks a size in pixels and gives their number.
    pub(crate) fn check_pixels(&self, width: u32, height: u32) -> Result<usize, Fault> {
        let pixels = u64::from(width) * u64::from(height);
        if pixels == 0 {
            return Err(Fault::Corrupt { reason: "it has no pixels".into() });
        }
        let too_large = Fault::TooLarge { pixels, limit: self.pixels };
        if pixels > self.pixels {
            return Err(too_large);
        }
        usize::try_from(pixels).ok().filter(|count| *count <= usize::MAX / 4).ok_or(too_large)
    }
}

impl Fault {
    /// What an error of the `image` crate means here.
    pub(crate) fn from_image(error: &image::ImageError) -> Self {
        let eof = |io: &std::io::Error| io.kind() == std::io::ErrorKind::UnexpectedEof;
        let mut source = std::error::Error::source(error);
        while let Some(inner) = source {
            if inner.downcast_ref().is_some_and(eof) {
                return Self::Truncated;
            }
            source = inner.source();
        }
        match error {
            image::ImageError::IoError(io) if eof(io) => Self::Truncated,
            image::ImageError::Unsupported(error) => Self::Unsupported { kind: error.to_string() },
            error => Self::Corrupt { reason: error.to_string() },
        }
    }
}
