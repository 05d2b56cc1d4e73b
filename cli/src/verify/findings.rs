//! All findings of a check of every record.

use std::collections::BTreeMap;

use forebay_columns::Room;
use forebay_pixels::FurtherKind;
use forebay_sources::{Oversight, Source};
use serde::Serialize;

use super::checked::{Checked, GoodPicture, Trouble};
use super::choice::{greatest, sample};
use super::histogram::Spread;
use super::kind::PictureKind;
use super::strays::Strays;
use super::twins::twins;

/// What was found.
pub(super) struct Findings {
    pub records: u64,
    /// Bytes that were read.
    pub bytes: u64,
    /// Groups of bad records by reason, the largest first.
    pub bad: Vec<BadGroup>,
    /// Records that were not read because the storage or the system failed.
    pub unread: Vec<BadGroup>,
    pub sizes: PictureSizes,
    /// Of the good ones, by kind.
    pub kinds: BTreeMap<PictureKind, u64>,
    /// Good pictures that EXIF turns or mirrors.
    pub turned: u64,
    /// Good files with more than the picture that is read, by kind and by what they have.
    pub further: BTreeMap<(PictureKind, FurtherKind), FurtherTotals>,
    pub misnamed: Vec<u64>,
    /// What lies beside the records and is not used.
    pub oversights: Vec<Oversight>,
    /// Records for each label; those without one have -1.
    pub labels: BTreeMap<i64, u64>,
    /// Records with equal bytes.
    pub twins: Vec<TwinGroup>,
    /// None if it cannot be told.
    pub strays: Option<Strays>,
    pub columns: Vec<ColumnTotals>,
    pub extremes: Extremes,
    /// Good records by chance, the same ones each time.
    pub sample: Vec<u64>,
    /// The good pictures of `extremes` and `sample`.
    pub shown: BTreeMap<u64, GoodPicture>,
}

/// Bad records with the same reason.
pub(super) struct BadGroup {
    pub reason: String,
    pub records: Vec<(u64, Trouble)>,
}

/// How the sizes of the good pictures, and of all files, are spread. `None` without any.
#[derive(Serialize)]
pub(super) struct PictureSizes {
    pub width: Option<Spread>,
    pub height: Option<Spread>,
    pub pixels: Option<Spread>,
    pub bytes: Option<Spread>,
}

/// Files of one kind with more than the picture that is read.
#[derive(Default)]
pub(super) struct FurtherTotals {
    pub records: Vec<u64>,
    /// Pages, frames, pictures or bands that are not read.
    pub count: u64,
}

/// Records with equal bytes.
pub(super) struct TwinGroup {
    pub records: Vec<u64>,
    pub labels_differ: bool,
}

/// A column beside pictures and labels.
pub(super) struct ColumnTotals {
    pub name: String,
    pub column_type: String,
    pub objects: Option<String>,
    /// Ragged levels.
    pub depth: usize,
    pub nulls: u64,
    /// Records with an empty list, and no null.
    pub empty: u64,
    /// Items of all records.
    pub items: u64,
    /// Most items of a record, for each ragged level.
    pub longest: Vec<u64>,
    /// Items of each class, if the column has classes.
    pub classes: BTreeMap<i64, u64>,
}

/// The column whose values are classes.
const CLASSES: &str = "classes";

/// Good records at the ends of an order, the most extreme first.
pub(super) struct Extremes {
    pub longest: Vec<u64>,
    pub smallest: Vec<u64>,
    pub largest: Vec<u64>,
}

/// Records of each extreme, and of the sample.
const EXTREMES: usize = 12;
const SAMPLE: usize = 24;

