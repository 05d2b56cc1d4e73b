//! Pictures of compressed Arrow files. A batch of rows is what is decompressed at once, so batches are the grains.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array, ArrayRef};
use arrow_ipc::root_as_message;
use arrow_schema::{DataType, Fields};
use forebay_sources::{ReadError, RecordParts};

use super::batch::RowBatch;
use super::codec::BufferCodec;
use super::messages::MessageBody;
use crate::grain_cache::{Grain, MOST_REPEATED};
use crate::ranges::FileRanges;
use crate::tables::TableChoice;

/// A batch of rows, as it is in its file.
#[derive(Debug)]
pub(super) struct StoredBatch {
    pub rows: usize,
    pub body: MessageBody,
    pub codec: Option<BufferCodec>,
    /// The schema of its file, and the fields that are read of it.
    pub fields: Fields,
    pub choice: Arc<TableChoice>,
}

impl StoredBatch {
    /// The records of its rows. If it is damaged, or its views repeat bytes until they take more memory than is given to them,
    /// there are none.
    ///
    /// # Errors
    /// The storage fails, or the file is not what it was.
    pub(super) fn read(&self, ranges: &FileRanges) -> Result<Grain, ReadError> {
        let grain = self.records(ranges).unwrap_or_default();
        ranges.fault().map_or(Ok(grain), Err)
    }

    fn records(&self, ranges: &FileRanges) -> Option<Grain> {
        let header = root_as_message(&self.body.metadata).ok()?.header_as_record_batch()?;
        let Self { body, fields, rows, codec, choice, .. } = self;
        let batch = RowBatch { fields, header, body, ranges, rows: *rows, codec: *codec };
        let pictures = batch.values(&choice.picture)?;
        let masks: Option<Vec<ArrayRef>> = choice.masks.iter().map(|(_, field)| batch.values(field)).collect();
        let masks = masks?;
        let columns = || std::iter::once(&pictures).chain(&masks);
        let all: usize = columns().flat_map(|column| (0..*rows).map(move |row| bytes(column, row).len())).sum();
        let stored: usize = columns().map(Array::get_buffer_memory_size).sum();
        if all as u64 > (stored as u64).saturating_add(MOST_REPEATED) {
            return None;
        }
        let table = usize::try_from(RecordParts::table_len(masks.len())).ok()?;
        let mut grain = Grain::default();
        grain.bytes.try_reserve_exact(all.checked_add(rows.checked_mul(table)?)?).ok()?;
        for row in 0..*rows {
            grain.bytes.extend_from_slice(bytes(&pictures, row));
            let mut lengths = Vec::with_capacity(masks.len());
            for mask in &masks {
                let mask = bytes(mask, row);
                grain.bytes.extend_from_slice(mask);
                lengths.push(mask.len() as u64);
            }
            RecordParts::close(&mut grain.bytes, &lengths);
            grain.ends.push(grain.bytes.len());
        }
        Some(grain)
    }
}

/// The bytes of a row. None, if it is null.
pub(super) fn bytes(array: &ArrayRef, row: usize) -> &[u8] {
    if array.is_null(row) {
        return &[];
    }
    match array.data_type() {
        DataType::Binary => array.as_binary::<i32>().value(row),
        DataType::LargeBinary => array.as_binary::<i64>().value(row),
        DataType::BinaryView => array.as_binary_view().value(row),
        _ => &[],
    }
}
