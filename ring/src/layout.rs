//! The layout of a ring's memory. The header page ([`crate::Header`]) tells it to trainers.
//!
//! ```text
//! 0        4 KiB            2 MiB              2 MiB + stride
//! | header | never touched  | slot 0           | slot 1 ...
//!                            images | labels | records | mask | claims     each at a multiple of 4 KiB
//!                            | further columns                             each at a multiple of 64 bytes
//! ```

use std::ops::Range;
use std::sync::Arc;

use forebay_columns::{Room, Schema};

use crate::message::Claim;
use crate::slot_columns::SlotColumns;

/// Alignment of the tensors that every slot has, in bytes. The header takes whole pages of it.
pub const PAGE: usize = 4096;
/// Alignment of each slot: one huge page.
pub(crate) const HUGE: usize = 2 << 20;
/// Slots start here, so that huge pages and slots have the same borders.
pub(crate) const SLOTS_OFFSET: usize = HUGE;
/// A ring longer than this is a mistake: 64 TiB, half of what a process can map.
const MAX_TOTAL: usize = 1 << 46;

/// Type of one channel of one pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Dtype {
    /// One byte, 0 to 255.
    U8 = 1,
    /// IEEE half precision.
    F16 = 2,
    /// IEEE single precision.
    F32 = 3,
    /// The upper half of single precision.
    Bf16 = 4,
}

/// Order of a picture's axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Layout {
    /// Height, width, channels.
    Nhwc = 1,
    /// Channels, height, width.
    Nchw = 2,
}

/// The images of one batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Places in a batch.
    pub batch: u32,
    /// Pixels from top to bottom.
    pub height: u32,
    /// Pixels from left to right.
    pub width: u32,
    /// Values per pixel.
    pub channels: u32,
    /// Type of a value.
    pub dtype: Dtype,
    /// Order of the axes.
    pub layout: Layout,
}

/// A checked shape with the offsets that follow from it. All arithmetic on it is known not to overflow.
///
/// ```
/// use forebay_ring::{Dtype, Geometry, Layout, Shape};
///
/// let shape = Shape { batch: 256, height: 224, width: 224, channels: 3, dtype: Dtype::U8, layout: Layout::Nhwc };
/// let geometry = Geometry::try_new(shape, 6)?;
/// assert_eq!(geometry.place_len(), 224 * 224 * 3);
/// assert_eq!(geometry.stride(), 19 << 20 << 1);
/// # Ok::<(), forebay_ring::ShapeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Geometry {
    shape: Shape,
    slots: u32,
    place_len: usize,
    pub(crate) labels: usize,
    pub(crate) records: usize,
    pub(crate) mask: usize,
    pub(crate) claims: usize,
    columns: SlotColumns,
    stride: usize,
    total: usize,
}

/// Why a shape cannot be a ring.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// A number that must be at least 1 is 0.
    #[error("a ring's {0} is 0; it must be at least 1")]
    Zero(&'static str),
    /// The ring would not fit into any machine.
    #[error(
        "a ring of {slots} slots of {batch} x {height} x {width} x {channels} values, with {columns} further columns, is larger than 64 TiB; make the batch or the pictures smaller, or ask for fewer columns"
    )]
    TooLarge {
        /// Slots asked for.
        slots: u32,
        /// Places in a batch.
        batch: u32,
        /// Height of a picture.
        height: u32,
        /// Width of a picture.
        width: u32,
        /// Values per pixel.
        channels: u32,
        /// Columns beside those that every batch has.
        columns: usize,
    },
}

impl Dtype {
    /// Bytes of one value.
    pub fn size(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::F16 | Self::Bf16 => 2,
            Self::F32 => 4,
        }
    }

    pub(crate) fn from_wire(value: u32) -> Option<Self> {
        [Self::U8, Self::F16, Self::F32, Self::Bf16].into_iter().find(|dtype| *dtype as u32 == value)
    }
}

