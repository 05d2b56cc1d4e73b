//! The classes of a stream's steps: the bucket of each record or the lengths that steps have in turn, and what a batch of each
//! looks like (semantics rules 61 to 65).

mod class_error;
mod found_buckets;
mod ragged_pictures;

use std::sync::Arc;

use forebay_pixels::{Annotated, Draw, Origin, PatchGrid, Recipe};
use forebay_plan::{Bucket, ClassTable, Leftovers, SelectionProblem};
use forebay_proto::v1::{ClassOrder, SourceShare};
use forebay_ring::PictureSize;
use forebay_sources::{Member, Sizes, Source};

pub use self::class_error::ClassError;
use self::found_buckets::FoundBuckets;
pub use self::ragged_pictures::LargestResults;
use self::ragged_pictures::RaggedPictures;
use crate::reason::Reason;
use crate::selected;
use crate::settings::{BucketSettings, OnError, PatchSettings, StepForm, StreamSettings};
use crate::size_check::compare_sizes;

/// Above this share of copies, the log says so.
const MANY_COPIES: f64 = 0.05;

/// See the module.
#[derive(Debug)]
pub(crate) struct StreamClasses {
    form: StepForm,
    table: Arc<ClassTable>,
    sizes: Sizes,
    /// By the number of their class: buckets from the narrowest to the widest, or lengths as they are given.
    steps: Vec<StreamStep>,
    /// The records of each source and the turns of each of them. None for a single source that is not repeated.
    sources: Vec<SourceShare>,
    repeats: u32,
    /// The sizes of the results, if each picture has one of its own.
    ragged: Option<RaggedPictures>,
}

/// A step of a class, and how many of its pictures it has on all ranks.
#[derive(Clone, Debug)]
struct StreamStep {
    /// Height and width of a place: those of a bucket, or the number of patches and the pixels of one.
    size: PictureSize,
    places: u32,
    /// What becomes of its pictures. Nothing before the stream's own recipe is known.
    recipe: Option<Arc<Recipe>>,
}

impl StreamClasses {
    /// Those of the steps of a stream. It reads the headers of some records, to compare their sizes. Nothing if all steps of the
    /// stream have one form.
    ///
    /// # Errors
    /// The stream cannot have its classes.
    pub(crate) fn new(source: &dyn Source, settings: &StreamSettings) -> Result<Option<Self>, ClassError> {
        let Some(form) = settings.form.clone() else { return Ok(None) };
        let sizes = source.sizes();
        if sizes.is_empty() && (form.buckets().is_some() || form.is_ragged()) {
            return Err(ClassError::NoSizes);
        }
        if !sizes.is_empty() {
            compare_sizes(source, &sizes)?;
        }
        let repeats = settings.repeats.get();
        let mut ragged = None;
        let (classes, steps) = match &form {
            StepForm::Ragged { places } => {
                let (found, classes, without) = RaggedPictures::of(source, &sizes, settings, *places);
                leave_out(source, settings.on_error, without)?;
                let size = size_of(Bucket { height: 1, width: 1 }).expect("a pixel is a picture");
                ragged = Some(found);
                (classes, vec![StreamStep { size, places: *places, recipe: None }])
            }
            StepForm::Buckets(buckets) => of_buckets(source, settings.on_error, buckets, &sizes)?,
            StepForm::Patches(patches) => {
                let all = usize::try_from(selected::count(source)).unwrap_or(usize::MAX);
                let pixels = settings.recipe.patches().map_or(1, forebay_pixels::Patches::pixels);
                let step = |(length, places): &(u32, u32)| {
                    let size = size_of(Bucket { height: *length, width: pixels });
                    StreamStep { size: size.expect("settings have shorter lengths"), places: *places, recipe: None }
                };
                (vec![0; all], patches.lengths.iter().map(step).collect())
            }
        };
        // Where lengths take turns, all records are of one class.
        let count = if form.buckets().is_some() { steps.len() } else { 1 };
        let count = u16::try_from(count).ok().filter(|count| *count < ClassTable::NONE);
        let count = count.ok_or(ClassError::Many { buckets: steps.len() })?;
        let members = selected::members(source, repeats > 1);
        if let Some(empty) = members.iter().find(|member| member.records == 0) {
            return Err(SelectionProblem::Nothing(empty.name.clone()).into());
        }
        let turns = u16::try_from(repeats).unwrap_or(u16::MAX);
        let parts: Vec<(u64, u16)> = members.iter().map(|member| (member.records, turns)).collect();
        let sources = shares(&classes, &members, repeats);
        let table = Arc::new(ClassTable::new(classes, count, &parts)?);
        Ok(Some(Self { form, table, sizes, steps, sources, repeats, ragged }))
    }

