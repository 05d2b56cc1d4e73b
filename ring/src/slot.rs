//! The right to write in a slot, as a value that moves.
//!
//! ```text
//! Region::slot -> SlotMut -- split --> SlotFrame + PlaceMut per place -- join --> SlotMut -> published, or dropped
//! ```
//! A slot can be claimed again only when the last part of its right is gone: there are never two writers.
#![allow(unsafe_code, reason = "makes exclusive slices of shared memory")]

mod lengths;

use std::{ops::Range, sync::Arc};

use bytemuck::Pod;
use forebay_columns::ColumnMut;

use crate::{
    layout::{Geometry, Shape},
    message::Claim,
    picture_size::{NoRoomForSize, PictureSize},
    region_inner::RegionInner,
};
pub use lengths::NoRoomForLengths;
use lengths::PlaceEnds;

/// The exclusive right to write in one slot.
#[derive(Debug)]
pub struct SlotMut {
    frame: SlotFrame,
}

/// A slot's right without its pictures: labels, records, mask and claims.
#[derive(Debug)]
pub struct SlotFrame {
    right: Arc<Right>,
}

/// The exclusive right to the pixels of one place, its masks and its further views, for one decode thread.
#[derive(Debug)]
pub struct PlaceMut {
    right: Arc<Right>,
    place: u32,
}

/// Why a slot's right cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SlotError {
    /// The ring has no such slot.
    #[error("the ring has no slot {0}")]
    NoSlot(u32),
    /// A right to it, or to one of its places, still exists.
    #[error("slot {0} is still being written: a right to it, or to one of its places, is alive")]
    Busy(u32),
}

/// Why parts do not make a whole. The right is lost with them; the slot is free again when the last part is dropped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JoinError {
    /// A place of another slot, or of an earlier right to this one.
    #[error("place {place} does not belong to this right to slot {slot}")]
    Foreign {
        /// The slot that was to be joined.
        slot: u32,
        /// The place's number.
        place: u32,
    },
    /// Not every place came back.
    #[error("only {found} of the {expected} places of slot {slot} came back")]
    Missing {
        /// The slot that was to be joined.
        slot: u32,
        /// Places that came back.
        found: usize,
        /// Places of a batch.
        expected: usize,
    },
}

/// Marks the slot as claimed; dropped with the last part.
#[derive(Debug)]
struct Right {
    region: Arc<RegionInner>,
    slot: u32,
    /// The size of the batch's pictures and its shape, if they are not those of the ring.
    sized: Option<(PictureSize, Shape)>,
    /// Where the pixels of each place end, if each picture has a size of its own.
    ends: Option<PlaceEnds>,
}

impl SlotMut {
    pub(crate) fn claim(region: &Arc<RegionInner>, slot: u32) -> Result<Self, SlotError> {
        if slot >= region.geometry().slots() {
            return Err(SlotError::NoSlot(slot));
        }
        if !region.take(slot) {
            return Err(SlotError::Busy(slot));
        }
        let right = Right { region: Arc::clone(region), slot, sized: None, ends: None };
        Ok(Self { frame: SlotFrame { right: Arc::new(right) } })
    }

    /// Number of the ring.
    pub fn ring(&self) -> u32 {
        self.frame.right.region.ring()
    }

    /// Number of the slot in its ring.
    pub fn index(&self) -> u32 {
        self.frame.right.slot
    }

    /// The layout of the ring's memory.
    pub fn geometry(&self) -> &Geometry {
        self.frame.right.region.geometry()
    }

    /// Gives the next batch pictures of a size of their own, and only so many places. They are in the slot without a gap.
    ///
    /// # Errors
    /// They do not fit. The slot stays as it was.
    ///
    /// # Panics
    /// Never: the right is whole, so no place of it is elsewhere.
    pub fn set_size(&mut self, size: PictureSize, places: u32) -> Result<(), NoRoomForSize> {
        let shape = self.geometry().sized(size, places)?;
        let right = Arc::get_mut(&mut self.frame.right).expect("a whole right has no parts");
        right.sized = Some((size, shape));
        right.ends = None;
        Ok(())
    }

    /// The size of the batch's pictures, if it is not that of the ring.
    pub fn size(&self) -> Option<PictureSize> {
        self.frame.right.sized.map(|(size, _)| size)
    }

    /// Labels, records, mask and claims, to read or write.
    pub fn frame(&mut self) -> &mut SlotFrame {
        &mut self.frame
    }

    /// The pixels of all places.
    pub fn images(&self) -> &[u8] {
        let range = self.geometry().images(self.index());
        // SAFETY: the right is whole, so no PlaceMut writes these bytes while `self` is borrowed.
        unsafe { self.frame.right.bytes(range) }
    }

    /// The pixels of all places, to write.
    pub fn images_mut(&mut self) -> &mut [u8] {
        let range = self.geometry().images(self.index());
        // SAFETY: the right is whole and borrowed exclusively.
        unsafe { self.frame.right.bytes_mut(range) }
    }

