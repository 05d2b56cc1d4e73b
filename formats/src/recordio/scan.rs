//! Finds the chunks of `RecordIO` files, and where the user wants labels or columns, decodes them once.

use std::path::Path;
use std::sync::Arc;

use forebay_columns::Table;
use forebay_sources::{Grains, Labels, MaskColumn, Options, SourceError};

use super::chunk::{HEAD, Told, tell};
use super::{RecordChunk, RecordIoPayload, content, records, within};
use crate::address::Address;
use crate::example::gather::Gathered;
use crate::faults::Faults;
use crate::grain_cache::Grain;
use crate::label_column::Column;
use crate::masks::{MASK_HEAD, MaskElements};
use crate::packed::{PackedMasks, PackedParts, Plain, Span, Spans};
use crate::progress::Progress;
use crate::values::Values;
use crate::window::Window;
use crate::wrong_file::{LFS_POINTER, cut};

/// More records of a dataset that cannot be read are not believed: each takes memory, and a chunk need only claim them.
const MOST_DAMAGED: u64 = 1 << 16;

/// What was found so far.
#[derive(Debug)]
pub(super) struct RecordIoScan {
    found: FoundChunks,
    chunk_limit: u64,
    option: Labels,
    /// The labels in front of pictures; nothing for a damaged record.
    labels: Vec<Option<i64>>,
    /// Records that cannot be read, of all payloads.
    unreadable: u64,
    /// What is known of the masks in Examples.
    masks: MaskElements,
    progress: Progress,
}

/// The chunks of a dataset, and what is known of the records in them.
#[derive(Debug)]
pub(super) struct FoundChunks {
    /// The spans are those of the payloads of the chunks, which are the grains.
    pub parts: PackedParts,
    pub chunks: Vec<RecordChunk>,
    pub records: u64,
    pub payload: RecordIoPayload,
    /// The masks in Examples.
    pub masks: Vec<MaskColumn>,
    /// Records that are no Example, or have no label, and why.
    pub damaged: Faults,
}

impl FoundChunks {
    /// The record's chunk, and its number in it.
    pub(super) fn place(&self, record: u64) -> (usize, u64) {
        assert!(record < self.records, "record {record} of {}", self.records);
        let chunk = Grains::Starts(&self.parts.grains).of(record);
        let chunk = usize::try_from(chunk).expect("a list in memory is no longer than usize::MAX");
        (chunk, record - self.parts.grains[chunk])
    }
}

impl RecordIoScan {
    pub(super) fn new(payload: RecordIoPayload, chunk_limit: u64, options: &Options) -> Self {
        let parts = PackedParts {
            files: Vec::new(),
            spans: Spans::default(),
            labels: Values::default(),
            classes: Vec::new(),
            targets: Table::default(),
            grains: Vec::new(),
            masks: PackedMasks::default(),
            packing: Arc::new(Plain),
        };
        let found = FoundChunks {
            parts,
            chunks: Vec::new(),
            records: 0,
            payload,
            masks: Vec::new(),
            damaged: Faults::default(),
        };
        Self {
            found,
            chunk_limit,
            option: options.labels,
            labels: Vec::new(),
            unreadable: 0,
            masks: MaskElements::new(&options.masks),
            progress: Progress::new("looking for chunks"),
        }
    }

    /// Finds the chunks of the next file.
    pub(super) fn file(&mut self, address: &Address, number: u32) -> Result<(), SourceError> {
        let path = address.path();
        let (mut window, container) = Window::open(address)?;
        self.found.parts.files.push(container);
        let wrong = |at, problem: &str| SourceError::malformed_at(path, at, problem);
        let dialect = match tell(&mut window, self.chunk_limit).map_err(SourceError::Outage)? {
            Told::Dialect(dialect) => dialect,
            Told::Empty => return Ok(()),
            Told::Cut(at) => return Err(cut(path, at, "chunk")),
            Told::NoChunk => {
                let head = window.get(0, 8).map_err(SourceError::Outage)?;
                return Err(wrong(0, what_else(head.unwrap_or_default())));
            }
            Told::Damaged => {
                let problem = format!(
                    "no chunk of the file has the right checksum, or all have more than {} bytes. Copy the file again, or give a larger chunk_limit.",
                    self.chunk_limit
                );
                return Err(wrong(0, &problem));
            }
        };
        let mut at = 0;
        while at < window.len() {
            let head = window.array::<20>(at).map_err(SourceError::Outage)?.ok_or_else(|| cut(path, at, "chunk"))?;
            let header = dialect.header(&head).ok_or_else(|| {
                wrong(at, "no chunk begins here, so what follows cannot be found: the file is damaged. Write or copy it again.")
            })?;
            let size = u64::from(header.size);
            let end = at + HEAD + size;
            if end > window.len() {
                return Err(cut(path, at, "chunk"));
            }
            if size > self.chunk_limit {
                let problem = format!(
                    "the chunk has {size} bytes, which is more than the limit. Give chunk_limit={size} or more."
                );
                return Err(wrong(at, &problem));
            }
            if header.records > 0 {
                let chunk = RecordChunk { dialect, header };
                self.chunk(&mut window, (path, at), chunk)?;
                self.found.parts.spans.push(Span { file: number, offset: at + HEAD, len: size });
                self.found.parts.grains.push(self.found.records);
                self.found.chunks.push(chunk);
                self.found.records += u64::from(header.records);
            }
            self.progress.step();
            at = end;
        }
        Ok(())
    }

