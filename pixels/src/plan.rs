//! What is done with one picture: pure data, made of a recipe, the picture's size and its draws.
//!
//! Coordinates are pixels of the picture as seen, that is after its EXIF orientation. Mirroring, in either direction, is carried
//! to the end: the cuts and borders that follow a mirrored step are mirrored instead, and the last pass reads rows backwards, or
//! writes them from below. Operations see the picture as it is at their place, so that before them it is mirrored at once.

mod keypoint_shifts;
mod objects;
pub(crate) mod points;
mod rect;
pub(crate) mod stage;

use serde::Serialize;

use crate::border::Border;
use crate::fault::{Fault, Limits};
use crate::interpolation::Interpolation;
use crate::keypoint_flip::KeypointFlip;
use crate::operation::{Geometry, Operation, Rotate};
use crate::paint::Paint;
use keypoint_shifts::KeypointShifts;
use objects::PlanObjects;
pub use rect::Rect;

/// One thing to do with the result of the step before, or with the picture. Written as a document, it is a table with one key:
/// `{"resize": {"width": 224, "height": 224, "interpolation": "bilinear"}}`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
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
        /// What the rest shows.
        border: Border,
    },
    /// Mirror it left to right.
    Mirror,
    /// Mirror it top to bottom.
    Flip,
    /// Change its values.
    Operate(Operation),
    /// Rotate it, with a result that shows all of it.
    Turn {
        /// How.
        rotate: Rotate,
        /// Width of the result.
        width: u32,
        /// Height of the result.
        height: u32,
    },
}

/// In which directions a picture was mirrored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Turned {
    /// Left to right.
    pub(crate) mirrored: bool,
    /// Top to bottom.
    pub(crate) flipped: bool,
}

/// What is done with one picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The steps, in order. Two cuts never follow each other, and no step leaves everything as it was.
    pub steps: Vec<Step>,
    /// Whether the result is mirrored left to right, last of all.
    pub mirrored: bool,
    /// Whether the result is mirrored top to bottom, last of all.
    pub flipped: bool,
    /// Width of the result.
    pub width: u32,
    /// Height of the result.
    pub height: u32,
    /// The part of the result that the picture has in a mosaic. None if the result does not reach as far, and without a mosaic.
    pub(crate) tile: Option<Rect>,
    /// The numbers of the steps before which the picture was mirrored, of those that resize, and in which directions. Only masks
    /// ask for that, whose nearest pixel is not the same from either side.
    pub(crate) turned: Vec<(usize, Turned)>,
    /// By how much keypoints are moved, in addition to the picture's own moves.
    pub(crate) keypoints: KeypointShifts,
    /// Why the picture is refused, if a transform refuses it. The steps then give a result of the right size all the same.
    pub(crate) refusal: Option<Fault>,
    /// The objects of the picture, if a transform draws by them.
    pub(crate) objects: PlanObjects,
}

impl Step {
    /// The operation, if it is one.
    pub(crate) fn as_operation(&self) -> Option<&Operation> {
        match self {
            Self::Operate(operation) => Some(operation),
            _ => None,
        }
    }

    /// How it turns or shears a picture of this width and height, if it does.
    pub(crate) fn geometry(&self, size: (u32, u32)) -> Option<Geometry> {
        match self {
            Self::Operate(operation) => operation.geometry(size),
            Self::Turn { rotate, width, height } => Some(rotate.expanding(size, (*width, *height))),
            _ => None,
        }
    }
}

impl Plan {
    /// Looks whether a transform refuses the picture, and whether each step's result is within the limits. So nothing is
    /// computed for a picture that fails.
    pub(crate) fn check(&self, limits: &Limits) -> Result<(), Fault> {
        self.refusal.clone().map_or(Ok(()), Err)?;
        self.steps.iter().try_for_each(|step| match *step {
            Step::Cut(_) | Step::Mirror | Step::Flip | Step::Operate(_) => Ok(()),
            Step::Resize { width, height, .. }
            | Step::Canvas { width, height, .. }
            | Step::Turn { width, height, .. } => limits.check_pixels(width, height).map(drop),
        })
    }

