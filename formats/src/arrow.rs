//! `arrow:`: Arrow files with a picture in each row, and the folders that `save_to_disk` of Hugging Face's `datasets` writes.
//!
//! Where nothing is compressed, a picture is a range of the file and is read as such, whatever the batches are. Otherwise the
//! batches are grains.

mod batch;
mod codec;
mod compressed;
mod layout;
mod messages;
mod saved;

use std::path::Path;
use std::sync::Arc;

use arrow_array::ArrayRef;
use forebay_sources::{Options, Part, ReadError, SourceError};

use crate::address::Address;
use crate::containers;
use crate::faults::Faults;
use crate::grain_cache::Grain;
use crate::masks::{MASK_HEAD, MaskElements};
use crate::named_column::{column_of, too_long};
use crate::opened::DatasetResult;
use crate::packed::open_files::{OpenFile, OpenFiles};
use crate::packed::{ContainerFile, Packed, PackedMasks, PackedParts, Packing, Span, Spans};
use crate::progress::Progress;
use crate::ranges::FileRanges;
use crate::scheme::{Indexing, Scheme};
use crate::tables::{TableChoice, TableValues, bad_row, outage};
use batch::{PictureCell, RowBatch};
use compressed::StoredBatch;
use messages::{DAMAGED, Messages};

pub(super) const SCHEME: Scheme = Scheme {
    name: "arrow",
    takes: "an .arrow file, a folder of them, a folder that save_to_disk wrote, or a pattern",
    options: &[],
    has_columns: true,
    recognises,
    open: |path, options, _| open(path, options),
    indexing: Indexing::Never("Its files have an index of their own, which is read quickly."),
};

const EXTENSIONS: [&str; 3] = ["arrow", "feather", "ipc"];

fn recognises(address: &Address) -> bool {
    if address.is_folder() {
        return saved::is_saved(address) || containers::has(address, &EXTENSIONS);
    }
    containers::is_named(address.path(), &EXTENSIONS) && address.is_file() || address.beginning(6) == *messages::MAGIC
}

/// What was found in the files so far.
#[derive(Debug)]
struct FoundPictures {
    spans: Spans,
    cells: PictureCells,
    values: Option<TableValues>,
    masks: PackedMasks,
    elements: MaskElements,
    batches: Vec<StoredBatch>,
}

/// The rows that are bad, the first record of each file, and the batches of rows, if some are compressed.
#[derive(Debug, Default)]
struct PictureCells {
    faults: Faults,
    starts: Vec<u64>,
    batches: Vec<StoredBatch>,
}

impl Packing for PictureCells {
    fn fault(&self, record: u64) -> Option<&str> {
        self.faults.get(record)
    }

    fn read_grain(&self, grain: usize, file: Arc<OpenFile>, len: u64) -> Result<Grain, ReadError> {
        self.batches[grain].read(&FileRanges::new(file, len))
    }

    fn part(&self, record: u64, span: &Span) -> Part {
        let start = self.starts.get(span.file as usize).copied().unwrap_or(0);
        Part::Row(record.saturating_sub(start))
    }
}

fn open(name: &Address, options: &Options) -> DatasetResult {
    let (addresses, info) = if name.is_folder() && saved::is_saved(name) {
        saved::files(name)?
    } else {
        (containers::find(name, &EXTENSIONS)?, String::new())
    };
    let files: Vec<ContainerFile> = addresses.iter().map(ContainerFile::look).collect::<Result<_, _>>()?;
    let opened = OpenFiles::new(files.len());
    let progress = Progress::new("reading tables");
    let mut found = FoundPictures::new(options);
    for (number, container) in (0..).zip(&files) {
        progress.step();
        let file = opened.get(number, container).map_err(|error| outage(container.path(), error))?;
        found.cells.starts.push(found.spans.len() as u64);
        let ranges = FileRanges::new(file, container.stamp.len);
        found.scan(number, container.path(), &ranges, &info, options)?;
    }
    let FoundPictures { spans, mut cells, values, mut masks, elements, mut batches } = found;
    if spans.is_empty() {
        return Err(SourceError::NoRecords { path: name.path().to_owned() });
    }
    let (labels, classes, targets) = values.unwrap_or_default().finish(name.path(), spans.len())?;
    if !options.masks.is_empty() {
        masks.columns = elements.finish(targets.schema(), name.path())?;
    }
    let mut grains = Vec::new();
    if batches.iter().any(|batch| batch.codec.is_some()) {
        batches.retain(|batch| batch.rows > 0);
        let mut first = 0;
        for batch in &batches {
            grains.push(first);
            first += batch.rows as u64;
        }
        cells.batches = batches;
    }
    let (labels, packing) = (labels.into(), Arc::new(cells));
    let parts = PackedParts { files, spans, labels, classes, targets, grains, masks, packing };
    Ok(Packed::new(name, parts, options)?.into())
}

