//! Samples of a `WebDataset`: members with the same key. The part of the name behind the first dot says what a member is to
//! its sample.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use forebay_columns::{Field, Schema, Table};
use forebay_printable::printable;
use forebay_sources::{Labels, Locator, Options, Oversight, SourceError};

use super::member::TarMember;
use super::packing::{SparseMaps, TarMembers};
use super::parts::{SampleColumn, SampleColumns, SamplePart};
use crate::beside::{Beside, BesideKind};
use crate::faults::Faults;
use crate::labelled::{Labelled, WrongLabel};
use crate::loose::{LooseColumn, LooseNumber, LooseValue};
use crate::masks::MaskElements;
use crate::packed::{PackedMasks, Span, Spans};
use crate::paths::Paths;

/// More members than a sample has. Files whose names differ only behind their first dot would be one sample.
const MOST_MEMBERS: usize = 4096;

/// The samples that were found so far.
#[derive(Debug)]
pub(super) struct Samples<'a> {
    columns: &'a SampleColumns,
    /// How a person finds each: the name of its picture, or of its first member.
    names: Paths,
    spans: Spans,
    sparse: SparseMaps,
    faults: Faults,
    labels: Labelled,
    targets: Vec<LooseColumn>,
    /// Of each of these, and then of the label, why the first sample that cannot have a value has none.
    refused: Vec<Option<String>>,
    masks: SampleMasks,
    seen: SeenMembers,
}

/// The masks of the samples, and what is known of their elements.
#[derive(Debug)]
struct SampleMasks {
    packed: PackedMasks,
    elements: MaskElements,
}

/// Which members there are, for messages.
#[derive(Debug)]
struct SeenMembers {
    /// Samples with a picture.
    pictures: u64,
    /// Suffixes of the first samples, for the message that no sample has a picture.
    suffixes: Vec<String>,
    /// Members that no column is made of. A user who names columns has left out the others.
    beside: Option<Beside>,
    of_labels: Labels,
}

/// All records, with their labels and further columns.
#[derive(Debug)]
pub(super) struct GatheredSamples {
    pub members: TarMembers,
    pub spans: Spans,
    pub labels: Vec<i64>,
    pub classes: Vec<String>,
    pub targets: Table,
    pub masks: PackedMasks,
    pub oversights: Vec<Oversight>,
}

/// The key and the suffix of a member, as `WebDataset` splits them. Nothing for what belongs to no sample.
pub(super) fn split(name: &[u8]) -> Option<(&[u8], String)> {
    let base = name.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
    let dot = name.get(base..)?.iter().position(|&byte| byte == b'.').filter(|&dot| dot > 0)? + base;
    let is_meta = name.starts_with(b"__") && name.ends_with(b"__");
    let suffix = String::from_utf8_lossy(name.get(dot + 1..)?).to_lowercase();
    (!is_meta).then_some((name.get(..dot)?, suffix))
}

/// Whether members beside each other share a key, or members anywhere in the tar that are different parts of a sample.
pub(super) fn are_samples(members: &[TarMember]) -> bool {
    let mut last = None;
    let mut first_suffixes: HashMap<&[u8], String> = HashMap::with_capacity(members.len());
    members.iter().filter_map(|member| split(&member.name)).any(|(key, suffix)| {
        // A file that was added to the tar once more has the suffix that it had.
        let is_part = first_suffixes.get(key).is_some_and(|first| *first != suffix);
        first_suffixes.entry(key).or_insert(suffix);
        last.replace(key) == Some(key) || is_part
    })
}

/// A sample whose members are being looked for.
#[derive(Default)]
struct OpenSample {
    members: Vec<(String, TarMember)>,
}

