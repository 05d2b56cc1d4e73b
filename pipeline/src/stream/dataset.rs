//! What a stream reads: a source, the order of its records, and what is kept of them: in a cache, and of seek points.

use std::sync::Arc;

use forebay_pixels::Recipe;
use forebay_plan::Plan;
use forebay_sources::{Locator, Source};

use crate::cache::Cache;
use crate::classes::StreamClasses;
use crate::seek::SeekStore;
use crate::selected;
use crate::targets::Targets;

/// The dataset of a stream.
#[derive(Clone, Debug)]
pub(super) struct Dataset {
    /// What the user calls it.
    name: String,
    source: Arc<dyn Source>,
    plan: Arc<Plan>,
    cache: Option<Arc<Cache>>,
    seek: Option<Arc<SeekStore>>,
    recipe: Arc<Recipe>,
    targets: Targets,
    classes: Option<Arc<StreamClasses>>,
}

impl Dataset {
    pub(super) fn new(
        name: String,
        source: Arc<dyn Source>,
        plan: Plan,
        (cache, seek): (Option<Arc<Cache>>, Option<Arc<SeekStore>>),
        (recipe, targets): (Recipe, Targets),
        classes: Option<Arc<StreamClasses>>,
    ) -> Self {
        Self { name, source, plan: Arc::new(plan), cache, seek, recipe: Arc::new(recipe), targets, classes }
    }

    /// What the user calls it.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// How many records it has.
    pub(super) fn records(&self) -> u64 {
        self.source.len()
    }

    /// How many of its records are read.
    pub(super) fn selected(&self) -> u64 {
        selected::count(self.source.as_ref())
    }

    /// Where a record comes from, if there is one with this number.
    pub(super) fn locator(&self, record: u64) -> Option<Locator> {
        (record < self.records()).then(|| self.source.locator(record))
    }

    pub(super) fn source(&self) -> &Arc<dyn Source> {
        &self.source
    }

    /// Which record has which place of an epoch.
    pub(super) fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// What becomes of its pictures, with its boxes if the recipe draws by them.
    pub(super) fn recipe(&self) -> &Arc<Recipe> {
        &self.recipe
    }

    /// The columns of a batch that come from it.
    pub(super) fn targets(&self) -> &Targets {
        &self.targets
    }

    /// The classes of its steps, if they have some.
    pub(super) fn classes(&self) -> Option<&Arc<StreamClasses>> {
        self.classes.as_ref()
    }

    pub(super) fn cache(&self) -> Option<&Arc<Cache>> {
        self.cache.as_ref()
    }

    /// Where the seek points of its pictures are kept.
    pub(super) fn seek(&self) -> Option<&Arc<SeekStore>> {
        self.seek.as_ref()
    }
}
