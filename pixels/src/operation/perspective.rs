//! Seen from elsewhere: four points of the picture moved to four others.

use serde::{Deserialize, Serialize};

use super::Operation;
use super::affine::black;
use super::warp::{Fill, Mapping, Projection, Warp, interpolation_problem};
use super::workpiece::Workpiece;
use crate::draw::Draws;
use crate::interpolation::Interpolation;
use crate::number::{half, probability_problem};

/// Four points: column and row of each.
type Points = [[i32; 2]; 4];

/// torchvision's `perspective`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Perspective {
    /// Points of the picture: column and row of each.
    pub startpoints: Points,
    /// Where the result shows them.
    pub endpoints: Points,
    /// Filter, without antialiasing.
    #[serde(default)]
    pub interpolation: Interpolation,
    /// What comes from outside of the picture. Without it, black.
    #[serde(default)]
    pub fill: Option<Fill>,
}

/// torchvision's `RandomPerspective`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomPerspective {
    /// How far the corners move at most, as a part of half the picture's sides.
    #[serde(default = "half")]
    pub distortion_scale: f64,
    /// Probability from 0 to 1.
    #[serde(default = "half")]
    pub p: f64,
    /// Filter, without antialiasing.
    #[serde(default)]
    pub interpolation: Interpolation,
    /// What comes from outside of the picture.
    #[serde(default = "black")]
    pub fill: Fill,
}

impl Perspective {
    pub(super) const IS_LOCAL: bool = false;

    pub(super) fn problem(self) -> Option<String> {
        let far = self.startpoints.iter().chain(&self.endpoints).flatten().any(|at| at.unsigned_abs() > 1_000_000);
        if far {
            return Some("startpoints and endpoints must be from -1000000 to 1000000".to_owned());
        }
        if self.projection().is_none() {
            return Some(
                "startpoints and endpoints must be four points each, of which no three are on one line".to_owned(),
            );
        }
        interpolation_problem(self.interpolation).or_else(|| self.fill.and_then(Fill::problem))
    }

    pub(super) fn carry_out(self, work: &mut Workpiece<'_>) {
        if let Some(warp) = self.warp() {
            work.warp(&warp);
        }
    }

    /// What it does with a picture. None if there is no such way.
    pub(super) fn warp(&self) -> Option<Warp> {
        let Self { interpolation, fill, .. } = *self;
        Some(Warp { from: self.mapping()?, interpolation, fill })
    }

    /// Where the pixels of the result come from. None if there is no such way.
    pub(super) fn mapping(&self) -> Option<Mapping> {
        self.projection().map(Mapping::Perspective)
    }

    /// Where the result's pixels come from, in single precision as torchvision has it. None if there is no such way.
    #[expect(clippy::cast_possible_truncation, reason = "as torchvision calculates")]
    fn projection(&self) -> Option<Projection> {
        // In whole numbers: what rounding makes of the equations would decide otherwise.
        if has_three_on_a_line(self.startpoints) || has_three_on_a_line(self.endpoints) {
            return None;
        }
        let mut rows = [[0.0; 9]; 8];
        for (number, (to, from)) in self.endpoints.iter().zip(&self.startpoints).enumerate() {
            let ([x, y], [column, row]) = (to.map(f64::from), from.map(f64::from));
            rows[2 * number] = [x, y, 1.0, 0.0, 0.0, 0.0, -column * x, -column * y, column];
            rows[2 * number + 1] = [0.0, 0.0, 0.0, x, y, 1.0, -row * x, -row * y, row];
        }
        let found = solved(rows)?.map(|number| f64::from(number as f32));
        Some(Projection {
            column: [found[0], found[1], found[2]],
            row: [found[3], found[4], found[5]],
            depth: [found[6], found[7]],
        })
    }
}

impl RandomPerspective {
    pub(crate) fn problem(&self) -> Option<String> {
        let scale = self.distortion_scale;
        probability_problem(self.p)
            .or_else(|| {
                let good = (0.0..=1.0).contains(&scale);
                (!good).then(|| format!("distortion_scale is {scale}, but must be from 0 to 1"))
            })
            .or_else(|| interpolation_problem(self.interpolation))
            .or_else(|| self.fill.problem())
    }

