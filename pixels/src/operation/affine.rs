//! Rotated, sheared, scaled and moved at once.

use serde::{Deserialize, Serialize};

use super::Operation;
use super::color_jitter::Jitter;
use super::warp::{Affine2D, Fill, Mapping, Warp, interpolation_problem};
use super::workpiece::Workpiece;
use crate::draw::Draws;
use crate::interpolation::Interpolation;

/// torchvision's `affine`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Affine {
    /// Degrees, clockwise.
    pub angle: f64,
    /// Pixels to the right and down.
    pub translate: [f64; 2],
    /// Above 0.
    pub scale: f64,
    /// Degrees along the rows and down the columns.
    pub shear: [f64; 2],
    /// Filter, without antialiasing.
    #[serde(default = "nearest")]
    pub interpolation: Interpolation,
    /// What comes from outside of the picture. Without it, black.
    #[serde(default)]
    pub fill: Option<Fill>,
    /// The point that everything turns about, in pixels from the upper left corner. Without it, the middle.
    #[serde(default)]
    pub center: Option<[f64; 2]>,
}

/// torchvision's `RandomAffine`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomAffine {
    /// How far the picture is turned at most, in degrees, or from where to where.
    pub degrees: Jitter,
    /// How far it is moved at most, in parts of its width and height.
    #[serde(default)]
    pub translate: Option<[f64; 2]>,
    /// Least and greatest scale. Without it, 1.
    #[serde(default)]
    pub scale: Option<[f64; 2]>,
    /// Degrees of the shear along the rows: at most, or from where to where. Four numbers are for the columns too.
    #[serde(default)]
    pub shear: Option<ShearRange>,
    /// Filter, without antialiasing.
    #[serde(default = "nearest")]
    pub interpolation: Interpolation,
    /// What comes from outside of the picture.
    #[serde(default = "black")]
    pub fill: Fill,
    /// The point that everything turns about, in pixels from the upper left corner. Without it, the middle.
    #[serde(default)]
    pub center: Option<[f64; 2]>,
}

/// From where to where the degrees of a shear are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(untagged, expecting = "shear must be one number, two or four")]
pub enum ShearRange {
    /// At most, in either direction.
    By(f64),
    /// Along the rows.
    Rows([f64; 2]),
    /// Along the rows, and down the columns.
    Both([f64; 4]),
}

impl ShearRange {
    fn ends(self) -> [[f64; 2]; 2] {
        match self {
            Self::By(by) => [[-by, by], [0.0; 2]],
            Self::Rows(rows) => [rows, [0.0; 2]],
            Self::Both([first, last, top, below]) => [[first, last], [top, below]],
        }
    }
}

impl RandomAffine {
    pub(crate) fn problem(&self) -> Option<String> {
        let shears = self.shear.map_or([[0.0; 2]; 2], ShearRange::ends);
        let ordered = |[low, high]: [f64; 2]| -1e6 <= low && low <= high && high <= 1e6;
        if !ordered(self.degrees.ends(0.0)) || !shears.into_iter().all(ordered) {
            return Some("degrees and shear must be numbers up to 1000000, the smaller one first".to_owned());
        }
        if !self.translate.unwrap_or_default().into_iter().all(|part| (0.0..=1.0).contains(&part)) {
            return Some("translate must be two numbers from 0 to 1".to_owned());
        }
        if let Some([low, high]) = self.scale
            && !(1e-6 <= low && low <= high && high <= 1e6)
        {
            return Some("scale must be two numbers above 0, the smaller one first".to_owned());
        }
        self.drawn([0.0; 2], 0.0, 1.0, [0.0; 2]).problem()
    }

    pub(crate) fn draw(&self, draws: Draws, (width, height): (u32, u32), give: &mut dyn FnMut(Operation)) {
        let between = |number: u64, [low, high]: [f64; 2]| draws.between(number, low, high);
        let translate = self.translate.unwrap_or_default();
        let moved = |number: u64, part: f64, side: u32| {
            let most = part * f64::from(side);
            libm::rint(between(number, [-most, most]))
        };
        let shears = self.shear.map_or([[0.0; 2]; 2], ShearRange::ends);
        give(Operation::Affine(self.drawn(
            [moved(1, translate[0], width), moved(2, translate[1], height)],
            between(0, self.degrees.ends(0.0)),
            self.scale.map_or(1.0, |scale| between(3, scale)),
            [between(4, shears[0]), between(5, shears[1])],
        )));
    }

    fn drawn(&self, translate: [f64; 2], angle: f64, scale: f64, shear: [f64; 2]) -> Affine {
        let Self { interpolation, fill, center, .. } = *self;
        Affine { angle, translate, scale, shear, interpolation, fill: Some(fill), center }
    }
}

impl Affine {
    pub(super) const IS_LOCAL: bool = false;

    pub(super) fn problem(self) -> Option<String> {
        let Self { angle, translate, scale, shear, center, .. } = self;
        let numbers = [angle, translate[0], translate[1], shear[0], shear[1]];
        if !numbers.into_iter().chain(center.unwrap_or_default()).all(|number| (-1e6..=1e6).contains(&number)) {
            return Some("angle, translate, shear and center must be numbers from -1000000 to 1000000".to_owned());
        }
        if !(1e-6..=1e6).contains(&scale) {
            return Some(format!("scale is {scale}, but must be above 0"));
        }
        interpolation_problem(self.interpolation).or_else(|| self.fill.and_then(Fill::problem))
    }

    pub(super) fn carry_out(self, work: &mut Workpiece<'_>) {
        work.warp(&self.warp(work.size()));
    }

    /// What it does with a picture of this width and height.
    pub(super) fn warp(&self, size: (usize, usize)) -> Warp {
        let Self { interpolation, fill, .. } = *self;
        Warp { from: self.mapping(size), interpolation, fill }
    }

    /// Where the pixels of the result come from, in a picture of this width and height.
    #[expect(clippy::cast_precision_loss, reason = "sides are below 2^53")]
    pub(super) fn mapping(&self, (width, height): (usize, usize)) -> Mapping {
        Mapping::Affine(self.from(self.center.unwrap_or([width as f64 * 0.5, height as f64 * 0.5])))
    }

    /// The inverse of shear, scale and rotation about the center, and the move, operation for operation as torchvision
    /// calculates it.
    fn from(&self, [center_x, center_y]: [f64; 2]) -> Affine2D {
        let rotation = self.angle.to_radians();
        let [shear_x, shear_y] = self.shear.map(f64::to_radians);
        let (moved_x, moved_y) = (center_x + self.translate[0], center_y + self.translate[1]);
        let (cosine_y, tangent_x) = (libm::cos(shear_y), libm::tan(shear_x));
        let a = libm::cos(rotation - shear_y) / cosine_y;
        let b = -(a * tangent_x + libm::sin(rotation));
        let c = libm::sin(rotation - shear_y) / cosine_y;
        let d = libm::cos(rotation) - c * tangent_x;
        let [a, b, c, d] = [d, -b, -c, a].map(|number| number / self.scale);
        Affine2D {
            column: [a, b, center_x - a * moved_x - b * moved_y],
            row: [c, d, center_y - c * moved_x - d * moved_y],
        }
    }
}

pub(crate) fn black() -> Fill {
    Fill::Gray(0.0)
}

pub(crate) fn nearest() -> Interpolation {
    Interpolation::Nearest
}