/// Groups members by their keys, in the order of the first member of each sample. Members of one sample need not be beside
/// each other: tars are also packed kind by kind, first all pictures and then all labels.
///
/// A key that comes back with a part that its sample has already begins another sample.
///
/// # Errors
/// A sample has too many members. The key of that sample, and the member.
fn grouped(members: Vec<TarMember>) -> Result<Vec<OpenSample>, (Vec<u8>, u64)> {
    let mut samples: Vec<OpenSample> = Vec::new();
    let mut of_key: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut last = usize::MAX;
    for member in members {
        let Some((key, suffix)) = split(&member.name) else { continue };
        let known = of_key.get(key).copied();
        let joins =
            known.filter(|&place| place == last || samples[place].members.iter().all(|(own, _)| *own != suffix));
        let place = joins.unwrap_or_else(|| {
            samples.push(OpenSample::default());
            of_key.insert(key.to_vec(), samples.len() - 1);
            samples.len() - 1
        });
        if samples[place].members.len() == MOST_MEMBERS {
            return Err((key.to_vec(), member.offset));
        }
        last = place;
        samples[place].members.push((suffix, member));
    }
    Ok(samples)
}

impl<'a> Samples<'a> {
    pub(super) fn new(columns: &'a SampleColumns, options: &Options) -> Self {
        let targets: Vec<_> = columns.targets.iter().map(|_| LooseColumn::default()).collect();
        Self {
            columns,
            names: Paths::default(),
            spans: Spans::default(),
            sparse: SparseMaps::new(),
            faults: Faults::default(),
            labels: Labelled::new(options.labels),
            refused: vec![None; targets.len() + 1],
            targets,
            masks: SampleMasks {
                packed: PackedMasks::new(columns.masks.len()),
                elements: MaskElements::new(&options.masks),
            },
            seen: SeenMembers {
                pictures: 0,
                suffixes: Vec::new(),
                beside: options.columns.is_empty().then(Beside::default),
                of_labels: options.labels,
            },
        }
    }

    /// Adds the members of a tar. No sample reaches into the next one.
    ///
    /// # Errors
    /// Some labels are numbers and some are text, or a sample has too many members.
    pub(super) fn add(&mut self, file: u32, path: &Path, members: Vec<TarMember>) -> Result<(), SourceError> {
        let samples = grouped(members).map_err(|(key, offset)| {
            let problem = format!(
                "the sample \"{}\" has more than {MOST_MEMBERS} members. Give members=\"files\" if the members are not samples.",
                printable(OsStr::from_bytes(&key))
            );
            SourceError::malformed_at(path, offset, problem)
        })?;
        for OpenSample { members } in samples {
            self.close(file, path, &members)?;
        }
        Ok(())
    }

    fn close(&mut self, file: u32, path: &Path, sample: &[(String, TarMember)]) -> Result<(), SourceError> {
        let Some((_, first)) = sample.first() else { return Ok(()) };
        let record = self.spans.len() as u64;
        let mut fault = twice(sample).map(|suffix| format!("the sample has two members \"{suffix}\""));
        let picture = self.columns.images.find(sample).map(|(_, member)| member);
        let shown = picture.unwrap_or(first);
        if let Some(picture) = picture {
            self.seen.pictures += 1;
            fault = fault.or_else(|| picture.fault.map(str::to_owned));
            if let Some(map) = &picture.sparse {
                self.sparse.insert(record, map.clone());
            }
        } else {
            self.seen.remember(sample);
            fault.get_or_insert_with(|| format!("the sample has no member {}", self.columns.images));
        }
        self.seen.note_unused(self.columns, sample);
        self.names.push(&shown.name);
        self.spans.push(Span { file, offset: shown.offset, len: shown.len });
        if let Err(wrong) = self.label(path, &shown.name, sample)? {
            fault.get_or_insert(wrong);
        }
        let columns = self.columns.targets.iter().zip(&mut self.targets).zip(&mut self.refused);
        for ((column, cells), refused) in columns {
            let cell = column.cell(sample).unwrap_or_else(|wrong| {
                refused.get_or_insert_with(|| wrong.clone());
                fault.get_or_insert(wrong);
                LooseValue::Null
            });
            if let Err(wrong) = cells.push(cell) {
                fault.get_or_insert_with(|| format!("{}: {wrong}", column.name));
            }
        }
        for column in self.columns.masks.iter().enumerate() {
            if let Err(wrong) = self.masks.take(path, column, sample) {
                fault.get_or_insert(wrong);
            }
        }
        if let Some(fault) = fault {
            self.faults.add(record, &fault);
        }
        Ok(())
    }

