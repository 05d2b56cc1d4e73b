//! Masks as PNG, whose numbers a function gives.

use std::io::Cursor;

use png::{BitDepth, ColorType, Encoder};

use crate::MaskDepth;

/// A mask of `width` x `height` numbers of a byte, as grey.
///
/// # Panics
/// A side is 0.
pub fn mask_png(width: u32, height: u32, number: impl Fn(u32, u32) -> u8) -> Vec<u8> {
    mask_png_of(MaskDepth::U8, width, height, |x, y| number(x, y).into())
}

/// A mask of `width` x `height` numbers of this type, whose lower bytes are those of `number`.
///
/// # Panics
/// A side is 0.
pub fn mask_png_of(depth: MaskDepth, width: u32, height: u32, number: impl Fn(u32, u32) -> u32) -> Vec<u8> {
    let mut pixels = Vec::new();
    for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
        let [low, middle, high, _] = number(x, y).to_le_bytes();
        match depth {
            MaskDepth::U8 => pixels.push(low),
            MaskDepth::U16 => pixels.extend([middle, low]),
            MaskDepth::I32 => pixels.extend([low, middle, high]),
        }
    }
    let (colour, bits) = match depth {
        MaskDepth::U8 => (ColorType::Grayscale, BitDepth::Eight),
        MaskDepth::U16 => (ColorType::Grayscale, BitDepth::Sixteen),
        MaskDepth::I32 => (ColorType::Rgb, BitDepth::Eight),
    };
    let mut bytes = Cursor::new(Vec::new());
    let mut encoder = Encoder::new(&mut bytes, width, height);
    encoder.set_color(colour);
    encoder.set_depth(bits);
    let mut writer = encoder.write_header().expect("a picture with pixels, in memory");
    writer.write_image_data(&pixels).expect("as many bytes as the head says");
    writer.finish().expect("memory takes everything");
    bytes.into_inner()
}