    /// Takes the labels and columns of a chunk's records, where records have any.
    fn chunk(&mut self, window: &mut Window<'_>, place: (&Path, u64), chunk: RecordChunk) -> Result<(), SourceError> {
        if matches!(self.found.payload, RecordIoPayload::Picture) {
            return Ok(());
        }
        let len = usize::try_from(chunk.header.size).unwrap_or(usize::MAX);
        let mut payload = window.get(place.1 + HEAD, len).map_err(SourceError::Outage)?.unwrap_or_default().to_vec();
        match records(chunk, &mut payload, Vec::new(), self.chunk_limit) {
            Ok(grain) => self.grain(&grain, place),
            Err(cause) => {
                self.count_unreadable(u64::from(chunk.header.records), place, &cause)?;
                for record in self.found.records..self.found.records + u64::from(chunk.header.records) {
                    self.unreadable(record, &cause);
                }
                Ok(())
            }
        }
    }

    fn grain(&mut self, grain: &Grain, place: (&Path, u64)) -> Result<(), SourceError> {
        for (number, record) in (0..grain.ends.len()).zip(self.found.records..) {
            let content = content(grain, number).unwrap_or_default();
            match &mut self.found.payload {
                RecordIoPayload::Picture => {}
                RecordIoPayload::Example(gatherer) => {
                    let mut window = Window::of_bytes(content);
                    let Some(found) = gatherer.record(&mut window, 0..content.len() as u64, place)? else {
                        self.count_unreadable(
                            1,
                            place,
                            "some of its records are not a tf.train.Example with a picture",
                        )?;
                        continue;
                    };
                    for (column, mask) in found.masks.into_iter().enumerate() {
                        let Some(mask) = mask.and_then(|mask| within(content, mask)) else { continue };
                        let head = &mask[..mask.len().min(MASK_HEAD)];
                        self.masks.look(column, head, || format!("{}, record {record}", place.0.display()));
                    }
                }
                RecordIoPayload::Labelled(bytes) => {
                    let label = label(content, *bytes);
                    self.labels.push(label);
                    if label.is_none() {
                        let cause = format!("it has {} bytes, and its label has {bytes}", content.len());
                        self.count_unreadable(1, place, "some of its records are shorter than a label")?;
                        self.found.damaged.add(record, &cause);
                    }
                }
            }
        }
        Ok(())
    }

    fn count_unreadable(&mut self, records: u64, place: (&Path, u64), cause: &str) -> Result<(), SourceError> {
        self.unreadable = self.unreadable.saturating_add(records);
        if self.unreadable <= MOST_DAMAGED {
            return Ok(());
        }
        let problem = format!(
            "with this chunk, more than {MOST_DAMAGED} records of the dataset cannot be read: {cause}. Write or copy the file again, or check payload."
        );
        Err(SourceError::malformed_at(place.0, place.1, problem))
    }

    fn unreadable(&mut self, record: u64, cause: &str) {
        match &mut self.found.payload {
            RecordIoPayload::Example(gatherer) => gatherer.unreadable(cause),
            RecordIoPayload::Picture | RecordIoPayload::Labelled(_) => {
                self.labels.push(None);
                self.found.damaged.add(record, cause);
            }
        }
    }

    /// The dataset with this name.
    ///
    /// # Errors
    /// It has no record, or none that can be used.
    pub(super) fn finish(mut self, name: &Path) -> Result<FoundChunks, SourceError> {
        if self.found.records == 0 {
            return Err(SourceError::NoRecords { path: name.to_owned() });
        }
        match &mut self.found.payload {
            RecordIoPayload::Picture => {}
            RecordIoPayload::Example(gatherer) => {
                let Gathered { labels, classes, targets, damaged } = gatherer.finish(name)?;
                (self.found.parts.labels, self.found.parts.classes, self.found.parts.targets) =
                    (labels.into(), classes, targets);
                self.found.damaged = damaged;
                self.found.masks = self.masks.finish(self.found.parts.targets.schema(), name)?;
            }
            RecordIoPayload::Labelled(_) => {
                let (labels, classes) = labels(std::mem::take(&mut self.labels), self.option);
                (self.found.parts.labels, self.found.parts.classes) = (labels.into(), classes);
            }
        }
        self.found.damaged.warn(name);
        Ok(self.found)
    }
}

/// The label in front of a picture.
fn label(content: &[u8], bytes: usize) -> Option<i64> {
    match bytes {
        4 => content.first_chunk::<4>().map(|label| i64::from(i32::from_le_bytes(*label))),
        _ => content.first_chunk::<8>().map(|label| i64::from_le_bytes(*label)),
    }
}

fn labels(found: Vec<Option<i64>>, option: Labels) -> (Vec<i64>, Vec<String>) {
    match option {
        Labels::None => (Vec::new(), Vec::new()),
        Labels::Auto => (found.into_iter().map(|label| label.unwrap_or(-1)).collect(), Vec::new()),
        Labels::Text => {
            let mut texts = Column::new(Labels::Text);
            for label in found.iter().flatten() {
                texts.push(label.to_string().as_bytes(), 0).expect("all of them are texts");
            }
            let (values, classes) = texts.finish();
            let mut values = values.into_iter();
            (found.iter().map(|label| label.and_then(|_| values.next()).unwrap_or(-1)).collect(), classes)
        }
    }
}

fn what_else(head: &[u8]) -> &'static str {
    if head.starts_with(&[0x0a, 0x23, 0xd7, 0xce]) {
        "this is a RecordIO file of MXNet, which is another format. Open it with mxnet:."
    } else if head.starts_with(b"version ") {
        LFS_POINTER
    } else {
        "this is not a RecordIO file: it does not begin with a chunk. Check that it is the right file."
    }
}
