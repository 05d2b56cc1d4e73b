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
