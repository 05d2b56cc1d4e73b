//! Operations on the values of a picture, with torchvision's names, parameters and results: what was drawn for one picture,
//! as pure data, and how the CPU carries it out.
//!
//! An operation has a file: its parameters, what is wrong with them, its arithmetic, and the transforms that draw it alone.
//! One line of the table below adds it.
#![expect(clippy::inline_always, reason = "compiled for each kind of vectors: what is not inlined loses them")]

mod affine;
mod affine_matrix;
mod aug_mix;
mod auto_augment;
mod autocontrast;
mod blend;
mod brightness;
mod by_chance;
mod color_jitter;
mod contrast;
mod equalize;
mod erase;
mod gaussian_blur;
mod geometry;
pub(crate) mod gray;
mod hsv;
mod hsv_gains;
mod hue;
mod invert;
mod launched;
mod magnitude;
mod perspective;
mod pillow_blur;
mod pixelwise;
mod posterize;
mod rand_augment;
mod rotate;
mod saturation;
mod sharpness;
mod solarize;
mod solarize_add;
mod tables;
#[cfg(test)]
mod tests;
mod three_augment;
mod timm_rand_augment;
mod trivial_augment;
mod warp;
mod workpiece;

use serde::{Deserialize, Serialize};

use crate::matching::Match;
pub use affine::{Affine, RandomAffine, ShearRange};
pub(crate) use affine::{black, nearest};
pub use affine_matrix::AffineMatrix;
pub use aug_mix::{AugMix, ChainMix};
pub use auto_augment::{AutoAugment, AutoAugmentPolicy};
pub use autocontrast::{Autocontrast, RandomAutocontrast};
pub use brightness::Brightness;
pub use color_jitter::{ColorJitter, Jitter};
pub use contrast::Contrast;
pub use equalize::{Equalize, RandomEqualize};
pub(crate) use erase::Normalized;
pub use erase::{Erase, ErasingValue, Filling, RandomErasing};
pub use gaussian_blur::{Blur, GaussianBlur, OneOrTwo};
pub(crate) use geometry::{Geometry, NearestPixels};
pub use gray::{Gray, Grayscale, RandomGrayscale};
pub use hsv_gains::{HsvGains, RandomHsv};
pub use hue::Hue;
pub use invert::{Invert, RandomInvert};
pub(crate) use launched::{Launched, launched, upside_down};
pub use perspective::{Perspective, RandomPerspective};
pub use pillow_blur::{PillowBlur, PillowGaussianBlur};
pub use posterize::{Posterize, RandomPosterize};
pub use rand_augment::RandAugment;
pub use rotate::Rotate;
pub use saturation::Saturation;
pub use sharpness::{RandomAdjustSharpness, Sharpness};
pub use solarize::{RandomSolarize, Solarize};
pub use solarize_add::SolarizeAdd;
pub use three_augment::ThreeAugment;
pub use timm_rand_augment::TimmRandAugment;
pub use trivial_augment::TrivialAugmentWide;
pub use warp::Fill;
pub(crate) use warp::torch_has;
pub(crate) use workpiece::{Scratch, Workpiece};

