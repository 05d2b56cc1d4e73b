//! What the pictures of a step have in common, if that differs from step to step, or that they have nothing in common: `buckets` or
//! `patches`.

use forebay_pipeline::settings::{CacheKind, Placement, Shuffle, StepForm, StreamSettings};
use forebay_pixels::{Mosaics, Recipe};

use super::super::table::Table;
use super::buckets::Buckets;
use super::patches::PatchKey;
use super::ragged::RaggedKey;

/// What one of the two keys says.
#[derive(Clone, Debug)]
pub(super) enum Form {
    Buckets(Buckets),
    Patches(PatchKey),
    Ragged(RaggedKey),
}

impl Form {
    /// Reads the keys. Each mistake is reported. Nothing if neither is there and right.
    pub(super) fn read(table: &mut Table<'_, '_>) -> Option<Self> {
        if table.has("buckets") && table.has("patches") {
            table.mistake("patches", "cannot be combined with buckets; give one of the two.");
        }
        let ragged = RaggedKey::read(table);
        let buckets = if ragged.is_none() { Buckets::read(table) } else { None };
        let patches = PatchKey::read(table);
        let of_sizes = ragged.map(Self::Ragged).or_else(|| buckets.map(Self::Buckets));
        of_sizes.or_else(|| patches.map(Self::Patches))
    }

    /// The key.
    pub(super) fn key(&self) -> &'static str {
        match self {
            Self::Buckets(_) | Self::Ragged(_) => "buckets",
            Self::Patches(_) => "patches",
        }
    }

    /// What steps have a number of, so that the number of their pictures follows. Nothing if that is fixed.
    pub(super) fn budget(&self) -> Option<&'static str> {
        match self {
            Self::Buckets(buckets) => buckets.decide_batches().then_some("pixels"),
            Self::Patches(patches) => patches.decide_batches().then_some("tokens"),
            Self::Ragged(_) => None,
        }
    }

    /// Whether the number of pictures of a step is known to be a multiple of a number that the user gave.
    pub(super) fn has_divisor(&self) -> bool {
        match self {
            Self::Buckets(buckets) => buckets.has_divisor(),
            Self::Patches(patches) => patches.has_divisor(),
            Self::Ragged(ragged) => ragged.divisor.is_some(),
        }
    }

    /// Places of the largest step, on all `ranks` together. Without a budget, these are the `pictures` that were asked for.
    ///
    /// # Errors
    /// What is wrong with the steps.
    pub(super) fn most_places(&self, pictures: u32, ranks: u32) -> Result<u32, String> {
        match self {
            Self::Buckets(buckets) => buckets.most_places(pictures, ranks),
            Self::Patches(patches) => patches.most_places(pictures, ranks),
            Self::Ragged(ragged) => ragged.places(pictures),
        }
    }

    /// The settings of the stream, whose steps have so many pictures if there is no budget.
    pub(super) fn settings(&self, pictures: u32, ranks: u32) -> StepForm {
        match self {
            Self::Buckets(buckets) => StepForm::Buckets(buckets.settings(pictures, ranks)),
            Self::Patches(patches) => StepForm::Patches(patches.settings(pictures, ranks)),
            Self::Ragged(_) => StepForm::Ragged { places: pictures },
        }
    }
}

/// The recipe of a stream, or of its largest steps. Other steps only have other sizes.
pub(super) fn recipe(table: &mut Table<'_, '_>, shuffle: bool, form: Option<&Form>) -> Option<Recipe> {
    match form {
        Some(Form::Buckets(buckets)) => table.recipe_fitting(buckets.fit()),
        Some(Form::Patches(patches)) => table.recipe_fitting(patches.fit()),
        Some(Form::Ragged(_)) => table.recipe_fitting(RaggedKey::FIT),
        // With a mistake in it, the sizes would be missed.
        None if table.has("buckets") => table.recipe_fitting(Buckets::any_fit()),
        None if table.has("patches") => table.recipe_fitting(PatchKey::any_fit()),
        None => table.recipe(shuffle),
    }
}

/// Reports what cannot be combined with a form.
pub(super) fn refuse(table: &mut Table<'_, '_>, form: &StepForm, settings: &StreamSettings) {
    let (key, input) = (form.key(), settings.recipe.input());
    let is_of_buckets = form.buckets().is_some();
    let (of_ranks, of_last) = if form.is_ragged() {
        ("assignment = \"lockstep\" gives all ranks as many steps", "the epoch's last step has empty places")
    } else if is_of_buckets {
        ("assignment = \"lockstep\" gives all ranks steps of the same bucket", "leftovers of buckets decides this")
    } else {
        ("assignment = \"lockstep\" gives all ranks steps of the same length", "the epoch's last step has copies")
    };
    let of_mixing =
        if form.is_ragged() { "two pictures have other sizes" } else { "patches of two pictures are at other places" };
    let unfit = [
        ("views", !settings.views.is_empty(), "they have one size"),
        ("cache", settings.cache.is_some_and(|cache| cache.kind == CacheKind::Decoded), "keep = \"encoded\" can be"),
        ("weights", settings.weights.is_some(), "repeats can be"),
        ("num_shards", table.has("num_shards"), of_ranks),
        ("shuffle", matches!(settings.shuffle, Shuffle::Grains { .. }), "shuffle = true can be"),
        ("last_batch_policy", table.has("last_batch_policy"), of_last),
        ("placement", matches!(settings.placement, Placement::Gpu(_)), "the ring must be in the host"),
        ("adjust_orientation", !input.adjust_orientation, "sizes are those of pictures as seen"),
        ("page", input.page > 0, "sizes are those of the first page"),
        ("mixing", !is_of_buckets && settings.mixing.is_some(), of_mixing),
    ];
    // Ragged pictures are a value of a key that has others.
    let shown = if form.is_ragged() { "buckets = \"ragged\"" } else { key };
    for (other, _, why) in unfit.into_iter().filter(|(_, is_unfit, _)| *is_unfit) {
        table.mistake(other, format!("cannot be combined with {shown}: {why}. Leave out {other}, or {key}."));
    }
    let calls_python = settings.recipe.python().next().is_some() || settings.recipe.batch_function().is_some();
    let list = [("mosaic", Mosaics::of(&settings.recipe).is_some()), ("python", calls_python)];
    for (name, _) in list.into_iter().filter(|(_, is_there)| *is_there) {
        let problem = format!("has {name}, which cannot be combined with {key}. Leave out the transform, or {key}.");
        table.mistake("transform", problem);
    }
    let step = u64::from(settings.batch_size);
    if let Some(size) = settings.wanted_lease_size.filter(|size| !size.is_multiple_of(step)) {
        let problem =
            format!("is {size}, but with {key} it is a multiple of the places of the largest batch, which are {step}.");
        table.mistake("lease_size", problem);
    }
}