    /// Bytes of the slot, counted from its start: [`SlotParts`](crate::SlotParts) says where what is.
    ///
    /// # Panics
    /// The range is not in the slot; so it is with [`bytes_mut`](Self::bytes_mut).
    pub fn bytes(&self, range: &Range<usize>) -> &[u8] {
        let range = self.frame.right.within(range);
        // SAFETY: the right is whole, so no PlaceMut writes these bytes while `self` is borrowed.
        unsafe { self.frame.right.bytes(range) }
    }

    /// The same, to write.
    pub fn bytes_mut(&mut self, range: &Range<usize>) -> &mut [u8] {
        let range = self.frame.right.within(range);
        // SAFETY: the right is whole and borrowed exclusively.
        unsafe { self.frame.right.bytes_mut(range) }
    }

    /// The pixels of one place.
    ///
    /// # Panics
    /// When a batch has no such place; so do the others.
    pub fn place(&self, place: u32) -> &[u8] {
        let range = self.frame.right.place(place);
        // SAFETY: the right is whole, so no PlaceMut writes these bytes while `self` is borrowed.
        unsafe { self.frame.right.bytes(range) }
    }

    /// The pixels of one place, to write.
    pub fn place_mut(&mut self, place: u32) -> &mut [u8] {
        let range = self.frame.right.place(place);
        // SAFETY: the right is whole and borrowed exclusively.
        unsafe { self.frame.right.bytes_mut(range) }
    }

    /// Splits into one right per place, in order, and the rest.
    pub fn split(self) -> (SlotFrame, Vec<PlaceMut>) {
        let right = &self.frame.right;
        let places = (0..right.places()).map(|place| PlaceMut { right: Arc::clone(right), place });
        let places = places.collect();
        (self.frame, places)
    }
}

impl SlotFrame {
    /// Number of the slot in its ring.
    pub fn index(&self) -> u32 {
        self.right.slot
    }

    /// The labels, one per place.
    pub fn labels(&mut self) -> &mut [i64] {
        let range = self.right.region.geometry().labels(self.right.slot);
        self.tensor(range)
    }

    /// The record numbers, one per place.
    pub fn records(&mut self) -> &mut [i64] {
        let range = self.right.region.geometry().records(self.right.slot);
        self.tensor(range)
    }

    /// The mask, one byte per place: 1 for the epoch's own records, 0 where a place repeats or replaces.
    pub fn mask(&mut self) -> &mut [u8] {
        let range = self.right.region.geometry().mask(self.right.slot);
        self.tensor(range)
    }

    /// Room for as many claims as there are places.
    pub fn claims(&mut self) -> &mut [Claim] {
        let range = self.right.region.geometry().claims(self.right.slot);
        self.tensor(range)
    }

    /// A column that not every batch has, by its place in the [schema](crate::SlotColumns::schema), without places yet.
    /// Columns of the same objects share offsets: each writes the same ones.
    ///
    /// # Panics
    /// The ring has no such column, or it is one of masks or views, which belong to their places.
    pub fn column(&mut self, column: usize) -> ColumnMut<'_> {
        let (geometry, slot) = (self.right.region.geometry(), self.right.slot);
        assert!(!geometry.columns().is_of_places(column), "the values of column {column} belong to the places");
        let place = geometry.columns().column(column);
        let of = &geometry.columns().schema().fields()[column].column_type;
        let part = |range: &Range<usize>| geometry.within(slot, range);
        // SAFETY: these bytes are the frame's own: a PlaceMut covers columns of masks and views alone, and this is none. The frame is
        // borrowed exclusively, and the parts of one column do not overlap.
        let bytes = |range: &Range<usize>| unsafe { self.right.bytes_mut(part(range)) };
        let offsets = std::array::from_fn(|level| bytemuck::cast_slice_mut(bytes(&place.offsets[level])));
        ColumnMut::new(of, bytes(&place.validity), offsets, bytes(&place.values))
    }

    /// Puts the right together again. Every place must have come back.
    pub fn join(self, places: Vec<PlaceMut>) -> Result<SlotMut, JoinError> {
        let slot = self.right.slot;
        if let Some(place) = places.iter().find(|place| !Arc::ptr_eq(&place.right, &self.right)) {
            return Err(JoinError::Foreign { slot, place: place.place });
        }
        // A place cannot be made twice, so the right number of this right's places is all of them.
        let expected = self.right.places() as usize;
        if places.len() != expected {
            return Err(JoinError::Missing { slot, found: places.len(), expected });
        }
        drop(places);
        Ok(SlotMut { frame: self })
    }

    fn tensor<T: Pod>(&mut self, range: Range<usize>) -> &mut [T] {
        // SAFETY: these bytes are the frame's own: no PlaceMut covers them, and it is borrowed exclusively.
        let bytes = unsafe { self.right.bytes_mut(range) };
        bytemuck::cast_slice_mut(bytes)
    }
}

