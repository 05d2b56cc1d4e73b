//! Sizes in settings, and what is known of a picture's size after some transforms.

use serde::Deserialize;

use crate::fit::Fit;

/// Longest side that a transform may ask for.
pub(super) const MAX_SIDE: u32 = 16_384;

/// One number or height and width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "size must be one whole number or [height, width]")]
pub enum Size {
    /// One number; what it means depends on the transform.
    One(u32),
    /// Height and width.
    HeightWidth([u32; 2]),
}

/// What is known of a picture's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// It depends on the picture.
    Open,
    /// Height and width.
    Fixed(u32, u32),
}

impl Size {
    /// Height and width, where one number means a square.
    pub fn square(self) -> (u32, u32) {
        match self {
            Self::One(side) => (side, side),
            Self::HeightWidth([height, width]) => (height, width),
        }
    }

    /// The same with height and width in place of one number, where that means a square.
    pub(super) fn squared(self) -> Self {
        let (height, width) = self.square();
        Self::HeightWidth([height, width])
    }

    /// What is wrong with it, if something is.
    pub(super) fn problem(self) -> Option<String> {
        let (height, width) = self.square();
        let fits = |side| (1..=MAX_SIDE).contains(&side);
        (!fits(height) || !fits(width))
            .then(|| format!("size is {height} x {width}, but each side must be from 1 to {MAX_SIDE}"))
    }
}

/// A length of a side without its fraction, but at least 1.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "such casts saturate, which is meant")]
pub(super) fn cut_off(length: f64) -> u32 {
    (length as u32).max(1)
}

impl Shape {
    /// What is known of a picture before the first transform of a list.
    pub(crate) fn behind(fit: Option<&Fit>) -> Self {
        let first = fit.and_then(|fit| fit.sizes().first().copied());
        first.map_or(Self::Open, |(height, width)| Self::Fixed(height, width))
    }

    /// The shape of this size, where one number means a square.
    pub(super) fn of(size: Size) -> Self {
        let (height, width) = size.square();
        Self::Fixed(height, width)
    }

    /// What is known if it is one of the two.
    pub(super) fn or(self, other: Self) -> Self {
        if self == other { self } else { Self::Open }
    }
}
