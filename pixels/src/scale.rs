//! How much smaller than stored a JPEG may be decoded.

/// How much smaller a picture is decoded: the inverse transform gives 8, 4, 2 or 1 pixels for a block's side of 8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Scale {
    /// As stored.
    #[default]
    Full,
    /// Half of each side.
    Half,
    /// A quarter of each side.
    Quarter,
    /// An eighth of each side.
    Eighth,
}

impl Scale {
    /// The smallest scale with enough pixels, if the picture has `times` the wanted pixels on each side.
    pub(crate) fn within(times: u32) -> Self {
        match times {
            8.. => Self::Eighth,
            4.. => Self::Quarter,
            2.. => Self::Half,
            _ => Self::Full,
        }
    }

    /// Pixels as stored for one decoded, on each side.
    pub(crate) fn denominator(self) -> u32 {
        match self {
            Self::Full => 1,
            Self::Half => 2,
            Self::Quarter => 4,
            Self::Eighth => 8,
        }
    }

    /// What becomes of a side: a last pixel that is not full counts.
    pub(crate) fn side(self, stored: u32) -> u32 {
        stored.div_ceil(self.denominator())
    }
}
