//! Makes one record's picture in its place, with its views, masks and mosaic. A thread of the pool does that, and so does a child
//! process: both give the same bytes.

use std::sync::Arc;

use forebay_pixels::{Draw, Fault, Limits, Mosaics, Origin, Recipe, probe_page};

use crate::cache::{Cache, Keep};
use crate::decode::budget::Budget;
use crate::decode::masks::{MadePicture, MaskThread, Masks};
use crate::decode::mosaic::{MosaicThread, OwnPicture};
use crate::decode::views::{FurtherViews, Views};
use crate::decode::{Decode, MakeDecode, Picture};
use crate::mosaic::{MosaicContent, Partners};
use crate::place::PlaceRight;
use crate::reason::Reason;
use crate::record::{Input, KeptRecord};
use crate::seek::SeekStore;
use crate::step_lists::{AwaitsMaking, Beginning};

/// What one thread makes pictures with.
pub(crate) struct PictureMaker {
    decode: Decode,
    masks: MaskThread,
    mosaics: MosaicThread,
    memory: Arc<Budget>,
}

/// What is to be made.
#[derive(Clone, Copy, Debug)]
pub(super) struct PictureOrder<'a> {
    /// The record's content, with its masks.
    pub content: Input<'a>,
    /// The mosaics of the stream, and what was read for this one.
    pub mosaic: Option<(&'a Mosaics, &'a MosaicContent)>,
    pub masks: &'a Masks,
    pub views: &'a Views,
    pub cache: Option<&'a Cache>,
    pub seek: Option<&'a SeekStore>,
    pub recipe: &'a Recipe,
    /// Number of the record.
    pub record: u64,
    pub draw: Draw,
    /// A lane of a GPU has made the picture of this. Its masks are left.
    pub made: Option<Origin>,
}

/// What carries out transforms behind a function in Python.
pub(crate) struct BehindStep<'a> {
    pub decode: &'a mut Decode,
    pub masks: &'a mut MaskThread,
}

impl BehindStep<'_> {
    /// Carries them out on a picture.
    ///
    /// # Errors
    /// The record is bad.
    pub(crate) fn make(
        &mut self,
        picture: &KeptRecord,
        recipe: &Recipe,
        (record, draw): (u64, Draw),
        out: &mut [u8],
    ) -> Result<(), Fault> {
        let (input, further) = (Input::Picture(picture), FurtherViews::default());
        let picture = Picture { input, behind: &[], cache: None, seek: None, recipe, record, draw, out, further };
        (self.decode)(picture).map(drop)
    }
}

/// What a recipe will be carried out on, as the header of a picture says before it is decoded.
///
/// # Errors
/// The header cannot be read, or the picture is above the limits.
pub(crate) fn origin_before(
    input: Input<'_>,
    (recipe, cache): (&Recipe, Option<&Cache>),
    limits: &Limits,
) -> Result<Origin, Fault> {
    let bytes = match input {
        Input::Picture(kept) => return Ok(kept.picture.origin),
        Input::File(bytes) => bytes,
    };
    let probe = probe_page(bytes, recipe.input().page)?;
    probe.check(limits)?;
    let form = cache.and_then(|cache| match cache.keep() {
        Keep::Decoded(form) => Some(form),
        Keep::Encoded => None,
    });
    Ok(probe.origin_before(recipe.input(), form))
}

impl PictureMaker {
    pub(super) fn new(make: &MakeDecode, limits: Limits, memory: &Arc<Budget>) -> Self {
        let (masks, mosaics) = (MaskThread::new(limits), MosaicThread::default());
        Self { decode: make(), masks, mosaics, memory: Arc::clone(memory) }
    }

    /// Makes it. Gives what it was made of, and the same of the pictures beside it in a mosaic. If its stream has functions in
    /// Python, `beginning` has what is done before them, and where the results go. All else goes to its place.
    ///
    /// # Errors
    /// The record is bad.
    pub(super) fn make(
        &mut self,
        order: PictureOrder<'_>,
        beginning: Option<Beginning<'_>>,
        place: &mut PlaceRight,
    ) -> Result<(Origin, Option<Box<Partners>>), Reason> {
        let PictureOrder { content, mosaic, masks, views, cache, seek, recipe, record, draw, made } = order;
        let (input, behind) = (masks.picture(content), masks.behind(content));
        let mut beginning = beginning;
        let origin = if let Some(origin) = made {
            origin
        } else {
            let (mut out, mut others) = place.with_views(&views.columns);
            let (mut recipe, mut begun) = (recipe, Vec::new());
            if let Some(beginning) = &mut beginning {
                if beginning.has_views() {
                    begun.clone_from(&views.views);
                }
                (recipe, out) = beginning.replace((recipe, out), (&mut begun, &mut others));
            }
            let of_views = if begun.is_empty() { &views.views } else { &begun };
            let further = FurtherViews { views: of_views, out: &mut others[..of_views.len()] };
            (self.decode)(Picture { input, behind, cache, seek, recipe, record, draw, out, further })?
        };
        for column in &views.columns {
            *place.column(*column).0 = 1;
        }
        for AwaitsMaking { recipe, draw, masks: numbers, .. } in beginning.iter_mut().flat_map(Beginning::awaiting) {
            self.masks.numbers(masks, behind, MadePicture { origin: &origin, recipe, draw }, &self.memory, numbers)?;
        }
        if !beginning.is_some_and(|beginning| beginning.calls_for_images()) {
            self.masks.write(masks, behind, MadePicture { origin: &origin, recipe, draw }, &self.memory, place)?;
        }
        let Some((mosaics, content)) = mosaic else { return Ok((origin, None)) };
        let own = OwnPicture { mosaics, content, record, draw };
        let partners = self.mosaics.write(&mut self.decode, own, (masks, &mut self.masks), &self.memory, place)?;
        Ok((origin, partners))
    }

    /// What carries out on a picture and its masks what is behind a function in Python.
    pub(super) fn behind_step(&mut self) -> BehindStep<'_> {
        BehindStep { decode: &mut self.decode, masks: &mut self.masks }
    }
}
