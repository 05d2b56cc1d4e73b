//! One of a policy's pairs of operations, which were found by search for a dataset.

use serde::Deserialize;

use super::Operation;
use super::affine::nearest;
use super::magnitude::{Kind, Moved, Strengths};
use super::rand_augment::give_some;
use super::warp::{Fill, interpolation_problem};
use crate::draw::Draws;
use crate::interpolation::Interpolation;

use Kind::{
    Autocontrast, Brightness, Color, Contrast, Equalize, Invert, Posterize, Rotate, Sharpness, ShearX, ShearY,
    Solarize, TranslateX, TranslateY,
};

/// torchvision's `AutoAugment`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AutoAugment {
    /// The dataset that the policy was found for.
    #[serde(default)]
    pub policy: AutoAugmentPolicy,
    /// Filter of what is moved.
    #[serde(default = "nearest")]
    pub interpolation: Interpolation,
    /// What comes from outside of the picture. Without it, black.
    #[serde(default)]
    pub fill: Option<Fill>,
}

/// The dataset that a policy was found for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AutoAugmentPolicy {
    /// `ImageNet`.
    #[default]
    Imagenet,
    /// CIFAR-10.
    Cifar10,
    /// Street View House Numbers.
    Svhn,
}

/// An operation, how likely it is in tenths, and its magnitude out of ten.
type PolicyChoice = (Kind, u8, u32);

impl AutoAugment {
    pub(crate) fn problem(&self) -> Option<String> {
        interpolation_problem(self.interpolation).or_else(|| self.fill.and_then(Fill::problem))
    }

    pub(crate) fn draw(&self, draws: Draws, (width, height): (u32, u32), give: &mut dyn FnMut(Operation)) {
        let strengths = Strengths {
            bins: 10,
            shear: 0.3,
            translate: [width, height].map(|side| 150.0 / 331.0 * f64::from(side)),
            rotate: 30.0,
            factor: 0.9,
            bits: 8.0,
            posterize: 4.0,
        };
        let moved = Moved { interpolation: self.interpolation, fill: self.fill };
        let pairs = self.policy.pairs();
        let pair = pairs[draws.below(0, u32::try_from(pairs.len()).expect("there are 25")) as usize];
        for (number, (kind, tenths, bin)) in (0..).zip(pair) {
            let draws = draws.part(number);
            if draws.unit(0) < f64::from(tenths) / 10.0 {
                give_some(kind.operation(&strengths, bin, draws.unit(1) < 0.5, moved), give);
            }
        }
    }
}

impl AutoAugmentPolicy {
    fn pairs(self) -> &'static [[PolicyChoice; 2]; 25] {
        match self {
            Self::Imagenet => &IMAGENET,
            Self::Cifar10 => &CIFAR10,
            Self::Svhn => &SVHN,
        }
    }
}

/// The policy of the paper for `ImageNet` (Cubuk and others, 2019).
#[rustfmt::skip]
const IMAGENET: [[PolicyChoice; 2]; 25] = [
    [(Posterize, 4, 8), (Rotate, 6, 9)],
    [(Solarize, 6, 5), (Autocontrast, 6, 0)],
    [(Equalize, 8, 0), (Equalize, 6, 0)],
    [(Posterize, 6, 7), (Posterize, 6, 6)],
    [(Equalize, 4, 0), (Solarize, 2, 4)],
    [(Equalize, 4, 0), (Rotate, 8, 8)],
    [(Solarize, 6, 3), (Equalize, 6, 0)],
    [(Posterize, 8, 5), (Equalize, 10, 0)],
    [(Rotate, 2, 3), (Solarize, 6, 8)],
    [(Equalize, 6, 0), (Posterize, 4, 6)],
    [(Rotate, 8, 8), (Color, 4, 0)],
    [(Rotate, 4, 9), (Equalize, 6, 0)],
    [(Equalize, 0, 0), (Equalize, 8, 0)],
    [(Invert, 6, 0), (Equalize, 10, 0)],
    [(Color, 6, 4), (Contrast, 10, 8)],
    [(Rotate, 8, 8), (Color, 10, 2)],
    [(Color, 8, 8), (Solarize, 8, 7)],
    [(Sharpness, 4, 7), (Invert, 6, 0)],
    [(ShearX, 6, 5), (Equalize, 10, 0)],
    [(Color, 4, 0), (Equalize, 6, 0)],
    [(Equalize, 4, 0), (Solarize, 2, 4)],
    [(Solarize, 6, 5), (Autocontrast, 6, 0)],
    [(Invert, 6, 0), (Equalize, 10, 0)],
    [(Color, 6, 4), (Contrast, 10, 8)],
    [(Equalize, 8, 0), (Equalize, 6, 0)],
];

