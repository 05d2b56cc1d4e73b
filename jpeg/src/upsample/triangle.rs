//! The triangle filter. Pixels whose sample has a neighbour on both sides are made by loops that the compiler can turn into
//! vectors; those at the ends one by one.

use std::ops::Range;

use super::RowPair;

/// Samples that are taken at once.
const SPAN: usize = 64;

/// The part of a row of pixels whose samples have neighbours on both sides.
struct Inner<'a> {
    /// The pixels before and after it.
    ends: [(Range<usize>, &'a mut [u8]); 2],
    /// Samples in it, from 1 at least to one before the last at most.
    samples: Range<usize>,
    /// Two pixels for each of them.
    out: &'a mut [u8],
}

impl<'a> Inner<'a> {
    #[inline]
    fn split(samples: usize, pixels: &Range<usize>, out: &'a mut [u8]) -> Self {
        let first = pixels.start.div_ceil(2).max(1);
        let end = (pixels.end / 2).min(samples.saturating_sub(1));
        let samples = first..end.max(first);
        let cut = (samples.start * 2).min(pixels.end);
        let (left, rest) = out.split_at_mut(cut - pixels.start);
        let (inner, right) = rest.split_at_mut(samples.len() * 2);
        let ends = [(pixels.start..cut, left), (cut + inner.len()..pixels.end, right)];
        Self { ends, samples, out: inner }
    }
}

pub(super) fn across(row: &[u8], pixels: &Range<usize>, out: &mut [u8]) {
    let Inner { ends, samples, out } = Inner::split(row.len(), pixels, out);
    for (pixels, out) in ends {
        for (pixel, out) in pixels.zip(out) {
            let further = row[beside(pixel, row.len())];
            *out = byte((u16::from(row[pixel / 2]) * 3 + u16::from(further) + 1 + odd(pixel)) >> 2);
        }
    }
    if samples.is_empty() {
        return;
    }
    let Range { start, end } = samples;
    let (left, here, right) = (&row[start - 1..end - 1], &row[start..end], &row[start + 1..=end]);
    for (((out, &left), &here), &right) in out.as_chunks_mut::<2>().0.iter_mut().zip(left).zip(here).zip(right) {
        let here = u16::from(here) * 3;
        *out = pair((here + u16::from(left) + 1) >> 2, (here + u16::from(right) + 2) >> 2);
    }
}

pub(super) fn down(rows: RowPair<'_>, pixels: &Range<usize>, out: &mut [u8]) {
    let round = 1 + u16::from(rows.below);
    for ((out, &near), &far) in out.iter_mut().zip(&rows.near[pixels.clone()]).zip(&rows.far[pixels.clone()]) {
        *out = byte((u16::from(near) * 3 + u16::from(far) + round) >> 2);
    }
}

pub(super) fn both(rows: RowPair<'_>, pixels: &Range<usize>, out: &mut [u8]) {
    let RowPair { near, far, .. } = rows;
    assert_eq!(near.len(), far.len(), "rows of a component have the same length");
    let Inner { ends, samples, out } = Inner::split(near.len(), pixels, out);
    for (pixels, out) in ends {
        for (pixel, out) in pixels.zip(out) {
            let sum = |sample: usize| column(near[sample], far[sample]);
            *out = byte((sum(pixel / 2) * 3 + sum(beside(pixel, near.len())) + 8 - odd(pixel)) >> 4);
        }
    }
    for (first, out) in samples.step_by(SPAN).zip(out.chunks_mut(SPAN * 2)) {
        let window = first - 1..first + out.len() / 2 + 1;
        let mut sums = [0; SPAN + 2];
        for ((sum, &near), &far) in sums.iter_mut().zip(&near[window.clone()]).zip(&far[window]) {
            *sum = column(near, far);
        }
        let (out, _) = out.as_chunks_mut::<2>();
        for (((out, &left), &here), &right) in out.iter_mut().zip(&sums[..SPAN]).zip(&sums[1..]).zip(&sums[2..]) {
            *out = pair((here * 3 + left + 8) >> 4, (here * 3 + right + 7) >> 4);
        }
    }
}

/// A sample between two rows, times four.
#[inline]
fn column(near: u8, far: u8) -> u16 {
    u16::from(near) * 3 + u16::from(far)
}

/// The sample on the side on which the pixel lies within its own; its own at an end of the row.
#[inline]
fn beside(pixel: usize, samples: usize) -> usize {
    let sample = pixel / 2;
    if pixel.is_multiple_of(2) { sample.saturating_sub(1) } else { (sample + 1).min(samples - 1) }
}

#[inline]
fn odd(pixel: usize) -> u16 {
    u16::from(pixel % 2 == 1)
}

#[inline]
fn byte(value: u16) -> u8 {
    #[expect(clippy::cast_possible_truncation, reason = "a mean of samples is one")]
    let byte = value as u8;
    byte
}

/// Two bytes, as the compiler lays them side by side without packing them.
#[inline]
fn pair(even: u16, odd: u16) -> [u8; 2] {
    (even | (odd << 8)).to_le_bytes()
}
