//! What all pictures of a stream have in common: what becomes of each, and where it is kept.

use std::sync::Arc;

use forebay_pixels::{Mosaics, Recipe};

use super::stepping::StepCalls;
use crate::cache::Cache;
use crate::decode::masks::Masks;
use crate::decode::views::Views;
use crate::seek::SeekStore;

/// How the pictures of a stream are made.
#[derive(Debug)]
pub(crate) struct StreamPictures {
    /// What becomes of each.
    pub recipe: Arc<Recipe>,
    /// What else becomes of it.
    pub views: Arc<Views>,
    /// The mosaics of the recipe, if it has some. The content of a picture then has that of its partners.
    pub mosaics: Option<Mosaics>,
    /// The children that call the recipe's functions in Python, if it has some.
    pub steps: Option<Arc<dyn StepCalls>>,
    /// The masks that are decoded with the pictures.
    pub masks: Arc<Masks>,
    /// Where decoded pictures are kept.
    pub cache: Option<Arc<Cache>>,
    /// Where seek points are kept.
    pub seek: Option<Arc<SeekStore>>,
    /// The GPU whose lanes decode, where the stream is bound to one.
    pub gpu: Option<i32>,
}

impl StreamPictures {
    /// Pictures of this recipe, without masks or further views, that are kept nowhere.
    pub(crate) fn of(recipe: Arc<Recipe>) -> Self {
        let mosaics = Mosaics::of(&recipe);
        Self {
            recipe,
            views: Arc::default(),
            mosaics,
            steps: None,
            masks: Arc::default(),
            cache: None,
            seek: None,
            gpu: None,
        }
    }
}
