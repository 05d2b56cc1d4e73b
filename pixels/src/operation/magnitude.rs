//! The operations that `AutoAugment`, `RandAugment` and `TrivialAugmentWide` choose from, and how strong each is.

use super::warp::Fill;
use super::{
    Affine, Autocontrast, Brightness, Contrast, Equalize, Invert, Operation, Posterize, Rotate, Saturation, Sharpness,
    Solarize,
};
use crate::interpolation::Interpolation;

/// An operation without its strength.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Identity,
    ShearX,
    ShearY,
    TranslateX,
    TranslateY,
    Rotate,
    Brightness,
    Color,
    Contrast,
    Sharpness,
    Posterize,
    Solarize,
    Autocontrast,
    Equalize,
    Invert,
}

/// How strong operations are at most.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strengths {
    /// How many magnitudes there are, from none to the greatest. At least 2.
    pub(super) bins: u32,
    pub(super) shear: f64,
    /// Pixels along the rows and down the columns.
    pub(super) translate: [f64; 2],
    /// Degrees.
    pub(super) rotate: f64,
    /// How far a factor is from 1.
    pub(super) factor: f64,
    /// How many bits stay at least magnitude, and how many of them go at the greatest.
    pub(super) bits: f32,
    pub(super) posterize: f32,
}

/// How moved pixels are filtered, and what comes from outside.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moved {
    pub(super) interpolation: Interpolation,
    pub(super) fill: Option<Fill>,
}

impl Kind {
    /// The operations of `RandAugment` and `TrivialAugmentWide`.
    pub(super) const ALL: [Self; 14] = [
        Self::Identity,
        Self::ShearX,
        Self::ShearY,
        Self::TranslateX,
        Self::TranslateY,
        Self::Rotate,
        Self::Brightness,
        Self::Color,
        Self::Contrast,
        Self::Sharpness,
        Self::Posterize,
        Self::Solarize,
        Self::Autocontrast,
        Self::Equalize,
    ];

    /// Those that have no factor, without the identity.
    pub(super) const WITHOUT_FACTORS: [Self; 9] = [
        Self::ShearX,
        Self::ShearY,
        Self::TranslateX,
        Self::TranslateY,
        Self::Rotate,
        Self::Posterize,
        Self::Solarize,
        Self::Autocontrast,
        Self::Equalize,
    ];

    /// The operation with the magnitude `bin`, in the other direction if it is negative and has one. None for the identity.
    pub(super) fn operation(
        self,
        strengths: &Strengths,
        bin: u32,
        negative: bool,
        Moved { interpolation, fill }: Moved,
    ) -> Option<Operation> {
        let signed = |most: f64| {
            let magnitude = linear(0.0, most, bin, strengths.bins);
            if negative { -magnitude } else { magnitude }
        };
        let factor = || 1.0 + signed(strengths.factor);
        let affine = |translate: [f64; 2], shear: [f64; 2], center: Option<[f64; 2]>| {
            Operation::Affine(Affine { angle: 0.0, translate, scale: 1.0, shear, interpolation, fill, center })
        };
        // Shears leave the corner where it is.
        let shear = || libm::atan(signed(strengths.shear)).to_degrees();
        let translate = |side: usize| libm::trunc(signed(strengths.translate[side]));
        Some(match self {
            Self::Identity => return None,
            Self::ShearX => affine([0.0; 2], [shear(), 0.0], Some([0.0; 2])),
            Self::ShearY => affine([0.0; 2], [0.0, shear()], Some([0.0; 2])),
            Self::TranslateX => affine([translate(0), 0.0], [0.0; 2], None),
            Self::TranslateY => affine([0.0, translate(1)], [0.0; 2], None),
            Self::Rotate => {
                Operation::Rotate(Rotate { angle: signed(strengths.rotate), interpolation, center: None, fill })
            }
            Self::Brightness => Operation::Brightness(Brightness { brightness_factor: factor() }),
            Self::Color => Operation::Saturation(Saturation { saturation_factor: factor() }),
            Self::Contrast => Operation::Contrast(Contrast { contrast_factor: factor() }),
            Self::Sharpness => Operation::Sharpness(Sharpness { sharpness_factor: factor() }),
            Self::Posterize => Operation::Posterize(Posterize { bits: bits(strengths, bin) }),
            Self::Solarize => {
                Operation::Solarize(Solarize { threshold: 255.0 * linear(1.0, 0.0, bin, strengths.bins) })
            }
            Self::Autocontrast => Operation::Autocontrast(Autocontrast {}),
            Self::Equalize => Operation::Equalize(Equalize {}),
            Self::Invert => Operation::Invert(Invert {}),
        })
    }
}

/// `torch.linspace` in single precision: from either end towards the middle. Each value is rounded once, as torch does on
/// CPUs that multiply and add in one step, which are all with AVX2. Without that, torch rounds twice, and some magnitudes
/// have another last bit.
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "as torch calculates, with few bins")]
fn linear(first: f64, last: f64, bin: u32, bins: u32) -> f64 {
    let (first, last) = (first as f32, last as f32);
    let step = (last - first) / (bins - 1) as f32;
    let (steps, end) = if bin < bins / 2 { (bin as f32, first) } else { (-((bins - 1 - bin) as f32), last) };
    libm::fmaf(step, steps, end).into()
}

/// How many bits stay, halves to even.
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "from 0 to 8")]
fn bits(strengths: &Strengths, bin: u32) -> u8 {
    let per_bit = (strengths.bins - 1) as f32 / strengths.posterize;
    (strengths.bits - bin as f32 / per_bit).round_ties_even() as u8
}

#[cfg(test)]
mod tests {
    use super::linear;

    /// `torch.linspace(first, last, bins)[bin]` with AVX2 or AVX-512, for the bins that differ without these.
    #[test]
    fn magnitudes_have_the_last_bits_of_torch_on_a_cpu_with_avx2() {
        let cases = [
            (0.0, 32.0, 15, 31, 15.999_999_f32, 16.0),
            (0.0, 32.0, 17, 31, 18.133_333_f32, 18.133_331_f32),
            (0.0, 32.0, 24, 31, 25.6, 25.599_998_f32),
            (0.0, 0.99, 19, 31, 0.627_000_03_f32, 0.627),
            (0.0, 0.99, 25, 31, 0.825_f32, 0.825_000_05_f32),
            (1.0, 0.0, 6, 31, 0.8, 0.799_999_95_f32),
            (1.0, 0.0, 13, 31, 0.566_666_66_f32, 0.566_666_6_f32),
            (0.0, 0.9, 20, 31, 0.599_999_96_f32, 0.6),
        ];
        for (first, last, bin, bins, with, without) in cases {
            assert_ne!(with.to_bits(), without.to_bits());
            assert_eq!(linear(first, last, bin, bins).to_bits(), f64::from(with).to_bits(), "{bin} of {first}..{last}");
        }
    }
}
