//! The dataset of a Parquet table's rows.

use std::ops::Range;

use forebay_columns::Table;
use forebay_sources::{Grains, Locator, MaskColumn, Options, Part, ReadError, ReadErrorKind, RecordParts, Source};

use super::cells::{self, GrainCell};
use super::file::RowGroup;
use super::grain;
use crate::address::Address;
use crate::grain_cache::{Grain, GrainCache};
use crate::packed::ContainerFile;
use crate::packed::open_files::OpenFiles;
use crate::ranges::FileRanges;

/// Bytes of decoded grains that are kept.
const KEPT: usize = 256 << 20;

/// What the files have.
#[derive(Debug)]
pub(super) struct FoundRows {
    pub files: Vec<ContainerFile>,
    pub opened: OpenFiles,
    /// Those with rows, in order. There is at least one.
    pub groups: Vec<RowGroup>,
    pub labels: Vec<i64>,
    pub classes: Vec<String>,
    pub targets: Table,
}

/// The rows of a table, as records.
#[derive(Debug)]
pub(super) struct Rows {
    found: FoundRows,
    /// The names of the files, as the shards that they are.
    shards: Vec<String>,
    /// For each grain its row group, and its rows there.
    grains: Vec<(usize, Range<u64>)>,
    /// The first record of each grain.
    starts: Vec<u64>,
    /// The first record of each page with the size of its records, as far as it is known.
    sizes: Vec<(u64, u64)>,
    records: u64,
    cache: GrainCache,
    masks: Vec<MaskColumn>,
    fingerprint: [u8; 32],
    byte_limit: u64,
}

impl Rows {
    pub(super) fn new(name: &Address, found: FoundRows, masks: Vec<MaskColumn>, options: &Options) -> Self {
        let (mut grains, mut starts, mut sizes, mut records) = (Vec::new(), Vec::new(), Vec::new(), 0);
        for (number, group) in found.groups.iter().enumerate() {
            for rows in grain::plan_group(group) {
                starts.push(group.first_record + rows.start);
                grains.push((number, rows));
            }
            let of_masks = group.masks.iter().map(|mask| mask.pages.average()).sum::<u64>()
                + if masks.is_empty() { 0 } else { RecordParts::table_len(masks.len()) };
            let pages = &group.picture.pages;
            for page in pages.data.iter().filter(|page| page.values > 0) {
                sizes.push((records, pages.value_size(page).saturating_add(of_masks)));
                records += page.values;
            }
        }
        let shards = found.files.iter().map(|file| file.address.last_name()).collect();
        let fingerprint = fingerprint(name, &found, &sizes, &masks);
        let (cache, byte_limit) =
            (GrainCache::new(KEPT).reading_ahead(grains.len(), name.tree().is_some()), options.byte_limit);
        Self { found, shards, grains, starts, sizes, records, cache, masks, fingerprint, byte_limit }
    }

    /// The record's row group. The plan never asks for a record beyond the end.
    fn group(&self, record: u64) -> &RowGroup {
        assert!(record < self.records, "record {record} of {}", self.records);
        let groups = &self.found.groups;
        let after = groups.partition_point(|group| group.first_record <= record);
        &groups[after - 1]
    }

    fn file(&self, group: &RowGroup) -> &ContainerFile {
        &self.found.files[group.file as usize]
    }

    /// A grain's row group, and its rows there.
    fn grain(&self, number: u64) -> (&RowGroup, &Range<u64>) {
        let (group, rows) = &self.grains[usize::try_from(number).expect("a place in the list")];
        (&self.found.groups[*group], rows)
    }

    /// Reads a grain into memory that was used before.
    fn read_grain(&self, number: u64, used: Vec<u8>) -> Result<Grain, ReadError> {
        let (group, rows) = self.grain(number);
        let container = self.file(group);
        let file = self.found.opened.get(group.file, container)?;
        grain::read(&FileRanges::new(file, container.stamp.len), group, rows, used)
    }

