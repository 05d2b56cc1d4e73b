//! The classes of a stream's records: the bucket of each, and what a batch of a bucket looks like (semantics rules 61, 62 and 64).

use std::collections::BTreeMap;
use std::sync::Arc;

use forebay_pixels::{Annotated, Origin, Recipe, RecipeError};
use forebay_plan::{Bucket, ClassTable, NoStepPlaces, SelectionProblem, TooManyRecords};
use forebay_proto::v1::{ClassOrder, SourceShare};
use forebay_ring::PictureSize;
use forebay_sources::{Member, Sizes, Source};
use thiserror::Error;

use crate::reason::Reason;
use crate::selected;
use crate::settings::{BucketSettings, OnError, StreamSettings};
use crate::size_check::{WrongSizes, compare_sizes};

/// Above this share of copies, the log says so.
const MANY_COPIES: f64 = 0.05;

/// See the module.
#[derive(Debug)]
pub(crate) struct StreamClasses {
    settings: BucketSettings,
    table: Arc<ClassTable>,
    sizes: Sizes,
    /// By the number of their class: from the narrowest to the widest.
    buckets: Vec<StreamBucket>,
    /// The records of each source and the turns of each of them. None for a single source that is not repeated.
    sources: Vec<SourceShare>,
    repeats: u32,
}

/// A bucket, and how many of its pictures a step has on all ranks.
#[derive(Clone, Debug)]
struct StreamBucket {
    bucket: Bucket,
    size: PictureSize,
    places: u32,
    /// What becomes of its pictures. Nothing before the stream's own recipe is known.
    recipe: Option<Arc<Recipe>>,
}

