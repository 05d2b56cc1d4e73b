//! What becomes of one picture that is mixed with another one of its batch.

use half::{bf16, f16};

use crate::output::{Dtype, Layout, Output};
use crate::plan::Rect;

/// Bits of a weight that pictures of 8 bits are mixed by.
const BITS: u32 = 15;

/// How a picture is mixed with another one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mixture {
    /// The weighted mean of both.
    Mean {
        /// The weight of the picture itself, from 0 to 1.
        weight: f32,
    },
    /// The picture with a part of the other one.
    Part {
        /// What comes from the other one. It may have no pixels.
        part: Rect,
        /// The share that is left of the picture itself, from 0 to 1.
        weight: f32,
    },
}

/// What the bytes of a picture in a batch are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaceForm {
    /// Type, layout and mode.
    pub output: Output,
    /// Rows.
    pub height: u32,
    /// Columns.
    pub width: u32,
}

impl Mixture {
    /// The weight of the picture itself, and so of its label.
    pub fn weight(&self) -> f32 {
        match *self {
            Self::Mean { weight } | Self::Part { weight, .. } => weight,
        }
    }

    /// Mixes the other picture into the first one.
    ///
    /// Means of 8 bits are rounded, a half up, with the weight as a multiple of 2^-15. Means of floats are calculated in
    /// single precision, and rounded once.
    ///
    /// # Panics
    /// One of them has not as many bytes as the form.
    pub fn carry_out(&self, form: PlaceForm, own: &mut [u8], other: &[u8]) {
        assert_eq!([own.len(), other.len()], [form.len(); 2], "two pictures of one batch");
        match *self {
            Self::Mean { weight } => mean(form.output.dtype, weight, own, other),
            Self::Part { part, .. } => form.rows(part, |row| own[row.clone()].copy_from_slice(&other[row])),
        }
    }
}

impl PlaceForm {
    fn len(&self) -> usize {
        self.output.bytes(self.width, self.height)
    }

    /// Calls `each` with the bytes of every row of a part, in each plane.
    fn rows(&self, part: Rect, mut each: impl FnMut(std::ops::Range<usize>)) {
        let channels = self.output.mode.channels() as usize;
        let (planes, pixel) = match self.output.layout {
            Layout::Nhwc => (1, channels * self.output.dtype.len()),
            Layout::Nchw => (channels, self.output.dtype.len()),
        };
        let (height, width) = (self.height as usize, self.width as usize);
        for plane in 0..planes {
            for row in part.rows() {
                let start = ((plane * height + row as usize) * width + part.left as usize) * pixel;
                each(start..start + part.width as usize * pixel);
            }
        }
    }
}

fn mean(dtype: Dtype, weight: f32, own: &mut [u8], other: &[u8]) {
    let floats = |own: f32, other: f32| other * (1.0 - weight) + own * weight;
    match dtype {
        Dtype::Uint8 => mean_of_bytes(weight, own, other),
        Dtype::Float16 => each(own, other, |own, other| {
            f16::from_f32(floats(f16::from_le_bytes(own).to_f32(), f16::from_le_bytes(other).to_f32())).to_le_bytes()
        }),
        Dtype::Bfloat16 => each(own, other, |own, other| {
            bf16::from_f32(floats(bf16::from_le_bytes(own).to_f32(), bf16::from_le_bytes(other).to_f32())).to_le_bytes()
        }),
        Dtype::Float32 => {
            each(own, other, |own, other| floats(f32::from_le_bytes(own), f32::from_le_bytes(other)).to_le_bytes());
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a weight is 0 to 1, and a mean 0 to 255")]
fn mean_of_bytes(weight: f32, own: &mut [u8], other: &[u8]) {
    let one = 1_u32 << BITS;
    let weight = libm::roundf(weight * 32768.0) as u32;
    for (own, other) in own.iter_mut().zip(other) {
        *own = ((u32::from(*own) * weight + u32::from(*other) * (one - weight) + one / 2) >> BITS) as u8;
    }
}

fn each<const N: usize>(own: &mut [u8], other: &[u8], mean: impl Fn([u8; N], [u8; N]) -> [u8; N]) {
    for (own, other) in own.as_chunks_mut::<N>().0.iter_mut().zip(other.as_chunks::<N>().0) {
        *own = mean(*own, *other);
    }
}
