//! What a file is, from its content alone: format, size and orientation, without decoding it.

use image::ImageDecoder;

use crate::cpu::jpeg::head::JpegHead;
use crate::cpu::other::OpenOther;
use crate::fault::{Fault, Limits};
use crate::plan::Rect;

/// Format of a picture file. The content decides, never the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// JPEG, also the first picture of an MPO.
    Jpeg,
    /// PNG.
    Png,
    /// WebP.
    WebP,
    /// BMP.
    Bmp,
    /// GIF, of which the first frame counts.
    Gif,
    /// TIFF, of which the first page counts.
    Tiff,
    /// PBM, PGM, PPM, PAM.
    Pnm,
}

/// How the stored pixels are turned to be seen: EXIF orientation, by its number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Orientation {
    /// 1: as stored.
    #[default]
    AsStored = 1,
    /// 2: mirrored left to right.
    Mirrored = 2,
    /// 3: turned by half.
    Half = 3,
    /// 4: mirrored top to bottom.
    UpsideDown = 4,
    /// 5: rows become columns.
    Transposed = 5,
    /// 6: turned right by a quarter.
    Right = 6,
    /// 7: rows become columns, turned by half.
    Transversed = 7,
    /// 8: turned left by a quarter.
    Left = 8,
}

/// What a file says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Format of the file.
    pub format: Format,
    /// Width as seen, after the orientation.
    pub width: u32,
    /// Height as seen, after the orientation.
    pub height: u32,
    /// How the stored pixels are turned.
    pub orientation: Orientation,
    /// Whether it is a JPEG of several scans, progressive or not, which is decoded whole and keeps its coefficients in
    /// memory meanwhile.
    pub several_scans: bool,
    /// Colour components of a JPEG; 0 of another format.
    components: u8,
}

/// Sides of the largest unit in which a JPEG's coefficients are kept, in pixels: four blocks of eight.
const LARGEST_UNIT: u64 = 32;

/// Reads format, size and orientation of a file's bytes. Costs no more than a look at its header.
///
/// # Errors
/// [`Fault::Empty`], [`Fault::NotAPicture`], [`Fault::Unsupported`], [`Fault::Truncated`] and [`Fault::Corrupt`] as far as
/// the header shows them.
pub fn probe(bytes: &[u8]) -> Result<Probe, Fault> {
    let format = Format::of(bytes)?;
    if format == Format::Jpeg {
        let head @ JpegHead { width, height, orientation, components, .. } = JpegHead::read(bytes)?;
        let (width, height) = orientation.seen(width, height);
        let several_scans = head.several_scans();
        return Ok(Probe { format, width, height, orientation, several_scans, components });
    }
    let open = OpenOther::open(bytes, format, &Limits::default())?;
    let orientation = open.orientation();
    let (width, height) = orientation.seen(open.size().0, open.size().1);
    Ok(Probe { format, width, height, orientation, several_scans: false, components: 0 })
}

impl Probe {
    /// Bytes that decoding the whole picture takes at most, beside what a recipe makes of it: its pixels as RGB; beside
    /// them, one after the other, the decoder's own form of them and the turned ones; and the coefficients of a JPEG of
    /// several scans, of two bytes.
    pub fn decode_bytes(&self) -> u64 {
        let pixels = u64::from(self.width) * u64::from(self.height);
        let own_form = match (self.format, self.components) {
            (Format::Jpeg, 4) => 4,
            (Format::Jpeg, _) => 0,
            // Four channels of 16 bits.
            _ => 8,
        };
        let turned = if self.orientation == Orientation::AsStored { 0 } else { 3 };
        let unit = |side: u32| u64::from(side).next_multiple_of(LARGEST_UNIT);
        let kept = if self.several_scans { 2 * u64::from(self.components) } else { 0 };
        let coefficients = unit(self.width).saturating_mul(unit(self.height)).saturating_mul(kept);
        pixels.saturating_mul(3 + turned.max(own_form)).saturating_add(coefficients)
    }
}

impl Orientation {
    /// The orientation of an EXIF number; anything else than 1 to 8 is as stored.
    pub fn from_exif(number: u16) -> Self {
        match number {
            2 => Self::Mirrored,
            3 => Self::Half,
            4 => Self::UpsideDown,
            5 => Self::Transposed,
            6 => Self::Right,
            7 => Self::Transversed,
            8 => Self::Left,
            _ => Self::AsStored,
        }
    }

    /// Whether rows become columns.
    pub fn swaps_sides(self) -> bool {
        self as u8 >= Self::Transposed as u8
    }

    /// Width and height as seen of a stored width and height.
    pub fn seen(self, width: u32, height: u32) -> (u32, u32) {
        if self.swaps_sides() { (height, width) } else { (width, height) }
    }

    /// Where a part of a `width` x `height` stored picture is seen.
    pub(crate) fn seen_part(self, part: Rect, width: u32, height: u32) -> Rect {
        let Rect { left, top, width: wide, height: high } = part;
        let (right, below) = (width - left - wide, height - top - high);
        let (left, top) = match self {
            Self::AsStored => (left, top),
            Self::Mirrored => (right, top),
            Self::Half => (right, below),
            Self::UpsideDown => (left, below),
            Self::Transposed => (top, left),
            Self::Right => (below, left),
            Self::Transversed => (below, right),
            Self::Left => (top, right),
        };
        let (width, height) = self.seen(wide, high);
        Rect { left, top, width, height }
    }

    /// Where a part of the picture as seen, which is stored as `width` x `height`, stands in the stored one.
    pub(crate) fn stored_part(self, part: Rect, width: u32, height: u32) -> Rect {
        let back = match self {
            Self::Right => Self::Left,
            Self::Left => Self::Right,
            itself => itself,
        };
        let (width, height) = self.seen(width, height);
        back.seen_part(part, width, height)
    }

    pub(crate) fn of_image(decoder: &mut impl ImageDecoder) -> Self {
        decoder.orientation().map_or(Self::AsStored, |orientation| Self::from_exif(orientation.to_exif().into()))
    }
}

impl Format {
    /// The format that the content's first bytes show.
    ///
    /// # Errors
    /// [`Fault::Empty`] and [`Fault::NotAPicture`].
    pub fn of(bytes: &[u8]) -> Result<Self, Fault> {
        if bytes.is_empty() {
            return Err(Fault::Empty);
        }
        match image::guess_format(bytes) {
            Ok(image::ImageFormat::Jpeg) => Ok(Self::Jpeg),
            Ok(image::ImageFormat::Png) => Ok(Self::Png),
            Ok(image::ImageFormat::WebP) => Ok(Self::WebP),
            Ok(image::ImageFormat::Bmp) => Ok(Self::Bmp),
            Ok(image::ImageFormat::Gif) => Ok(Self::Gif),
            Ok(image::ImageFormat::Tiff) => Ok(Self::Tiff),
            Ok(image::ImageFormat::Pnm) => Ok(Self::Pnm),
            _ => Err(Fault::NotAPicture),
        }
    }

    pub(crate) fn of_image(self) -> image::ImageFormat {
        match self {
            Self::Jpeg => image::ImageFormat::Jpeg,
            Self::Png => image::ImageFormat::Png,
            Self::WebP => image::ImageFormat::WebP,
            Self::Bmp => image::ImageFormat::Bmp,
            Self::Gif => image::ImageFormat::Gif,
            Self::Tiff => image::ImageFormat::Tiff,
            Self::Pnm => image::ImageFormat::Pnm,
        }
    }
}
