//! The value of pixels that no picture has.

use serde::Serialize;

use crate::output::Mode;

/// The value of a pixel beyond a picture, by the channels of its mode. Written as a document, it is one number or a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Paint {
    /// The same in all channels.
    One(u8),
    /// Brightness and alpha.
    La([u8; 2]),
    /// Red, green and blue.
    Rgb([u8; 3]),
    /// Red, green, blue and alpha.
    Rgba([u8; 4]),
}

impl From<[u8; 3]> for Paint {
    /// Equal values are one.
    fn from(rgb: [u8; 3]) -> Self {
        if rgb == [rgb[0]; 3] { Self::One(rgb[0]) } else { Self::Rgb(rgb) }
    }
}

impl Paint {
    /// Red, green and blue, as far as it has them.
    pub(crate) fn rgb(self) -> [u8; 3] {
        match self {
            Self::One(value) | Self::La([value, _]) => [value; 3],
            Self::Rgb(rgb) | Self::Rgba([rgb @ .., _]) => rgb,
        }
    }

    /// Fills pixels of this mode, as they are while transforms are carried out. A recipe has refused other numbers of channels.
    pub(crate) fn fill(self, mode: Mode, pixels: &mut [u8]) {
        match (self, mode) {
            (Self::One(value), _) => pixels.fill(value),
            (Self::La(pixel), Mode::La) => pixels.as_chunks_mut().0.fill(pixel),
            (Self::Rgba(pixel), Mode::Rgba) => pixels.as_chunks_mut().0.fill(pixel),
            _ => pixels.as_chunks_mut().0.fill(self.rgb()),
        }
    }
}