    /// In which directions the picture was mirrored before this step, which resizes.
    pub(crate) fn turned_before(&self, step: usize) -> Turned {
        self.turned.iter().find(|(number, _)| *number == step).map_or_else(Turned::default, |(_, turned)| *turned)
    }

    /// Whether a transform has dropped an object of the record, for each in the order of its boxes. Empty if the recipe does not
    /// draw by boxes.
    pub fn dropped(&self) -> &[bool] {
        self.objects.dropped()
    }

    /// Whether keypoints go elsewhere than other points.
    pub fn shifts_keypoints(&self) -> bool {
        self.keypoints.is_some()
    }

    /// Whether the result is mirrored left to right, and top to bottom, by all steps together.
    pub(crate) fn turns(&self) -> (bool, bool) {
        let count = |of: &Step| self.steps.iter().filter(|step| *step == of).count() % 2 == 1;
        (self.mirrored != count(&Step::Mirror), self.flipped != count(&Step::Flip))
    }

    pub(crate) fn begin(&mut self, width: u32, height: u32) {
        assert!(width > 0 && height > 0, "a decoder has refused a picture without pixels");
        self.steps.clear();
        self.turned.clear();
        self.keypoints.begin();
        self.refusal = None;
        self.tile = None;
        self.objects.begin((width, height));
        (self.mirrored, self.flipped) = (false, false);
        (self.width, self.height) = (width, height);
    }

    pub(crate) fn cut(&mut self, mut rect: Rect) {
        if (rect.width, rect.height) == (self.width, self.height) {
            return;
        }
        if self.mirrored {
            rect = rect.mirrored_in(self.width);
        }
        if self.flipped {
            rect = rect.flipped_in(self.height);
        }
        (self.width, self.height) = (rect.width, rect.height);
        if let Some(Step::Cut(last)) = self.steps.last_mut() {
            *last = Rect { left: last.left + rect.left, top: last.top + rect.top, ..rect };
        } else {
            self.steps.push(Step::Cut(rect));
        }
    }

    pub(crate) fn resize(&mut self, width: u32, height: u32, interpolation: Interpolation) {
        if (width, height) == (self.width, self.height) {
            return;
        }
        let (across, down) = (f64::from(width) / f64::from(self.width), f64::from(height) / f64::from(self.height));
        self.keypoints.scale(across, down);
        (self.width, self.height) = (width, height);
        let turned = Turned { mirrored: self.mirrored, flipped: self.flipped };
        if turned != Turned::default() {
            self.turned.push((self.steps.len(), turned));
        }
        self.steps.push(Step::Resize { width, height, interpolation });
    }

    /// Refuses a picture that is not of this size here.
    pub(crate) fn expect(&mut self, width: u32, height: u32) {
        if (width, height) != (self.width, self.height) {
            let found = (self.width, self.height);
            self.refuse(Fault::WrongSize { found, expected: (width, height) }, (width, height));
        }
    }

    /// Refuses a picture. The transforms that follow still see this size. The first refusal counts.
    pub(crate) fn refuse(&mut self, fault: Fault, (width, height): (u32, u32)) {
        self.refusal.get_or_insert(fault);
        self.resize(width, height, Interpolation::Nearest);
    }

    /// Grows to at least this size, `left` and `top` being the border on these sides.
    pub(crate) fn grow(&mut self, width: u32, height: u32, mut left: u32, mut top: u32, border: Border) {
        if (width, height) == (self.width, self.height) {
            return;
        }
        if self.mirrored {
            left = width - self.width - left;
        }
        if self.flipped {
            top = height - self.height - top;
        }
        (self.width, self.height) = (width, height);
        self.steps.push(Step::Canvas { width, height, left, top, border });
    }

