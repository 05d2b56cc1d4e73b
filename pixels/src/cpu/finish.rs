//! The last pass: mirror, type, normalisation and layout in one go, from RGB of 8 bits into the place.

use half::f16;

use crate::recipe::{Dtype, Layout, Output};
use crate::transform::Normalize;

/// What a value of 8 bits becomes, per channel, little-endian.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Values {
    /// Itself.
    Uint8,
    /// By table, since there are only 256.
    Float16(Box<[[[u8; 2]; 256]; 3]>),
    /// By table, since there are only 256.
    Float32(Box<[[[u8; 4]; 256]; 3]>),
}

/// Rows of a picture that go into the place.
#[derive(Clone, Copy)]
pub(super) struct Window<'a> {
    /// Packed RGB, from the window's first pixel on.
    pub(super) rgb: &'a [u8],
    /// Pixels from one row to the next.
    pub(super) stride: usize,
    /// Columns.
    pub(super) width: usize,
    /// Rows.
    pub(super) height: usize,
}

impl Values {
    /// The tables of an output with this normalisation.
    pub(crate) fn new(output: Output, normalize: Option<&Normalize>) -> Self {
        // The operations of torchvision's ToTensor and Normalize, in their order and precision.
        let float = |channel: usize, value: usize| {
            let unit = f32::from(u8::try_from(value).expect("tables have 256 entries")) / 255.0;
            normalize.map_or(unit, |n| (unit - n.mean[channel]) / n.std[channel])
        };
        match output.dtype {
            Dtype::Uint8 => Self::Uint8,
            Dtype::Float16 => Self::Float16(Box::new(table(|c, v| f16::from_f32(float(c, v)).to_le_bytes()))),
            Dtype::Float32 => Self::Float32(Box::new(table(|c, v| float(c, v).to_le_bytes()))),
        }
    }
}

fn table<const N: usize>(value: impl Fn(usize, usize) -> [u8; N]) -> [[[u8; N]; 256]; 3] {
    std::array::from_fn(|channel| std::array::from_fn(|v| value(channel, v)))
}

/// Writes the window into `out`, which has just the bytes that it takes.
pub(super) fn finish(window: Window<'_>, mirrored: bool, values: &Values, layout: Layout, out: &mut [u8]) {
    match values {
        Values::Uint8 => write(window, mirrored, layout, |_, value| [value], out),
        Values::Float16(table) => write(window, mirrored, layout, |c, value| table[c][usize::from(value)], out),
        Values::Float32(table) => write(window, mirrored, layout, |c, value| table[c][usize::from(value)], out),
    }
}

fn write<const N: usize>(
    window: Window<'_>,
    mirrored: bool,
    layout: Layout,
    value: impl Fn(usize, u8) -> [u8; N] + Copy,
    out: &mut [u8],
) {
    let out = out.as_chunks_mut::<N>().0;
    let rows = window.rgb.as_chunks::<3>().0.chunks(window.stride).take(window.height);
    match layout {
        Layout::Nhwc => {
            for (row, out) in rows.zip(out.chunks_exact_mut(window.width * 3)) {
                let pixels = out.as_chunks_mut::<3>().0.iter_mut();
                in_order(&row[..window.width], mirrored, pixels, |from, to| {
                    *to = [value(0, from[0]), value(1, from[1]), value(2, from[2])];
                });
            }
        }
        Layout::Nchw => {
            let plane = window.width * window.height;
            let (red, rest) = out.split_at_mut(plane);
            let (green, blue) = rest.split_at_mut(plane);
            let planes = red
                .chunks_exact_mut(window.width)
                .zip(green.chunks_exact_mut(window.width))
                .zip(blue.chunks_exact_mut(window.width));
            for (row, ((red, green), blue)) in rows.zip(planes) {
                let pixels = red.iter_mut().zip(green).zip(blue);
                in_order(&row[..window.width], mirrored, pixels, |from, ((red, green), blue)| {
                    *red = value(0, from[0]);
                    *green = value(1, from[1]);
                    *blue = value(2, from[2]);
                });
            }
        }
    }
}

/// Pairs a row's pixels with where they go, from the right end if mirrored.
fn in_order<T>(row: &[[u8; 3]], mirrored: bool, to: impl Iterator<Item = T>, put: impl Fn([u8; 3], T)) {
    if mirrored {
        row.iter().rev().zip(to).for_each(|(from, to)| put(*from, to));
    } else {
        row.iter().zip(to).for_each(|(from, to)| put(*from, to));
    }
}
