//! Replay: what training saw of a record before mixing, made again without a stream (semantics rule 51).

use std::sync::Arc;

use forebay_pixels::{Draw, MOST_VIEWS, Mosaics, Plan, Recipe, View};
use forebay_proto::Turn;
use forebay_sources::{ReadError, ReaderFolders, Source};
use thiserror::Error;

use crate::box_column::{self, NoBoxes};
use crate::cache::Cache;
use crate::declared_columns::with_declared;
use crate::decode::Picture;
use crate::decode::budget::Budget;
use crate::decode::cpu::{CpuLane, CpuShared};
use crate::decode::masks::Masks;
use crate::decode::mosaic::{MosaicPixels, MosaicThread, OwnPicture};
use crate::decode::steps::StepError;
use crate::decode::steps::replayed::ReplayedSteps;
use crate::decode::views::FurtherViews;
use crate::follow::{self, FollowSettings, NotFollowed};
use crate::mosaic::{MosaicContent, MosaicReads};
use crate::record::{EpochTurn, FailedRead, Input};
use crate::settings::{CacheKind, DecodeSettings, StreamSettings};
use crate::step_lists::StepLists;
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

/// Makes all views of a turn of a record again, with the bytes that the CPU lane gives. Functions in Python are called in a child
/// process, and `readers` says where they may be.
///
/// # Errors
/// There is no such record, or it is bad, or a function cannot be called.
pub fn replay(
    source: &Arc<dyn Source>,
    settings: &StreamSettings,
    (decode, readers): (&DecodeSettings, &ReaderFolders),
    epoch: u64,
    turn: Turn,
) -> Result<Vec<ReplayedView>, ReplayError> {
    let (record, records) = (turn.record(), source.len());
    if record >= records {
        return Err(ReplayError::NoRecord { record, records });
    }
    let StreamSettings { seed, cache, annotated, .. } = settings;
    let mosaics = Mosaics::of(&settings.recipe).map(Arc::new);
    let locator = |record| source.locator(record).to_string();
    let mut own = Vec::new();
    // The source limits each record by itself. There is no budget that the records of a mosaic share.
    let read = if let Some(mosaics) = &mosaics {
        let reads = MosaicReads::new(Arc::clone(mosaics), *seed);
        reads.read(source.as_ref(), EpochTurn { epoch, turn }, u64::MAX, own, |_partner| true)
    } else {
        let read = source.read(record, u64::MAX, &mut own).map(|()| MosaicContent::alone(own));
        read.map_err(|error| FailedRead::at(record, error))
    };
    let content = read.map_err(|FailedRead { record, error }| ReplayError::Read { locator: locator(record), error })?;
    let recipe = &box_column::bound(&settings.recipe, source, *annotated)?;
    let bound = |view: &View| {
        Ok(View { name: view.name.clone(), recipe: box_column::bound(&view.recipe, source, *annotated)? })
    };
    let views = &settings.views.iter().map(bound).collect::<Result<Vec<_>, NoBoxes>>()?;
    let draw = Draw { seed: *seed, epoch, record: turn.key() };
    let mut steps = steps(source, settings, (recipe, views), readers)?;
    let further = views.iter().map(|view| (view.name.as_str(), &view.recipe, draw.of_view(&view.name)));
    let each: Vec<(&str, &Recipe, Draw)> = std::iter::once(("images", recipe, draw)).chain(further).collect();
    let made = each.iter().map(|&(name, recipe, _)| ReplayedView {
        name: name.to_owned(),
        recipe: recipe.clone(),
        bytes: vec![0; recipe.place_len()],
        plan: Plan::default(),
    });
    let mut made: Vec<ReplayedView> = made.collect();
    // A cache of decoded pictures may shrink them, whether it has room or not.
    let cache = cache.filter(|cache| cache.kind == CacheKind::Decoded).map(|cache| Cache::new(cache.keep(recipe), 0));
    let mut lane = CpuLane::maker(CpuShared::new(decode.limits, Arc::new(Budget::new(decode.memory.0)), decode.jpeg))();
    let (first, further) = made.split_first_mut().expect("images are always made");
    let mut out: [&mut [u8]; MOST_VIEWS] = Default::default();
    for (out, view) in out.iter_mut().zip(further) {
        *out = &mut view.bytes;
    }
    let (mut decoded, mut begun, mut awaiting) = (recipe, views.clone(), Vec::new());
    let mut first = first.bytes.as_mut_slice();
    if let Some(steps) = &steps {
        (decoded, first) = steps.begin(draw, &mut awaiting).replace((decoded, first), (&mut begun, &mut out));
    }
    let masks = Masks { of_source: source.masks().len(), ..Masks::default() };
    let picture = Picture {
        input: masks.picture(Input::File(content.own())),
        behind: &[],
        cache: cache.as_ref(),
        seek: None,
        recipe: decoded,
        record,
        draw,
        out: first,
        further: FurtherViews { views: &begun, out: &mut out[..views.len()] },
    };
    let bad = |cause: String| ReplayError::Picture { locator: locator(record), cause };
    let origin = lane(picture).map_err(|fault| bad(fault.to_string()))?;
    if let Some(steps) = &mut steps {
        let mut out: Vec<&mut [u8]> = made.iter_mut().map(|view| view.bytes.as_mut_slice()).collect();
        let played = steps.play((origin, awaiting), (record, draw, turn.repeat()), &mut lane, &mut out);
        played.map_err(|words| bad(words.trim_end_matches('.').to_owned()))?;
    }
    if let Some(mosaics) = mosaics.as_deref() {
        let own = OwnPicture { mosaics, content: &content, record, draw };
        let lay = |tile, pixels: &MosaicPixels| mosaics.lay(tile, &pixels.picture, &mut made[0].bytes);
        let outcome = MosaicThread::default().each(&mut lane, own, &masks, |_, _, _| Ok(()), lay);
        outcome.map_err(|reason| bad(reason.to_string()))?;
    }
    for (view, (_, recipe, draw)) in made.iter_mut().zip(each) {
        recipe.plan_into(&origin, draw, &mut view.plan);
    }
    Ok(made)
}

/// What calls the functions in Python of a recipe and of further views, if they have some.
fn steps(
    source: &Arc<dyn Source>,
    settings: &StreamSettings,
    (recipe, views): (&Recipe, &[View]),
    readers: &ReaderFolders,
) -> Result<Option<ReplayedSteps>, ReplayError> {
    let lists = StepLists::new(recipe, views);
    if lists.is_empty() {
        return Ok(None);
    }
    let StreamSettings { seed, annotated, min_visible, .. } = *settings;
    let (height, width, _) = recipe.shape();
    let targets = Targets::new(Arc::clone(source), settings.columns.as_deref(), (height, width))?;
    follow::can_follow(targets.schema(), recipe)?;
    let targets = with_declared(targets, recipe)?;
    let follow = FollowSettings { recipe: Arc::new(recipe.clone()), seed, annotated, min_visible };
    let columns = targets.of_steps(follow, &lists);
    Ok(ReplayedSteps::open(lists, columns, &settings.steps, readers)?)
}
