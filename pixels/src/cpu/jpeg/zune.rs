//! The JPEG decoder of the `image` crate, which is zune-jpeg: whole pictures, by an inverse DCT and upsampling of its own.
//!
//! It is called without `image` around it, which would not say which colours it saw, and would have it forgive damage.

use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use crate::cpu::canvas::Canvas;
use crate::cpu::jpeg::task::JpegTask;
use crate::cpu::other::contained;
use crate::fault::Fault;
use crate::plan::Rect;
use crate::sample::JpegColors;
use crate::scale::Scale;

/// Decodes the whole picture into the canvas. None where it is not taken, or where zune-jpeg meets anything irregular; the
/// canvas may hold anything then.
///
/// Taken are gray and luminance with colour differences, sequential with Huffman coding, in one scan, at full size. Of several
/// scans it counts none and keeps coefficients meanwhile, of CMYK it makes other colours than Pillow does.
///
/// # Errors
/// [`Fault::TooSlow`]; the clock is not looked at while it decodes.
pub(super) fn decode(task: &JpegTask<'_>, canvas: &mut Canvas) -> Result<Option<Rect>, Fault> {
    let (JpegTask { head, .. }, (width, height)) = (task, task.size());
    let colors = match head.colors {
        Some(JpegColors::Gray) => ColorSpace::Luma,
        Some(JpegColors::YCbCr) => ColorSpace::YCbCr,
        _ => return Ok(None),
    };
    if !head.parts() || head.sampling.is_none() || task.scale != Scale::Full {
        return Ok(None);
    }
    task.check_time()?;
    let (rgb, _spare) = canvas.begin(width, height, task.limits)?;
    // It may end early without an error, and what it leaves must not be of an earlier picture.
    rgb.fill(0);
    // A panic of its own is one more thing that it objects to.
    let decoded = contained(|| Ok(decode_as(task, colors, rgb))).unwrap_or(None);
    task.check_time()?;
    Ok(decoded.map(|()| Rect::whole(width, height)))
}

fn decode_as(task: &JpegTask<'_>, colors: ColorSpace, rgb: &mut [u8]) -> Option<()> {
    let sides = [task.head.width, task.head.height].map(|side| side as usize);
    let options = DecoderOptions::default()
        .set_strict_mode(true)
        .set_max_width(sides[0])
        .set_max_height(sides[1])
        .jpeg_set_out_colorspace(ColorSpace::RGB);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(task.bytes), options);
    decoder.decode_headers().ok()?;
    let agrees = decoder.dimensions() == Some(sides.into()) && decoder.input_colorspace() == Some(colors);
    agrees.then(|| decoder.decode_into(rgb).ok())?
}
