//! timm's `RandAugment`, from a text such as `rand-m9-mstd0.5-inc1`.

use serde::Deserialize;

use super::solarize_add::{SolarizeAdd, half_of_all};
use super::warp::{Fill, interpolation_problem};
use super::{
    AffineMatrix, Autocontrast, Brightness, Contrast, Equalize, Invert, Operation, Posterize, Rotate, Saturation,
    Sharpness, Solarize,
};
use crate::draw::Draws;
use crate::interpolation::Interpolation;
use crate::number::probability_problem;

/// The magnitude that timm's ranges are meant for.
const LEVELS: f64 = 10.0;

/// timm's `RandAugment`: some operations, each with its own probability and a magnitude that may vary.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "TimmDocument")]
pub struct TimmRandAugment {
    levels: TimmLevels,
    fill: Fill,
    interpolation: Option<Interpolation>,
}

/// What a text says.
#[derive(Clone, Copy, Debug, PartialEq)]
struct TimmLevels {
    magnitude: f64,
    /// Standard deviation of the magnitude.
    deviation: f64,
    most: f64,
    operations: u32,
    p: f64,
    /// Whether greater magnitudes always change more.
    increasing: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TimmDocument {
    config: String,
    #[serde(default = "mean_of_imagenet")]
    fill: Fill,
    #[serde(default)]
    interpolation: Option<Interpolation>,
}

impl TryFrom<TimmDocument> for TimmRandAugment {
    type Error = String;

    fn try_from(document: TimmDocument) -> Result<Self, String> {
        let TimmDocument { config, fill, interpolation } = document;
        Ok(Self { levels: TimmLevels::read(&config)?, fill, interpolation })
    }
}

impl TimmLevels {
    /// Reads the text. Its parts are a word and a number each.
    fn read(text: &str) -> Result<Self, String> {
        let refused = |part: &str| {
            format!(
                "config is \"{text}\", in which \"{part}\" is not known; give rand, and any of m9 (magnitude), mstd0.5 (its \
                 standard deviation), mmax10 (its maximum), n2 (operations), p0.5 (probability of each) and inc1 (increasing), \
                 with dashes between them"
            )
        };
        let mut parts = text.split('-');
        let kind = parts.next().unwrap_or_default();
        if kind != "rand" {
            return Err(refused(kind));
        }
        let mut levels =
            Self { magnitude: LEVELS, deviation: 0.0, most: LEVELS, operations: 2, p: 0.5, increasing: false };
        for part in parts {
            let (word, number) = part.split_at(part.find(|one: char| one.is_ascii_digit()).unwrap_or(part.len()));
            let whole = || number.parse::<u32>().ok().filter(|number| *number <= 1000).ok_or_else(|| refused(part));
            let any = || number.parse::<f64>().ok().filter(|number| number.is_finite()).ok_or_else(|| refused(part));
            match word {
                "m" => levels.magnitude = f64::from(whole()?),
                "mstd" => levels.deviation = any()?,
                "mmax" => levels.most = f64::from(whole()?),
                "n" => levels.operations = whole()?,
                "p" => levels.p = any()?,
                "inc" if number == "1" => levels.increasing = true,
                _ => return Err(refused(part)),
            }
        }
        Ok(levels)
    }

    /// The magnitude of one operation. A standard deviation above 100 means any magnitude up to the given one.
    fn drawn(&self, draws: Draws) -> f64 {
        let magnitude = if self.deviation > 100.0 {
            draws.between(2, 0.0, self.magnitude)
        } else {
            self.magnitude + self.deviation * draws.normal(2)
        };
        magnitude.clamp(0.0, self.most)
    }
}

impl TimmRandAugment {
    pub(crate) fn problem(&self) -> Option<String> {
        let TimmLevels { operations, p, .. } = self.levels;
        if operations > 16 {
            return Some(format!("config has n{operations}, but must have at most n16"));
        }
        probability_problem(p)
            .or_else(|| self.interpolation.and_then(interpolation_problem))
            .or_else(|| self.fill.problem())
    }

    /// What fills the places that a move leaves.
    pub(crate) fn fill(&self) -> Fill {
        self.fill
    }

    /// A filter that it may move pixels by: the one that fewer libraries have.
    pub(crate) fn filter(&self) -> Interpolation {
        self.interpolation.unwrap_or(Interpolation::Bicubic)
    }

    /// Of each operation, draw 0 is which, 1 whether, 2 and 3 its magnitude, 4 its direction, and 5 its filter.
    pub(crate) fn draw(&self, draws: Draws, size: (u32, u32), give: &mut dyn FnMut(Operation)) {
        for number in 0..self.levels.operations {
            let draws = draws.part(number.into());
            if draws.unit(1) < self.levels.p {
                give(self.operation(draws, size));
            }
        }
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "cut off, as in timm")]
    fn operation(&self, draws: Draws, (width, height): (u32, u32)) -> Operation {
        let increasing = self.levels.increasing;
        let level = self.levels.drawn(draws) / LEVELS;
        let signed = |most: f64| if draws.unit(4) > 0.5 { -level * most } else { level * most };
        let factor = || if increasing { (1.0 + signed(0.9)).max(0.1) } else { level * 1.8 + 0.1 };
        let drawn = || if draws.unit(5) < 0.5 { Interpolation::Bilinear } else { Interpolation::Bicubic };
        let (interpolation, fill) = (self.interpolation.unwrap_or_else(drawn), Some(self.fill));
        let moved = |matrix: [f64; 6]| Operation::AffineMatrix(AffineMatrix { matrix, interpolation, fill });
        let inverted = (level * 256.0) as u32;
        let bits = ((level * 4.0) as u8).min(8);
        match draws.below(0, 15) {
            0 => Operation::Autocontrast(Autocontrast {}),
            1 => Operation::Equalize(Equalize {}),
            2 => Operation::Invert(Invert {}),
            3 => Operation::Rotate(Rotate { angle: signed(30.0), interpolation, center: None, fill }),
            4 => Operation::Posterize(Posterize { bits: if increasing { 4_u8.saturating_sub(bits) } else { bits } }),
            5 => {
                let threshold = if increasing { 256 - inverted.min(256) } else { inverted.min(256) };
                Operation::Solarize(Solarize { threshold: threshold.into() })
            }
            6 => {
                let add = ((level * 110.0) as u8).min(128);
                Operation::SolarizeAdd(SolarizeAdd { add, threshold: half_of_all() })
            }
            7 => Operation::Saturation(Saturation { saturation_factor: factor() }),
            8 => Operation::Contrast(Contrast { contrast_factor: factor() }),
            9 => Operation::Brightness(Brightness { brightness_factor: factor() }),
            10 => Operation::Sharpness(Sharpness { sharpness_factor: factor() }),
            11 => moved([1.0, signed(0.3), 0.0, 0.0, 1.0, 0.0]),
            12 => moved([1.0, 0.0, 0.0, signed(0.3), 1.0, 0.0]),
            13 => moved([1.0, 0.0, signed(0.45) * f64::from(width), 0.0, 1.0, 0.0]),
            _ => moved([1.0, 0.0, 0.0, 0.0, 1.0, signed(0.45) * f64::from(height)]),
        }
    }
}

/// timm fills with the mean of the dataset, which its models have from `ImageNet`.
fn mean_of_imagenet() -> Fill {
    Fill::Rgb([124.0, 116.0, 104.0])
}
