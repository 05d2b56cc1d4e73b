//! The report. Its text and its JSON are made from the same structs. Programs get names as they are, and people get them below
//! the dataset's folder.

use std::fmt;

use forebay_sources::Oversight;
use serde::{Serialize, Serializer};

use super::columns::ColumnTotals;
use super::findings::{BadGroup, Findings, TwinGroup};
use super::names::{Names, shown_label};
use super::pictures::{FurtherTotals, PictureSizes};
use super::strays::Strays;

#[derive(Serialize)]
pub(super) struct VerifyReport<'a> {
    #[serde(skip)]
    pub(super) names: &'a Names<'a>,
    source: String,
    sources: &'a [String],
    pub(super) records: u64,
    pub(super) bytes: u64,
    good_records: u64,
    bad_records: u64,
    pub(super) bad: Vec<FailedRecord<'a>>,
    unread_records: u64,
    pub(super) unread: Vec<FailedRecord<'a>>,
    pub(super) kinds: Vec<KindReport>,
    pub(super) turned: u64,
    pub(super) further: Vec<FurtherReport<'a>>,
    pub(super) sizes: &'a PictureSizes,
    extremes: ExtremesReport<'a>,
    pub(super) labels: Vec<LabelReport<'a>>,
    pub(super) duplicates: Vec<TwinReport<'a>>,
    /// Records beyond the first of each group of duplicates.
    #[serde(skip)]
    pub(super) surplus: u64,
    pub(super) misnamed: Vec<RecordReport<'a>>,
    not_used: Vec<OversightReport<'a>>,
    pub(super) unreferenced: Option<&'a Strays>,
    pub(super) columns: Vec<ColumnReport<'a>>,
}

/// The name of a record.
#[derive(Clone, Copy)]
pub(super) struct RecordName<'a> {
    names: &'a Names<'a>,
    record: u64,
}

/// A record, which people see as its number and its name.
#[derive(Clone, Copy, Serialize)]
pub(super) struct RecordReport<'a> {
    record: u64,
    file: RecordName<'a>,
}

/// A record that gave no pixels. Those of a group follow each other.
#[derive(Serialize)]
pub(super) struct FailedRecord<'a> {
    #[serde(flatten)]
    pub(super) record: RecordReport<'a>,
    pub(super) reason: String,
    /// The reason without what only this record has.
    pub(super) group: &'a str,
}

#[derive(Serialize)]
pub(super) struct KindReport {
    pub(super) name: &'static str,
    pub(super) records: u64,
}

#[derive(Serialize)]
pub(super) struct FurtherReport<'a> {
    pub(super) name: &'static str,
    pub(super) what: &'static str,
    count: u64,
    records: &'a [u64],
    pub(super) files: Vec<RecordName<'a>>,
    #[serde(skip)]
    pub(super) totals: &'a FurtherTotals,
}

#[derive(Serialize)]
struct ExtremesReport<'a> {
    longest: Vec<SizedRecord<'a>>,
    smallest: Vec<SizedRecord<'a>>,
    largest: Vec<SizedRecord<'a>>,
}

#[derive(Serialize)]
struct SizedRecord<'a> {
    #[serde(flatten)]
    record: RecordReport<'a>,
    width: u32,
    height: u32,
}

#[derive(Serialize)]
pub(super) struct LabelReport<'a> {
    label: i64,
    /// None if the label is a plain number.
    pub(super) class: Option<&'a str>,
    pub(super) records: u64,
}

#[derive(Serialize)]
pub(super) struct TwinReport<'a> {
    records: &'a [u64],
    pub(super) files: Vec<RecordName<'a>>,
    pub(super) labels_differ: bool,
}

#[derive(Serialize)]
struct OversightReport<'a> {
    kind: &'static str,
    what: &'a str,
    count: u64,
    examples: &'a [String],
    remedy: &'a str,
    #[serde(skip)]
    line: &'a Oversight,
}

#[derive(Serialize)]
pub(super) struct ColumnReport<'a> {
    #[serde(flatten)]
    pub(super) totals: &'a ColumnTotals,
    pub(super) classes: Vec<ClassReport<'a>>,
}

#[derive(Serialize)]
pub(super) struct ClassReport<'a> {
    label: i64,
    class: Option<&'a str>,
    pub(super) items: u64,
}

