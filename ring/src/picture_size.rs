//! The size of a batch's pictures where it is not that of its ring: a step of a bucket has pictures of the bucket's size (semantics
//! rule 64). They lie in the slot's room for images without a gap.

use std::num::NonZeroU16;

use crate::layout::{Geometry, Shape};

/// The size of a batch's pictures, if it is not that of its ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PictureSize {
    /// Pixels from top to bottom.
    pub height: NonZeroU16,
    /// Pixels from left to right.
    pub width: NonZeroU16,
}

/// A size with one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("pictures of {height} x {width} pixels have one side")]
pub struct HalfSize {
    height: u16,
    width: u16,
}

/// Pictures that have no room in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{places} pictures of {height} x {width} pixels do not fit into a slot, which has room for {room} bytes and {batch} places"
)]
pub struct NoRoomForSize {
    places: u32,
    height: u16,
    width: u16,
    room: usize,
    batch: u32,
}

impl PictureSize {
    /// That of an OFFER with these sides: nothing if it has none of its own.
    ///
    /// # Errors
    /// Only one side is 0.
    pub fn of_offer(height: u16, width: u16) -> Result<Option<Self>, HalfSize> {
        match (NonZeroU16::new(height), NonZeroU16::new(width)) {
            (None, None) => Ok(None),
            (Some(height), Some(width)) => Ok(Some(Self { height, width })),
            _ => Err(HalfSize { height, width }),
        }
    }

    /// Height and width, as an OFFER has them.
    pub fn sides(self) -> (u16, u16) {
        (self.height.get(), self.width.get())
    }
}

impl Geometry {
    /// The shape of a batch that has this many places and pictures of a size of their own.
    ///
    /// # Errors
    /// Its pictures do not fit into the room that a slot has for images.
    pub fn sized(&self, PictureSize { height, width }: PictureSize, places: u32) -> Result<Shape, NoRoomForSize> {
        let shape = Shape { batch: places, height: height.get().into(), width: width.get().into(), ..self.shape() };
        let room = self.batch() * self.place_len();
        let len = shape.place_len().and_then(|len| len.checked_mul(places as usize));
        if places <= self.shape().batch && len.is_some_and(|len| len <= room) {
            return Ok(shape);
        }
        Err(NoRoomForSize { places, height: height.get(), width: width.get(), room, batch: self.shape().batch })
    }

    /// Bytes of the pictures of such a batch.
    pub fn images_len(shape: Shape) -> usize {
        shape.place_len().unwrap_or(0) * shape.batch as usize
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::layout::{Dtype, Layout};

    fn shape() -> Shape {
        Shape { batch: 5, height: 33, width: 17, channels: 3, dtype: Dtype::F16, layout: Layout::Nchw }
    }

    proptest! {
        #[test]
        fn rule_64_pictures_of_a_size_of_their_own_lie_in_the_room_for_images_without_a_gap_or_are_refused(
            (height, width) in (1..80_u16, 1..80_u16),
            places in 1..8_u32,
        ) {
            let geometry = Geometry::try_new(shape(), 3).unwrap();
            let size = PictureSize::of_offer(height, width).unwrap().unwrap();
            let len = usize::from(height) * usize::from(width) * 3 * 2;
            let fits = places <= 5 && len * places as usize <= 5 * 33 * 17 * 3 * 2;
            let shape = geometry.sized(size, places);
            prop_assert_eq!(shape.is_ok(), fits, "{:?}", shape);
            if let Ok(shape) = shape {
                let of: Vec<_> = (0..places).map(|place| geometry.place(1, place, Some(shape))).collect();
                prop_assert_eq!(of[0].start, geometry.images(1).start);
                prop_assert!(of.windows(2).all(|pair| pair[0].end == pair[1].start));
                prop_assert!(of.iter().all(|place| place.len() == len && place.end <= geometry.images(1).end));
                prop_assert_eq!(Geometry::images_len(shape), len * places as usize);
            }
        }
    }

    #[test]
    fn a_size_has_two_sides_or_none() {
        assert_eq!(PictureSize::of_offer(0, 0), Ok(None));
        let half = PictureSize::of_offer(0, 7).unwrap_err().to_string();
        assert_eq!(half, "pictures of 0 x 7 pixels have one side");
        assert!(PictureSize::of_offer(7, 0).is_err());
    }
}
