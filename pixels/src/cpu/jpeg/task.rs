//! What to decode of a JPEG: pure data, the same for every decoder.

use std::time::Instant;

use crate::cpu::jpeg::head::JpegHead;
use crate::fault::{Fault, Limits};
use crate::plan::Rect;
use crate::scale::Scale;

/// What to decode of a JPEG.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JpegTask<'a> {
    /// The file.
    pub(crate) bytes: &'a [u8],
    /// What its markers say.
    pub(crate) head: &'a JpegHead,
    /// How much smaller.
    pub(crate) scale: Scale,
    /// The part that is wanted, in pixels of the stored picture as it is scaled.
    pub(crate) part: Rect,
    /// What it may cost.
    pub(crate) limits: &'a Limits,
    /// When the work on the picture began: its time limit is that of all decoders together.
    pub(crate) begun: Instant,
}

impl JpegTask<'_> {
    /// Width and height of the stored picture as it is scaled.
    pub(super) fn size(&self) -> (u32, u32) {
        (self.scale.side(self.head.width), self.scale.side(self.head.height))
    }

    pub(super) fn check_time(&self) -> Result<(), Fault> {
        self.limits.check_time(self.begun)
    }
}
