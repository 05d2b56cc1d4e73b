//! `mds:`: shards of `MosaicML`'s streaming datasets, which an `index.json` lists.

mod arrays;
mod choice;
mod encoding;
mod index;
mod pixels;
mod shard;

use std::path::Path;
use std::sync::Arc;

use forebay_columns::{Column, Field, Schema, Table};
use forebay_printable::printable;
use forebay_sources::{Options, Part, SourceError};

use crate::address::Address;
use crate::faults::Faults;
use crate::labelled::{Labelled, WrongLabel};
use crate::loose::{LooseColumn, LooseValue};
use crate::masks::{MASK_HEAD, MaskElements};
use crate::opened::DatasetResult;
use crate::packed::{Packed, PackedMasks, PackedParts, Packing, Span, Spans};
use crate::progress::Progress;
use crate::scan::Scan;
use crate::scheme::{Indexing, Scheme};
use crate::unpacked::Compression;
use crate::window::Window;
use choice::{MdsChoice, MdsTarget};
use encoding::MdsEncoding;
use index::{MdsColumn, MdsIndex, MdsShard};
use pixels::PixelForm;
use shard::ValuePlace;

pub(super) const SCHEME: Scheme = Scheme {
    name: "mds",
    takes: "a folder with shards of MosaicML's streaming and their index.json",
    options: &[],
    has_columns: true,
    recognises,
    open,
    indexing: Indexing::Never("Its files have an index of their own, which is read quickly."),
};

/// Most bytes of a value that becomes a label or a column.
const MOST_KEPT: u64 = 16 << 20;

/// The samples of shards.
#[derive(Debug)]
struct MdsRows {
    /// The first record of each shard.
    first: Vec<u64>,
    faults: Faults,
    /// How pictures are kept that are no files.
    pixels: Option<PixelForm>,
}

impl Packing for MdsRows {
    fn content_len(&self, _record: u64, span: &Span) -> u64 {
        span.len.saturating_add(self.pixels.as_ref().map_or(0, |_| pixels::MOST_ADDED))
    }

    fn unpack(&self, _record: u64, _head: &[u8], stored: &mut Vec<u8>) -> Result<(), String> {
        self.pixels.as_ref().map_or(Ok(()), |form| form.unpack(stored))
    }

    fn digest(&self, part: &mut dyn FnMut(&[u8])) {
        if self.pixels.is_some() {
            part(b"pixels");
        }
    }

    fn fault(&self, record: u64) -> Option<&str> {
        self.faults.get(record)
    }

    fn part(&self, record: u64, span: &Span) -> Part {
        let first = self.first.get(span.file as usize).copied().unwrap_or(0);
        Part::Row(record.saturating_sub(first))
    }
}

/// A folder whose index says that it has shards of this format.
fn recognises(address: &Address) -> bool {
    const BEGINNING: u64 = 64 << 10;
    let text = address.join(index::NAME).beginning(BEGINNING);
    let has = |word: &[u8]| text.windows(word.len()).any(|window| window == word);
    has(b"\"shards\"") && has(b"\"mds\"")
}

fn open(address: &Address, options: &Options, scan: &Scan) -> DatasetResult {
    let path = address.path();
    let is_index = path.file_name().is_some_and(|name| name == index::NAME);
    let folder = if is_index { address.parent() } else { address.clone() };
    let index = MdsIndex::read(&folder.join(index::NAME))?;
    if index.shards.is_empty() {
        return Err(SourceError::NoRecords { path: path.to_owned() });
    }
    let choice = MdsChoice::new(path, &index.columns, options)?;
    // What the index says may be wrong.
    let bytes = index.shards.iter().fold(0_u64, |bytes, shard| bytes.saturating_add(shard.bytes));
    let progress = Progress::of_bytes("looking for samples", bytes);
    let mut rows = MdsSamples::new(&index, &choice, options);
    let (mut files, mut first) = (Vec::new(), Vec::new());
    for (number, shard) in (0..).zip(&index.shards) {
        let mut file = folder.join(&shard.file);
        let (mut window, container) = if file.exists() {
            Window::open(&file)?
        } else {
            let (zip, compression) = compressed(&folder, file.path(), shard)?;
            file = zip;
            scan.open_unpacked(&file, options, compression)?
        };
        files.push(container);
        first.push(rows.spans.len() as u64);
        let places = shard::places(file.path(), &mut window, shard)?;
        for (start, end) in places.iter().zip(places.iter().skip(1)) {
            progress.advance(end - start);
            rows.add(path, number, &mut window, *start, *end)?;
        }
    }
    let (spans, labels, classes, targets, masks, faults) = rows.finish(path)?;
    let pixels = index.columns.get(choice.images).and_then(|column| column.encoding.pixels());
    let packing = Arc::new(MdsRows { first, faults, pixels });
    let parts =
        PackedParts { files, spans, labels: labels.into(), classes, targets, grains: Vec::new(), masks, packing };
    Ok(Packed::new(address, parts, options)?.into())
}

