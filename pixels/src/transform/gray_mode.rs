//! Which transforms take gray pictures. A gray picture is carried through them as three equal channels, so a transform takes it if it
//! keeps these equal.

use super::{
    Normalize, PadBy, RandomApply, RandomChoice, RandomCrop, RandomOrder, RandomRotation, RandomZoomOut, Transform,
};
use crate::operation::{
    AugMix, AutoAugment, ErasingValue, Fill, RandAugment, RandomAffine, RandomErasing, RandomPerspective,
    TrivialAugmentWide,
};

impl Transform {
    /// Why it does not take gray pictures, if it does not.
    pub(crate) fn gray_problem(&self) -> Option<String> {
        match self {
            Self::RandomHsv(_) => Some("it changes colours, which pictures of the mode \"L\" do not have".to_owned()),
            Self::Grayscale(_) => Some(
                "it gives three channels, and pictures of the mode \"L\" are gray already; leave it out".to_owned(),
            ),
            Self::Python(_) => Some(
                "its function gets and returns three channels, and pictures of the mode \"L\" have one; leave mode out"
                    .to_owned(),
            ),
            Self::Normalize(Normalize { mean, std }) => {
                let differ = |values: &[f32; 3]| values[1..].iter().any(|value| value.to_bits() != values[0].to_bits());
                (differ(mean) || differ(std))
                    .then(|| "mean and std must be one number each with the mode \"L\"".to_owned())
            }
            Self::RandomErasing(RandomErasing { value: ErasingValue::Rgb(_), .. }) => {
                Some("value must be one number with the mode \"L\"".to_owned())
            }
            Self::PadBy(PadBy { fill, .. })
            | Self::RandomCrop(RandomCrop { fill, .. })
            | Self::RandomZoomOut(RandomZoomOut { fill, .. })
            | Self::RandomPerspective(RandomPerspective { fill, .. })
            | Self::RandomAffine(RandomAffine { fill, .. }) => coloured(Some(*fill)),
            Self::RandomRotation(RandomRotation { fill, .. })
            | Self::AutoAugment(AutoAugment { fill, .. })
            | Self::RandAugment(RandAugment { fill, .. })
            | Self::TrivialAugmentWide(TrivialAugmentWide { fill, .. })
            | Self::AugMix(AugMix { fill, .. }) => coloured(*fill),
            Self::TimmRandAugment(augment) => coloured(Some(augment.fill())),
            Self::RandomApply(RandomApply { transforms, .. })
            | Self::RandomChoice(RandomChoice { transforms, .. })
            | Self::RandomOrder(RandomOrder { transforms }) => {
                let inside = transforms.iter().find_map(|part| Some((part.name(), part.gray_problem()?)));
                inside.map(|(name, problem)| format!("{name}: {problem}"))
            }
            _ => None,
        }
    }
}

fn coloured(fill: Option<Fill>) -> Option<String> {
    match fill {
        Some(Fill::Rgb([red, green, blue]))
            if red.to_bits() != green.to_bits() || green.to_bits() != blue.to_bits() =>
        {
            Some("fill must be one number with the mode \"L\"".to_owned())
        }
        _ => None,
    }
}