/// Calls `each` with the values of a column: that of this name, or the only one. It has at most `most` values. The inner error is
/// about what they say.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn visit_column(
    table: &Address,
    column: Option<&str>,
    most: u64,
    each: &mut dyn FnMut(&ArrayRef) -> Result<(), String>,
) -> Result<Result<(), String>, SourceError> {
    let container = ContainerFile::look(table)?;
    let file = OpenFiles::new(1).get(0, &container).map_err(|error| outage(container.path(), error))?;
    let ranges = FileRanges::new(file, container.stamp.len);
    let (mut messages, schema) = Messages::new(container.path(), &ranges)?;
    let name = match column_of(&schema, column) {
        Ok(name) => [name],
        Err(problem) => return Ok(Err(problem)),
    };
    while let Some(body) = messages.next_batch()? {
        let rows = RowBatch::new(&messages, &body, &ranges, &schema.fields)?;
        if rows.rows as u64 > most {
            return Ok(Err(too_long(most)));
        }
        let array = rows.values(&name).ok_or_else(|| messages.bad(body.offset, DAMAGED))?;
        if let Err(problem) = each(&array) {
            return Ok(Err(problem));
        }
    }
    Ok(Ok(()))
}

impl FoundPictures {
    /// Nothing yet.
    fn new(options: &Options) -> Self {
        Self {
            spans: Spans::default(),
            cells: PictureCells::default(),
            values: None,
            masks: PackedMasks::new(options.masks.targets().count()),
            elements: MaskElements::new(&options.masks),
            batches: Vec::new(),
        }
    }

    /// Adds the rows of a file.
    fn scan(
        &mut self,
        number: u32,
        path: &Path,
        ranges: &FileRanges,
        info: &str,
        options: &Options,
    ) -> Result<(), SourceError> {
        let (mut messages, mut schema) = Messages::new(path, ranges)?;
        if !info.is_empty() && schema.metadata.get("huggingface").is_none() {
            schema.metadata.insert("huggingface", info);
        }
        let choice = TableChoice::new(path, &schema, options)?;
        if let Some(field) = choice.dictionary(&schema) {
            let problem = format!(
                "\"{}\" has numbers of a dictionary, which are not read here. Write its values themselves (pyarrow: \
                 `cast` the column to the type of the values; pandas: `astype(str)`), or leave it out.",
                field.join(".")
            );
            return Err(SourceError::Columns { path: path.to_owned(), problem });
        }
        let values = match &mut self.values {
            Some(values) => values,
            none => none.insert(TableValues::new(path, &schema, &choice)?),
        };
        values.agree(path, &choice)?;
        let choice = Arc::new(choice);
        let start = self.spans.len() as u64;
        while let Some(body) = messages.next_batch()? {
            let bad = |problem: &str| messages.bad(body.offset, problem);
            let batch = RowBatch::new(&messages, &body, ranges, &schema.fields)?;
            // A row takes at least a byte of the offsets of its picture.
            if batch.rows as u64 > body.len {
                return Err(bad(DAMAGED));
            }
            let (rows, codec) = (batch.rows, batch.codec);
            self.pictures(number, &batch, &choice).ok_or_else(|| bad(DAMAGED))?;
            self.masks(path, &batch, &choice).ok_or_else(|| bad(DAMAGED))?;
            let values = self.values.as_mut().expect("they were made above");
            let field = |field: &[String]| batch.values(field).ok_or_else(|| bad(DAMAGED));
            values
                .push(&choice, field, |place, problem| bad_row(path, (place as u64).saturating_sub(start), problem))?;
            let (fields, choice) = (schema.fields.clone(), Arc::clone(&choice));
            self.batches.push(StoredBatch { rows, body, codec, fields, choice });
        }
        Ok(())
    }

