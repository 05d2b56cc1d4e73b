//! The last pass: mirror, type, normalisation, mode and layout in one go, from RGB of 8 bits into the place.

use half::{bf16, f16};

use crate::mirror::mirror;
use crate::output::{Dtype, Layout, Mode, Output};
use crate::transform::Normalize;

/// What a value of 8 bits becomes, per channel, little-endian.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Values {
    /// Itself.
    Uint8,
    /// By table, since there are only 256: half precision of either kind.
    TwoBytes(Box<[[[u8; 2]; 256]; 3]>),
    /// By table, since there are only 256: single precision.
    FourBytes(Box<[[[u8; 4]; 256]; 3]>),
}

/// The place, which is written row by row.
pub(crate) struct OutputPlace<'a> {
    /// What values become.
    pub(crate) values: &'a Values,
    /// Which of them there are, and where they go.
    pub(crate) output: Output,
    /// Columns.
    pub(crate) width: usize,
    /// Rows.
    pub(crate) height: usize,
    /// Just the bytes that the picture takes.
    pub(crate) out: &'a mut [u8],
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
            Dtype::Float16 => Self::TwoBytes(Box::new(table(|c, v| f16::from_f32(float(c, v)).to_le_bytes()))),
            Dtype::Bfloat16 => Self::TwoBytes(Box::new(table(|c, v| bf16::from_f32(float(c, v)).to_le_bytes()))),
            Dtype::Float32 => Self::FourBytes(Box::new(table(|c, v| float(c, v).to_le_bytes()))),
        }
    }
}

fn table<const N: usize>(value: impl Fn(usize, usize) -> [u8; N]) -> [[[u8; N]; 256]; 3] {
    std::array::from_fn(|channel| std::array::from_fn(|v| value(channel, v)))
}

impl OutputPlace<'_> {
    /// Writes row `number`, from packed RGB of the place's width.
    pub(crate) fn put(&mut self, number: usize, rgb: &[u8], mirrored: bool) {
        let layout = self.output.layout;
        match self.values {
            Values::Uint8 if self.output.mode == Mode::L => self.write_one(number, rgb, mirrored, |value| [value]),
            Values::TwoBytes(table) if self.output.mode == Mode::L => {
                self.write_one(number, rgb, mirrored, |value| table[0][usize::from(value)]);
            }
            Values::FourBytes(table) if self.output.mode == Mode::L => {
                self.write_one(number, rgb, mirrored, |value| table[0][usize::from(value)]);
            }
            Values::Uint8 if layout == Layout::Nhwc && !mirrored => {
                self.out[number * rgb.len()..][..rgb.len()].copy_from_slice(rgb);
            }
            Values::Uint8 if layout == Layout::Nhwc => {
                mirror(rgb, &mut self.out[number * rgb.len()..][..rgb.len()]);
            }
            Values::Uint8 => self.write(number, rgb, mirrored, |_, value| [value]),
            Values::TwoBytes(table) => self.write(number, rgb, mirrored, |c, value| table[c][usize::from(value)]),
            Values::FourBytes(table) => self.write(number, rgb, mirrored, |c, value| table[c][usize::from(value)]),
        }
    }

    /// Of gray pixels, whose three values are the same.
    fn write_one<const N: usize>(
        &mut self,
        number: usize,
        rgb: &[u8],
        mirrored: bool,
        value: impl Fn(u8) -> [u8; N] + Copy,
    ) {
        let out = &mut self.out.as_chunks_mut::<N>().0[number * self.width..][..self.width];
        in_order(rgb.as_chunks::<3>().0, mirrored, out.iter_mut(), |from, to| *to = value(from[0]));
    }

    fn write<const N: usize>(
        &mut self,
        number: usize,
        rgb: &[u8],
        mirrored: bool,
        value: impl Fn(usize, u8) -> [u8; N] + Copy,
    ) {
        let row = rgb.as_chunks::<3>().0;
        let out = self.out.as_chunks_mut::<N>().0;
        match self.output.layout {
            Layout::Nhwc => {
                let out = &mut out[number * self.width * 3..][..self.width * 3];
                in_order(row, mirrored, out.as_chunks_mut::<3>().0.iter_mut(), |from, to| {
                    *to = [value(0, from[0]), value(1, from[1]), value(2, from[2])];
                });
            }
            Layout::Nchw => {
                let (red, rest) = out.split_at_mut(self.width * self.height);
                let (green, blue) = rest.split_at_mut(self.width * self.height);
                let [red, green, blue] =
                    [red, green, blue].map(|plane| &mut plane[number * self.width..][..self.width]);
                in_order(row, mirrored, red.iter_mut().zip(green).zip(blue), |from, ((red, green), blue)| {
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
