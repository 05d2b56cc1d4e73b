//! A rectangle filled with a colour or with noise.

use serde::{Deserialize, Serialize};

use super::Operation;
use super::workpiece::Workpiece;
use crate::draw::Draws;
use crate::number::{half, probability_problem, range_problem};

/// Tries of a rectangle before nothing is erased, as torchvision.
const TRIES: u64 = 10;

/// torchvision's `erase`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Erase {
    /// First row.
    pub i: u32,
    /// First column.
    pub j: u32,
    /// Rows. Those beyond the picture do not count.
    pub h: u32,
    /// Columns.
    pub w: u32,
    /// What the rectangle is filled with.
    pub v: Filling,
}

/// What a rectangle is filled with.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(untagged, expecting = "v must be one number or [red, green, blue], from 0 to 255")]
pub enum Filling {
    /// One value for all channels.
    Gray(u8),
    /// Red, green and blue.
    Rgb([u8; 3]),
    /// A random value for each pixel and channel.
    #[serde(skip_deserializing)]
    Noise(Noise),
}

/// Values of a normal distribution. Written as a document, it is the word "noise".
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    draws: Draws,
    by: Normalized,
}

/// torchvision's `RandomErasing`. Before `normalize` its value is one of pixels, from 0 to 255. Behind it, the value is one of
/// normalised pixels, to the nearest that a pixel of 8 bits can have.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomErasing {
    /// Probability from 0 to 1.
    #[serde(default = "half")]
    pub p: f64,
    /// Smallest and largest part of the picture's area.
    #[serde(default = "default_scale")]
    pub scale: [f64; 2],
    /// Smallest and largest height / width of the rectangle.
    #[serde(default = "default_ratio")]
    pub ratio: [f64; 2],
    /// What the rectangle is filled with.
    #[serde(default)]
    pub value: ErasingValue,
    /// The normalisation that precedes it. A recipe sets this.
    #[serde(skip)]
    pub(crate) behind: Option<Normalized>,
}

/// Means and standard deviations of red, green and blue by which values are normalised, where 255 is 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Normalized {
    pub(crate) mean: [f32; 3],
    pub(crate) std: [f32; 3],
}

/// What a random rectangle is filled with.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(untagged, expecting = "value must be one number, [red, green, blue] or \"random\"")]
pub enum ErasingValue {
    /// One number for all channels.
    One(f64),
    /// Red, green and blue.
    Rgb([f64; 3]),
    /// A random number for each pixel and channel.
    Random(RandomKeyword),
}

/// The word for random values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RandomKeyword {
    /// Of a normal distribution with mean 0 and standard deviation 1, in normalised values.
    Random,
}

impl Serialize for Noise {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str("noise")
    }
}

impl Default for ErasingValue {
    fn default() -> Self {
        Self::One(0.0)
    }
}

impl Erase {
    pub(super) const IS_LOCAL: bool = false;

    #[expect(clippy::unused_self, reason = "every operation has this signature")]
    pub(super) fn problem(self) -> Option<String> {
        None
    }

    pub(super) fn carry_out(self, work: &mut Workpiece<'_>) {
        let (width, height) = work.size();
        let within = |first: u32, len: u32, side: usize| {
            let first = (first as usize).min(side);
            first..first.saturating_add(len as usize).min(side)
        };
        let (rows, columns) = (within(self.i, self.h, height), within(self.j, self.w, width));
        let rgb = work.changeable();
        for (number, row) in (0..).zip(rgb.chunks_exact_mut(width * 3).skip(rows.start).take(rows.len())) {
            let pixels = &mut row.as_chunks_mut::<3>().0[columns.clone()];
            match self.v {
                Filling::Gray(value) => pixels.fill([value; 3]),
                Filling::Rgb(rgb) => pixels.fill(rgb),
                Filling::Noise(noise) => noise.fill(number, pixels),
            }
        }
    }
}