impl<'a> VerifyReport<'a> {
    pub(super) fn new(names: &'a Names<'a>, found: &'a Findings) -> Self {
        let record = |record: &u64| RecordReport::new(names, *record);
        let label = |(label, records): (&i64, &u64)| LabelReport {
            label: *label,
            class: names.class(*label),
            records: *records,
        };
        Self {
            names,
            source: names.datasets.join(", "),
            sources: names.datasets,
            records: found.records,
            bytes: found.bytes,
            good_records: found.good_records(),
            bad_records: found.bad_records(),
            bad: bad(names, &found.troubles.bad),
            unread_records: found.unread_records(),
            unread: bad(names, &found.troubles.unread),
            kinds: kinds(found),
            turned: found.pictures.turned,
            further: further(names, found),
            sizes: &found.pictures.sizes,
            extremes: ExtremesReport::new(names, found),
            labels: found.labels.iter().map(label).collect(),
            duplicates: found.contents.twins.iter().map(|group| TwinReport::new(names, group)).collect(),
            surplus: found.contents.surplus(),
            misnamed: found.contents.misnamed.iter().map(record).collect(),
            not_used: found.beside.oversights.iter().map(OversightReport::new).collect(),
            unreferenced: found.beside.strays.as_ref(),
            columns: found.columns.iter().map(|totals| ColumnReport::new(names, totals)).collect(),
        }
    }

    /// What is not used, in lines.
    pub(super) fn not_used(&self) -> impl Iterator<Item = &Oversight> {
        self.not_used.iter().map(|oversight| oversight.line)
    }
}

fn bad<'a>(names: &'a Names<'a>, groups: &'a [BadGroup]) -> Vec<FailedRecord<'a>> {
    let of_group = |group: &'a BadGroup| {
        group.records.iter().map(move |(record, trouble)| FailedRecord {
            record: RecordReport::new(names, *record),
            reason: trouble.to_string(),
            group: &group.reason,
        })
    };
    groups.iter().flat_map(of_group).collect()
}

fn kinds(found: &Findings) -> Vec<KindReport> {
    let kinds = found.pictures.kinds.iter();
    kinds.map(|(kind, count)| KindReport { name: kind.name(), records: *count }).collect()
}

fn further<'a>(names: &'a Names<'a>, found: &'a Findings) -> Vec<FurtherReport<'a>> {
    let further = found.pictures.further.iter().map(|((kind, what), totals)| FurtherReport {
        name: kind.name(),
        what: what.name(),
        count: totals.count,
        records: &totals.records,
        files: RecordName::all(names, &totals.records),
        totals,
    });
    further.collect()
}

impl<'a> RecordName<'a> {
    fn all(names: &'a Names<'a>, records: &[u64]) -> Vec<Self> {
        records.iter().map(|record| Self { names, record: *record }).collect()
    }
}

impl Serialize for RecordName<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.names.raw(self.record))
    }
}

/// Its number and its name.
impl fmt::Display for RecordName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{} {}", self.record, self.names.shown(self.record))
    }
}

impl<'a> RecordReport<'a> {
    fn new(names: &'a Names<'a>, record: u64) -> Self {
        Self { record, file: RecordName { names, record } }
    }
}

impl fmt::Display for RecordReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.file.fmt(f)
    }
}

impl<'a> ExtremesReport<'a> {
    fn new(names: &'a Names<'a>, found: &Findings) -> Self {
        let selection = &found.selection;
        let sized = |record: &u64| {
            let picture = &selection.pictures[record];
            SizedRecord { record: RecordReport::new(names, *record), width: picture.width, height: picture.height }
        };
        Self {
            longest: selection.longest.iter().map(sized).collect(),
            smallest: selection.smallest.iter().map(sized).collect(),
            largest: selection.largest.iter().map(sized).collect(),
        }
    }
}

impl LabelReport<'_> {
    /// Whether it says that records have no label.
    pub(super) fn is_none(&self) -> bool {
        self.label == -1
    }

    pub(super) fn shown(&self) -> String {
        shown_label(self.class, self.label)
    }
}

impl<'a> TwinReport<'a> {
    fn new(names: &'a Names<'a>, group: &'a TwinGroup) -> Self {
        let TwinGroup { records, labels_differ } = group;
        Self { records, files: RecordName::all(names, records), labels_differ: *labels_differ }
    }
}

impl<'a> OversightReport<'a> {
    fn new(line: &'a Oversight) -> Self {
        let Oversight { kind, what, count, examples, remedy } = line;
        Self { kind: kind.name(), what, count: *count, examples, remedy, line }
    }
}

impl<'a> ColumnReport<'a> {
    fn new(names: &'a Names<'a>, totals: &'a ColumnTotals) -> Self {
        let class =
            |(label, items): (&i64, &u64)| ClassReport { label: *label, class: names.class(*label), items: *items };
        Self { totals, classes: totals.classes.iter().map(class).collect() }
    }
}

impl ClassReport<'_> {
    pub(super) fn shown(&self) -> String {
        shown_label(self.class, self.label)
    }
}
