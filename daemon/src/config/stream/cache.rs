//! `cache`: which form of a dataset is kept in memory for later epochs.

use forebay_pipeline::keys;
use forebay_pipeline::settings::{CacheKind, CacheSettings, Key};
use forebay_pixels::Recipe;

use super::super::table::Table;
use super::super::value::{choice, size, whole};

/// The key.
pub(super) const KEYS: &[Key] = keys! {
    /// Keeps the dataset in memory after the first epoch: files ("encoded"), or decoded pictures ("decoded"), shrunk if they are
    /// larger than max_side. See docs/operating.md, "Keeping a dataset in memory". Left out: nothing is kept.
    cache: "Mapping[str, str | int]", example: "{ keep = \"decoded\", memory = \"20gb\", max_side = 512 }",
        in_python: "A dict of these keys, such as `{\"keep\": \"decoded\", \"memory\": \"20gb\"}`. Without max_side, no pixel \
            changes. Loaders of one folder share the cache.";
};

/// Nothing if there is no such table, or a mistake in it.
pub(super) fn read(table: &mut Table<'_, '_>, recipe: &Recipe) -> Option<CacheSettings> {
    let wanted = table.values().get("cache").is_some_and(serde_json::Value::is_object);
    table.section("cache", |table| {
        let kind = table.take("keep", choice(&[("decoded", CacheKind::Decoded), ("encoded", CacheKind::Encoded)]));
        let memory = table.take("memory", size);
        let max_side = table.take("max_side", whole(1..=65_535));
        if wanted && kind.is_none() && !table.has("keep") {
            table.mistake("keep", "is missing; give \"decoded\" or \"encoded\".");
        }
        if wanted && memory.is_none() && !table.has("memory") {
            table.mistake("memory", "is missing; give the most that the cache may take, such as \"20gb\".");
        }
        if kind == Some(CacheKind::Encoded) && table.has("max_side") {
            table.mistake("max_side", "has an effect only with keep = \"decoded\"; leave it out.");
        }
        let cache = CacheSettings { kind: kind?, memory: memory?, max_side };
        if let Err(problem) = cache.check(recipe) {
            table.mistake("keep", problem);
        }
        Some(cache)
    })
}
