//! Rotated about a point.

use std::io::{Cursor, Write};

use serde::{Deserialize, Serialize};

use super::affine::nearest;
use super::geometry::Geometry;
use super::warp::{Affine2D, Fill, Mapping, Warp, interpolation_problem};
use super::workpiece::Workpiece;
use crate::interpolation::Interpolation;
use crate::matching::Match;

/// torchvision's `rotate`. As an operation it keeps the picture's size. A plan has a step of its own for a rotation that does not.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
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

impl Rotate {
    pub(super) const IS_LOCAL: bool = false;

    pub(crate) fn problem(self) -> Option<String> {
        let numbers = [self.angle].into_iter().chain(self.center.unwrap_or_default());
        if !numbers.into_iter().all(|number| (-1e6..=1e6).contains(&number)) {
            return Some("angle and center must be numbers from -1000000 to 1000000".to_owned());
        }
        interpolation_problem(self.interpolation).or_else(|| self.fill.and_then(Fill::problem))
    }

    pub(super) fn carry_out(self, work: &mut Workpiece<'_>) {
        work.warp(&self.warp(work.size(), work.matched));
    }

    /// What it does with a picture of this width and height.
    pub(super) fn warp(&self, size: (usize, usize), matched: Match) -> Warp {
        let Self { interpolation, fill, .. } = *self;
        Warp { from: self.mapping(size, matched), interpolation, fill }
    }

    /// Where the pixels of a result come from that has the picture's width and height, which are these.
    pub(super) fn mapping(&self, size: (usize, usize), matched: Match) -> Mapping {
        Mapping::Affine(self.from(self.center_in(size), matched))
    }

    #[expect(clippy::cast_precision_loss, reason = "sides are below 2^53")]
    fn center_in(&self, (width, height): (usize, usize)) -> [f64; 2] {
        self.center.unwrap_or([width as f64 / 2.0, height as f64 / 2.0])
    }

    /// Width and height of a result that shows all of a picture of this size, as Pillow has them. A quarter turn about the middle
    /// exchanges them: the corners, which are between pixels then, are not rounded.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "such casts saturate, which is meant")]
    pub(crate) fn expanded(self, width: u32, height: u32) -> (u32, u32) {
        if self.center.is_none() && self.angle.rem_euclid(180.0).total_cmp(&90.0).is_eq() {
            return (height, width);
        }
        let from = self.from(self.center_in((width as usize, height as usize)), Match::Pillow);
        let (wide, high) = (f64::from(width), f64::from(height));
        let corners = [(0.0, 0.0), (wide, 0.0), (wide, high), (0.0, high)].map(|(x, y)| from.at(x, y));
        let side = |ends: [f64; 4]| {
            let ceiling = ends.into_iter().map(libm::ceil).fold(f64::NEG_INFINITY, f64::max);
            let floor = ends.into_iter().map(libm::floor).fold(f64::INFINITY, f64::min);
            ((ceiling - floor) as u32).max(1)
        };
        (side(corners.map(|corner| corner.0)), side(corners.map(|corner| corner.1)))
    }

    /// How it moves the pixels of a picture of this width and height if the result shows all of it, and so has the size `to`,
    /// which [`expanded`](Self::expanded) has given.
    pub(crate) fn expanding(&self, size: (u32, u32), to: (u32, u32)) -> Geometry {
        Geometry::new(self.expanded_mapping(size, to, Match::Torch), size, to)
    }

    /// Makes a result of this width and height, which [`expanded`](Self::expanded) has given, from a picture. Both are packed
    /// RGB, with their sizes.
    pub(crate) fn expand(
        self,
        (from, size): (&[u8], (u32, u32)),
        (to, to_size): (&mut [u8], (u32, u32)),
        matched: Match,
    ) {
        let mapping = self.expanded_mapping(size, to_size, matched);
        let warp = Warp { from: mapping, interpolation: self.interpolation, fill: self.fill };
        warp.carry_out((from, size.0 as usize), (to, to_size.0 as usize), matched);
    }

    fn expanded_mapping(&self, size: (u32, u32), to: (u32, u32), matched: Match) -> Mapping {
        let turned = self.from(self.center_in((size.0 as usize, size.1 as usize)), matched);
        let half = |to: u32, side: u32| -(f64::from(to) - f64::from(side)) / 2.0;
        let (column, row) = turned.at(half(to.0, size.0), half(to.1, size.1));
        let Affine2D { column: [a, b, _], row: [d, e, _] } = turned;
        Mapping::Affine(Affine2D { column: [a, b, column], row: [d, e, row] })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quarter_turns_about_the_middle_show_each_pixel_once() {
        let picture: Vec<u8> = (0..3 * 2 * 3).collect();
        let pixel = |column: usize, row: usize| &picture[(row * 3 + column) * 3..][..3];
        for (angle, places) in [
            (90.0, [(2, 0), (2, 1), (1, 0), (1, 1), (0, 0), (0, 1)]),
            (-90.0, [(0, 1), (0, 0), (1, 1), (1, 0), (2, 1), (2, 0)]),
            (450.0, [(2, 0), (2, 1), (1, 0), (1, 1), (0, 0), (0, 1)]),
        ] {
            for matched in [Match::Pillow, Match::Torch] {
                let rotate = Rotate { angle, interpolation: Interpolation::Nearest, center: None, fill: None };
                assert_eq!(rotate.expanded(3, 2), (2, 3));
                let mut turned = vec![0; picture.len()];
                rotate.expand((&picture, (3, 2)), (&mut turned, (2, 3)), matched);
                assert_eq!(turned, places.map(|(column, row)| pixel(column, row)).concat(), "{angle}");
            }
        }
    }
}
