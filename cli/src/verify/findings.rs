//! All findings of a check of every record.

use std::collections::BTreeMap;

use forebay_sources::{Oversight, Source};

use super::checked::{Checked, Trouble};
use super::columns::{ColumnTotals, add_classes, columns};
use super::pictures::{GoodPictures, Selection};
use super::strays::Strays;
use super::twins::twins;

/// What was found.
pub(super) struct Findings {
    pub records: u64,
    /// Bytes that were read.
    pub bytes: u64,
    pub troubles: Troubles,
    pub pictures: GoodPictures,
    pub contents: Contents,
    /// Records for each label; those without one have -1.
    pub labels: BTreeMap<i64, u64>,
    pub columns: Vec<ColumnTotals>,
    pub beside: Beside,
    pub selection: Selection,
}

/// Records that gave no pixels. The largest groups are first.
pub(super) struct Troubles {
    pub bad: Vec<BadGroup>,
    /// Not read because the storage or the system failed.
    pub unread: Vec<BadGroup>,
}

/// Bad records with the same reason.
pub(super) struct BadGroup {
    pub reason: String,
    pub records: Vec<(u64, Trouble)>,
}

/// What the bytes of the records show.
pub(super) struct Contents {
    pub twins: Vec<TwinGroup>,
    /// Records with the extension of another format.
    pub misnamed: Vec<u64>,
}

/// Records with equal bytes.
pub(super) struct TwinGroup {
    pub records: Vec<u64>,
    pub labels_differ: bool,
}

/// What is beside the records.
pub(super) struct Beside {
    /// What is not used.
    pub oversights: Vec<Oversight>,
    /// Files that no record is read from. None if that cannot be told.
    pub strays: Option<Strays>,
}

impl Findings {
    /// What these records, which are all that are read of the source, in order, have shown.
    pub(super) fn of(source: &dyn Source, checked: Vec<Checked>, strays: Option<Strays>) -> Self {
        let records = checked.len() as u64;
        let lengths: Vec<u64> = checked.iter().filter_map(|one| Some(one.content?.len)).collect();
        let contents = Contents::of(source, &checked);
        let mut labels = BTreeMap::new();
        for one in &checked {
            *labels.entry(source.label(one.record)).or_default() += 1;
        }
        let (mut good, mut troubles) = (Vec::new(), Vec::new());
        for Checked { record, outcome, .. } in checked {
            match outcome {
                Ok(picture) => good.push((record, picture)),
                Err(trouble) => troubles.push((record, trouble)),
            }
        }
        add_classes(source, &mut labels);
        Self {
            records,
            bytes: lengths.iter().sum(),
            troubles: Troubles::of(troubles),
            pictures: GoodPictures::of(&good, lengths),
            contents,
            labels,
            columns: columns(source),
            beside: Beside { oversights: source.oversights(), strays },
            selection: Selection::of(&good),
        }
    }

    pub(super) fn bad_records(&self) -> u64 {
        count(&self.troubles.bad)
    }

    pub(super) fn unread_records(&self) -> u64 {
        count(&self.troubles.unread)
    }

    pub(super) fn good_records(&self) -> u64 {
        self.pictures.kinds.values().sum()
    }
}

impl Troubles {
    fn of(troubles: Vec<(u64, Trouble)>) -> Self {
        let (unread, bad) = troubles.into_iter().partition(|(_, trouble)| trouble.is_outage());
        Self { bad: groups(bad), unread: groups(unread) }
    }
}

impl Contents {
    fn of(source: &dyn Source, checked: &[Checked]) -> Self {
        let contents = checked.iter().filter_map(|one| Some((one.content?, one.record)));
        let misnamed = contents.clone().filter(|(content, _)| content.misnamed).map(|(_, record)| record).collect();
        let twins = twins(contents.map(|(content, record)| (content.digest, record)).collect());
        let twins = twins.into_iter().map(|records| TwinGroup {
            labels_differ: records.windows(2).any(|pair| source.label(pair[0]) != source.label(pair[1])),
            records,
        });
        Self { twins: twins.collect(), misnamed }
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

#[cfg(test)]
mod tests {
    use forebay_columns::{Column, Field, Schema, Table};
    use forebay_pixels::{Fault, Further, FurtherKind};
    use forebay_sources::{Locator, ReadError, ReadErrorKind};

    use super::super::checked::{CheckedContent, GoodPicture};
    use super::super::kind::PictureKind;
    use super::super::names::Names;
    use super::super::report::VerifyReport;
    use super::*;
    use crate::json;

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
        let frames = Further { kind: FurtherKind::Frames, count: 3 };
        let alpha = Further { kind: FurtherKind::Alpha, count: 1 };
        let further = if record < 2 { vec![frames, alpha] } else { Vec::new() };
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
        let report = VerifyReport::new(&names, &found);
        let (mut text, mut as_json) = (Vec::new(), Vec::new());
        report.text(&mut text, 2).unwrap();
        json::print(&mut as_json, &report).unwrap();
        insta::assert_snapshot!("verify_text", String::from_utf8(text).unwrap());
        insta::assert_snapshot!("verify_json", String::from_utf8(as_json).unwrap());
        assert_eq!((found.records, found.bytes), (5, 107 + 107 + 108 + 109));
        assert_eq!((found.good_records(), found.bad_records(), found.unread_records()), (3, 1, 1));
        let Troubles { bad, unread } = &found.troubles;
        assert_eq!((bad[0].records[0].0, unread[0].records[0].0), (3, 4));
        let contents = &found.contents;
        assert_eq!(
            (contents.twins[0].records.clone(), contents.twins[0].labels_differ, contents.surplus()),
            (vec![0, 1], true, 1)
        );
        assert_eq!(found.labels, BTreeMap::from([(0, 2), (1, 3), (2, 0)]));
        let GoodPictures { kinds, turned, further, sizes } = &found.pictures;
        assert_eq!((kinds[&PictureKind::Png], *turned), (3, 1));
        let frames = &further[&(PictureKind::Png, FurtherKind::Frames)];
        assert_eq!((&*frames.records, frames.count, further.len()), (&[0, 1][..], 6, 2));
        assert_eq!(further[&(PictureKind::Png, FurtherKind::Alpha)].count, 2);
        let Selection { longest, smallest, largest, sample, pictures } = &found.selection;
        assert_eq!((longest[0], smallest[0], largest[0]), (2, 0, 2));
        assert_eq!((&**sample, pictures.len()), (&[0, 1, 2][..], 3));
        let width = sizes.width.as_ref().unwrap();
        assert_eq!((width.min, width.median, width.max), (10, 10, 90));
        assert_eq!(sizes.bytes.as_ref().unwrap().max, 109, "a bad file has a size too");
        let column = &found.columns[0];
        assert_eq!((column.nulls, column.empty, column.items, &*column.longest), (1, 1, 6, &[3][..]));
        assert_eq!((column.classes.len(), found.columns[1].nulls), (0, 0));
        assert_eq!(found.columns[1].classes, BTreeMap::from([(0, 1), (1, 0), (2, 5)]));
    }
}
