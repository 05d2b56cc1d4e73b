//! A contact sheet: the pictures of a batch side by side, each with what is known of it drawn on it and below it.

use embedded_graphics::mono_font::MonoTextStyle;
use embedded_graphics::mono_font::ascii::FONT_7X13;
use embedded_graphics::pixelcolor::Rgb888;
use embedded_graphics::prelude::{Drawable as _, Point, RgbColor as _};
use embedded_graphics::text::Text;
use forebay_client::Batch;
use forebay_ring::{Dtype, Layout, Shape};
use half::{bf16, f16};
use image::{Rgb, RgbImage};

use crate::drawing;
use crate::paper::Paper;

/// Pixels between pictures, and around them.
const GAP: u32 = 8;
/// Pixels for a label below its picture.
const LABEL: u32 = 18;
/// Width of one letter.
const LETTER: u32 = 7;
const PAPER: Rgb<u8> = Rgb([250, 250, 248]);

/// Draws the first `count` pictures of a batch, `columns` in a row.
pub(crate) fn sheet(batch: &Batch, classes: &[String], count: usize, columns: u32) -> RgbImage {
    let shape = batch.shape();
    let count = count.min(batch.shown());
    let (cell, row) = (shape.width + GAP, shape.height + LABEL + GAP);
    let rows = u32::try_from(count).unwrap_or(u32::MAX).div_ceil(columns);
    let mut sheet = RgbImage::from_pixel(columns * cell + GAP, rows * row + GAP, PAPER);
    for (place, number) in (0..count).zip(0u32..) {
        let (left, top) = (GAP + number % columns * cell, GAP + number / columns * row);
        let mut picture = picture(batch.images(), shape, place);
        let annotations = drawing::of_batch(batch, place);
        drawing::annotate(&mut picture, &annotations, classes);
        image::imageops::replace(&mut sheet, &picture, left.into(), top.into());
        let caption = drawing::first_text(&annotations);
        let text = label((batch.labels()[place], caption), batch.records()[place], classes, shape.width);
        let style = MonoTextStyle::new(&FONT_7X13, Rgb888::BLACK);
        let base = Point::new(left.cast_signed(), (top + shape.height + LABEL - 6).cast_signed());
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

/// One place of a batch as eight-bit RGB; floats are spread from the picture's smallest value to its largest.
fn picture(images: &[u8], shape: Shape, place: usize) -> RgbImage {
    let values = shape.height as usize * shape.width as usize * shape.channels as usize;
    let size = shape.dtype.size();
    let values = floats(&images[place * values * size..(place + 1) * values * size], shape.dtype);
    let (low, high) = match shape.dtype {
        Dtype::U8 => (0.0, 255.0),
        Dtype::F16 | Dtype::Bf16 | Dtype::F32 => {
            values.iter().fold((f32::MAX, f32::MIN), |(low, high), value| (low.min(*value), high.max(*value)))
        }
    };
    let scale = 255.0 / (high - low).max(f32::EPSILON);
    arranged(&values, (shape.width, shape.height, shape.channels), shape.layout, |_, value| (value - low) * scale)
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

/// A picture of values in a layout. `shown` makes a number from 0 to 255 of a channel's value.
pub(crate) fn arranged(
    values: &[f32],
    (width, height, channels): (u32, u32, u32),
    layout: Layout,
    shown: impl Fn(usize, f32) -> f32,
) -> RgbImage {
    let plane = width as usize * height as usize;
    RgbImage::from_fn(width, height, |x, y| {
        let at = y as usize * width as usize + x as usize;
        Rgb([0, 1, 2].map(|channel| {
            // The only channel of a gray picture is shown three times.
            let channel = channel.min(channels as usize - 1);
            let index = match layout {
                Layout::Nhwc => at * channels as usize + channel,
                Layout::Nchw => channel * plane + at,
            };
            to_byte(shown(channel, values[index]))
        }))
    })
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a byte's range first")]
fn to_byte(value: f32) -> u8 {
    value.round().clamp(0.0, 255.0) as u8
}
