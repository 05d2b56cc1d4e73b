//! What is done with one picture: pure data, made of a recipe, the picture's size and its draws.
//!
//! Coordinates are pixels of the picture as seen, that is after its EXIF orientation. Mirroring is carried to the end: the
//! cuts and borders that follow a mirrored step are mirrored instead, and the last pass reads rows backwards.

pub(crate) mod stage;

use crate::draw::{Draw, Draws};
use crate::fault::{Fault, Limits};
use crate::recipe::Recipe;
use crate::transform::{CenterCrop, Interpolation, Pad, RandomResizedCrop, Resize, Size, Transform};

/// Tries of a random part before the middle is taken, as torchvision.
const TRIES: u64 = 10;

/// A part of a picture, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rect {
    /// First column.
    pub left: u32,
    /// First row.
    pub top: u32,
    /// Columns, at least 1.
    pub width: u32,
    /// Rows, at least 1.
    pub height: u32,
}

/// One thing to do with the result of the step before, or with the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Keep this part.
    Cut(Rect),
    /// Resize all of it. After a cut, pixels beyond the cut have no influence.
    Resize {
        /// New width.
        width: u32,
        /// New height.
        height: u32,
        /// Filter.
        interpolation: Interpolation,
    },
    /// Lay it on a larger canvas.
    Canvas {
        /// Width of the canvas.
        width: u32,
        /// Height of the canvas.
        height: u32,
        /// Column of the canvas where the picture begins.
        left: u32,
        /// Row of the canvas where the picture begins.
        top: u32,
        /// Value of the rest.
        fill: u8,
    },
}

/// What is done with one picture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The steps, in order. Two cuts never follow each other, and no step leaves everything as it was.
    pub steps: Vec<Step>,
    /// Whether the result is mirrored left to right, last of all.
    pub mirrored: bool,
    /// Width of the result.
    pub width: u32,
    /// Height of the result.
    pub height: u32,
    /// For each step, from the lowest bit: whether the picture was mirrored before it. Only masks ask for that, whose nearest
    /// pixel is not the same from either side.
    pub(crate) flips: u64,
}

impl Rect {
    /// All of a picture of this size.
    pub(crate) fn whole(width: u32, height: u32) -> Self {
        Self { left: 0, top: 0, width, height }
    }
}

impl Recipe {
    /// The plan for a picture of `width` x `height` pixels, each at least 1.
    ///
    /// ```
    /// use forebay_pixels::{Draw, Recipe, Rect, Step};
    ///
    /// let plan = Recipe::evaluation(224)?.plan(500, 375, Draw { seed: 0, epoch: 0, record: 0 });
    /// assert_eq!(plan.steps[1], Step::Cut(Rect { left: 58, top: 16, width: 224, height: 224 }));
    /// # Ok::<(), forebay_pixels::RecipeError>(())
    /// ```
    pub fn plan(&self, width: u32, height: u32, draw: Draw) -> Plan {
        let mut plan = Plan::default();
        self.plan_into(width, height, draw, &mut plan);
        plan
    }

    /// [`Recipe::plan`] into an old plan, whose memory is used again.
    pub fn plan_into(&self, width: u32, height: u32, draw: Draw, plan: &mut Plan) {
        plan.begin(width, height);
        for (place, transform) in self.transforms().iter().enumerate() {
            match transform {
                Transform::RandomResizedCrop(t) => {
                    plan.cut(t.part(plan.width, plan.height, draw.at(place)));
                    let (height, width) = t.size.square();
                    plan.resize(width, height, t.interpolation);
                }
                Transform::Resize(t) => {
                    let (width, height) = t.target(plan.width, plan.height);
                    plan.resize(width, height, t.interpolation);
                }
                Transform::CenterCrop(t) => t.plan(plan),
                Transform::Pad(t) => t.plan(plan),
                Transform::RandomHorizontalFlip(t) => plan.mirrored ^= draw.at(place).unit(0) < t.p,
                Transform::Normalize(_) => {}
            }
        }
        debug_assert_eq!((plan.height, plan.width, 3), self.shape(), "the recipe's shape is fixed");
    }
}

