//! How an operation moves the pixels of a picture, for what follows the picture: boxes, points and masks.

use super::warp::{Affine2D, Mapping, Projection, TorchPlaces};
use crate::projective::Projective;

/// Where the pixels of a result come from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Geometry {
    from: Mapping,
    /// Width and height of the picture.
    size: (u32, u32),
    /// Width and height of the result.
    pub(crate) to: (u32, u32),
}

/// For each pixel of a result, the nearest pixel of the picture. torchvision takes it for masks, whichever filter the picture
/// has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NearestPixels {
    places: TorchPlaces,
    size: (u32, u32),
}

impl Geometry {
    pub(super) fn new(from: Mapping, size: (u32, u32), to: (u32, u32)) -> Self {
        Self { from, size, to }
    }

    /// Where the points of the picture are in the result.
    pub(crate) fn forward(&self) -> Projective {
        let (column, row, depth) = match self.from {
            Mapping::Affine(Affine2D { column, row }) => (column, row, [0.0; 2]),
            Mapping::Perspective(Projection { column, row, depth }) => (column, row, depth),
        };
        Projective::new([column, row, [depth[0], depth[1], 1.0]]).inverse()
    }

    pub(crate) fn nearest(&self) -> NearestPixels {
        let sides = |(width, height): (u32, u32)| (width as usize, height as usize);
        NearestPixels { places: TorchPlaces::new(self.from, sides(self.size), sides(self.to)), size: self.size }
    }
}

impl NearestPixels {
    /// The pixel that a pixel of the result shows. None if it comes from outside of the picture.
    pub(crate) fn at(&self, column: u32, row: u32) -> Option<(u32, u32)> {
        let (x, y) = self.places.nearest(column as usize, row as usize);
        let within = |at: i64, side: u32| u32::try_from(at).ok().filter(|at| *at < side);
        Some((within(x, self.size.0)?, within(y, self.size.1)?))
    }
}