impl PlaceMut {
    /// Number of the ring.
    pub fn ring(&self) -> u32 {
        self.right.region.ring()
    }

    /// Number of the slot in its ring.
    pub fn slot(&self) -> u32 {
        self.right.slot
    }

    /// Number of the place in its batch.
    pub fn place(&self) -> u32 {
        self.place
    }

    /// The place's mask or view in this column, to write: 1 if there is one and else 0, and its values.
    ///
    /// # Panics
    /// The ring has no such column, or it is not one of masks or views.
    pub fn column(&mut self, column: usize) -> (&mut u8, &mut [u8]) {
        let geometry = self.right.region.geometry();
        let (validity, numbers) = geometry.column_place(self.right.slot, column, self.place);
        // SAFETY: a place's right is made once per split, is not cloned, and is borrowed exclusively. The frame gives out no
        // column of masks or views.
        let validity = unsafe { self.right.bytes_mut(validity) };
        // SAFETY: as above; the two parts do not overlap.
        let numbers = unsafe { self.right.bytes_mut(numbers) };
        (&mut validity[0], numbers)
    }

    /// The place's pixels and its values in these columns of masks or views, to write all at once. Behind the last column
    /// there are empty slices.
    ///
    /// # Panics
    /// There are more columns than `N`, they do not rise, or the ring has no such column of masks or views.
    pub fn with_columns<const N: usize>(&mut self, columns: &[usize]) -> (&mut [u8], [&mut [u8]; N]) {
        assert!(columns.len() <= N && columns.is_sorted_by(|one, next| one < next), "{columns:?} rise, up to {N}");
        let (geometry, slot) = (self.right.region.geometry(), self.right.slot);
        let values = std::array::from_fn(|number| {
            let Some(&column) = columns.get(number) else { return Default::default() };
            let (_validity, values) = geometry.column_place(slot, column, self.place);
            // SAFETY: a place's right is made once per split, is not cloned, and is borrowed exclusively. Each column is in the
            // list once, so that no two of the slices overlap.
            unsafe { self.right.bytes_mut(values) }
        });
        // SAFETY: as above; the pixels overlap no column.
        let pixels = unsafe { self.right.bytes_mut(self.right.place(self.place)) };
        (pixels, values)
    }

    /// The columns whose places are written one by one, by their places in the schema.
    pub fn place_columns(&self) -> Arc<[usize]> {
        self.right.region.geometry().columns().of_places()
    }
}

impl AsMut<[u8]> for PlaceMut {
    /// The pixels, to write.
    fn as_mut(&mut self) -> &mut [u8] {
        let range = self.right.place(self.place);
        // SAFETY: a place's right is made once per split, is not cloned, and is borrowed exclusively.
        unsafe { self.right.bytes_mut(range) }
    }
}

impl Right {
    /// How many places the batch has.
    fn places(&self) -> u32 {
        if let Some(ends) = &self.ends {
            return ends.places();
        }
        self.sized.map_or_else(|| self.region.geometry().shape(), |(_, shape)| shape).batch
    }

    /// These bytes of the slot, from the memory's start.
    fn within(&self, range: &Range<usize>) -> Range<usize> {
        let geometry = self.region.geometry();
        assert!(range.end <= geometry.stride(), "bytes beyond the slot");
        geometry.within(self.slot, range)
    }

    /// Where the pixels of a place are.
    fn place(&self, place: u32) -> Range<usize> {
        if let Some(ends) = &self.ends {
            return ends.place(self.region.geometry().images(self.slot), place);
        }
        self.region.geometry().place(self.slot, place, self.sized.map(|(_, shape)| shape))
    }

    /// # Safety
    /// Nothing writes these bytes while the result lives. The range comes from the geometry of the region.
    unsafe fn bytes(&self, range: Range<usize>) -> &[u8] {
        let (start, len) = (self.at(&range), range.len());
        // SAFETY: geometry ranges lie within the mapping, which the right keeps alive; no other process can write, and those
        // that could in a pinnable ring do not.
        unsafe { std::slice::from_raw_parts(start, len) }
    }

    /// # Safety
    /// Nothing in this process reads or writes these bytes while the result lives. The range comes from the geometry of the
    /// region.
    #[allow(clippy::mut_from_ref, reason = "the callers' own borrows keep the parts of a right apart")]
    unsafe fn bytes_mut(&self, range: Range<usize>) -> &mut [u8] {
        let (start, len) = (self.at(&range), range.len());
        // SAFETY: as in `bytes`; trainers read a slot only while the exchange lends it, and then no right to it lives.
        unsafe { std::slice::from_raw_parts_mut(start, len) }
    }

    fn at(&self, range: &Range<usize>) -> *mut u8 {
        assert!(range.end <= self.region.geometry().total_len(), "a range beyond the ring");
        // SAFETY: the mapping is total_len bytes long.
        unsafe { self.region.as_ptr().add(range.start) }
    }
}

impl Drop for Right {
    fn drop(&mut self) {
        self.region.give(self.slot);
    }
}
