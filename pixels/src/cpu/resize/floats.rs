//! Resizing as torch does tensors: weights and values between the passes in single precision, along the rows first, rounded
//! to 8 bits at the end.
//!
//! A sum begins at 0 and gets its products one by one, in the order of the pixels, each rounded before it is added: the kernel
//! for GPUs does the same, so that both give the same bytes.

use std::ops::Range;

use crate::axis::Axis;
use crate::cpu::resize::lines::Lines;

/// Rows that the first pass does at a time, side by side.
const ROWS: usize = 8;

/// Columns whose sums stay in registers.
const COLUMNS: usize = 16;

/// Too large for a fraction: what it is added to is rounded to the nearest whole number, ties to even.
const WHOLE: f32 = 12_582_912.0;

/// Resizes; made once per thread.
#[derive(Debug, Default)]
pub(super) struct Floats {
    pub(super) columns: Weights,
    pub(super) rows: Weights,
    /// Rows of the source, turned: for each column its channels, for each of these the values of the rows.
    turned: Vec<[[f32; ROWS]; 3]>,
    /// The latest rows of the first pass; row `n` is at `n` modulo their number.
    between: Vec<f32>,
    /// A row of the result.
    last: Vec<u8>,
}

/// The weights of one axis.
#[derive(Debug, Default)]
pub(super) struct Weights {
    sums: Vec<Sum>,
    singles: Vec<f32>,
    doubles: Vec<f64>,
}

/// What an output pixel is made of.
#[derive(Clone, Debug)]
struct Sum {
    /// Source pixels.
    pixels: Range<usize>,
    /// Where the first pixel's weight is.
    at: usize,
}

impl Weights {
    /// Computes the weights of a window of the axis, which counts source pixels from the start of its `reach`.
    #[expect(clippy::cast_possible_truncation, reason = "single precision is what torch computes with")]
    pub(super) fn weigh(&mut self, axis: &Axis, window: &Range<u32>, reach: &Range<u32>, mirrored: bool) {
        self.sums.clear();
        self.singles.clear();
        for number in 0..window.end - window.start {
            let at = if mirrored { window.end - 1 - number } else { window.start + number };
            let pixels = axis.span(at);
            let pixels = (pixels.start - reach.start) as usize..(pixels.end - reach.start) as usize;
            self.sums.push(Sum { pixels, at: self.singles.len() });
            axis.weights(at, &mut self.doubles);
            self.singles.extend(self.doubles.iter().map(|weight| *weight as f32));
        }
    }

    fn of(&self, sum: &Sum) -> &[f32] {
        &self.singles[sum.at..][..sum.pixels.len()]
    }

    /// The most pixels that one is made of.
    fn longest(&self) -> usize {
        self.sums.iter().map(|sum| sum.pixels.len()).max().unwrap_or(0)
    }

    fn end(&self) -> usize {
        self.sums.iter().map(|sum| sum.pixels.end).max().unwrap_or(0)
    }

    /// Bytes in use.
    fn len(&self) -> usize {
        self.sums.capacity() * size_of::<Sum>() + self.singles.capacity() * size_of::<f32>()
    }
}

impl Floats {
    /// Gives the rows that the weights say, from the top down, packed RGB.
    pub(super) fn resize(&mut self, from: Lines<'_>, mut put: impl FnMut(usize, &[u8])) {
        let Self { columns, rows, turned, between, last } = self;
        let len = columns.sums.len() * 3;
        let stride = len.next_multiple_of(COLUMNS);
        // As many as the longest sum needs, while a further group of rows is made.
        let kept = rows.longest() + ROWS;
        turned.resize(columns.end(), [[0.0; ROWS]; 3]);
        between.resize(between.len().max(kept * stride), 0.0);
        last.resize(stride, 0);
        let mut made = 0;
        for (number, sum) in rows.sums.iter().enumerate() {
            while made < sum.pixels.end {
                turn(from, made, turned);
                along(columns, turned, |pixel, values| {
                    for (row, values) in values.into_iter().enumerate() {
                        between[(made + row) % kept * stride + pixel * 3..][..3].copy_from_slice(&values);
                    }
                });
                made += ROWS;
            }
            let lines = sum.pixels.clone().map(|row| &between[row % kept * stride..][..stride]);
            down(&lines.zip(rows.of(sum)), last);
            put(number, &last[..len]);
        }
    }

    /// Gives back memory beyond `keep` bytes that an unusually large picture has left.
    pub(super) fn trim(&mut self, keep: usize) {
        let buffers = self.turned.capacity() * size_of::<[[f32; ROWS]; 3]>() + self.between.capacity() * 4;
        if buffers + self.last.capacity() + self.columns.len() + self.rows.len() > keep {
            *self = Self::default();
        }
    }
}

/// A group of rows as the first pass takes them; below the last one it is repeated.
fn turn(from: Lines<'_>, first: usize, turned: &mut [[[f32; ROWS]; 3]]) {
    for row in 0..ROWS {
        let pixels = from.bytes[(first + row).min(from.count - 1) * from.stride..].as_chunks::<3>().0;
        for (to, pixel) in turned.iter_mut().zip(pixels) {
            for (to, value) in to.iter_mut().zip(pixel) {
                to[row] = f32::from(*value);
            }
        }
    }
}

/// The pass along the rows: gives each output pixel of all rows.
fn along(columns: &Weights, turned: &[[[f32; ROWS]; 3]], mut give: impl FnMut(usize, [[f32; 3]; ROWS])) {
    for (number, sum) in columns.sums.iter().enumerate() {
        let mut sums = [[0.0; ROWS]; 3];
        for (pixel, weight) in turned[sum.pixels.clone()].iter().zip(columns.of(sum)) {
            for (sums, values) in sums.iter_mut().zip(pixel) {
                for (sum, value) in sums.iter_mut().zip(values) {
                    *sum += weight * value;
                }
            }
        }
        give(number, std::array::from_fn(|row| sums.map(|channel| channel[row])));
    }
}

/// The pass down the columns: one row of the result, of whole blocks.
fn down<'a>(lines: &(impl Iterator<Item = (&'a [f32], &'a f32)> + Clone), to: &mut [u8]) {
    for (block, to) in to.as_chunks_mut::<COLUMNS>().0.iter_mut().enumerate() {
        let mut sums = [0.0; COLUMNS];
        for (line, weight) in lines.clone() {
            for (sum, value) in sums.iter_mut().zip(&line[block * COLUMNS..][..COLUMNS]) {
                *sum += weight * value;
            }
        }
        *to = sums.map(rounded);
    }
}

/// To the nearest whole number, ties to even, within 8 bits. Sums of bytes are far below [`WHOLE`].
fn rounded(sum: f32) -> u8 {
    let whole = (sum + WHOLE).to_bits().cast_signed() - WHOLE.to_bits().cast_signed();
    u8::try_from(whole.clamp(0, 255)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_rounded_to_nearest_ties_to_even_and_cut_off_at_black_and_white() {
        let cases =
            [(0.5, 0), (1.5, 2), (2.5, 2), (2.500_001, 3), (254.5, 254), (255.4, 255), (300.0, 255), (-70.3, 0)];
        for (sum, byte) in cases {
            assert_eq!(rounded(sum), byte, "{sum}");
        }
        for sixteenth in -8000i16..8000 {
            let sum = f32::from(sixteenth) / 16.0;
            let expected = sum.round_ties_even().clamp(0.0, 255.0).abs();
            assert_eq!(f32::from(rounded(sum)).to_bits(), expected.to_bits(), "{sum}");
        }
    }
}