    /// Lays the picture on a canvas of this size. Its corner is at `left` and `top`, which may be outside. `shown` has the
    /// columns and rows of the canvas in which the picture is visible. Without them, the canvas shows only the border.
    pub(crate) fn lay(
        &mut self,
        (left, top): (i64, i64),
        shown: Option<((i64, i64), (i64, i64))>,
        (width, height): (u32, u32),
        border: Border,
    ) {
        let at = |line: i64| u32::try_from(line).unwrap_or(0);
        let Some(((first, last), (upper, lower))) = shown else {
            // A pixel is laid beside what is kept of the canvas.
            self.cut(Rect { left: 0, top: 0, width: 1, height: 1 });
            self.grow(width + 1, height, width, 0, border);
            return self.cut(Rect::whole(width, height));
        };
        self.cut(Rect {
            left: at(first - left),
            top: at(upper - top),
            width: at(last - first),
            height: at(lower - upper),
        });
        self.grow(width, height, at(first), at(upper), border);
    }

    /// Keeps a part that may extend beyond the picture, where all its values are 0. First the picture is cut to the part, so that the
    /// canvas needs no more room than the part. If the picture is entirely outside the part, one pixel of it is kept.
    pub(crate) fn window(&mut self, left: i32, top: i32, width: u32, height: u32) {
        let shown = |first: i32, len: u32, side: u32| {
            let begin = u32::try_from(first).unwrap_or(0).min(side - 1);
            let end = u32::try_from(i64::from(first) + i64::from(len)).unwrap_or(0).clamp(begin + 1, side);
            (begin, end - begin)
        };
        let ((column, wide), (row, high)) = (shown(left, width, self.width), shown(top, height, self.height));
        self.cut(Rect { left: column, top: row, width: wide, height: high });
        let (left, top) = (left.saturating_sub_unsigned(column), top.saturating_sub_unsigned(row));
        let before = |first: i32| first.min(0).unsigned_abs();
        let after = |first: i32, len: u32, side: u32| {
            u32::try_from(i64::from(first) + i64::from(len) - i64::from(side)).unwrap_or(0)
        };
        let grown_width = before(left).saturating_add(self.width).saturating_add(after(left, width, self.width));
        let grown_height = before(top).saturating_add(self.height).saturating_add(after(top, height, self.height));
        self.grow(grown_width, grown_height, before(left), before(top), Border::Fill(Paint::One(0)));
        self.cut(Rect { left: left.max(0).unsigned_abs(), top: top.max(0).unsigned_abs(), width, height });
    }

    /// Rotates the picture, and shows all of it.
    pub(crate) fn turn(&mut self, rotate: Rotate) {
        self.mirror_at_once();
        (self.width, self.height) = rotate.expanded(self.width, self.height);
        self.steps.push(Step::Turn { rotate, width: self.width, height: self.height });
    }

    /// Mirrors the picture left to right.
    pub(crate) fn mirror(&mut self, keypoints: KeypointFlip) {
        self.mirrored = !self.mirrored;
        self.keypoints.last[0] = keypoints.shifted(self.keypoints.last[0]);
        self.tile = self.tile.map(|tile| tile.mirrored_in(self.width));
    }

    /// Mirrors the picture top to bottom.
    pub(crate) fn flip(&mut self, keypoints: KeypointFlip) {
        self.flipped = !self.flipped;
        self.keypoints.last[1] = keypoints.shifted(self.keypoints.last[1]);
        self.tile = self.tile.map(|tile| tile.flipped_in(self.height));
    }

    /// Mirrors the picture here if it was to be mirrored at the end, and moves its keypoints.
    fn mirror_at_once(&mut self) {
        if std::mem::take(&mut self.mirrored) {
            self.steps.push(Step::Mirror);
        }
        if std::mem::take(&mut self.flipped) {
            self.steps.push(Step::Flip);
        }
        self.keypoints.settle(self.steps.len());
    }

    pub(crate) fn operate(&mut self, operation: Operation) {
        self.mirror_at_once();
        self.steps.push(Step::Operate(operation));
    }
}