impl Findings {
    /// What these records, which are all of the source in order, have shown.
    pub(super) fn of(source: &dyn Source, checked: Vec<Checked>, strays: Option<Strays>) -> Self {
        let records = checked.len() as u64;
        let contents = checked.iter().filter_map(|one| Some((one.content?, one.record)));
        let lengths: Vec<u64> = contents.clone().map(|(content, _)| content.len).collect();
        let misnamed = contents.clone().filter(|(content, _)| content.misnamed).map(|(_, record)| record).collect();
        let twins = twins(contents.map(|(content, record)| (content.digest, record)).collect());
        let twins = twins.into_iter().map(|records| TwinGroup {
            labels_differ: records.windows(2).any(|pair| source.label(pair[0]) != source.label(pair[1])),
            records,
        });
        let (mut good, mut troubles) = (Vec::new(), Vec::new());
        for Checked { record, outcome, .. } in checked {
            match outcome {
                Ok(picture) => good.push((record, picture)),
                Err(trouble) => troubles.push((record, trouble)),
            }
        }
        let (unread, bad) = troubles.into_iter().partition(|(_, trouble)| trouble.is_outage());
        let mut kinds = BTreeMap::new();
        for (_, picture) in &good {
            *kinds.entry(picture.kind).or_default() += 1;
        }
        let mut further: BTreeMap<_, FurtherTotals> = BTreeMap::new();
        for (record, picture) in &good {
            if let Some(found) = picture.further {
                let totals = further.entry((picture.kind, found.kind)).or_default();
                totals.records.push(*record);
                totals.count += found.count;
            }
        }
        let mut labels = BTreeMap::new();
        for record in 0..source.len() {
            *labels.entry(source.label(record)).or_default() += 1;
        }
        add_classes(source, &mut labels);
        let extremes = Extremes::of(&good);
        let sample = sample(SAMPLE, good.iter().map(|(record, _)| *record));
        let shown = [&extremes.longest, &extremes.smallest, &extremes.largest, &sample].into_iter().flatten();
        let find = |record: &u64| good.binary_search_by_key(record, |(record, _)| *record).ok();
        let shown = shown.filter_map(|record| find(record).map(|place| good[place])).collect();
        Self {
            records,
            bytes: lengths.iter().sum(),
            bad: groups(bad),
            unread: groups(unread),
            sizes: PictureSizes::of(&good, lengths),
            kinds,
            turned: good.iter().filter(|(_, picture)| picture.turned).count() as u64,
            further,
            misnamed,
            oversights: source.oversights(),
            labels,
            twins: twins.collect(),
            strays,
            columns: columns(source),
            extremes,
            sample,
            shown,
        }
    }

    pub(super) fn bad_records(&self) -> u64 {
        count(&self.bad)
    }

    pub(super) fn unread_records(&self) -> u64 {
        count(&self.unread)
    }

    pub(super) fn good_records(&self) -> u64 {
        self.kinds.values().sum()
    }

    /// Records beyond the first of each group of equal ones.
    pub(super) fn surplus(&self) -> u64 {
        self.twins.iter().map(|group| group.records.len() as u64 - 1).sum()
    }
}

fn count(groups: &[BadGroup]) -> u64 {
    groups.iter().map(|group| group.records.len() as u64).sum()
}

fn groups(troubles: Vec<(u64, Trouble)>) -> Vec<BadGroup> {
    let mut by_reason: BTreeMap<String, Vec<(u64, Trouble)>> = BTreeMap::new();
    for (record, trouble) in troubles {
        by_reason.entry(trouble.group()).or_default().push((record, trouble));
    }
    let mut groups: Vec<BadGroup> =
        by_reason.into_iter().map(|(reason, records)| BadGroup { reason, records }).collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.records.len()));
    groups
}

impl PictureSizes {
    fn of(good: &[(u64, GoodPicture)], bytes: Vec<u64>) -> Self {
        let spread = |of: fn(&GoodPicture) -> u64| Spread::of(good.iter().map(|(_, picture)| of(picture)).collect());
        Self {
            width: spread(|picture| picture.width.into()),
            height: spread(|picture| picture.height.into()),
            pixels: spread(GoodPicture::pixels),
            bytes: Spread::of(bytes),
        }
    }
}

