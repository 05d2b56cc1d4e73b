//! The transforms that settings can name, with torchvision's names, meanings and default values.
//!
//! In settings each is a table with one key: `{ random_resized_crop = { size = 224 } }` in TOML, the same in JSON.
//! Unknown keys are refused while parsing; values are checked when a [`crate::Recipe`] is made.

use serde::Deserialize;

use crate::recipe_error::RecipeError;

/// Longest side that a transform may ask for.
const MAX_SIDE: u32 = 16_384;

/// One step of a recipe.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transform {
    /// A random part of the picture, resized.
    RandomResizedCrop(RandomResizedCrop),
    /// The whole picture, resized.
    Resize(Resize),
    /// The middle of the picture.
    CenterCrop(CenterCrop),
    /// A border around a picture that is too small.
    Pad(Pad),
    /// Mirrored left to right, by chance.
    RandomHorizontalFlip(RandomHorizontalFlip),
    /// Mean and standard deviation per channel.
    Normalize(Normalize),
}

/// A random part with a random aspect ratio, resized: torchvision's `RandomResizedCrop`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomResizedCrop {
    /// Output size; one number means a square.
    pub size: Size,
    /// Smallest and largest part of the picture's area.
    #[serde(default = "default_scale")]
    pub scale: [f64; 2],
    /// Smallest and largest width / height of the part.
    #[serde(default = "default_ratio")]
    pub ratio: [f64; 2],
    /// Filter of the resize.
    #[serde(default)]
    pub interpolation: Interpolation,
}

/// The whole picture resized: torchvision's `Resize`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resize {
    /// One number is the shorter side (the longer one follows, rounded down); two are height and width.
    pub size: Size,
    /// Filter of the resize.
    #[serde(default)]
    pub interpolation: Interpolation,
}

/// The middle of the picture: torchvision's `CenterCrop`. What a smaller picture lacks is filled with 0.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CenterCrop {
    /// Output size; one number means a square.
    pub size: Size,
}

/// Grows each side that is too short to at least this size, the picture in the middle.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pad {
    /// Smallest size; one number means a square.
    pub size: Size,
    /// Value of the border in all three channels.
    #[serde(default)]
    pub fill: u8,
}

/// Mirrors the picture left to right with probability `p`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomHorizontalFlip {
    /// Probability from 0 to 1.
    #[serde(default = "default_p")]
    pub p: f64,
}

/// `(value / 255 - mean) / std` per channel (red, green, blue): torchvision's `ToTensor` and `Normalize` in one.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Normalize {
    /// Means of red, green, blue, where 255 is 1.
    pub mean: [f32; 3],
    /// Standard deviations of red, green, blue, where 255 is 1.
    pub std: [f32; 3],
}

/// One number or height and width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "size must be one whole number or [height, width]")]
pub enum Size {
    /// One number; what it means depends on the transform.
    One(u32),
    /// Height and width.
    HeightWidth([u32; 2]),
}

/// Filter of a resize. When a picture shrinks, the filter widens with the step (antialiasing), as in Pillow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Interpolation {
    /// The nearest pixel, without antialiasing.
    Nearest,
    /// Triangle filter.
    #[default]
    Bilinear,
    /// Cubic filter with a = -0.5.
    Bicubic,
    /// Lanczos filter of three lobes.
    Lanczos3,
}

impl Transform {
    /// The same with height and width in place of one number, where that means a square. Of a resize it is the shorter
    /// side.
    pub(crate) fn squared(mut self) -> Self {
        let size = match &mut self {
            Self::RandomResizedCrop(RandomResizedCrop { size, .. })
            | Self::CenterCrop(CenterCrop { size })
            | Self::Pad(Pad { size, .. }) => size,
            Self::Resize(_) | Self::RandomHorizontalFlip(_) | Self::Normalize(_) => return self,
        };
        if let Size::One(side) = *size {
            *size = Size::HeightWidth([side; 2]);
        }
        self
    }

