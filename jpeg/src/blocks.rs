//! The coefficients of an MCU row, and where in them the blocks of each component are.

use crate::entropy::PaddedBlock;
use crate::frame::Layout;
use crate::idct::Block;

/// Coefficients in a block.
pub(crate) const BLOCK: usize = 64;

/// How far damaged data may write behind the beginning of a block.
const REACH: usize = size_of::<PaddedBlock>() / size_of::<i16>();

/// Blocks of an MCU, at most: 4:2:0 and 4:1:1.
const BLOCKS_OF_MCU: usize = 6;

/// Where the coefficients of an MCU row are.
pub(crate) trait BlockSource {
    /// The blocks of one of its rows of blocks of a component, as far as the cut has them, and the zigzag index of each
    /// block's last coefficient.
    fn row(&mut self, component: usize, row: usize) -> (&[Block], &[u8]);
}

/// The blocks of an MCU row of one component, among the coefficients.
#[derive(Clone, Copy, Default, Debug)]
struct BlockRows {
    /// Rows of blocks.
    rows: usize,
    /// Blocks in a row.
    blocks: usize,
    /// The number of the first block.
    first: usize,
}

/// A block of the MCU.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct BlockPlace {
    pub(crate) component: usize,
    /// Number of the block in the first MCU of the cut, and how many there are to the next MCU's.
    pub(crate) first: usize,
    pub(crate) step: usize,
}

/// The blocks of an MCU row.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    rows: [BlockRows; 3],
    /// The blocks of an MCU, as many as it has.
    pub(crate) places: [BlockPlace; BLOCKS_OF_MCU],
    pub(crate) place_count: usize,
    pub(crate) coefficients: Vec<i16>,
    /// The zigzag index of each block's last coefficient.
    pub(crate) lasts: Vec<u8>,
}

impl BlockRows {
    /// From a row of blocks to the next, in blocks. One spare block is between them, because the last block of a row may
    /// write beyond its end.
    fn stride(self) -> usize {
        self.blocks + 1
    }

    fn end(self) -> usize {
        self.first + self.rows * self.stride()
    }
}

impl Blocks {
    /// Makes room for an MCU row with so many MCUs of these components.
    pub(crate) fn place(&mut self, layouts: &[Layout], columns: usize) {
        self.place_count = 0;
        let mut first = 0;
        for (component, layout) in layouts.iter().enumerate() {
            let (across, down) = (layout.blocks.0 as usize, layout.blocks.1 as usize);
            let rows = BlockRows { rows: down, blocks: columns * across, first };
            for i in 0..across * down {
                let first = first + i / across * rows.stride() + i % across;
                self.places[self.place_count] = BlockPlace { component, first, step: across };
                self.place_count += 1;
            }
            first = rows.end();
            self.rows[component] = rows;
        }
        self.coefficients.resize(first * BLOCK + REACH, 0);
        self.lasts.resize(first, 0);
    }
}

impl BlockSource for Blocks {
    fn row(&mut self, component: usize, row: usize) -> (&[Block], &[u8]) {
        let rows = self.rows[component];
        let first = rows.first + row * rows.stride();
        let end = first + rows.blocks;
        (self.coefficients[first * BLOCK..end * BLOCK].as_chunks().0, &self.lasts[first..end])
    }
}
