//! Operations on the values of a picture, with torchvision's names, parameters and results: what was drawn for one picture,
//! as pure data, and how the CPU carries it out.
//!
//! An operation has a file: its parameters, what is wrong with them, its arithmetic, and the transforms that draw it alone.
//! One line of the table below adds it.

mod affine;
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
mod gray;
mod hue;
mod invert;
mod magnitude;
mod posterize;
mod rand_augment;
mod rotate;
mod saturation;
mod sharpness;
mod solarize;
mod trivial_augment;
mod warp;
mod workpiece;

use serde::Deserialize;

use crate::matching::Match;
pub use affine::{Affine, RandomAffine, ShearRange};
pub use auto_augment::{AutoAugment, AutoAugmentPolicy};
pub use autocontrast::{Autocontrast, RandomAutocontrast};
pub use brightness::Brightness;
pub use color_jitter::{ColorJitter, Jitter};
pub use contrast::Contrast;
pub use equalize::{Equalize, RandomEqualize};
pub(crate) use erase::Normalized;
pub use erase::{Erase, ErasingValue, Filling, RandomErasing};
pub use gaussian_blur::{Blur, GaussianBlur, OneOrTwo};
pub use gray::{Gray, Grayscale, RandomGrayscale};
pub use hue::Hue;
pub use invert::{Invert, RandomInvert};
pub use posterize::{Posterize, RandomPosterize};
pub use rand_augment::RandAugment;
pub use rotate::{RandomRotation, Rotate};
pub use saturation::Saturation;
pub use sharpness::{RandomAdjustSharpness, Sharpness};
pub use solarize::{RandomSolarize, Solarize};
pub use trivial_augment::TrivialAugmentWide;
pub use warp::Fill;
pub(crate) use warp::torch_has;
pub(crate) use workpiece::Workpiece;

/// Makes [`Operation`] of the table of all operations. Each is a type with `IS_LOCAL`, `problem` and `carry_out`.
macro_rules! operations {
    ($($(#[$doc:meta])* $name:literal => $kind:ident,)*) => {
        /// Something to do with the values of a picture. Written as a document, it is a table with one key, the name of
        /// torchvision's function, such as `{"solarize": {"threshold": 128}}`.
        #[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
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
}

impl Operation {
    /// Whether torchvision does it to tensors, as [`Match::Torch`] needs it.
    pub fn has_torch(&self) -> bool {
        match self {
            Self::Affine(Affine { interpolation, .. }) | Self::Rotate(Rotate { interpolation, .. }) => {
                torch_has(*interpolation)
            }
            _ => true,
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
        let (mut spare, mut floats) = (Vec::new(), Vec::new());
        let mut work = Workpiece::new(rgb, &mut spare, &mut floats, (width, height), matched);
        self.carry_out(&mut work);
        work.finish();
        rgb.truncate(len);
    }
}
