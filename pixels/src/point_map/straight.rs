//! Maps that keep rows and columns: cuts, borders, resizes, mirroring and orientations.

use crate::axis::Axis;

/// Takes points of a picture to points of a result: rows may become columns, then either side is scaled and moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Straight {
    /// Whether x and y change places, first of all.
    swaps: bool,
    columns: Line,
    rows: Line,
    /// Left, top, right and below of what the result shows of the picture. The rest is border.
    window: [f64; 4],
}

/// One direction of a map: `at * scale + offset`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Line {
    scale: f64,
    offset: f64,
}

impl Line {
    pub(crate) const IDENTITY: Self = Self { scale: 1.0, offset: 0.0 };

    /// Turned around in `len` pixels.
    pub(crate) fn mirrored(len: u32) -> Self {
        Self { scale: -1.0, offset: len.into() }
    }

    /// Moved by this much.
    pub(crate) fn moved(by: f64) -> Self {
        Self { scale: 1.0, offset: by }
    }

    /// What a resize does along an axis that counts from pixel `first`.
    pub(crate) fn of_axis(first: u32, axis: &Axis) -> Self {
        let (side, len) = (axis.end - axis.start, f64::from(axis.len));
        let begin = f64::from(first) + axis.start;
        Self { scale: len / side, offset: -begin * len / side }
    }

    fn at(self, at: f64) -> f64 {
        at * self.scale + self.offset
    }

    fn then(self, next: Self) -> Self {
        Self { scale: self.scale * next.scale, offset: next.at(self.offset) }
    }

    fn inverse(self) -> Self {
        Self { scale: 1.0 / self.scale, offset: -self.offset / self.scale }
    }

    /// Where a span is, its lower end first if it was first before.
    fn span(self, low: f64, high: f64) -> (f64, f64) {
        let (low, high) = (self.at(low), self.at(high));
        if self.scale < 0.0 { (high, low) } else { (low, high) }
    }
}

impl Straight {
    /// Every point stays where it is, and nothing is hidden.
    pub(crate) const IDENTITY: Self = Self {
        swaps: false,
        columns: Line::IDENTITY,
        rows: Line::IDENTITY,
        window: [f64::NEG_INFINITY, f64::NEG_INFINITY, f64::INFINITY, f64::INFINITY],
    };

    /// A map whose result shows `window` of the picture.
    pub(crate) fn new(swaps: bool, (columns, rows): (Line, Line), window: [f64; 4]) -> Self {
        Self { swaps, columns, rows, window }
    }

    /// A map of the columns alone, which hides nothing.
    pub(crate) fn of_columns(columns: Line) -> Self {
        Self { columns, ..Self::IDENTITY }
    }

    /// A map of the rows alone, which hides nothing.
    pub(crate) fn of_rows(rows: Line) -> Self {
        Self { rows, ..Self::IDENTITY }
    }

    /// Moves points to the right and down, but not what the result shows.
    pub(super) fn shift(&mut self, [right, down]: [f64; 2]) {
        self.columns = self.columns.then(Line::moved(right));
        self.rows = self.rows.then(Line::moved(down));
    }

    /// All of a picture of this size, where it is.
    pub(crate) fn whole((width, height): (u32, u32)) -> Self {
        Self { window: [0.0, 0.0, width.into(), height.into()], ..Self::IDENTITY }
    }

    /// From fractions of a picture of this size to its pixels.
    pub(crate) fn of_fractions((width, height): (u32, u32)) -> Self {
        let times = |side: u32| Line { scale: side.into(), offset: 0.0 };
        Self { columns: times(width), rows: times(height), ..Self::IDENTITY }
    }

    /// This map, and then another one.
    pub(crate) fn then(self, next: Self) -> Self {
        let (columns, rows) = if next.swaps { (self.rows, self.columns) } else { (self.columns, self.rows) };
        Self {
            swaps: self.swaps != next.swaps,
            columns: columns.then(next.columns),
            rows: rows.then(next.rows),
            window: clip(next.bounds(self.window), next.window),
        }
    }

    /// The way back, which hides nothing.
    pub(crate) fn inverse(self) -> Self {
        let (columns, rows) = (self.columns.inverse(), self.rows.inverse());
        let (columns, rows) = if self.swaps { (rows, columns) } else { (columns, rows) };
        Self { swaps: self.swaps, columns, rows, ..Self::IDENTITY }
    }

    /// Whether it makes a mirror image: one direction is turned around, or the directions change places.
    pub(super) fn is_mirrored(&self) -> bool {
        (self.columns.scale < 0.0) ^ (self.rows.scale < 0.0) ^ self.swaps
    }

    /// Where a point is.
    pub(super) fn at(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let (x, y) = if self.swaps { (y, x) } else { (x, y) };
        [self.columns.at(x), self.rows.at(y)]
    }

    /// Whether a point of the result is one of the picture, and not of the border.
    pub(super) fn shows(&self, [x, y]: [f64; 2]) -> bool {
        let [left, top, right, below] = self.window;
        (left..right).contains(&x) && (top..below).contains(&y)
    }

    /// What the result shows of a box, and how much of the box's area that is.
    pub(super) fn shown(&self, corners: [f64; 4]) -> ([f64; 4], f64) {
        let [left, top, right, below] = self.bounds(corners);
        let clipped = clip([left, top, right, below], self.window);
        // A part of a side is above 0 only if the side is, so nothing is divided by 0. What is no number shows nothing.
        let share = |whole: f64, part: f64| if part > 0.0 && whole.is_finite() { (part / whole).min(1.0) } else { 0.0 };
        (clipped, share(right - left, clipped[2] - clipped[0]) * share(below - top, clipped[3] - clipped[1]))
    }

    /// Where a box is, also beyond what the result shows.
    pub(crate) fn bounds(&self, corners: [f64; 4]) -> [f64; 4] {
        let [left, top, right, below] = corners;
        let [left, top, right, below] = if self.swaps { [top, left, below, right] } else { [left, top, right, below] };
        let ((left, right), (top, below)) = (self.columns.span(left, right), self.rows.span(top, below));
        [left, top, right, below]
    }
}

/// What of a box is in a window. A box beside it ends up at its border.
fn clip([left, top, right, below]: [f64; 4], window: [f64; 4]) -> [f64; 4] {
    let [columns, rows] = [[window[0], window[2]], [window[1], window[3]]];
    let within = |at: f64, [low, high]: [f64; 2]| at.max(low).min(high);
    [within(left, columns), within(top, rows), within(right, columns), within(below, rows)]
}
