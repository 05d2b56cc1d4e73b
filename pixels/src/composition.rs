//! A plan as two weighted sums: which pixels of the stored picture make a pixel of the result, and with which weights. After
//! them come the rounds of operations on the sums' results. A GPU resizes, cuts, pads and mirrors in one step, and needs
//! nothing else to give the CPU's result.

mod operated;

use std::ops::Range;

use crate::axis::Axis;
use crate::border::Border;
use crate::cpu_only::CpuOnly;
use crate::draw::Draw;
use crate::fault::Limits;
use crate::interpolation::Interpolation;
use crate::matching::Match;
use crate::orientation::Orientation;
use crate::origin::Origin;
use crate::output::Output;
use crate::paint::Paint;
use crate::plan::stage::Frame;
use crate::plan::{Plan, Rect, Step};
use crate::recipe::Recipe;
use crate::rounds::Round;
use crate::transform::Normalize;
use operated::Operated;

/// Bits after the point of a weight in whole numbers, as Pillow has them.
pub(crate) const WEIGHT_BITS: u32 = 22;

/// What is made of one picture.
///
/// ```
/// use forebay_pixels::{Composition, Draw, Limits, Orientation, Recipe};
///
/// let recipe = Recipe::evaluation(224)?;
/// let draw = Draw { seed: 0, epoch: 0, record: 0 };
/// let made = Composition::of((500, 375), Orientation::AsStored, &recipe, draw, &Limits::default());
/// let made = made.expect("a resize and a cut compose");
/// assert_eq!((made.sums.columns.begin, made.sums.columns.len()), (0, 224));
/// # Ok::<(), forebay_pixels::RecipeError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Composition {
    /// Width and height of the picture as stored.
    pub stored: (u32, u32),
    /// How it is turned to be seen. The sums below count pixels as seen.
    pub orientation: Orientation,
    /// The sums that make the pixels.
    pub sums: Sums,
    /// How the sums are calculated: in whole numbers that are rounded to 8 bits after either, or in floats that are rounded
    /// after the second.
    pub matched: Match,
    /// Width and height of the result.
    pub result: (u32, u32),
    /// The sums with what is done to their pixels, and the rounds after them. All have the result's size. There is at least one.
    pub rounds: Vec<Round>,
    /// Type and order of the result's values.
    pub output: Output,
    /// What is done to values last.
    pub normalize: Option<Normalize>,
}

/// The two sums, one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Sums {
    /// The sum along rows: a pixel for each column.
    pub columns: Pass,
    /// The sum along columns: a pixel for each row.
    pub rows: Pass,
    /// Whether the sum along columns comes first.
    pub down_first: bool,
    /// Value of the result's pixels outside of what the sums give.
    pub fill: u8,
}

/// One of the sums: for each pixel of a part of the result, what it is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Pass {
    /// Where in the result the part begins.
    pub begin: u32,
    axis: Axis,
    /// The pixel from which the axis counts.
    first: u32,
    /// The part, in pixels of the axis.
    window: Range<u32>,
    /// Whether the part is read backwards.
    mirrored: bool,
}

/// One direction of a picture that is laid on a canvas, and cut, after it was resized.
#[derive(Clone, Debug)]
struct Laid {
    /// Where on the canvas the resized picture begins.
    start: i64,
    /// What of the canvas shows the picture.
    shown: Range<i64>,
    /// Length of the canvas.
    len: u32,
}

impl Composition {
    /// What a recipe makes of a picture with this width and height as stored.
    ///
    /// # Errors
    /// The CPU does it, or says what is wrong: that takes more than one resize, a border before a resize, borders of two values, of
    /// a colour or of the picture's own pixels, a rotation that changes the size, other steps behind operations on values, or an
    /// operation that is the CPU's alone; the picture is to be decoded at a part of its size, cut into
    /// patches, or ragged; or it goes beyond the limits.
    pub fn of(
        stored: (u32, u32),
        orientation: Orientation,
        recipe: &Recipe,
        draw: Draw,
        limits: &Limits,
    ) -> Result<Self, CpuOnly> {
        let origin = Origin::of_recipe(stored, orientation, recipe);
        let (orientation, (width, height)) = (origin.turned, origin.size);
        let beyond = |_| CpuOnly::Transforms;
        limits.check_pixels(width, height).map_err(beyond)?;
        let mut plan = Plan::default();
        recipe.plan_into(&origin, draw, &mut plan);
        plan.check(limits).map_err(beyond)?;
        if recipe.input().reducing_gap.is_some() || recipe.patches().is_some() || recipe.is_ragged() {
            return Err(CpuOnly::Transforms);
        }
        let made = Self::of_plan(&plan, (width, height), recipe.matched())?;
        let normalize = recipe.normalize().cloned();
        Ok(Self { stored, orientation, output: recipe.output(), normalize, ..made })
    }

    /// A whole picture as it is stored, whatever its orientation, as packed RGB of 8 bits.
    pub fn whole(stored: (u32, u32)) -> Self {
        let plan = Plan { width: stored.0, height: stored.1, ..Plan::default() };
        Self::of_plan(&plan, stored, Match::Pillow).expect("no step is one too many")
    }

    /// Bytes of the result.
    pub fn result_len(&self) -> usize {
        self.pixels_len() * self.output.dtype.len()
    }

    /// Bytes of a picture of the result's size as packed RGB of 8 bits, which rounds hand on.
    pub fn pixels_len(&self) -> usize {
        self.result.0 as usize * self.result.1 as usize * 3
    }

