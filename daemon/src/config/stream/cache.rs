//! `cache`: what of a dataset is kept in memory for further epochs.

use forebay_pixels::{Form, Recipe};

use super::super::quantity::ByteSize;
use super::super::table::Table;
use super::super::value::{choice, size, whole};
use crate::cache::Keep;

/// The table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cache {
    /// What is kept of a record.
    pub kind: Kind,
    /// The most that the cache may take.
    pub memory: ByteSize,
    /// Longest side of a kept picture; only of decoded ones.
    pub max_side: Option<u32>,
}

/// What is kept of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The file's bytes.
    Encoded,
    /// The decoded picture.
    Decoded,
}

impl Cache {
    /// What the cache of a stream with this recipe keeps.
    pub fn keep(&self, recipe: &Recipe) -> Keep {
        match self.kind {
            Kind::Encoded => Keep::Encoded,
            Kind::Decoded => Keep::Decoded(Form {
                background: recipe.output().background,
                adjust_orientation: recipe.input().adjust_orientation,
                max_side: self.max_side,
            }),
        }
    }

    /// A picture is kept at its full size, or at that of `max_side`. Decoded smaller where there was no room for it, it
    /// would have other pixels than where there was.
    fn check(&self, recipe: &Recipe) -> Result<(), &'static str> {
        if self.kind == Kind::Decoded && recipe.input().reducing_gap.is_some() {
            return Err("is \"decoded\", which keeps pictures as they are without reducing_gap (or fast); leave \
                        one of the two out.");
        }
        Ok(())
    }
}

/// Nothing if there is no such table, or a mistake in it.
pub(super) fn read(table: &mut Table<'_, '_>, recipe: Option<&Recipe>) -> Option<Cache> {
    let wanted = table.values().get("cache").is_some_and(serde_json::Value::is_object);
    table.section("cache", |table| {
        let kind = table.take("keep", choice(&[("decoded", Kind::Decoded), ("encoded", Kind::Encoded)]));
        let memory = table.take("memory", size);
        let max_side = table.take("max_side", whole(1..=65_535));
        if wanted && kind.is_none() && !table.has("keep") {
            table.mistake("keep", "is missing; give \"decoded\" or \"encoded\".");
        }
        if wanted && memory.is_none() && !table.has("memory") {
            table.mistake("memory", "is missing; give the most that the cache may take, such as \"20gb\".");
        }
        if kind == Some(Kind::Encoded) && table.has("max_side") {
            table.mistake("max_side", "has a meaning only with keep = \"decoded\"; leave it out.");
        }
        let cache = Cache { kind: kind?, memory: memory?, max_side };
        if let Some(Err(problem)) = recipe.map(|recipe| cache.check(recipe)) {
            table.mistake("keep", problem);
        }
        Some(cache)
    })
}

#[cfg(test)]
mod tests {
    use forebay_pixels::Input;

    use super::*;

    #[test]
    fn pictures_that_are_kept_decoded_are_not_scaled_while_decoding() {
        let cache = |kind| Cache { kind, memory: ByteSize(1), max_side: None };
        let exact = Recipe::training(8).unwrap();
        let scaled = exact.clone().with_input(Input { reducing_gap: Some(2.0), ..Input::default() }).unwrap();
        assert!(cache(Kind::Decoded).check(&scaled).unwrap_err().contains("reducing_gap"));
        for (kind, recipe) in [(Kind::Decoded, &exact), (Kind::Encoded, &exact), (Kind::Encoded, &scaled)] {
            assert_eq!(cache(kind).check(recipe), Ok(()));
        }
    }

    #[test]
    fn a_cache_keeps_what_the_recipe_sees_of_a_picture() {
        let input = Input { adjust_orientation: false, ..Input::default() };
        let recipe = Recipe::training(8).unwrap().with_input(input).unwrap();
        let cache = Cache { kind: Kind::Decoded, memory: ByteSize(1), max_side: Some(9) };
        let form = Form { background: [0; 3], adjust_orientation: false, max_side: Some(9) };
        assert_eq!(cache.keep(&recipe), Keep::Decoded(form));
    }
}