    /// Adds the places of a batch's pictures. Nothing, if the batch does not describe them.
    fn pictures(&mut self, file: u32, batch: &RowBatch<'_>, choice: &TableChoice) -> Option<()> {
        let cells = batch.cells(&choice.picture)?;
        let has_nulls = cells.contains(&PictureCell::Null);
        let paths = choice.elsewhere.as_ref().filter(|_| has_nulls).map(|field| batch.values(field));
        let paths = match paths {
            Some(paths) => Some(paths?),
            None => None,
        };
        for (row, cell) in cells.iter().enumerate() {
            let record = self.spans.len() as u64;
            let fault = match *cell {
                PictureCell::At(offset, len) => {
                    self.spans.push(Span { file, offset, len });
                    continue;
                }
                PictureCell::Outside => "its bytes would be outside of its batch".to_owned(),
                PictureCell::Null => match paths.as_ref().and_then(|paths| crate::tables::text(paths, row)) {
                    Some(path) => {
                        format!("the row has only the path \"{path}\", and the table does not hold the picture")
                    }
                    None => "the picture is null in this row".to_owned(),
                },
            };
            self.cells.faults.add(record, &fault);
            self.spans.push(Span { file, offset: batch.body.offset, len: 0 });
        }
        Some(())
    }

    /// Adds the places of the masks of a batch whose pictures were added. Nothing, if the batch does not describe them.
    fn masks(&mut self, path: &Path, batch: &RowBatch<'_>, choice: &TableChoice) -> Option<()> {
        let first = self.spans.len() as u64 - batch.rows as u64;
        for (column, (name, field)) in choice.masks.iter().enumerate() {
            let cells = batch.cells(field)?;
            for (record, cell) in (first..).zip(&cells) {
                let (place, fault) = match *cell {
                    PictureCell::Null => (None, None),
                    PictureCell::At(_, 0) => (None, Some("is empty")),
                    PictureCell::At(offset, len) => (Some((offset, len)), None),
                    PictureCell::Outside => (None, Some("would be outside of its batch")),
                };
                self.masks.push(column, place);
                if let Some(fault) = fault {
                    self.cells.faults.add(record, &format!("its mask \"{name}\" {fault}"));
                }
            }
            self.look_at_masks(path, batch, column, field, &cells)?;
        }
        Some(())
    }

    /// Looks at the first masks of the dataset.
    fn look_at_masks(
        &mut self,
        path: &Path,
        batch: &RowBatch<'_>,
        column: usize,
        field: &[String],
        cells: &[PictureCell],
    ) -> Option<()> {
        let there = cells.iter().enumerate().filter_map(|(row, cell)| match cell {
            PictureCell::At(offset, len) if *len > 0 => Some((row, *offset, *len)),
            _ => None,
        });
        let mut values: Option<ArrayRef> = None;
        for (row, offset, len) in there {
            if !self.elements.wants(column) {
                break;
            }
            let head = if batch.codec.is_none() {
                batch.ranges.range(offset, len.min(MASK_HEAD as u64))?
            } else {
                if values.is_none() {
                    values = Some(batch.values(field)?);
                }
                values.as_ref().map(|values| compressed::bytes(values, row).to_vec())?
            };
            self.elements.look(column, &head, || format!("{}, row {row} of its batch", path.display()));
        }
        Some(())
    }
}

#[cfg(test)]
pub(crate) mod tests;
