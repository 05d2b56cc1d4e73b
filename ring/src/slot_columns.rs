//! Where the further columns of a slot are, and how the ring's header describes them.
//!
//! Each column has, in this order and each at a multiple of 64 bytes: its validity (`u8` per place), the offsets of each of its
//! ragged levels (`i64`), and its values. Columns of the same objects share the offsets of their outermost level: the first
//! of them has these.

use std::ops::Range;
use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use forebay_columns::{ColumnType, ElementType, Field, MAX_DEPTH, MAX_DIMS, MAX_NAME, Room, Schema};

use crate::padded::{pad, unpad};

/// Alignment of each part of a column: what XLA and SIMD code ask for.
const ALIGN: usize = 64;
/// Bytes of a name in a header, with at least one zero behind it.
const NAME: usize = MAX_NAME + 1;

/// The columns of a ring's slots, laid out.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SlotColumns {
    schema: Arc<Schema>,
    columns: Arc<[SlotColumn]>,
    /// Those whose places are written one by one, such as masks. Only the daemon knows of them.
    of_places: Arc<[usize]>,
}

/// Where a column is in each slot: ranges of bytes, counted from the slot's start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SlotColumn {
    pub room: Room,
    pub validity: Range<usize>,
    pub offsets: [Range<usize>; MAX_DEPTH],
    pub values: Range<usize>,
}

/// A column in the header, little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct ColumnEntry {
    /// Its name, padded with zeros.
    pub name: [u8; NAME],
    /// The name of its objects, padded with zeros; empty without.
    pub objects: [u8; NAME],
    /// [`ElementType`] of its values.
    pub element: u32,
    /// Ragged levels.
    pub depth: u32,
    /// Fixed dimensions of a row; zeros behind the last.
    pub dims: [u32; MAX_DIMS],
    /// Most items of one record at each level.
    pub room: [u64; MAX_DEPTH],
    /// Where its validity is, from the slot's start, and so are the others.
    pub validity: u64,
    /// Where the offsets of each level are; zeros behind the last.
    pub offsets: [u64; MAX_DEPTH],
    /// Where its values are.
    pub values: u64,
}

impl SlotColumns {
    /// Lays columns out from this byte of the slot on, with the given room for one record's items in each. Returns where the
    /// last one ends, or `None` if that is beyond any memory.
    pub(crate) fn lay_out(schema: Arc<Schema>, rooms: &[Room], batch: usize, start: usize) -> Option<(Self, usize)> {
        assert_eq!(rooms.len(), schema.len(), "room for each column");
        let mut end = start;
        let mut take = |item: usize, count: usize| {
            let first = end.checked_next_multiple_of(ALIGN)?;
            end = first.checked_add(item.checked_mul(count)?)?;
            Some(first..end)
        };
        let mut columns: Vec<SlotColumn> = Vec::with_capacity(schema.len());
        for (place, (field, room)) in schema.fields().iter().zip(rooms).enumerate() {
            let (of, leader) = (&field.column_type, schema.leader(place));
            let items = |level: usize| batch.checked_mul(usize::try_from(room.0[level - 1]).ok()?);
            let validity = take(1, batch)?;
            let mut offsets = [0..0, 0..0, 0..0];
            for level in 1..=of.depth() {
                let lists = if level == 1 { batch } else { items(level - 1)? };
                offsets[level - 1] = match columns.get(leader) {
                    Some(leader) if level == 1 => leader.offsets[0].clone(),
                    _ => take(size_of::<i64>(), lists.checked_add(1)?)?,
                };
            }
            let rows = batch.checked_mul(usize::try_from(room.rows(of)).ok()?)?;
            let values = take(of.row_len(), rows)?;
            columns.push(SlotColumn { room: *room, validity, offsets, values });
        }
        let of_places = (0..schema.len()).filter(|&column| schema.fields()[column].role.is_of_places()).collect();
        Some((Self { schema, columns: columns.into(), of_places }, end))
    }

    /// Names and types.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The columns whose places are written one by one, with those of the pictures.
    pub(crate) fn of_places(&self) -> Arc<[usize]> {
        Arc::clone(&self.of_places)
    }

    pub(crate) fn is_of_places(&self, column: usize) -> bool {
        self.of_places.contains(&column)
    }

    pub(crate) fn column(&self, column: usize) -> &SlotColumn {
        &self.columns[column]
    }

    /// What the header says of each column.
    pub(crate) fn entries(&self) -> Vec<ColumnEntry> {
        self.schema.fields().iter().zip(&*self.columns).map(|(field, column)| ColumnEntry::of(field, column)).collect()
    }
}

impl ColumnEntry {
    fn of(field: &Field, column: &SlotColumn) -> Self {
        let mut dims = [0; MAX_DIMS];
        dims[..field.column_type.dims().len()].copy_from_slice(field.column_type.dims());
        Self {
            name: name(&field.name),
            objects: name(field.objects.as_deref().unwrap_or_default()),
            element: field.column_type.element() as u32,
            depth: u32::try_from(field.column_type.depth()).unwrap_or(u32::MAX),
            dims,
            room: column.room.0,
            validity: column.validity.start as u64,
            offsets: std::array::from_fn(|level| column.offsets[level].start as u64),
            values: column.values.start as u64,
        }
    }

    /// The column that it describes, and its room. Nothing if a field means nothing.
    pub(crate) fn field(&self) -> Option<(Field, Room)> {
        let used = self.dims.iter().position(|dim| *dim == 0).unwrap_or(MAX_DIMS);
        let depth = usize::try_from(self.depth).ok()?;
        let column_type = ColumnType::try_new(ElementType::from_wire(self.element)?, depth, &self.dims[..used]).ok()?;
        let objects = unpad(&self.objects)?;
        let objects = (!objects.is_empty()).then(|| objects.to_owned());
        Some((Field { objects, ..Field::new(unpad(&self.name)?, column_type) }, Room(self.room)))
    }
}

/// A name of a schema, which is shorter than its field.
fn name(name: &str) -> [u8; NAME] {
    pad(name).unwrap_or([0; NAME])
}
