//! A contact sheet: the pictures of a batch side by side, each with what is known of it drawn on it and below it.

use std::borrow::Cow;

use embedded_graphics::mono_font::MonoTextStyle;
use embedded_graphics::mono_font::ascii::FONT_7X13;
use embedded_graphics::pixelcolor::Rgb888;
use embedded_graphics::prelude::{Drawable as _, Point, RgbColor as _};
use embedded_graphics::text::Text;
use forebay_client::Batch;
use forebay_columns::PATCHED;
use forebay_ring::{Dtype, Layout, Shape};
use half::{bf16, f16};
use image::{Rgb, RgbImage};

use crate::drawing;
use crate::paper::Paper;
use crate::uncut::uncut;

/// Pixels between pictures, and around them.
const GAP: u32 = 8;
/// Pixels for a label below its picture.
const LABEL: u32 = 18;
/// Side of a square behind what is transparent.
const SQUARE: u32 = 8;
/// Pixels that a picture has room for at least, so that there is some for its label.
const NARROWEST: u32 = 64;
/// Width of one letter.
const LETTER: u32 = 7;
const PAPER: Rgb<u8> = Rgb([250, 250, 248]);

/// Draws the first `count` pictures of a batch, `columns` in a row.
pub(crate) fn sheet(batch: &Batch, classes: &[String], count: usize, columns: u32) -> RgbImage {
    let count = count.min(batch.shown());
    let pictures: Vec<RgbImage> = (0..count).map(|place| picture(batch, place)).collect();
    let largest = |side: fn(&RgbImage) -> u32| pictures.iter().map(side).max().unwrap_or(0);
    let (width, height) = (largest(RgbImage::width).max(NARROWEST), largest(RgbImage::height));
    let (cell, row) = (width + GAP, height + LABEL + GAP);
    let rows = u32::try_from(count).unwrap_or(u32::MAX).div_ceil(columns);
    let mut sheet = RgbImage::from_pixel(columns * cell + GAP, rows * row + GAP, PAPER);
    for ((place, number), mut picture) in (0..count).zip(0u32..).zip(pictures) {
        let (left, top) = (GAP + number % columns * cell, GAP + number / columns * row);
        let annotations = drawing::of_batch(batch, place);
        drawing::annotate(&mut picture, &annotations, classes);
        image::imageops::replace(&mut sheet, &picture, left.into(), top.into());
        let caption = drawing::first_text(&annotations);
        let text = label((batch.labels()[place], caption), batch.records()[place], classes, width);
        let style = MonoTextStyle::new(&FONT_7X13, Rgb888::BLACK);
        let base = Point::new(left.cast_signed(), (top + height + LABEL - 6).cast_signed());
        // Drawing onto memory cannot fail.
        let Ok(_) = Text::new(&text, base, style).draw(&mut Paper(&mut sheet));
    }
    sheet
}

/// The record's number, and the name of its label or else its caption.
fn label((label, caption): (i64, Option<String>), record: i64, classes: &[String], width: u32) -> String {
    let name = usize::try_from(label).ok().and_then(|label| classes.get(label));
    let number = || (label >= 0).then(|| label.to_string());
    let text = match name.cloned().or_else(number) {
        Some(name) => format!("{name} #{record}"),
        None => format!("#{record} {}", caption.unwrap_or_default()),
    };
    text.chars().take((width / LETTER) as usize).collect()
}

/// One place of a batch as eight-bit RGB; floats are spread from the picture's smallest value to its largest. Patches are put together,
/// without padding.
fn picture(batch: &Batch, place: usize) -> RgbImage {
    let shape = batch.shape();
    let pixel = shape.channels as usize * shape.dtype.size();
    let len = shape.height as usize * shape.width as usize * pixel;
    let bytes = &batch.images()[place * len..(place + 1) * len];
    let (bytes, size) = match grid(batch, shape, place) {
        Some((grid, side)) => (Cow::from(uncut(bytes, grid, side, pixel)), (grid.1 * side, grid.0 * side)),
        None => (Cow::from(bytes), (shape.width, shape.height)),
    };
    let values = floats(&bytes, shape.dtype);
    let arrangement = Arrangement { size, channels: shape.channels, layout: shape.layout };
    // Colours are spread together, and alpha by itself.
    let extremes = [false, true].map(|alpha| match shape.dtype {
        Dtype::U8 => (0.0, 255.0),
        Dtype::F16 | Dtype::Bf16 | Dtype::F32 => arrangement.extremes(&values, alpha),
    });
    arrangement.picture(&values, |channel, value| {
        let (low, high) = extremes[usize::from(arrangement.is_alpha(channel))];
        match high > low {
            true => (value - low) * (255.0 / (high - low)),
            // Alpha that is the same everywhere says nothing, and is not shown.
            false if arrangement.is_alpha(channel) => 255.0,
            false => 0.0,
        }
    })
}

