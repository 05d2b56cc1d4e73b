//! A decoder's side: makes pictures of the records of a stream whose daemon is elsewhere. The bytes are those of the CPU lane.

use std::fmt;
use std::sync::Arc;

use forebay_pixels::{Draw, Limits, MOST_VIEWS, Mosaics, Origin, Recipe, View};
use forebay_proto::Turn;
use forebay_sources::Source;

use crate::decode::budget::Budget;
use crate::decode::cpu::{CpuLane, CpuShared};
use crate::decode::panic::caught;
use crate::decode::views::FurtherViews;
use crate::decode::{Decode, Picture};
use crate::record::Input;
use crate::settings::{JpegDecoder, StepForm, StreamSettings};
use crate::step_lists::StepLists;

/// What of a stream no decoder on another machine makes, in words, if it has something of the kind.
pub fn not_remote(settings: &StreamSettings, source: &dyn Source) -> Option<&'static str> {
    let recipes = || std::iter::once(&settings.recipe).chain(settings.views.iter().map(|view| &view.recipe));
    let has = [
        (settings.form.as_ref().map_or("", StepForm::key), settings.form.is_some()),
        ("a cache", settings.cache.is_some()),
        ("mosaics", recipes().any(|recipe| Mosaics::of(recipe).is_some())),
        ("functions in Python", !StepLists::new(&settings.recipe, &settings.views).is_empty()),
        ("transforms that draw by boxes", recipes().any(|recipe| recipe.drawing_by_boxes().is_some())),
        ("masks", !source.masks().is_empty()),
    ];
    has.into_iter().find(|(_, has)| *has).map(|(what, _)| what)
}

/// Bytes of a record's picture and its views.
pub fn answer_len(settings: &StreamSettings) -> u64 {
    let views = settings.views.iter().map(|view| view.recipe.place_len());
    (settings.recipe.place_len() + views.sum::<usize>()) as u64
}

/// The pictures of one stream.
#[derive(Debug)]
pub struct RemotePictures {
    recipe: Recipe,
    views: Vec<View>,
    seed: u64,
    limits: Limits,
    len: usize,
}

/// What the threads of a decoder share.
#[derive(Clone, Debug)]
pub struct RemoteThreads(CpuShared);

/// Makes pictures on one thread.
pub struct PictureThread {
    shared: CpuShared,
    /// What decodes within these limits. Most daemons have the same.
    lane: Option<(Limits, Decode)>,
}

impl RemotePictures {
    /// As a stream of these settings and limits makes them.
    pub fn new(settings: &StreamSettings, limits: Limits) -> Self {
        let len = usize::try_from(answer_len(settings)).unwrap_or(usize::MAX);
        let (recipe, views) = (settings.recipe.clone(), settings.views.clone());
        Self { recipe, views, seed: settings.seed, limits, len }
    }

    /// Bytes of a picture with its views.
    pub fn answer_len(&self) -> usize {
        self.len
    }
}

impl RemoteThreads {
    /// Threads with so much memory for decoding. A picture that needs more is decoded alone.
    pub fn new(memory: u64) -> Self {
        Self(CpuShared::new(Limits::default(), Arc::new(Budget::new(memory)), JpegDecoder::Auto))
    }

    /// One of them.
    pub fn thread(&self) -> PictureThread {
        PictureThread { shared: self.0.clone(), lane: None }
    }
}

impl PictureThread {
    /// Makes the picture of a record of this content, and behind it its views.
    ///
    /// # Errors
    /// What is wrong with the picture, in words.
    pub fn make(
        &mut self,
        of: &RemotePictures,
        content: &[u8],
        (epoch, turn): (u64, Turn),
    ) -> Result<(Vec<u8>, Origin), String> {
        let RemotePictures { recipe, views, seed, limits, len } = of;
        let draw = Draw { seed: *seed, epoch, record: turn.key() };
        if self.lane.as_ref().is_none_or(|(of, _)| of != limits) {
            let shared = CpuShared { limits: *limits, ..self.shared.clone() };
            self.lane = Some((*limits, CpuLane::maker(shared)()));
        }
        let Some((_, lane)) = &mut self.lane else { unreachable!("it was made just now") };
        let mut bytes = vec![0; *len];
        let (out, mut rest) = bytes.split_at_mut(recipe.place_len());
        let mut others: [&mut [u8]; MOST_VIEWS] = Default::default();
        for (other, view) in others.iter_mut().zip(views) {
            (*other, rest) = rest.split_at_mut(view.recipe.place_len());
        }
        let picture = Picture {
            input: Input::File(content),
            behind: &[],
            cache: None,
            seek: None,
            recipe,
            record: turn.record(),
            draw,
            out,
            further: FurtherViews { views, out: &mut others[..views.len()] },
        };
        let made = caught(|| lane(picture));
        if made.is_err() {
            // Its state may be broken.
            self.lane = None;
        }
        let origin = made.map_err(|panic| panic.to_string())?.map_err(|fault| fault.to_string())?;
        Ok((bytes, origin))
    }
}

impl fmt::Debug for PictureThread {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PictureThread").field("shared", &self.shared).finish_non_exhaustive()
    }
}
