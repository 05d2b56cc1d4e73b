//! Every format but JPEG, WebP, JPEG XL and AVIF, by the `image` crate, as pixels of 8 bits.
//!
//! 16-bit values keep their upper byte, as Pillow does; alpha is blended over the recipe's background, or kept.

mod bmp;
pub(super) mod colours;
mod gif;
mod lean_png;
pub(super) mod metadata;
mod tiff;

use std::borrow::Cow;
use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

use image::codecs::png::PngDecoder;
use image::codecs::pnm::{PnmDecoder, PnmSubtype};
use image::{ColorType, ImageDecoder, ImageReader};

use crate::buffer::cleared;
use crate::cpu::pixel_kind::PixelKind;
use crate::fault::{Fault, Limits};
use crate::format::Format;
use crate::orientation::Orientation;
use crate::tiff_tags::{FirstPage, from_page};
use colours::Colours;
use lean_png::LeanPng;

/// Memory that the decoder of any picture may take.
const LEAST: u64 = 4 << 20;

/// A picture whose header has been read; its size is checked before its pixels take memory.
pub(crate) struct OpenOther<'a> {
    decoder: Box<dyn ImageDecoder + 'a>,
    format: Format,
    size: (u32, u32),
    orientation: Orientation,
    colours: Colours,
    copies: u8,
    /// Of a TIFF.
    page: Option<FirstPage>,
}

/// What is known of a picture before its decoder is.
struct Opening {
    format: Format,
    orientation: Orientation,
    copies: u8,
    page: Option<FirstPage>,
}

impl Opening {
    fn with<'a>(self, mut decoder: impl ImageDecoder + 'a, colours: Colours) -> Result<OpenOther<'a>, Fault> {
        let Self { format, orientation, copies, page } = self;
        let size = decoder.dimensions();
        let limited = decoder.set_limits(own_limits(size, format)).map_err(|error| Fault::from_image(&error));
        // Of no pixels: colours that are not taken are refused before their pixels are decoded.
        let taken = limited.and_then(|()| colours.to_pixels(decoder.color_type(), &[], PixelKind::Rgba, &mut []));
        taken.map_err(|fault| named(fault, page.as_ref()))?;
        Ok(OpenOther { decoder: Box::new(decoder), format, size, orientation, colours, copies, page })
    }
}

impl<'a> OpenOther<'a> {
    /// Reads the header of a page.
    pub(crate) fn open(bytes: &'a [u8], format: Format, page: u32, limits: &Limits) -> Result<Self, Fault> {
        let from_image = |error| Fault::from_image(&error);
        contained(|| {
            let file = of_page(bytes, format, page)?;
            let copies = u8::from(matches!(file, Cow::Owned(_)));
            let orientation = metadata::of(&file, format).orientation();
            let mut open = Opening { format, orientation, copies, page: None };
            match format {
                Format::Png => {
                    let size = LeanPng::size(bytes).ok_or(Fault::Truncated)?;
                    let decoder = PngDecoder::with_limits(LeanPng::new(bytes), png_limits(size)).map_err(from_image)?;
                    open.with(decoder, Colours::AsDecoded)
                }
                Format::Pnm => {
                    let decoder = PnmDecoder::new(bytes).map_err(from_image)?;
                    let colours = stretched(&decoder);
                    open.with(decoder, colours)
                }
                _ => {
                    open.page = if format == Format::Tiff { FirstPage::of(&file) } else { None };
                    if let Some(raw) = open.page.as_ref().and_then(|page| page.raw(&file)) {
                        return Err(Fault::Unsupported { kind: raw.to_owned() });
                    }
                    let (file, colours) = match format {
                        Format::Tiff => tiff::prepared_page(file)?,
                        Format::Gif => gif::prepared(bytes).unwrap_or_else(|| (bytes.into(), Colours::AsDecoded)),
                        Format::Bmp => match bmp::run_lengths(bytes) {
                            Some((decoder, colours)) => return open.with(decoder, colours),
                            None => bmp::prepared(bytes),
                        },
                        _ => (bytes.into(), Colours::AsDecoded),
                    };
                    open.copies += u8::from(matches!(file, Cow::Owned(_)));
                    let of_image = format.of_image().ok_or(Fault::NotAPicture)?;
                    let mut reader = ImageReader::with_format(Cursor::new(file), of_image);
                    reader.limits(image_limits(limits));
                    let decoder =
                        reader.into_decoder().map_err(|error| named(from_image(error), open.page.as_ref()))?;
                    open.with(decoder, colours)
                }
            }
        })
    }

    /// Width and height as stored.
    pub(crate) fn size(&self) -> (u32, u32) {
        self.size
    }