/// Rows and columns of the patches of a place, and their side, if the pictures of the batch are cut into patches: a patch is a row of
/// the place.
fn grid(batch: &Batch, shape: Shape, place: usize) -> Option<((u32, u32), u32)> {
    let columns = PATCHED.map(|name| batch.column(name));
    let [Some(_), Some(_), Some(grid)] = columns else { return None };
    let number = |at: usize| Some(u32::from_le_bytes(grid.place(place).get(at..at + 4)?.try_into().ok()?));
    let (rows, columns) = (number(0)?, number(4)?);
    (u64::from(rows) * u64::from(columns) <= shape.height.into()).then(|| ((rows, columns), shape.width.isqrt()))
}

/// The values of little-endian bytes.
pub(crate) fn floats(bytes: &[u8], dtype: Dtype) -> Vec<f32> {
    match dtype {
        Dtype::U8 => bytes.iter().map(|byte| f32::from(*byte)).collect(),
        Dtype::F16 => bytes.chunks_exact(2).map(|two| f16::from_le_bytes([two[0], two[1]]).to_f32()).collect(),
        Dtype::Bf16 => bytes.chunks_exact(2).map(|two| bf16::from_le_bytes([two[0], two[1]]).to_f32()).collect(),
        Dtype::F32 => bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect(),
    }
}

/// How the values of a picture are arranged.
#[derive(Clone, Copy)]
pub(crate) struct Arrangement {
    /// Width and height.
    pub(crate) size: (u32, u32),
    /// Values of a pixel: one or three, or one more with alpha.
    pub(crate) channels: u32,
    pub(crate) layout: Layout,
}

impl Arrangement {
    fn is_alpha(self, channel: usize) -> bool {
        self.channels.is_multiple_of(2) && channel + 1 == self.channels as usize
    }

    /// Where the value of a pixel's channel is.
    fn index(self, pixel: usize, channel: usize) -> usize {
        match self.layout {
            Layout::Nhwc => pixel * self.channels as usize + channel,
            Layout::Nchw => channel * self.pixels() + pixel,
        }
    }

    fn pixels(self) -> usize {
        self.size.0 as usize * self.size.1 as usize
    }

    /// The smallest and the largest value of the colours, or of alpha.
    fn extremes(self, values: &[f32], alpha: bool) -> (f32, f32) {
        let channels = (0..self.channels as usize).filter(|channel| self.is_alpha(*channel) == alpha);
        let values =
            channels.flat_map(|channel| (0..self.pixels()).map(move |pixel| values[self.index(pixel, channel)]));
        values.fold((f32::MAX, f32::MIN), |(low, high), value| (low.min(value), high.max(value)))
    }

    /// The picture, over squares of two grays where it is transparent. `shown` makes a number from 0 to 255 of a channel's value.
    pub(crate) fn picture(self, values: &[f32], shown: impl Fn(usize, f32) -> f32) -> RgbImage {
        let (width, height) = self.size;
        let last = self.channels as usize - 1;
        RgbImage::from_fn(width, height, |x, y| {
            let pixel = y as usize * width as usize + x as usize;
            let value = |channel: usize| shown(channel, values[self.index(pixel, channel)]);
            let alpha = if self.is_alpha(last) { value(last).clamp(0.0, 255.0) / 255.0 } else { 1.0 };
            let behind = if (x / SQUARE + y / SQUARE).is_multiple_of(2) { 204.0 } else { 255.0 };
            Rgb([0, 1, 2].map(|channel| {
                // The only channel of a gray picture is shown three times.
                let colour = value(if self.channels < 3 { 0 } else { channel });
                to_byte(colour * alpha + behind * (1.0 - alpha))
            }))
        })
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a byte's range first")]
fn to_byte(value: f32) -> u8 {
    value.round().clamp(0.0, 255.0) as u8
}
