//! The coefficients of a progressive picture, as far as its region needs them, from the first scan to the last.

use std::ops::Range;

use crate::blocks::BLOCK;
use crate::frame::Frame;
use crate::idct::Block;
use crate::region::Cut;

/// Which coefficients of a block are not zero: the one with zigzag index `k` is bit `63 - k`, so that those that come first
/// are the highest. DC is not looked at.
pub(crate) type Mask = u64;

/// The coefficients of the blocks in a region, and a mask for each block that is parsed.
#[derive(Debug, Default)]
pub(crate) struct Coefficients {
    planes: [Plane; 3],
    /// Of blocks in the region, in the order of the inverse DCT.
    kept: Vec<Block>,
    /// Of all blocks above and beside them too.
    masks: Vec<Mask>,
    /// The zigzag index of each last coefficient in the row of blocks that was asked for.
    lasts: Vec<u8>,
}

/// The blocks of a component.
#[derive(Clone, Default, Debug)]
struct Plane {
    /// Blocks in a row, without those that only fill MCUs.
    across: usize,
    /// Rows that are parsed, without those that only fill MCUs.
    down: usize,
    /// Columns and rows of blocks that are kept.
    columns: Range<usize>,
    rows: Range<usize>,
    /// Blocks of an MCU, across and down.
    mcu: (usize, usize),
    /// Where the first block, and the first mask, is.
    first_kept: usize,
    first_mask: usize,
}

/// A row of blocks.
#[derive(Debug)]
pub(crate) struct BlockRow<'a> {
    /// The blocks that are kept, and the column of the first.
    kept: &'a mut [Block],
    first: usize,
    /// A mask for each block.
    pub(crate) masks: &'a mut [Mask],
}

impl Coefficients {
    /// Makes room for a region, all zeros.
    pub(crate) fn begin(&mut self, frame: &Frame, cut: &Cut) {
        let (mut kept, mut masks) = (0, 0);
        for (component, plane) in self.planes[..frame.count].iter_mut().enumerate() {
            let layout = &frame.layouts[component];
            let ((across, down), (h, v)) = (layout.picture_blocks, layout.blocks);
            let of = |mcus: &Range<u32>, blocks: u32| (mcus.start * blocks) as usize..(mcus.end * blocks) as usize;
            let (columns, rows) = (of(&cut.columns, h), of(&cut.rows, v));
            *plane = Plane {
                across: across as usize,
                down: rows.end.min(down as usize),
                mcu: (h as usize, v as usize),
                first_kept: kept,
                first_mask: masks,
                columns,
                rows,
            };
            kept += plane.rows.len() * plane.columns.len();
            masks += plane.down * plane.across;
        }
        clear(&mut self.kept, kept, [0; BLOCK]);
        clear(&mut self.masks, masks, 0);
    }

    /// Gives memory back beyond so many bytes of each kind.
    pub(crate) fn trim(&mut self, bytes: usize) {
        if self.kept.capacity() * size_of::<Block>() > bytes {
            self.kept = Vec::new();
        }
        if self.masks.capacity() * size_of::<Mask>() > bytes {
            self.masks = Vec::new();
        }
    }

    /// The row of a component's blocks with this number.
    pub(crate) fn row(&mut self, component: usize, row: usize) -> BlockRow<'_> {
        let plane = &self.planes[component];
        let kept = if plane.rows.contains(&row) {
            let first = plane.first_kept + (row - plane.rows.start) * plane.columns.len();
            &mut self.kept[first..first + plane.columns.len()]
        } else {
            &mut []
        };
        let masks = if row < plane.down {
            let first = plane.first_mask + row * plane.across;
            &mut self.masks[first..first + plane.across]
        } else {
            &mut []
        };
        BlockRow { kept, first: plane.columns.start, masks }
    }

    /// The blocks of a row of an MCU row in the region, with the zigzag index of each last coefficient.
    pub(crate) fn finished(&mut self, component: usize, mcu_row: u32, row: usize) -> (&[Block], &[u8]) {
        let plane = &self.planes[component];
        let row = mcu_row as usize * plane.mcu.1 + row;
        let first = plane.first_kept + (row - plane.rows.start) * plane.columns.len();
        let first_mask = plane.first_mask + row * plane.across;
        self.lasts.clear();
        self.lasts.extend(plane.columns.clone().map(|column| {
            // What only fills MCUs has no AC coefficients.
            let is_real = column < plane.across && row < plane.down;
            let mask = if is_real { self.masks[first_mask + column] } else { 0 };
            63 - mask.trailing_zeros().min(63).to_le_bytes()[0]
        }));
        (&self.kept[first..first + plane.columns.len()], &self.lasts)
    }
}

/// Makes a list of as many zeros. It never has room for more than it has had to have, since that is not counted.
fn clear<T: Clone>(list: &mut Vec<T>, len: usize, zero: T) {
    if list.capacity() < len {
        // The old memory goes before the new comes.
        *list = Vec::new();
        *list = vec![zero; len];
    } else {
        list.clear();
        list.resize(len, zero);
    }
}

impl BlockRow<'_> {
    /// The block of a column, if it is kept.
    #[inline]
    pub(crate) fn block(&mut self, column: usize) -> Option<&mut Block> {
        self.kept.get_mut(column.wrapping_sub(self.first))
    }
}
