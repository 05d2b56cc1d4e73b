//! Pictures of compressed Arrow files. A batch of rows is what is decompressed at once, so batches are the grains.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array, ArrayRef};
use arrow_ipc::root_as_message;
use arrow_schema::{DataType, Fields};
use forebay_columns::Table;
use forebay_sources::{
    Grains, Locator, MaskColumn, Options, ReadError, ReadErrorKind, RecordParts, Source, SourceError,
};

use super::batch::RowBatch;
use super::codec::BufferCodec;
use super::messages::MessageBody;
use crate::address::Address;
use crate::grain_cache::{Grain, GrainCache, MOST_REPEATED};
use crate::packed::open_files::OpenFiles;
use crate::packed::{PackedParts, Span, fingerprint};
use crate::ranges::FileRanges;
use crate::tables::TableChoice;

/// Bytes of decoded batches that are kept.
const KEPT: usize = 256 << 20;

/// A batch of rows, as it is in its file.
#[derive(Debug)]
pub(super) struct StoredBatch {
    pub file: u32,
    pub rows: usize,
    pub body: MessageBody,
    pub codec: Option<BufferCodec>,
    /// The schema of its file, and the fields that are read of it.
    pub fields: Fields,
    pub choice: Arc<TableChoice>,
}

/// The rows of compressed batches, as records.
#[derive(Debug)]
pub(super) struct BatchRows {
    /// Of a span, only the length is used: that of the picture. The grains are the batches.
    parts: PackedParts,
    batches: Vec<StoredBatch>,
    shards: Vec<String>,
    opened: OpenFiles,
    cache: GrainCache,
    fingerprint: [u8; 32],
    byte_limit: u64,
}

impl StoredBatch {
    /// The records of its rows. If it is damaged, or its views repeat bytes until they take more memory than is given to them,
    /// there are none.
    ///
    /// # Errors
    /// The storage fails, or the file is not what it was.
    fn read(&self, ranges: &FileRanges) -> Result<Grain, ReadError> {
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

impl BatchRows {
    /// # Errors
    /// There is no record.
    pub(super) fn new(
        name: &Address,
        mut parts: PackedParts,
        batches: Vec<StoredBatch>,
        options: &Options,
    ) -> Result<Self, SourceError> {
        if parts.spans.is_empty() {
            return Err(SourceError::NoRecords { path: name.path().to_owned() });
        }
        let batches: Vec<StoredBatch> = batches.into_iter().filter(|batch| batch.rows > 0).collect();
        let mut first = 0;
        for batch in &batches {
            parts.grains.push(first);
            first += batch.rows as u64;
        }
        let shards = parts.files.iter().map(|file| file.address.last_name()).collect();
        let (opened, cache) = (OpenFiles::new(parts.files.len()), GrainCache::new(KEPT));
        let fingerprint = fingerprint(name, &parts);
        Ok(Self { parts, batches, shards, opened, cache, fingerprint, byte_limit: options.byte_limit })
    }

    /// The record's place in the lists. The plan never asks for a record beyond the end.
    fn place(&self, record: u64) -> usize {
        let place = usize::try_from(record).expect("a list in memory is no longer than usize::MAX");
        assert!(place < self.parts.spans.len(), "record {record} of {}", self.parts.spans.len());
        place
    }

    fn span(&self, record: u64) -> Span {
        self.parts.spans.at(self.place(record))
    }

    fn read_row(&self, record: u64, room: u64, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        let at = |kind| ReadError::new(kind, self.locator(record));
        if let Some(fault) = self.parts.packing.fault(record) {
            return Err(ReadError::damaged(self.locator(record), fault));
        }
        if self.span(record).len == 0 {
            return Err(at(ReadErrorKind::Empty));
        }
        let limit = self.byte_limit.saturating_add(self.parts.masks.table_len());
        if let Some(kind) = ReadErrorKind::of_size(self.size(record), limit, room) {
            return Err(at(kind));
        }
        let number = self.grains().of(record);
        let place = usize::try_from(number).expect("a place in the list");
        let batch = &self.batches[place];
        let container = &self.parts.files[batch.file as usize];
        let read = |_used| {
            let file = self.opened.get(batch.file, container)?;
            batch.read(&FileRanges::new(file, container.stamp.len))
        };
        let of_record = |error: ReadError| ReadError { locator: self.locator(record), ..error };
        let grain = self.cache.get(number, read).map_err(of_record)?;
        let row = usize::try_from(record - self.parts.grains[place]).expect("a row of a batch in memory");
        let content = grain.record(row);
        let content = content.ok_or_else(|| {
            ReadError::damaged(
                self.locator(record),
                "its batch cannot be decompressed, or repeats its pictures too often",
            )
        })?;
        let reserved = buf.try_reserve_exact(content.len());
        reserved.map_err(|error| ReadError { cause: error.to_string(), ..at(ReadErrorKind::Resources) })?;
        buf.extend_from_slice(content);
        Ok(())
    }
}

impl Source for BatchRows {
    fn len(&self) -> u64 {
        self.parts.spans.len() as u64
    }

    fn classes(&self) -> &[String] {
        &self.parts.classes
    }

    fn label(&self, record: u64) -> i64 {
        self.parts.labels.get(self.place(record)).copied().unwrap_or(-1)
    }

    fn locator(&self, record: u64) -> Locator {
        let span = self.span(record);
        let container = self.parts.files[span.file as usize].address.container();
        Locator { container, part: self.parts.packing.part(record, &span) }
    }

    fn size(&self, record: u64) -> u64 {
        self.span(record).len.saturating_add(self.parts.masks.size(self.place(record)))
    }

    fn read(&self, record: u64, room: u64, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        buf.clear();
        self.read_row(record, room, buf)
    }

    fn masks(&self) -> &[MaskColumn] {
        &self.parts.masks.columns
    }

    fn fingerprint(&self) -> [u8; 32] {
        self.fingerprint
    }

    fn targets(&self) -> &Table {
        &self.parts.targets
    }

    fn grains(&self) -> Grains<'_> {
        Grains::Starts(&self.parts.grains)
    }

    fn shard_name(&self, record: u64) -> &str {
        &self.shards[self.span(record).file as usize]
    }
}
