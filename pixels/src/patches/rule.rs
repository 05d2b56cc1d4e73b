//! Which size a picture gets that is cut into patches: the rules of NaFlex (timm 1.0.31), SigLIP2 and Gemma 4 (transformers
//! 5.24), by name.

use crate::background::Background;
use crate::interpolation::Interpolation;

/// A rule by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PatchRule {
    /// The largest factor with which the picture, each side rounded up to whole patches, has at most as many as there is room
    /// for. Small pictures are enlarged.
    Naflex,
    /// The sizes of [`Naflex`](Self::Naflex), with the filter and the values of SigLIP2.
    Siglip2,
    /// The area of all patches at the picture's own aspect, each side rounded down to three patches, which the model pools.
    Gemma4,
}

/// How many patches a picture has in each direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PatchGrid {
    /// From top to bottom.
    pub rows: u32,
    /// From left to right.
    pub columns: u32,
}

impl PatchGrid {
    /// Rows times columns.
    pub fn tokens(self) -> u64 {
        u64::from(self.rows) * u64::from(self.columns)
    }
}

/// How near the search of a factor comes.
const NEAR: f64 = 1e-5;
/// The largest factor of the search.
const LARGEST: f64 = 100.0;
/// Patches of Gemma 4 that become one token, in each direction.
const POOLED: u32 = 3;
/// The numbers of tokens that Gemma 4 has.
const GEMMA4_TOKENS: [u32; 5] = [70, 140, 280, 560, 1120];

impl PatchRule {
    /// All of them, by the names that settings have.
    pub const NAMES: [(&'static str, Self); 3] =
        [("naflex", Self::Naflex), ("siglip2", Self::Siglip2), ("gemma4", Self::Gemma4)];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, rule)| *rule == self).map_or("", |(name, _)| name)
    }

    /// Patches of a place if nothing else is asked for: the default of its package.
    pub fn default_length(self) -> u32 {
        match self {
            Self::Naflex => 576,
            Self::Siglip2 => 256,
            Self::Gemma4 => 280 * POOLED * POOLED,
        }
    }

    /// What is wrong with a number of patches, if something is.
    pub fn length_problem(self, length: u32) -> Option<String> {
        let lengths = GEMMA4_TOKENS.map(|tokens| tokens * POOLED * POOLED);
        if self != Self::Gemma4 || lengths.contains(&length) {
            return None;
        }
        let known = lengths.map(|length| length.to_string()).join(", ");
        Some(format!("{length} is no number of patches that Gemma 4 has; they are {known}"))
    }

    /// The filter of its package.
    pub fn interpolation(self) -> Interpolation {
        match self {
            Self::Naflex | Self::Gemma4 => Interpolation::Bicubic,
            Self::Siglip2 => Interpolation::Bilinear,
        }
    }

    /// What its package shows where a picture is transparent.
    pub fn background(self) -> Background {
        match self {
            Self::Naflex => Background::Dropped,
            Self::Siglip2 | Self::Gemma4 => Background::Colour([255; 3]),
        }
    }

    /// Mean and standard deviation of all channels, if it has a normalisation of its own.
    pub fn normalisation(self) -> Option<(f32, f32)> {
        (self == Self::Siglip2).then_some((0.5, 0.5))
    }

    /// The patches of this side that a picture of this height and width gets, of `length` at most. Nothing if the rule refuses
    /// the picture.
    pub(super) fn grid(self, (height, width): (u32, u32), side: u32, length: u32) -> Option<PatchGrid> {
        match self {
            Self::Naflex | Self::Siglip2 => Some(largest(height, width, side, length)),
            Self::Gemma4 => pooled(height, width, side, length),
        }
    }
}

/// By bisection, as both packages do: their last digits decide about a row of patches.
fn largest(height: u32, width: u32, side: u32, length: u32) -> PatchGrid {
    let patches = |pixels: u32, factor: f64| whole((f64::from(pixels) * factor / f64::from(side)).ceil()).max(1);
    let grid = |factor| PatchGrid { rows: patches(height, factor), columns: patches(width, factor) };
    let (mut fits, mut too_large) = (NEAR / 10.0, LARGEST);
    while too_large - fits >= NEAR {
        let factor = f64::midpoint(fits, too_large);
        if grid(factor).tokens() <= length.into() {
            fits = factor;
        } else {
            too_large = factor;
        }
    }
    grid(fits)
}

fn pooled(height: u32, width: u32, side: u32, length: u32) -> Option<PatchGrid> {
    let (high, wide) = (f64::from(height), f64::from(width));
    let area = f64::from(length) * f64::from(side) * f64::from(side);
    let factor = (area / (high * wide)).sqrt();
    let step = f64::from(POOLED * side);
    let steps = |pixels: f64| whole((factor * pixels / step).floor());
    let most = length / (POOLED * POOLED);
    let (rows, columns) = match (steps(high), steps(wide)) {
        (0, 0) => return None,
        (0, _) => (1, whole((wide / high).floor()).min(most)),
        (_, 0) => (whole((high / wide).floor()).min(most), 1),
        both => both,
    };
    (u64::from(rows) * u64::from(columns) <= most.into())
        .then_some(PatchGrid { rows: rows * POOLED, columns: columns * POOLED })
}

/// A number without fraction.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "such casts saturate, which is meant")]
fn whole(number: f64) -> u32 {
    number as u32
}

#[cfg(test)]
mod tests;
