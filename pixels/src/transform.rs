//! The transforms that settings can name, with torchvision's names, meanings and default values.
//!
//! In settings each is a table with one key: `{ random_resized_crop = { size = 224 } }` in TOML, the same in JSON.
//! Unknown keys are refused while parsing; values are checked when a [`crate::Recipe`] is made.
//!
//! A transform that keeps the picture's size and draws an operation is beside the operation, in `operation/`, also if it moves
//! pixels. One that may change the size, such as `RandomRotation`, is here.

mod center_crop;
mod crop;
mod expect_size;
mod in_mode;
pub(crate) mod leaves;
mod letterbox;
mod mosaic;
mod normalize;
mod pad;
mod pad_by;
mod python;
mod random_apply;
mod random_choice;
mod random_crop;
mod random_horizontal_flip;
mod random_iou_crop;
mod random_order;
mod random_resized_crop;
mod random_rotation;
mod random_shortest_size;
mod random_vertical_flip;
mod random_zoom_out;
mod resize;
mod scale_jitter;
pub(crate) mod shape;

use serde::Deserialize;

use crate::draw::Draws;
use crate::interpolation::Interpolation;
use crate::number::half;
use crate::operation::{
    AugMix, AutoAugment, ColorJitter, GaussianBlur, Grayscale, Normalized, PillowGaussianBlur, RandAugment,
    RandomAdjustSharpness, RandomAffine, RandomAutocontrast, RandomEqualize, RandomErasing, RandomGrayscale, RandomHsv,
    RandomInvert, RandomPerspective, RandomPosterize, RandomSolarize, ThreeAugment, TimmRandAugment,
    TrivialAugmentWide, torch_has,
};
use crate::plan::Plan;
use crate::recipe_error::RecipeError;
pub use center_crop::CenterCrop;
pub use crop::Crop;
pub use expect_size::ExpectSize;
pub use letterbox::Letterbox;
pub use mosaic::{Mosaic, PARTNERS};
pub use normalize::Normalize;
pub use pad::Pad;
pub use pad_by::{PadBy, Padding};
pub use python::{DeclaredColumn, Python, Scope};
pub use random_apply::RandomApply;
pub use random_choice::RandomChoice;
pub use random_crop::RandomCrop;
pub use random_horizontal_flip::RandomHorizontalFlip;
pub use random_iou_crop::RandomIouCrop;
pub use random_order::RandomOrder;
pub use random_resized_crop::RandomResizedCrop;
pub use random_rotation::RandomRotation;
pub use random_shortest_size::{Lengths, RandomShortestSize};
pub use random_vertical_flip::RandomVerticalFlip;
pub use random_zoom_out::RandomZoomOut;
pub use resize::Resize;
pub use scale_jitter::ScaleJitter;
use shape::{Shape, Size};

