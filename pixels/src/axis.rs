//! The geometry of a resize, one axis at a time: which source pixels an output pixel depends on, and how much on each.
//!
//! It is Pillow's (`Resample.c`, and `ImagingScaleAffine` for nearest), operation for operation in double precision, so
//! that the same weights come out. Any part of the output can be asked for; its weights are those of the whole.

use std::f64::consts::PI;
use std::ops::Range;

use crate::interpolation::Interpolation;

/// Which part of a row (or column) of pixels becomes how many pixels, and by which filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Axis {
    /// Where the part begins, from 0.
    pub(crate) start: f64,
    /// Where it ends.
    pub(crate) end: f64,
    /// Source pixels that the filter may read: 0 to this.
    pub(crate) limit: u32,
    /// Output pixels.
    pub(crate) len: u32,
    /// Filter.
    pub(crate) interpolation: Interpolation,
}

impl Axis {
    /// Whether the pass along this axis, down the columns, comes before the pass along `columns`. By Pillow's rule since its
    /// release 13, it does if it removes many more rows than the other removes columns.
    pub(crate) fn goes_first(&self, columns: &Self) -> bool {
        let fewer = |axis: &Self| i64::from(axis.limit) - i64::from(axis.len);
        fewer(self) > 2 * fewer(columns).max(0)
    }

    /// Source pixels that the output pixels of `window`, which is not empty, depend on.
    pub(crate) fn reach(&self, window: &Range<u32>) -> Range<u32> {
        let (first, last) = (window.start, window.end - 1);
        if self.interpolation == Interpolation::Nearest {
            let mut at = self.nearest().skip(first as usize);
            let begin = at.next().unwrap_or(0);
            return begin..at.take((last - first) as usize).last().unwrap_or(begin) + 1;
        }
        self.span(first).start..self.span(last).end
    }

    /// The source pixel of each output pixel, for the nearest filter. Pillow adds up the step, and so do we.
    pub(crate) fn nearest(&self) -> impl Iterator<Item = u32> + use<> {
        let (step, last) = (self.step(), self.limit - 1);
        let middle = self.start + step * 0.5;
        std::iter::successors(Some(middle), move |at| Some(at + step)).map(move |at| floor(at).min(last))
    }

    /// Source pixels that output pixel `at` depends on; never none.
    pub(crate) fn span(&self, at: u32) -> Range<u32> {
        let (center, support) = (self.center(at), self.support());
        let start = floor(center - support + 0.5).min(self.limit - 1);
        start..floor(center + support + 0.5).clamp(start + 1, self.limit)
    }

    /// The most source pixels that an output pixel depends on; some may depend on fewer.
    pub(crate) fn longest(&self) -> u32 {
        (floor(2.0 * self.support()).saturating_add(2)).min(self.limit)
    }

    /// Weights of the pixels of [`Axis::span`], which add up to 1.
    pub(crate) fn weights(&self, at: u32, weights: &mut Vec<f64>) {
        let center = self.center(at);
        let shrink = 1.0 / self.widening();
        let weight = |x: u32| self.interpolation.weight((f64::from(x) - center + 0.5) * shrink);
        weights.clear();
        weights.extend(self.span(at).map(weight));
        let sum: f64 = weights.iter().sum();
        if sum != 0.0 {
            for weight in weights {
                *weight /= sum;
            }
        }
    }

    fn step(&self) -> f64 {
        (self.end - self.start) / f64::from(self.len)
    }

    fn center(&self, at: u32) -> f64 {
        self.start + (f64::from(at) + 0.5) * self.step()
    }

    /// How much wider than in a picture that grows the filter is: antialiasing.
    fn widening(&self) -> f64 {
        self.step().max(1.0)
    }

    fn support(&self) -> f64 {
        self.interpolation.support() * self.widening()
    }
}

impl Interpolation {
    /// Pixels to either side of its middle that a filter looks at.
    fn support(self) -> f64 {
        match self {
            Self::Nearest => 0.5,
            Self::Bilinear => 1.0,
            Self::Bicubic => 2.0,
            Self::Lanczos3 => 3.0,
        }
    }

    /// Weight at a distance from the filter's middle.
    fn weight(self, x: f64) -> f64 {
        let distance = x.abs();
        match self {
            Self::Nearest => 1.0,
            Self::Bilinear => (1.0 - distance).max(0.0),
            Self::Bicubic => cubic(distance),
            Self::Lanczos3 if (-3.0..3.0).contains(&x) => sinc(x) * sinc(x / 3.0),
            Self::Lanczos3 => 0.0,
        }
    }
}

fn cubic(x: f64) -> f64 {
    const A: f64 = -0.5;
    if x < 1.0 {
        ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0
    } else if x < 2.0 {
        (((x - 5.0) * x + 8.0) * x - 4.0) * A
    } else {
        0.0
    }
}

/// By the portable sine of `libm`, the same on every machine.
fn sinc(x: f64) -> f64 {
    if x == 0.0 {
        return 1.0;
    }
    let x = x * PI;
    libm::sin(x) / x
}

/// Rounded down; below 0 is 0.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "such casts saturate, which is meant")]
fn floor(value: f64) -> u32 {
    value as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(limit: u32, len: u32, interpolation: Interpolation) -> Axis {
        Axis { start: 0.0, end: f64::from(limit), limit, len, interpolation }
    }

    #[test]
    fn weights_of_every_filter_add_up_to_one_and_stay_inside() {
        for interpolation in [Interpolation::Bilinear, Interpolation::Bicubic, Interpolation::Lanczos3] {
            for (limit, len) in [(1, 1), (1, 7), (500, 224), (224, 500), (3, 2), (65_000, 1)] {
                let axis = axis(limit, len, interpolation);
                let mut weights = Vec::new();
                for at in 0..len {
                    let span = axis.span(at);
                    axis.weights(at, &mut weights);
                    assert!(span.end <= limit && weights.len() == span.len() && !span.is_empty());
                    assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
                }
                assert_eq!(axis.reach(&(0..len)), 0..limit, "all of the source counts");
            }
        }
    }

    #[test]
    fn a_middle_window_reaches_its_pixels_and_the_filters_margin() {
        let axis = axis(500, 250, Interpolation::Bilinear);
        assert_eq!(axis.reach(&(10..20)), 19..41);
        let nearest = Axis { interpolation: Interpolation::Nearest, ..axis };
        assert_eq!(nearest.reach(&(10..20)), 21..40);
    }
}
