//! Weights as the passes take them: whole numbers, in pairs, the same number of pairs for every output pixel.

use std::ops::Range;

use crate::axis::Axis;
use crate::composition::fixed;

pub(super) use crate::composition::WEIGHT_BITS as BITS;

/// A weight is `upper << HALF | lower`, so that either half fits the multiplication of 16 bits by 8.
pub(super) const HALF: u32 = 11;

/// Half of the last place, for rounding.
pub(super) const ROUND: i32 = 1 << (BITS - 1);

/// Pairs of weights that belong to one load of pixels in the first pass.
const LOAD: usize = 2;

/// The upper halves of two weights, and their lower halves.
pub(super) type Pair = [i16; 4];

/// The weights of one axis.
#[derive(Debug, Default)]
pub(super) struct Taps {
    /// Per output pixel the first source pixel.
    pub(super) first: Vec<u32>,
    /// Per output pixel its pairs, the last ones 0.
    pub(super) pairs: Vec<Pair>,
    /// Pairs of an output pixel; an even number.
    pub(super) per_pixel: usize,
    weights: Vec<f64>,
}

impl Taps {
    /// Computes the weights of a window of the axis, which counts source pixels from the start of its `reach`. All pairs of
    /// an output pixel fall on pixels of the reach, unless that has fewer.
    pub(super) fn weigh(&mut self, axis: &Axis, window: &Range<u32>, reach: &Range<u32>, mirrored: bool) {
        let longest = window.clone().map(|at| axis.span(at).len()).max().unwrap_or(1);
        self.per_pixel = longest.div_ceil(2).next_multiple_of(LOAD);
        let taps = u32::try_from(self.per_pixel * 2).unwrap_or(u32::MAX);
        let last_start = (reach.end - reach.start).saturating_sub(taps);
        self.first.clear();
        self.pairs.clear();
        self.pairs.resize(window.len() * self.per_pixel, Pair::default());
        for (index, pairs) in self.pairs.chunks_exact_mut(self.per_pixel).enumerate() {
            let offset = u32::try_from(index).expect("a window's pixels are counted in 32 bits");
            let at = if mirrored { window.end - 1 - offset } else { window.start + offset };
            axis.weights(at, &mut self.weights);
            let start = axis.span(at).start - reach.start;
            let first = start.min(last_start);
            self.first.push(first);
            for (index, weight) in (start - first..).zip(&self.weights) {
                let (upper, lower) = halves(*weight);
                let index = index as usize;
                let pair = &mut pairs[index / 2];
                pair[index % 2] = upper;
                pair[2 + index % 2] = lower;
            }
        }
    }

    /// The pairs of one output pixel.
    pub(super) fn of(&self, at: usize) -> &[Pair] {
        &self.pairs[at * self.per_pixel..][..self.per_pixel]
    }

    /// Bytes in use.
    pub(super) fn len(&self) -> usize {
        self.pairs.capacity() * size_of::<Pair>() + self.first.capacity() * size_of::<u32>()
    }
}

/// A weight in units of its last place, in two halves.
#[expect(clippy::cast_possible_truncation, reason = "weights are a few units at most, so that both halves fit")]
fn halves(weight: f64) -> (i16, i16) {
    let whole = fixed(weight);
    ((whole >> HALF) as i16, (whole & ((1 << HALF) - 1)) as i16)
}
