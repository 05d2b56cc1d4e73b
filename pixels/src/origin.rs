//! What a result was made of: a picture's size in its file, and what happened to it before the recipe.

use crate::interpolation::Interpolation;
use crate::orientation::Orientation;
use crate::plan::Rect;
use crate::plan::stage::Frame;
use crate::point_map::{Line, Straight};

/// What a result was made of. A decoder tells it, and a [`PointMap`](crate::PointMap) is made from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Width and height as stored in the file.
    pub stored: (u32, u32),
    /// How the stored pixels are turned to be seen, as the file's EXIF orientation says.
    pub orientation: Orientation,
    /// How they were turned before the recipe: the orientation, or as stored.
    pub turned: Orientation,
    /// Width and height of the picture that the recipe was carried out on. It is smaller than the turned one if the picture
    /// was shrunk when it was kept.
    pub size: (u32, u32),
}

/// The picture whose pixels the numbers of a dataset count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Annotated {
    /// The picture as seen, after its EXIF orientation.
    #[default]
    AsSeen,
    /// The picture as stored, before its EXIF orientation.
    AsStored,
}

impl Origin {
    /// A picture that is stored as it is seen, of this width and height.
    pub fn plain(size: (u32, u32)) -> Self {
        Self::of_file(size, Orientation::AsStored, Orientation::AsStored)
    }

    /// A picture of a file that was decoded for one recipe, turned in this way.
    pub(crate) fn of_file(stored: (u32, u32), orientation: Orientation, turned: Orientation) -> Self {
        Self { stored, orientation, turned, size: turned.seen(stored.0, stored.1) }
    }

    /// Width and height of the picture whose pixels the numbers of a dataset count.
    pub fn annotated(&self, annotated: Annotated) -> (u32, u32) {
        match annotated {
            Annotated::AsStored => self.stored,
            Annotated::AsSeen => self.orientation.seen(self.stored.0, self.stored.1),
        }
    }

    /// Where the points of the annotated picture are in the one that the recipe is carried out on.
    pub(crate) fn before_the_plan(&self, annotated: Annotated) -> Straight {
        let from_stored = match annotated {
            Annotated::AsStored => Straight::IDENTITY,
            Annotated::AsSeen => point_map(self.orientation, self.stored).inverse(),
        };
        let turned = point_map(self.turned, self.stored);
        let (wide, high) = self.turned.seen(self.stored.0, self.stored.1);
        // A picture that was shrunk to be kept was resized as a whole.
        let shrunk = Frame::whole(wide, high).resized(self.size.0, self.size.1, Interpolation::Bilinear);
        from_stored.then(turned).then(shrunk)
    }
}

/// Where the points of a picture that is stored, in this orientation, as `width` x `height` are seen.
fn point_map(orientation: Orientation, (width, height): (u32, u32)) -> Straight {
    // Where the first of two pixels on either side is seen tells whether a side is turned around.
    let first = orientation.seen_part(Rect::whole(1, 1), 2, 2);
    let (wide, high) = orientation.seen(width, height);
    let line = |turned_around: bool, len: u32| if turned_around { Line::mirrored(len) } else { Line::IDENTITY };
    let columns_and_rows = (line(first.left == 1, wide), line(first.top == 1, high));
    Straight::new(orientation.swaps_sides(), columns_and_rows, [0.0, 0.0, wide.into(), high.into()])
}
