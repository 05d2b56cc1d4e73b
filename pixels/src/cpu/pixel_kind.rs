//! What the decoders make for a mode.

use crate::background::Background;
use crate::output::{Mode, Output};

/// The pixels that a decoder writes. Decoders of formats without alpha write RGB, and alpha is added to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PixelKind {
    /// Red, green and blue of 8 bits, laid on the background where they are transparent.
    Rgb(Background),
    /// Red, green, blue and alpha of 8 bits.
    Rgba,
}

impl PixelKind {
    pub(in crate::cpu) fn of(output: Output) -> Self {
        match output.mode {
            Mode::Rgb | Mode::L => Self::Rgb(output.background),
            Mode::La | Mode::Rgba => Self::Rgba,
        }
    }

    /// Bytes of a pixel.
    pub(in crate::cpu) fn pixel_len(self) -> usize {
        match self {
            Self::Rgb(_) => 3,
            Self::Rgba => 4,
        }
    }
}
