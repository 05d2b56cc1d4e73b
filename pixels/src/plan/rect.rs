//! A part of a picture, in pixels.

use std::ops::Range;

use serde::Serialize;

/// A part of a picture, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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

impl Rect {
    /// How many pixels it has.
    pub(crate) fn area(&self) -> usize {
        self.width as usize * self.height as usize
    }

    /// The smallest part that has both in it.
    pub(crate) fn union(&self, other: Self) -> Self {
        let (left, top) = (self.left.min(other.left), self.top.min(other.top));
        let right = (self.left + self.width).max(other.left + other.width);
        let below = (self.top + self.height).max(other.top + other.height);
        Self { left, top, width: right - left, height: below - top }
    }

    /// Where it is once a picture of this width was mirrored.
    pub(crate) fn mirrored_in(self, width: u32) -> Self {
        Self { left: width - self.left - self.width, ..self }
    }

    /// Where it is once a picture of this height was mirrored top to bottom.
    pub(crate) fn flipped_in(self, height: u32) -> Self {
        Self { top: height - self.top - self.height, ..self }
    }

    /// The same, counted from the corner of a part that it lies in.
    pub(crate) fn seen_from(self, part: Self) -> Self {
        Self { left: self.left - part.left, top: self.top - part.top, ..self }
    }

    /// All of a picture of this size.
    pub(crate) fn whole(width: u32, height: u32) -> Self {
        Self { left: 0, top: 0, width, height }
    }

    /// Its columns.
    pub(crate) fn columns(&self) -> Range<u32> {
        self.left..self.left + self.width
    }

    /// Its rows.
    pub(crate) fn rows(&self) -> Range<u32> {
        self.top..self.top + self.height
    }

    pub(super) fn spanning(columns: Range<u32>, rows: Range<u32>) -> Self {
        let (width, height) = (columns.end - columns.start, rows.end - rows.start);
        Self { left: columns.start, top: rows.start, width, height }
    }

    /// What of it is seen in `window` of a canvas on which it lies at `left` and `top`; at least a pixel.
    pub(super) fn seen_through(self, window: Self, left: u32, top: u32) -> Self {
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

    /// Copies this part of a picture or a mask that is `width` pixels wide and has `bytes` bytes per pixel.
    pub fn copy(self, width: u32, bytes: usize, from: &[u8], to: &mut [u8]) {
        let line = width as usize * bytes;
        let (first, len) = (self.left as usize * bytes, self.width as usize * bytes);
        let lines = from.chunks_exact(line).zip(to.chunks_exact_mut(line));
        for (from, to) in lines.skip(self.top as usize).take(self.height as usize) {
            to[first..first + len].copy_from_slice(&from[first..first + len]);
        }
    }
}
