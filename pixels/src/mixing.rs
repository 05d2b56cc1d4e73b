//! Mixing: a picture of a finished batch becomes a mixture of itself and another one, by torchvision's `MixUp` and `CutMix`
//! (semantics rule 50).
//!
//! [`Mixing`] has the settings. It draws a [`Mixture`] for a picture: pure data, which is then applied to the pixels in
//! place.

mod beta;
mod mixture;

use serde::Deserialize;

use crate::draw::Draws;
use crate::plan::Rect;
use crate::weights;
pub use mixture::{Mixture, PlaceForm};

/// Most transforms of a random choice, with those inside others.
const MOST: usize = 32;
/// Where the Beta distribution's draws are exact to what a single-precision weight shows.
const ALPHAS: std::ops::RangeInclusive<f64> = 0.001..=1000.0;

/// How pictures of a batch are mixed. In settings it is a table with one key, as a transform is.
///
/// ```
/// use forebay_pixels::{Draw, Mixing};
///
/// let mixing: Mixing = serde_json::from_str(r#"{ "mix_up": { "alpha": 0.2 } }"#)?;
/// assert_eq!(mixing.problem(), None);
/// let mixture = mixing.draw(Draw { seed: 7, epoch: 0, record: 3 }.mixing(), 224, 224);
/// assert!((0.0..=1.0).contains(&mixture.weight()));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub enum Mixing {
    /// The weighted mean of both pictures.
    #[serde(rename = "mix_up")]
    MixUp(MixUp),
    /// A rectangle of the other picture.
    #[serde(rename = "cut_mix")]
    CutMix(CutMix),
    /// One of several.
    #[serde(rename = "random_choice")]
    RandomChoice(MixingChoice),
}

/// The weighted mean of both pictures: torchvision's `MixUp`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MixUp {
    /// Both parameters of the Beta distribution that the picture's own weight has.
    #[serde(default = "one")]
    pub alpha: f64,
}

/// A rectangle of the other picture: torchvision's `CutMix`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CutMix {
    /// Both parameters of the Beta distribution of the share that the picture keeps, before the rectangle is clipped.
    #[serde(default = "one")]
    pub alpha: f64,
}

/// One of several ways to mix.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MixingChoice {
    /// The ways.
    pub transforms: Vec<Mixing>,
    /// How likely each is, in relation to the others. Without them, all are as likely.
    #[serde(default)]
    pub p: Option<Vec<f64>>,
}

fn one() -> f64 {
    1.0
}

impl Mixing {
    /// What is wrong with its values, if something is.
    pub fn problem(&self) -> Option<String> {
        if self.count() > MOST {
            return Some(format!("it has {} transforms; at most {MOST} are allowed", self.count()));
        }
        match self {
            Self::MixUp(MixUp { alpha }) | Self::CutMix(CutMix { alpha }) => (!ALPHAS.contains(alpha))
                .then(|| format!("alpha is {alpha}, but must be from {} to {}", ALPHAS.start(), ALPHAS.end())),
            Self::RandomChoice(MixingChoice { transforms, .. }) if transforms.is_empty() => {
                Some("transforms is an empty list; give at least one".to_owned())
            }
            Self::RandomChoice(MixingChoice { transforms, p }) => {
                let inner = transforms.iter().find_map(Self::problem);
                inner.or_else(|| weights::problem(p.as_deref(), transforms.len()))
            }
        }
    }

    /// How a picture of this size is mixed, by the draws of [`Draw::mixing`](crate::Draw::mixing).
    pub fn draw(&self, draws: Draws, height: u32, width: u32) -> Mixture {
        match self {
            Self::MixUp(MixUp { alpha }) => Mixture::Mean { weight: single(beta::symmetric(draws.part(0), *alpha)) },
            Self::CutMix(CutMix { alpha }) => cut(draws, *alpha, height, width),
            Self::RandomChoice(MixingChoice { transforms, p }) => {
                let number = weights::chosen(draws, p.as_deref(), transforms.len());
                transforms[number].draw(draws.part(number as u64), height, width)
            }
        }
    }

    fn count(&self) -> usize {
        match self {
            Self::MixUp(_) | Self::CutMix(_) => 1,
            Self::RandomChoice(MixingChoice { transforms, .. }) => {
                1 + transforms.iter().map(Self::count).sum::<usize>()
            }
        }
    }
}

/// torchvision's rectangle: its sides are the picture's, by the root of the share that goes, around a pixel that is drawn
/// evenly. What lies outside of the picture is lost, and the weight is that of what is left.
fn cut(draws: Draws, alpha: f64, height: u32, width: u32) -> Mixture {
    let share = beta::symmetric(draws.part(0), alpha);
    let half = 0.5 * libm::sqrt(1.0 - share);
    let side = |number: u64, len: u32| {
        let (middle, half) = (draws.below(number, len), truncated(half * f64::from(len)));
        let (start, end) = (middle.saturating_sub(half), (middle + half).min(len));
        (start, end - start)
    };
    let ((left, cut_width), (top, cut_height)) = (side(0, width), side(1, height));
    let area = |width: u32, height: u32| f64::from(width) * f64::from(height);
    let weight = single(1.0 - area(cut_width, cut_height) / area(width, height));
    Mixture::Part { part: Rect { left, top, width: cut_width, height: cut_height }, weight }
}

#[expect(clippy::cast_possible_truncation, reason = "weights are single precision")]
fn single(value: f64) -> f32 {
    value as f32
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "half a side of a picture at most")]
fn truncated(value: f64) -> u32 {
    value as u32
}
