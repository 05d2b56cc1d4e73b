//! `views`: what else is made of each picture.

use forebay_pipeline::keys;
use forebay_pipeline::settings::Key;
use forebay_pixels::{MOST_VIEWS, Recipe, View};

use super::super::table::Table;

/// The key.
pub(super) const KEYS: &[Key] = keys! {
    /// Further views of each picture: columns with a size or transforms of their own. A picture is read and decoded once for
    /// all views, and each view has its own random choices. match, dtype and layout are those of images, unless a view has its
    /// own. Cannot be combined with reducing_gap. Left out: only images.
    views: "Mapping[str, Any]",
        example: "{ local = { transform = [{ random_resized_crop = { size = 96, scale = [0.05, 0.32] } }] } }",
        in_python: "A view is a list of `forebay.transforms`, such as `{\"local\": [transforms.RandomResizedCrop(96)]}`, or a \
            dict of some of the settings size, transform, recipe, match, dtype and layout.";
};

/// The views beside the first one, which has this recipe: those that its named recipe has, and those of `views`.
pub(super) fn read(table: &mut Table<'_, '_>, shuffle: bool, first: &Recipe, named: Vec<View>) -> Vec<View> {
    let mut views = named;
    let own = table.named("views", |name, table| {
        if name == "images" {
            table.mistake("", "has the keys of the stream itself, such as size and transform; give them there.");
        } else if views.iter().any(|view| view.name == name) {
            table.mistake("", "is a view of the stream's recipe already; give it another name.");
        }
        table.view(shuffle, first)
    });
    views.extend(own.into_iter().map(|(name, recipe)| View { name, recipe }));
    let of_batches = |view: &View| view.recipe.batch_function().map(|function| function.python.function.clone());
    if let Some((view, function)) = views.iter().find_map(|view| Some((view, of_batches(view)?))) {
        let problem = format!(
            "has the function {function} with scope = \"batch\" in the view {}. It gets the batch with all of its views: put it at \
             the end of the list of the stream itself.",
            view.name
        );
        table.mistake("views", problem);
    }
    let declares = |view: &View| view.recipe.python().find(|python| !python.columns.is_empty()).cloned();
    if let Some((view, python)) = views.iter().find_map(|view| Some((view, declares(view)?))) {
        let problem = format!(
            "has the function {} in the view {}, which declares columns. Only functions in the list of the stream itself return \
             columns: leave columns out, or move the function there.",
            python.function, view.name
        );
        table.mistake("views", problem);
    }
    if views.len() > MOST_VIEWS {
        table.mistake("views", format!("has {} views; at most {MOST_VIEWS} are allowed beside images.", views.len()));
    }
    if !views.is_empty() && first.input().reducing_gap.is_some() {
        table
            .mistake("views", "cannot be combined with reducing_gap or fast: all views are made of one exact picture.");
    }
    views
}