impl GoodPicture {
    fn pixels(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }
}

impl Extremes {
    fn of(good: &[(u64, GoodPicture)]) -> Self {
        let by = |key: fn(&GoodPicture) -> u64| {
            greatest(EXTREMES, good.iter().map(|(record, picture)| (key(picture), *record)))
        };
        Self {
            longest: by(|GoodPicture { width, height, .. }| {
                u64::from(*width.max(height)) * 1000 / u64::from(*width.min(height)).max(1)
            }),
            smallest: by(|picture| u64::MAX - picture.pixels()),
            largest: by(GoodPicture::pixels),
        }
    }
}

/// A class without a record is a finding, if others have some.
fn add_classes(source: &dyn Source, counts: &mut BTreeMap<i64, u64>) {
    if counts.keys().any(|label| *label >= 0) {
        for (label, _) in (0..).zip(source.classes()) {
            counts.entry(label).or_default();
        }
    }
}

fn columns(source: &dyn Source) -> Vec<ColumnTotals> {
    let table = source.targets();
    let each = table.schema().fields().iter().zip(table.columns()).zip(table.rooms());
    let totals = |((field, column), Room(room)): ((&forebay_columns::Field, &forebay_columns::Column), Room)| {
        let depth = field.column_type.depth();
        let mut totals = ColumnTotals {
            name: field.name.clone(),
            column_type: field.column_type.to_string(),
            objects: field.objects.clone(),
            depth,
            nulls: 0,
            empty: 0,
            items: 0,
            longest: room[..depth].to_vec(),
            classes: BTreeMap::new(),
        };
        let counts_classes = field.name == CLASSES && !source.classes().is_empty();
        for record in 0..column.len() {
            let value = column.value(record);
            let classes = if counts_classes { value.numbers::<i64>(&field.column_type) } else { None };
            for class in classes.into_iter().flatten() {
                *totals.classes.entry(class).or_default() += 1;
            }
            match value.is_null() {
                true => totals.nulls += 1,
                false if value.items() == 0 => totals.empty += 1,
                false => totals.items += value.items() as u64,
            }
        }
        add_classes(source, &mut totals.classes);
        totals
    };
    each.map(totals).collect()
}

#[cfg(test)]
mod tests {
    use forebay_columns::{Column, Field, Schema, Table};
    use forebay_pixels::{Fault, Further};
    use forebay_sources::{Locator, ReadError, ReadErrorKind};

    use super::super::checked::CheckedContent;
    use super::super::names::Names;
    use super::*;

    /// A dataset with a column, whose records are never read.
    #[derive(Debug)]
    struct Labelled {
        labels: Vec<i64>,
        classes: Vec<String>,
        targets: Table,
    }

