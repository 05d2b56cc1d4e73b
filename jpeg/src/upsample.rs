//! Upsampling: from the samples of a component with fewer of them than there are pixels, one for each pixel.
//!
//! The triangle filter ("fancy upsampling") is libjpeg-turbo's, with its roundings: a pixel takes three quarters of the
//! nearer sample and one quarter of the further one, in each direction in which samples are missing.

mod triangle;

use std::ops::Range;

/// How the samples of a component become one for each pixel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Upsampling {
    /// Every sample is repeated this many times in its row; 1 if there is already one for each pixel. If there are fewer
    /// rows than pixels, the caller passes a row again.
    Repeat(usize),
    /// Triangle filter across: 4:2:2.
    Across,
    /// Triangle filter down: 4:4:0.
    Down,
    /// Triangle filter across and down: 4:2:0.
    Both,
}

impl Upsampling {
    /// What libjpeg-turbo takes for a component with one sample for `across` times `down` pixels and `width` samples in a
    /// row. `smooth` is false where DCT scaling leaves a single sample of a block.
    pub const fn choose(across: usize, down: usize, width: usize, smooth: bool) -> Self {
        match (across, down) {
            (2, 1) if smooth && width > 2 => Self::Across,
            (2, 2) if smooth && width > 2 => Self::Both,
            (1, 2) if smooth => Self::Down,
            _ => Self::Repeat(across),
        }
    }

    /// Pixels for a sample, across.
    pub const fn across(self) -> usize {
        match self {
            Self::Repeat(times) => times,
            Self::Across | Self::Both => 2,
            Self::Down => 1,
        }
    }

    /// Whether the row above or below is needed.
    pub(crate) const fn needs_far(self) -> bool {
        matches!(self, Self::Down | Self::Both)
    }
}

/// The samples of one component from which a row of pixels is made. Both rows have the same length; where one ends, its
/// last sample is taken for the one that would follow. So they end where the component does (its own width, not that of
/// its blocks), or at least one sample beyond the pixels that are asked for.
#[derive(Clone, Copy, Debug)]
pub struct RowPair<'a> {
    /// The row in which the pixels lie.
    pub near: &'a [u8],
    /// The nearer of its neighbours; the row itself where the picture ends, or where it is not needed.
    pub far: &'a [u8],
    /// Whether `far` is the row below.
    pub below: bool,
}

/// Upsamples a row of pixels, or a span of it: pixel `from` of those that `rows` cover, and following ones, as many as
/// `out` has place for.
///
/// # Panics
///
/// If `rows` does not cover these pixels, or if its rows differ in length where both are needed.
pub fn row(upsampling: Upsampling, rows: RowPair<'_>, from: usize, out: &mut [u8]) {
    let pixels = from..from + out.len();
    let covered = rows.near.len() * upsampling.across();
    assert!(pixels.end <= covered, "pixels up to {} are asked for, samples cover {covered}", pixels.end);
    match upsampling {
        Upsampling::Repeat(times) => repeat(times, rows.near, &pixels, out),
        Upsampling::Across => triangle::across(rows.near, &pixels, out),
        Upsampling::Down => triangle::down(rows, &pixels, out),
        Upsampling::Both => triangle::both(rows, &pixels, out),
    }
}

fn repeat(times: usize, row: &[u8], pixels: &Range<usize>, out: &mut [u8]) {
    match times {
        1 => out.copy_from_slice(&row[pixels.clone()]),
        2 => repeat_by::<2>(row, pixels, out),
        4 => repeat_by::<4>(row, pixels, out),
        _ => pixels.clone().zip(out).for_each(|(pixel, out)| *out = row[pixel / times]),
    }
}

fn repeat_by<const TIMES: usize>(row: &[u8], pixels: &Range<usize>, out: &mut [u8]) {
    // Up to where a sample's pixels begin.
    let part = (pixels.start.next_multiple_of(TIMES) - pixels.start).min(out.len());
    let (part, whole) = out.split_at_mut(part);
    part.fill(row.get(pixels.start / TIMES).copied().unwrap_or_default());
    let row = row.get(pixels.start.div_ceil(TIMES)..).unwrap_or_default();
    let (whole, rest) = whole.as_chunks_mut::<TIMES>();
    rest.fill(row.get(whole.len()).copied().unwrap_or_default());
    whole.iter_mut().zip(row).for_each(|(out, &sample)| *out = [sample; TIMES]);
}
