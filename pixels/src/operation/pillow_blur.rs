//! Blurred as Pillow does it: three box blurs along the rows and three down the columns.

use serde::{Deserialize, Serialize};

use super::Operation;
use super::gaussian_blur::OneOrTwo;
use super::workpiece::Workpiece;
use crate::draw::Draws;
use crate::number::probability_problem;
use crate::rounds::BoxShape;

/// Largest radius.
const MOST: f64 = 1000.0;
const PASSES: usize = 3;
/// Values that are summed beside each other.
const LANES: usize = 48;

/// Pillow's `ImageFilter.GaussianBlur`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PillowBlur {
    /// Standard deviation in pixels, or those along the rows and down the columns.
    pub radius: OneOrTwo<f64>,
}

/// Pillow's `ImageFilter.GaussianBlur` with a radius by chance, as timm and `DINOv2` use it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PillowGaussianBlur {
    /// Least and greatest radius, or the only one.
    #[serde(default = "default_radius")]
    pub radius: OneOrTwo<f64>,
    /// Probability from 0 to 1.
    #[serde(default = "always")]
    pub p: f64,
}

/// A box with fractions at both ends.
#[derive(Clone, Copy)]
struct BoxBlur {
    /// Whole values on either side of the middle one.
    radius: usize,
    /// Weights of a whole value, and of those at the ends, with 24 bits after the point.
    whole: u32,
    end: u32,
}

/// A line of groups of values beside each other.
#[derive(Clone, Copy)]
struct BlurLine {
    first: usize,
    /// How many groups, and how far apart they are.
    len: usize,
    stride: usize,
    /// Values of a group.
    lanes: usize,
}

impl PillowBlur {
    pub(super) const IS_LOCAL: bool = false;

    pub(super) fn problem(self) -> Option<String> {
        let radius = self.radius.both();
        let good = radius.iter().all(|radius| (0.0..=MOST).contains(radius));
        (!good).then(|| format!("radius is {radius:?}, but must be from 0 to {MOST}"))
    }

    /// The box blurs that it consists of, one after the other.
    pub(super) fn boxes(self) -> impl Iterator<Item = BoxShape> {
        let sides = self.radius.both().map(BoxBlur::of_gaussian);
        let shape = |(side, down): (Option<BoxBlur>, bool)| {
            side.map(|BoxBlur { radius, whole, end }| {
                let reach = u32::try_from(radius + 1).expect("radii are bounded");
                BoxShape { down, reach, whole, end }
            })
        };
        let boxes = sides.into_iter().zip([false, true]).filter_map(shape);
        boxes.flat_map(|shape| std::iter::repeat_n(shape, PASSES))
    }

    pub(super) fn carry_out(self, work: &mut Workpiece<'_>) {
        let [along, down] = self.radius.both().map(BoxBlur::of_gaussian);
        let (width, height) = work.size();
        for _ in 0..PASSES {
            let Some(along) = along else { break };
            work.remake(|from, to, width| {
                let lines = (0..height).map(|row| BlurLine { first: row * width * 3, len: width, stride: 3, lanes: 3 });
                lines.for_each(|line| along.carry_out(from, to, line));
            });
        }
        for _ in 0..PASSES {
            let Some(down) = down else { break };
            work.remake(|from, to, width| {
                let stride = width * 3;
                let lines = (0..stride).step_by(LANES).map(|first| {
                    let lanes = LANES.min(stride - first);
                    BlurLine { first, len: height, stride, lanes }
                });
                lines.for_each(|line| down.carry_out(from, to, line));
            });
        }
        debug_assert_eq!(work.size(), (width, height), "a blur keeps the size");
    }
}

impl PillowGaussianBlur {
    pub(crate) fn problem(&self) -> Option<String> {
        probability_problem(self.p).or_else(|| range_problem(self.radius))
    }

    pub(crate) fn draw(&self, draws: Draws, _size: (u32, u32), give: &mut dyn FnMut(Operation)) {
        if draws.unit(0) < self.p {
            give(blurred(self.radius, draws, 1));
        }
    }
}

/// What is wrong with the least and the greatest radius.
pub(super) fn range_problem(radius: OneOrTwo<f64>) -> Option<String> {
    let [least, greatest] = radius.both();
    PillowBlur { radius }.problem().or_else(|| {
        (least > greatest).then(|| format!("radius is [{least}, {greatest}], but the smaller one must be first"))
    })
}

/// A blur by a radius between two.
pub(super) fn blurred(radius: OneOrTwo<f64>, draws: Draws, number: u64) -> Operation {
    let [least, greatest] = radius.both();
    Operation::PillowBlur(PillowBlur { radius: OneOrTwo::One(draws.between(number, least, greatest)) })
}

impl BoxBlur {
    /// The box that is a Gaussian kernel of this standard deviation when it is applied three times, in single precision as Pillow
    /// calculates it. None if it changes nothing.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as Pillow calculates")]
    #[expect(clippy::cast_precision_loss, reason = "a radius below 2^24")]
    fn of_gaussian(deviation: f64) -> Option<Self> {
        let deviation = deviation as f32;
        let variance = deviation * deviation / PASSES as f32;
        let length = libm::sqrt(12.0 * f64::from(variance) + 1.0) as f32;
        let whole = libm::floor((f64::from(length) - 1.0) / 2.0) as f32;
        let part = (2.0 * whole + 1.0) * (whole * (whole + 1.0) - 3.0 * variance)
            / (6.0 * (variance - (whole + 1.0) * (whole + 1.0)));
        let radius = whole + part;
        if radius == 0.0 {
            return None;
        }
        let weight = ((1 << 24) as f32 / (radius * 2.0 + 1.0)) as u32;
        let radius = radius as u32;
        let end = ((1 << 24) - (radius * 2 + 1) * weight) / 2;
        Some(Self { radius: radius as usize, whole: weight, end })
    }

    /// Blurs along a line. Beyond its ends are its outermost values.
    fn carry_out(self, from: &[u8], to: &mut [u8], BlurLine { first, len, stride, lanes }: BlurLine) {
        let Self { radius, whole, end } = self;
        // Places are counted from `radius` and one more before the line, so that none is below 0.
        let group = |place: usize| {
            let place = place.saturating_sub(radius + 1).min(len - 1);
            &from[first + place * stride..][..lanes]
        };
        let mut sums = [0_u32; LANES];
        let sums = &mut sums[..lanes];
        for place in 1..=2 * radius + 1 {
            sums.iter_mut().zip(group(place)).for_each(|(sum, value)| *sum += u32::from(*value));
        }
        for place in 0..len {
            let (before, leaving, after) = (group(place), group(place + 1), group(place + 2 * radius + 2));
            let to = &mut to[first + place * stride..][..lanes];
            for (lane, to) in to.iter_mut().enumerate() {
                let ends = u32::from(before[lane]) + u32::from(after[lane]);
                *to = ((sums[lane] * whole + ends * end + (1 << 23)) >> 24).to_le_bytes()[0];
                sums[lane] = sums[lane] + u32::from(after[lane]) - u32::from(leaving[lane]);
            }
        }
    }
}

pub(super) fn default_radius() -> OneOrTwo<f64> {
    OneOrTwo::Two([0.1, 2.0])
}

fn always() -> f64 {
    1.0
}
