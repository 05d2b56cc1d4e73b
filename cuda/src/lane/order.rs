//! What a worker of a lane is asked for: pictures, what is made of them, and where to.

use forebay_pixels::{Composition, CpuOnly, Draw, JpegHead, Limits, Recipe};

use crate::driver::{Context, SharedPlace};

/// A picture for a lane: its file, what is made of it, and where to.
#[derive(Debug)]
pub struct Order<'a> {
    /// The file.
    pub bytes: &'a [u8],
    /// What is made of it.
    pub made: Made<'a>,
    /// Where the result goes, with just its bytes.
    pub out: Target<'a>,
}

/// Where a result goes.
#[derive(Debug)]
pub enum Target<'a> {
    /// Memory of the host, by a copy; at full speed if it is page-locked.
    Host(&'a mut [u8]),
    /// Memory of the worker's own GPU, where the result is made.
    Gpu(&'a mut SharedPlace),
}

/// What is made of a picture.
#[derive(Clone, Copy, Debug)]
pub enum Made<'a> {
    /// All of its pixels as they are stored, packed RGB.
    Whole,
    /// What a recipe says, with these random choices.
    By(&'a Recipe, Draw, &'a Limits),
}

impl Target<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Host(out) => out.len(),
            Self::Gpu(place) => place.len(),
        }
    }

    /// Where the kernel writes, if that is where the result is read.
    pub(super) fn address(&self) -> Option<u64> {
        match self {
            Self::Host(_) => None,
            Self::Gpu(place) => Some(place.address()),
        }
    }

    pub(super) fn is_of(&self, context: &Context) -> bool {
        match self {
            Self::Host(_) => true,
            Self::Gpu(place) => place.is_of(context),
        }
    }
}

impl Made<'_> {
    pub(super) fn of(self, head: &JpegHead) -> Result<Composition, CpuOnly> {
        let stored = (head.width, head.height);
        match self {
            Self::Whole => Ok(Composition::whole(stored)),
            Self::By(recipe, draw, limits) => Composition::of(stored, head.orientation, recipe, draw, limits),
        }
    }
}
