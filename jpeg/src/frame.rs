//! How a picture is laid out in MCUs, at full size or scaled in its inverse DCT.

use crate::header::{Header, Sampling};
use crate::idct::Size;
use crate::upsample::Upsampling;

/// How much smaller a picture is decoded than it is stored. Its sides are divided and rounded up.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub enum Scale {
    /// As stored.
    #[default]
    Full,
    /// 1/2.
    Half,
    /// 1/4.
    Quarter,
    /// 1/8.
    Eighth,
}

impl Scale {
    /// All scales, the largest picture first.
    pub const ALL: [Self; 4] = [Self::Full, Self::Half, Self::Quarter, Self::Eighth];

    /// How many samples a luma block becomes.
    pub(crate) fn block(self) -> Size {
        match self {
            Self::Full => Size::Eight,
            Self::Half => Size::Four,
            Self::Quarter => Size::Two,
            Self::Eighth => Size::One,
        }
    }

    /// A side in pixels of the decoded picture.
    ///
    /// ```
    /// assert_eq!(forebay_jpeg::Scale::Quarter.side(501), 126);
    /// ```
    pub fn side(self, stored: u32) -> u32 {
        (stored * self.block().side()).div_ceil(8)
    }
}

/// A decoded picture in MCUs. All sizes are of the scaled picture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Pixels of an MCU, across and down.
    pub(crate) mcu: (u32, u32),
    /// MCUs in a row, and rows of them.
    pub(crate) mcus: (u32, u32),
    pub(crate) layouts: [Layout; 3],
    /// 1 or 3.
    pub(crate) count: usize,
}

/// A component's samples.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// Blocks of an MCU, across and down.
    pub(crate) blocks: (u32, u32),
    /// Blocks of the whole picture, across and down, without those that only fill MCUs.
    pub(crate) picture_blocks: (u32, u32),
    /// Samples of a block.
    pub(crate) size: Size,
    /// Samples of the whole picture that are real: beyond them is padding.
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Pixels per sample, across and down.
    pub(crate) factors: (u32, u32),
    pub(crate) upsampling: Upsampling,
}

impl Frame {
    pub(crate) fn new(header: &Header, scale: Scale) -> Self {
        let (h, v) = header.sampling.factors();
        let block = scale.block().side();
        let mcu = (h * block, v * block);
        let layout = |blocks: (u32, u32)| {
            // libjpeg-turbo makes chroma blocks larger instead of upsampling what it has scaled down, as far as that goes in
            // both directions.
            let fits = |size: &Size| {
                mcu.0.is_multiple_of(blocks.0 * size.side()) && mcu.1.is_multiple_of(blocks.1 * size.side())
            };
            let size = Size::ALL.into_iter().rev().find(fits).unwrap_or_else(|| scale.block());
            let side = size.side();
            let width = (header.width * blocks.0 * side).div_ceil(h * 8);
            let height = (header.height * blocks.1 * side).div_ceil(v * 8);
            let factors = (mcu.0 / (blocks.0 * side), mcu.1 / (blocks.1 * side));
            let upsampling = Upsampling::choose(factors.0 as usize, factors.1 as usize, width as usize, block > 1);
            let picture_blocks =
                ((header.width * blocks.0).div_ceil(h * 8), (header.height * blocks.1).div_ceil(v * 8));
            Layout { blocks, picture_blocks, size, width, height, factors, upsampling }
        };
        Self {
            width: scale.side(header.width),
            height: scale.side(header.height),
            mcu,
            mcus: (header.width.div_ceil(h * 8), header.height.div_ceil(v * 8)),
            layouts: [layout((h, v)), layout((1, 1)), layout((1, 1))],
            count: if header.sampling == Sampling::Gray { 1 } else { 3 },
        }
    }

    /// The components.
    pub(crate) fn layouts(&self) -> &[Layout] {
        &self.layouts[..self.count]
    }
}

impl Layout {
    /// Samples of an MCU, across and down.
    pub(crate) fn mcu(&self) -> (u32, u32) {
        (self.blocks.0 * self.size.side(), self.blocks.1 * self.size.side())
    }
}
