//! Masks that are ranges of the same files as their pictures. They are read behind the picture, one after the other.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::types::UInt64Type;
use forebay_columns::ElementType;
use forebay_sources::{ColumnMap, Locator, MaskColumn, ReadError, ReadErrorKind, RecordParts, Withdrawal};

use super::open_files::OpenFile;
use crate::index_columns::{BadIndex, IndexColumns, NewColumns};
use crate::values::Values;

/// The masks of all records.
#[derive(Debug, Default)]
pub(crate) struct PackedMasks {
    /// Their columns. Empty while the records are looked for, and for a dataset without masks.
    pub columns: Vec<MaskColumn>,
    /// Where they are, column by column.
    places: Vec<MaskPlaces>,
}

/// The ranges of one column, one for each record. A mask without bytes is missing.
#[derive(Debug, Default)]
struct MaskPlaces {
    offsets: Values<u64>,
    lens: Values<u64>,
}

/// Where the bytes of a mask begin, and how many there are.
type MaskRange = (u64, u64);

/// Called with a record's bytes. After an error, it is called with what is left of them, and with the error.
pub(super) type ReadDone = Box<dyn FnOnce(Vec<u8>, Result<(), ReadError>) + Send>;

/// The metadata of an index's column that has the type of a mask's numbers.
const ELEMENT: &str = "forebay.mask";

impl PackedMasks {
    /// So many columns, without a record.
    pub(crate) fn new(columns: usize) -> Self {
        Self { columns: Vec::new(), places: (0..columns).map(|_| MaskPlaces::default()).collect() }
    }

    /// How many columns there are.
    pub(crate) fn columns_count(&self) -> usize {
        self.places.len()
    }

    /// Adds the mask of the next record to a column.
    pub(crate) fn push(&mut self, column: usize, place: Option<MaskRange>) {
        let (offset, len) = place.unwrap_or_default();
        self.places[column].offsets.push(offset);
        self.places[column].lens.push(len);
    }

    /// Bytes that a record has behind its picture.
    pub(crate) fn size(&self, record: usize) -> u64 {
        self.of(record).fold(self.table_len(), |size, (_, len)| size.saturating_add(len))
    }

    /// Bytes of the table behind the masks.
    pub(crate) fn table_len(&self) -> u64 {
        RecordParts::table_len(self.places.len())
    }

    /// The masks of a record.
    pub(super) fn of(&self, record: usize) -> impl Iterator<Item = MaskRange> {
        self.places.iter().map(move |places| (places.offsets.at(record), places.lens.at(record)))
    }

    /// Adds a record's masks to its picture.
    pub(super) fn read(&self, file: &OpenFile, record: usize, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        let masks: Vec<MaskRange> = self.of(record).collect();
        for &(offset, len) in masks.iter().filter(|(_, len)| *len > 0) {
            file.read_behind(offset, in_memory(len), buf)?;
        }
        close(buf, &masks);
        Ok(())
    }

    /// The reads of a record's masks, which are in the same file as its picture. Nothing for a dataset without masks.
    pub(super) fn reads(&self, record: usize, file: &Arc<OpenFile>, withdrawal: &Withdrawal) -> Option<MaskReads> {
        let (file, withdrawal) = (Arc::clone(file), withdrawal.clone());
        (!self.places.is_empty()).then(|| MaskReads { file, withdrawal, masks: self.of(record).collect(), next: 0 })
    }

    /// Adds them to an index.
    pub(super) fn add_to_index(&mut self, columns: &mut NewColumns) {
        for (column, places) in self.columns.iter().zip(&mut self.places) {
            let (offset, length) = names(&column.name);
            columns.numbers::<UInt64Type>(&offset, &mut places.offsets);
            if let Some(field) = columns.fields.pop() {
                let element = HashMap::from([(ELEMENT.to_owned(), column.element.name().to_owned())]);
                columns.fields.push(field.with_metadata(element));
            }
            columns.numbers::<UInt64Type>(&length, &mut places.lens);
        }
    }