    /// The same with the recipe of each class, made of the stream's own.
    ///
    /// # Errors
    /// A transform does not suit one of them.
    pub(crate) fn with_recipes(mut self, recipe: &Recipe) -> Result<Self, ClassError> {
        for StreamStep { size, recipe: own, .. } in &mut self.steps {
            let (height, width) = size.sides();
            *own = Some(Arc::new(recipe.in_step(height.into(), width.into())?));
        }
        Ok(self)
    }

    /// What the steps have.
    pub(crate) fn form(&self) -> &StepForm {
        &self.form
    }

    /// The class of each record.
    pub(crate) fn table(&self) -> &Arc<ClassTable> {
        &self.table
    }

    /// What the ledger's spec says of them.
    pub(crate) fn order(&self) -> ClassOrder {
        let places: Vec<u32> = self.steps.iter().map(|step| step.places).collect();
        let repeats = vec![self.repeats; self.sources.len()];
        match &self.form {
            StepForm::Buckets(BucketSettings { leftovers, name, accumulate, .. }) => {
                let order = self.table.order(&places, *leftovers, &repeats, name);
                // Orders without groups are as they were before there were any.
                ClassOrder { accumulate: Some(*accumulate).filter(|steps| *steps > 1).unwrap_or(0), ..order }
            }
            StepForm::Ragged { .. } => self.table.order(&places, Leftovers::Repeat, &repeats, "ragged"),
            StepForm::Patches(PatchSettings { name, lengths }) => {
                let order = self.table.order(&places, Leftovers::Repeat, &repeats, name);
                ClassOrder { lengths: lengths.iter().map(|(length, _)| *length).collect(), ..order }
            }
        }
    }

    /// The sources of the dataset, each with its positions.
    pub(crate) fn sources(&self) -> Vec<SourceShare> {
        self.sources.clone()
    }

    /// The size of the pictures of a class.
    pub(crate) fn size(&self, class: usize) -> PictureSize {
        self.steps[class].size
    }

    /// What becomes of the pictures of a class.
    pub(crate) fn recipe(&self, class: usize) -> &Arc<Recipe> {
        self.steps[class].recipe.as_ref().expect("a stream that runs has recipes")
    }

    /// What becomes of the pictures of each class, in their order.
    pub(crate) fn recipes(&self) -> impl Iterator<Item = &Arc<Recipe>> {
        (0..self.steps.len()).map(|class| self.recipe(class))
    }

    /// Height and width with which `batch` pictures have room for a step of each class that has records, shared by `ranks` ranks.
    pub(crate) fn room(&self, batch: u32, ranks: u32) -> (u32, u32) {
        if let Some(ragged) = &self.ragged {
            return ragged.room(batch, ranks);
        }
        let own = |step: &StreamStep| u64::from(step.places / ranks.max(1)) * pixels(step.size);
        let is_used = |class| self.form.buckets().is_none() || self.table.turns(class) > 0;
        let used = (0..).zip(&self.steps).filter(|(class, _)| is_used(*class));
        let Some((class, largest)) = used.max_by_key(|(_, step)| own(step)) else { return (1, 1) };
        let (height, width) = largest.size.sides();
        let row = u64::from(batch.max(1)) * u64::from(width);
        let rows = u32::try_from(own(largest).div_ceil(row)).unwrap_or_else(|_| height.into());
        let pictures = largest.places / ranks.max(1);
        let name = self.name(class);
        match &self.form {
            StepForm::Buckets(BucketSettings { name: rule, .. }) => {
                tracing::info!(rule, bucket = name, pictures, "this bucket decides the room of a batch");
            }
            StepForm::Patches(PatchSettings { name: rule, .. }) => {
                tracing::info!(rule, patches = name, pictures, "this length decides the room of a batch");
            }
            StepForm::Ragged { .. } => unreachable!("ragged pictures have said so"),
        }
        (rows.max(1), width.into())
    }

    /// What a class is called: its size, or its length.
    fn name(&self, class: usize) -> String {
        let (height, width) = self.steps[class].size.sides();
        if self.form.buckets().is_some() { format!("{height}x{width}") } else { height.to_string() }
    }

