//! The masks of a picture that is not in its place yet: what functions in Python get, and what they return.

use forebay_pixels::MaskDepth;

/// One mask of a picture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MaskNumbers {
    /// The picture has it. Otherwise the numbers are those of what a mask does not show.
    pub is_there: bool,
    /// Rows of little-endian numbers.
    pub numbers: Vec<u8>,
}

impl MaskNumbers {
    /// Makes room for the mask of a picture of this height and width.
    pub(crate) fn fit(&mut self, size: (u32, u32), depth: MaskDepth) {
        self.numbers.resize(mask_len(size, depth), 0);
    }
}

/// Bytes of the mask of a picture of this height and width.
pub(crate) fn mask_len((height, width): (u32, u32), depth: MaskDepth) -> usize {
    height as usize * width as usize * depth.size()
}