/// Samples that were found so far.
struct MdsSamples<'a> {
    index: &'a MdsIndex,
    choice: &'a MdsChoice,
    spans: Spans,
    faults: Faults,
    labels: Labelled,
    targets: Vec<MdsValues>,
    masks: PackedMasks,
    elements: MaskElements,
}

/// The values of a column.
enum MdsValues {
    /// Of the type that its encoding has.
    Typed(Column),
    /// Of the type that they show.
    Loose(LooseColumn),
}

impl MdsValues {
    fn new(target: &MdsTarget, columns: &[MdsColumn]) -> Self {
        match &columns[target.place].encoding {
            MdsEncoding::Array(_) => Self::Loose(LooseColumn::default()),
            _ if target.key.is_some() => Self::Loose(LooseColumn::default()),
            encoding => Self::Typed(Column::new(encoding.column_type())),
        }
    }

    fn push_null(&mut self) {
        match self {
            Self::Typed(column) => column.push_null(),
            Self::Loose(column) => column.push(LooseValue::Null).expect("what is missing fits any column"),
        }
    }

    /// Adds a value. If it is no such value, the record has none.
    fn push(&mut self, value: &[u8], encoding: &MdsEncoding, key: Option<&str>) -> Result<(), String> {
        match self {
            Self::Typed(column) => {
                encoding.push(value, column).inspect_err(|_| column.push_null()).map_err(str::to_owned)
            }
            Self::Loose(column) => match encoding.loose(value, key) {
                Ok(value) => column.push(value),
                Err(wrong) => {
                    self.push_null();
                    Err(wrong)
                }
            },
        }
    }

    /// The column. Nothing if no record has a value of it.
    fn finish(self) -> Option<Column> {
        match self {
            Self::Typed(column) => Some(column),
            Self::Loose(column) => column.finish(),
        }
    }
}

type MdsParts = (Spans, Vec<i64>, Vec<String>, Table, PackedMasks, Faults);

impl<'a> MdsSamples<'a> {
    fn new(index: &'a MdsIndex, choice: &'a MdsChoice, options: &Options) -> Self {
        let targets = choice.targets.iter().map(|target| MdsValues::new(target, &index.columns)).collect();
        let labels = Labelled::new(options.labels);
        let (masks, elements) = (PackedMasks::new(choice.masks.len()), MaskElements::new(&options.masks));
        let (spans, faults) = (Spans::default(), Faults::default());
        Self { index, choice, spans, faults, labels, targets, masks, elements }
    }

    fn add(
        &mut self,
        path: &Path,
        file: u32,
        window: &mut Window<'_>,
        start: u64,
        end: u64,
    ) -> Result<(), SourceError> {
        let record = self.spans.len() as u64;
        let columns = &self.index.columns;
        let places = shard::values(columns, window, start, end)?;
        let Some(places) = places else {
            self.spans.push(Span { file, offset: start, len: end - start });
            self.faults.add(record, "the lengths in it do not agree with its own length");
            self.targets.iter_mut().for_each(MdsValues::push_null);
            (0..self.choice.masks.len()).for_each(|column| self.masks.push(column, None));
            return self.labels.push(None).map_err(|wrong| wrong_label(path, record, &wrong));
        };
        let mut fault = None;
        let (offset, len) = match &columns[self.choice.images].encoding {
            MdsEncoding::Pictures { before } => only_picture(window, places[self.choice.images], *before)?
                .unwrap_or_else(|wrong| {
                    fault = Some(wrong);
                    places[self.choice.images]
                }),
            _ => places[self.choice.images],
        };
        self.spans.push(Span { file, offset, len });
        let mut label = None;
        if let Some(place) = self.choice.labels {
            let column = &columns[place];
            let found = value(window, places[place])?.and_then(|value| column.encoding.label(value));
            label = found.map_err(|wrong| fault = Some(format!("its label \"{}\": {wrong}", column.name))).ok();
        }
        self.labels.push(label.as_deref()).map_err(|wrong| wrong_label(path, record, &wrong))?;
        for (MdsTarget { place, key, .. }, values) in self.choice.targets.iter().zip(&mut self.targets) {
            let column = &columns[*place];
            let pushed = match value(window, places[*place])? {
                Ok(value) => values.push(value, &column.encoding, key.as_deref()),
                Err(wrong) => {
                    values.push_null();
                    Err(wrong.to_owned())
                }
            };
            if let Err(wrong) = pushed {
                fault.get_or_insert_with(|| format!("its column \"{}\": {wrong}", column.name));
            }
        }
        for (column, place) in self.choice.masks.iter().enumerate() {
            let (offset, len) = places[*place];
            if self.elements.wants(column) && len > 0 {
                let head = usize::try_from(len).unwrap_or(MASK_HEAD).min(MASK_HEAD);
                let head = window.get(offset, head).map_err(SourceError::Outage)?.unwrap_or_default();
                self.elements.look(column, head, || format!("{}, sample {record}", path.display()));
            }
            self.masks.push(column, (len > 0).then_some((offset, len)));
        }
        if let Some(fault) = fault {
            self.faults.add(record, &fault);
        }
        Ok(())
    }

