//! A random part of the picture, resized.

use serde::Deserialize;

use super::shape::{Shape, Size};
use crate::draw::Draws;
use crate::interpolation::Interpolation;
use crate::number::range_problem;
use crate::plan::{Plan, Rect};

/// Tries of a random part before the middle is taken, as torchvision.
const TRIES: u64 = 10;

/// A random part with a random aspect ratio, resized: torchvision's `RandomResizedCrop`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomResizedCrop {
    /// Output size; one number means a square.
    pub size: Size,
    /// Smallest and largest part of the picture's area.
    #[serde(default = "default_scale")]
    pub scale: [f64; 2],
    /// Smallest and largest width / height of the part.
    #[serde(default = "default_ratio")]
    pub ratio: [f64; 2],
    /// Filter of the resize.
    #[serde(default)]
    pub interpolation: Interpolation,
}

impl RandomResizedCrop {
    /// A random part with the default values, resized to this size.
    pub(super) fn to(size: Size) -> Self {
        let (scale, ratio) = (default_scale(), default_ratio());
        Self { size, scale, ratio, interpolation: Interpolation::default() }
    }

    pub(super) fn problem(&self) -> Option<String> {
        self.size
            .problem()
            .or_else(|| range_problem("scale", self.scale))
            .or_else(|| range_problem("ratio", self.ratio))
    }

    pub(super) fn shape(&self, _before: Shape) -> Shape {
        Shape::of(self.size)
    }

    pub(super) fn plan(&self, plan: &mut Plan, draws: Draws) {
        plan.cut(self.part(plan.width, plan.height, draws));
        let (height, width) = self.size.square();
        plan.resize(width, height, self.interpolation);
    }

    /// The random part: up to ten tries, then the largest middle part whose ratio is allowed.
    #[expect(clippy::cast_precision_loss, reason = "areas below 2^53 fit a double")]
    fn part(&self, width: u32, height: u32, draws: Draws) -> Rect {
        let area = (u64::from(width) * u64::from(height)) as f64;
        let log_ratio = self.ratio.map(libm::log);
        for number in (0..TRIES * 4).step_by(4) {
            let part_area = area * draws.between(number, self.scale[0], self.scale[1]);
            let ratio = libm::exp(draws.between(number + 1, log_ratio[0], log_ratio[1]));
            let part_width = whole(libm::sqrt(part_area * ratio));
            let part_height = whole(libm::sqrt(part_area / ratio));
            if (1..=width).contains(&part_width) && (1..=height).contains(&part_height) {
                return Rect {
                    left: draws.below(number + 3, width - part_width + 1),
                    top: draws.below(number + 2, height - part_height + 1),
                    width: part_width,
                    height: part_height,
                };
            }
        }
        self.middle(width, height)
    }

    fn middle(&self, width: u32, height: u32) -> Rect {
        let (wide, high) = (f64::from(width), f64::from(height));
        let (part_width, part_height) = if wide / high < self.ratio[0] {
            (width, whole(wide / self.ratio[0]).clamp(1, height))
        } else if wide / high > self.ratio[1] {
            (whole(high * self.ratio[1]).clamp(1, width), height)
        } else {
            (width, height)
        };
        Rect { left: (width - part_width) / 2, top: (height - part_height) / 2, width: part_width, height: part_height }
    }
}

fn default_scale() -> [f64; 2] {
    [0.08, 1.0]
}

fn default_ratio() -> [f64; 2] {
    [3.0 / 4.0, 4.0 / 3.0]
}

/// Rounded to the nearest whole number, halves to even; out of range numbers give the range's ends.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "such casts saturate, which is meant")]
fn whole(value: f64) -> u32 {
    libm::rint(value) as u32
}
