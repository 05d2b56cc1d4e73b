//! Which form of a dataset is kept in memory for later epochs.

use forebay_pixels::{Form, Recipe};

use crate::ByteSize;
use crate::cache::Keep;

/// A cache that a stream asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheSettings {
    /// What is kept of a record.
    pub kind: CacheKind,
    /// The most memory that the cache may use.
    pub memory: ByteSize,
    /// Longest side of a kept picture. Only for decoded ones.
    pub max_side: Option<u32>,
}

/// What is kept of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheKind {
    /// The file's bytes.
    Encoded,
    /// The decoded picture.
    Decoded,
}

impl CacheSettings {
    /// What the cache of a stream with this recipe keeps.
    pub fn keep(&self, recipe: &Recipe) -> Keep {
        match self.kind {
            CacheKind::Encoded => Keep::Encoded,
            CacheKind::Decoded => Keep::Decoded(Form {
                background: recipe.output().background,
                mode: recipe.output().mode,
                adjust_orientation: recipe.input().adjust_orientation,
                page: recipe.input().page,
                max_side: self.max_side,
            }),
        }
    }

    /// A picture is kept at its full size, or at that of `max_side`. Decoded smaller where there was no room for it, it
    /// would have other pixels than where there was.
    pub fn check(&self, recipe: &Recipe) -> Result<(), &'static str> {
        if self.kind == CacheKind::Decoded && recipe.input().reducing_gap.is_some() {
            return Err(
                "is \"decoded\", which keeps pictures at full size, so it cannot be combined with reducing_gap or \
                        fast; leave one of the two out.",
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use forebay_pixels::Input;

    use super::*;

    #[test]
    fn pictures_that_are_kept_decoded_are_not_scaled_while_decoding() {
        let cache = |kind| CacheSettings { kind, memory: ByteSize(1), max_side: None };
        let exact = Recipe::training(8).unwrap();
        let scaled = exact.clone().with_input(Input { reducing_gap: Some(2.0), ..Input::default() }).unwrap();
        assert!(cache(CacheKind::Decoded).check(&scaled).unwrap_err().contains("reducing_gap"));
        for (kind, recipe) in
            [(CacheKind::Decoded, &exact), (CacheKind::Encoded, &exact), (CacheKind::Encoded, &scaled)]
        {
            assert_eq!(cache(kind).check(recipe), Ok(()));
        }
    }

    #[test]
    fn a_cache_keeps_what_the_recipe_sees_of_a_picture() {
        let input = Input { adjust_orientation: false, ..Input::default() };
        let recipe = Recipe::training(8).unwrap().with_input(input).unwrap();
        let cache = CacheSettings { kind: CacheKind::Decoded, memory: ByteSize(1), max_side: Some(9) };
        let form = Form { adjust_orientation: false, max_side: Some(9), ..Form::default() };
        assert_eq!(cache.keep(&recipe), Keep::Decoded(form));
    }
}
