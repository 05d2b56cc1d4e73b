//! The document form of a recipe: the keys that a configuration or a message has for it, read into a checked [`Recipe`].
//!
//! ```
//! use forebay_pixels::{Recipe, document};
//! use serde_json::Map;
//!
//! let keys = Map::from_iter([("size".to_owned(), 224.into())]);
//! assert_eq!(document::read(&keys, true).unwrap(), Recipe::training(224)?);
//! let refused = document::read(&Map::new(), true).unwrap_err();
//! assert!(refused.mistakes[0].problem.starts_with("is missing"));
//! # Ok::<(), forebay_pixels::RecipeError>(())
//! ```

mod named;
mod value;

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use crate::background::Background;
use crate::fit::Fit;
use crate::matching::Match;
use crate::output::{Dtype, Layout, Mode, Output};
use crate::patches::Patches;
use crate::per_channel::PerChannel;
use crate::recipe::Recipe;
use crate::transform::{Normalize, Transform};
use crate::transform_list::Input;
use crate::view::View;
pub use named::{NAMED, NamedLists, NamedRecipe, named};
use value::number;
pub use value::{choice, flag, given, shown, take, whole};

/// The keys that [`read`] knows. It passes over all others.
pub const KEYS: [&str; 12] = [
    "size",
    "transform",
    "recipe",
    "match",
    "dtype",
    "layout",
    "mode",
    "fill",
    "adjust_orientation",
    "reducing_gap",
    "fast",
    "page",
];

/// The keys that give the transforms. A document has one of them.
pub const LISTS: [&str; 3] = ["size", "transform", named::KEY];

/// The keys of a further view that [`read_view`] knows.
pub const VIEW_KEYS: [&str; 6] = ["size", "transform", "recipe", "match", "dtype", "layout"];

const SIDES: RangeInclusive<u32> = 1..=16_384;
/// Pages of a TIFF: as many as are counted.
const PAGES: RangeInclusive<u32> = 0..=65_535;

/// What `fast = true` is a short word for.
const FAST_GAP: f64 = 2.0;

/// What is wrong with one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The key. A place in the list of transforms has its number: `transform[2]`.
    pub key: String,
    /// What is wrong and what is allowed, as the rest of a sentence about the key.
    pub problem: String,
}

/// A document that is not taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    /// What is wrong, in the order in which the keys are read; at least one.
    pub mistakes: Vec<Mistake>,
    /// The recipe with the defaults of the keys that are wrong, if there can be one: what depends on it can be checked
    /// all the same, so that every mistake is reported at once.
    pub otherwise: Option<Box<Recipe>>,
}

/// Reads a recipe. `shuffle` decides what `size` means: [`Recipe::training`] with it, [`Recipe::evaluation`] without.
///
/// # Errors
/// There are mistakes. A shape that is not fixed is one (semantics rule 6).
pub fn read(values: &Map<String, Value>, shuffle: bool) -> Result<Recipe, Refused> {
    Reader { values, first: None, fit: None, mistakes: Vec::new() }.read(shuffle)
}

/// Reads the recipe of pictures that fit their steps, such as those of a bucket. The document's transforms follow that, and may be
/// left out.
///
/// # Errors
/// There are mistakes. Transforms that change the size of the pictures are one.
pub fn read_fitting(values: &Map<String, Value>, fit: Fit) -> Result<Recipe, Refused> {
    Reader { values, first: None, fit: Some(fit), mistakes: Vec::new() }.read(true)
}

/// Reads the recipe of a further view of the records whose first view is `first`. How files become pictures is the first
/// view's affair; so are the defaults of the other keys, but for `size` and `transform`.
///
/// # Errors
/// As those of [`read`].
pub fn read_view(values: &Map<String, Value>, shuffle: bool, first: &Recipe) -> Result<Recipe, Refused> {
    Reader { values, first: Some(first), fit: None, mistakes: Vec::new() }.read(shuffle)
}

/// The further views that the document's named recipe has, of records whose first view is `first`, as [`read`] gave it.
///
/// # Errors
/// A view's transforms are no recipe. What is wrong with the recipe's name or parameters, [`read`] has told.
pub fn named_views(values: &Map<String, Value>, first: &Recipe) -> Result<Vec<View>, Vec<Mistake>> {
    let lists = given(values, named::KEY).and_then(|value| named(value).ok()).unwrap_or_default();
    let mut reader = Reader { values, first: Some(first), fit: None, mistakes: Vec::new() };
    let views = lists.views.into_iter().filter_map(|(name, list)| {
        let recipe = reader.transforms(list, named::KEY).and_then(|transforms| {
            let recipe = Recipe::new(transforms, first.output())
                .and_then(|recipe| recipe.with_match(first.matched()))
                .and_then(|recipe| recipe.with_input(first.input()));
            recipe.map_err(|error| reader.mistake(named::KEY, format!("gives the view {name}: {error}."))).ok()
        });
        Some(View { name, recipe: recipe? })
    });
    let views = views.collect();
    if reader.mistakes.is_empty() { Ok(views) } else { Err(reader.mistakes) }
}

