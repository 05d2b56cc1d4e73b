//! Every format but JPEG, by the `image` crate, as RGB of 8 bits.
//!
//! 16-bit values keep their upper byte, as Pillow does; alpha is blended over the recipe's background.

mod lean_png;
mod metadata;
mod palette;

use std::borrow::Cow;
use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

use image::codecs::png::PngDecoder;
use image::{ColorType, ImageDecoder, ImageReader};

use crate::buffer::cleared;
use crate::fault::{Fault, Limits};
use crate::format::Format;
use crate::orientation::Orientation;
use lean_png::LeanPng;
use palette::Palette;

/// Index of the upper byte of a native-endian 16-bit value.
const UPPER: usize = if cfg!(target_endian = "little") { 1 } else { 0 };

/// Memory that the decoder of any picture may take.
const LEAST: u64 = 4 << 20;

/// A picture whose header has been read; its size is checked before its pixels take memory.
pub(crate) struct OpenOther<'a> {
    decoder: Box<dyn ImageDecoder + 'a>,
    format: Format,
    size: (u32, u32),
    orientation: Orientation,
    /// What its gray values are indices into.
    palette: Option<Box<Palette>>,
}

impl<'a> OpenOther<'a> {
    /// Reads a picture's header.
    pub(crate) fn open(bytes: &'a [u8], format: Format, limits: &Limits) -> Result<Self, Fault> {
        contained(|| {
            let orientation = metadata::of(bytes, format).orientation();
            if format == Format::Png {
                let size = LeanPng::size(bytes).ok_or(Fault::Truncated)?;
                let decoder = PngDecoder::with_limits(LeanPng::new(bytes), png_limits(size));
                let decoder = decoder.map_err(|error| Fault::from_image(&error))?;
                return Self::of_decoder(decoder, format, orientation, None);
            }
            let indexed = if format == Format::Tiff { palette::as_gray(bytes) } else { None };
            let (bytes, palette) = match indexed {
                Some((gray, palette)) => (Cow::Owned(gray), Some(palette)),
                None => (Cow::Borrowed(bytes), None),
            };
            let mut reader = ImageReader::with_format(Cursor::new(bytes), format.of_image());
            reader.limits(image_limits(limits));
            let decoder = reader.into_decoder().map_err(|error| Fault::from_image(&error))?;
            Self::of_decoder(decoder, format, orientation, palette)
        })
    }

    fn of_decoder(
        mut decoder: impl ImageDecoder + 'a,
        format: Format,
        orientation: Orientation,
        palette: Option<Box<Palette>>,
    ) -> Result<Self, Fault> {
        let size = decoder.dimensions();
        decoder.set_limits(own_limits(size, format)).map_err(|error| Fault::from_image(&error))?;
        // Of no pixels: colours that are not taken are refused before their pixels are decoded.
        to_rgb(decoder.color_type(), &[], [0; 3], &mut [])?;
        Ok(Self { decoder: Box::new(decoder), format, size, orientation, palette })
    }

    /// Width and height as stored.
    pub(crate) fn size(&self) -> (u32, u32) {
        self.size
    }

    /// Bytes of each pixel beside the picture as RGB: the decoder's own form of it.
    pub(crate) fn own_form(&self) -> u8 {
        let color = self.decoder.color_type().bytes_per_pixel();
        match self.format {
            // The decoder has it twice.
            Format::Tiff => 2 * color,
            // Four channels of 8 bits, and what a picture with transparency is made of before they are joined.
            Format::WebP => 12,
            // A frame may be larger than the picture.
            Format::Gif => 8,
            _ => color,
        }
    }

    /// How the stored pixels are turned.
    pub(crate) fn orientation(&self) -> Orientation {
        self.orientation
    }

    /// Whether there is a copy of the file.
    pub(crate) fn is_copied(&self) -> bool {
        self.palette.is_some()
    }

    /// Decodes the picture into `rgb`, which has width x height x 3 bytes; `raw` is for the decoder's own form.
    pub(super) fn read(self, background: [u8; 3], raw: &mut Vec<u8>, rgb: &mut [u8]) -> Result<(), Fault> {
        let color = self.decoder.color_type();
        let len = rgb.len() / 3 * usize::from(color.bytes_per_pixel());
        let raw = cleared(raw, len);
        let decoder = self.decoder;
        contained(|| decoder.read_image(raw).map_err(|error| Fault::from_image(&error)))?;
        match (&self.palette, color) {
            (Some(palette), ColorType::L8) => each(raw, rgb.as_chunks_mut().0, |[index]| palette[usize::from(index)]),
            _ => to_rgb(color, raw, background, rgb)?,
        }
        Ok(())
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

fn to_rgb(color: ColorType, raw: &[u8], background: [u8; 3], rgb: &mut [u8]) -> Result<(), Fault> {
    let out = rgb.as_chunks_mut::<3>().0;
    match color {
        ColorType::L8 => each(raw, out, |[l]| [l; 3]),
        ColorType::La8 => each(raw, out, |[l, a]| over([l; 3], a, background)),
        ColorType::Rgb8 => each(raw, out, |rgb| rgb),
        ColorType::Rgba8 => each(raw, out, |[r, g, b, a]| over([r, g, b], a, background)),
        ColorType::L16 => each(raw, out, |l: [u8; 2]| [l[UPPER]; 3]),
        ColorType::La16 => each(raw, out, |p: [u8; 4]| over([p[UPPER]; 3], p[2 + UPPER], background)),
        ColorType::Rgb16 => each(raw, out, |p: [u8; 6]| [p[UPPER], p[2 + UPPER], p[4 + UPPER]]),
        ColorType::Rgba16 => {
            let color = |p: [u8; 8]| [p[UPPER], p[2 + UPPER], p[4 + UPPER]];
            each(raw, out, |p| over(color(p), p[6 + UPPER], background));
        }
        other => return Err(Fault::Unsupported { kind: format!("picture of colour type {other:?}") }),
    }
    Ok(())
}

fn each<const N: usize>(raw: &[u8], out: &mut [[u8; 3]], pixel: impl Fn([u8; N]) -> [u8; 3]) {
    for (out, raw) in out.iter_mut().zip(raw.as_chunks::<N>().0) {
        *out = pixel(*raw);
    }
}

/// One colour over another, rounded.
fn over(color: [u8; 3], alpha: u8, background: [u8; 3]) -> [u8; 3] {
    let alpha = u32::from(alpha);
    std::array::from_fn(|i| {
        let mixed = u32::from(color[i]) * alpha + u32::from(background[i]) * (255 - alpha);
        u8::try_from((mixed + 127) / 255).unwrap_or(u8::MAX)
    })
}