impl Layout {
    pub(crate) fn from_wire(value: u32) -> Option<Self> {
        [Self::Nhwc, Self::Nchw].into_iter().find(|layout| *layout as u32 == value)
    }
}

impl Shape {
    /// Bytes of one picture, if that is a number at all.
    pub(crate) fn place_len(&self) -> Option<usize> {
        let parts = [self.height, self.width, self.channels];
        parts.into_iter().try_fold(self.dtype.size(), |product, part| product.checked_mul(part as usize))
    }
}

impl Geometry {
    /// Lays out a ring of `slots` slots.
    pub fn try_new(shape: Shape, slots: u32) -> Result<Self, ShapeError> {
        Self::with_columns(shape, slots, Schema::EMPTY, &[])
    }

    /// Lays out a ring whose batches have further columns, with the most items that one record has in each.
    ///
    /// # Panics
    /// There is not one room for each column.
    pub fn with_columns(shape: Shape, slots: u32, columns: Schema, rooms: &[Room]) -> Result<Self, ShapeError> {
        let Shape { batch, height, width, channels, .. } = shape;
        let parts = [
            ("batch", batch),
            ("height", height),
            ("width", width),
            ("channels", channels),
            ("number of slots", slots),
        ];
        if let Some((name, _)) = parts.iter().find(|(_, value)| *value == 0) {
            return Err(ShapeError::Zero(name));
        }
        let too_large = ShapeError::TooLarge { slots, batch, height, width, channels, columns: columns.len() };
        let geometry = Self::lay_out(shape, slots, columns, rooms);
        geometry.filter(|geometry| geometry.total <= MAX_TOTAL).ok_or(too_large)
    }

    fn lay_out(shape: Shape, slots: u32, columns: Schema, rooms: &[Room]) -> Option<Self> {
        let batch = shape.batch as usize;
        let place_len = shape.place_len()?;
        let after =
            |start: usize, item: usize| start.checked_add(batch.checked_mul(item)?)?.checked_next_multiple_of(PAGE);
        let labels = after(0, place_len)?;
        let records = after(labels, size_of::<i64>())?;
        let mask = after(records, size_of::<i64>())?;
        let claims = after(mask, 1)?;
        let end = after(claims, size_of::<Claim>())?;
        let (columns, end) = SlotColumns::lay_out(Arc::new(columns), rooms, batch, end)?;
        let stride = end.checked_next_multiple_of(HUGE)?;
        let total = stride.checked_mul(slots as usize)?.checked_add(SLOTS_OFFSET)?;
        Some(Self { shape, slots, place_len, labels, records, mask, claims, columns, stride, total })
    }

    /// The images of one batch.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Places in a batch.
    pub fn batch(&self) -> usize {
        self.shape.batch as usize
    }

    /// Slots in the ring.
    pub fn slots(&self) -> u32 {
        self.slots
    }

    /// Bytes of one picture.
    pub fn place_len(&self) -> usize {
        self.place_len
    }

    /// Bytes from one slot to the next, a multiple of 2 MiB.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Bytes of the whole memory, header included.
    pub fn total_len(&self) -> usize {
        self.total
    }

    /// Bytes of the whole slot, from the memory's start.
    ///
    /// # Panics
    /// When the ring has no such slot; so do the others.
    pub fn slot(&self, slot: u32) -> Range<usize> {
        assert!(slot < self.slots, "slot {slot} of a ring of {} slots", self.slots);
        let start = SLOTS_OFFSET + slot as usize * self.stride;
        start..start + self.stride
    }

    /// The images, `u8 | f16 | f32 [batch, ...]`.
    pub fn images(&self, slot: u32) -> Range<usize> {
        self.tensor(slot, 0, self.place_len)
    }

    /// The labels, `i64 [batch]`, -1 where there is none.
    pub fn labels(&self, slot: u32) -> Range<usize> {
        self.tensor(slot, self.labels, size_of::<i64>())
    }

    /// The record numbers, `i64 [batch]`, -1 where there is none.
    pub fn records(&self, slot: u32) -> Range<usize> {
        self.tensor(slot, self.records, size_of::<i64>())
    }

