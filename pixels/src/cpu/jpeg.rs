//! JPEG: the decoders of a thread. Each has a file of its own, which only this one uses.
//!
//! A new decoder is its file, its line in [`JpegDecoders::decode`] and its name in [`DecodedBy`].

pub(crate) mod choice;
pub(crate) mod head;
mod own;
pub(crate) mod segments;
mod task;
pub(crate) mod turbo;

use forebay_jpeg::SeekPoints;

use crate::cpu::canvas::Canvas;
use crate::decoded::DecodedBy;
use crate::fault::Fault;
use crate::plan::Rect;
use choice::JpegChoice;
use own::OwnReader;
pub(super) use task::JpegTask;
use turbo::TurboReader;

/// The decoders of one thread.
#[derive(Debug)]
pub(super) struct JpegDecoders {
    /// The one that is asked before libjpeg-turbo.
    own: Option<Box<OwnReader>>,
    turbo: TurboReader,
}

impl JpegDecoders {
    /// Those of a thread whose JPEGs go where the choice says.
    pub(super) fn new(choice: JpegChoice) -> Self {
        let own = choice.own().map(|path| Box::new(OwnReader::new(path)));
        Self { own, turbo: TurboReader::default() }
    }

    /// Decodes at least the task's part into the canvas. Returns which part the canvas has, in the task's pixels.
    ///
    /// A decoder that is sure of only some kinds tries first. It leaves all other files, and every file with anything
    /// irregular, to libjpeg-turbo, so that one decoder alone decides what is forgiven. Our own decoder takes its seek
    /// points from `points`, and adds new ones.
    ///
    /// # Errors
    /// The picture's [`Fault`], as libjpeg-turbo sees it.
    pub(super) fn decode(
        &mut self,
        task: &JpegTask<'_>,
        points: Option<&mut SeekPoints>,
        canvas: &mut Canvas,
    ) -> Result<(Rect, DecodedBy), Fault> {
        let first = match &mut self.own {
            Some(own) => own.decode(task, points, canvas)?.map(|region| (region, DecodedBy::ForebayJpeg)),
            None => None,
        };
        match first {
            Some(done) => Ok(done),
            None => self.turbo.decode(task, canvas).map(|region| (region, DecodedBy::LibjpegTurbo)),
        }
    }
}
