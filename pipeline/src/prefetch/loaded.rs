//! The content of one record, from the source or from the cache.

use crate::mosaic::MosaicContent;
use crate::record::{Content, Input};
use crate::remote::answer::AnsweredPicture;

/// Where a record's content came from.
#[derive(Debug)]
pub(super) enum Loaded {
    /// From the source, into a buffer that is used again.
    Read(Vec<u8>),
    /// From the source, with what its mosaic shows beside it.
    Mosaic(Box<MosaicContent>),
    /// From the cache.
    Kept(Content),
    /// Decoded, from a decoder on another machine.
    Made(AnsweredPicture),
}

impl Loaded {
    /// As a decoder takes it. What is decoded already has nothing for it.
    pub(super) fn input(&self) -> Input<'_> {
        match self {
            Self::Read(bytes) => Input::File(bytes),
            Self::Mosaic(content) => Input::File(content.own()),
            Self::Kept(content) => content.input(),
            Self::Made(_) => Input::File(&[]),
        }
    }
}
