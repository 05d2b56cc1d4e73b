//! No colours: red, green and blue are the brightness.

use serde::{Deserialize, Serialize};

use super::Operation;
use super::blend::{byte, float};
use super::pixelwise::{PixelMap, PixelNumber, Rgb};
use super::workpiece::Workpiece;
use crate::draw::Draws;
use crate::matching::Match;
use crate::number::probability_problem;

/// torchvision's `rgb_to_grayscale`. The picture keeps its three channels.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Gray {
    /// Always 3.
    #[serde(default = "three")]
    pub num_output_channels: u8,
}

/// torchvision's `Grayscale`. The picture keeps its three channels.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grayscale {
    /// Always 3.
    #[serde(default = "three")]
    pub num_output_channels: u8,
}

/// torchvision's `RandomGrayscale`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomGrayscale {
    /// Probability from 0 to 1.
    #[serde(default = "tenth")]
    pub p: f64,
}

/// Each pixel's gray with Pillow's arithmetic.
#[derive(Clone, Copy)]
pub(super) struct PillowGray;

/// Each pixel's gray with torchvision's arithmetic of tensors.
#[derive(Clone, Copy)]
pub(super) struct TorchGray;

impl Default for Gray {
    fn default() -> Self {
        Self { num_output_channels: three() }
    }
}

impl Gray {
    pub(super) const IS_LOCAL: bool = true;

    pub(super) fn problem(self) -> Option<String> {
        channels_problem(self.num_output_channels)
    }

    #[expect(clippy::unused_self, reason = "every operation has this signature")]
    pub(super) fn carry_out(self, work: &mut Workpiece<'_>) {
        match work.matched {
            Match::Pillow => work.each_pixel(PillowGray),
            Match::Torch => work.each_pixel(TorchGray),
        }
    }
}

impl Grayscale {
    pub(crate) fn problem(&self) -> Option<String> {
        channels_problem(self.num_output_channels)
    }

    #[expect(clippy::unused_self, reason = "every transform has this signature")]
    pub(crate) fn draw(&self, _draws: Draws, _size: (u32, u32), give: &mut dyn FnMut(Operation)) {
        give(Operation::Gray(Gray::default()));
    }
}

impl RandomGrayscale {
    pub(crate) fn problem(&self) -> Option<String> {
        probability_problem(self.p)
    }

    pub(crate) fn draw(&self, draws: Draws, _size: (u32, u32), give: &mut dyn FnMut(Operation)) {
        if draws.unit(0) < self.p {
            give(Operation::Gray(Gray::default()));
        }
    }
}

/// Pillow's gray, in whole numbers.
#[inline(always)]
pub(super) fn pillow([red, green, blue]: Rgb) -> i32 {
    (red * 19595 + green * 38470 + blue * 7471 + 0x8000) >> 16
}

/// Makes packed RGB gray, as Pillow's `convert("L")`. Pixels that are gray stay as they are.
pub(crate) fn in_place(rgb: &mut [u8]) {
    for pixel in rgb.as_chunks_mut::<3>().0 {
        let [red, green, blue] = *pixel;
        *pixel = [gray(red, green, blue); 3];
    }
}

/// Makes packed RGB with alpha gray with alpha, as Pillow's `convert("LA")`. The result has half as many bytes, from the first on.
pub(crate) fn with_alpha_in_place(rgba: &mut [u8]) {
    for number in 0..rgba.len() / 4 {
        let [red, green, blue, alpha] = rgba.as_chunks::<4>().0[number];
        rgba.as_chunks_mut::<2>().0[number] = [gray(red, green, blue), alpha];
    }
}

fn gray(red: u8, green: u8, blue: u8) -> u8 {
    let [red, green, blue] = [red, green, blue].map(u32::from);
    #[expect(clippy::cast_possible_truncation, reason = "a mean of bytes")]
    let gray = ((red * 19595 + green * 38470 + blue * 7471 + 0x8000) >> 16) as u8;
    gray
}

/// torchvision's gray of a tensor, rounded down.
#[inline(always)]
pub(super) fn torch([red, green, blue]: Rgb) -> i32 {
    byte(float(red) * 0.2989 + float(green) * 0.587 + float(blue) * 0.114)
}

impl PixelNumber for PillowGray {
    #[inline(always)]
    fn number(self, rgb: Rgb) -> i32 {
        pillow(rgb)
    }
}

impl PixelNumber for TorchGray {
    #[inline(always)]
    fn number(self, rgb: Rgb) -> i32 {
        torch(rgb)
    }
}

impl PixelMap for PillowGray {
    #[inline(always)]
    fn map(self, rgb: Rgb) -> Rgb {
        [pillow(rgb); 3]
    }
}

impl PixelMap for TorchGray {
    #[inline(always)]
    fn map(self, rgb: Rgb) -> Rgb {
        [torch(rgb); 3]
    }
}

fn three() -> u8 {
    3
}

fn tenth() -> f64 {
    0.1
}

fn channels_problem(channels: u8) -> Option<String> {
    (channels != 3)
        .then(|| format!("num_output_channels is {channels}, but must be 3: every picture has three channels"))
}