    fn read_cell(&self, record: u64, room: u64, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        let number = Grains::Starts(&self.starts).of(record);
        let (group, rows) = self.grain(number);
        let container = self.file(group);
        let of_record = |error: ReadError| ReadError { locator: self.locator(record), ..error };
        let grain = self.cache.get(number, |number, used| self.read_grain(number, used)).map_err(of_record)?;
        let row = usize::try_from(record - group.first_record - rows.start).expect("a row of a grain in memory");
        let at = |kind| ReadError::new(kind, self.locator(record));
        let with = |kind, cause: String| ReadError { cause, ..at(kind) };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let limit = self.byte_limit.saturating_add(RecordParts::table_len(self.masks.len()));
        let fits = |len| ReadErrorKind::of_size(len, limit, room).map_or(Ok(()), |kind| Err(at(kind)));
        let content = match cells::cell(&grain, row) {
            Some(GrainCell::Picture(content)) => content,
            Some(GrainCell::Place(start, len)) => {
                fits(len)?;
                let file = self.found.opened.get(group.file, container).map_err(of_record)?;
                return file.read(start, usize::try_from(len).unwrap_or(usize::MAX), buf).map_err(of_record);
            }
            Some(GrainCell::Null) => return Err(with(ReadErrorKind::Empty, "the picture is null in this row".into())),
            Some(GrainCell::Elsewhere(path)) => {
                let path = text(path);
                let cause = format!("the row has only the path \"{path}\", and the table does not hold the picture");
                return Err(with(ReadErrorKind::Missing, cause));
            }
            Some(GrainCell::Damaged(why)) => return Err(with(ReadErrorKind::Damaged, text(why))),
            None => return Err(with(ReadErrorKind::Damaged, "its page ends before it".into())),
        };
        fits(content.len() as u64)?;
        buf.clear();
        let reserved = buf.try_reserve_exact(content.len());
        reserved.map_err(|error| with(ReadErrorKind::Resources, error.to_string()))?;
        buf.extend_from_slice(content);
        Ok(())
    }
}

impl Source for Rows {
    fn len(&self) -> u64 {
        self.records
    }

    fn classes(&self) -> &[String] {
        &self.found.classes
    }

    fn label(&self, record: u64) -> i64 {
        self.group(record);
        let index = usize::try_from(record).ok();
        index.and_then(|index| self.found.labels.get(index)).copied().unwrap_or(-1)
    }

    fn locator(&self, record: u64) -> Locator {
        let group = self.group(record);
        let row = group.first_row + (record - group.first_record);
        Locator { container: self.file(group).address.container(), part: Part::Row(row) }
    }

    /// The average of the record's page: lengths are in the page itself. A larger record is read once there is room for it.
    fn size(&self, record: u64) -> u64 {
        self.group(record);
        let after = self.sizes.partition_point(|(first, _)| *first <= record);
        self.sizes[after - 1].1
    }

    fn read(&self, record: u64, room: u64, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        self.read_cell(record, room, buf).inspect_err(|_| buf.clear())
    }

    fn masks(&self) -> &[MaskColumn] {
        &self.masks
    }

    fn fingerprint(&self) -> [u8; 32] {
        self.fingerprint
    }

    fn targets(&self) -> &Table {
        &self.found.targets
    }

    fn take_targets(&mut self) -> Table {
        std::mem::take(&mut self.found.targets)
    }

    fn grains(&self) -> Grains<'_> {
        Grains::Starts(&self.starts)
    }

    fn shard_name(&self, record: u64) -> &str {
        &self.shards[self.group(record).file as usize]
    }
}

/// Files go in by their path below the dataset's folder, and records by the pages that hold them.
fn fingerprint(name: &Address, found: &FoundRows, sizes: &[(u64, u64)], masks: &[MaskColumn]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"forebay parquet dataset 1\0");
    let folder = if name.is_folder() { name.clone() } else { name.parent() };
    let mut part = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    for file in &found.files {
        let path = file.path().strip_prefix(folder.path()).unwrap_or_else(|_| file.path());
        part(path.as_os_str().as_encoded_bytes());
        part(&file.stamp.len.to_le_bytes());
    }
    part(b"groups");
    for group in &found.groups {
        let columns = group.picture.chunk.column_path().parts();
        for name in columns {
            part(name.as_bytes());
        }
        part(&group.file.to_le_bytes());
        part(&group.rows.to_le_bytes());
        group.picture.pages.data.iter().for_each(|page| part(&page.offset.to_le_bytes()));
    }
    part(b"sizes");
    for (first, size) in sizes {
        part(&first.to_le_bytes());
        part(&size.to_le_bytes());
    }
    part(b"labels");
    found.labels.iter().for_each(|label| part(&label.to_le_bytes()));
    part(b"classes");
    found.classes.iter().for_each(|class| part(class.as_bytes()));
    part(b"targets");
    found.targets.digest(&mut part);
    for (column, mask) in masks.iter().enumerate() {
        part(b"mask");
        part(mask.name.as_bytes());
        part(mask.element.name().as_bytes());
        for mask in found.groups.iter().filter_map(|group| group.masks.get(column)) {
            mask.chunk.column_path().parts().iter().for_each(|name| part(name.as_bytes()));
            mask.pages.data.iter().for_each(|page| part(&page.offset.to_le_bytes()));
        }
    }
    *hasher.finalize().as_bytes()
}
