//! Blurred, or sharper: between the picture and its smoothed form, or beyond.

use serde::{Deserialize, Serialize};

use super::blend::{byte, factor_problem, float, pillow};
use super::by_chance::by_chance;
use super::workpiece::Workpiece;
use crate::matching::Match;
use crate::vector::{self, VectorLoop};

/// torchvision's `adjust_sharpness`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Sharpness {
    /// 0 gives the smoothed picture, 1 leaves everything as it is, 2 sharpens.
    pub sharpness_factor: f64,
}

by_chance! {
    /// torchvision's `RandomAdjustSharpness`.
    RandomAdjustSharpness of Sharpness {
        /// As in [`Sharpness`].
        sharpness_factor: f64,
    }
}

impl Sharpness {
    pub(super) const IS_LOCAL: bool = false;

    pub(super) fn problem(self) -> Option<String> {
        factor_problem("sharpness_factor", self.sharpness_factor)
    }

    /// Pillow's share of the own value, or torch's of the smoothed one.
    #[expect(clippy::cast_possible_truncation, reason = "factors have single precision")]
    pub(super) fn share(self, matched: Match) -> f32 {
        match matched {
            Match::Pillow => self.sharpness_factor as f32,
            Match::Torch => (1.0 - self.sharpness_factor) as f32,
        }
    }

    pub(super) fn carry_out(self, work: &mut Workpiece<'_>) {
        let (share, matched) = (self.share(work.matched), work.matched);
        work.remake(|from, to, width| match matched {
            Match::Pillow => vector::run(Sharpening { from, to, width, blend: PillowBlend(share) }),
            Match::Torch => vector::run(Sharpening { from, to, width, blend: TorchBlend(share) }),
        });
    }
}

/// A value between the smoothed picture's and its own, or beyond. The method must be inlined.
trait Blend: Copy {
    fn blended(self, own: i32, smoothed: i32) -> i32;
}

#[derive(Clone, Copy)]
struct PillowBlend(f32);

#[derive(Clone, Copy)]
struct TorchBlend(f32);

impl Blend for PillowBlend {
    #[inline(always)]
    fn blended(self, own: i32, smoothed: i32) -> i32 {
        pillow(smoothed, own, self.0)
    }
}

impl Blend for TorchBlend {
    #[inline(always)]
    fn blended(self, own: i32, smoothed: i32) -> i32 {
        byte(float(own) + self.0 * (float(smoothed) - float(own)))
    }
}

/// All values inside; those of the outermost pixels stay. Smoothed is the mean of the 3 x 3 pixels around, in which the middle
/// one counts 5 times: Pillow's `SMOOTH`.
struct Sharpening<'a, B> {
    from: &'a [u8],
    to: &'a mut [u8],
    width: usize,
    blend: B,
}

impl<B: Blend> VectorLoop for Sharpening<'_, B> {
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 255")]
    fn run(self) {
        let Self { from, to, width, blend } = self;
        to.copy_from_slice(from);
        let stride = width * 3;
        if width < 3 || from.len() < 3 * stride {
            return;
        }
        let inside = stride - 6;
        for row in 1..from.len() / stride - 1 {
            // As long as all that is inside, from the first, second or third pixel of a row on.
            let line = |row: usize, pixel: usize| &from[row * stride + pixel * 3..][..inside];
            let above = [line(row - 1, 0), line(row - 1, 1), line(row - 1, 2)];
            let own = [line(row, 0), line(row, 1), line(row, 2)];
            let below = [line(row + 1, 0), line(row + 1, 1), line(row + 1, 2)];
            let to = &mut to[row * stride + 3..][..inside];
            for at in 0..inside {
                let three = |line: [&[u8]; 3]| u16::from(line[0][at]) + u16::from(line[1][at]) + u16::from(line[2][at]);
                let sum = three(above) + three(own) + three(below) + u16::from(own[1][at]) * 4;
                // Rounded. There are no halves, so that Pillow's sum of floats gives the same.
                let smoothed = (sum * 2 + 13) / 26;
                to[at] = blend.blended(own[1][at].into(), smoothed.into()) as u8;
            }
        }
    }
}
