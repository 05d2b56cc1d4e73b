//! Replay: what training saw of a record before mixing, made again without a stream (semantics rule 51).

use std::fmt;
use std::sync::Arc;

use forebay_pixels::{Draw, Limits, MOST_VIEWS, Mosaics, Origin, Plan, Recipe, View};
use forebay_plan::{Plan as EpochPlan, SpecError};
use forebay_proto::Turn;
use forebay_sources::{ReadError, ReaderFolders, Source};
use thiserror::Error;

use crate::box_column::{self, NoBoxes};
use crate::cache::Cache;
use crate::classes::{ClassError, StreamClasses};
use crate::declared_columns::with_declared;
use crate::decode::budget::Budget;
use crate::decode::cpu::{CpuLane, CpuShared};
use crate::decode::maker::{BehindStep, origin_before};
use crate::decode::masks::{MadePicture, MaskThread, Masks};
use crate::decode::mosaic::{MosaicPixels, MosaicThread, OwnPicture};
use crate::decode::steps::StepError;
use crate::decode::steps::replayed::ReplayedSteps;
use crate::decode::views::FurtherViews;
use crate::decode::{Decode, Picture};
use crate::follow::{self, FollowSettings, NotFollowed};
use crate::mosaic::{MosaicContent, MosaicReads};
use crate::record::{EpochTurn, FailedRead, Input};
use crate::settings::{CacheKind, DecodeSettings, StreamSettings};
use crate::step_lists::{AwaitsMaking, Beginning, StepLists};
use crate::stream::StreamOrder;
use crate::targets::{Targets, UnknownColumn};

/// One view of a record.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayedView {
    /// Its name: `images`, or that of a further view.
    pub name: String,
    /// What was made of the picture, and the form of its values.
    pub recipe: Recipe,
    /// Its bytes, as in a batch. Floats are little-endian.
    pub bytes: Vec<u8>,
    /// What was drawn for it.
    pub plan: Plan,
    /// What it was made of. None for a mosaic, which is made of several pictures.
    pub origin: Option<Origin>,
}

impl ReplayedView {
    /// Height, width and channels of what its bytes are. Of patches, they are those of their rows.
    pub fn shape(&self) -> (u32, u32, u32) {
        let (height, width, channels) = self.recipe.shape();
        // The place of a ragged picture has no sides.
        if self.recipe.is_ragged() { (self.plan.height, self.plan.width, channels) } else { (height, width, channels) }
    }
}

