//! No colours: red, green and blue are the brightness.

use serde::{Deserialize, Serialize};

use super::Operation;
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
            Match::Pillow => work.each_pixel(|rgb| [pillow(rgb); 3]),
            Match::Torch => work.each_pixel(|rgb| [torch(rgb); 3]),
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
#[expect(clippy::cast_possible_truncation, reason = "the weights add up to 1")]
pub(super) fn pillow([red, green, blue]: [u8; 3]) -> u8 {
    ((u32::from(red) * 19595 + u32::from(green) * 38470 + u32::from(blue) * 7471 + 0x8000) >> 16) as u8
}

/// torchvision's gray of a tensor, rounded down.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "such casts saturate, which is meant")]
pub(super) fn torch([red, green, blue]: [u8; 3]) -> u8 {
    (f32::from(red) * 0.2989 + f32::from(green) * 0.587 + f32::from(blue) * 0.114) as u8
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