impl Noise {
    /// Fills a row, whose number in the rectangle this is.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "halves of 32 bits, and casts that saturate"
    )]
    fn fill(self, row: u64, pixels: &mut [[u8; 3]]) {
        let draws = self.draws.part(row);
        // Two numbers of 32 bits give two of a normal distribution.
        let mut spare = None;
        let mut number = 0;
        let mut normal = || {
            if let Some(spare) = spare.take() {
                return spare;
            }
            let bits = draws.bits(number);
            number += 1;
            let [radius, angle] = [bits >> 32, bits & 0xFFFF_FFFF].map(|half| (half as f64 + 0.5) / 4_294_967_296.0);
            let radius = libm::sqrt(-2.0 * libm::log(radius));
            let (sine, cosine) = libm::sincos(std::f64::consts::TAU * angle);
            spare = Some(radius * sine);
            radius * cosine
        };
        for pixel in pixels {
            for ((value, mean), std) in pixel.iter_mut().zip(self.by.mean).zip(self.by.std) {
                let drawn = f64::from(mean) + f64::from(std) * normal();
                *value = (drawn * 255.0 + 0.5) as u8;
            }
        }
    }
}

impl RandomErasing {
    /// An erasing that comes before `normalize`, if there is one.
    pub fn new(p: f64, scale: [f64; 2], ratio: [f64; 2], value: ErasingValue) -> Self {
        Self { p, scale, ratio, value, behind: None }
    }

    pub(crate) fn problem(&self) -> Option<String> {
        probability_problem(self.p)
            .or_else(|| range_problem("scale", self.scale))
            .or_else(|| (self.scale[1] > 1.0).then(|| format!("scale is {:?}, but must be at most 1", self.scale)))
            .or_else(|| range_problem("ratio", self.ratio))
            .or_else(|| self.value_problem())
    }

    fn value_problem(&self) -> Option<String> {
        let good = |value: f64| if self.behind.is_some() { value.is_finite() } else { (0.0..256.0).contains(&value) };
        match self.value {
            ErasingValue::One(value) if good(value) => None,
            ErasingValue::Rgb(values) if values.into_iter().all(good) => None,
            ErasingValue::Random(_) if self.behind.is_some() => None,
            ErasingValue::Random(_) => {
                Some("value is \"random\", which is only there behind normalize; move random_erasing there".to_owned())
            }
            ErasingValue::One(_) | ErasingValue::Rgb(_) => {
                Some("value must be from 0 to 255, or behind normalize any finite number".to_owned())
            }
        }
    }

    /// The rectangle is drawn as torchvision draws it: area and ratio, until both fit into the picture.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "such casts saturate, which is meant")]
    pub(crate) fn draw(&self, draws: Draws, (width, height): (u32, u32), give: &mut dyn FnMut(Operation)) {
        if draws.unit(0) >= self.p {
            return;
        }
        let area = f64::from(width) * f64::from(height);
        let log_ratio = self.ratio.map(libm::log);
        let side = |square: f64| libm::rint(libm::sqrt(square)) as u32;
        for number in (1..=TRIES * 4).step_by(4) {
            let part = area * draws.between(number, self.scale[0], self.scale[1]);
            let ratio = libm::exp(draws.between(number + 1, log_ratio[0], log_ratio[1]));
            let (h, w) = (side(part * ratio), side(part / ratio));
            if h < height && w < width {
                let i = draws.below(number + 2, height - h + 1);
                let j = draws.below(number + 3, width - w + 1);
                give(Operation::Erase(Erase { i, j, h, w, v: self.filling(draws) }));
                return;
            }
        }
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "such casts saturate, which is meant")]
    fn filling(&self, draws: Draws) -> Filling {
        let values = match self.value {
            ErasingValue::One(value) => [value; 3],
            ErasingValue::Rgb(values) => values,
            ErasingValue::Random(_) => {
                let by = self.behind.unwrap_or(Normalized { mean: [0.0; 3], std: [1.0; 3] });
                return Filling::Noise(Noise { draws: draws.part(0), by });
            }
        };
        Filling::Rgb(std::array::from_fn(|channel| match &self.behind {
            None => values[channel] as u8,
            Some(n) => ((values[channel] * f64::from(n.std[channel]) + f64::from(n.mean[channel])) * 255.0 + 0.5) as u8,
        }))
    }
}

fn default_scale() -> [f64; 2] {
    [0.02, 0.33]
}

fn default_ratio() -> [f64; 2] {
    [0.3, 3.3]
}
