//! `shuffle` and `shuffle_window`: the order of epochs.

use std::num::NonZero;

use forebay_pipeline::keys;
use forebay_pipeline::settings::{Key, Shuffle};
use serde_json::Value;

use super::super::table::Table;
use super::super::value::whole;

/// The keys.
pub(super) const KEYS: &[Key] = keys! {
    /// true gives each epoch its own random order. "grains" is for datasets that are read in grains, such as chunks or row
    /// groups: it shuffles grains, and the records within windows of grains. Each grain is then read once per epoch, if the
    /// source can keep the grains of a window. See docs/operating.md, "Shuffling a dataset that is read in grains".
    shuffle: "bool | str" = "false";
    /// With `shuffle = "grains"`: the number of grains whose records are shuffled together. Raise it to mix records better. Lower
    /// it if a source cannot keep so many grains.
    shuffle_window: "int" = "16";
};

/// Reads both keys.
pub(super) fn read(table: &mut Table<'_, '_>) -> Shuffle {
    let window = table.take("shuffle_window", whole(1..=1 << 20)).and_then(NonZero::new);
    let shuffle = table.take("shuffle", choice);
    match shuffle {
        Some(Shuffle::Grains { window: default }) => Shuffle::Grains { window: window.unwrap_or(default) },
        // One that is wrong may have been meant for it.
        None if table.has("shuffle") => Shuffle::Off,
        shuffle => {
            if window.is_some_and(|window| window != Shuffle::WINDOW) {
                let problem = "has an effect only with shuffle = \"grains\"; leave it out, or give both.";
                table.mistake("shuffle_window", problem);
            }
            shuffle.unwrap_or_default()
        }
    }
}

fn choice(value: &Value) -> Result<Shuffle, String> {
    match value {
        Value::Bool(false) => Ok(Shuffle::Off),
        Value::Bool(true) => Ok(Shuffle::Records),
        Value::String(text) if text == "grains" => Ok(Shuffle::Grains { window: Shuffle::WINDOW }),
        Value::String(text) if text == "shard" => Err("\"grains\", as it is called now".to_owned()),
        _ => Err("true, false or \"grains\"".to_owned()),
    }
}
