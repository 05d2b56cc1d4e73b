//! Places of different lengths: those of pictures that each have a size of their own (semantics rule 63). They follow each other in
//! the slot's room for images.

use std::ops::Range;
use std::sync::Arc;

use super::{PlaceMut, SlotMut};

/// Where the pixels of each place end, counted from those of the first one.
#[derive(Clone, Debug)]
pub(super) struct PlaceEnds(Arc<[usize]>);

/// Pictures of sizes of their own that have no room in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{places} pictures of {bytes} bytes do not fit into a slot, which has room for {room} bytes and {batch} places"
)]
pub struct NoRoomForLengths {
    places: usize,
    bytes: usize,
    room: usize,
    batch: usize,
}

impl PlaceEnds {
    pub(super) fn places(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(u32::MAX)
    }

    /// Where the pixels of a place are, in a slot whose images are here.
    pub(super) fn place(&self, images: Range<usize>, place: u32) -> Range<usize> {
        let number = place as usize;
        let before = number.checked_sub(1).map_or(0, |before| self.0[before]);
        let own = images.start + before..images.start + self.0[number];
        assert!(own.end <= images.end, "place {place} of pictures that do not fit into the slot");
        own
    }
}

impl SlotMut {
    /// Gives each picture of the next batch so many bytes. They follow each other without a gap. The batch's shape stays that of the
    /// ring: a column has the pictures' sizes.
    ///
    /// # Errors
    /// They do not fit. The slot stays as it was.
    ///
    /// # Panics
    /// Never: the right is whole, so no place of it is elsewhere.
    pub fn set_lengths(&mut self, lengths: &[usize]) -> Result<(), NoRoomForLengths> {
        let (room, batch) = (self.geometry().images(self.index()).len(), self.geometry().batch());
        let end = |end: &mut usize, length: &usize| {
            *end = end.saturating_add(*length);
            Some(*end)
        };
        let ends: Arc<[usize]> = lengths.iter().scan(0, end).collect();
        let (places, bytes) = (ends.len(), ends.last().copied().unwrap_or(0));
        if places > batch || bytes > room {
            return Err(NoRoomForLengths { places, bytes, room, batch });
        }
        let right = Arc::get_mut(&mut self.frame.right).expect("a whole right has no parts");
        (right.sized, right.ends) = (None, Some(PlaceEnds(ends)));
        Ok(())
    }

    /// Moves the pixels of these places together, so that they follow each other from the beginning. A place that is not `kept` is
    /// empty from now on. Nothing happens if all places have the length of the ring's pictures.
    ///
    /// # Panics
    /// Never: the right is whole, so no place of it is elsewhere.
    pub fn close_gaps(&mut self, kept: impl Fn(usize) -> bool) {
        let Some(PlaceEnds(ends)) = self.frame.right.ends.clone() else { return };
        let (mut start, mut end, mut closed) = (0, 0, Vec::with_capacity(ends.len()));
        for (place, &own_end) in ends.iter().enumerate() {
            if kept(place) {
                if start > end {
                    self.images_mut().copy_within(start..own_end, end);
                }
                end += own_end - start;
            }
            start = own_end;
            closed.push(end);
        }
        let right = Arc::get_mut(&mut self.frame.right).expect("a whole right has no parts");
        right.ends = Some(PlaceEnds(closed.into()));
    }
}

impl PlaceMut {
    /// Bytes of its pixels.
    pub fn pixels_len(&self) -> usize {
        self.right.place(self.place).len()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::{Dtype, Geometry, Layout, Region, Shape};

    const SHAPE: Shape = Shape { batch: 6, height: 5, width: 7, channels: 1, dtype: Dtype::U8, layout: Layout::Nhwc };

    proptest! {
        #[test]
        fn rule_63_places_follow_each_other_and_no_gap_is_left_whatever_is_kept_or_they_are_refused(
            lengths in proptest::collection::vec(0..60_usize, 0..8),
            kept in proptest::collection::vec(any::<bool>(), 8),
        ) {
            let region = Region::create(Geometry::try_new(SHAPE, 2).unwrap(), 1, 0).unwrap();
            let mut slot = region.slot(1).unwrap();
            slot.images_mut().fill(255);
            let fits = lengths.len() <= 6 && lengths.iter().sum::<usize>() <= 6 * 35;
            prop_assert_eq!(slot.set_lengths(&lengths).is_ok(), fits);
            if !fits {
                let (_, places) = slot.split();
                prop_assert!(places.len() == 6 && places.iter().all(|place| place.pixels_len() == 35), "as it was");
                return Ok(());
            }
            let (frame, mut places) = slot.split();
            prop_assert_eq!(places.len(), lengths.len());
            for ((number, place), len) in (0..).zip(&mut places).zip(&lengths) {
                prop_assert_eq!(place.pixels_len(), *len);
                place.as_mut().fill(number);
            }
            let mut slot = frame.join(places).unwrap();
            let written: Vec<u8> = (0..).zip(&lengths).flat_map(|(number, len)| vec![number; *len]).collect();
            prop_assert_eq!(&slot.images()[..written.len()], &written[..]);
            prop_assert!(slot.images()[written.len()..].iter().all(|byte| *byte == 255), "no byte behind them is written");
            slot.close_gaps(|place| kept[place]);
            let left: Vec<u8> = written.into_iter().filter(|number| kept[usize::from(*number)]).collect();
            prop_assert_eq!(&slot.images()[..left.len()], &left[..]);
            for (place, len) in (0..).zip(&lengths) {
                let expected = if kept[place as usize] { vec![u8::try_from(place).unwrap(); *len] } else { Vec::new() };
                prop_assert_eq!(slot.place(place), &expected[..]);
            }
        }
    }

    #[test]
    fn rule_63_a_slot_has_the_rings_places_again_once_a_batch_with_other_ones_is_over() {
        let region = Region::create(Geometry::try_new(SHAPE, 2).unwrap(), 1, 0).unwrap();
        let mut slot = region.slot(0).unwrap();
        slot.set_lengths(&[3, 0]).unwrap();
        slot.close_gaps(|_| false);
        assert_eq!(slot.place(1), [0; 0]);
        drop(slot);
        let mut slot = region.slot(0).unwrap();
        assert_eq!(slot.place(5).len(), 35);
        slot.close_gaps(|_| false);
        assert_eq!(slot.place(5).len(), 35);
        let refused = slot.set_lengths(&[300]).unwrap_err().to_string();
        assert_eq!(
            refused,
            "1 pictures of 300 bytes do not fit into a slot, which has room for 210 bytes and 6 places"
        );
    }
}
