//! Ranges of files in an index, and from one.

use std::sync::Arc;

use arrow_array::types::{Int64Type, UInt32Type, UInt64Type};
use arrow_array::{DictionaryArray, StringArray, UInt32Array};
use arrow_schema::{DataType, Field};
use forebay_sources::{Locator, Options, ReadError, ReadErrorKind};

use super::open_files::OpenFiles;
use super::{ContainerFile, Packed, PackedMasks, PackedParts, Packing, Spans, shard_names};
use crate::beside::Oversights;
use crate::index_blocks::IndexBlocks;
use crate::index_columns::{BadIndex, IndexColumns, NewColumns, Opening, wrong_type};
use crate::provenance::Provenance;
use crate::values::Values;

/// The columns of an index of ranges.
const FILE: &str = "file";
const OFFSET: &str = "offset";
pub(crate) const LENGTH: &str = "length";
const LABEL: &str = "label";

/// Makes a packing of what an index has.
pub(crate) type ReadPacking = fn(&IndexColumns, &Options) -> Result<Arc<dyn Packing>, BadIndex>;

/// Whether its records are read one by one, and from files that are not compressed. Others have no index.
pub(crate) fn is_indexed(packed: &Packed) -> bool {
    packed.parts.grains.is_empty() && packed.parts.files.iter().all(|file| file.unpacked.is_none())
}

/// The table of all ranges. What it has is shared with the index, and not copied.
pub(crate) fn add_to_index(packed: &mut Packed, columns: &mut NewColumns) {
    let PackedParts { files, spans, labels, packing, masks, .. } = &mut packed.parts;
    let keys = UInt32Array::new(spans.files.share(), None);
    let names: StringArray = files.iter().map(|file| Some(file.path().to_string_lossy().into_owned())).collect();
    let of = DataType::Dictionary(Box::new(DataType::UInt32), Box::new(DataType::Utf8));
    let dictionary = DictionaryArray::<UInt32Type>::new(keys, Arc::new(names));
    columns.array(Field::new(FILE, of, false), Arc::new(dictionary));
    columns.numbers::<UInt64Type>(OFFSET, &mut spans.offsets);
    columns.numbers::<UInt64Type>(LENGTH, &mut spans.lens);
    if !labels.is_empty() {
        columns.numbers::<Int64Type>(LABEL, labels);
    }
    Arc::get_mut(packing).expect("nobody reads the records yet").add_to_index(columns);
    masks.add_to_index(columns);
    let records = spans.len();
    columns.faults(records, |record| packing.known_fault(record));
}

/// The ranges that an index has. Each is checked when it is used.
///
/// # Errors
/// The columns are not those of ranges of these files.
pub(crate) fn from_index(
    opening: Opening<'_>,
    files: Vec<ContainerFile>,
    packing: ReadPacking,
) -> Result<Packed, BadIndex> {
    let Opening { columns, options, classes, targets, fingerprint, sizes, oversights } = opening;
    let spans = Spans {
        files: file_numbers(&columns)?,
        offsets: columns.numbers::<UInt64Type>(OFFSET)?,
        lens: columns.numbers::<UInt64Type>(LENGTH)?,
    };
    let masks = PackedMasks::from_index(&columns, &options.masks)?;
    if files.is_empty() {
        return Err(BadIndex("it names no file".into()));
    }
    let packing = packing(&columns, options)?;
    let labels = columns.labels(LABEL)?;
    let (shards, open) = (shard_names(&files), OpenFiles::new(files.len()));
    let parts = PackedParts { files, spans, labels, classes, targets, grains: Vec::new(), masks, packing };
    let index = Some(Arc::clone(&columns.blocks));
    let oversights = Oversights::new(oversights, options);
    let provenance = Provenance { oversights, sizes, ..Provenance::of(fingerprint) };
    Ok(Packed { parts, shards, open, cache: None, provenance, byte_limit: options.byte_limit, index })
}

/// What a read is worth, of a dataset that was opened from this index.
pub(super) fn believed(
    index: Option<&IndexBlocks>,
    read: Result<(), ReadError>,
    locator: impl FnOnce() -> Locator,
) -> Result<(), ReadError> {
    let Some(cause) = index.and_then(IndexBlocks::failure) else { return read };
    Err(ReadError { cause: cause.to_owned(), ..ReadError::new(ReadErrorKind::Index, locator()) })
}

/// The number of each record's file.
fn file_numbers(columns: &IndexColumns) -> Result<Values<u32>, BadIndex> {
    let array = columns.array(FILE)?;
    match &array.data_type {
        DataType::Dictionary(keys, _) if **keys == DataType::UInt32 => Ok(array.stored::<u32>(0, array.len)?.into()),
        _ => Err(wrong_type(FILE)),
    }
}
