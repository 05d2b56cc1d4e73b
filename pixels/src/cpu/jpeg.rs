//! JPEG: what to decode is said here, as pure data; the decoders that do it stand behind this file, one file each.
//!
//! A new decoder is its file, its line in [`JpegDecoders::decode`] and its name in [`DecodedBy`].

pub(crate) mod choice;
pub(crate) mod head;
mod own;
pub(crate) mod turbo;
mod zune;

use std::time::Instant;

use crate::cpu::canvas::Canvas;
use crate::fault::{Fault, Limits};
use crate::plan::Rect;
use crate::scale::Scale;
use head::JpegHead;
use own::OwnReader;
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
    /// When the work on the picture began: its time limit is that of all decoders together.
    pub(super) begun: Instant,
}

/// The decoders of one thread.
#[derive(Debug)]
pub(super) struct JpegDecoders {
    first: First,
    turbo: TurboReader,
}

/// The one that is asked before libjpeg-turbo.
#[derive(Debug)]
enum First {
    Own(Box<OwnReader>),
    Image,
    None,
}

/// Which decoder has made a picture's pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DecodedBy {
    /// Our own decoder for baseline JPEG.
    ForebayJpeg,
    /// libjpeg-turbo.
    LibjpegTurbo,
    /// The `image` crate, or its JPEG decoder.
    Image,
}

impl DecodedBy {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::ForebayJpeg, Self::LibjpegTurbo, Self::Image];

    /// The decoder's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::ForebayJpeg => "forebay-jpeg",
            Self::LibjpegTurbo => "libjpeg-turbo",
            Self::Image => "image",
        }
    }
}

impl JpegTask<'_> {
    /// Width and height of the stored picture as it is scaled.
    fn size(&self) -> (u32, u32) {
        (self.scale.side(self.head.width), self.scale.side(self.head.height))
    }

    fn check_time(&self) -> Result<(), Fault> {
        self.limits.check_time(self.begun)
    }
}

impl JpegDecoders {
    /// Decodes at least the part into the canvas, and tells what stands there, in the task's pixels.
    ///
    /// One that is sure of some kinds only is asked first; it leaves all others, and every file in which it meets anything
    /// irregular, to libjpeg-turbo, so that what is forgiven is one decoder's decision alone.
    ///
    /// # Errors
    /// The picture's [`Fault`], as libjpeg-turbo sees it.
    pub(super) fn decode(&mut self, task: &JpegTask<'_>, canvas: &mut Canvas) -> Result<(Rect, DecodedBy), Fault> {
        let first = match &mut self.first {
            First::Own(own) => own.decode(task, canvas)?.map(|region| (region, DecodedBy::ForebayJpeg)),
            First::Image => zune::decode(task, canvas)?.map(|region| (region, DecodedBy::Image)),
            First::None => None,
        };
        match first {
            Some(done) => Ok(done),
            None => self.turbo.decode(task, canvas).map(|region| (region, DecodedBy::LibjpegTurbo)),
        }
    }
}
