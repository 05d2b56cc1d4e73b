//! The transforms that settings can name, with torchvision's names, meanings and default values.
//!
//! In settings each is a table with one key: `{ random_resized_crop = { size = 224 } }` in TOML, the same in JSON.
//! Unknown keys are refused while parsing; values are checked when a [`crate::Recipe`] is made.

mod center_crop;
mod normalize;
mod pad;
mod random_horizontal_flip;
mod random_resized_crop;
mod resize;
pub(crate) mod shape;

use serde::Deserialize;

use crate::draw::Draws;
use crate::interpolation::Interpolation;
use crate::number::half;
use crate::plan::Plan;
use crate::recipe_error::RecipeError;
pub use center_crop::CenterCrop;
pub use normalize::Normalize;
pub use pad::Pad;
pub use random_horizontal_flip::RandomHorizontalFlip;
pub use random_resized_crop::RandomResizedCrop;
pub use resize::Resize;
use shape::{Shape, Size};

/// Makes [`Transform`] of the table of all transforms. Each is a type with `problem`, `shape` and `plan`.
macro_rules! transforms {
    ($($(#[$doc:meta])* $name:literal => $kind:ident,)*) => {
        /// One step of a recipe.
        #[derive(Clone, Debug, PartialEq, Deserialize)]
        pub enum Transform {
            $($(#[$doc])* #[serde(rename = $name)] $kind($kind),)*
        }

        impl Transform {
            /// The name that settings use.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$kind(_) => $name,)*
                }
            }

            /// What is wrong with its values, if something is.
            fn problem(&self) -> Option<String> {
                match self {
                    $(Self::$kind(transform) => transform.problem(),)*
                }
            }

            /// What is known of a picture's size after it.
            pub(crate) fn shape(&self, before: Shape) -> Shape {
                match self {
                    $(Self::$kind(transform) => transform.shape(before),)*
                }
            }

            /// Adds what it does to a plan, by these draws.
            pub(crate) fn plan(&self, plan: &mut Plan, draws: Draws) {
                match self {
                    $(Self::$kind(transform) => transform.plan(plan, draws),)*
                }
            }
        }
    };
}

transforms! {
    /// A random part of the picture, resized.
    "random_resized_crop" => RandomResizedCrop,
    /// The whole picture, resized.
    "resize" => Resize,
    /// The middle of the picture.
    "center_crop" => CenterCrop,
    /// A border around a picture that is too small.
    "pad" => Pad,
    /// Mirrored left to right, by chance.
    "random_horizontal_flip" => RandomHorizontalFlip,
    /// Mean and standard deviation per channel.
    "normalize" => Normalize,
}

impl Transform {
    /// The same with height and width in place of one number, where that means a square. Of a resize it is the shorter
    /// side.
    pub(crate) fn squared(mut self) -> Self {
        match &mut self {
            Self::RandomResizedCrop(RandomResizedCrop { size, .. })
            | Self::CenterCrop(CenterCrop { size })
            | Self::Pad(Pad { size, .. }) => *size = size.squared(),
            _ => {}
        }
        self
    }

    /// What `size=` means with shuffle: a random part resized to a square, mirrored half the time.
    pub fn training(size: u32) -> Vec<Self> {
        vec![
            Self::RandomResizedCrop(RandomResizedCrop::to(Size::One(size))),
            Self::RandomHorizontalFlip(RandomHorizontalFlip { p: half() }),
        ]
    }

    /// What `size=` means without shuffle: the shorter side to `size * 256 / 224`, then the middle square.
    pub fn evaluation(size: u32) -> Vec<Self> {
        let shorter = u32::try_from(u64::from(size) * 256 / 224).unwrap_or(u32::MAX);
        vec![
            Self::Resize(Resize { size: Size::One(shorter), interpolation: Interpolation::default() }),
            Self::CenterCrop(CenterCrop { size: Size::One(size) }),
        ]
    }

    /// The filter, where it resizes.
    pub(crate) fn interpolation(&self) -> Option<Interpolation> {
        match self {
            Self::RandomResizedCrop(RandomResizedCrop { interpolation, .. })
            | Self::Resize(Resize { interpolation, .. }) => Some(*interpolation),
            _ => None,
        }
    }

    pub(crate) fn as_normalize(&self) -> Option<&Normalize> {
        match self {
            Self::Normalize(normalize) => Some(normalize),
            _ => None,
        }
    }

    /// Checks the values; `place` is the transform's place in the list, for the message.
    pub(crate) fn check(&self, place: usize) -> Result<(), RecipeError> {
        match self.problem() {
            None => Ok(()),
            Some(problem) => Err(RecipeError::Value { place, name: self.name(), problem }),
        }
    }
}
