//! Brightness, contrast, saturation and hue by chance, in an order by chance.

use serde::Deserialize;

use super::{Brightness, Contrast, Hue, Operation, Saturation};
use crate::draw::Draws;

/// torchvision's `ColorJitter`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColorJitter {
    /// Factor of the brightness: as far as this from 1, or between these.
    #[serde(default)]
    pub brightness: Option<Jitter>,
    /// Factor of the contrast.
    #[serde(default)]
    pub contrast: Option<Jitter>,
    /// Factor of the saturation.
    #[serde(default)]
    pub saturation: Option<Jitter>,
    /// Turn of the hue, as a part of a full circle: as far as this from 0, or between these. At most 0.5.
    #[serde(default)]
    pub hue: Option<Jitter>,
}

/// From where to where a number is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(untagged, expecting = "a range must be one number or [least, greatest]")]
pub enum Jitter {
    /// How far at most from the number that changes nothing.
    By(f64),
    /// Between these.
    Between([f64; 2]),
}

impl ColorJitter {
    pub(crate) fn problem(&self) -> Option<String> {
        let factor = |key, jitter: Option<Jitter>| problem(key, jitter, 1.0, [0.0, 1e6]);
        factor("brightness", self.brightness)
            .or_else(|| factor("contrast", self.contrast))
            .or_else(|| factor("saturation", self.saturation))
            .or_else(|| problem("hue", self.hue, 0.0, [-0.5, 0.5]))
    }

    /// Draw 0 is the order, and those from 1 on are the numbers. A number that can only change nothing is not drawn.
    pub(crate) fn draw(&self, draws: Draws, _size: (u32, u32), give: &mut dyn FnMut(Operation)) {
        let mut order = [0, 1, 2, 3];
        draws.shuffle(0, &mut order);
        for which in order {
            let (jitter, neutral) = match which {
                0 => (self.brightness, 1.0),
                1 => (self.contrast, 1.0),
                2 => (self.saturation, 1.0),
                _ => (self.hue, 0.0),
            };
            let Some([low, high]) = jitter.map(|jitter| jitter.ends(neutral)) else { continue };
            if low.to_bits() == high.to_bits() && low.to_bits() == f64::to_bits(neutral) {
                continue;
            }
            let drawn = draws.between(1 + which, low, high);
            give(match which {
                0 => Operation::Brightness(Brightness { brightness_factor: drawn }),
                1 => Operation::Contrast(Contrast { contrast_factor: drawn }),
                2 => Operation::Saturation(Saturation { saturation_factor: drawn }),
                _ => Operation::Hue(Hue { hue_factor: drawn }),
            });
        }
    }
}

impl Jitter {
    /// The least and the greatest number. A factor is not below 0.
    pub(crate) fn ends(self, neutral: f64) -> [f64; 2] {
        match self {
            Self::By(by) if neutral > 0.0 => [(neutral - by).max(0.0), neutral + by],
            Self::By(by) => [neutral - by, neutral + by],
            Self::Between(ends) => ends,
        }
    }
}

fn problem(key: &str, jitter: Option<Jitter>, neutral: f64, [least, greatest]: [f64; 2]) -> Option<String> {
    let jitter = jitter?;
    let [low, high] = jitter.ends(neutral);
    let good = least <= low && low <= high && high <= greatest;
    let shown = match jitter {
        Jitter::By(by) => by.to_string(),
        Jitter::Between([low, high]) => format!("[{low}, {high}]"),
    };
    (!good)
        .then(|| format!("{key} is {shown}, which gives {low} to {high}, but must stay within {least} and {greatest}"))
}
