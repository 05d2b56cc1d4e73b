//! What a function of batches gets and may change: arrays in the memory of its child, which has the layout of a slot (semantics
//! rule 59).

use std::io;
use std::ops::Range;

use forebay_children::Arena;
use forebay_columns::{ElementType, Field};
use forebay_pixels::{BatchFunction, Draw, Recipe};
use forebay_proto::Turn;
use forebay_ring::{ColumnParts, Geometry, Layout, Shape, SlotMut};
use serde_json::{Value, json};

use crate::batch_metadata::BatchMetadata;

/// The function of a stream's batches, and what it gets.
#[derive(Clone, Debug)]
pub(crate) struct BatchForm {
    function: BatchFunction,
    /// Seed of the stream.
    seed: u64,
    arrays: Vec<BatchArray>,
    lists: Vec<BatchList>,
    /// Where the validity is of the columns in which the function gives each place a value.
    given: Vec<Range<usize>>,
    /// Bytes of a slot.
    len: usize,
}

/// An array with as many items in each place.
#[derive(Clone, Debug)]
struct BatchArray {
    name: String,
    element: ElementType,
    dims: Vec<u32>,
    /// Where that of the whole batch is in the slot.
    at: Range<usize>,
    /// Bytes of one place.
    item: usize,
    /// The function may change it.
    changes: bool,
    /// Where the validity is, of a column.
    validity: Option<Range<usize>>,
}

/// A column with lists.
#[derive(Clone, Debug)]
struct BatchList {
    field: Field,
    parts: ColumnParts,
}

impl BatchForm {
    /// Of a stream's recipe and its slots. Nothing if the recipe has no function of batches.
    pub(crate) fn new(recipe: &Recipe, seed: u64, geometry: &Geometry) -> Option<Self> {
        let function = recipe.batch_function()?.clone();
        let (parts, schema) = (geometry.parts(), geometry.columns().schema());
        let places = geometry.batch();
        let array = |name: &str, element, dims: &[u32], at: &Range<usize>, changes| BatchArray {
            name: name.to_owned(),
            element,
            dims: dims.to_vec(),
            at: at.clone(),
            item: at.len() / places,
            changes,
            validity: None,
        };
        let (element, dims) = of_images(geometry.shape());
        let mut arrays = vec![
            array("images", element, &dims, &parts.images, true),
            array("labels", ElementType::I64, &[], &parts.labels, true),
            array("records", ElementType::I64, &[], &parts.records, false),
            array("mask", ElementType::Bool, &[], &parts.mask, false),
        ];
        let (mut lists, mut given) = (Vec::new(), Vec::new());
        for (number, (field, column)) in schema.fields().iter().zip(parts.columns).enumerate() {
            let of = &field.column_type;
            if of.depth() > 0 {
                lists.push(BatchList { field: field.clone(), parts: column });
                continue;
            }
            if function.python.columns.contains_key(&*field.name) {
                given.push(column.validity.clone());
            }
            // A trainer's receipt follows from the repeats, as it does from the record numbers.
            let changes = schema.repeats() != Some(number);
            let whole = array(&field.name, of.element(), of.dims(), &column.values, changes);
            arrays.push(BatchArray { validity: Some(column.validity), ..whole });
        }
        Some(Self { function, seed, arrays, lists, given, len: parts.len })
    }

    /// Its function.
    pub(super) fn function(&self) -> &str {
        &self.function.python.function
    }

    /// Bytes of an arena with a batch.
    pub(super) fn len(&self) -> u64 {
        self.len as u64
    }

