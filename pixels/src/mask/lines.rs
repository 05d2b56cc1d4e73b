//! Which pixel of a mask each pixel of the result shows. Rows and columns follow on their own: every step of a plan, and every
//! orientation, is a choice of rows and one of columns. So a chain of steps is one choice, as if each had been carried out.

use crate::border::Border;
use crate::orientation::Orientation;
use crate::origin::{Annotated, Origin};
use crate::plan::{Plan, Rect, Step};

/// For each column and row of the result, the one of the mask that it shows.
#[derive(Debug, Default)]
pub(super) struct MaskLines {
    /// For each column; [`BORDER`] where the result shows nothing of the picture.
    pub columns: Vec<u32>,
    /// For each row.
    pub rows: Vec<u32>,
    /// The columns count the rows of the mask, and the rows its columns.
    pub swapped: bool,
    /// Width and height of what each step works on.
    sizes: Vec<(u32, u32)>,
}

/// No line of the mask.
pub(super) const BORDER: u32 = u32::MAX;

impl MaskLines {
    /// Those of a mask of the annotated picture, from which the plan's picture was made. Goes back from the result, step by
    /// step.
    pub(super) fn follow(&mut self, plan: &Plan, origin: &Origin, annotated: Annotated) {
        self.start(plan);
        self.sizes(plan, origin.size);
        for number in (0..plan.steps.len()).rev() {
            let (width, height) = self.sizes[number];
            match plan.steps[number] {
                Step::Cut(part) => {
                    each(&mut self.columns, |column| part.left + column);
                    each(&mut self.rows, |row| part.top + row);
                }
                Step::Resize { width: to_width, height: to_height, .. } => {
                    if plan.is_mirrored_before(number) {
                        each(&mut self.columns, |column| width - 1 - nearest(to_width - 1 - column, width, to_width));
                    } else {
                        each(&mut self.columns, |column| nearest(column, width, to_width));
                    }
                    each(&mut self.rows, |row| nearest(row, height, to_height));
                }
                Step::Mirror => each(&mut self.columns, |column| width - 1 - column),
                Step::Operate(_) => {}
                // No mask follows a rotation: these only stay within it.
                Step::Turn { .. } => {
                    each(&mut self.columns, |column| column.min(width - 1));
                    each(&mut self.rows, |row| row.min(height - 1));
                }
                Step::Canvas { left, top, border, .. } => {
                    each(&mut self.columns, |column| laid(border, column, left, width));
                    each(&mut self.rows, |row| laid(border, row, top, height));
                }
            }
        }
        // A picture that was shrunk to be kept was resized as a whole.
        let (stored_width, stored_height) = origin.stored;
        let (wide, high) = origin.turned.seen(stored_width, stored_height);
        each(&mut self.columns, |column| nearest(column, wide, origin.size.0));
        each(&mut self.rows, |row| nearest(row, high, origin.size.1));
        self.swapped = false;
        self.flip(origin.turned, (wide, high));
        self.swapped ^= origin.turned.swaps_sides();
        if annotated == Annotated::AsSeen {
            let seen = origin.orientation.seen(stored_width, stored_height);
            self.swapped ^= origin.orientation.swaps_sides();
            self.flip(origin.orientation, seen);
        }
    }

    /// Every line of the result shows itself, last of all mirrored.
    fn start(&mut self, plan: &Plan) {
        self.columns.clear();
        self.columns.extend(0..plan.width);
        if plan.mirrored {
            self.columns.reverse();
        }
        self.rows.clear();
        self.rows.extend(0..plan.height);
    }

    fn sizes(&mut self, plan: &Plan, mut size: (u32, u32)) {
        self.sizes.clear();
        for step in &plan.steps {
            self.sizes.push(size);
            size = match *step {
                Step::Mirror | Step::Operate(_) => size,
                Step::Cut(part) => (part.width, part.height),
                Step::Resize { width, height, .. }
                | Step::Canvas { width, height, .. }
                | Step::Turn { width, height, .. } => (width, height),
            };
        }
    }

    /// Turns the lines around that an orientation turns around in a picture of this size as it is seen.
    fn flip(&mut self, orientation: Orientation, (width, height): (u32, u32)) {
        // Where the first of two pixels on either side is seen tells whether a side is turned around.
        let first = orientation.seen_part(Rect::whole(1, 1), 2, 2);
        let (columns, rows) =
            if self.swapped { (&mut self.rows, &mut self.columns) } else { (&mut self.columns, &mut self.rows) };
        if first.left == 1 {
            each(columns, |column| width - 1 - column);
        }
        if first.top == 1 {
            each(rows, |row| height - 1 - row);
        }
    }
}

/// Replaces the lines that show something of the picture.
fn each(lines: &mut [u32], source: impl Fn(u32) -> u32) {
    lines.iter_mut().filter(|line| **line != BORDER).for_each(|line| *line = source(*line));
}

/// The pixel that a line of a canvas shows, on which a picture of this side begins at `first`.
fn laid(border: Border, line: u32, first: u32, side: u32) -> u32 {
    border.line(i64::from(line) - i64::from(first), side).unwrap_or(BORDER)
}

/// The pixel that torch's nearest interpolation takes: `floor(at * (from / to))` in single precision, except where a side
/// stays as it is or doubles. torchvision resizes masks by it. It is not what Pillow's filter of that name takes.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "as torch calculates it; sides are far below 2^24, and the result is neither negative nor large"
)]
fn nearest(at: u32, from: u32, to: u32) -> u32 {
    if from == to {
        return at;
    }
    if u64::from(to) == 2 * u64::from(from) {
        return at / 2;
    }
    let scale = from as f32 / to as f32;
    ((at as f32 * scale) as u32).min(from - 1)
}