    fn of_plan(plan: &Plan, (width, height): (u32, u32), matched: Match) -> Result<Self, CpuOnly> {
        let mut source = Frame::whole(width, height);
        // Every pixel as it is, until there is a resize.
        let mut size = (width, height);
        let mut axes = source.axes(width, height, Interpolation::Nearest);
        let mut laid: Option<(Laid, Laid)> = None;
        let (mut resized, mut fill) = (false, None);
        let composed =
            plan.steps.iter().take_while(|step| !matches!(step, Step::Mirror | Step::Flip | Step::Operate(_))).count();
        let operated = Operated::of(plan, composed, matched)?;
        for step in &plan.steps[..composed] {
            match *step {
                Step::Cut(part) if !resized && laid.is_none() => {
                    source = source.part(part, 1);
                    size = (part.width, part.height);
                    axes = source.axes(part.width, part.height, Interpolation::Nearest);
                }
                Step::Resize { width, height, interpolation } if !resized && laid.is_none() => {
                    resized = true;
                    size = (width, height);
                    axes = source.axes(width, height, interpolation);
                }
                Step::Canvas { border: Border::Edge | Border::Reflect | Border::Symmetric, .. }
                | Step::Resize { .. }
                | Step::Turn { .. } => return Err(CpuOnly::Transforms),
                Step::Mirror | Step::Flip | Step::Operate(_) => unreachable!("the composed steps end before them"),
                Step::Cut(Rect { left, top, width, height }) => {
                    let (columns, rows) = laid.get_or_insert_with(|| (Laid::new(size.0), Laid::new(size.1)));
                    columns.cut(left, width);
                    rows.cut(top, height);
                }
                Step::Canvas { width, height, left, top, border: Border::Fill(paint) } => {
                    let Paint::One(new) = paint else { return Err(CpuOnly::Transforms) };
                    if *fill.get_or_insert(new) != new {
                        return Err(CpuOnly::Transforms);
                    }
                    let (columns, rows) = laid.get_or_insert_with(|| (Laid::new(size.0), Laid::new(size.1)));
                    columns.lay(left, width);
                    rows.lay(top, height);
                }
            }
        }
        let (columns, rows) = laid.unwrap_or_else(|| (Laid::new(size.0), Laid::new(size.1)));
        let down_first = matched.down_first(&axes.0.1, &axes.1.1);
        Ok(Self {
            stored: (width, height),
            orientation: Orientation::AsStored,
            sums: Sums {
                columns: columns.pass(axes.0, operated.sums_mirrored),
                rows: rows.pass(axes.1, operated.sums_flipped),
                down_first,
                fill: fill.unwrap_or(0),
            },
            matched,
            result: (plan.width, plan.height),
            rounds: operated.rounds,
            output: Output::default(),
            normalize: None,
        })
    }
}

impl Laid {
    fn new(len: u32) -> Self {
        Self { start: 0, shown: 0..i64::from(len), len }
    }

    fn cut(&mut self, at: u32, len: u32) {
        let (at, end) = (i64::from(at), i64::from(len));
        self.start -= at;
        self.shown = (self.shown.start - at).clamp(0, end)..(self.shown.end - at).clamp(0, end);
        self.len = len;
    }

    fn lay(&mut self, at: u32, len: u32) {
        let at = i64::from(at);
        self.start += at;
        self.shown = self.shown.start + at..self.shown.end + at;
        self.len = len;
    }

    fn pass(self, (first, axis): (u32, Axis), mirrored: bool) -> Pass {
        let begin = if mirrored { i64::from(self.len) - self.shown.end } else { self.shown.start };
        let pixels = |at: i64| u32::try_from(at).expect("what is shown lies on the canvas and in the picture");
        let window = if self.shown.is_empty() {
            0..0
        } else {
            pixels(self.shown.start - self.start)..pixels(self.shown.end - self.start)
        };
        Pass { begin: pixels(begin), axis, first, window, mirrored }
    }
}

impl Pass {
    /// How many pixels it gives.
    #[expect(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> usize {
        self.window.len()
    }

    /// The most weights that a pixel has.
    pub fn longest(&self) -> usize {
        match self.axis.interpolation {
            Interpolation::Nearest => 1,
            _ => self.window.clone().map(|at| self.axis.span(at).len()).max().unwrap_or(1),
        }
    }

    /// Gives for each pixel, in the result's order, the first pixel as seen that it is made of, and the weights of that and
    /// the following ones, which add up to 1. [`fixed`] makes them the whole numbers that the CPU takes.
    pub fn each(&self, mut give: impl FnMut(u32, &[f64])) {
        let (axis, window) = (&self.axis, &self.window);
        if axis.interpolation == Interpolation::Nearest {
            let mut picked: Vec<_> = axis.nearest().skip(window.start as usize).take(window.len()).collect();
            if self.mirrored {
                picked.reverse();
            }
            for pixel in picked {
                give(self.first + pixel, &[1.0]);
            }
            return;
        }
        let mut weights = Vec::new();
        for number in 0..window.end - window.start {
            let at = if self.mirrored { window.end - 1 - number } else { window.start + number };
            axis.weights(at, &mut weights);
            give(self.first + axis.span(at).start, &weights);
        }
    }
}

/// A weight in units of 2 to the power of minus `WEIGHT_BITS`, rounded away from 0.
#[expect(clippy::cast_possible_truncation, reason = "weights are a few units at most")]
pub fn fixed(weight: f64) -> i32 {
    (weight * f64::from(1 << WEIGHT_BITS) + if weight < 0.0 { -0.5 } else { 0.5 }) as i32
}
