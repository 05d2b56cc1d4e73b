//! What of each step's picture the result depends on: computed backwards from the result, before anything is decoded.
//!
//! The first picture is the decoded one, whose pixels may be larger than those of the file ([`Grid`]). A picture's
//! [`Frame`] is the part of it that a step works on: a cut copies nothing, it makes the frame smaller.

use std::ops::Range;

use crate::axis::Axis;
use crate::border::Border;
use crate::interpolation::Interpolation;
use crate::plan::{Plan, Rect, Step};
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

impl Plan {
    /// How much smaller the picture, of this size, may be decoded, so that either side of what is resized first keeps
    /// `gap` times the pixels of its result: Pillow's rule in `Image.thumbnail` and `draft`, for the part that is cut.
    pub(crate) fn scale(&self, (width, height): (u32, u32), gap: f64) -> Scale {
        let times = match *self.steps.as_slice() {
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
    /// [`Plan::scale`] gave, or none.
    pub(crate) fn stages_into(&self, grid: &Grid, stages: &mut Vec<Stage>) {
        stages.clear();
        let mut frame = grid.frame(grid.picture);
        let mut denominator = grid.scale.denominator();
        for step in &self.steps {
            stages.push(Stage { frame, need: Rect::whole(1, 1) });
            (frame, denominator) = frame.after(step, denominator);
        }
        let mut need = frame.pixels();
        stages.push(Stage { frame, need });
        for (step, stage) in self.steps.iter().zip(stages).rev() {
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
}

impl Grid {
    fn frame(&self, part: Rect) -> Frame {
        let side = |pixels: u32| f64::from(pixels) / f64::from(self.scale.denominator());
        Frame { left: side(part.left), top: side(part.top), width: side(part.width), height: side(part.height) }
    }
}

impl Frame {
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

impl Rect {
    /// Its columns.
    pub(crate) fn columns(&self) -> Range<u32> {
        self.left..self.left + self.width
    }

    /// Its rows.
    pub(crate) fn rows(&self) -> Range<u32> {
        self.top..self.top + self.height
    }

    fn spanning(columns: Range<u32>, rows: Range<u32>) -> Self {
        let (width, height) = (columns.end - columns.start, rows.end - rows.start);
        Self { left: columns.start, top: rows.start, width, height }
    }

    /// What of it is seen in `window` of a canvas on which it lies at `left` and `top`; at least a pixel.
    fn seen_through(self, window: Self, left: u32, top: u32) -> Self {
        let seen = |first: u32, len: u32, window: Range<u32>, at: u32| {
            let start = window.start.saturating_sub(at).min(len - 1);
            let end = window.end.saturating_sub(at).clamp(start + 1, len);
            first + start..first + end
        };
        Self::spanning(
            seen(self.left, self.width, window.columns(), left),
            seen(self.top, self.height, window.rows(), top),
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