    /// Draw 0 is whether, and those from 1 on are how far each corner moves along either side. A picture that is one pixel wide
    /// or high stays as it is: its corners are on one line.
    pub(crate) fn draw(&self, draws: Draws, (width, height): (u32, u32), give: &mut dyn FnMut(Operation)) {
        if draws.unit(0) >= self.p {
            return;
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of a side")]
        let bound = |side: u32| (self.distortion_scale * f64::from(side / 2)) as u32 + 1;
        let [right, below] = [width, height].map(|side| i32::try_from(side - 1).unwrap_or(i32::MAX));
        let moved = |number: u64, side: u32| i32::try_from(draws.below(number, bound(side))).unwrap_or(0);
        let startpoints = [[0, 0], [right, 0], [right, below], [0, below]];
        let endpoints = [
            [moved(1, width), moved(2, height)],
            [right - moved(3, width), moved(4, height)],
            [right - moved(5, width), below - moved(6, height)],
            [moved(7, width), below - moved(8, height)],
        ];
        let Self { interpolation, fill, .. } = *self;
        let drawn = Perspective { startpoints, endpoints, interpolation, fill: Some(fill) };
        if drawn.projection().is_some() {
            give(Operation::Perspective(drawn));
        }
    }
}

/// Whether three of the points are on one line, or in one place.
fn has_three_on_a_line(points: Points) -> bool {
    (0..4).any(|left_out| {
        let [a, b, c] = [1, 2, 3].map(|step| points[(left_out + step) % 4].map(i64::from));
        (b[0] - a[0]) * (c[1] - a[1]) == (b[1] - a[1]) * (c[0] - a[0])
    })
}

/// The solution of eight equations, whose right sides are last. None if there is not just one.
fn solved(mut rows: [[f64; 9]; 8]) -> Option<[f64; 8]> {
    for column in 0..8 {
        let best = (column..8).max_by(|one, other| rows[*one][column].abs().total_cmp(&rows[*other][column].abs()))?;
        rows.swap(column, best);
        let pivot = rows[column];
        if pivot[column].abs() < 1e-9 {
            return None;
        }
        for (number, row) in rows.iter_mut().enumerate() {
            let times = row[column] / pivot[column];
            if number != column {
                row.iter_mut().zip(pivot).skip(column).for_each(|(value, by)| *value -= times * by);
            }
        }
    }
    Some(std::array::from_fn(|number| rows[number][8] / rows[number][number]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(startpoints: Points, endpoints: Points) -> Option<String> {
        Perspective { startpoints, endpoints, interpolation: Interpolation::Nearest, fill: None }.problem()
    }

    #[test]
    fn three_points_on_a_line_are_refused_wherever_they_are_and_all_others_are_taken() {
        let square = [[0, 0], [223, 0], [223, 223], [0, 223]];
        assert_eq!(problem(square, square), None);
        assert_eq!(problem(square, [[3, 1], [200, 9], [219, 190], [0, 223]]), None);
        // Of steps of 7 and 5, which no rounding hides, in each place and each direction.
        for turn in 0..4 {
            for (a, b) in [(1, 2), (-3, 4), (11, -2)] {
                let mut points = [[40, 60], [40 + 7 * a, 60 + 5 * a], [40 + 7 * b, 60 + 5 * b], [3, 190]];
                points.rotate_left(turn);
                let refused = problem(square, points).unwrap();
                assert!(refused.contains("on one line"), "{refused}");
                assert_eq!(problem(points, square), Some(refused));
                // A pixel beside the line is enough.
                let on = points.iter().position(|point| *point == [40, 60]).unwrap();
                points[on][1] += 1;
                assert_eq!(problem(square, points), None, "{points:?}");
            }
        }
        assert!(problem(square, [[5, 5], [5, 5], [90, 9], [9, 90]]).is_some(), "two in one place");
    }
}
