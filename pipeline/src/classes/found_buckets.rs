//! The bucket of each record that is read of a dataset (semantics rule 64).

use std::collections::BTreeMap;

use forebay_plan::{Bucket, ClassTable};
use forebay_sources::{Sizes, Source};

use super::size_of;
use crate::selected;
use crate::settings::BucketSettings;

/// The bucket of each record.
#[derive(Debug, Default)]
pub(super) struct FoundBuckets {
    /// From the narrowest to the widest.
    pub(super) buckets: Vec<Bucket>,
    /// The place of the bucket of each record that is read among them, or none.
    pub(super) classes: Vec<u16>,
    /// How many records have none, and the first of them.
    pub(super) without: Option<(u64, u64)>,
}

impl FoundBuckets {
    pub(super) fn of(source: &dyn Source, sizes: &Sizes, settings: &BucketSettings) -> Self {
        let bucket = |record| {
            let size = sizes.get(record)?;
            let bucket = settings.rule.bucket_within(size.height, size.width, settings.max_crop);
            bucket.filter(|bucket| size_of(*bucket).is_some())
        };
        // Few sizes have many records.
        let of_record: Vec<Option<Bucket>> = selected::records(source).map(bucket).collect();
        let mut found: Vec<Bucket> = settings.rule.all().unwrap_or_default().to_vec();
        if settings.rule.all().is_none() {
            let mut last = None;
            for bucket in of_record.iter().flatten().filter(|bucket| last.replace(**bucket) != Some(**bucket)) {
                if let Err(place) = found.binary_search_by(|other| other.by_aspect(bucket)) {
                    found.insert(place, *bucket);
                }
            }
        }
        found.sort_by(Bucket::by_aspect);
        found.dedup();
        let mut without = None;
        let places: BTreeMap<(u32, u32), u16> =
            (0..).zip(&found).map(|(place, bucket)| ((bucket.height, bucket.width), place)).collect();
        let class = |(record, bucket): (u64, Option<Bucket>)| {
            let class = bucket.and_then(|bucket| places.get(&(bucket.height, bucket.width)).copied());
            class.unwrap_or_else(|| {
                let (records, _) = without.get_or_insert((0, record));
                *records += 1;
                ClassTable::NONE
            })
        };
        let classes = selected::records(source).zip(of_record).map(class).collect();
        Self { buckets: found, classes, without }
    }
}
