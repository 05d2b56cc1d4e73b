//! Four pictures in one.

use serde::Deserialize;

use super::shape::{Shape, Size, cut_off};
use crate::border::Border;
use crate::draw::{Draw, Draws};
use crate::interpolation::Interpolation;
use crate::number::{probability_problem, range_problem};
use crate::paint::Paint;
use crate::plan::{Plan, Rect};

/// Pictures of a mosaic beside the record's own one.
pub const PARTNERS: usize = 3;

/// YOLO's mosaic with the scale and the translation that follow it. On a canvas of twice the size, four pictures that are resized to
/// fit into the size meet with a corner at a random point, which is at most half a size from the middle. The canvas is then scaled
/// about its middle and moved, and its middle is cut out. Here, each picture is resized once, by both factors, and only what the
/// result shows of it is.
///
/// A plan lays one of the four. The record's own picture is to the upper left of the point.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mosaic {
    /// Output size; one number means a square.
    pub size: Size,
    /// Least and greatest factor of the canvas.
    #[serde(default = "default_scale")]
    pub scale: [f64; 2],
    /// How far the canvas is moved at most, in parts of the size.
    #[serde(default = "default_translate")]
    pub translate: f64,
    /// Value of the border in all three channels.
    #[serde(default = "gray")]
    pub fill: u8,
    /// Probability of four pictures, from 0 to 1. Otherwise the own picture is alone in the middle, scaled and moved in the same way.
    #[serde(default = "always")]
    pub p: f64,
    /// Filter of the resizes.
    #[serde(default)]
    pub interpolation: Interpolation,
    /// Which of the pictures a plan lays: 0 is the own one.
    #[serde(skip)]
    pub(crate) quarter: usize,
}

/// A side of a mosaic, in pixels of the result.
struct Side {
    len: u32,
    /// Where the pictures meet; the middle of a picture that is alone.
    meet: f64,
    /// Where the canvas ends. A picture that is alone has no canvas.
    canvas: [f64; 2],
}

impl Mosaic {
    /// With the default values.
    pub fn to(size: Size) -> Self {
        let (scale, translate, fill, p) = (default_scale(), default_translate(), gray(), always());
        Self { size, scale, translate, fill, p, interpolation: Interpolation::default(), quarter: 0 }
    }

    pub(super) fn problem(&self) -> Option<String> {
        let far = !(0.0..=1.0).contains(&self.translate);
        self.size
            .problem()
            .or_else(|| range_problem("scale", self.scale))
            .or_else(|| (self.scale[1] > 100.0).then(|| "scale must be at most 100".to_owned()))
            .or_else(|| far.then(|| format!("translate is {}, but must be from 0 to 1", self.translate)))
            .or_else(|| probability_problem(self.p))
    }

    pub(super) fn shape(&self, _before: Shape) -> Shape {
        Shape::of(self.size)
    }

    /// The records whose pictures are beside the one of this draw, from a dataset of `records` records. `None` if the
    /// picture is alone.
    pub(crate) fn partners(&self, draw: Draw, records: u64) -> Option<[u64; PARTNERS]> {
        // It is the first of its list.
        let draws = draw.at(0);
        let partner = |number: usize| {
            let bits = draws.part(number as u64).bits(0);
            ((u128::from(bits) * u128::from(records)) >> 64) as u64
        };
        self.is_drawn(draws).then(|| std::array::from_fn(partner))
    }

    fn is_drawn(&self, draws: Draws) -> bool {
        draws.unit(0) < self.p
    }

    /// Draw 0 is whether, 1 and 2 where the pictures meet, 3 the scale, and 4 and 5 how far the canvas is moved.
    pub(super) fn plan(&self, plan: &mut Plan, draws: Draws) {
        let (height, width) = self.size.square();
        let is_drawn = self.is_drawn(draws);
        let scale = draws.between(3, self.scale[0], self.scale[1]);
        let fit = (f64::from(width) / f64::from(plan.width)).min(f64::from(height) / f64::from(plan.height)) * scale;
        let resized = |from: u32| cut_off(libm::rint(f64::from(from) * fit));
        plan.resize(resized(plan.width), resized(plan.height), self.interpolation);
        let side = |number: u64, len: u32| {
            let long = f64::from(len);
            let moved = long * (0.5 + draws.between(number + 3, -self.translate, self.translate));
            let from_the_middle = long * draws.between(number, -0.5, 0.5);
            let meet = if is_drawn { moved + scale * from_the_middle } else { moved };
            Side { len, meet: libm::rint(meet), canvas: [moved - scale * long, moved + scale * long] }
        };
        let (columns, rows) = (side(1, width), side(2, height));
        let laid = if is_drawn {
            let (right, below) = (self.quarter % 2 == 1, self.quarter / 2 == 1);
            (columns.quarter(plan.width, right), rows.quarter(plan.height, below))
        } else {
            (columns.alone(plan.width), rows.alone(plan.height))
        };
        let ((left, (first, last), across), (top, (upper, lower), down)) = laid;
        let shown = |(first, last): (i64, i64)| (first < last).then_some((first, last));
        plan.lay(
            (left, top),
            shown((first, last)).zip(shown((upper, lower))),
            (width, height),
            Border::Fill(Paint::One(self.fill)),
        );
        plan.tile = across.zip(down).map(|((left, width), (top, height))| Rect { left, top, width, height });
    }
}

/// Where a picture begins, which lines of the result show it, and which lines are its own: the first one and how many, if there are
/// some.
type SideLaid = (i64, (i64, i64), Option<(u32, u32)>);

impl Side {
    /// One of the pictures that meet, of this length, before the point or after it.
    #[expect(clippy::cast_possible_truncation, reason = "such casts saturate, which is meant")]
    fn quarter(&self, len: u32, is_after: bool) -> SideLaid {
        let (meet, len, end) = (self.meet as i64, i64::from(len), i64::from(self.len));
        let [low, high] = self.canvas.map(|end| libm::rint(end) as i64);
        let begin = if is_after { meet } else { meet - len };
        let own = if is_after { (meet.clamp(0, end), end) } else { (0, meet.clamp(0, end)) };
        let shown = (begin.max(low).max(own.0), (begin + len).min(high).min(own.1));
        let lines = |at: i64| u32::try_from(at).unwrap_or(0);
        (begin, shown, (own.0 < own.1).then(|| (lines(own.0), lines(own.1 - own.0))))
    }

    /// A picture of this length, in the middle.
    #[expect(clippy::cast_possible_truncation, reason = "such casts saturate, which is meant")]
    fn alone(&self, len: u32) -> SideLaid {
        let begin = libm::rint(self.meet - f64::from(len) / 2.0) as i64;
        (begin, (begin.max(0), (begin + i64::from(len)).min(self.len.into())), Some((0, self.len)))
    }
}

fn default_scale() -> [f64; 2] {
    [0.5, 1.5]
}

fn default_translate() -> f64 {
    0.1
}

fn gray() -> u8 {
    114
}

fn always() -> f64 {
    1.0
}