    fn finish(mut self, path: &Path) -> Result<MdsParts, SourceError> {
        let wrong = |problem: String| SourceError::Columns { path: path.to_owned(), problem };
        let mut faults = self.faults;
        let (mut labels, mut classes) = (Vec::new(), Vec::new());
        if let Some(place) = self.choice.labels {
            if !self.labels.any() && !self.spans.is_empty() {
                let why = faults.get(0).map_or_else(|| "all are empty".to_owned(), str::to_owned);
                let name = printable(&self.index.columns[place].name);
                return Err(wrong(format!("no sample has a label in \"{name}\": {why}.")));
            }
            let (found, missing, found_classes) = self.labels.finish();
            for record in missing {
                faults.add(record, "its label is empty");
            }
            (labels, classes) = (found, found_classes);
        }
        let (mut fields, mut columns) = (Vec::new(), Vec::new());
        for (target, values) in self.choice.targets.iter().zip(self.targets) {
            let name = &target.name;
            let column = values.finish().ok_or_else(|| wrong(format!("no sample has a value of \"{name}\".")))?;
            fields.push(Field::new(name, column.column_type().clone()));
            columns.push(column);
        }
        let schema = Schema::try_new(fields).map_err(|error| wrong(format!("{error}.")))?;
        let targets = Table::try_new(schema, columns, self.spans.len()).map_err(|error| wrong(format!("{error}.")))?;
        if !self.choice.masks.is_empty() {
            self.masks.columns = self.elements.finish(targets.schema(), path)?;
        }
        Ok((self.spans, labels, classes, targets, self.masks, faults))
    }
}

/// A value's bytes. The inner error is what is wrong with it.
fn value<'w>(
    window: &'w mut Window<'_>,
    (offset, len): ValuePlace,
) -> Result<Result<&'w [u8], &'static str>, SourceError> {
    if len > MOST_KEPT {
        return Ok(Err("it has more than 16 MiB"));
    }
    let len = usize::try_from(len).unwrap_or(usize::MAX);
    Ok(window.get(offset, len).map_err(SourceError::Outage)?.ok_or("it leads out of the shard"))
}

/// The picture of a list with one of them. The inner error is what is wrong with the list.
fn only_picture(
    window: &mut Window<'_>,
    (offset, len): ValuePlace,
    before: u64,
) -> Result<Result<ValuePlace, String>, SourceError> {
    let head = before + 8;
    if len < head {
        return Ok(Err("its list of pictures has none".into()));
    }
    let Some(numbers) = window.array::<8>(offset + before).map_err(SourceError::Outage)? else {
        return Ok(Err("its list of pictures leads out of the shard".into()));
    };
    let [count, own] =
        [0, 4].map(|at| u32::from_le_bytes([numbers[at], numbers[at + 1], numbers[at + 2], numbers[at + 3]]));
    Ok(match count {
        1 if head + u64::from(own) == len => Ok((offset + head, own.into())),
        1 => Err("the length in its list of pictures does not agree with its own length".into()),
        count => Err(format!("its list has {count} pictures, and only records of one picture are read")),
    })
}

fn wrong_label(path: &Path, record: u64, wrong: &WrongLabel) -> SourceError {
    let name = |record: u64| format!("record {record}");
    SourceError::Columns { path: path.to_owned(), problem: wrong.problem(&name(record), name) }
}

/// Says how a file is compressed, whatever its first bytes are: not all ways have first bytes of their own.
type IsCompressed = fn(&[u8]) -> Option<Compression>;

/// The ways to compress shards, by the names that the index has.
const COMPRESSIONS: [(&str, IsCompressed); 5] = [
    ("zstd", |_| Some(Compression::Zstd)),
    ("gz", |_| Some(Compression::Gzip)),
    ("bz2", |_| Some(Compression::Bzip2)),
    ("br", |_| Some(Compression::Brotli)),
    ("snappy", |_| Some(Compression::Snappy)),
];

/// The compressed file of a shard that is not there as it is.
fn compressed(folder: &Address, file: &Path, shard: &MdsShard) -> Result<(Address, IsCompressed), SourceError> {
    let Some((name, zip)) = &shard.compression else { return Err(SourceError::Missing { path: file.to_owned() }) };
    // Behind a colon is the level.
    let kind = name.split(':').next().unwrap_or_default();
    let Some((_, compression)) = COMPRESSIONS.iter().find(|(own, _)| *own == kind) else {
        let problem = format!(
            "the shard is compressed with \"{}\", which is not unpacked. Decompress it to this name, or write the dataset again \
             with zstd or without compression.",
            printable(name)
        );
        return Err(SourceError::malformed_at(file, 0, problem));
    };
    let zip = folder.join(zip);
    if zip.exists() { Ok((zip, *compression)) } else { Err(SourceError::Missing { path: zip.path().to_owned() }) }
}

#[cfg(test)]
pub(crate) mod tests;
