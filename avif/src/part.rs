//! A part of a picture.

/// A part of a picture, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Column of its first pixel.
    pub left: u32,
    /// Row of its first pixel.
    pub top: u32,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl Part {
    /// All of a picture of this size.
    pub fn whole((width, height): (u32, u32)) -> Self {
        Self { left: 0, top: 0, width, height }
    }

    /// Pixels.
    pub(crate) fn area(self) -> usize {
        self.width as usize * self.height as usize
    }

    /// Whether it has pixels, and all of them are in a picture of this size.
    pub(crate) fn is_in(self, (width, height): (u32, u32)) -> bool {
        let inside = |start: u32, len: u32, side: u32| len > 0 && start <= side && len <= side - start;
        inside(self.left, self.width, width) && inside(self.top, self.height, height)
    }
}
