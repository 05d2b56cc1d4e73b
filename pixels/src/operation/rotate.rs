//! Rotated about a point.

use std::io::{Cursor, Write};

use serde::Deserialize;

use super::Operation;
use super::affine::{black, nearest};
use super::color_jitter::Jitter;
use super::warp::{Affine2D, Fill, Warp, interpolation_problem};
use super::workpiece::Workpiece;
use crate::draw::Draws;
use crate::interpolation::Interpolation;
use crate::matching::Match;

/// torchvision's `rotate`, without `expand`: the picture keeps its size.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rotate {
    /// Degrees, counterclockwise.
    pub angle: f64,
    /// Filter, without antialiasing.
    #[serde(default = "nearest")]
    pub interpolation: Interpolation,
    /// The point that everything turns about, in pixels from the upper left corner. Without it, the middle.
    #[serde(default)]
    pub center: Option<[f64; 2]>,
    /// What comes from outside of the picture. Without it, black.
    #[serde(default)]
    pub fill: Option<Fill>,
}

/// torchvision's `RandomRotation`, without `expand`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomRotation {
    /// How far the picture is turned at most, in degrees, or from where to where.
    pub degrees: Jitter,
    /// Filter, without antialiasing.
    #[serde(default = "nearest")]
    pub interpolation: Interpolation,
    /// The point that everything turns about, in pixels from the upper left corner. Without it, the middle.
    #[serde(default)]
    pub center: Option<[f64; 2]>,
    /// What comes from outside of the picture.
    #[serde(default = "black")]
    pub fill: Fill,
}

impl RandomRotation {
    pub(crate) fn problem(&self) -> Option<String> {
        let [low, high] = self.degrees.ends(0.0);
        if low > high {
            return Some(format!("degrees are from {low} to {high}, but the smaller one must be first"));
        }
        self.drawn(low).problem().or_else(|| self.drawn(high).problem())
    }

    pub(crate) fn draw(&self, draws: Draws, _size: (u32, u32), give: &mut dyn FnMut(Operation)) {
        let [low, high] = self.degrees.ends(0.0);
        give(Operation::Rotate(self.drawn(draws.between(0, low, high))));
    }

    fn drawn(&self, angle: f64) -> Rotate {
        let Self { interpolation, center, fill, .. } = *self;
        Rotate { angle, interpolation, center, fill: Some(fill) }
    }
}

impl Rotate {
    pub(super) const IS_LOCAL: bool = false;

    pub(super) fn problem(self) -> Option<String> {
        let numbers = [self.angle].into_iter().chain(self.center.unwrap_or_default());
        if !numbers.into_iter().all(|number| (-1e6..=1e6).contains(&number)) {
            return Some("angle and center must be numbers from -1000000 to 1000000".to_owned());
        }
        interpolation_problem(self.interpolation).or_else(|| self.fill.and_then(Fill::problem))
    }

    pub(super) fn carry_out(self, work: &mut Workpiece<'_>) {
        let (width, height) = work.size();
        #[expect(clippy::cast_precision_loss, reason = "sides are below 2^53")]
        let center = self.center.unwrap_or([width as f64 / 2.0, height as f64 / 2.0]);
        let Self { interpolation, fill, .. } = self;
        let from = self.from(center, work.matched);
        work.warp(&Warp { from, interpolation, fill });
    }

    /// Pillow rounds sine and cosine, so that right angles are exact.
    fn from(&self, [center_x, center_y]: [f64; 2], matched: Match) -> Affine2D {
        let angle = -self.angle.rem_euclid(360.0).to_radians();
        let (sine, cosine) = libm::sincos(angle);
        let (sine, cosine) = match matched {
            Match::Pillow => (rounded(sine), rounded(cosine)),
            Match::Torch => (sine, cosine),
        };
        Affine2D {
            column: [cosine, sine, cosine * -center_x + sine * -center_y + center_x],
            row: [-sine, cosine, -sine * -center_x + cosine * -center_y + center_y],
        }
    }
}

/// To 15 places after the point, as Python's `round` does it: by the decimal digits.
fn rounded(number: f64) -> f64 {
    let mut digits = Cursor::new([0; 32]);
    write!(digits, "{number:.15}").expect("a digit, the point and 15 digits have room");
    let len = usize::try_from(digits.position()).expect("it is below 32");
    let text = std::str::from_utf8(&digits.get_ref()[..len]).expect("digits are ASCII");
    text.parse().expect("these are the digits of a number")
}