/// The document, and the mistakes that were found in it.
struct Reader<'v> {
    values: &'v Map<String, Value>,
    /// The recipe of the first view, if this one is of a further view.
    first: Option<&'v Recipe>,
    /// What is done before the transforms, if pictures are fitted to their steps.
    fit: Option<Fit>,
    mistakes: Vec<Mistake>,
}

impl Reader<'_> {
    fn read(mut self, shuffle: bool) -> Result<Recipe, Refused> {
        match self.recipe(shuffle) {
            Some(recipe) if self.mistakes.is_empty() => Ok(recipe),
            otherwise => Err(Refused { mistakes: self.mistakes, otherwise: otherwise.map(Box::new) }),
        }
    }

    /// Nothing if there is a mistake without which there would be no recipe.
    fn recipe(&mut self, shuffle: bool) -> Option<Recipe> {
        let named = self.named();
        let output = self.output(named.as_ref());
        let input = self.first.map_or_else(|| self.input(), Recipe::input);
        let matches = &[("pillow", Match::Pillow), ("torch", Match::Torch)];
        let default = self.first.map_or(Match::Pillow, Recipe::matched);
        let matched = self.take_or("match", default, choice(matches));
        let size = self.take("size", whole(SIDES));
        let list = self.take("transform", |value| match value {
            Value::Array(list) => Ok(list.clone()),
            _ => Err("a list of tables with one key each, such as [{ center_crop = { size = 224 } }]".to_owned()),
        });
        let given: Vec<&str> = LISTS.into_iter().filter(|key| self.has(key)).collect();
        let (key, transforms) = match given[..] {
            [] if self.fit.is_some() => ("transform", Vec::new()),
            [key @ ("size" | named::KEY), ..] if self.fit.is_some() => {
                let form = if self.patches().is_some() { "patches" } else { "buckets" };
                let problem = format!(
                    "cannot be combined with {form}, which have the sizes; leave it out. transform may have what follows."
                );
                self.mistake(key, problem);
                return None;
            }
            ["size"] if shuffle => ("size", Transform::training(size?)),
            ["size"] => ("size", Transform::evaluation(size?)),
            ["transform"] => ("transform", self.transforms(list?, "transform")?),
            [] => {
                let problem = "is missing, and so are transform and recipe; give one of the three, such as size = 224.";
                self.mistake("size", problem);
                return None;
            }
            [_] => (named::KEY, self.transforms(named?.images, named::KEY)?),
            [first, second, ..] => {
                self.mistake(first, format!("cannot be combined with {second}; give one of the two."));
                return None;
            }
        };
        let transforms = self.normalising(transforms, output);
        let recipe = match self.fit {
            Some(fit) => Recipe::fitting(fit, transforms, output),
            None => Recipe::new(transforms, output),
        };
        let recipe = recipe.map_err(|error| self.mistake(key, format!("{error}."))).ok()?;
        let recipe = recipe.with_match(matched).map_err(|error| self.mistake("match", format!("{error}."))).ok()?;
        recipe.with_input(input).map_err(|error| self.mistake("reducing_gap", format!("{error}."))).ok()
    }

    /// The lists of the named recipe, if one is given and right.
    fn named(&mut self) -> Option<NamedLists> {
        let value = given(self.values, named::KEY)?;
        match named(value) {
            Ok(lists) if self.first.is_some() && !lists.views.is_empty() => {
                let problem = format!("is {}, which has views of its own; give it to the stream.", shown(value));
                self.mistake(named::KEY, problem);
                None
            }
            Ok(lists) => Some(lists),
            Err(mistakes) => {
                self.mistakes.extend(mistakes);
                None
            }
        }
    }

    /// A named recipe that normalises gives floats, unless the document says otherwise.
    fn output(&mut self, named: Option<&NamedLists>) -> Output {
        let dtypes = &[
            ("uint8", Dtype::Uint8),
            ("float16", Dtype::Float16),
            ("bfloat16", Dtype::Bfloat16),
            ("float32", Dtype::Float32),
        ];
        let mut default = self.first.map_or_else(Output::default, Recipe::output);
        if named.is_some_and(NamedLists::normalizes) && default.dtype == Dtype::Uint8 {
            default.dtype = Dtype::Float32;
        }
        if let Some(patches) = self.patches() {
            default.background = patches.rule.background();
        }
        Output {
            dtype: self.take_or("dtype", default.dtype, choice(dtypes)),
            layout: self.take_or("layout", default.layout, choice(&[("NHWC", Layout::Nhwc), ("NCHW", Layout::Nchw)])),
            background: match self.first {
                Some(first) => first.output().background,
                None => self.take_or("fill", default.background, background),
            },
            mode: match self.first {
                Some(first) => first.output().mode,
                None => self.take_or("mode", default.mode, mode),
            },
        }
    }

    /// How pictures become patches, if they do.
    fn patches(&self) -> Option<Patches> {
        match self.fit {
            Some(Fit::Patches(patches)) => Some(patches),
            Some(Fit::Cover(_) | Fit::Ragged { .. }) | None => None,
        }
    }

    /// The list with the normalisation of the patches' rule, if that has one, the list has none, and the output has floats.
    fn normalising(&self, mut list: Vec<Transform>, output: Output) -> Vec<Transform> {
        let own = self.patches().and_then(|patches| patches.rule.normalisation());
        let is_wanted =
            output.dtype != Dtype::Uint8 && !list.iter().any(|transform| transform.as_normalize().is_some());
        if let Some((mean, std)) = own.filter(|_| is_wanted) {
            list.push(Transform::Normalize(Normalize { mean: PerChannel::One(mean), std: PerChannel::One(std) }));
        }
        list
    }

    fn input(&mut self) -> Input {
        let adjust_orientation = self.take_or("adjust_orientation", true, flag);
        let fast = self.take_or("fast", false, flag);
        let reducing_gap = self.take("reducing_gap", number(1.0));
        if fast && reducing_gap.is_some() {
            self.mistake("fast", format!("is short for reducing_gap = {FAST_GAP:?}; give one of the two."));
        }
        let page = self.take_or("page", 0, whole(PAGES));
        Input { adjust_orientation, page, reducing_gap: reducing_gap.or_else(|| fast.then_some(FAST_GAP)) }
    }

    /// Each transform of a list, every mistake reported at its place below `key`.
    fn transforms(&mut self, list: Vec<Value>, key: &str) -> Option<Vec<Transform>> {
        let count = list.len();
        let transforms: Vec<Transform> = (0..)
            .zip(list)
            .filter_map(|(place, value): (usize, Value)| {
                let text = shown(&value);
                let mistake = |error| self.mistake(&format!("{key}[{place}]"), format!("is {text}: {error}."));
                serde_json::from_value(value).map_err(mistake).ok()
            })
            .collect();
        (transforms.len() == count).then_some(transforms)
    }

    /// The key's value, if it is given and right.
    fn take<T>(&mut self, key: &str, read: impl FnOnce(&Value) -> Result<T, String>) -> Option<T> {
        take(self.values, key, read).unwrap_or_else(|mistake| {
            self.mistakes.push(mistake);
            None
        })
    }

    fn take_or<T>(&mut self, key: &str, default: T, read: impl FnOnce(&Value) -> Result<T, String>) -> T {
        self.take(key, read).unwrap_or(default)
    }

    /// Whether the key is given, right or wrong.
    fn has(&self, key: &str) -> bool {
        given(self.values, key).is_some()
    }

    fn mistake(&mut self, key: &str, problem: impl Into<String>) {
        self.mistakes.push(Mistake { key: key.to_owned(), problem: problem.into() });
    }
}

/// Reads what a pixel has.
///
/// # Errors
/// What is allowed.
pub fn mode(value: &Value) -> Result<Mode, String> {
    choice(MODES)(value)
}

/// What a pixel may have.
const MODES: &[(&str, Mode)] = &[("RGB", Mode::Rgb), ("L", Mode::L), ("LA", Mode::La), ("RGBA", Mode::Rgba)];

/// Red, green and blue, or "drop".
fn background(value: &Value) -> Result<Background, String> {
    if value == "drop" {
        return Ok(Background::Dropped);
    }
    let colour = serde_json::from_value(value.clone()).map_err(|_| {
        "red, green and blue from 0 to 255, such as [0, 0, 0], or \"drop\", which leaves alpha out".to_owned()
    })?;
    Ok(Background::Colour(colour))
}
