//! JPEG: what to decode is said here, as pure data; the decoders that do it stand behind this file, one file each.
//!
//! A new decoder is its file and its line in [`JpegDecoders::decode`].

pub(crate) mod head;
mod turbo;

use crate::cpu::canvas::Canvas;
use crate::fault::{Fault, Limits};
use crate::plan::Rect;
use crate::scale::Scale;
use head::JpegHead;
use turbo::TurboReader;

/// What to decode of a JPEG.
#[derive(Clone, Copy, Debug)]
pub(super) struct JpegTask<'a> {
    /// The file.
    pub(super) bytes: &'a [u8],
    /// What its markers say.
    pub(super) head: &'a JpegHead,
    /// How much smaller.
    pub(super) scale: Scale,
    /// The part that is wanted, in pixels of the stored picture as it is scaled.
    pub(super) part: Rect,
    /// What it may cost.
    pub(super) limits: &'a Limits,
}

/// The decoders of one thread.
#[derive(Debug, Default)]
pub(super) struct JpegDecoders {
    turbo: TurboReader,
}

impl JpegTask<'_> {
    /// Width and height of the stored picture as it is scaled.
    fn size(&self) -> (u32, u32) {
        (self.scale.side(self.head.width), self.scale.side(self.head.height))
    }
}

impl JpegDecoders {
    /// Decodes at least the part into the canvas, and tells what stands there, in the task's pixels.
    ///
    /// Decoders are asked in order. One that is sure of some kinds only leaves all others, and every file in which it meets
    /// anything irregular, to the next; libjpeg-turbo is the last, so that what is forgiven is one decoder's decision alone.
    ///
    /// # Errors
    /// The picture's [`Fault`], as libjpeg-turbo sees it.
    pub(super) fn decode(&mut self, task: &JpegTask<'_>, canvas: &mut Canvas) -> Result<Rect, Fault> {
        self.turbo.decode(task, canvas)
    }
}
