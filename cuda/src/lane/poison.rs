//! What surfaces hold before they are decoded into. An engine that passes a picture over and reports success would leave there
//! what the picture before had, and another record would be seen. So whatever was read is overwritten at once, and a picture
//! whose last pixels still have the pattern was not decoded.
#![allow(unsafe_code, reason = "queues work on memory that has to be left alone")]

use std::ops::Range;

use super::LaneError;
use super::gpu::Gpu;
use crate::driver::{CudaError, DeviceMemory, PinnedMemory, Stream};
use crate::frame::{Placed, Surface};

/// Four samples in turn. A picture that happens to have them at its end is decoded by the next lane, which does no harm.
const PATTERN: [u8; 4] = [0xA5, 0x3C, 0x96, 0x0F];

/// Samples at the end of a picture's last row that are looked at, at most.
const LOOKED_AT: usize = 32;

/// Pictures that are looked at together.
pub(super) const MOST_PICTURES: usize = 512;

/// Bytes of page-locked memory of the host that a worker takes for it.
pub(super) const PAGE_LOCKED: usize = MOST_PICTURES * LOOKED_AT;

/// The last pixels of the pictures of a call.
#[derive(Debug)]
pub(super) struct Poison {
    seen: PinnedMemory,
}

impl Poison {
    /// Lays the pattern over surfaces that hold nothing yet.
    pub(super) fn new(gpu: &Gpu, surfaces: &DeviceMemory, stream: &mut Stream) -> Result<Self, LaneError> {
        let seen = PinnedMemory::new(gpu.context(), PAGE_LOCKED)?;
        // SAFETY: the surfaces are new, and the wait is next.
        let queued = unsafe { Self::lay(stream, surfaces, surfaces.len() / PATTERN.len() * PATTERN.len()) };
        stream.wait()?;
        queued?;
        Ok(Self { seen })
    }

    /// Queues the pattern for the first `len` bytes of the surfaces, behind all that reads them.
    ///
    /// # Safety
    /// Nothing is decoded into them before [`Stream::wait`] has returned.
    pub(super) unsafe fn lay(stream: &mut Stream, surfaces: &DeviceMemory, len: usize) -> Result<(), CudaError> {
        // SAFETY: as the caller promises.
        unsafe { stream.begin_fill(surfaces, len, PATTERN) }
    }

    /// Queues a copy of the last pixels of a picture, which has this number among those of the call.
    ///
    /// # Safety
    /// This value is not used before [`Stream::wait`] has returned.
    pub(super) unsafe fn look(
        &mut self,
        stream: &mut Stream,
        surfaces: &DeviceMemory,
        number: usize,
        placed: &Placed<'_>,
    ) -> Result<(), CudaError> {
        let last = last(&placed.surface);
        let to = &mut self.seen[number * LOOKED_AT..][..last.len()];
        // SAFETY: as the caller promises.
        unsafe { stream.begin_read_at(surfaces, placed.at + last.start, to) }
    }

    /// Whether nothing was written to the last pixels of a picture that was looked at.
    pub(super) fn is_left(&self, number: usize, surface: &Surface) -> bool {
        let seen = &self.seen[number * LOOKED_AT..][..last(surface).len()];
        // Planes and rows are aligned, so each of these words is the whole pattern.
        let (words, rest) = seen.as_chunks();
        if words.is_empty() { *rest == PATTERN[..rest.len()] } else { words.contains(&PATTERN) }
    }
}

/// Where the end of the last row of the first plane is in a surface: whole words of the pattern, but for the last one.
fn last(surface: &Surface) -> Range<usize> {
    let plane = surface.planes()[0];
    let skipped = plane.width.saturating_sub(LOOKED_AT).next_multiple_of(PATTERN.len());
    let row = plane.offset + (plane.height - 1) * plane.pitch;
    row + skipped..row + plane.width
}
