//! Random operations on values and places, which follow whatever composes a picture.

use forebay_pixels::{
    AutoAugment, AutoAugmentPolicy, ColorJitter, Draws, ErasingValue, Fill, GaussianBlur, Interpolation, Jitter,
    OneOrTwo, PillowGaussianBlur, RandAugment, RandomAdjustSharpness, RandomAffine, RandomAutocontrast, RandomEqualize,
    RandomErasing, RandomGrayscale, RandomHorizontalFlip, RandomHsv, RandomInvert, RandomPerspective, RandomPosterize,
    RandomRotation, RandomSolarize, RandomVerticalFlip, ShearRange, Transform, TrivialAugmentWide,
};

use super::pick;

/// Up to three transforms in a row, each of which draws operations.
pub(super) fn operations(draws: Draws) -> Vec<Transform> {
    (0..draws.below(0, 4)).map(|number| operation(draws.part(number.into()))).collect()
}

fn operation(draws: Draws) -> Transform {
    let filters = [Interpolation::Nearest, Interpolation::Bilinear, Interpolation::Bicubic];
    let interpolation = pick(draws, 1, filters);
    let filling = pick(draws, 2, [Fill::Gray(0.0), Fill::Gray(127.5), Fill::Rgb([1.0, 254.4, 77.5])]);
    let fill = (draws.below(3, 3) > 0).then_some(filling);
    let (degrees, center) = (Jitter::By(180.0), (draws.below(4, 4) == 0).then_some([3.5, -2.0]));
    let num_magnitude_bins = 31;
    match draws.below(0, 20) {
        0 | 1 => Transform::TrivialAugmentWide(TrivialAugmentWide { num_magnitude_bins, interpolation, fill }),
        2 => Transform::RandAugment(RandAugment { num_ops: 2, magnitude: 9, num_magnitude_bins, interpolation, fill }),
        3 => {
            let policies = [AutoAugmentPolicy::Imagenet, AutoAugmentPolicy::Cifar10, AutoAugmentPolicy::Svhn];
            Transform::AutoAugment(AutoAugment { policy: pick(draws, 5, policies), interpolation, fill })
        }
        4 => {
            let by = |by| Some(Jitter::By(by));
            let hue = Some(Jitter::Between([-0.5, 0.5]));
            Transform::ColorJitter(ColorJitter { brightness: by(0.8), contrast: by(1.5), saturation: by(2.0), hue })
        }
        5 => Transform::RandomGrayscale(RandomGrayscale { p: 1.0 }),
        6 => Transform::RandomHsv(RandomHsv { hsv_h: 0.3, hsv_s: 0.7, hsv_v: 0.4 }),
        7 => Transform::RandomAdjustSharpness(RandomAdjustSharpness {
            sharpness_factor: draws.between(5, -1.0, 9.0),
            p: 1.0,
        }),
        8 => Transform::RandomSolarize(RandomSolarize { threshold: draws.between(5, 0.0, 255.0), p: 1.0 }),
        9 => Transform::RandomPosterize(RandomPosterize { bits: pick(draws, 5, [0, 1, 3, 7]), p: 1.0 }),
        10 => Transform::RandomInvert(RandomInvert { p: 1.0 }),
        11 => Transform::RandomAutocontrast(RandomAutocontrast { p: 1.0 }),
        12 => Transform::RandomEqualize(RandomEqualize { p: 1.0 }),
        13 => {
            let value = pick(draws, 5, [ErasingValue::One(9.0), ErasingValue::Rgb([7.0, 0.0, 255.0])]);
            Transform::RandomErasing(RandomErasing::new(1.0, [0.02, 0.5], [0.3, 3.3], value))
        }
        14 => Transform::RandomAffine(RandomAffine {
            degrees,
            translate: Some([0.3, 0.5]),
            scale: pick(draws, 5, [None, Some([0.4, 2.0]), Some([1e-4, 1e-3])]),
            shear: Some(ShearRange::Both([-40.0, 40.0, -20.0, 20.0])),
            interpolation,
            fill: filling,
            center,
        }),
        15 => Transform::RandomPerspective(RandomPerspective {
            distortion_scale: draws.between(5, 0.0, 1.0),
            p: 1.0,
            interpolation,
            fill: filling,
        }),
        16 => {
            let degrees = pick(draws, 5, [degrees, Jitter::Between([90.0, 90.0])]);
            Transform::RandomRotation(RandomRotation { degrees, interpolation, expand: false, center, fill })
        }
        17 => Transform::PillowGaussianBlur(PillowGaussianBlur {
            radius: pick(draws, 5, [OneOrTwo::Two([0.1, 2.0]), OneOrTwo::One(9.0), OneOrTwo::One(65.0)]),
            p: 1.0,
        }),
        18 => Transform::RandomVerticalFlip(RandomVerticalFlip::by_chance(1.0)),
        _ if draws.below(5, 2) == 0 => Transform::RandomHorizontalFlip(RandomHorizontalFlip::by_chance(1.0)),
        _ => Transform::GaussianBlur(GaussianBlur {
            kernel_size: pick(draws, 6, [OneOrTwo::One(3), OneOrTwo::Two([9, 1]), OneOrTwo::One(33)]),
            sigma: OneOrTwo::Two([0.1, 4.0]),
        }),
    }
}
