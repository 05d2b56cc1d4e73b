//! One stream's access to the decode pool: what all of its pictures have in common, and the channel that returns their
//! outcomes.

use std::sync::Arc;

use crossbeam_channel as channel;
use forebay_pixels::{Draw, Mosaics, Recipe};
use forebay_proto::Turn;

use crate::cache::Cache;
use crate::decode::Pool;
use crate::decode::job::DecodeJob;
use crate::decode::masks::Masks;
use crate::decode::outcomes::{Done, Outcomes};
use crate::decode::views::Views;
use crate::place::{At, PlaceRight};
use crate::prefetch::Buffer;
use crate::seek::SeekStore;

/// A stream's handle to the pool. Whoever has it says of a picture only where its bytes are, where its pixels go, and which
/// record it is.
#[derive(Debug)]
pub(crate) struct Decoding {
    pool: Arc<Pool>,
    recipe: Arc<Recipe>,
    /// The further views.
    views: Arc<Views>,
    /// The mosaics of the recipe, if it has some.
    mosaics: Option<Arc<Mosaics>>,
    /// Seed of the random choices.
    seed: u64,
    /// The masks that are decoded with the pictures.
    masks: Arc<Masks>,
    /// Where decoded pictures are kept.
    cache: Option<Arc<Cache>>,
    /// Where seek points are kept.
    seek: Option<Arc<SeekStore>>,
    /// The GPU whose lanes decode, where the stream is bound to one.
    gpu: Option<i32>,
    outcomes: Outcomes,
}

impl Decoding {
    /// By this pool and recipe, with these random choices; no picture is under way yet.
    pub(crate) fn new(
        pool: Arc<Pool>,
        (recipe, views): (Arc<Recipe>, Arc<Views>),
        seed: u64,
        masks: Arc<Masks>,
        (cache, seek): (Option<Arc<Cache>>, Option<Arc<SeekStore>>),
        gpu: Option<i32>,
    ) -> Self {
        let mosaics = Mosaics::of(&recipe).map(Arc::new);
        Self { pool, recipe, views, mosaics, seed, masks, cache, seek, gpu, outcomes: Outcomes::default() }
    }

    /// Sends a record's content on its way into this place. What becomes of it is among the outcomes later, with the right to
    /// the place.
    pub(crate) fn decode(&self, at: At, place: PlaceRight, content: Buffer, epoch: u64, turn: Turn) {
        self.pool.decode(DecodeJob {
            at,
            content,
            masks: Arc::clone(&self.masks),
            cache: self.cache.clone(),
            seek: self.seek.clone(),
            place,
            recipe: Arc::clone(&self.recipe),
            views: Arc::clone(&self.views),
            mosaics: self.mosaics.clone(),
            record: turn.record(),
            draw: Draw { seed: self.seed, epoch, record: turn.key() },
            gpu: self.gpu,
            origin: None,
            is_made: false,
            reporter: self.outcomes.expect(at.0),
        });
    }

    /// Gets a token when outcomes are worth a look, as [`Outcomes::news`] says.
    pub(crate) fn news(&self) -> &channel::Receiver<()> {
        self.outcomes.news()
    }

    /// Takes the outcomes that there are into `into`, which is empty.
    pub(crate) fn take(&self, into: &mut Vec<Done>) {
        self.outcomes.take(into);
    }
}