    /// Those of an index, in the order of these columns. None if the index has none.
    pub(super) fn from_index(columns: &IndexColumns, masks: &ColumnMap) -> Result<Self, BadIndex> {
        let mut found = Self::default();
        for (name, _) in masks.targets() {
            let (offset, length) = names(name);
            if !columns.has(&offset) {
                return Ok(Self::default());
            }
            let element = element(columns, &offset)
                .ok_or_else(|| BadIndex(format!("its column \"{offset}\" does not say of what type the masks are")))?;
            found.columns.push(MaskColumn { name: name.to_owned(), element });
            let (offsets, lens) = (columns.numbers::<UInt64Type>(&offset)?, columns.numbers::<UInt64Type>(&length)?);
            found.places.push(MaskPlaces { offsets, lens });
        }
        Ok(found)
    }

    /// Gives `part` everything that distinguishes these masks from others.
    pub(super) fn digest(&self, part: &mut dyn FnMut(&[u8])) {
        for (column, places) in self.columns.iter().zip(&self.places) {
            part(b"mask");
            part(column.name.as_bytes());
            part(column.element.name().as_bytes());
            for (offset, len) in places.offsets.iter().zip(places.lens.iter()) {
                part(&offset.to_le_bytes());
                part(&len.to_le_bytes());
            }
        }
    }
}

/// The columns of an index.
fn names(mask: &str) -> (String, String) {
    (format!("{mask}_mask_offset"), format!("{mask}_mask_length"))
}

fn element(columns: &IndexColumns, name: &str) -> Option<ElementType> {
    let schema = &columns.schema;
    let element = ElementType::named(schema.field_with_name(name).ok()?.metadata().get(ELEMENT)?)?;
    [ElementType::U8, ElementType::U16, ElementType::I32].contains(&element).then_some(element)
}

fn in_memory(len: u64) -> usize {
    usize::try_from(len).unwrap_or(usize::MAX)
}

/// Writes the table behind a picture and its masks.
fn close(buf: &mut Vec<u8>, masks: &[MaskRange]) {
    let lengths: Vec<u64> = masks.iter().map(|(_, len)| *len).collect();
    RecordParts::close(buf, &lengths);
}

/// Requests the masks of a record one after the other, as long as the record is not withdrawn.
#[derive(Debug)]
pub(super) struct MaskReads {
    file: Arc<OpenFile>,
    withdrawal: Withdrawal,
    masks: Vec<MaskRange>,
    next: usize,
}

impl MaskReads {
    /// Requests the next masks, and calls `done` with the picture in `buf` and all masks behind it.
    pub(super) fn request(mut self, mut buf: Vec<u8>, done: ReadDone) {
        let rest = &self.masks[self.next..];
        self.next += rest.iter().take_while(|(_, len)| *len == 0).count();
        let Some(&(offset, len)) = self.masks.get(self.next) else {
            close(&mut buf, &self.masks);
            return done(buf, Ok(()));
        };
        self.next += 1;
        let (file, withdrawal) = (Arc::clone(&self.file), self.withdrawal.clone());
        let pending = file.request(offset, in_memory(len), Vec::new(), move |mask, read| {
            let locator = self.file.locator();
            let added = read.and_then(|()| append(&mut buf, &mask, locator));
            match added {
                Ok(()) => self.request(buf, done),
                Err(error) => done(buf, Err(error)),
            }
        });
        if let Some(pending) = pending {
            withdrawal.on_withdrawal(move || pending.cancel());
        }
    }
}

/// Adds a mask to a record. The caller has compared its size with the limit.
fn append(buf: &mut Vec<u8>, mask: &[u8], locator: Locator) -> Result<(), ReadError> {
    buf.try_reserve(mask.len()).map_err(|error| {
        let no_room = ReadError::new(ReadErrorKind::Resources, locator);
        ReadError { cause: error.to_string(), ..no_room }
    })?;
    buf.extend_from_slice(mask);
    Ok(())
}
