//! A picture on its way through the lanes, with everything that is needed to decode it.

pub(crate) mod stepping;
pub(crate) mod stream_pictures;

use std::sync::Arc;

use forebay_pixels::{Draw, Origin};

use crate::decode::outcomes::{Done, Reporter};
use crate::decode::suspect_order::SuspectOrder;
use crate::mosaic::Partners;
use crate::place::{At, PlaceRight};
use crate::prefetch::Buffer;
use crate::reason::Reason;
use crate::record::Input;
use stepping::Stepping;
use stream_pictures::StreamPictures;

/// A picture on its way into a slot.
#[derive(Debug)]
pub(crate) struct DecodeJob {
    /// Batch and place.
    pub at: At,
    /// The record's content.
    pub content: Buffer,
    /// The right to write the place.
    pub place: PlaceRight,
    /// How the pictures of its stream are made.
    pub pictures: Arc<StreamPictures>,
    /// Number of its record.
    pub record: u64,
    /// What its random choices follow: the record, and its repeat.
    pub draw: Draw,
    /// What a lane of a GPU makes it of, once the picture's header was read for such a lane.
    pub origin: Option<Origin>,
    /// A lane of a GPU has made the picture. Its masks are left.
    pub is_made: bool,
    /// How a child process makes it, if it is a suspect.
    pub suspect: Option<Arc<SuspectOrder>>,
    /// Its way through the functions in Python of its stream, if that has some.
    pub stepping: Option<Stepping>,
    /// Where the outcome goes.
    pub reporter: Reporter,
}

impl DecodeJob {
    /// The picture, as a decoder takes it.
    pub(super) fn input(&self) -> Input<'_> {
        self.pictures.masks.picture(self.content.input())
    }

    /// Whether a function in Python has given something of it. The pool continues with that.
    pub(super) fn is_behind_a_step(&self) -> bool {
        self.stepping.as_ref().is_some_and(Stepping::is_decoded)
    }

    /// What a lane of a GPU has made it of.
    pub(super) fn made_by_gpu(&self) -> Origin {
        self.origin.expect("a lane of a GPU takes only pictures whose header was read")
    }

    /// Gives back what it holds, and tells what became of it.
    pub(super) fn end(self, outcome: Result<Origin, Reason>) {
        self.end_beside(outcome, None);
    }

    /// The same with what the pictures beside it in a mosaic were made of.
    pub(super) fn end_beside(self, outcome: Result<Origin, Reason>, partners: Option<Box<Partners>>) {
        let Self { at, content, place, reporter, mut stepping, pictures, .. } = self;
        drop(content);
        let returned = stepping.as_mut().and_then(|stepping| stepping.returned.take()).filter(|_| outcome.is_ok());
        reporter.report(Done { at, place, outcome, partners, returned });
        if let (Some(steps), Some(bytes)) = (&pictures.steps, stepping.and_then(|stepping| stepping.counted)) {
            steps.left(bytes);
        }
    }
}