    impl Source for Labelled {
        fn len(&self) -> u64 {
            self.labels.len() as u64
        }
        fn classes(&self) -> &[String] {
            &self.classes
        }
        fn label(&self, record: u64) -> i64 {
            self.labels[usize::try_from(record).unwrap()]
        }
        fn locator(&self, record: u64) -> Locator {
            Locator::file(format!("/{record}.jpg"))
        }
        fn size(&self, _: u64) -> u64 {
            0
        }
        fn read(&self, record: u64, _: u64, _: &mut Vec<u8>) -> Result<(), ReadError> {
            Err(ReadError::new(ReadErrorKind::Missing, self.locator(record)))
        }
        fn fingerprint(&self) -> [u8; 32] {
            [0; 32]
        }
        fn targets(&self) -> &Table {
            &self.targets
        }
        fn shard_name(&self, _: u64) -> &'static str {
            ""
        }
    }

    fn good(record: u64, content: u8, width: u32, height: u32) -> Checked {
        let content = Some(CheckedContent { len: 100 + u64::from(content), digest: [content; 16], misnamed: false });
        let further = (record < 2).then_some(Further { kind: FurtherKind::Frames, count: 3 });
        let picture = GoodPicture { kind: PictureKind::Png, width, height, turned: record == 0, further };
        Checked { record, content, outcome: Ok(picture) }
    }

    #[test]
    fn every_record_is_counted_once_and_the_odd_ones_are_named() {
        let mut boxes = Column::new("f32 [*, 4]".parse().unwrap());
        boxes.push(&[0.0_f32; 8]);
        boxes.push_null();
        boxes.push::<f32>(&[]);
        boxes.push(&[0.0_f32; 12]);
        boxes.push(&[0.0_f32; 4]);
        let mut of_objects = Column::new("i64 [*]".parse().unwrap());
        for classes in [&[0_i64, 2][..], &[], &[], &[2, 2, 2], &[2]] {
            of_objects.push(classes);
        }
        let field = |name, column: &Column| Field::new(name, column.column_type().clone());
        let schema = Schema::try_new(vec![field("boxes", &boxes), field("classes", &of_objects)]).unwrap();
        let targets = Table::try_new(schema, vec![boxes, of_objects], 5).unwrap();
        let classes = ["cat", "dog", "none of these"].map(str::to_owned).to_vec();
        let source = Labelled { labels: vec![0, 1, 1, 0, 1], classes, targets };
        let storage = ReadError::new(ReadErrorKind::Storage, Locator::file("/4.jpg"));
        let checked = vec![
            good(0, 7, 10, 10),
            good(1, 7, 10, 10),
            good(2, 8, 90, 2),
            Checked { outcome: Err(Trouble::Decode(Box::new(Fault::Truncated))), ..good(3, 9, 1, 1) },
            Checked { record: 4, content: None, outcome: Err(Trouble::Read(Box::new(storage))) },
        ];
        let found = Findings::of(&source, checked, None);
        let datasets = ["/data".to_owned()];
        let names = Names { datasets: &datasets, source: &source };
        let mut text = Vec::new();
        super::super::text::text(&mut text, &names, &found, 2).unwrap();
        insta::assert_snapshot!("verify_text", String::from_utf8(text).unwrap());
        insta::assert_snapshot!("verify_json", format!("{:#}", super::super::json::json(&names, &found)));
        assert_eq!((found.records, found.bytes), (5, 107 + 107 + 108 + 109));
        assert_eq!((found.good_records(), found.bad_records(), found.unread_records()), (3, 1, 1));
        assert_eq!((found.bad[0].records[0].0, found.unread[0].records[0].0), (3, 4));
        assert_eq!(
            (found.twins[0].records.clone(), found.twins[0].labels_differ, found.surplus()),
            (vec![0, 1], true, 1)
        );
        assert_eq!(found.labels, BTreeMap::from([(0, 2), (1, 3), (2, 0)]));
        assert_eq!((found.kinds[&PictureKind::Png], found.turned), (3, 1));
        let further = &found.further[&(PictureKind::Png, FurtherKind::Frames)];
        assert_eq!((&*further.records, further.count, found.further.len()), (&[0, 1][..], 6, 1));
        let Extremes { longest, smallest, largest } = &found.extremes;
        assert_eq!((longest[0], smallest[0], largest[0]), (2, 0, 2));
        assert_eq!((found.sample, found.shown.len()), (vec![0, 1, 2], 3));
        let width = found.sizes.width.unwrap();
        assert_eq!((width.min, width.median, width.max), (10, 10, 90));
        assert_eq!(found.sizes.bytes.unwrap().max, 109, "a bad file has a size too");
        let column = &found.columns[0];
        assert_eq!((column.nulls, column.empty, column.items, &*column.longest), (1, 1, 6, &[3][..]));
        assert_eq!((column.classes.len(), found.columns[1].nulls), (0, 0));
        assert_eq!(found.columns[1].classes, BTreeMap::from([(0, 1), (1, 0), (2, 5)]));
    }
}
