//! Named recipes: the transforms of published training code, by name and with parameters that a user may override.
//!
//! A named recipe is a function from its parameters to lists of transforms, in the form that settings have them. So the lists
//! can be printed, changed and given as `transform` and `views`. docs/recipes.md has the recipes and their sources.

mod dinov2;
mod evaluation;
mod parameters;
mod simclr;
mod timm;
mod torchvision;
mod yolo;

use serde_json::{Map, Value, json};

use super::{Mistake, shown};
use parameters::Parameters;

/// The key of a stream, and of a view, that has a named recipe.
pub(super) const KEY: &str = "recipe";

/// A recipe of published training code.
#[derive(Clone, Copy, Debug)]
pub struct NamedRecipe {
    /// Its name in settings, and that of its function in Python.
    pub name: &'static str,
    /// The code or the paper that it is from.
    pub source: &'static str,
    lists: fn(&mut Parameters<'_>) -> NamedLists,
}

/// The lists of transforms of a named recipe. A transform is a table with one key, its name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NamedLists {
    /// Of the first view.
    pub images: Vec<Value>,
    /// Of further views, by their names.
    pub views: Vec<(String, Vec<Value>)>,
}

/// All named recipes.
pub const NAMED: [NamedRecipe; 10] = [
    NamedRecipe { name: "torchvision_train", source: torchvision::SOURCE, lists: torchvision::train },
    NamedRecipe { name: "torchvision_eval", source: torchvision::SOURCE, lists: torchvision::eval },
    NamedRecipe { name: "timm_train", source: timm::SOURCE, lists: timm::train },
    NamedRecipe { name: "timm_eval", source: timm::SOURCE, lists: timm::eval },
    NamedRecipe { name: "dinov2", source: dinov2::SOURCE, lists: dinov2::train },
    NamedRecipe { name: "dinov2_eval", source: dinov2::SOURCE, lists: dinov2::eval },
    NamedRecipe { name: "simclr", source: simclr::SOURCE, lists: simclr::train },
    NamedRecipe { name: "simclr_eval", source: simclr::SOURCE, lists: simclr::eval },
    NamedRecipe { name: "yolo", source: yolo::SOURCE, lists: yolo::train },
    NamedRecipe { name: "yolo_eval", source: yolo::SOURCE, lists: yolo::eval },
];

impl NamedRecipe {
    /// Its parameters with their defaults, in the order of documentation. A parameter without a default is `null`.
    pub fn parameters(&self) -> Map<String, Value> {
        let none = Map::new();
        let mut parameters = Parameters::new(&none);
        (self.lists)(&mut parameters);
        parameters.known
    }

    /// Its lists with these parameters in place of the defaults.
    ///
    /// # Errors
    /// Every parameter that is unknown or wrong. Their keys begin with `recipe`.
    pub fn lists(&self, given: &Map<String, Value>) -> Result<NamedLists, Vec<Mistake>> {
        let mut parameters = Parameters::new(given);
        let lists = (self.lists)(&mut parameters);
        let mistakes = parameters.finish(self.name);
        if mistakes.is_empty() { Ok(lists) } else { Err(mistakes) }
    }
}

impl NamedLists {
    /// Whether the values are normalised, so that they are no whole numbers.
    pub fn normalizes(&self) -> bool {
        self.images.iter().any(|step| step.get("normalize").is_some())
    }

    /// One list, and no further views.
    fn one(images: Vec<Value>) -> Self {
        Self { images, views: Vec::new() }
    }
}

/// The lists of a recipe as settings name it: `"timm_train"`, or a table of its `name` and parameters.
///
/// ```
/// use forebay_pixels::document::named;
/// use serde_json::json;
///
/// let lists = named(&json!({ "name": "torchvision_eval", "size": 192 })).unwrap();
/// assert_eq!(lists.images[1], json!({ "center_crop": { "size": 192 } }));
/// let unknown = named(&json!("resnet_train")).unwrap_err();
/// assert!(unknown[0].problem.starts_with("is \"resnet_train\", which is no recipe; give one of torchvision_train, "));
/// ```
///
/// # Errors
/// Every mistake. There is no such recipe, or a parameter is unknown or wrong.
pub fn named(value: &Value) -> Result<NamedLists, Vec<Mistake>> {
    let wrong = |problem: String| vec![Mistake { key: KEY.to_owned(), problem }];
    let (name, given) = match value {
        Value::String(name) => (name.as_str(), Map::new()),
        Value::Object(table) => {
            let mut given = table.clone();
            match given.shift_remove("name") {
                Some(Value::String(_)) => (table["name"].as_str().unwrap_or_default(), given),
                _ => return Err(wrong(format!("is {}, which has no name; give one of {}.", shown(value), names()))),
            }
        }
        _ => {
            let example = "recipe = \"timm_train\" or recipe = { name = \"timm_train\", size = 192 }";
            return Err(wrong(format!("is {}; give a name, or a table with a name, such as {example}.", shown(value))));
        }
    };
    let unknown = || wrong(format!("is \"{name}\", which is no recipe; give one of {}.", names()));
    NAMED.iter().find(|recipe| recipe.name == name).ok_or_else(unknown)?.lists(&given)
}

fn names() -> String {
    NAMED.map(|recipe| recipe.name).join(", ")
}

/// A part of the picture, resized to a square.
fn crop(size: u32, scale: [f64; 2], interpolation: &str) -> Value {
    json!({ "random_resized_crop": { "size": size, "scale": scale, "interpolation": interpolation } })
}

/// A flip, unless it is never done.
fn flip(p: f64) -> Option<Value> {
    (p > 0.0).then(|| json!({ "random_horizontal_flip": { "p": p } }))
}

/// One transform, or nothing.
fn apply(transform: &Value, p: f64) -> Value {
    json!({ "random_apply": { "transforms": [transform], "p": p } })
}