/// Makes [`Transform`] from the table of all transforms. Transforms under `plan` are types with `problem`, `shape` and
/// `plan`. Those under `size` have `plan` and a field `size`, which is the size of every result. Those that draw operations
/// have `problem` and `draw`, and leave the picture's size alone.
macro_rules! transforms {
    (
        plan { $($(#[$doc:meta])* $name:literal => $kind:ident,)* }
        size { $($(#[$sized_doc:meta])* $sized_name:literal => $sized:ident,)* }
        draw { $($(#[$drawn_doc:meta])* $drawn_name:literal => $drawn:ident,)* }
    ) => {
        /// One step of a recipe.
        #[derive(Clone, Debug, PartialEq, Deserialize)]
        pub enum Transform {
            $($(#[$doc])* #[serde(rename = $name)] $kind($kind),)*
            $($(#[$sized_doc])* #[serde(rename = $sized_name)] $sized($sized),)*
            $($(#[$drawn_doc])* #[serde(rename = $drawn_name)] $drawn($drawn),)*
        }

        impl Transform {
            /// The name that settings use.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$kind(_) => $name,)*
                    $(Self::$sized(_) => $sized_name,)*
                    $(Self::$drawn(_) => $drawn_name,)*
                }
            }

            /// What is wrong with its values, if something is.
            fn problem(&self) -> Option<String> {
                match self {
                    $(Self::$kind(transform) => transform.problem(),)*
                    $(Self::$sized(transform) => transform.size.problem(),)*
                    $(Self::$drawn(transform) => transform.problem(),)*
                }
            }

            /// What is known of a picture's size after it.
            pub(crate) fn shape(&self, before: Shape) -> Shape {
                match self {
                    $(Self::$kind(transform) => transform.shape(before),)*
                    $(Self::$sized(transform) => Shape::of(transform.size),)*
                    $(Self::$drawn(_) => before,)*
                }
            }

            /// Adds what it does to a plan, by these draws.
            pub(crate) fn plan(&self, plan: &mut Plan, draws: Draws) {
                let size = (plan.width, plan.height);
                match self {
                    $(Self::$kind(transform) => transform.plan(plan, draws),)*
                    $(Self::$sized(transform) => transform.plan(plan),)*
                    $(Self::$drawn(transform) => {
                        transform.draw(draws, size, &mut |operation| plan.operate(operation));
                    })*
                }
            }
        }
    };
}

transforms! {
    plan {
        /// A random part of the picture, resized.
        "random_resized_crop" => RandomResizedCrop,
        /// The whole picture, resized.
        "resize" => Resize,
        /// A part of the picture.
        "crop" => Crop,
        /// A part of the picture at a random place.
        "random_crop" => RandomCrop,
        /// A border around a picture that is too small.
        "pad" => Pad,
        /// A border of a given width.
        "pad_by" => PadBy,
        /// A part of the picture that shows enough of an object.
        "random_iou_crop" => RandomIouCrop,
        /// Four pictures in one.
        "mosaic" => Mosaic,
        /// Resized to fit into a size, and by a random factor beyond.
        "scale_jitter" => ScaleJitter,
        /// Resized to a random length of the shorter side.
        "random_shortest_size" => RandomShortestSize,
        /// A border around the picture by chance, of random widths.
        "random_zoom_out" => RandomZoomOut,
        /// Rotated, by chance.
        "random_rotation" => RandomRotation,
        /// Mirrored left to right, by chance.
        "random_horizontal_flip" => RandomHorizontalFlip,
        /// Mirrored top to bottom, by chance.
        "random_vertical_flip" => RandomVerticalFlip,
        /// Mean and standard deviation per channel.
        "normalize" => Normalize,
        /// Some transforms, all of them or none, by chance.
        "random_apply" => RandomApply,
        /// One of some transforms.
        "random_choice" => RandomChoice,
        /// Some transforms in any order.
        "random_order" => RandomOrder,
        /// A function in Python.
        "python" => Python,
    }
    size {
        /// The middle of the picture.
        "center_crop" => CenterCrop,
        /// A size that pictures must have.
        "expect_size" => ExpectSize,
        /// Resized to fit into a size, with a border around it.
        "letterbox" => Letterbox,
    }
    draw {
        /// Brightness, contrast, saturation and hue by chance.
        "color_jitter" => ColorJitter,
        /// Hue, saturation and value changed by chance.
        "random_hsv" => RandomHsv,
        /// No colours.
        "grayscale" => Grayscale,
        /// No colours, by chance.
        "random_grayscale" => RandomGrayscale,
        /// Blurred or sharper, by chance.
        "random_adjust_sharpness" => RandomAdjustSharpness,
        /// High values inverted, by chance.
        "random_solarize" => RandomSolarize,
        /// Fewer bits in a value, by chance.
        "random_posterize" => RandomPosterize,
        /// All values inverted, by chance.
        "random_invert" => RandomInvert,
        /// Each channel stretched to all values, by chance.
        "random_autocontrast" => RandomAutocontrast,
        /// Each channel's values spread evenly, by chance.
        "random_equalize" => RandomEqualize,
        /// Blurred.
        "gaussian_blur" => GaussianBlur,
        /// A rectangle filled, by chance.
        "random_erasing" => RandomErasing,
        /// Rotated, sheared, scaled and moved, by chance.
        "random_affine" => RandomAffine,
        /// Seen from elsewhere, by chance.
        "random_perspective" => RandomPerspective,
        /// Blurred as Pillow does it, by chance.
        "pillow_gaussian_blur" => PillowGaussianBlur,
        /// Gray, solarized or blurred.
        "three_augment" => ThreeAugment,
        /// Mixed with chains of other operations.
        "aug_mix" => AugMix,
        /// Some operations, as timm's text says.
        "timm_rand_augment" => TimmRandAugment,
        /// A pair of operations out of a policy.
        "auto_augment" => AutoAugment,
        /// Some operations with one magnitude.
        "rand_augment" => RandAugment,
        /// One operation with any magnitude.
        "trivial_augment_wide" => TrivialAugmentWide,
    }
}

impl Transform {
    /// The same with height and width in place of one number, where that means a square. Of a resize it is the shorter
    /// side.
    pub(crate) fn squared(mut self) -> Self {
        match &mut self {
            Self::RandomResizedCrop(RandomResizedCrop { size, .. })
            | Self::RandomCrop(RandomCrop { size, .. })
            | Self::CenterCrop(CenterCrop { size })
            | Self::ExpectSize(ExpectSize { size })
            | Self::Letterbox(Letterbox { size, .. })
            | Self::Mosaic(Mosaic { size, .. })
            | Self::ScaleJitter(ScaleJitter { target_size: size, .. })
            | Self::Pad(Pad { size, .. })
            | Self::Python(Python { output: Some(size), .. }) => *size = size.squared(),
            Self::RandomApply(RandomApply { transforms, .. })
            | Self::RandomChoice(RandomChoice { transforms, .. })
            | Self::RandomOrder(RandomOrder { transforms }) => {
                for transform in transforms {
                    *transform = transform.clone().squared();
                }
            }
            _ => {}
        }
        self
    }

    /// The transforms that it has in it.
    pub(crate) fn parts(&self) -> &[Self] {
        match self {
            Self::RandomApply(RandomApply { transforms, .. })
            | Self::RandomChoice(RandomChoice { transforms, .. })
            | Self::RandomOrder(RandomOrder { transforms }) => transforms,
            _ => &[],
        }
    }

    /// How many transforms it is, with those that it has in it.
    pub(crate) fn count(&self) -> usize {
        1 + self.parts().iter().map(Self::count).sum::<usize>()
    }

    /// Whether torch has its filter, and those of the transforms that it has in it.
    pub(crate) fn has_torch(&self) -> bool {
        let has = match self {
            Self::RandomResizedCrop(RandomResizedCrop { interpolation, .. })
            | Self::Letterbox(Letterbox { interpolation, .. })
            | Self::Mosaic(Mosaic { interpolation, .. })
            | Self::ScaleJitter(ScaleJitter { interpolation, .. })
            | Self::RandomShortestSize(RandomShortestSize { interpolation, .. })
            | Self::Resize(Resize { interpolation, .. }) => {
                matches!(interpolation, Interpolation::Bilinear | Interpolation::Bicubic)
            }
            _ => self.warp().is_none_or(torch_has),
        };
        has && self.parts().iter().all(Self::has_torch)
    }

    /// Whether boxes, points and masks can follow it. They cannot follow a mixture of pictures that were moved differently. A function
    /// that gives pictures of another size returns them itself.
    pub(crate) fn is_followed(&self) -> bool {
        !matches!(self, Self::AugMix(_)) && self.parts().iter().all(Self::is_followed)
    }

    /// The pairs of keypoints that it names, or one of those that it has in it.
    pub(crate) fn flip_pairs(&self) -> &[[u32; 2]] {
        match self {
            Self::RandomHorizontalFlip(RandomHorizontalFlip { flip_pairs, .. })
            | Self::RandomVerticalFlip(RandomVerticalFlip { flip_pairs, .. }) => flip_pairs,
            _ => self.parts().iter().map(Self::flip_pairs).find(|pairs| !pairs.is_empty()).unwrap_or_default(),
        }
    }

    /// Whether it draws by the boxes of the record, or one of those that it has in it.
    pub(crate) fn draws_by_boxes(&self) -> bool {
        matches!(self, Self::RandomIouCrop(_)) || self.parts().iter().any(Self::draws_by_boxes)
    }

    /// What is wrong with this place in a list. `is_mosaic` says whether the list begins with a mosaic.
    pub(crate) fn mosaic_problem(&self, place: usize, is_mosaic: bool) -> Option<String> {
        match self {
            Self::Mosaic(_) if place > 0 => Some("it must be the first of the list".to_owned()),
            // These do with each pixel the same, wherever it is.
            Self::Mosaic(_)
            | Self::RandomHorizontalFlip(_)
            | Self::RandomVerticalFlip(_)
            | Self::RandomHsv(_)
            | Self::Normalize(_) => None,
            _ if is_mosaic => Some(
                "it cannot follow mosaic. Only random_horizontal_flip, random_vertical_flip, random_hsv and normalize can"
                    .to_owned(),
            ),
            _ => None,
        }
    }

    /// The filter by which it may turn or shear, if it does.
    fn warp(&self) -> Option<Interpolation> {
        match self {
            Self::RandomAffine(RandomAffine { interpolation, .. })
            | Self::AugMix(AugMix { interpolation, .. })
            | Self::RandomPerspective(RandomPerspective { interpolation, .. })
            | Self::RandomRotation(RandomRotation { interpolation, .. })
            | Self::AutoAugment(AutoAugment { interpolation, .. })
            | Self::RandAugment(RandAugment { interpolation, .. })
            | Self::TrivialAugmentWide(TrivialAugmentWide { interpolation, .. }) => Some(*interpolation),
            Self::TimmRandAugment(augment) => Some(augment.filter()),
            _ => None,
        }
    }

    /// The same behind a normalisation; nothing if that cannot be.
    pub(crate) fn behind(self, normalize: &Normalize) -> Option<Self> {
        let Self::RandomErasing(erasing) = self else { return None };
        let behind = Some(Normalized { mean: normalize.mean.rgb(), std: normalize.std.rgb() });
        Some(Self::RandomErasing(RandomErasing { behind, ..erasing }))
    }

    /// What `size=` means with shuffle: a random part resized to a square, mirrored half the time.
    pub fn training(size: u32) -> Vec<Self> {
        vec![
            Self::RandomResizedCrop(RandomResizedCrop::to(Size::One(size))),
            Self::RandomHorizontalFlip(RandomHorizontalFlip::by_chance(half())),
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

/// What is wrong with the transforms that a transform has in it.
fn list_problem(transforms: &[Transform]) -> Option<String> {
    if transforms.is_empty() {
        return Some("transforms is an empty list; give at least one".to_owned());
    }
    (0..).zip(transforms).find_map(|(number, transform): (usize, _)| {
        let problem = match transform {
            Transform::Normalize(_) => Some("it must be at the end of the whole list".to_owned()),
            Transform::Mosaic(_) => Some("it must be the first of the whole list".to_owned()),
            _ => transform.problem(),
        };
        problem.map(|problem| format!("transforms[{number}] ({}): {problem}", transform.name()))
    })
}