/// Why a record cannot be replayed.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// The dataset has fewer records.
    #[error("there is no record {record}: the dataset has {records} records, numbered from 0")]
    NoRecord {
        /// The record's number.
        record: u64,
        /// Records of the dataset.
        records: u64,
    },
    /// A transform needs boxes.
    #[error("{0}")]
    NoBoxes(#[from] NoBoxes),
    /// Its steps have no classes.
    #[error("{0}")]
    Classes(#[from] ClassError),
    /// Its epochs have no order.
    #[error("{0}")]
    Order(#[from] SpecError),
    /// No batch has the record.
    #[error("{locator} is in no bucket: its size is not known, the rule has none for it, or max_crop is exceeded")]
    NoBucket {
        /// Where the record is.
        locator: String,
    },
    /// A column is not there.
    #[error("{0}")]
    Columns(#[from] UnknownColumn),
    /// A column cannot follow a function in Python.
    #[error("{0}")]
    NotFollowed(#[from] NotFollowed),
    /// A function in Python cannot be called.
    #[error("{0}")]
    Steps(#[from] StepError),
    /// It cannot be read.
    #[error("{locator}: {error}")]
    Read {
        /// Where the record is.
        locator: String,
        /// What is wrong with it.
        error: Box<ReadError>,
    },
    /// Its picture is bad.
    #[error("{locator}: {cause}")]
    Picture {
        /// Where the record is.
        locator: String,
        /// What is wrong with it.
        cause: String,
    },
}

/// Makes records of a dataset again, with the bytes that the CPU lane gives. Functions in Python are called in a child process, which
/// lives as long as this.
pub struct Replay<'a> {
    source: &'a Arc<dyn Source>,
    settings: &'a StreamSettings,
    recipe: Recipe,
    views: Vec<View>,
    /// The buckets of the pictures, and the order of the epochs, which decides about the bucket of a turn.
    classes: Option<(StreamClasses, EpochPlan)>,
    mosaics: Option<MosaicReads>,
    steps: Option<ReplayedSteps>,
    cache: Option<Cache>,
    limits: Limits,
    lane: Decode,
    mask_thread: MaskThread,
    memory: Arc<Budget>,
}

impl<'a> Replay<'a> {
    /// As a stream of these settings does. `readers` says where functions in Python may be.
    ///
    /// # Errors
    /// The dataset does not have what the stream needs, or a function cannot be called.
    pub fn new(
        source: &'a Arc<dyn Source>,
        settings: &'a StreamSettings,
        (decode, readers): (&DecodeSettings, &ReaderFolders),
    ) -> Result<Self, ReplayError> {
        let bound = |recipe: &Recipe| box_column::bound(recipe, source, settings.annotated);
        let recipe = bound(&settings.recipe)?;
        let further = settings.views.iter();
        let further = further.map(|view| Ok(View { name: view.name.clone(), recipe: bound(&view.recipe)? }));
        let views = further.collect::<Result<Vec<_>, NoBoxes>>()?;
        let steps = steps(source, settings, (&recipe, &views), (readers, &decode.limits))?;
        // A cache of decoded pictures may shrink them, whether it has room or not.
        let cache = settings.cache.filter(|cache| cache.kind == CacheKind::Decoded);
        let cache = cache.map(|cache| Cache::new(cache.keep(&recipe), 0));
        let memory = Arc::new(Budget::new(decode.memory.0));
        let lane = CpuLane::maker(CpuShared::new(decode.limits, Arc::clone(&memory), decode.jpeg))();
        let mask_thread = MaskThread::new(decode.limits);
        let mosaics = Mosaics::of(&settings.recipe).map(|mosaics| {
            MosaicReads::new(Arc::new(mosaics), settings.seed, source.as_ref()).map_err(SpecError::from)
        });
        let mosaics = mosaics.transpose()?;
        let classes = StreamClasses::new(source.as_ref(), settings)?.map(|classes| -> Result<_, ReplayError> {
            let classes = classes.with_recipes(&recipe)?;
            // Ranks share the steps, so they decide about no bucket.
            let plan = StreamOrder::new(source.as_ref(), settings, None, Some(&classes))?.plan()?;
            Ok((classes, plan))
        });
        let classes = classes.transpose()?;
        let limits = decode.limits;
        Ok(Self { source, settings, recipe, views, classes, mosaics, steps, cache, limits, lane, mask_thread, memory })
    }

    /// Makes all views of a turn of a record again.
    ///
    /// # Errors
    /// There is no such record, or it is bad.
    pub fn turn(&mut self, epoch: u64, turn: Turn) -> Result<Vec<ReplayedView>, ReplayError> {
        let Self { source, settings, recipe, views, classes, mosaics, steps, cache, .. } = self;
        let Self { limits, lane, mask_thread, memory, .. } = self;
        let (record, records, seed) = (turn.record(), source.len(), settings.seed);
        if record >= records {
            return Err(ReplayError::NoRecord { record, records });
        }
        let locator = |record| source.locator(record).to_string();
        let no_bucket = || ReplayError::NoBucket { locator: locator(record) };
        let of_step = classes.as_ref().map(|(classes, plan)| {
            Ok::<_, ReplayError>(classes.recipe_of(class(plan, epoch, turn).ok_or_else(no_bucket)?, record))
        });
        let of_step = of_step.transpose()?;
        let recipe = of_step.as_ref().unwrap_or(recipe);
        let content = content(source, mosaics.as_ref(), EpochTurn { epoch, turn })?;
        let draw = Draw { seed, epoch, record: turn.key() };
        let further = views.iter().map(|view| (view.name.as_str(), &view.recipe, draw.of_view(&view.name)));
        let each: Vec<(&str, &Recipe, Draw)> = std::iter::once(("images", recipe, draw)).chain(further).collect();
        let made = each.iter().map(|&(name, recipe, _)| ReplayedView {
            name: name.to_owned(),
            recipe: recipe.clone(),
            bytes: vec![0; recipe.place_len()],
            plan: Plan::default(),
            origin: None,
        });
        let mut made: Vec<ReplayedView> = made.collect();
        let (first, further) = made.split_first_mut().expect("images are always made");
        let mut out: [&mut [u8]; MOST_VIEWS] = Default::default();
        for (out, view) in out.iter_mut().zip(further) {
            *out = &mut view.bytes;
        }
        let (mut decoded, mut begun, mut awaiting) = (recipe, views.clone(), Vec::new());
        let mut first = first.bytes.as_mut_slice();
        // Only functions see the masks.
        let none = || Masks { of_source: source.masks().len(), ..Masks::default() };
        let masks = steps.as_ref().map_or_else(none, |steps| steps.masks().clone());
        let input = masks.picture(Input::File(content.own()));
        let bad = |cause: String| ReplayError::Picture { locator: locator(record), cause };
        let origin = || origin_before(input, (recipe, cache.as_ref()), limits);
        let beginning = steps.as_ref().map(|steps| steps.begin(draw, &origin, &mut awaiting)).transpose();
        let mut beginning = beginning.map_err(|fault| bad(fault.to_string()))?;
        if let Some(beginning) = &mut beginning {
            (decoded, first) = beginning.replace((decoded, first), (&mut begun, &mut out));
        }
        let picture = Picture {
            input,
            behind: &[],
            cache: cache.as_ref(),
            seek: None,
            recipe: decoded,
            record,
            draw,
            out: first,
            further: FurtherViews { views: &begun, out: &mut out[..views.len()] },
        };
        let origin = lane(picture).map_err(|fault| bad(fault.to_string()))?;
        for AwaitsMaking { recipe, draw, masks: numbers, .. } in beginning.iter_mut().flat_map(Beginning::awaiting) {
            let (of, behind) =
                (MadePicture { origin: &origin, recipe, draw }, masks.behind(Input::File(content.own())));
            let decoded = mask_thread.numbers(&masks, behind, of, memory, numbers);
            decoded.map_err(|reason| bad(reason.to_string()))?;
        }
        drop(beginning);
        if let Some(steps) = steps {
            let mut out: Vec<&mut [u8]> = made.iter_mut().map(|view| view.bytes.as_mut_slice()).collect();
            let behind = BehindStep { decode: lane, masks: mask_thread };
            let played = steps.play((origin, awaiting), (record, draw, turn.repeat()), behind, &mut out);
            played.map_err(|words| bad(words.trim_end_matches('.').to_owned()))?;
        }
        if let Some(mosaics) = mosaics.as_ref().map(MosaicReads::mosaics) {
            let own = OwnPicture { mosaics, content: &content, record, draw };
            let lay = |tile, pixels: &MosaicPixels| mosaics.lay(tile, &pixels.picture, &mut made[0].bytes);
            let outcome = MosaicThread::default().each(lane, own, &masks, |_, _, _| Ok(()), lay);
            outcome.map_err(|reason| bad(reason.to_string()))?;
        }
        for (view, (_, recipe, draw)) in made.iter_mut().zip(each) {
            recipe.plan_into(&origin, draw, &mut view.plan);
            view.origin = mosaics.is_none().then_some(origin);
        }
        Ok(made)
    }
}

impl fmt::Debug for Replay<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { recipe, views, steps, .. } = self;
        formatter
            .debug_struct("Replay")
            .field("recipe", recipe)
            .field("views", views)
            .field("steps", steps)
            .finish_non_exhaustive()
    }
}

/// The class of the step that has a turn, if one has it.
fn class(plan: &EpochPlan, epoch: u64, turn: Turn) -> Option<usize> {
    let (order, step) = (plan.epoch(epoch), plan.positions_of_step()?);
    let position = order.positions_of(turn.record()).find(|position| order.own(*position) == Some(turn))?;
    Some(order.step_class(position / step)?.class)
}

/// What a turn of a record is made of.
fn content(
    source: &Arc<dyn Source>,
    mosaics: Option<&MosaicReads>,
    of: EpochTurn,
) -> Result<MosaicContent, ReplayError> {
    let (record, mut own) = (of.turn.record(), Vec::new());
    // The source limits each record by itself. There is no budget that the records of a mosaic share.
    let read = if let Some(mosaics) = mosaics {
        mosaics.read(source.as_ref(), of, u64::MAX, own, |_partner| true)
    } else {
        let read = source.read(record, u64::MAX, &mut own).map(|()| MosaicContent::alone(own));
        read.map_err(|error| FailedRead::at(record, error))
    };
    read.map_err(|FailedRead { record, error }| ReplayError::Read {
        locator: source.locator(record).to_string(),
        error,
    })
}

/// What calls the functions in Python of a recipe and of further views, if they have some.
fn steps(
    source: &Arc<dyn Source>,
    settings: &StreamSettings,
    (recipe, views): (&Recipe, &[View]),
    (readers, limits): (&ReaderFolders, &Limits),
) -> Result<Option<ReplayedSteps>, ReplayError> {
    let lists = StepLists::new(recipe, views);
    if lists.is_empty() {
        return Ok(None);
    }
    let StreamSettings { seed, annotated, min_visible, mask_fill: fill, .. } = *settings;
    let (height, width, _) = recipe.shape();
    let targets = Targets::new(Arc::clone(source), settings.columns.as_deref(), (height, width))?;
    follow::can_follow(targets.schema(), recipe)?;
    let targets = with_declared(targets, recipe)?;
    let follow = FollowSettings { recipe: Arc::new(recipe.clone()), seed, annotated, min_visible };
    let columns = targets.of_steps(follow, &lists);
    let masks = Masks { annotated, fill, ..targets.masks().clone() };
    Ok(ReplayedSteps::open(lists, (columns, masks), (&settings.steps, readers), limits)?)
}