    /// What a child is told of it once.
    pub(super) fn begin(&self) -> Value {
        let start = |range: &Range<usize>| range.start;
        let array = |array: &BatchArray| {
            json!({
                "name": array.name,
                "element": array.element.name(),
                "dims": array.dims,
                "at": array.at.start,
                "changes": array.changes,
                "validity": array.validity.as_ref().map(start),
            })
        };
        let list = |BatchList { field, parts }: &BatchList| {
            json!({
                "name": field.name,
                "element": field.column_type.element().name(),
                "dims": field.column_type.dims(),
                "at": parts.values.start,
                "validity": parts.validity.start,
                "offsets": parts.offsets.iter().map(start).collect::<Vec<_>>(),
            })
        };
        json!({
            "function": self.function.python.function,
            "seeded": self.function.python.seeded,
            "arrays": self.arrays.iter().map(array).collect::<Vec<_>>(),
            "lists": self.lists.iter().map(list).collect::<Vec<_>>(),
        })
    }

    /// The request to call the function with a batch.
    pub(super) fn request(&self, metadata: &BatchMetadata) -> Value {
        let seed = format!("{:x}", self.seed_of(metadata));
        json!({ "do": "batch", "shown": metadata.shown, "epoch": metadata.epoch, "seed": seed })
    }

    /// The random choices of a batch are those of the first place that is the epoch's own.
    fn seed_of(&self, metadata: &BatchMetadata) -> u128 {
        let first = metadata.places.mask.iter().position(|&own| own == 1).unwrap_or(0);
        let turn = metadata.places.turn(first).unwrap_or(Turn::first(0));
        let draws = self.function.draws(Draw { seed: self.seed, epoch: metadata.epoch, record: turn.key() });
        u128::from(draws.bits(0)) | u128::from(draws.bits(1)) << 64
    }

    /// Copies the places that a batch shows into the arena.
    ///
    /// # Errors
    /// The system lacks memory.
    pub(super) fn write(&self, slot: &SlotMut, shown: u32, arena: &Arena) -> io::Result<()> {
        let write = |range: Range<usize>| arena.write(range.start as u64, slot.bytes(&range));
        let shown = shown as usize;
        for BatchArray { at, item, validity, .. } in &self.arrays {
            write(first(at, shown * item))?;
            validity.iter().try_for_each(|validity| write(first(validity, shown)))?;
        }
        for BatchList { field, parts } in &self.lists {
            write(first(&parts.validity, shown))?;
            let mut rows = shown;
            for offsets in &parts.offsets {
                let used = first(offsets, (rows + 1) * size_of::<i64>());
                let last = slot.bytes(&used).last_chunk().copied().map_or(0, i64::from_le_bytes);
                rows = usize::try_from(last).unwrap_or_default();
                write(used)?;
            }
            write(first(&parts.values, rows * field.column_type.row_len()))?;
        }
        Ok(())
    }

    /// Copies what the function may have changed back into the slot.
    ///
    /// # Errors
    /// The system does not give it. The batch then is neither what it was nor what it should be.
    pub(super) fn read(&self, slot: &mut SlotMut, shown: u32, arena: &Arena) -> io::Result<()> {
        let shown = shown as usize;
        for BatchArray { at, item, element, .. } in self.arrays.iter().filter(|array| array.changes) {
            let range = first(at, shown * item);
            let bytes = slot.bytes_mut(&range);
            arena.read(range.start as u64, bytes)?;
            if *element == ElementType::Bool {
                for byte in bytes {
                    *byte = u8::from(*byte != 0);
                }
            }
        }
        for validity in &self.given {
            slot.bytes_mut(&first(validity, shown)).fill(1);
        }
        Ok(())
    }
}

/// The first bytes of a range.
fn first(range: &Range<usize>, len: usize) -> Range<usize> {
    range.start..(range.start + len).min(range.end)
}

/// The type of pixels, and the shape of a place.
fn of_images(shape: Shape) -> (ElementType, [u32; 3]) {
    let Shape { height, width, channels, dtype, layout, .. } = shape;
    let element = ElementType::from_wire(dtype as u32).expect("pixels have types of values");
    let dims = match layout {
        Layout::Nhwc => [height, width, channels],
        Layout::Nchw => [channels, height, width],
    };
    (element, dims)
}