impl Plan {
    /// Looks whether each step's result is within the limits, so that nothing is computed for one that is not.
    pub(crate) fn check(&self, limits: &Limits) -> Result<(), Fault> {
        self.steps.iter().try_for_each(|step| match *step {
            Step::Cut(_) => Ok(()),
            Step::Resize { width, height, .. } | Step::Canvas { width, height, .. } => {
                limits.check_pixels(width, height).map(drop)
            }
        })
    }

    /// Whether the picture was mirrored before this step.
    pub(crate) fn is_mirrored_before(&self, step: usize) -> bool {
        self.flips >> step & 1 == 1
    }

    fn begin(&mut self, width: u32, height: u32) {
        assert!(width > 0 && height > 0, "a decoder has refused a picture without pixels");
        self.steps.clear();
        (self.mirrored, self.flips) = (false, 0);
        (self.width, self.height) = (width, height);
    }

    fn cut(&mut self, mut rect: Rect) {
        if (rect.width, rect.height) == (self.width, self.height) {
            return;
        }
        if self.mirrored {
            rect.left = self.width - rect.left - rect.width;
        }
        (self.width, self.height) = (rect.width, rect.height);
        if let Some(Step::Cut(last)) = self.steps.last_mut() {
            *last = Rect { left: last.left + rect.left, top: last.top + rect.top, ..rect };
        } else {
            self.steps.push(Step::Cut(rect));
        }
    }

    fn resize(&mut self, width: u32, height: u32, interpolation: Interpolation) {
        if (width, height) == (self.width, self.height) {
            return;
        }
        (self.width, self.height) = (width, height);
        self.flips |= u64::from(self.mirrored) << self.steps.len();
        self.steps.push(Step::Resize { width, height, interpolation });
    }

    /// Grows to at least this size, `left` and `top` being the border on these sides.
    fn grow(&mut self, width: u32, height: u32, mut left: u32, top: u32, fill: u8) {
        if (width, height) == (self.width, self.height) {
            return;
        }
        if self.mirrored {
            left = width - self.width - left;
        }
        (self.width, self.height) = (width, height);
        self.steps.push(Step::Canvas { width, height, left, top, fill });
    }
}

impl RandomResizedCrop {
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

impl Resize {
    /// Width and height that a picture of this size gets.
    pub(crate) fn target(&self, width: u32, height: u32) -> (u32, u32) {
        let longer = |side: u32, long: u32, short: u32| {
            u32::try_from(u64::from(side) * u64::from(long) / u64::from(short)).unwrap_or(u32::MAX)
        };
        match self.size {
            Size::HeightWidth([height, width]) => (width, height),
            Size::One(side) if width <= height => (side, longer(side, height, width)),
            Size::One(side) => (longer(side, width, height), side),
        }
    }
}

impl CenterCrop {
    fn plan(&self, plan: &mut Plan) {
        let (height, width) = self.size.square();
        let left = width.saturating_sub(plan.width) / 2;
        let top = height.saturating_sub(plan.height) / 2;
        plan.grow(width.max(plan.width), height.max(plan.height), left, top, 0);
        plan.cut(Rect {
            left: half_to_even(plan.width - width),
            top: half_to_even(plan.height - height),
            width,
            height,
        });
    }
}

impl Pad {
    fn plan(&self, plan: &mut Plan) {
        let (height, width) = self.size.square();
        let (width, height) = (width.max(plan.width), height.max(plan.height));
        plan.grow(width, height, (width - plan.width) / 2, (height - plan.height) / 2, self.fill);
    }
}

/// Half of it, where a half is rounded to the even neighbour, as Python's `round` does in torchvision's centre crop.
fn half_to_even(difference: u32) -> u32 {
    let half = difference / 2;
    if difference % 2 == 1 && half % 2 == 1 { half + 1 } else { half }
}

/// Rounded to the nearest whole number, halves to even; out of range numbers give the range's ends.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "such casts saturate, which is meant")]
fn whole(value: f64) -> u32 {
    libm::rint(value) as u32
}
