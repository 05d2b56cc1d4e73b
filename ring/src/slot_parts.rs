//! Where everything of a slot is, counted from the slot's start: for what works on a finished batch as a whole.

use std::ops::Range;

use crate::layout::Geometry;

/// Where the parts of a slot are: ranges of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotParts {
    /// The pixels of all places.
    pub images: Range<usize>,
    /// The labels, `i64` per place.
    pub labels: Range<usize>,
    /// The record numbers, `i64` per place.
    pub records: Range<usize>,
    /// The mask, one byte per place.
    pub mask: Range<usize>,
    /// Those of the columns, in the order of the schema.
    pub columns: Vec<ColumnParts>,
    /// Bytes of the slot.
    pub len: usize,
}

/// Where the parts of a column are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnParts {
    /// One byte per place: 1 if it has a value.
    pub validity: Range<usize>,
    /// For each ragged level, where its lists end: `i64`, with a 0 before the first. Columns of the same objects share those of the
    /// outermost level.
    pub offsets: Vec<Range<usize>>,
    /// The values.
    pub values: Range<usize>,
}

impl Geometry {
    /// Where the parts of each slot are.
    pub fn parts(&self) -> SlotParts {
        let (start, columns) = (self.slot(0).start, self.columns());
        let part = |range: Range<usize>| range.start - start..range.end - start;
        let column = |(number, field): (usize, &forebay_columns::Field)| {
            let of = columns.column(number);
            ColumnParts {
                validity: of.validity.clone(),
                offsets: of.offsets[..field.column_type.depth()].to_vec(),
                values: of.values.clone(),
            }
        };
        SlotParts {
            images: part(self.images(0)),
            labels: part(self.labels(0)),
            records: part(self.records(0)),
            mask: part(self.mask(0)),
            columns: columns.schema().fields().iter().enumerate().map(column).collect(),
            len: self.stride(),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests stop at what should not be")]
mod tests {
    use forebay_columns::{Column, Field, Room, Schema};

    use super::*;
    use crate::{Dtype, Layout, Region, Shape};

    #[test]
    fn the_parts_of_a_slot_are_where_its_right_writes_them() {
        let shape = Shape { batch: 2, height: 1, width: 2, channels: 3, dtype: Dtype::U8, layout: Layout::Nhwc };
        let fields = [("blur", "f32 [2]"), ("tags", "u8 [*]")];
        let fields = fields.map(|(name, of)| Field::new(name, of.parse().unwrap()));
        let schema = Schema::try_new(fields.to_vec()).unwrap();
        let rooms = [Room::default(), Room([3, 0, 0])];
        let geometry = Geometry::with_columns(shape, 3, schema, &rooms).unwrap();
        let (parts, region) = (geometry.parts(), Region::create(geometry, 1, 0).unwrap());
        let mut slot = region.slot(2).unwrap();
        slot.place_mut(1).fill(7);
        slot.frame().labels().copy_from_slice(&[5, -1]);
        slot.frame().records().copy_from_slice(&[8, 9]);
        slot.frame().mask()[1] = 1;
        let mut tags = slot.frame().column(1);
        let mut values = Column::new("u8 [*]".parse().unwrap());
        values.push(&[1_u8, 2]);
        tags.push(&values.value(0)).unwrap();
        tags.push_null().unwrap();
        slot.bytes_mut(&parts.columns[0].values)[4..8].copy_from_slice(&1.5_f32.to_le_bytes());
        assert_eq!(slot.bytes(&parts.images), [[0; 6], [7; 6]].concat());
        assert_eq!(slot.bytes(&parts.labels), [5_i64, -1].map(i64::to_le_bytes).concat());
        assert_eq!(slot.bytes(&parts.records), [8_i64, 9].map(i64::to_le_bytes).concat());
        assert_eq!(slot.bytes(&parts.mask), [0, 1]);
        let ColumnParts { validity, offsets, values } = &parts.columns[1];
        assert_eq!((slot.bytes(validity), &slot.bytes(values)[..2]), (&[1, 0][..], &[1, 2][..]));
        assert_eq!(slot.bytes(&offsets[0]), [0_i64, 2, 2].map(i64::to_le_bytes).concat());
        assert!(parts.columns[0].offsets.is_empty());
    }

    #[test]
    #[should_panic(expected = "beyond the slot")]
    fn bytes_of_another_slot_are_not_given() {
        let shape = Shape { batch: 1, height: 1, width: 1, channels: 3, dtype: Dtype::U8, layout: Layout::Nhwc };
        let region = Region::create(Geometry::try_new(shape, 2).unwrap(), 1, 0).unwrap();
        let slot = region.slot(0).unwrap();
        let len = slot.geometry().stride();
        slot.bytes(&(0..len + 1));
    }
}