    /// Takes the sample's label. The inner error is what is wrong with the sample alone.
    fn label(
        &mut self,
        path: &Path,
        name: &[u8],
        sample: &[(String, TarMember)],
    ) -> Result<Result<(), String>, SourceError> {
        let Some(column) = &self.columns.labels else { return Ok(Ok(())) };
        let cell = column.cell(sample);
        let text = match &cell {
            Ok(cell) => column.label(cell),
            Err(wrong) => Err(wrong.clone()),
        };
        let (text, wrong) = match text {
            Ok(text) => (text, Ok(())),
            Err(wrong) => {
                if let Some(refused) = self.refused.last_mut() {
                    refused.get_or_insert_with(|| wrong.clone());
                }
                (None, Err(wrong))
            }
        };
        self.labels.push(text.as_deref()).map_err(|wrong| self.wrong(path, name, &wrong))?;
        Ok(wrong)
    }

    fn wrong(&self, path: &Path, name: &[u8], wrong: &WrongLabel) -> SourceError {
        let quoted = |name: &[u8]| format!("\"{}\"", printable(OsStr::from_bytes(name)));
        let other = |other: u64| quoted(usize::try_from(other).map_or(&b""[..], |other| self.names.bytes(other)));
        SourceError::Columns { path: path.to_owned(), problem: wrong.problem(&quoted(name), other) }
    }

    /// # Errors
    /// No sample has a picture, or one of the other parts that the user named; or two columns cannot be together.
    pub(super) fn finish(self, dataset: &Path) -> Result<GatheredSamples, SourceError> {
        let wrong = |problem: String| SourceError::Columns { path: dataset.to_owned(), problem };
        if self.seen.pictures == 0 {
            let found: Vec<String> =
                self.seen.suffixes.iter().map(|suffix| format!("\"{}\"", printable(suffix))).collect();
            let found = if found.is_empty() { "nothing".into() } else { found.join(", ") };
            let problem = format!(
                "no sample has a member {}. The samples have {found}. Name the pictures' suffix with columns={{\"images\": ...}}, or give members=\"files\" if the members are not samples.",
                self.columns.images
            );
            return Err(SourceError::Malformed { locator: Locator::file(dataset), problem });
        }
        let Self { names, spans, sparse, mut faults, mut masks, .. } = self;
        let (mut labels, mut classes) = (Vec::new(), Vec::new());
        if let Some(column) = &self.columns.labels
            && (self.labels.any() || column.is_named)
        {
            if !self.labels.any() {
                let why = self.refused.last().cloned().flatten().map_or_else(String::new, |why| format!(": {why}"));
                return Err(wrong(format!("no sample has a label {column}{why}.")));
            }
            let (found, missing, found_classes) = self.labels.finish();
            for record in missing {
                faults.add(record, &format!("the sample has no label {column}"));
            }
            (labels, classes) = (found, found_classes);
        }
        let (mut fields, mut values) = (Vec::new(), Vec::new());
        for ((column, cells), refused) in self.columns.targets.iter().zip(self.targets).zip(self.refused) {
            let found = cells.finish().ok_or_else(|| wrong(column.nowhere(refused)))?;
            fields.push(Field::new(&column.name, found.column_type().clone()));
            values.push(found);
        }
        let schema = Schema::try_new(fields).map_err(|error| wrong(format!("{error}.")))?;
        let targets = Table::try_new(schema, values, spans.len()).map_err(|error| wrong(format!("{error}.")))?;
        if !self.columns.masks.is_empty() {
            masks.packed.columns = masks.elements.finish(targets.schema(), dataset)?;
        }
        let members = TarMembers { names: names.into(), sparse, faults };
        let SeenMembers { beside, of_labels, .. } = self.seen;
        let oversights = beside.map_or_else(Vec::new, |beside| beside.oversights(of_labels, &[]));
        Ok(GatheredSamples { members, spans, labels, classes, targets, masks: masks.packed, oversights })
    }
}