/// The policy of the paper for CIFAR-10 (Cubuk and others, 2019).
#[rustfmt::skip]
const CIFAR10: [[PolicyChoice; 2]; 25] = [
    [(Invert, 1, 0), (Contrast, 2, 6)],
    [(Rotate, 7, 2), (TranslateX, 3, 9)],
    [(Sharpness, 8, 1), (Sharpness, 9, 3)],
    [(ShearY, 5, 8), (TranslateY, 7, 9)],
    [(Autocontrast, 5, 0), (Equalize, 9, 0)],
    [(ShearY, 2, 7), (Posterize, 3, 7)],
    [(Color, 4, 3), (Brightness, 6, 7)],
    [(Sharpness, 3, 9), (Brightness, 7, 9)],
    [(Equalize, 6, 0), (Equalize, 5, 0)],
    [(Contrast, 6, 7), (Sharpness, 6, 5)],
    [(Color, 7, 7), (TranslateX, 5, 8)],
    [(Equalize, 3, 0), (Autocontrast, 4, 0)],
    [(TranslateY, 4, 3), (Sharpness, 2, 6)],
    [(Brightness, 9, 6), (Color, 2, 8)],
    [(Solarize, 5, 2), (Invert, 0, 0)],
    [(Equalize, 2, 0), (Autocontrast, 6, 0)],
    [(Equalize, 2, 0), (Equalize, 6, 0)],
    [(Color, 9, 9), (Equalize, 6, 0)],
    [(Autocontrast, 8, 0), (Solarize, 2, 8)],
    [(Brightness, 1, 3), (Color, 7, 0)],
    [(Solarize, 4, 5), (Autocontrast, 9, 0)],
    [(TranslateY, 9, 9), (TranslateY, 7, 9)],
    [(Autocontrast, 9, 0), (Solarize, 8, 3)],
    [(Equalize, 8, 0), (Invert, 1, 0)],
    [(TranslateY, 7, 9), (Autocontrast, 9, 0)],
];

/// The policy of the paper for SVHN (Cubuk and others, 2019).
#[rustfmt::skip]
const SVHN: [[PolicyChoice; 2]; 25] = [
    [(ShearX, 9, 4), (Invert, 2, 0)],
    [(ShearY, 9, 8), (Invert, 7, 0)],
    [(Equalize, 6, 0), (Solarize, 6, 6)],
    [(Invert, 9, 0), (Equalize, 6, 0)],
    [(Equalize, 6, 0), (Rotate, 9, 3)],
    [(ShearX, 9, 4), (Autocontrast, 8, 0)],
    [(ShearY, 9, 8), (Invert, 4, 0)],
    [(ShearY, 9, 5), (Solarize, 2, 6)],
    [(Invert, 9, 0), (Autocontrast, 8, 0)],
    [(Equalize, 6, 0), (Rotate, 9, 3)],
    [(ShearX, 9, 4), (Solarize, 3, 3)],
    [(ShearY, 8, 8), (Invert, 7, 0)],
    [(Equalize, 9, 0), (TranslateY, 6, 6)],
    [(Invert, 9, 0), (Equalize, 6, 0)],
    [(Contrast, 3, 3), (Rotate, 8, 4)],
    [(Invert, 8, 0), (TranslateY, 0, 2)],
    [(ShearY, 7, 6), (Solarize, 4, 8)],
    [(Invert, 6, 0), (Rotate, 8, 4)],
    [(ShearY, 3, 7), (TranslateX, 9, 3)],
    [(ShearX, 1, 6), (Invert, 6, 0)],
    [(Solarize, 7, 2), (TranslateY, 6, 7)],
    [(ShearY, 8, 4), (Invert, 8, 0)],
    [(ShearX, 7, 9), (TranslateY, 8, 3)],
    [(ShearY, 8, 5), (Autocontrast, 7, 0)],
    [(ShearX, 7, 2), (Invert, 1, 0)],
];
