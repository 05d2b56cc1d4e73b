//! A picture as it is shown: whole, and perhaps smaller. What belongs to it is shown at the same places.

use forebay_pipeline::PictureMaps;
use forebay_pixels::{Annotated, Draw, KeptPicture, MaskOrder, Origin, Output, Plan, Recipe, Resize, Size, Transform};

/// What a picture is shown as.
pub(super) struct Shown {
    /// What it was made of.
    pub origin: Origin,
    /// Keeps the picture as it is shown.
    pub recipe: Recipe,
    /// Where the dataset's numbers are in it.
    pub maps: PictureMaps,
}

/// Nothing about it is random.
pub(super) const DRAW: Draw = Draw { seed: 0, epoch: 0, record: 0 };

impl Shown {
    /// A picture with its own size.
    pub(super) fn new(picture: &KeptPicture) -> Option<Self> {
        Self::of_size(picture.origin, picture.width, picture.height)
    }

    /// How its masks are decoded.
    pub(super) fn mask_order(&self) -> MaskOrder<'_> {
        let Self { origin, recipe, .. } = self;
        MaskOrder { origin, recipe, draw: DRAW, annotated: Annotated::AsSeen, fill: 0 }
    }

    /// A picture that is shown with this size. Nothing if no recipe has such a result.
    pub(super) fn of_size(origin: Origin, width: u32, height: u32) -> Option<Self> {
        let size = Size::HeightWidth([height, width]);
        let resize = Transform::Resize(Resize { size, interpolation: forebay_pixels::Interpolation::default() });
        let recipe = Recipe::new(vec![resize], Output::default()).ok()?;
        let maps = PictureMaps::new(&origin, &recipe, DRAW, Annotated::AsSeen, &mut Plan::default());
        Some(Self { origin, recipe, maps })
    }
}
