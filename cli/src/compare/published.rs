//! The recipes of published training code, compared with the libraries that this code uses.
//!
//! Both sides stop before a normalisation, and before what follows it: noise and erased rectangles.

use forebay_pixels::document::named;
use forebay_pixels::{Output, Recipe};
use serde_json::{Value, json};

use super::pillow::Versions;
use super::task::{ResizedBy, Task};
use crate::failure::Failure;

/// Whose recipes are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Publisher {
    Torchvision,
    Timm,
    Dinov2,
    Yolo,
}

impl Publisher {
    /// What is compared with these libraries.
    pub(super) fn tasks(self, versions: &Versions) -> Result<Vec<Task>, Failure> {
        let name = match self {
            Self::Torchvision => "torchvision",
            Self::Timm => "timm",
            Self::Dinov2 => "dinov2",
            Self::Yolo => return Ok(yolo(versions)),
        };
        if versions.torchvision.is_none() {
            return Err(Failure::Failed(format!(
                "--recipe {name} compares with torchvision, which the Python of FOREBAY_PYTHON does not have. Install \
                 it with pip install torchvision."
            )));
        }
        let train = |policy: &str| json!({ "name": format!("{name}_train"), "auto_augment": policy });
        let rows = match self {
            Self::Torchvision => vec![
                ("recipe torchvision_train, RandAugment", train("ra"), 0),
                ("recipe torchvision_train, TrivialAugmentWide", train("ta_wide"), 0),
                ("recipe torchvision_train, AutoAugment of ImageNet", train("imagenet"), 0),
                ("recipe torchvision_train, AugMix", train("augmix"), 0),
                ("recipe torchvision_eval", json!("torchvision_eval"), 0),
            ],
            Self::Timm => vec![
                ("recipe timm_train, colour jitter", json!("timm_train"), 0),
                ("recipe timm_train, rand-m9-mstd0.5-inc1", train("rand-m9-mstd0.5-inc1"), 0),
                ("recipe timm_train, 3-Augment", train("3a"), 0),
                ("recipe timm_eval", json!("timm_eval"), 0),
            ],
            _ => vec![
                ("recipe dinov2, first global crop", json!("dinov2"), 0),
                ("recipe dinov2, second global crop", json!("dinov2"), 1),
                ("recipe dinov2, a local crop", json!("dinov2"), 2),
                ("recipe dinov2_eval", json!("dinov2_eval"), 0),
            ],
        };
        let task = |(row, value, view): (_, Value, _)| {
            let recipe = recipe(&value, view);
            match class(&value).filter(|_| self == Self::Torchvision) {
                Some((class, bins)) => Task::augmented(row, class, bins, recipe),
                None => Task::planned(row, ResizedBy::Pillow, recipe),
            }
        };
        Ok(rows.into_iter().map(task).collect())
    }
}

/// The class of torchvision that draws a policy's operations, and in how many bins it puts magnitudes.
fn class(recipe: &Value) -> Option<(&'static str, u32)> {
    match recipe.get("auto_augment")?.as_str()? {
        "ra" => Some(("RandAugment", 31)),
        "ta_wide" => Some(("TrivialAugmentWide", 31)),
        "augmix" => Some(("AugMix", 10)),
        _ => Some(("AutoAugment", 10)),
    }
}

/// YOLO's resizes are those of `OpenCV`. A picture is compared alone, and not in a mosaic.
fn yolo(versions: &Versions) -> Vec<Task> {
    let beside = |by, train, eval| {
        let recipes = [(train, json!({ "name": "yolo", "mosaic": 0 })), (eval, json!("yolo_eval"))];
        recipes.map(|(row, value)| Task::planned(row, by, recipe(&value, 0)))
    };
    let pillow =
        beside(ResizedBy::Pillow, "recipe yolo, with Pillow's resize", "recipe yolo_eval, with Pillow's resize");
    let opencv =
        beside(ResizedBy::OpenCv, "recipe yolo, with OpenCV's resize", "recipe yolo_eval, with OpenCV's resize");
    pillow.into_iter().chain(opencv.into_iter().filter(|_| versions.opencv.is_some())).collect()
}

/// The transforms of a view before the normalisation.
fn recipe(value: &Value, view: usize) -> Recipe {
    let mut lists = named(value).expect("a recipe that exists");
    let list = if view == 0 { lists.images } else { lists.views.swap_remove(view - 1).1 };
    let list = list.into_iter().take_while(|step| step.get("normalize").is_none()).collect();
    let transforms = serde_json::from_value(Value::Array(list)).expect("a recipe has transforms");
    Recipe::new(transforms, Output::default()).expect("a recipe has one size")
}
