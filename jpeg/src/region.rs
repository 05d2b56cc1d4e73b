//! A part of a picture, and which MCUs must be decoded for it.

#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::frame::Frame;
use crate::upsample::Upsampling;

/// A rectangle of the decoded (scaled) picture, in pixels. It is not empty and lies in the picture.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Region {
    /// Columns before it.
    pub left: u32,
    /// Rows above it.
    pub top: u32,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

/// The MCUs that a region needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Cut {
    pub(crate) region: Region,
    /// Columns of MCUs that are transformed.
    pub(crate) columns: Range<u32>,
    /// Rows of MCUs that are transformed; those above are only parsed.
    pub(crate) rows: Range<u32>,
    /// Rows of MCUs that have luma of the region; the others are there for the chroma beside it.
    pub(crate) luma_rows: Range<u32>,
}

impl Region {
    /// The whole of a picture of this size.
    pub fn whole(width: u32, height: u32) -> Self {
        Self { left: 0, top: 0, width, height }
    }

    /// Whether it is not empty and lies in a picture of this size.
    pub(crate) fn is_in(&self, width: u32, height: u32) -> bool {
        let inside = |start: u32, len: u32, side: u32| len > 0 && start < side && len <= side - start;
        inside(self.left, self.width, width) && inside(self.top, self.height, height)
    }
}

impl Cut {
    /// No MCU: all are only parsed.
    pub(crate) fn nothing() -> Self {
        let region = Region { left: 0, top: 0, width: 0, height: 0 };
        Self { region, columns: 0..0, rows: 0..0, luma_rows: 0..0 }
    }

    /// The region lies in the frame.
    pub(crate) fn new(frame: &Frame, region: Region) -> Self {
        // A triangle filter also reads the nearest sample on the other side of a pixel: the one of its neighbour.
        let (across, down) = match frame.layouts[frame.count - 1].upsampling {
            Upsampling::Repeat(_) => (0, 0),
            Upsampling::Across => (1, 0),
            Upsampling::Down => (0, 1),
            Upsampling::Both => (1, 1),
        };
        let mcus = |start: u32, len: u32, margin: u32, side: u32, mcu: u32| {
            start.saturating_sub(margin) / mcu..(start + len + margin).min(side).div_ceil(mcu)
        };
        Self {
            region,
            columns: mcus(region.left, region.width, across, frame.width, frame.mcu.0),
            rows: mcus(region.top, region.height, down, frame.height, frame.mcu.1),
            luma_rows: mcus(region.top, region.height, 0, frame.height, frame.mcu.1),
        }
    }
}
