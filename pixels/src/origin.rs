//! What a result was made of: a picture's size in its file, and what happened to it before the recipe.

use crate::axis::Axis;
use crate::interpolation::Interpolation;
use crate::orientation::Orientation;
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
            Annotated::AsSeen => self.orientation.point_map(self.stored).inverse(),
        };
        let turned = self.turned.point_map(self.stored);
        let (wide, high) = self.turned.seen(self.stored.0, self.stored.1);
        // A picture that was shrunk to be kept was resized as a whole.
        let shrunk = Frame::whole(wide, high).resized(self.size.0, self.size.1, Interpolation::Bilinear);
        from_stored.then(turned).then(shrunk)
    }
}

impl Orientation {
    /// Where the points of a picture that is stored as `width` x `height` are seen.
    fn point_map(self, (width, height): (u32, u32)) -> Straight {
        // Where the first of two pixels on either side is seen tells whether a side is turned around.
        let first = self.seen_part(crate::plan::Rect::whole(1, 1), 2, 2);
        let (wide, high) = self.seen(width, height);
        let line = |turned_around: bool, len: u32| if turned_around { Line::mirrored(len) } else { Line::IDENTITY };
        let columns_and_rows = (line(first.left == 1, wide), line(first.top == 1, high));
        Straight::new(self.swaps_sides(), columns_and_rows, [0.0, 0.0, wide.into(), high.into()])
    }
}

impl Frame {
    /// Where the points of a picture are after this part of it was resized.
    pub(crate) fn resized(self, width: u32, height: u32, interpolation: Interpolation) -> Straight {
        let ((left, columns), (top, rows)) = self.axes(width, height, interpolation);
        let line = |first: u32, axis: Axis| Line::of_axis(first, &axis);
        Straight::new(false, (line(left, columns), line(top, rows)), [0.0, 0.0, width.into(), height.into()])
    }

    /// Where they are after this part was laid on a canvas at `left` and `top`.
    pub(crate) fn laid(self, left: u32, top: u32) -> Straight {
        let (left, top) = (f64::from(left), f64::from(top));
        let [from_left, from_top, width, height] = self.parts();
        let lines = (Line::moved(left - from_left), Line::moved(top - from_top));
        Straight::new(false, lines, [left, top, left + width, top + height])
    }
}
