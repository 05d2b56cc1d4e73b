//! Which transforms take pictures of which mode. A gray picture is carried through them as three equal channels, so a transform takes
//! it if it keeps these equal. Pictures with alpha are carried through those alone that move pixels by whole ones or resize them.

use super::{
    Normalize, PadBy, RandomApply, RandomChoice, RandomCrop, RandomOrder, RandomRotation, RandomZoomOut, Transform,
};
use crate::operation::{
    AugMix, AutoAugment, ErasingValue, Fill, RandAugment, RandomAffine, RandomErasing, RandomPerspective,
    TrivialAugmentWide,
};
use crate::output::Mode;

impl Transform {
    /// Why it does not take pictures of this mode, if it does not.
    pub(crate) fn mode_problem(&self, mode: Mode) -> Option<String> {
        match self {
            Self::Normalize(Normalize { mean, std }) => {
                let fits = |numbers: &[f32]| fits(numbers.len(), mode);
                (!fits(mean.numbers()) || !fits(std.numbers())).then(|| match mode.channels() {
                    1 => format!("mean and std must be one number each with the mode \"{}\"", mode.name()),
                    channels => {
                        format!(
                            "mean and std must be one number each, or {channels}, with the mode \"{}\"",
                            mode.name()
                        )
                    }
                })
            }
            Self::PadBy(PadBy { fill, .. })
            | Self::RandomCrop(RandomCrop { fill, .. })
            | Self::RandomZoomOut(RandomZoomOut { fill, .. }) => fill_problem(Some(*fill), mode),
            Self::RandomApply(RandomApply { transforms, .. })
            | Self::RandomChoice(RandomChoice { transforms, .. })
            | Self::RandomOrder(RandomOrder { transforms }) => {
                let inside = transforms.iter().find_map(|part| Some((part.name(), part.mode_problem(mode)?)));
                inside.map(|(name, problem)| format!("{name}: {problem}"))
            }
            _ if mode == Mode::L => self.gray_problem(),
            _ if !mode.takes_operations() && !self.moves_pixels() => Some(format!(
                "pictures of the mode \"{}\" take flips, crops, borders, resizes and normalize alone",
                mode.name()
            )),
            _ => None,
        }
    }

    /// Whether it only flips, crops, resizes or adds a border.
    fn moves_pixels(&self) -> bool {
        matches!(
            self,
            Self::RandomResizedCrop(_)
                | Self::Resize(_)
                | Self::Crop(_)
                | Self::Pad(_)
                | Self::RandomIouCrop(_)
                | Self::ScaleJitter(_)
                | Self::RandomShortestSize(_)
                | Self::RandomHorizontalFlip(_)
                | Self::RandomVerticalFlip(_)
                | Self::CenterCrop(_)
                | Self::ExpectSize(_)
                | Self::Letterbox(_)
        )
    }

    fn gray_problem(&self) -> Option<String> {
        match self {
            Self::RandomHsv(_) => Some("it changes colours, which pictures of the mode \"L\" do not have".to_owned()),
            Self::Grayscale(_) => Some(
                "it gives three channels, and pictures of the mode \"L\" are gray already; leave it out".to_owned(),
            ),
            Self::Python(_) => Some(
                "its function gets and returns three channels, and pictures of the mode \"L\" have one; leave mode out"
                    .to_owned(),
            ),
            Self::RandomErasing(RandomErasing { value: ErasingValue::Rgb(_), .. }) => {
                Some("value must be one number with the mode \"L\"".to_owned())
            }
            Self::RandomPerspective(RandomPerspective { fill, .. }) | Self::RandomAffine(RandomAffine { fill, .. }) => {
                fill_problem(Some(*fill), Mode::L)
            }
            Self::RandomRotation(RandomRotation { fill, .. })
            | Self::AutoAugment(AutoAugment { fill, .. })
            | Self::RandAugment(RandAugment { fill, .. })
            | Self::TrivialAugmentWide(TrivialAugmentWide { fill, .. })
            | Self::AugMix(AugMix { fill, .. }) => fill_problem(*fill, Mode::L),
            Self::TimmRandAugment(augment) => fill_problem(Some(augment.fill()), Mode::L),
            _ => None,
        }
    }
}

/// Whether so many numbers are those of a mode's channels, or one for all.
fn fits(numbers: usize, mode: Mode) -> bool {
    numbers == 1 || numbers == mode.channels() as usize
}

fn fill_problem(fill: Option<Fill>, mode: Mode) -> Option<String> {
    let fill = fill?;
    let numbers = fill.numbers();
    let are_one = matches!(fill, Fill::Rgb(rgb) if mode == Mode::L && rgb.iter().all(|value| value.to_bits() == rgb[0].to_bits()));
    (!fits(numbers.len(), mode) && !are_one).then(|| match mode.channels() {
        1 => format!("fill must be one number with the mode \"{}\"", mode.name()),
        channels => format!("fill must be one number or {channels} with the mode \"{}\"", mode.name()),
    })
}
