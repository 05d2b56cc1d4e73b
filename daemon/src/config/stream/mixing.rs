//! `mixing` and `mixing_per_batch`: how pictures of a finished batch are mixed.

use forebay_pipeline::keys;
use forebay_pipeline::settings::{Home, Key};
use forebay_pixels::{Mixing, Mode};

use super::super::table::Table;
use super::super::value::{flag, shown};

/// The keys.
pub(super) const KEYS: &[Key] = keys! {
    /// Mixes each picture of a finished batch with the one before it: mix_up, cut_mix, or a random_choice of them. Batches then
    /// also have the columns mixed_labels and mix. See docs/transforms.md. Left out: pictures are not mixed.
    mixing: "Transform | Mixing",
        example: "{ random_choice = { transforms = [{ mix_up = { alpha = 0.2 } }, { cut_mix = { alpha = 1.0 } }] } }",
        in_python: "`transforms.MixUp`, `transforms.CutMix`, or a `transforms.RandomChoice` of them. \
            `Mixing(..., per_batch=True)` mixes all pictures of a batch with the same weight. `batch.soft_labels` and \
            `loader.torch(num_classes=...)` make soft labels of the two columns.";
    /// With mixing: all pictures of a batch get the same weight, as in torchvision.
    mixing_per_batch: "bool" = "false", home: Home::Other;
};

/// Reads both keys.
pub(super) fn read(table: &mut Table<'_, '_>, mode: Mode) -> (Option<Mixing>, bool) {
    let value = table.take("mixing", |value| Ok(value.clone()));
    let mixing = value.and_then(|value| {
        let text = shown(&value);
        let mixing = serde_json::from_value::<Mixing>(value).map_err(|error| error.to_string());
        let checked = mixing.and_then(|mixing| mixing.problem().map_or(Ok(mixing), Err));
        checked.map_err(|problem| table.mistake("mixing", format!("is {text}: {problem}."))).ok()
    });
    if mixing.is_some() && !matches!(mode, Mode::Rgb | Mode::L) {
        let problem = format!("cannot be combined with mode = \"{}\"; leave one of the two out.", mode.name());
        table.mistake("mixing", problem);
    }
    let per_batch = table.take("mixing_per_batch", flag);
    if per_batch == Some(true) && !table.has("mixing") {
        table.mistake("mixing_per_batch", "has an effect only with mixing; leave it out, or give both.");
    }
    (mixing, per_batch.unwrap_or(false))
}