/// Makes [`Operation`] of the table of all operations. Each is a type with `IS_LOCAL`, `problem` and `carry_out`.
macro_rules! operations {
    ($($(#[$doc:meta])* $name:literal => $kind:ident,)*) => {
        /// Something to do with the values of a picture. Written as a document, it is a table with one key, the name of
        /// torchvision's function, such as `{"solarize": {"threshold": 128}}`.
        #[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
        pub enum Operation {
            $($(#[$doc])* #[serde(rename = $name)] $kind($kind),)*
        }

        impl Operation {
            /// The name of torchvision's function.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$kind(_) => $name,)*
                }
            }

            /// What is wrong with its parameters, if something is.
            pub fn problem(&self) -> Option<String> {
                match self {
                    $(Self::$kind(operation) => operation.problem(),)*
                }
            }

            /// Whether each pixel of the result depends on its own pixel alone, wherever that is.
            pub(crate) fn is_local(&self) -> bool {
                match self {
                    $(Self::$kind(_) => $kind::IS_LOCAL,)*
                }
            }

            /// Does it, sooner or later.
            pub(crate) fn carry_out(&self, work: &mut Workpiece<'_>) {
                match self {
                    $(Self::$kind(operation) => operation.carry_out(work),)*
                }
            }
        }
    };
}

operations! {
    /// Lighter or darker.
    "adjust_brightness" => Brightness,
    /// Nearer to the mean gray, or farther from it.
    "adjust_contrast" => Contrast,
    /// Nearer to gray, or more colourful.
    "adjust_saturation" => Saturation,
    /// Other colours.
    "adjust_hue" => Hue,
    /// Other colours, more or less of them, lighter or darker.
    "adjust_hsv" => HsvGains,
    /// Blurred, or sharper.
    "adjust_sharpness" => Sharpness,
    /// No colours.
    "rgb_to_grayscale" => Gray,
    /// High values inverted.
    "solarize" => Solarize,
    /// Fewer bits in a value.
    "posterize" => Posterize,
    /// All values inverted.
    "invert" => Invert,
    /// Each channel stretched to all values.
    "autocontrast" => Autocontrast,
    /// Each channel's values spread evenly.
    "equalize" => Equalize,
    /// Blurred by a Gaussian kernel.
    "gaussian_blur" => Blur,
    /// A rectangle filled with a colour or with noise.
    "erase" => Erase,
    /// Rotated, sheared, scaled and moved.
    "affine" => Affine,
    /// Rotated.
    "rotate" => Rotate,
    /// Moved by a matrix.
    "affine_matrix" => AffineMatrix,
    /// Four points moved to four others.
    "perspective" => Perspective,
    /// Low values made higher.
    "solarize_add" => SolarizeAdd,
    /// Blurred as Pillow does it.
    "pillow_gaussian_blur" => PillowBlur,
    /// Mixed with chains of other operations.
    "aug_mix" => ChainMix,
}

impl Operation {
    /// Whether torchvision does it to tensors, as [`Match::Torch`] needs it.
    pub fn has_torch(&self) -> bool {
        match self {
            Self::Affine(Affine { interpolation, .. })
            | Self::AffineMatrix(AffineMatrix { interpolation, .. })
            | Self::Perspective(Perspective { interpolation, .. })
            | Self::Rotate(Rotate { interpolation, .. }) => torch_has(*interpolation),
            _ => true,
        }
    }

    /// How it moves the pixels of a picture of this width and height, if it does.
    pub(crate) fn geometry(&self, size: (u32, u32)) -> Option<Geometry> {
        let sides = (size.0 as usize, size.1 as usize);
        let from = match self {
            Self::Affine(affine) => affine.mapping(sides),
            Self::AffineMatrix(moved) => moved.mapping(),
            Self::Perspective(perspective) => perspective.mapping()?,
            Self::Rotate(rotate) => rotate.mapping(sides, Match::Torch),
            _ => return None,
        };
        Some(Geometry::new(from, size, size))
    }

    /// Bytes that it takes in addition to the picture and another one of its size, for a picture of `pixels` pixels. A few
    /// rows are not counted.
    pub(crate) fn own_bytes(&self, pixels: u64) -> u64 {
        match self {
            Self::ChainMix(_) => pixels.saturating_mul(ChainMix::BYTES_OF_PIXEL),
            _ => 0,
        }
    }

    /// Carries the operation out on a picture of `size` (width, height), packed RGB.
    ///
    /// ```
    /// use forebay_pixels::{Invert, Match, Operation};
    ///
    /// let mut rgb = vec![0, 100, 255];
    /// Operation::Invert(Invert {}).apply(&mut rgb, (1, 1), Match::Pillow);
    /// assert_eq!(rgb, [255, 155, 0]);
    /// ```
    ///
    /// # Panics
    /// If `rgb` has another length than such a picture, or a side is 0.
    pub fn apply(&self, rgb: &mut Vec<u8>, size: (u32, u32), matched: Match) {
        let (width, height) = (size.0 as usize, size.1 as usize);
        let len = width * height * 3;
        assert!(len > 0 && rgb.len() == len, "a picture has its pixels and no other bytes");
        let (mut spare, mut scratch) = (Vec::new(), Scratch::default());
        let mut work = Workpiece::new(rgb, &mut spare, &mut scratch, (width, height), matched);
        self.carry_out(&mut work);
        work.finish();
        rgb.truncate(len);
    }
}
