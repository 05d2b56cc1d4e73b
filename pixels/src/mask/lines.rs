//! Which pixel of a mask each pixel of the result shows. Rows and columns follow on their own: every step of a plan, and every
//! orientation, is a choice of rows and one of columns, unless it turns or shears the picture. So a chain of steps is one
//! choice, as if each had been carried out, and what turns or shears divides the chain.

use crate::border::Border;
use crate::operation::NearestPixels;
use crate::orientation::Orientation;
use crate::origin::{Annotated, Origin};
use crate::plan::{Plan, Rect, Step};

/// Which pixel of the mask each pixel of the result shows. Its memory is used again.
#[derive(Debug, Default)]
pub(super) struct MaskLines {
    /// From the result back to the first step that turns or shears, seen from the end; or back to the mask.
    pub last: LinePair,
    /// What comes before, the last of them first. Those beyond `bends` are left from another plan.
    earlier: Vec<MaskBend>,
    bends: usize,
    /// The columns count the rows of the mask, and the rows its columns.
    pub swapped: bool,
    /// Width and height of what each step works on.
    sizes: Vec<(u32, u32)>,
}

/// For each column and row of a picture, the one of an earlier picture that it shows.
#[derive(Debug, Default)]
pub(super) struct LinePair {
    /// For each column; [`BORDER`] if the result shows nothing of the picture there.
    pub columns: Vec<u32>,
    /// For each row.
    pub rows: Vec<u32>,
}

/// A step that turns or shears, and what comes before it.
#[derive(Debug)]
struct MaskBend {
    by: NearestPixels,
    before: LinePair,
}

/// No line of the mask.
pub(super) const BORDER: u32 = u32::MAX;

impl MaskLines {
    /// The lines of a mask of the annotated picture, from which the plan's picture was made. They are computed backwards
    /// from the result, step by step.
    pub(super) fn follow(&mut self, plan: &Plan, origin: &Origin, annotated: Annotated) {
        self.bends = 0;
        self.last.start(plan.width, plan.height);
        if plan.mirrored {
            self.last.columns.reverse();
        }
        if plan.flipped {
            self.last.rows.reverse();
        }
        self.sizes(plan, origin.size);
        for number in (0..plan.steps.len()).rev() {
            let size @ (width, height) = self.sizes[number];
            let step = &plan.steps[number];
            if let Some(geometry) = step.geometry(size) {
                self.bend(geometry.nearest(), size);
            }
            let LinePair { columns, rows } = self.first();
            match *step {
                Step::Cut(part) => {
                    each(columns, |column| part.left + column);
                    each(rows, |row| part.top + row);
                }
                Step::Resize { width: to_width, height: to_height, .. } => {
                    let turned = plan.turned_before(number);
                    resized(columns, turned.mirrored, width, to_width);
                    resized(rows, turned.flipped, height, to_height);
                }
                Step::Mirror => each(columns, |column| width - 1 - column),
                Step::Flip => each(rows, |row| height - 1 - row),
                Step::Operate(_) | Step::Turn { .. } => {}
                Step::Canvas { left, top, border, .. } => {
                    each(columns, |column| laid(border, column, left, width));
                    each(rows, |row| laid(border, row, top, height));
                }
            }
        }
        // A picture that was shrunk to be kept was resized as a whole.
        let (stored_width, stored_height) = origin.stored;
        let (wide, high) = origin.turned.seen(stored_width, stored_height);
        let LinePair { columns, rows } = self.first();
        each(columns, |column| nearest(column, wide, origin.size.0));
        each(rows, |row| nearest(row, high, origin.size.1));
        self.swapped = false;
        self.flip(origin.turned, (wide, high));
        self.swapped ^= origin.turned.swaps_sides();
        if annotated == Annotated::AsSeen {
            let seen = origin.orientation.seen(stored_width, stored_height);
            self.swapped ^= origin.orientation.swaps_sides();
            self.flip(origin.orientation, seen);
        }
    }

    /// Whether rows and columns follow on their own all the way, so that `last` says everything.
    pub(super) fn are_straight(&self) -> bool {
        self.bends == 0
    }

    /// Column and row of the mask that a pixel of the result shows, before they are swapped. None for the border.
    pub(super) fn at(&self, column: u32, row: u32) -> Option<(u32, u32)> {
        let first = self.last.at(column, row);
        self.earlier[..self.bends].iter().fold(first, |at, MaskBend { by, before }| {
            let (column, row) = at?;
            let (column, row) = by.at(column, row)?;
            before.at(column, row)
        })
    }

    /// The lines that reach back furthest so far.
    fn first(&mut self) -> &mut LinePair {
        match self.earlier[..self.bends].last_mut() {
            Some(bend) => &mut bend.before,
            None => &mut self.last,
        }
    }

    /// Maps the lines back through a step that turns or shears a picture of this size.
    fn bend(&mut self, by: NearestPixels, (width, height): (u32, u32)) {
        match self.earlier.get_mut(self.bends) {
            Some(bend) => bend.by = by,
            None => self.earlier.push(MaskBend { by, before: LinePair::default() }),
        }
        self.bends += 1;
        self.first().start(width, height);
    }

    fn sizes(&mut self, plan: &Plan, mut size: (u32, u32)) {
        self.sizes.clear();
        for step in &plan.steps {
            self.sizes.push(size);
            size = match *step {
                Step::Mirror | Step::Flip | Step::Operate(_) => size,
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
        let swapped = self.swapped;
        let LinePair { columns, rows } = self.first();
        let (columns, rows) = if swapped { (rows, columns) } else { (columns, rows) };
        if first.left == 1 {
            each(columns, |column| width - 1 - column);
        }
        if first.top == 1 {
            each(rows, |row| height - 1 - row);
        }
    }
}

impl LinePair {
    /// Every line shows itself.
    fn start(&mut self, width: u32, height: u32) {
        for (lines, side) in [(&mut self.columns, width), (&mut self.rows, height)] {
            lines.clear();
            lines.extend(0..side);
        }
    }

    fn at(&self, column: u32, row: u32) -> Option<(u32, u32)> {
        let (column, row) = (self.columns[column as usize], self.rows[row as usize]);
        (column != BORDER && row != BORDER).then_some((column, row))
    }
}

/// Replaces the lines that show something of the picture.
fn each(lines: &mut [u32], source: impl Fn(u32) -> u32) {
    lines.iter_mut().filter(|line| **line != BORDER).for_each(|line| *line = source(*line));
}

/// The lines of a side before a resize, which was mirrored or not.
fn resized(lines: &mut [u32], is_mirrored: bool, from: u32, to: u32) {
    if is_mirrored {
        each(lines, |line| from - 1 - nearest(to - 1 - line, from, to));
    } else {
        each(lines, |line| nearest(line, from, to));
    }
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
