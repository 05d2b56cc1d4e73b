//! A part of the picture that shows enough of an object.

use serde::Deserialize;

use super::shape::Shape;
use crate::draw::Draws;
use crate::plan::points::add_plan;
use crate::plan::{Plan, Rect};
use crate::point_map::PointMap;

/// How many least overlaps are drawn before the picture stays as it is. torchvision draws until it gets one of 1 or more,
/// which leaves the picture as it is too. If there is no such option and no part can be found, torchvision never ends.
const ROUNDS: u64 = 64;

/// How many times a part is compared with a box at most, before the picture stays as it is. A part is compared with all boxes of
/// the record. So a record of up to 1,638 boxes never comes here with the default number of trials, and one of 100,000 has the 41
/// trials of one round.
const MOST_COMPARED: usize = 1 << 22;

/// Draws of a round: the overlap, and four for each trial.
const MOST_TRIALS: u32 = 1000;

/// torchvision's `RandomIoUCrop`: a random part of the picture, so that the middle of at least one box is in it, and one of these
/// overlaps with the part as much as was drawn. Objects whose middle is outside are dropped. It needs the boxes of the record.
/// After 4,194,304 comparisons of a part with a box, the picture stays as it is.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomIouCrop {
    /// Least part of the picture's sides.
    #[serde(default = "default_least")]
    pub min_scale: f64,
    /// Greatest part of the picture's sides.
    #[serde(default = "default_greatest")]
    pub max_scale: f64,
    /// Least width / height of the part.
    #[serde(default = "default_narrow")]
    pub min_aspect_ratio: f64,
    /// Greatest width / height of the part.
    #[serde(default = "default_wide")]
    pub max_aspect_ratio: f64,
    /// The least overlaps; one of them is drawn. An overlap is the area that the box and the part have in common, over the
    /// area that either covers. 1 or more leaves the picture as it is.
    #[serde(default = "default_options")]
    pub sampler_options: Vec<f64>,
    /// How many parts are tried for an overlap.
    #[serde(default = "default_trials")]
    pub trials: u32,
}

impl RandomIouCrop {
    pub(super) fn problem(&self) -> Option<String> {
        let ordered = |key: &str, [low, high]: [f64; 2], most: f64| {
            let good = low > 0.0 && low <= high && high <= most;
            (!good).then(|| {
                format!("{key} are {low} and {high}, but must be above 0, up to {most}, the smaller one first")
            })
        };
        let Self { min_scale, max_scale, min_aspect_ratio, max_aspect_ratio, .. } = *self;
        let options = || {
            let options = &self.sampler_options;
            let good = (1..=64).contains(&options.len()) && options.iter().all(|option| (0.0..=1e6).contains(option));
            (!good).then(|| "sampler_options must be up to 64 numbers from 0 up, and at least one".to_owned())
        };
        let trials = || {
            let good = (1..=MOST_TRIALS).contains(&self.trials);
            (!good).then(|| format!("trials is {}, but must be from 1 to {MOST_TRIALS}", self.trials))
        };
        ordered("min_scale and max_scale", [min_scale, max_scale], 1.0)
            .or_else(|| ordered("min_aspect_ratio and max_aspect_ratio", [min_aspect_ratio, max_aspect_ratio], 1e6))
            .or_else(options)
            .or_else(trials)
    }

    #[expect(clippy::unused_self, reason = "every transform has this signature")]
    pub(super) fn shape(&self, _before: Shape) -> Shape {
        Shape::Open
    }

    /// Each round has draws of its own: 0 is the overlap, and four from 1 on are for each trial.
    pub(super) fn plan(&self, plan: &mut Plan, draws: Draws) {
        let mut map = PointMap::default();
        add_plan(&mut map, plan, plan.objects.size, false);
        plan.objects.locate(|corners| map.shown(corners).0);
        let mut room = (MOST_COMPARED / plan.objects.located().len().max(1)) as u64;
        for round in 0..ROUNDS {
            let draws = draws.part(round);
            let option = draws.below(0, u32::try_from(self.sampler_options.len()).unwrap_or(u32::MAX));
            let least = self.sampler_options[option as usize];
            // What no picture could fulfil leaves it as it is.
            if least >= 1.0 {
                return;
            }
            let trials = u64::from(self.trials).min(room);
            room -= trials;
            let tried = (0..trials).find_map(|trial| {
                let part = self.part((plan.width, plan.height), draws, 1 + 4 * trial)?;
                let inside = plan.objects.located().iter().filter(|corners| has_middle_of(part, **corners));
                let most = inside.map(|corners| overlap(part, *corners)).reduce(f64::max)?;
                (most >= least).then_some(part)
            });
            if let Some(part) = tried {
                plan.objects.drop_some(|corners| !has_middle_of(part, corners));
                plan.cut(part);
                return;
            }
        }
    }

    /// A part by four draws. None if it has no pixels or a wrong ratio.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "parts of sides")]
    fn part(&self, (width, height): (u32, u32), draws: Draws, number: u64) -> Option<Rect> {
        let side =
            |number: u64, side: u32| (f64::from(side) * draws.between(number, self.min_scale, self.max_scale)) as u32;
        let (new_width, new_height) = (side(number, width), side(number + 1, height));
        let ratio = f64::from(new_width) / f64::from(new_height);
        if new_width == 0 || new_height == 0 || !(self.min_aspect_ratio..=self.max_aspect_ratio).contains(&ratio) {
            return None;
        }
        let first = |number: u64, room: u32| (f64::from(room) * draws.unit(number)) as u32;
        let (left, top) = (first(number + 2, width - new_width), first(number + 3, height - new_height));
        Some(Rect { left, top, width: new_width, height: new_height })
    }
}

/// Left, top, right and below.
fn ends(part: Rect) -> [f64; 4] {
    [part.left, part.top, part.left + part.width, part.top + part.height].map(f64::from)
}

/// Whether the middle of a box is in a part. What is no number is not.
fn has_middle_of(part: Rect, [left, top, right, below]: [f64; 4]) -> bool {
    let (x, y) = (0.5 * (left + right), 0.5 * (top + below));
    let [part_left, part_top, part_right, part_below] = ends(part);
    part_left < x && x < part_right && part_top < y && y < part_below
}

/// What a part and a box have in common, over what either has: from 0 to 1.
fn overlap(part: Rect, [left, top, right, below]: [f64; 4]) -> f64 {
    let [part_left, part_top, part_right, part_below] = ends(part);
    let side = |first: f64, last: f64| (last - first).max(0.0);
    let both = side(left.max(part_left), right.min(part_right)) * side(top.max(part_top), below.min(part_below));
    let area = |first: [f64; 2], last: [f64; 2]| (last[0] - first[0]) * (last[1] - first[1]);
    let all = area([left, top], [right, below]) + area([part_left, part_top], [part_right, part_below]);
    both / (all - both)
}

fn default_least() -> f64 {
    0.3
}

fn default_greatest() -> f64 {
    1.0
}

fn default_narrow() -> f64 {
    0.5
}

fn default_wide() -> f64 {
    2.0
}

fn default_options() -> Vec<f64> {
    vec![0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0]
}

fn default_trials() -> u32 {
    40
}
