//! What the transparent parts of a picture become.

/// What is seen where a picture is transparent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Background {
    /// The picture is laid on red, green, blue.
    Colour([u8; 3]),
    /// The colour that the file has there, opaque: alpha is dropped, as Pillow's `convert("RGB")` does it.
    Dropped,
}

impl Default for Background {
    /// Black.
    fn default() -> Self {
        Self::Colour([0; 3])
    }
}

impl Background {
    /// What is seen of a colour with this alpha, rounded.
    pub(crate) fn under(self, color: [u8; 3], alpha: u8) -> [u8; 3] {
        let Self::Colour(background) = self else { return color };
        let alpha = u32::from(alpha);
        std::array::from_fn(|i| {
            let mixed = u32::from(color[i]) * alpha + u32::from(background[i]) * (255 - alpha);
            u8::try_from((mixed + 127) / 255).unwrap_or(u8::MAX)
        })
    }
}
