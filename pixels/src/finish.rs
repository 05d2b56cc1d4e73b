//! The last pass: mirror, type, normalisation, mode and layout in one go, from pixels of 8 bits into the place.

use half::{bf16, f16};

use crate::mirror::mirror;
use crate::output::{Dtype, Layout, Mode, Output};
use crate::patches::{PatchPadding, Patches};
use crate::transform::Normalize;

/// What a value of 8 bits becomes, per channel, little-endian.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Values {
    /// Itself.
    Uint8,
    /// By table, since there are only 256: half precision of either kind.
    TwoBytes(Box<Table<2>>),
    /// By table, since there are only 256: single precision.
    FourBytes(Box<Table<4>>),
}

/// For each channel, what each value becomes. Channels that a mode has not are not used.
type Table<const N: usize> = [[[u8; N]; 256]; 4];

/// The place, which is written row by row.
pub(crate) struct OutputPlace<'a> {
    /// What values become.
    values: &'a Values,
    /// Which of them there are, and where they go.
    output: Output,
    /// Columns. With patches, those of a patch: they are like pictures, one below the other.
    width: usize,
    /// Rows.
    height: usize,
    /// Patches from left to right, if the picture is cut into patches.
    patches: Option<usize>,
    /// Just the bytes that the picture takes.
    out: &'a mut [u8],
}

impl Values {
    /// Fills values of `channels` with what black pixels become.
    pub(crate) fn fill_black(&self, channels: usize, out: &mut [u8]) {
        fn repeat<const N: usize>(table: &Table<N>, channels: usize, out: &mut [u8]) {
            let values = out.as_chunks_mut::<N>().0;
            values.iter_mut().zip((0..channels).cycle()).for_each(|(value, channel)| *value = table[channel][0]);
        }
        match self {
            Self::Uint8 => out.fill(0),
            Self::TwoBytes(table) => repeat(table, channels, out),
            Self::FourBytes(table) => repeat(table, channels, out),
        }
    }

    /// The tables of an output with this normalisation.
    pub(crate) fn new(output: Output, normalize: Option<&Normalize>) -> Self {
        // The operations of torchvision's ToTensor and Normalize, in their order and precision.
        let float = |channel: usize, value: usize| {
            let unit = f32::from(u8::try_from(value).expect("tables have 256 entries")) / 255.0;
            normalize.map_or(unit, |n| (unit - n.mean.of(channel)) / n.std.of(channel))
        };
        match output.dtype {
            Dtype::Uint8 => Self::Uint8,
            Dtype::Float16 => Self::TwoBytes(Box::new(table(|c, v| f16::from_f32(float(c, v)).to_le_bytes()))),
            Dtype::Bfloat16 => Self::TwoBytes(Box::new(table(|c, v| bf16::from_f32(float(c, v)).to_le_bytes()))),
            Dtype::Float32 => Self::FourBytes(Box::new(table(|c, v| float(c, v).to_le_bytes()))),
        }
    }
}

fn table<const N: usize>(value: impl Fn(usize, usize) -> [u8; N]) -> Table<N> {
    std::array::from_fn(|channel| std::array::from_fn(|v| value(channel, v)))
}

impl<'a> OutputPlace<'a> {
    /// The place of a result of this width and height, whose values become these. What its patches leave of it is filled.
    ///
    /// # Panics
    /// The place has less room than the picture takes.
    pub(crate) fn new(
        (values, output): (&'a Values, Output),
        patches: Option<&Patches>,
        (width, height): (u32, u32),
        out: &'a mut [u8],
    ) -> Self {
        let Some(patches) = patches else {
            let (width, height) = (width as usize, height as usize);
            return Self { values, output, width, height, patches: None, out };
        };
        let own = output.bytes(width, height);
        match patches.padding {
            PatchPadding::Zero => out[own..].fill(0),
            PatchPadding::Timm => values.fill_black(output.mode.channels() as usize, &mut out[own..]),
        }
        let (columns, rows) = (width / patches.side, height / patches.side);
        let height = rows as usize * columns as usize * patches.side as usize;
        Self { values, output, width: patches.side as usize, height, patches: Some(columns as usize), out }
    }

    /// Writes row `number`, from pixels of the result's width.
    pub(crate) fn put(&mut self, number: usize, pixels: &[u8], mirrored: bool) {
        let Some(columns) = self.patches else { return self.put_row(number, pixels, mirrored) };
        let side = self.width;
        let (first, row) = (number / side * columns, number % side);
        for (column, pixels) in pixels.chunks_exact(side * self.output.mode.pixel_len()).enumerate() {
            let column = if mirrored { columns - 1 - column } else { column };
            self.put_row((first + column) * side + row, pixels, mirrored);
        }
    }

    /// Writes row `number`, from pixels of the place's width.
    fn put_row(&mut self, number: usize, pixels: &[u8], mirrored: bool) {
        match self.output.mode {
            Mode::Rgb => self.put_rgb(number, pixels, mirrored),
            // Of gray pixels, whose three values are the same.
            Mode::L => self.put_some::<3, 1>(number, pixels, mirrored),
            Mode::La => self.put_some::<2, 2>(number, pixels, mirrored),
            Mode::Rgba => self.put_some::<4, 4>(number, pixels, mirrored),
        }
    }

    fn put_rgb(&mut self, number: usize, rgb: &[u8], mirrored: bool) {
        let layout = self.output.layout;
        match self.values {
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

    /// The first `C` values of pixels of `P` bytes.
    fn put_some<const P: usize, const C: usize>(&mut self, number: usize, pixels: &[u8], mirrored: bool) {
        let pixels = pixels.as_chunks::<P>().0;
        match self.values {
            Values::Uint8 => self.write_some::<P, C, 1>(number, pixels, mirrored, |_, value| [value]),
            Values::TwoBytes(table) => {
                self.write_some::<P, C, 2>(number, pixels, mirrored, |c, value| table[c][usize::from(value)]);
            }
            Values::FourBytes(table) => {
                self.write_some::<P, C, 4>(number, pixels, mirrored, |c, value| table[c][usize::from(value)]);
            }
        }
    }

    fn write_some<const P: usize, const C: usize, const N: usize>(
        &mut self,
        number: usize,
        pixels: &[[u8; P]],
        mirrored: bool,
        value: impl Fn(usize, u8) -> [u8; N] + Copy,
    ) {
        let (width, height) = (self.width, self.height);
        let out = self.out.as_chunks_mut::<N>().0;
        match self.output.layout {
            Layout::Nhwc => {
                let out = out[number * width * C..][..width * C].as_chunks_mut::<C>().0;
                in_order(pixels, mirrored, out.iter_mut(), |from, to| {
                    *to = std::array::from_fn(|channel| value(channel, from[channel]));
                });
            }
            Layout::Nchw => {
                for channel in 0..C {
                    let out = &mut out[(channel * height + number) * width..][..width];
                    in_order(pixels, mirrored, out.iter_mut(), |from, to| *to = value(channel, from[channel]));
                }
            }
        }
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
fn in_order<const P: usize, T>(row: &[[u8; P]], mirrored: bool, to: impl Iterator<Item = T>, put: impl Fn([u8; P], T)) {
    if mirrored {
        row.iter().rev().zip(to).for_each(|(from, to)| put(*from, to));
    } else {
        row.iter().zip(to).for_each(|(from, to)| put(*from, to));
    }
}
