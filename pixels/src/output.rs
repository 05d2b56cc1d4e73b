//! The form of the output: what a pixel has, type of a value and order of the dimensions.

use serde::Deserialize;

use crate::background::Background;

/// Type of one value of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dtype {
    /// 0 to 255.
    #[default]
    Uint8,
    /// IEEE half precision: 0 to 1, or normalised. Rounded from the float32 value to nearest, ties to even.
    Float16,
    /// The upper half of single precision: 0 to 1, or normalised. Rounded like half precision.
    Bfloat16,
    /// IEEE single precision: 0 to 1, or normalised.
    Float32,
}

/// What a pixel of the output has, by Pillow's names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Red, green and blue.
    #[default]
    Rgb,
    /// Brightness alone, as Pillow's `convert("L")` makes it of red, green and blue.
    L,
    /// Brightness and alpha, as Pillow's `convert("LA")` makes them.
    La,
    /// Red, green, blue and alpha.
    Rgba,
}

/// Order of the output's dimensions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum Layout {
    /// Rows of pixels, each with the values that its mode has.
    #[default]
    #[serde(rename = "NHWC")]
    Nhwc,
    /// A plane for each channel.
    #[serde(rename = "NCHW")]
    Nchw,
}

/// Form of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// Type of a value.
    pub dtype: Dtype,
    /// Order of the dimensions.
    pub layout: Layout,
    /// What is seen where a picture is transparent. Default: black.
    pub background: Background,
    /// What a pixel has.
    pub mode: Mode,
}

impl Mode {
    /// Pillow's name, which settings use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rgb => "RGB",
            Self::L => "L",
            Self::La => "LA",
            Self::Rgba => "RGBA",
        }
    }

    /// Values of a pixel.
    pub fn channels(self) -> u32 {
        match self {
            Self::Rgb => 3,
            Self::L => 1,
            Self::La => 2,
            Self::Rgba => 4,
        }
    }

    /// Whether the last of them is alpha.
    pub fn has_alpha(self) -> bool {
        matches!(self, Self::La | Self::Rgba)
    }

    /// Whether transforms that change values take it: all of them are written for pixels of three bytes.
    pub(crate) fn takes_operations(self) -> bool {
        matches!(self, Self::Rgb | Self::L)
    }

    /// Bytes of a pixel while transforms are carried out. A gray one has three equal values then.
    pub(crate) fn pixel_len(self) -> usize {
        match self {
            Self::Rgb | Self::L => 3,
            Self::La => 2,
            Self::Rgba => 4,
        }
    }
}

impl Output {
    /// Bytes of a picture of this size.
    pub fn bytes(self, width: u32, height: u32) -> usize {
        width as usize * height as usize * self.mode.channels() as usize * self.dtype.len()
    }
}

impl Dtype {
    /// The name that settings use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Uint8 => "uint8",
            Self::Float16 => "float16",
            Self::Bfloat16 => "bfloat16",
            Self::Float32 => "float32",
        }
    }

    /// Bytes of one value.
    #[expect(clippy::len_without_is_empty, reason = "a value always has bytes")]
    pub fn len(self) -> usize {
        match self {
            Self::Uint8 => 1,
            Self::Float16 | Self::Bfloat16 => 2,
            Self::Float32 => 4,
        }
    }
}
