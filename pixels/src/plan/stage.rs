//! What of each step's picture the result depends on: computed backwards from the result, before anything is decoded.
//!
//! The first picture is the decoded one, whose pixels may be larger than those of the file ([`Grid`]). A picture's
//! [`Frame`] is the part of it that a step works on: a cut copies nothing, it makes the frame smaller.

use crate::axis::Axis;
use crate::border::Border;
use crate::interpolation::Interpolation;
use crate::plan::{Plan, Rect, Step};
use crate::point_map::{Line, Straight};
use crate::scale::Scale;

/// The pixels of a decoded picture as seen, and where in them the picture lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Grid {
    /// The picture in pixels of the file; [`Scale`] says how many of them make a column. It does not begin at 0 if a last,
    /// incomplete pixel was turned to the front.
    pub(crate) picture: Rect,
    /// Size of the pixels.
    pub(crate) scale: Scale,
}

/// A part of a picture in its pixels, with fractions only in a picture that was scaled while decoding.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Frame {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

/// A step's picture: the part that the step works on, and what of that has to be there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stage {
    /// What the step works on.
    pub(crate) frame: Frame,
    /// What the result depends on, in the same pixels.
    pub(crate) need: Rect,
}

/// How much smaller the picture, of this size, may be decoded, so that either side of what is resized first keeps
/// `gap` times the pixels of its result: Pillow's rule in `Image.thumbnail` and `draft`, for the part that is cut.
pub(crate) fn scale(plan: &Plan, (width, height): (u32, u32), gap: f64) -> Scale {
    let times = match *plan.steps.as_slice() {
        [Step::Resize { width: to_width, height: to_height, .. }, ..] => {
            times(width, to_width, gap).min(times(height, to_height, gap))
        }
        [Step::Cut(part), Step::Resize { width, height, .. }, ..] => {
            times(part.width, width, gap).min(times(part.height, height, gap))
        }
        _ => 1,
    };
    Scale::within(times)
}

/// A stage for each step and one for the result, in `stages`, whose memory is used again. `grid` has the scale that
/// [`scale`] gave, or none.
pub(crate) fn stages_into(plan: &Plan, grid: &Grid, stages: &mut Vec<Stage>) {
    stages.clear();
    let mut frame = grid.frame(grid.picture);
    let mut denominator = grid.scale.denominator();
    for step in &plan.steps {
        stages.push(Stage { frame, need: Rect::whole(1, 1) });
        (frame, denominator) = frame.after(step, denominator);
    }
    let mut need = frame.pixels();
    stages.push(Stage { frame, need });
    for (step, stage) in plan.steps.iter().zip(stages).rev() {
        match *step {
            Step::Cut(_) => {}
            Step::Resize { width, height, interpolation } => {
                let ((left, columns), (top, rows)) = stage.frame.axes(width, height, interpolation);
                let (columns, rows) = (columns.reach(&need.columns()), rows.reach(&need.rows()));
                need = Rect::spanning(columns.start + left..columns.end + left, rows.start + top..rows.end + top);
            }
            Step::Canvas { left, top, border: Border::Fill(_), .. } => {
                need = stage.frame.pixels().seen_through(need, left, top);
            }
            Step::Mirror => {
                let frame = stage.frame.pixels();
                need = frame.seen_through(need.mirrored_in(frame.width), 0, 0);
            }
            Step::Flip => {
                let frame = stage.frame.pixels();
                need = frame.seen_through(need.flipped_in(frame.height), 0, 0);
            }
            Step::Operate(operation) if operation.is_local() => {
                need = stage.frame.pixels().seen_through(need, 0, 0);
            }
            Step::Canvas { .. } | Step::Operate(_) | Step::Turn { .. } => need = stage.frame.pixels(),
        }
        stage.need = need;
    }
}

impl Grid {
    fn frame(&self, part: Rect) -> Frame {
        let side = |pixels: u32| f64::from(pixels) / f64::from(self.scale.denominator());
        Frame { left: side(part.left), top: side(part.top), width: side(part.width), height: side(part.height) }
    }
}

impl Frame {
    /// Where the points of a picture are after this part of it was resized.
    pub(crate) fn resized(self, width: u32, height: u32, interpolation: Interpolation) -> Straight {
        let ((left, columns), (top, rows)) = self.axes(width, height, interpolation);
        let line = |first: u32, axis: Axis| Line::of_axis(first, &axis);
        Straight::new(false, (line(left, columns), line(top, rows)), [0.0, 0.0, width.into(), height.into()])
    }

    /// Where they are after this part was laid on a canvas at `left` and `top`.
    pub(crate) fn laid(self, left: u32, top: u32) -> Straight {
        let (left, top) = (f64::from(left), f64::from(top));
        let [from_left, from_top, width, height] = self.parts();
        let lines = (Line::moved(left - from_left), Line::moved(top - from_top));
        Straight::new(false, lines, [left, top, left + width, top + height])
    }

    /// All of a picture of this size.
    pub(crate) fn whole(width: u32, height: u32) -> Self {
        Self { left: 0.0, top: 0.0, width: width.into(), height: height.into() }
    }

    /// Left, top, width and height.
    pub(crate) fn parts(self) -> [f64; 4] {
        [self.left, self.top, self.width, self.height]
    }

    /// The grid after `step`, and its denominator, if this is the grid before it. `denominator` pixels make one.
    pub(crate) fn after(self, step: &Step, denominator: u32) -> (Self, u32) {
        match *step {
            Step::Cut(part) => (self.part(part, denominator), denominator),
            Step::Resize { width, height, .. }
            | Step::Canvas { width, height, .. }
            | Step::Turn { width, height, .. } => (Self::whole(width, height), 1),
            // Nothing that comes before them is decoded at a part of its size, so that these are whole pixels.
            Step::Mirror | Step::Flip | Step::Operate(_) => (Self { left: 0.0, top: 0.0, ..self }, denominator),
        }
    }

    /// A part of it, given in pixels; `denominator` of them make one.
    pub(crate) fn part(self, part: Rect, denominator: u32) -> Self {
        let side = |pixels: u32| f64::from(pixels) / f64::from(denominator);
        Self {
            left: self.left + side(part.left),
            top: self.top + side(part.top),
            width: side(part.width),
            height: side(part.height),
        }
    }

    /// All pixels that it touches.
    pub(crate) fn pixels(&self) -> Rect {
        let (left, top) = (floor(self.left), floor(self.top));
        let (right, below) = (ceil(self.left + self.width), ceil(self.top + self.height));
        Rect { left, top, width: right - left, height: below - top }
    }

    /// How it is resized: for either direction the pixel from which the axis counts, and the axis.
    pub(crate) fn axes(&self, width: u32, height: u32, interpolation: Interpolation) -> ((u32, Axis), (u32, Axis)) {
        let pixels = self.pixels();
        let axis = |first: u32, limit: u32, start: f64, side: f64, len: u32| {
            let start = start - f64::from(first);
            (first, Axis { start, end: start + side, limit, len, interpolation })
        };
        (
            axis(pixels.left, pixels.width, self.left, self.width, width),
            axis(pixels.top, pixels.height, self.top, self.height, height),
        )
    }
}

/// How many times the pixels to keep fit into a side.
fn times(side: u32, target: u32, gap: f64) -> u32 {
    side / floor(f64::from(target) * gap).max(1)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "such casts saturate, which is meant")]
fn floor(value: f64) -> u32 {
    value as u32
}

fn ceil(value: f64) -> u32 {
    floor(libm::ceil(value))
}