/// Why a stream cannot have buckets.
#[derive(Debug, Error)]
pub enum BucketError {
    /// The sizes of the pictures are not known.
    #[error(
        "the sizes of the pictures are not known, without which they have no buckets. Run \"forebay index SOURCE --sizes\", or name the \
         columns that have them: source_options = {{ sizes = \"height,width\" }}"
    )]
    NoSizes,
    /// They are known wrongly.
    #[error(transparent)]
    Wrong(#[from] WrongSizes),
    /// Records that are in no bucket, in a stream that fails at the first bad record.
    #[error(
        "{records} records have no bucket, the first of them {first}: their sizes are not known, the rule has none for them, or \
         max_crop is exceeded. Set on_error = \"skip\" to leave them out"
    )]
    Without {
        /// How many.
        records: u64,
        /// Where the first one is.
        first: String,
    },
    /// More than a plan has.
    #[error("{buckets} buckets are more than the {} that a stream may have", u16::MAX)]
    Many {
        /// How many the pictures have.
        buckets: usize,
    },
    /// More than a plan has.
    #[error(transparent)]
    Records(#[from] TooManyRecords),
    /// Nothing of a source is selected.
    #[error(transparent)]
    Selection(#[from] SelectionProblem),
    /// A step has no room.
    #[error(transparent)]
    Steps(#[from] NoStepPlaces),
    /// A transform does not suit a bucket.
    #[error("transform: {0}")]
    Recipe(#[from] RecipeError),
    /// Masks are as large as the pictures.
    #[error(
        "column \"{column}\" has masks, which have one size in all batches. Leave the column out of `columns`, or leave out `buckets`"
    )]
    Masks {
        /// The column.
        column: String,
    },
}

impl StreamClasses {
    /// Those of the records of a stream. It reads the headers of some, to compare them. Nothing if the stream has no buckets.
    ///
    /// # Errors
    /// The stream cannot have its buckets.
    pub(crate) fn new(source: &dyn Source, settings: &StreamSettings) -> Result<Option<Self>, BucketError> {
        let Some(buckets) = settings.buckets.clone() else { return Ok(None) };
        let sizes = source.sizes();
        if sizes.is_empty() {
            return Err(BucketError::NoSizes);
        }
        compare_sizes(source, &sizes)?;
        let found = FoundBuckets::of(source, &sizes, &buckets);
        if let Some((records, first)) = found.without {
            let first = source.locator(first).to_string();
            if settings.on_error == OnError::Fail {
                return Err(BucketError::Without { records, first });
            }
            tracing::warn!(records, first, "records have no bucket, and are left out");
        }
        let count = u16::try_from(found.buckets.len()).ok().filter(|count| *count < ClassTable::NONE);
        let count = count.ok_or(BucketError::Many { buckets: found.buckets.len() })?;
        let repeats = settings.repeats.get();
        let members = selected::members(source, repeats > 1);
        if let Some(empty) = members.iter().find(|member| member.records == 0) {
            return Err(SelectionProblem::Nothing(empty.name.clone()).into());
        }
        let turns = u16::try_from(repeats).unwrap_or(u16::MAX);
        let parts: Vec<(u64, u16)> = members.iter().map(|member| (member.records, turns)).collect();
        let shares = found.shares(&members, repeats);
        let places = |bucket: &Bucket| -> Result<StreamBucket, BucketError> {
            let places = u32::try_from(buckets.steps.places(*bucket)?).unwrap_or(u32::MAX);
            let size = size_of(*bucket).expect("a bucket without such a size has no record");
            Ok(StreamBucket { bucket: *bucket, size, places, recipe: None })
        };
        let all = found.buckets.iter().map(places).collect::<Result<Vec<_>, _>>()?;
        let table = Arc::new(ClassTable::new(found.classes, count, &parts)?);
        Ok(Some(Self { settings: buckets, table, sizes, buckets: all, sources: shares, repeats }))
    }

    /// The same with the recipe of each bucket, made of the stream's own.
    ///
    /// # Errors
    /// A transform does not suit one of them.
    pub(crate) fn with_recipes(mut self, recipe: &Recipe) -> Result<Self, BucketError> {
        for StreamBucket { bucket, recipe: own, .. } in &mut self.buckets {
            *own = Some(Arc::new(recipe.in_bucket(bucket.height, bucket.width)?));
        }
        Ok(self)
    }

    /// The class of each record.
    pub(crate) fn table(&self) -> &Arc<ClassTable> {
        &self.table
    }

    /// What the ledger's spec says of them.
    pub(crate) fn order(&self) -> ClassOrder {
        let places: Vec<u32> = self.buckets.iter().map(|bucket| bucket.places).collect();
        let repeats = vec![self.repeats; self.sources.len()];
        let order = self.table.order(&places, self.settings.leftovers, &repeats, &self.settings.name);
        // Orders without groups are as they were before there were any.
        ClassOrder { accumulate: Some(self.settings.accumulate).filter(|steps| *steps > 1).unwrap_or(0), ..order }
    }

    /// The sources of the dataset, each with its positions.
    pub(crate) fn sources(&self) -> Vec<SourceShare> {
        self.sources.clone()
    }

    /// The size of the pictures of a class.
    pub(crate) fn size(&self, class: usize) -> PictureSize {
        self.buckets[class].size
    }

    /// What becomes of the pictures of a class.
    pub(crate) fn recipe(&self, class: usize) -> &Arc<Recipe> {
        self.buckets[class].recipe.as_ref().expect("a stream that runs has recipes")
    }

    /// What becomes of the pictures of each class, in their order.
    pub(crate) fn recipes(&self) -> impl Iterator<Item = &Arc<Recipe>> {
        (0..self.buckets.len()).map(|class| self.recipe(class))
    }

    /// Height and width with which `batch` pictures have room for a step of each class that has records, shared by `ranks` ranks.
    pub(crate) fn room(&self, batch: u32, ranks: u32) -> (u32, u32) {
        let own = |bucket: &StreamBucket| u64::from(bucket.places / ranks.max(1)) * bucket.bucket.pixels();
        let used = (0..).zip(&self.buckets).filter(|(class, _)| self.table.turns(*class) > 0);
        let Some((_, largest)) = used.max_by_key(|(_, bucket)| own(bucket)) else { return (1, 1) };
        let Bucket { height, width } = largest.bucket;
        let row = u64::from(batch.max(1)) * u64::from(width);
        let rows = u32::try_from(own(largest).div_ceil(row)).unwrap_or(height);
        tracing::info!(
            rule = self.settings.name,
            bucket = %largest.bucket,
            pictures = largest.places / ranks.max(1),
            "this bucket decides the room of a batch"
        );
        (rows.max(1), width)
    }

    /// Says in the log what an epoch has in vain.
    pub(crate) fn report(&self, stream: &str, layout: &forebay_plan::ClassLayout) {
        let shares = layout.shares();
        for (StreamBucket { bucket, places, .. }, share) in self.buckets.iter().zip(&shares) {
            if (1..u64::from(*places)).contains(&share.turns) {
                tracing::info!(stream, %bucket, turns = share.turns, places, "a bucket fills no step");
            }
        }
        let copies: u64 = shares.iter().map(|share| share.copies).sum();
        let all: u64 = shares.iter().map(|share| share.steps * share.places).sum();
        #[expect(clippy::cast_precision_loss, reason = "a share for people")]
        let share = copies as f64 / all.max(1) as f64;
        if share > MANY_COPIES {
            let percent = format!("{:.1} %", 100.0 * share);
            tracing::warn!(
                stream,
                copies,
                percent,
                "many places of an epoch are copies; \"forebay plan\" says what has fewer"
            );
        }
    }

    /// What is wrong with a picture that was made of this, if its size is not the one that its class follows from.
    pub(crate) fn check(&self, record: u64, origin: &Origin) -> Result<(), Reason> {
        let Some(known) = self.sizes.get(record) else { return Ok(()) };
        let (width, height) = origin.annotated(Annotated::AsSeen);
        if (height, width) == (known.height, known.width) {
            return Ok(());
        }
        Err(Reason::Size { known: (known.height, known.width), found: (height, width) })
    }
}

/// The bucket of each record.
#[derive(Debug, Default)]
struct FoundBuckets {
    buckets: Vec<Bucket>,
    /// The place of the bucket of each record that is read among them, or none.
    classes: Vec<u16>,
    /// How many records have none, and the first of them.
    without: Option<(u64, u64)>,
}

impl FoundBuckets {
    fn of(source: &dyn Source, sizes: &Sizes, settings: &BucketSettings) -> Self {
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

    /// How many turns each source has.
    fn shares(&self, members: &[Member], repeats: u32) -> Vec<SourceShare> {
        let mut start = 0;
        let share = |member: &Member| {
            let end = start + usize::try_from(member.records).unwrap_or(usize::MAX);
            let own = self.classes.get(start..end.min(self.classes.len())).unwrap_or_default();
            start = end;
            let with_class = own.iter().filter(|class| **class != ClassTable::NONE).count() as u64;
            SourceShare {
                records: member.records,
                positions: with_class * u64::from(repeats),
                name: member.name.clone(),
            }
        };
        members.iter().map(share).collect()
    }
}

/// A bucket as a ring has it, if its sides are not longer than a ring knows.
fn size_of(Bucket { height, width }: Bucket) -> Option<PictureSize> {
    let side = |side: u32| u16::try_from(side).ok();
    PictureSize::of_offer(side(height)?, side(width)?).ok().flatten()
}