impl SampleMasks {
    /// Takes the sample's mask of a column.
    fn take(
        &mut self,
        path: &Path,
        (number, column): (usize, &SampleColumn),
        sample: &[(String, TarMember)],
    ) -> Result<(), String> {
        let Some((part, member)) = column.find(sample) else {
            self.packed.push(number, None);
            return Ok(());
        };
        let holes = member.sparse.as_ref().map(|_| "it is stored as a sparse file. Pack it again without --sparse");
        let empty = (member.len == 0).then_some("it is empty");
        if let Some(wrong) = member.fault.or(holes).or(empty) {
            self.packed.push(number, None);
            return Err(format!("its mask \"{}\" cannot be used: {wrong}", part.suffix));
        }
        self.packed.push(number, Some((member.offset, member.len)));
        let place = || format!("{}, member {}", path.display(), String::from_utf8_lossy(&member.name));
        self.elements.look(number, member.content.as_deref().unwrap_or_default(), place);
        Ok(())
    }
}

impl SeenMembers {
    /// Notes the members that no column is made of.
    fn note_unused(&mut self, columns: &SampleColumns, sample: &[(String, TarMember)]) {
        let Some(beside) = &mut self.beside else { return };
        let of_columns = [&columns.images].into_iter().chain(&columns.labels).chain(&columns.masks);
        for (suffix, member) in sample {
            if !of_columns.clone().any(|column| column.parts.iter().any(|part| part.suffix == *suffix)) {
                beside.see_as(BesideKind::Members, &member.name);
            }
        }
    }

    /// A sample has no picture.
    fn remember(&mut self, sample: &[(String, TarMember)]) {
        for (suffix, _) in sample {
            if self.suffixes.len() < 10 && !self.suffixes.contains(suffix) {
                self.suffixes.push(suffix.clone());
            }
        }
    }
}

/// A suffix that two members have.
fn twice(sample: &[(String, TarMember)]) -> Option<&str> {
    let mut seen = HashSet::with_capacity(sample.len());
    sample.iter().map(|(suffix, _)| suffix.as_str()).find(|suffix| !seen.insert(*suffix))
}

impl SampleColumn {
    /// The first of its parts that the sample has.
    pub(super) fn find<'s>(&self, sample: &'s [(String, TarMember)]) -> Option<(&SamplePart, &'s TarMember)> {
        self.parts.iter().find_map(|part| {
            let (_, member) = sample.iter().find(|(suffix, _)| *suffix == part.suffix)?;
            Some((part, member))
        })
    }

    /// What is said if no sample has a value of it, and why the first is refused that could have one.
    fn nowhere(&self, refused: Option<String>) -> String {
        match refused {
            Some(why) => format!("no sample has a value {self} that can be used: {}.", why.trim_end_matches('.')),
            None if self.parts.iter().all(|part| part.key.is_none()) => format!("no sample has a member {self}."),
            None => format!("no sample has a value {self}: a member of this name, with this key in it."),
        }
    }

    /// The value of a sample.
    fn cell(&self, sample: &[(String, TarMember)]) -> Result<LooseValue, String> {
        let Some((part, member)) = self.find(sample) else { return Ok(LooseValue::Null) };
        let said = |wrong: String| format!("its member \"{}\" cannot be used: {wrong}", part.suffix);
        match &member.content {
            Some(content) => part.cell(content, self.is_label).map_err(said),
            None => Err(said(member.fault.map_or_else(
                || format!("it has {} bytes, and the limit is {}", member.file_len(), member.most_kept()),
                str::to_owned,
            ))),
        }
    }

    /// A label as it would be written in a text.
    fn label(&self, cell: &LooseValue) -> Result<Option<Vec<u8>>, String> {
        match cell {
            LooseValue::Null => Ok(None),
            LooseValue::Text(text) => match text.trim_ascii() {
                [] => Err(format!("its label {self} is empty")),
                text => Ok(Some(text.to_vec())),
            },
            LooseValue::Number(LooseNumber::Integer(number)) => Ok(Some(number.to_string().into_bytes())),
            LooseValue::Number(LooseNumber::Float(_)) | LooseValue::Array(_) => {
                Err(format!("its label {self} is neither an integer nor a text"))
            }
            LooseValue::List(_) | LooseValue::Nested(_) => Err(format!(
                "its label {self} is a list, and a record has one label. Give labels=\"none\", and take the list as a column of its \
                 own"
            )),
        }
    }
}
