//! A stream's settings as a document, from which another process of this program reads how its pictures are made.

use forebay_pipeline::settings::StreamSettings;
use serde_json::Value;

use super::super::table::Table;
use super::form::{self, Form};
use super::{cache, settings, shuffle, views};

/// How pictures are made by a stream with this [document](super::StreamSection::document): the recipe and the views, and
/// what they depend on. It was checked when its stream was opened. Nothing if it is none.
pub(crate) fn pictures(document: &str) -> Option<StreamSettings> {
    let Ok(Value::Object(written)) = serde_json::from_str(document) else { return None };
    let mut mistakes = Vec::new();
    let mut table = Table::new(&written, &mut mistakes);
    let shuffle = shuffle::read(&mut table);
    let form = Form::read(&mut table);
    let recipe = form::recipe(&mut table, shuffle.is_on(), form.as_ref())?;
    let named = table.named_views(&recipe);
    let views = views::read(&mut table, shuffle.is_on(), &recipe, named);
    let cache = cache::read(&mut table, &recipe);
    let read = settings(&mut table, StreamSettings { shuffle, views, cache, ..StreamSettings::new(1, recipe) });
    mistakes.is_empty().then_some(read)
}