    /// What `size=` means with shuffle: a random part resized to a square, mirrored half the time.
    pub fn training(size: u32) -> Vec<Self> {
        vec![
            Self::RandomResizedCrop(RandomResizedCrop {
                size: Size::One(size),
                scale: default_scale(),
                ratio: default_ratio(),
                interpolation: Interpolation::default(),
            }),
            Self::RandomHorizontalFlip(RandomHorizontalFlip { p: default_p() }),
        ]
    }

    /// What `size=` means without shuffle: the shorter side to `size * 256 / 224`, then the middle square.
    pub fn evaluation(size: u32) -> Vec<Self> {
        let shorter = u32::try_from(u64::from(size) * 256 / 224).unwrap_or(u32::MAX);
        vec![
            Self::Resize(Resize { size: Size::One(shorter), interpolation: Interpolation::default() }),
            Self::CenterCrop(CenterCrop { size: Size::One(size) }),
        ]
    }

    /// The name that settings use.
    pub fn name(&self) -> &'static str {
        match self {
            Self::RandomResizedCrop(_) => "random_resized_crop",
            Self::Resize(_) => "resize",
            Self::CenterCrop(_) => "center_crop",
            Self::Pad(_) => "pad",
            Self::RandomHorizontalFlip(_) => "random_horizontal_flip",
            Self::Normalize(_) => "normalize",
        }
    }

    /// The filter, where it resizes.
    pub(crate) fn interpolation(&self) -> Option<Interpolation> {
        match self {
            Self::RandomResizedCrop(RandomResizedCrop { interpolation, .. })
            | Self::Resize(Resize { interpolation, .. }) => Some(*interpolation),
            _ => None,
        }
    }

    pub(crate) fn as_normalize(&self) -> Option<&Normalize> {
        match self {
            Self::Normalize(normalize) => Some(normalize),
            _ => None,
        }
    }

    /// Checks the values; `place` is the transform's place in the list, for the message.
    pub(crate) fn check(&self, place: usize) -> Result<(), RecipeError> {
        let problem = match self {
            Self::RandomResizedCrop(t) => size_problem(t.size)
                .or_else(|| range_problem("scale", t.scale))
                .or_else(|| range_problem("ratio", t.ratio)),
            Self::Resize(t) => size_problem(t.size),
            Self::CenterCrop(t) => size_problem(t.size),
            Self::Pad(t) => size_problem(t.size),
            Self::RandomHorizontalFlip(t) => {
                (!(0.0..=1.0).contains(&t.p)).then(|| format!("p is {}, but must be from 0 to 1", t.p))
            }
            Self::Normalize(t) => normalize_problem(t),
        };
        match problem {
            None => Ok(()),
            Some(problem) => Err(RecipeError::Value { place, name: self.name(), problem }),
        }
    }
}

impl Size {
    /// Height and width, where one number means a square.
    pub fn square(self) -> (u32, u32) {
        match self {
            Self::One(side) => (side, side),
            Self::HeightWidth([height, width]) => (height, width),
        }
    }
}

fn default_scale() -> [f64; 2] {
    [0.08, 1.0]
}

fn default_ratio() -> [f64; 2] {
    [3.0 / 4.0, 4.0 / 3.0]
}

fn default_p() -> f64 {
    0.5
}

fn size_problem(size: Size) -> Option<String> {
    let (height, width) = size.square();
    let fits = |side| (1..=MAX_SIDE).contains(&side);
    (!fits(height) || !fits(width))
        .then(|| format!("size is {height} x {width}, but each side must be from 1 to {MAX_SIDE}"))
}

fn range_problem(key: &str, [low, high]: [f64; 2]) -> Option<String> {
    let good = low > 0.0 && low <= high && high.is_finite();
    (!good).then(|| format!("{key} is [{low}, {high}], but must be two numbers above 0, the smaller one first"))
}

fn normalize_problem(t: &Normalize) -> Option<String> {
    if t.mean.iter().any(|mean| !mean.is_finite()) {
        return Some(format!("mean is {:?}, but must be three finite numbers", t.mean));
    }
    let bad = t.std.iter().any(|std| !std.is_normal() || *std < 0.0);
    bad.then(|| format!("std is {:?}, but must be three numbers above 0", t.std))
}
