//! A part of a picture, and the part that libwebp must decode for it.

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
    /// The part that must be decoded for this one. libwebp takes the edges of what it decodes for the edges of the picture when it
    /// makes colours of a finer grid than they have. So the part is widened by a sample of colour on each side, and begins where
    /// one begins.
    pub(crate) fn widened(self, (width, height): (u32, u32)) -> Self {
        let (left, wide) = widened(self.left, self.width, width);
        let (top, high) = widened(self.top, self.height, height);
        Self { left, top, width: wide, height: high }
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

/// Pixels that a sample of colour has on a side.
const SAMPLE: u32 = 2;

fn widened(start: u32, len: u32, side: u32) -> (u32, u32) {
    let first = start.saturating_sub(SAMPLE) / SAMPLE * SAMPLE;
    let end = (start + len + SAMPLE).min(side);
    (first, end - first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_widened_by_a_sample_and_begins_on_an_even_pixel() {
        let part = |left, top, width, height| Part { left, top, width, height };
        let size = (20, 30);
        assert_eq!(part(7, 8, 4, 5).widened(size), part(4, 6, 9, 9));
        assert_eq!(part(0, 1, 20, 29).widened(size), part(0, 0, 20, 30));
        assert_eq!(part(19, 29, 1, 1).widened(size), part(16, 26, 4, 4));
        assert!(!part(19, 29, 2, 1).is_in(size) && !part(0, 0, 0, 1).is_in(size) && part(0, 0, 20, 30).is_in(size));
        assert!(!part(u32::MAX, 0, u32::MAX, 1).is_in(size));
    }
}
