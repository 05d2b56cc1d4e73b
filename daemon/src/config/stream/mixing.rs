//! `mixing` and `mixing_per_batch`: how pictures of a finished batch are mixed.

use forebay_pixels::Mixing;

use super::super::table::Table;
use super::super::value::{flag, shown};

/// Reads both keys.
pub(super) fn read(table: &mut Table<'_, '_>) -> (Option<Mixing>, bool) {
    let value = table.take("mixing", |value| Ok(value.clone()));
    let mixing = value.and_then(|value| {
        let text = shown(&value);
        let mixing = serde_json::from_value::<Mixing>(value).map_err(|error| error.to_string());
        let checked = mixing.and_then(|mixing| mixing.problem().map_or(Ok(mixing), Err));
        checked.map_err(|problem| table.mistake("mixing", format!("is {text}: {problem}."))).ok()
    });
    let per_batch = table.take("mixing_per_batch", flag);
    if per_batch == Some(true) && !table.has("mixing") {
        table.mistake("mixing_per_batch", "has an effect only with mixing; leave it out, or give both.");
    }
    (mixing, per_batch.unwrap_or(false))
}
