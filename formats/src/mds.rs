//! `mds:`: shards of `MosaicML`'s streaming datasets, which an `index.json` lists.

mod choice;
mod encoding;
mod index;
mod shard;

use std::path::Path;
use std::sync::Arc;

use forebay_columns::{Column, Field, Schema, Table};
use forebay_printable::printable;
use forebay_sources::{Options, Part, SourceError};

use crate::address::Address;
use crate::faults::Faults;
use crate::labelled::{Labelled, Mixed};
use crate::opened::DatasetResult;
use crate::packed::{Packed, PackedMasks, PackedParts, Packing, Span, Spans};
use crate::progress::Progress;
use crate::scheme::{Indexing, Scheme};
use crate::window::Window;
use choice::MdsChoice;
use index::{MdsIndex, MdsShard};
use shard::ValuePlace;

pub(super) const SCHEME: Scheme = Scheme {
    name: "mds",
    takes: "a folder with shards of MosaicML's streaming and their index.json",
    options: &[],
    has_columns: true,
    recognises,
    open: |path, options, _| open(path, options),
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
}

impl Packing for MdsRows {
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

fn open(address: &Address, options: &Options) -> DatasetResult {
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
        let file = folder.join(&shard.file);
        if !file.exists() {
            return Err(missing(file.path(), shard));
        }
        let (mut window, container) = Window::open(&file)?;
        files.push(container);
        first.push(rows.spans.len() as u64);
        let places = shard::places(file.path(), &mut window, shard)?;
        for (start, end) in places.iter().zip(places.iter().skip(1)) {
            progress.advance(end - start);
            rows.add(path, number, &mut window, *start, *end)?;
        }
    }
    let (spans, labels, classes, targets, faults) = rows.finish(path)?;
    let packing = Arc::new(MdsRows { first, faults });
    let parts = PackedParts {
        files,
        spans,
        labels: labels.into(),
        classes,
        targets,
        grains: Vec::new(),
        masks: PackedMasks::default(),
        packing,
    };
    Ok(Packed::new(address, parts, options)?.into())
}

/// Samples that were found so far.
struct MdsSamples<'a> {
    index: &'a MdsIndex,
    choice: &'a MdsChoice,
    spans: Spans,
    faults: Faults,
    labels: Labelled,
    targets: Vec<Column>,
}

type MdsParts = (Spans, Vec<i64>, Vec<String>, Table, Faults);

impl<'a> MdsSamples<'a> {
    fn new(index: &'a MdsIndex, choice: &'a MdsChoice, options: &Options) -> Self {
        let column = |place: &usize| Column::new(index.columns[*place].encoding.column_type());
        let targets = choice.targets.iter().map(|(_, place)| column(place)).collect();
        let labels = Labelled::new(options.labels);
        Self { index, choice, spans: Spans::default(), faults: Faults::default(), labels, targets }
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
            self.targets.iter_mut().for_each(Column::push_null);
            return self.labels.push(None).map_err(|mixed| mixed_labels(path, record, &mixed));
        };
        let (offset, len) = places[self.choice.images];
        self.spans.push(Span { file, offset, len });
        let mut fault = None;
        let mut label = None;
        if let Some(place) = self.choice.labels {
            let column = &columns[place];
            let found = value(window, places[place])?.and_then(|value| column.encoding.label(value));
            label = found.map_err(|wrong| fault = Some(format!("its label \"{}\": {wrong}", column.name))).ok();
        }
        self.labels.push(label.as_deref()).map_err(|mixed| mixed_labels(path, record, &mixed))?;
        for ((_, place), target) in self.choice.targets.iter().zip(&mut self.targets) {
            let column = &columns[*place];
            let pushed = value(window, places[*place])?.and_then(|value| column.encoding.push(value, target));
            if let Err(wrong) = pushed {
                target.push_null();
                fault.get_or_insert_with(|| format!("its column \"{}\": {wrong}", column.name));
            }
        }
        if let Some(fault) = fault {
            self.faults.add(record, &fault);
        }
        Ok(())
    }

    fn finish(self, path: &Path) -> Result<MdsParts, SourceError> {
        let wrong = |problem: String| SourceError::Columns { path: path.to_owned(), problem };
        let mut faults = self.faults;
        let (mut labels, mut classes) = (Vec::new(), Vec::new());
        if self.choice.labels.is_some() {
            let (found, missing, found_classes) = self.labels.finish();
            for record in missing {
                faults.add(record, "its label is empty");
            }
            (labels, classes) = (found, found_classes);
        }
        let fields = self.choice.targets.iter().zip(&self.targets);
        let fields = fields.map(|((name, _), column)| Field::new(name, column.column_type().clone())).collect();
        let schema = Schema::try_new(fields).map_err(|error| wrong(format!("{error}.")))?;
        let targets =
            Table::try_new(schema, self.targets, self.spans.len()).map_err(|error| wrong(format!("{error}.")))?;
        Ok((self.spans, labels, classes, targets, faults))
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

fn mixed_labels(path: &Path, record: u64, mixed: &Mixed) -> SourceError {
    let Mixed { label, is, was, other } = mixed;
    let problem = format!(
        "the label \"{}\" of record {record} is {is}, but record {other} has {was}. Write either all labels as integers or \
         none, or give labels=\"text\" to read all as text.",
        printable(label)
    );
    SourceError::Columns { path: path.to_owned(), problem }
}

fn missing(file: &Path, shard: &MdsShard) -> SourceError {
    let Some(compression) = &shard.compression else { return SourceError::Missing { path: file.to_owned() } };
    let problem = format!(
        "the shard is compressed ({}), so no sample can be read by itself. Decompress it to this name, or write the dataset \
         again without compression.",
        printable(compression)
    );
    SourceError::malformed_at(file, 0, problem)
}

#[cfg(test)]
pub(crate) mod tests;
