//! What is done to a picture before the transforms, so that it fits the pictures of its step.

use crate::cover::Cover;
use crate::draw::Draw;
use crate::origin::Origin;
use crate::patches::Patches;
use crate::plan::Plan;

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fit {
    /// It is cut to a bucket.
    Cover(Cover),
    /// It, or a random part of it, is resized to whole patches, which are cut behind the transforms.
    Patches(Patches),
    /// Nothing: it has a size of its own, which follows from its own size and the transforms.
    Ragged {
        /// Pixels of its place, of which it takes all.
        pixels: u32,
    },
}

impl Fit {
    /// Height and width of a place.
    pub(crate) fn place(&self) -> (u32, u32) {
        match self {
            Self::Cover(cover) => (cover.height, cover.width),
            // A row of the place is a patch.
            Self::Patches(patches) => (patches.length, patches.pixels()),
            // Which sides its picture has is not known of a place.
            Self::Ragged { pixels } => (1, *pixels),
        }
    }

    /// The same for places of another height and width. Nothing if no step of the stream has them.
    pub(crate) fn with_place(self, (height, width): (u32, u32)) -> Option<Self> {
        match self {
            Self::Cover(cover) => Some(Self::Cover(Cover { height, width, ..cover })),
            Self::Patches(patches) if patches.pixels() == width && height > 0 => {
                Some(Self::Patches(Patches { length: height, ..patches }))
            }
            Self::Ragged { .. } if height > 0 && width > 0 => {
                height.checked_mul(width).map(|pixels| Self::Ragged { pixels })
            }
            Self::Patches(_) | Self::Ragged { .. } => None,
        }
    }

    /// Sizes that pictures may have before the transforms. All transforms must leave each of them. None if they may have any.
    pub(crate) fn sizes(&self) -> Vec<(u32, u32)> {
        match self {
            Self::Cover(cover) => vec![(cover.height, cover.width)],
            Self::Patches(patches) => patches.probes().to_vec(),
            Self::Ragged { .. } => Vec::new(),
        }
    }

    /// Adds what it does to a plan that has no step yet.
    pub(crate) fn plan(&self, plan: &mut Plan, origin: &Origin, draw: Draw) {
        match self {
            Self::Cover(cover) => cover.plan(plan, draw),
            Self::Patches(patches) => patches.plan(plan, origin, draw),
            Self::Ragged { .. } => {}
        }
    }

    /// Looks behind the transforms whether the picture still fits.
    pub(crate) fn check(&self, plan: &mut Plan, origin: &Origin, draw: Draw) {
        if let Self::Patches(patches) = self {
            patches.check(plan, origin, draw);
        }
    }

    pub(crate) fn has_torch(&self) -> bool {
        match self {
            Self::Cover(cover) => cover.has_torch(),
            Self::Patches(patches) => patches.interpolation.has_torch(),
            Self::Ragged { .. } => true,
        }
    }
}