    /// Bytes of each pixel beside the picture's pixels: the decoder's own form of it.
    pub(crate) fn own_form(&self) -> u8 {
        let color = self.decoder.color_type().bytes_per_pixel();
        match self.format {
            // The decoder has it twice.
            Format::Tiff => 2 * color,
            // A frame may be larger than the picture.
            Format::Gif => 8,
            _ => color,
        }
    }

    /// Whether something may be transparent, and whether values have more than 8 bits.
    pub(crate) fn depth(&self) -> (bool, bool) {
        let color = self.decoder.color_type();
        let has_more = match self.colours {
            Colours::Stretched(most) => most > 255,
            _ => color.bytes_per_pixel() > color.channel_count(),
        };
        (color.has_alpha() && self.colours.has_alpha(), has_more)
    }

    /// How the stored pixels are turned.
    pub(crate) fn orientation(&self) -> Orientation {
        self.orientation
    }

    /// How many copies of the file there were at once.
    pub(crate) fn copies(&self) -> u8 {
        self.copies
    }

    /// Decodes the picture into `out`, which has width x height pixels of this kind; `raw` is for the decoder's own form.
    pub(super) fn read(self, kind: PixelKind, raw: &mut Vec<u8>, out: &mut [u8]) -> Result<(), Fault> {
        let color = self.decoder.color_type();
        let len = out.len() / kind.pixel_len() * usize::from(color.bytes_per_pixel());
        let raw = cleared(raw, len);
        let Self { decoder, colours, page, .. } = self;
        let decoded = contained(|| decoder.read_image(raw).map_err(|error| Fault::from_image(&error)));
        decoded.and_then(|()| colours.to_pixels(color, raw, kind, out)).map_err(|fault| named(fault, page.as_ref()))
    }
}

/// Says in words what the decoder of TIFF does not take. Its own words are numbers.
fn named(fault: Fault, page: Option<&FirstPage>) -> Fault {
    match (fault, page) {
        (Fault::Unsupported { .. }, Some(page)) => Fault::Unsupported { kind: page.described() },
        (fault, _) => fault,
    }
}

/// The file with this page as its first one.
///
/// # Errors
/// [`Fault::NoPage`].
pub(super) fn of_page(bytes: &[u8], format: Format, page: u32) -> Result<Cow<'_, [u8]>, Fault> {
    match (page, format) {
        (0, _) => Ok(bytes.into()),
        (_, Format::Tiff) => from_page(bytes, page).map(Cow::from).map_err(|pages| Fault::NoPage { page, pages }),
        _ => Err(Fault::NoPage { page, pages: 1 }),
    }
}

/// How the values of a PNM were stretched. Of gray with 16 bits, the upper byte counts, and of PAM, which Pillow does not read, what
/// the decoder makes.
fn stretched(decoder: &PnmDecoder<&[u8]>) -> Colours {
    let most = decoder.header().maximal_sample();
    let is_gray = decoder.color_type() == ColorType::L16;
    match decoder.subtype() {
        PnmSubtype::Graymap(_) | PnmSubtype::Pixmap(_) if !is_gray && most != 255 => {
            Colours::Stretched(u16::try_from(most).unwrap_or(u16::MAX))
        }
        _ => Colours::AsDecoded,
    }
}

/// Limits in the `image` crate's terms: our pixels at 8 bytes each, twice.
fn image_limits(limits: &Limits) -> image::Limits {
    let mut inner = image::Limits::default();
    inner.max_alloc = Some(limits.pixels.saturating_mul(16).max(1 << 20));
    inner
}

/// Limits for what the decoder of a PNG of this width keeps beside the pixels: a few rows, and a short EXIF.
fn png_limits((width, _): (u32, u32)) -> image::Limits {
    let mut inner = image::Limits::default();
    inner.max_alloc = Some(u64::from(width) * 8 * 4 + LEAST);
    inner
}

/// Limits for a picture of this size: what `Probe::decode_bytes` counts for it, and a little for
/// small ones. A GIF only takes memory for its frame, which may be larger than the picture.
fn own_limits((width, height): (u32, u32), format: Format) -> image::Limits {
    let of_pixel = if format == Format::Gif { 4 } else { 16 };
    let mut inner = image::Limits::default();
    inner.max_alloc = Some((u64::from(width) * u64::from(height)).saturating_mul(of_pixel).saturating_add(LEAST));
    inner
}

/// Runs a decoder that others wrote, so that a panic of its own is a damaged picture and not a dead thread.
pub(super) fn contained<T>(decode: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(decode))
        .unwrap_or_else(|_| Err(Fault::Corrupt { reason: "its decoder panicked on it".into() }))
}