    /// Says in the log what an epoch has in vain.
    pub(crate) fn report(&self, stream: &str, layout: &forebay_plan::ClassLayout) {
        if self.is_ragged() {
            // Empty places cost nothing.
            return;
        }
        let shares = layout.shares();
        let buckets = self.steps.iter().zip(&shares).enumerate().filter(|_| self.form.buckets().is_some());
        for (class, (StreamStep { places, .. }, share)) in buckets {
            if (1..u64::from(*places)).contains(&share.turns) {
                let bucket = self.name(class);
                tracing::info!(stream, bucket, turns = share.turns, places, "a bucket fills no step");
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

    /// Height and width of a record's result, if each picture has a size of its own. Nothing too where it is not known: such a record
    /// is not read.
    pub(crate) fn shown(&self, record: u64) -> Option<(u32, u32)> {
        self.ragged.as_ref()?.shown(&self.sizes, record)
    }

    /// Whether each picture has a size of its own.
    pub(crate) fn is_ragged(&self) -> bool {
        self.ragged.is_some()
    }

    /// What becomes of the picture of a record in a step of a class, in a place of just its size.
    pub(crate) fn recipe_of(&self, class: usize, record: u64) -> Recipe {
        let recipe = self.recipe(class);
        let own = self.shown(record).and_then(|(height, width)| recipe.in_step(height, width).ok());
        own.unwrap_or_else(|| Recipe::clone(recipe))
    }

    /// What is wrong with a picture that was made of this, if its size is not the one that is known of it.
    pub(crate) fn check(&self, record: u64, origin: &Origin) -> Result<(), Reason> {
        let Some(known) = self.sizes.get(record) else { return Ok(()) };
        let (width, height) = origin.annotated(Annotated::AsSeen);
        if (height, width) == (known.height, known.width) {
            return Ok(());
        }
        Err(Reason::Size { known: (known.height, known.width), found: (height, width) })
    }

    /// How many patches the pictures with these draws have in a step of a class. 0 if that is not known of all of their records.
    pub(crate) fn tokens(&self, class: usize, pictures: impl Iterator<Item = (u64, Draw)>) -> u64 {
        let Some(patches) = self.recipe(class).patches().filter(|_| !self.sizes.is_empty()) else { return 0 };
        let tokens = |(record, draw)| {
            let size = self.sizes.get(record)?;
            // A picture that the rule refuses has no patches.
            Some(patches.drawn_grid((size.height, size.width), draw).map_or(0, PatchGrid::tokens))
        };
        pictures.map(tokens).sum::<Option<u64>>().unwrap_or(0)
    }
}

/// Says in the log that records are left out: how many, and the first of them.
///
/// # Errors
/// The stream fails at the first bad record.
fn leave_out(source: &dyn Source, on_error: OnError, without: Option<(u64, u64)>) -> Result<(), ClassError> {
    let Some((records, first)) = without else { return Ok(()) };
    let first = source.locator(first).to_string();
    if on_error == OnError::Fail {
        return Err(ClassError::Without { records, first });
    }
    tracing::warn!(records, first, "records have no bucket, and are left out");
    Ok(())
}

/// The bucket of each record that is read, and the steps of each bucket.
fn of_buckets(
    source: &dyn Source,
    on_error: OnError,
    settings: &BucketSettings,
    sizes: &Sizes,
) -> Result<(Vec<u16>, Vec<StreamStep>), ClassError> {
    let found = FoundBuckets::of(source, sizes, settings);
    leave_out(source, on_error, found.without)?;
    let step = |bucket: &Bucket| -> Result<StreamStep, ClassError> {
        let places = u32::try_from(settings.steps.places(*bucket)?).unwrap_or(u32::MAX);
        let size = size_of(*bucket).expect("a bucket without such a size has no record");
        Ok(StreamStep { size, places, recipe: None })
    };
    let steps = found.buckets.iter().map(step).collect::<Result<Vec<_>, _>>()?;
    Ok((found.classes, steps))
}

/// How many turns each source has.
fn shares(classes: &[u16], members: &[Member], repeats: u32) -> Vec<SourceShare> {
    let mut start = 0;
    let share = |member: &Member| {
        let end = start + usize::try_from(member.records).unwrap_or(usize::MAX);
        let own = classes.get(start..end.min(classes.len())).unwrap_or_default();
        start = end;
        let with_class = own.iter().filter(|class| **class != ClassTable::NONE).count() as u64;
        SourceShare { records: member.records, positions: with_class * u64::from(repeats), name: member.name.clone() }
    };
    members.iter().map(share).collect()
}

fn pixels(size: PictureSize) -> u64 {
    let (height, width) = size.sides();
    u64::from(height) * u64::from(width)
}

/// A bucket as a ring has it, if its sides are not longer than a ring knows.
fn size_of(Bucket { height, width }: Bucket) -> Option<PictureSize> {
    let side = |side: u32| u16::try_from(side).ok();
    PictureSize::of_offer(side(height)?, side(width)?).ok().flatten()
}