    /// The mask, `u8 [batch]`, 0 where a place repeats or replaces.
    pub fn mask(&self, slot: u32) -> Range<usize> {
        self.tensor(slot, self.mask, 1)
    }

    /// The claims, [`Claim`]` [batch]`. The offer says how many are set.
    pub fn claims(&self, slot: u32) -> Range<usize> {
        self.tensor(slot, self.claims, size_of::<Claim>())
    }

    /// The columns that not every batch has.
    pub fn columns(&self) -> &SlotColumns {
        &self.columns
    }

    /// These bytes of a slot, from the memory's start.
    pub(crate) fn within(&self, slot: u32, bytes: &Range<usize>) -> Range<usize> {
        let start = self.slot(slot).start;
        start + bytes.start..start + bytes.end
    }

    /// The pixels of one place of a batch with pictures of the ring's size, or of a size of their own.
    pub fn place(&self, slot: u32, place: u32, of: Option<Shape>) -> Range<usize> {
        let shape = of.unwrap_or(self.shape);
        assert!(place < shape.batch, "place {place} of a batch of {}", shape.batch);
        let (images, len) = (self.images(slot), shape.place_len().unwrap_or(0));
        let start = images.start + place as usize * len;
        assert!(start + len <= images.end, "place {place} of pictures that do not fit into the slot");
        start..start + len
    }

    /// Of one place, in a column of masks or views: the byte of its validity, and its values.
    pub(crate) fn column_place(&self, slot: u32, column: usize, place: u32) -> (Range<usize>, Range<usize>) {
        assert!(place < self.shape.batch, "place {place} of a batch of {}", self.shape.batch);
        assert!(self.columns.is_of_places(column), "column {column} is not one of masks or views");
        let (of, place) = (self.columns.column(column), place as usize);
        let item = of.values.len() / self.batch();
        let part = |start: usize, len: usize| self.within(slot, &(start..start + len));
        (part(of.validity.start + place, 1), part(of.values.start + place * item, item))
    }

    fn tensor(&self, slot: u32, offset: usize, item: usize) -> Range<usize> {
        let start = self.slot(slot).start + offset;
        start..start + item * self.batch()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape() -> Shape {
        Shape { batch: 5, height: 33, width: 17, channels: 3, dtype: Dtype::F16, layout: Layout::Nchw }
    }

    #[test]
    fn tensors_stand_in_order_at_pages_within_their_slot() {
        let geometry = Geometry::try_new(shape(), 3).unwrap();
        for slot in 0..3 {
            let whole = geometry.slot(slot);
            let tensors = [
                geometry.images(slot),
                geometry.labels(slot),
                geometry.records(slot),
                geometry.mask(slot),
                geometry.claims(slot),
            ];
            assert_eq!(whole.start % HUGE, 0);
            assert_eq!(tensors[0].start, whole.start);
            assert!(tensors.iter().all(|tensor| tensor.start % PAGE == 0));
            assert!(tensors.windows(2).all(|pair| pair[0].end <= pair[1].start));
            assert!(tensors[4].end <= whole.end);
        }
        assert_eq!(geometry.slot(2).end, geometry.total_len());
        assert_eq!(geometry.place(1, 4, None).end, geometry.images(1).end);
    }

    #[test]
    fn impossible_shapes_are_refused_by_name() {
        let zero = Geometry::try_new(Shape { width: 0, ..shape() }, 3).unwrap_err();
        assert_eq!(zero, ShapeError::Zero("width"));
        let huge = Shape { batch: u32::MAX, height: u32::MAX, width: u32::MAX, channels: u32::MAX, ..shape() };
        assert!(matches!(Geometry::try_new(huge, u32::MAX), Err(ShapeError::TooLarge { .. })));
        let large = Shape { batch: 1 << 20, height: 1 << 13, width: 1 << 13, ..shape() };
        assert!(matches!(Geometry::try_new(large, 1), Err(ShapeError::TooLarge { .. })));
    }
}
