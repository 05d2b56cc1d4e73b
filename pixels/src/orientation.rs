//! How a stored picture is turned to be seen.

pub(crate) mod metadata;

use crate::plan::Rect;

/// How the stored pixels are turned to be seen: EXIF orientation, by its number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Orientation {
    /// 1: as stored.
    #[default]
    AsStored = 1,
    /// 2: mirrored left to right.
    Mirrored = 2,
    /// 3: turned by half.
    Half = 3,
    /// 4: mirrored top to bottom.
    UpsideDown = 4,
    /// 5: rows become columns.
    Transposed = 5,
    /// 6: turned right by a quarter.
    Right = 6,
    /// 7: rows become columns, turned by half.
    Transversed = 7,
    /// 8: turned left by a quarter.
    Left = 8,
}

impl Orientation {
    /// The orientation of an EXIF number; anything else than 1 to 8 is as stored.
    pub fn from_exif(number: u16) -> Self {
        match number {
            2 => Self::Mirrored,
            3 => Self::Half,
            4 => Self::UpsideDown,
            5 => Self::Transposed,
            6 => Self::Right,
            7 => Self::Transversed,
            8 => Self::Left,
            _ => Self::AsStored,
        }
    }

    /// This orientation where pictures are turned as theirs says, else none.
    pub(crate) fn adjusted(self, adjusts: bool) -> Self {
        if adjusts { self } else { Self::AsStored }
    }

    /// Whether rows become columns.
    pub(crate) fn swaps_sides(self) -> bool {
        self as u8 >= Self::Transposed as u8
    }

    /// Width and height as seen of a stored width and height.
    pub fn seen(self, width: u32, height: u32) -> (u32, u32) {
        if self.swaps_sides() { (height, width) } else { (width, height) }
    }

    /// Where a part of a `width` x `height` stored picture is seen.
    pub(crate) fn seen_part(self, part: Rect, width: u32, height: u32) -> Rect {
        let Rect { left, top, width: wide, height: high } = part;
        let (right, below) = (width - left - wide, height - top - high);
        let (left, top) = match self {
            Self::AsStored => (left, top),
            Self::Mirrored => (right, top),
            Self::Half => (right, below),
            Self::UpsideDown => (left, below),
            Self::Transposed => (top, left),
            Self::Right => (below, left),
            Self::Transversed => (below, right),
            Self::Left => (top, right),
        };
        let (width, height) = self.seen(wide, high);
        Rect { left, top, width, height }
    }

    /// Where a part of the picture as seen is in the stored picture, whose size is `width` x `height`.
    pub(crate) fn stored_part(self, part: Rect, width: u32, height: u32) -> Rect {
        let back = match self {
            Self::Right => Self::Left,
            Self::Left => Self::Right,
            itself => itself,
        };
        let (width, height) = self.seen(width, height);
        back.seen_part(part, width, height)
    }
}
